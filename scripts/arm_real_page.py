# SPDX-License-Identifier: MIT
"""The page results/arm_real.md from its record, and the same as a section of another page."""

import math

from claims_section import printed_text

from imitable.experiments.arm_real_records import ArmRealRecord, Compared, compared
from imitable.experiments.paper_numbers import ARM, REAL_ARM

PAPER = {"Ours": printed_text(ARM[REAL_ARM][1])}
"""What the paper prints of its real arm."""

PICTURE = "arm-real.svg"
"""Drawn by `reproduction_page.py`."""

COLUMNS = ("row", "trials", "return, mean ± deviation", "goal", "hits", "stopped by a limit", "p, return", "p, goal", "paper")


def page(record: ArmRealRecord) -> str:
    """Return the page."""
    return "\n".join(["# Learned policies through the real protocol", "", *body(record, "../docs/images/reproduction")])


def body(record: ArmRealRecord, images: str) -> list[str]:
    """Return what was tried, a table of the rows, and a link to the picture of the paths in the folder `images`."""
    rows = compared(record)
    most = max(row.trials for row in rows.values())
    return [
        *_how(record),
        "",
        f"At most {most} trials a row (the paper: 100), the same starts for all, interleaved. Returns are −50 an action,",
        "−10000 at a hit, +5000 at the goal. p is of two-sided tests against Ours over trials: Welch's for returns,",
        "Fisher's exact one for successes. Trials of one row share its policies, so that p speaks of these policies and",
        "not of methods in general. Command: `python -m imitable.experiments.arm_real`, after `imitable reproduce arm`.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
        *(_line(name, row) for name, row in rows.items()),
        "",
        "The paper's ticks are not ours, so that returns of arrivals are not comparable with its own; successes are.",
        "",
        *_stops(record),
        *_picture(record, images),
    ]


def _stops(record: ArmRealRecord) -> list[str]:
    """Say which limits stopped trials that had hit nothing."""
    lines = [
        f"* {name}, after {trial.steps} steps: {trial.stopped}"
        for name, trials in record.rows.items()
        for trial in trials
        if trial.stopped and not trial.hit
    ]
    return ["Stopped by a limit:", "", *lines, ""] if lines else []


def _picture(record: ArmRealRecord, images: str) -> list[str]:
    """Show the paths that were kept, and say what they are."""
    paths = [trial.path for trials in record.rows.values() for trial in trials]
    drawn, earlier = sum(map(bool, paths)), paths.count(None)
    if not drawn:
        return []
    others = {"played before paths were kept": earlier, "stopped before the first step": len(paths) - drawn - earlier}
    left_out = "".join(f"; {count} more {'was' if count == 1 else 'were'} {why}" for why, count in others.items() if count)
    return [
        f"![Paths of the tool through the real protocol, in the plane of three joints]({images}/{PICTURE})",
        "",
        f"Paths of the tool in {drawn} of {len(paths)} trials, by what the noisy joints said{left_out}.",
        "Stands and books are drawn where they stood; the disc is the goal. Drawn by `python scripts/reproduction_page.py`.",
        "",
    ]


def _how(record: ArmRealRecord) -> list[str]:
    """Say on what it was measured."""
    differs = record.difference
    return [
        "**No hardware was there.** franky-control and libfranka commanded franky-sim's FR3, in a process of its own on",
        "127.0.0.1, over libfranka's network protocol. Policies learned in imitable's own simulation of `panda:dof=3`; the arm",
        f"that they met has other masses, shapes and servos, sensors with {1000 * differs.noise:g} mrad of noise,",
        f"{differs.friction:g} times the friction and {differs.stiffness:g} times the servo gains of franky-sim's own model,",
        f"an unknown book of {1000 * differs.load:g} g, and a shelf that stands {1000 * differs.shift_x:g} mm further and",
        f"{1000 * differs.shift_z:g} mm higher than believed. An action was given {0.05 * record.slowdown:g} s. All limits of",
        "`imitable play` were on; a trial that they stopped at or just before contact counts as a hit, one that they stopped",
        "earlier is charged all its actions.",
    ]


def _line(name: str, row: Compared) -> str:
    share = f"{row.goals}/{row.trials}"
    returns = f"{row.return_mean:,.0f} ± {_number(row.return_std, ',.0f')}"
    numbers = (row.trials, returns, share, row.hits, row.stops, _number(row.p_return, ".2g"), _number(row.p_goal, ".2g"))
    return f"| {name} | {' | '.join(map(str, numbers))} | {PAPER.get(name, '')} |"


def _number(value: float, form: str) -> str:
    return "–" if math.isnan(value) else format(value, form)
