# SPDX-License-Identifier: MIT
"""The page results/feasibility.md, from the records in results/feasibility: nothing is measured here."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from older_policies import mark

from imitable.experiments.cases import SCORING_CASES
from imitable.experiments.feasibility_records import (
    FeasibilityRecord,
    effective_size,
    mean_scores,
    read_records,
    related_auroc,
    related_mass,
    share_correlation,
    total_variation,
)
from imitable.experiments.imitation_records import alone_returns, read_learning
from imitable.experiments.ladders import read_ladders
from imitable.experiments.large_sets import read_large_sets
from imitable.experiments.scoring_cost import read_costs
from imitable.experiments.settings import DEVELOPMENT, FRESH, SETTINGS, Setting
from imitable.experiments.statistics import rank_correlation
from imitable.feasibility.episode_score import COLUMNS, VERDICTS

AUROC_GOAL, MASS_GOAL, CERTIFICATE_GOAL = 0.95, 0.8, 0.95
PAPER_STEPS = 4 * 500_000
"""Steps of the trajectory f-MDP at the paper's budget: 5e5 for each of four demonstrators."""

BALANCED_GOAL = 0.85
REPEATS = ("direct", "direct, seed 2", "direct, seed 3")

DEVELOPED = (
    "What `direct` does by default was chosen on these: windows and their number, the ratio of sums, when and where it plans,",
    "the upper bound of τ (the lower one on own movements). The unrelated are ten times as many in the mass.",
)
FRESHLY = (
    "Named before they were scored, and scored once, with everything untouched; then once more, when the lower bound of τ had",
    "been raised, which changes no order. The arm has position servos, and its demonstrations are babble.",
)

Statistic = Callable[[FeasibilityRecord, Setting], float]
"""A number of one record."""


def table(cases: Sequence[str], cell: Callable[[str, Setting], str]) -> list[str]:
    """Return a table of cases against settings."""
    names = [setting.name for setting in SETTINGS]
    lines = [f"| method | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for case in cases:
        lines.append(f"| {case} | {' | '.join(cell(case, setting) for setting in SETTINGS)} |")
    return [*lines, ""]


def _spread(values: Sequence[float], form: str, goal: float | None = None) -> str:
    """Return mean, lowest and highest; bold if the lowest reaches the goal."""
    text = f"{format(np.mean(values), form)} ({format(min(values), form)}–{format(max(values), form)})"
    return f"**{text}**" if goal is not None and min(values) >= goal else text


class Page:
    """The records, and the tables made of them."""

    def __init__(self, results: Path) -> None:
        """Read all records."""
        self.results = results
        self.records = read_records(results)
        self.alone = alone_returns(read_learning(results, "utility"))

    @property
    def cases(self) -> list[str]:
        """Cases with a record, in the order in which they are made."""
        present = {case for _, case in self.records}
        return [case.name for case in SCORING_CASES if case.name in present]

    def direct(self, settings: Sequence[Setting] = SETTINGS) -> list[tuple[Setting, FeasibilityRecord]]:
        """Return the settings that `direct` has been recorded on, with its record."""
        records = [(setting, self.records.get((setting.name, "direct"))) for setting in settings]
        return [(setting, record) for setting, record in records if record is not None]

    def number(self, case: str, setting: Setting, statistic: Statistic, form: str = ".3f", goal: float | None = None) -> str:
        """Return one cell; a number that reaches the goal is bold."""
        record = self.records.get((setting.name, case))
        if record is None:
            return "–"
        value = statistic(record, setting)
        text = format(value, form) if np.isfinite(value) else "–"
        return f"**{text}**" if goal is not None and value >= goal else text

    def numbers(self, statistic: Statistic, form: str = ".3f", goal: float | None = None) -> list[str]:
        """Return the table of a statistic, cases against settings."""
        return table(self.cases, lambda case, setting: self.number(case, setting, statistic, form, goal))

    def with_direct(self, record: FeasibilityRecord, setting: Setting) -> float:
        """Return the rank correlation with `direct`."""
        direct = self.records.get((setting.name, "direct"))
        same = direct is not None and len(direct.log_scores(setting, "auto")) == len(record.log_scores(setting, "auto"))
        return share_correlation(record, direct, setting) if direct is not None and same else float("nan")

    def lines(self) -> list[str]:
        """Return the whole page."""
        return [
            *self.introduction(),
            *self.separation(),
            *self.mass(),
            *self.repeated(),
            *self.others(DEVELOPMENT, "The development imitators", DEVELOPED),
            *self.others(FRESH, "Fresh imitators", FRESHLY),
            *self.utility(),
            *self.effort(),
            *self.cost(),
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
            *mark(self.results, "feasibility"),
            "The paper's six MuJoCo settings, 25 demonstrations of each of the four shipped demonstrators (rows with seed 2 or",
            "3: 12; mean actions), every method at its default unless the row says otherwise, seed 1 unless it names another.",
            "`transferability` (50 of each), ladders and large sets were measured with earlier demonstrators. Verdicts are by",
            "the share alone, as before falls counted. Commands: `make feasibility`",
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
            *self.numbers(lambda r, s: related_auroc(r, s, "share"), goal=AUROC_GOAL),
            "The same of the plain distance, which is what the paper's own score ranks by.",
            "",
            *self.numbers(lambda r, s: related_auroc(r, s, "distance"), goal=AUROC_GOAL),
            "Rank correlation (Spearman) of the shares with those of `direct`, where both scored the same demonstrations.",
            "",
            *self.numbers(self.with_direct, ".2f"),
            "Mean share of each demonstrator by `direct`, in the setting's order (i, ii | iii, iv), and verdicts",
            "(feasible / borderline / infeasible).",
            "",
            *self.shares(),
        ]

    def repeated(self) -> list[str]:
        """Table of what other demonstrations, another seed and a little noise change."""
        lines = [
            "| imitator | AUROC | mass on related | plain | effective size | total variation under noise | τ |",
            "|---|---|---|---|---|---|---|",
        ]
        for setting in (*SETTINGS, *DEVELOPMENT, *FRESH):
            records = [self.records[setting.name, case] for case in REPEATS if (setting.name, case) in self.records]
            if not records:
                continue
            plain, shaken = (self.records.get((setting.name, case)) for case in ("direct, seed 2", "direct, seed 2, shaken"))
            noisy = None if plain is None or shaken is None else total_variation(plain, shaken, setting)
            cells = [
                _spread([related_auroc(one, setting, "share") for one in records], ".3f", AUROC_GOAL),
                _spread([related_mass(one, setting) for one in records], ".2f", BALANCED_GOAL),
                _spread([related_mass(one, setting, balance="none") for one in records], ".2f"),
                _spread([effective_size(one, setting) for one in records], ".1f"),
                "–" if noisy is None else f"{noisy:.2f}",
                _spread([float(one.about["noise"]) for one in records], ".3f"),
            ]
            lines.append(f"| {setting.name} ({setting.imitator}) | {' | '.join(cells)} |")
        return [
            "## Other demonstrations, another seed, a little noise",
            "",
            "`direct` at its default, three times: 25 demonstrations of each demonstrator (seed 1), and 12 others with seeds",
            f"2 and 3. Mean (lowest–highest); bold: the lowest is at least {AUROC_GOAL}, {BALANCED_GOAL} of the mass.",
            "Mass: on related demonstrators under the paper's composition, balanced between demonstrators as weights are, and",
            "plain (`--balance none`). Effective size: 1 / Σ weight² of that composition. Total variation: between the",
            "weights of two scorings of the same demonstrations (seed 2), the second with noise of a thousandth of the",
            "imitator's scales on what is followed.",
            "",
            *lines,
            "",
        ]

    def others(self, settings: Sequence[Setting], title: str, words: Sequence[str]) -> list[str]:
        """Table of imitators that the paper does not have."""
        recorded = [setting for setting, _ in self.direct(settings)]
        if not recorded:
            return []
        rows = [
            f"| {one.name} | {one.imitator} | {', '.join(one.demonstrators[:2])} | {', '.join(one.demonstrators[2:])} |"
            for one in recorded
        ]
        return [
            f"## {title}",
            "",
            *words,
            "",
            "| name | imitator | related | unrelated |",
            "|---|---|---|---|",
            *rows,
            "",
            "Mean share of each demonstrator and verdicts, as above.",
            "",
            *self.shares(recorded),
        ]

    def shares(self, settings: Sequence[Setting] = SETTINGS) -> list[str]:
        """Shares and verdicts of the direct scorer."""
        lines = ["| setting | i | ii | iii | iv |", "|---|---|---|---|---|"]
        for setting, record in self.direct(settings):
            cells: list[str] = []
            for share, body in zip(record.measured(setting, "share"), setting.demonstrators, strict=True):
                words = [COLUMNS["verdict"].read(word) for word in record.demonstrators[body].verdict]
                counts = "/".join(str(words.count(word)) for word in VERDICTS[:3])
                cells.append(f"{share.mean():.2f} ± {share.std():.2f} ({counts})")
            lines.append(f"| {setting.name} | {' | '.join(cells)} |")
        return [*lines, ""]

    def mass(self) -> list[str]:
        """Tables of the mass on related demonstrators."""
        return [
            "## Where does the weight go?",
            "",
            "Mass on related demonstrators under the paper's composition, in which the unrelated are 10 to 50 times as many.",
            f"Temperature `auto`, balanced (not ID-Feas and transferability); bold: at least {MASS_GOAL}.",
            "",
            *self.numbers(lambda r, s: related_mass(r, s), ".2f", MASS_GOAL),
            "The same with the paper's temperature (σ = 5 on the distance). The paper's distance is that of the rows `l2` and\n"
            "`initial-state`; elsewhere σ = 5 meets standardised ones.",
            "",
            *self.numbers(lambda r, s: related_mass(r, s, "paper"), ".2f", MASS_GOAL),
        ]

    def utility(self) -> list[str]:
        """Table of how scores go with what imitating a demonstrator alone is worth."""
        complete = [setting for setting in SETTINGS if np.isfinite(self.returns_alone(setting)).all()]
        if not complete:
            return []

        def utility(record: FeasibilityRecord, setting: Setting) -> float:
            return rank_correlation(mean_scores(record, setting), self.returns_alone(setting))

        def cell(case: str, setting: Setting) -> str:
            return self.number(case, setting, utility, ".1f") if setting in complete else "–"

        rows = [f"| {s.name} | {' | '.join(f'{value:,.0f}' for value in self.returns_alone(s))} |" for s in complete]
        return [
            "## Is a higher score worth more?",
            "",
            "*Utility*: rank correlation of the four demonstrators' mean scores (temperature `auto`) with the return of",
            "imitating each of them alone (`gaifo`, 50 demonstrations, one seed; `results/imitation.md`). With four",
            "demonstrators it takes the values −1, −0.8, … 1.",
            "",
            *table(self.cases, cell),
            "The returns themselves:",
            "",
            "| setting | i | ii | iii | iv |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]

    def returns_alone(self, setting: Setting) -> list[float]:
        """Return what imitating each of the setting's demonstrators alone returns; NaN if that is not recorded."""
        return [self.alone.get((setting.imitator, body), float("nan")) for body in setting.demonstrators]

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
        for setting, record in self.direct():
            recorded, steps = record.recorded_certificate, record.simulator_steps
            parts = [record.certificate, *((recorded.mean, recorded.sampled) if recorded else ())]
            certificates = " / ".join(f"{part:.1%}" for part in parts)
            lines.append(f"| {setting.name} | {certificates} | {steps:,} | {steps / (PAPER_STEPS / 5):.0%} |")
        return [
            *lines,
            "",
            "Simulated control steps of each method, learning, calibration and certificate included.",
            "",
            *self.numbers(lambda r, _: r.simulator_steps, ",.0f"),
            "Time as a multiple of one pass of the simulator over the 200 demonstrations, both on one thread. Jobs of the",
            "learned methods ran side by side on two cores, so their times are rough.",
            "",
            *self.numbers(lambda r, _: r.seconds / r.one_pass_s, ".1f"),
        ]

    def cost(self) -> list[str]:
        """Table of what scoring the paper's compositions takes."""
        record = read_costs(self.results)
        if record is None:
            return []
        rows = {(row.setting, row.effort): row for row in record.rows}
        lines = ["| setting | demonstrations | quick: steps | passes | standard: steps | passes |", "|---|---|---|---|---|---|"]
        for setting in SETTINGS:
            cells = [f"{rows[setting.name, e].steps:,.0f} | {rows[setting.name, e].passes:.1f}" for e in ("quick", "standard")]
            lines.append(f"| {setting.name} | {sum(setting.counts):,} | {' | '.join(cells)} |")
        return [
            "## What does it cost at the paper's size?",
            "",
            f"`direct` at two efforts, from {record.each} demonstrations of each demonstrator scored alone: it takes as long",
            "for a demonstration whatever the others are. Simulated control steps at the paper's composition, with calibration",
            "(allowed: 2,000,000 and 5,000,000), and time as a multiple of one pass of the simulator over the demonstrations.",
            "Command: `python -m imitable.experiments.scoring_cost`.",
            "",
            *lines,
            "",
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
        for setting, record in self.direct():
            cells: list[str] = []
            for part in parts:
                related, other = round(500 * part), round(500 * (1 - part))
                cells.append(f"{related_mass(record, setting, counts=(related, related, other, other)):.2f}")
            lines.append(f"| {setting.name} | {' | '.join(cells)} |")
        return [*lines, ""]

    def ladder(self) -> list[str]:
        """Table of the ladders."""
        record = read_ladders(self.results)
        if record is None:
            return []
        lines = [
            "## Ladders",
            "",
            f"The imitator's own shipped policy, played on bodies with one knob turned ({record.each} demonstrations",
            "a rung), scored on the imitator by `direct`: only the dynamics change along a ladder. Mean share at each value;",
            "the last column is the rank correlation of the share with the place on the ladder (1: it grows steadily).",
            "",
        ]
        for ladder in record.ladders:
            lines += [
                f"**{ladder.imitator}, {ladder.knob}**",
                "",
                f"| {' | '.join(f'{value:g}' for value in ladder.values)} | steady |",
                "|" + "---|" * (len(ladder.values) + 1),
                f"| {' | '.join(f'{mean:.3f}' for mean in ladder.means)} | {ladder.steadiness:.2f} |",
                "",
            ]
        return lines

    def scale(self) -> list[str]:
        """Table of large sets."""
        record = read_large_sets(self.results)
        if record is None:
            return []
        lines = [
            "## Large sets",
            "",
            f"{record.robot}: demonstrations of 1000 steps, made by repeating with tiny changes, scored by `direct`",
            "in one process; seconds of its processor. Command: `python -m imitable.experiments.large_sets`.",
            "",
            "| demonstrations | peak memory, MB | simulated steps | processor seconds | seconds a demonstration |",
            "|---|---|---|---|---|",
        ]
        for row in record.rows:
            each = row.seconds / row.demonstrations
            lines.append(f"| {row.demonstrations:,} | {row.peak_mb:,.0f} | {row.steps:,} | {row.seconds:,.0f} | {each:.3f} |")
        return [*lines, ""]

    def findings(self) -> list[str]:
        """Return the notes written by hand beside the records."""
        notes = self.results / "feasibility" / "notes.md"
        return [notes.read_text()] if notes.exists() else []


def page(results: Path) -> str:
    """Return results/feasibility.md."""
    return "\n".join(Page(results).lines())
