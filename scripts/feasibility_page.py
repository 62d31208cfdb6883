# SPDX-License-Identifier: MIT
"""The page results/feasibility.md, from the records in results/feasibility: nothing is measured here."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, spearmanr

from imitable.experiments.settings import SETTINGS, Setting
from imitable.feasibility.weighting import Measures, log_scores, masses

Record = dict[str, Any]

AUROC_GOAL, MASS_GOAL, CERTIFICATE_GOAL = 0.95, 0.8, 0.95
PAPER_STEPS = 4 * 500_000
"""Steps of the trajectory f-MDP at the paper's budget: 5e5 for each of four demonstrators."""


def values(record: Record, setting: Setting, name: str) -> list[np.ndarray]:
    """Return one array a demonstrator."""
    return [np.array(record["demonstrators"][body][name]) for body in setting.demonstrators]


def auroc(record: Record, setting: Setting, name: str) -> float:
    """Return the probability that a related demonstration has a smaller value than an unrelated one."""
    arrays = values(record, setting, name)
    related, other = np.concatenate(arrays[: setting.related]), np.concatenate(arrays[setting.related :])
    ranks = rankdata(np.concatenate([related, other]))[: len(related)]
    wins = ranks.sum() - len(related) * (len(related) + 1) / 2
    return 1 - float(wins) / (len(related) * len(other))


def related_mass(record: Record, setting: Setting, temperature: str, counts: tuple[int, ...] | None = None) -> float:
    """Return the mass on related demonstrators when each has as many demonstrations as in the paper.

    Each of the recorded demonstrations stands for its part of the paper's count.
    """
    counts = setting.counts if counts is None else counts
    distance, share = (values(record, setting, name) for name in ("distance", "share"))
    about = record["about"]
    own = np.array(about.get("calibration", about["own_distance"]))
    measures = Measures(np.concatenate(distance), np.concatenate(share), np.ones(1, int), own, np.array(about["own_share"]))
    logs = log_scores(measures, temperature, about["rule"])
    repeats = np.concatenate([np.full(len(d), count / len(d)) for d, count in zip(distance, counts, strict=True)])
    kept = repeats > 0
    mass = masses(logs, np.where(kept, repeats, 1), kept)
    return float(mass[: sum(len(d) for d in distance[: setting.related])].sum())


def correlation(record: Record, reference: Record, setting: Setting) -> float:
    """Return Spearman's rank correlation of the shares of all demonstrations with those of another method."""
    ours, theirs = (np.concatenate(values(r, setting, "share")) for r in (record, reference))
    return float(spearmanr(ours, theirs).statistic)


def mean_scores(record: Record, setting: Setting) -> list[float]:
    """Return the mean score of each demonstrator, temperature auto."""
    about, distance, share = record["about"], values(record, setting, "distance"), values(record, setting, "share")
    own = np.array(about.get("calibration", about["own_distance"]))
    measures = Measures(np.concatenate(distance), np.concatenate(share), np.ones(1, int), own, np.array(about["own_share"]))
    # the whole set at once: a calibrated score depends on the worst of all
    scores = np.exp(log_scores(measures, "auto", about["rule"]))
    return [float(part.mean()) for part in np.split(scores, np.cumsum([len(d) for d in distance])[:-1])]


def table(head: str, cases: list[str], cell: Any) -> list[str]:
    """Return a table of cases against settings."""
    names = [setting.name for setting in SETTINGS]
    lines = [f"| {head} | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for case in cases:
        lines.append(f"| {case} | {' | '.join(cell(case, setting) for setting in SETTINGS)} |")
    return [*lines, ""]


class Page:
    """The records, and the tables made of them."""

    def __init__(self, folder: Path) -> None:
        """Read all records."""
        self.records: dict[tuple[str, str], Record] = {}
        for path in sorted(folder.glob("*.json")):
            record = json.loads(path.read_text())
            if "case" in record:
                self.records[record["setting"], record["case"]] = record
        ladders = folder / "ladders.json"
        self.ladders: Record | None = json.loads(ladders.read_text()) if ladders.exists() else None
        self.alone: dict[tuple[str, str], float] = {}
        """Return of imitating one demonstrator alone, by imitator and demonstrator."""
        for path in sorted((folder.parent / "imitation").glob("utility.*.json")):
            record = json.loads(path.read_text())
            returns = [run["mean_actions"]["return_mean"] for run in record["runs"]]
            self.alone[record["imitator"], record["demonstrators"][0]] = float(np.mean(returns))
        many = folder / "many.json"
        self.many: Record | None = json.loads(many.read_text()) if many.exists() else None

    @property
    def cases(self) -> list[str]:
        """Cases with a record, in the order of the script that makes them."""
        from run_feasibility import CASES

        present = {case for _, case in self.records}
        return [case for case in CASES if case in present]

    def number(self, case: str, setting: Setting, measure: Any, form: str = ".3f", goal: float | None = None) -> str:
        """Return one cell; a number that reaches the goal is bold."""
        record = self.records.get((setting.name, case))
        if record is None:
            return "–"
        value = measure(record, setting)
        text = format(value, form)
        return f"**{text}**" if goal is not None and value >= goal else text

    def against(self, reference: str) -> Any:
        """Return the correlation with another case, as a measure."""

        def measure(record: Record, setting: Setting) -> float:
            other = self.records.get((setting.name, reference))
            return float("nan") if other is None else correlation(record, other, setting)

        return measure

    def lines(self) -> list[str]:
        """Return the whole page."""
        return [
            *self.introduction(),
            *self.separation(),
            *self.mass(),
            *self.held_out(),
            *self.utility(),
            *self.effort(),
            *self.compositions(),
            *self.ladder(),
            *self.scale(),
            *self.findings(),
        ]

    def introduction(self) -> list[str]:
        """Say what was measured and how to measure it again."""
        return [
            "# Feasibility",
            "",
            "The paper's six MuJoCo settings, 50 demonstrations of each of the four shipped demonstrators (seed 1, mean",
            "actions), every method at its default unless the row says otherwise, one seed (1). Commands: `make feasibility`",
            "makes the records that are missing in `results/feasibility/` (hours for all of them), `python",
            "scripts/write_results.py` writes this page from them. Related demonstrators: the first two of each setting.",
            "",
        ]

    def separation(self) -> list[str]:
        """Tables of AUROC and rank correlation."""
        return [
            "## Does it tell related from unrelated demonstrators?",
            "",
            f"AUROC of the share, related against unrelated demonstrations; bold: at least {AUROC_GOAL}.",
            "",
            *table("method", self.cases, lambda c, s: self.number(c, s, lambda r, t: auroc(r, t, "share"), goal=AUROC_GOAL)),
            "The same of the plain distance, which is what the paper's own score ranks by.",
            "",
            *table("method", self.cases, lambda c, s: self.number(c, s, lambda r, t: auroc(r, t, "distance"), goal=AUROC_GOAL)),
            "Rank correlation (Spearman) of the shares of all 200 demonstrations with `direct`.",
            "",
            *table("method", self.cases, lambda c, s: self.number(c, s, self.against("direct"), ".2f")),
            "Mean share of each demonstrator by `direct`, in the setting's order (i, ii | iii, iv), and verdicts",
            "(feasible / nearly / infeasible).",
            "",
            *self.shares(),
        ]

    def held_out(self) -> list[str]:
        """Table of bodies that nothing was chosen on."""
        from run_feasibility import HELD_OUT

        known = [setting for setting in HELD_OUT if (setting.name, "direct") in self.records]
        if not known:
            return []
        lines = ["| imitator | related | unrelated | AUROC | mass on related | certificate |", "|---|---|---|---|---|---|"]
        for setting in known:
            related, other = (", ".join(part) for part in (setting.demonstrators[:2], setting.demonstrators[2:]))
            cells = [
                self.number("direct", setting, lambda r, t: auroc(r, t, "share"), goal=AUROC_GOAL),
                self.number("direct", setting, lambda r, t: related_mass(r, t, "auto"), ".2f", MASS_GOAL),
                self.number("direct", setting, lambda r, t: r["about"]["certificate"], ".1%", CERTIFICATE_GOAL),
            ]
            lines.append(f"| {setting.imitator} | {related} | {other} | {' | '.join(cells)} |")
        return [
            "## Bodies that nothing was chosen on",
            "",
            "Horizon, memory and temperature were fixed while the six settings above were looked at, so those are no test of",
            "them. These four imitators were scored once, afterwards, with everything untouched (`direct`, `auto`, 50",
            "demonstrations of each shipped demonstrator, the unrelated ten times as many in the mass).",
            "",
            *lines,
            "",
            "Mean share of each demonstrator and verdicts, as above.",
            "",
            *self.shares(known),
        ]

    def shares(self, settings: Sequence[Setting] = SETTINGS) -> list[str]:
        """Shares and verdicts of the direct scorer."""
        lines = ["| setting | i | ii | iii | iv |", "|---|---|---|---|---|"]
        for setting in settings:
            record = self.records.get((setting.name, "direct"))
            if record is None:
                continue
            cells = []
            for share, body in zip(values(record, setting, "share"), setting.demonstrators, strict=True):
                words = record["demonstrators"][body]["verdict"]
                counts = "/".join(str(words.count(word)) for word in ("feasible", "nearly", "infeasible"))
                cells.append(f"{share.mean():.2f} ± {share.std():.2f} ({counts})")
            lines.append(f"| {setting.name} | {' | '.join(cells)} |")
        return [*lines, ""]

    def mass(self) -> list[str]:
        """Tables of the mass on related demonstrators."""
        auto = table(
            "method", self.cases, lambda c, s: self.number(c, s, lambda r, t: related_mass(r, t, "auto"), ".2f", MASS_GOAL)
        )
        paper = table(
            "method", self.cases, lambda c, s: self.number(c, s, lambda r, t: related_mass(r, t, "paper"), ".2f", MASS_GOAL)
        )
        return [
            "## Where does the weight go?",
            "",
            "Mass on related demonstrators under the paper's composition, in which the unrelated are 10 to 50 times as many.",
            f"Temperature `auto`; bold: at least {MASS_GOAL}.",
            "",
            *auto,
            "The same with the paper's temperature (σ = 5 on the distance).",
            "",
            *paper,
        ]

    def utility(self) -> list[str]:
        """Table of how scores go with what imitating a demonstrator alone is worth."""

        def worth(setting: Setting) -> list[float]:
            return [self.alone.get((setting.imitator, body), float("nan")) for body in setting.demonstrators]

        def measure(record: Record, setting: Setting) -> float:
            return float(spearmanr(mean_scores(record, setting), worth(setting)).statistic)

        known = [setting for setting in SETTINGS if np.isfinite(worth(setting)).all()]
        if not known:
            return []

        def cell(case: str, setting: Setting) -> str:
            return self.number(case, setting, measure, ".1f") if setting in known else "–"

        rows = [f"| {s.name} | {' | '.join(f'{value:,.0f}' for value in worth(s))} |" for s in known]
        return [
            "## Is a higher score worth more?",
            "",
            "*Utility*: rank correlation of the four demonstrators' mean scores (temperature `auto`) with the return of",
            "imitating each of them alone (`gaifo`, 50 demonstrations, one seed; `results/imitation.md`). With four",
            "demonstrators it takes the values −1, −0.8, … 1.",
            "",
            *table("method", self.cases, cell),
            "The returns themselves:",
            "",
            "| setting | i | ii | iii | iv |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]

    def effort(self) -> list[str]:
        """Table of certificates, steps and times."""
        lines = [
            "## What does it cost, and can the tracker be trusted?",
            "",
            "Certificate: own transitions whose action the solver finds again (≤ 1 % of the zero-action error), from",
            "demonstrated states under random actions / recorded by the imitator's own policy with mean / with sampled",
            "actions (400 each).",
            "",
            "| setting | certificate | steps of `direct` | of a fifth of the paper's budget |",
            "|---|---|---|---|",
        ]
        for setting in SETTINGS:
            record = self.records.get((setting.name, "direct"))
            if record is not None:
                recorded = record["recorded_certificate"]
                cells = [record["about"]["certificate"], recorded["mean"], recorded["sampled"]]
                steps = record["about"]["simulator_steps"]
                found = " / ".join(f"{cell:.1%}" for cell in cells)
                lines.append(f"| {setting.name} | {found} | {steps:,} | {steps / (PAPER_STEPS / 5):.0%} |")
        steps = table("method", self.cases, lambda c, s: self.number(c, s, lambda r, _: r["about"]["simulator_steps"], ",.0f"))
        times = table("method", self.cases, lambda c, s: self.number(c, s, lambda r, _: r["seconds"] / r["one_pass_s"], ".1f"))
        return [
            *lines,
            "",
            "Simulated control steps of each method, learning, calibration and certificate included.",
            "",
            *steps,
            "Time as a multiple of one pass of the simulator over the 200 demonstrations, both on one thread. Jobs of the",
            "learned methods ran side by side on two cores, so their times are rough.",
            "",
            *times,
        ]

    def compositions(self) -> list[str]:
        """Table of masses under other compositions, from the same distances."""
        parts = (0, 0.01, 0.1, 0.25, 0.5, 0.75, 1)
        lines = [
            "## Other compositions, without a new simulation",
            "",
            "Mass on related demonstrators when they are this part of the set (`direct`, `auto`). A score does not depend",
            "on the others, so only the normalisation changes.",
            "",
            f"| setting | {' | '.join(f'{part:.0%}' for part in parts)} |",
            "|---|" + "---|" * len(parts),
        ]
        for setting in SETTINGS:
            record = self.records.get((setting.name, "direct"))
            if record is not None:
                cells = []
                for part in parts:
                    related, other = round(500 * part), round(500 * (1 - part))
                    cells.append(f"{related_mass(record, setting, 'auto', (related, related, other, other)):.2f}")
                lines.append(f"| {setting.name} | {' | '.join(cells)} |")
        return [*lines, ""]

    def ladder(self) -> list[str]:
        """Table of the ladders."""
        if self.ladders is None:
            return []
        lines = [
            "## Ladders",
            "",
            f"The imitator's own shipped policy, played on bodies with one knob turned ({self.ladders['each']} demonstrations",
            "a rung), scored on the imitator by `direct`: only the dynamics change along a ladder. Mean share at each value;",
            "the last column is the rank correlation of the share with the place on the ladder (1: it grows steadily).",
            "",
        ]
        for row in self.ladders["ladders"]:
            means = [float(np.mean(shares)) for shares in row["shares"]]
            steady = float(spearmanr(range(len(means)), means).statistic)
            lines += [
                f"**{row['imitator']}, {row['knob']}**",
                "",
                f"| {' | '.join(f'{value:g}' for value in row['values'])} | steady |",
                "|" + "---|" * (len(means) + 1),
                f"| {' | '.join(f'{mean:.3f}' for mean in means)} | {steady:.2f} |",
                "",
            ]
        return lines

    def scale(self) -> list[str]:
        """Table of large sets."""
        if self.many is None:
            return []
        lines = [
            "## Large sets",
            "",
            f"{self.many['robot']}: demonstrations of 1000 steps, made by repeating with tiny changes, scored by `direct`",
            "in one process; seconds of its processor. Command: `python scripts/run_many.py`.",
            "",
            "| demonstrations | peak memory, MB | simulated steps | processor seconds | seconds a demonstration |",
            "|---|---|---|---|---|",
        ]
        for row in self.many["rows"]:
            each = row["seconds"] / row["demonstrations"]
            lines.append(
                f"| {row['demonstrations']:,} | {row['peak_mb']:,.0f} | {row['steps']:,} | {row['seconds']:,.0f} | {each:.3f} |"
            )
        return [*lines, ""]

    def findings(self) -> list[str]:
        """The notes written by hand beside the records."""
        notes = Path(__file__).resolve().parents[1] / "results" / "feasibility" / "notes.md"
        return [notes.read_text()] if notes.exists() else []


def page(folder: Path) -> str:
    """Return results/feasibility.md."""
    return "\n".join(Page(folder).lines())
