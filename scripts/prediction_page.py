# SPDX-License-Identifier: MIT
"""Write docs/prediction.md and its figures from the records at hand, complete or not. Nothing is run.

Predictions are compared with outcomes on the development half only, until `--reporting` is given: that half is evaluated once.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from claims_section import grid
from prediction_figures import FAMILIES, heat_map, reliability_diagram, scatter

from imitable.experiments.cell_records import read_cell
from imitable.experiments.cells import Terms
from imitable.experiments.halves import IMITATORS, RANDOM_RETURNS, fixed_halves
from imitable.experiments.pair_results import (
    GAITS,
    KNOBS,
    Estimate,
    Merit,
    Mixture,
    Pair,
    Predictor,
    ceiling,
    clusters_of,
    merit,
    mixture_predictors,
    mixtures_of,
    pairs_of,
    predictors,
    reliability,
)
from imitable.experiments.pair_scores import SCORED, SCORERS, read_pair_scores, scorers_for
from imitable.experiments.prediction import (
    ALONE,
    BEST,
    HARMFUL,
    IMITABLE,
    OTHER,
    PAIRS,
    Outcomes,
    added,
    continuum,
    first_outcomes,
)
from imitable.experiments.protocol import read_protocol
from imitable.experiments.rows import ID_FEAS_OURS, NEIGHBOURS
from imitable.experiments.tables import CERTAIN, Table, claims, table_of

ROOT = Path(__file__).resolve().parents[1]
MADE = "`python scripts/prediction_page.py` draws it from the records."
ENOUGH = 20
"""Least number of pairs whose rank correlation the answer mentions."""
RUN = "imitable reproduce {} --records results/cells --out runs"


@dataclass(frozen=True)
class Found:
    """What the page is made of."""

    pairs: list[Pair]
    mixtures: list[Mixture]
    tables: dict[str, Table]
    """`pairs`, `added` and `continuum`."""
    results: Path
    reporting: bool
    """Whether predictions of the reporting half are shown."""

    @property
    def judged(self) -> tuple[str, ...]:
        """Imitators whose predictions are compared with outcomes."""
        halves = fixed_halves()
        return halves.reporting if self.reporting else halves.development

    @property
    def half(self) -> str:
        """Its name."""
        return "reporting" if self.reporting else "development"

    @property
    def outcomes(self) -> Predictor:
        """Outcomes of the pairs that are predicted."""
        return {
            (pair.imitator, pair.demonstrator): pair.outcome
            for pair in self.pairs
            if pair.imitator in self.judged and not pair.is_own and pair.outcomes
        }

    @property
    def harms(self) -> Predictor:
        """Outcomes of the mixtures that are predicted."""
        chosen = [one for one in self.mixtures if one.imitator in self.judged and one.outcomes]
        return {(one.imitator, one.other): one.outcome for one in chosen}

    @property
    def merits(self) -> dict[str, Merit]:
        """How good every predictor of pairs is."""
        known = predictors(self.results, self.judged)
        return {name: merit(one, self.outcomes, IMITABLE) for name, one in known.items() if clusters_of(one, self.outcomes)}

    @property
    def scored(self) -> int:
        """Imitators and scorers that are recorded."""
        return sum(read_pair_scores(self.results, body, scorer) is not None for body in IMITATORS for scorer in SCORERS)


def found_in(results: Path, records: Path, *, reporting: bool) -> Found:
    """Return everything that is recorded."""
    terms = Terms(read_protocol(results / "protocol.json"))
    outcomes: Outcomes = first_outcomes(terms, partial(read_cell, records))
    tables = {one.name: table_of(one, terms, records) for one in (PAIRS, added(outcomes), continuum(outcomes))}
    pairs = pairs_of(terms, records)
    return Found(pairs, mixtures_of(terms, records, pairs), tables, results, reporting)


def page_text(found: Found, images: Path) -> str:
    """Return the page, and write its figures into a folder."""
    merits = found.merits
    lines = ["# Does the score predict imitation?", "", *answer(found, merits), ""]
    lines += [*recorded(found), *outcomes(found, images), *predictions(found, merits, images), *mixed(found), *weighed(found)]
    return "\n".join([*lines, *METHOD])


def answer(found: Found, merits: Mapping[str, Merit]) -> list[str]:
    """Answer the title in at most five sentences."""
    others = [pair for pair in found.pairs if not pair.is_own]
    known, cells = [pair for pair in others if pair.outcomes], found.tables["pairs"]
    sentences = [
        _verdict(found, merits),
        f"Imitation of one demonstrator alone is recorded for {len(known)} of {len(others)} pairs of different bodies "
        f"({len(cells.cells) - cells.missing} of {len(cells.cells)} runs).",
    ]
    if known:
        imitated = sum(pair.outcome >= IMITABLE for pair in known)
        sentences.append(f"In {imitated} of these {len(known)} pairs, the imitator reaches 80 % of the demonstrated return.")
    trivial = [name for name in (KNOBS, GAITS) if name in merits and merits[name].within.count >= ENOUGH]
    if trivial:
        best = max(trivial, key=lambda name: merits[name].within.value)
        sentences.append(
            f"Of the predictors that need no scorer, the best on the {found.half} half is {best}, with a Spearman's ρ of "
            f"{_text(merits[best].within)} within families; a score must beat it."
        )
    if not found.reporting:
        sentences.append("The reporting half has not been compared with any prediction yet.")
    return [" ".join(sentences)]


def _verdict(found: Found, merits: Mapping[str, Merit]) -> str:
    if "direct" not in merits:
        return "**Not known yet:** no pair has been scored, so this page cannot say whether the score predicts imitation."
    direct = merits["direct"]
    return (
        f"**On the {found.half} half, `direct` ranks a family's demonstrators with a Spearman's ρ of {_text(direct.within)} "
        f"and separates imitable pairs from others with an AUROC of {_text(direct.area)}** (goals: 0.8 and 0.95; "
        f"{direct.area.count} pairs)."
    )


def _text(one: Estimate) -> str:
    if np.isnan(one.value):
        return "–"
    interval = "" if np.isnan(one.low) else f" ({one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.2f}{interval}"


def recorded(found: Found) -> list[str]:
    """Return what is recorded, and the commands that make the rest."""
    lines = ["## What is recorded", "", "| experiment | runs planned | recorded | command |", "|---|---|---|---|"]
    for name, table in found.tables.items():
        waiting = sum(bool(entry.missing) for entry in table.experiment.entries)
        planned = f"{len(table.cells)}" + (f", and {waiting} rows that wait for seed 0 of `pairs`" if waiting else "")
        command = RUN.format(f"{name} --seeds {5 if name == 'continuum' else 3}")
        lines.append(f"| `{name}` | {planned} | {len(table.cells) - table.missing} | `{command}` |")
    planned = sum(len(scorers_for(body)) for body in IMITATORS)
    lines.append(f"| scores of the pairs | {planned} | {found.scored} | `python -m imitable.experiments.pair_scores` |")
    return [*lines, "", "Rerun a command to continue it; `python scripts/prediction_page.py` then writes this page again.", ""]


def outcomes(found: Found, images: Path) -> list[str]:
    """Return a map of every family."""
    lines = [
        "## Is it imitated?",
        "",
        f"Each cell is the normalised return of one demonstrator that is imitated alone ({ALONE} demonstrations), mean over "
        "the recorded seeds: 0 is a random policy of the imitator, 1 is the demonstrated return. The mean score of `direct` is "
        "in brackets where it is recorded. In framed pairs the imitator imitates its own expert; no headline number has them.",
        "",
    ]
    direct = predictors(found.results, found.judged).get("direct", {})
    for family in FAMILIES:
        pairs = [pair for pair in found.pairs if pair.family == family]
        if (picture := heat_map(pairs, direct)) is None:
            lines += [f"{family}: not recorded yet.", ""]
        else:
            lines += [_figure(images, f"outcomes-{family}.svg", picture, f"outcomes on {family}"), "", MADE, ""]
    return [*lines, *_details(found.pairs)]


def _figure(images: Path, name: str, picture: bytes, about: str) -> str:
    images.mkdir(parents=True, exist_ok=True)
    (images / name).write_bytes(picture)
    return f"![{about}](images/prediction/{name})"


def _details(pairs: Sequence[Pair]) -> list[str]:
    """Return every recorded pair, folded away."""
    names = ("imitator", "demonstrator", "seeds", "outcome", "of own expert", "distance of visited states")
    head = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    lines = [
        f"| `{pair.imitator}` | `{pair.demonstrator}` | {len(pair.outcomes)} | {pair.outcome:.2f} | {_number(pair.of_own)} "
        f"| {_number(pair.occupancy)} |"
        for pair in pairs
        if pair.outcomes
    ]
    about = (
        "*Of own expert*: the return relative to what the same learner reaches from the imitator's own expert, where one is "
        "shipped. *Distance of visited states*: occupancy distance between visited and demonstrated states. A policy that "
        "stands still earns a return on Hopper, but its distance is large."
    )
    fold = ["<details markdown><summary>Every pair</summary>", "", about, "", *head, *lines, "", "</details>", ""]
    return fold if lines else []


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def predictions(found: Found, merits: Mapping[str, Merit], images: Path) -> list[str]:
    """Return how good every predictor is, on one half."""
    bodies = ", ".join(f"`{body}`" for body in found.judged)
    lines = ["## Does the score predict it?", "", f"The imitators of the {found.half} half are {bodies}.", ""]
    if not merits:
        return [*lines, "No pair of this half is recorded yet.", ""]
    limit = ceiling([pair for pair in found.pairs if pair.imitator in found.judged and not pair.is_own])
    lines += [
        "| predictor | pairs | ρ within families | ρ over all pairs | AUROC of imitable | regret | ρ by family |",
        "|---|---|---|---|---|---|---|",
        *(_merit_line(name, one) for name, one in merits.items()),
        "",
        f"ρ between the outcomes of seeds 0 and 1, which no predictor can be expected to exceed: {_text(limit)}. Intervals: "
        "95 % bootstrap over imitators. Regret: outcome of the best demonstrator less that of the best predicted one.",
        "",
    ]
    known = predictors(found.results, found.judged)
    clusters = {name: clusters_of(one, found.outcomes) for name, one in known.items()}
    if (picture := scatter(clusters)) is not None:
        lines += [_figure(images, "scatter.svg", picture, "predictions against outcomes"), "", MADE, ""]
    bins = {name: reliability(one, IMITABLE) for name, one in clusters.items() if name in SCORERS and one}
    if (picture := reliability_diagram(bins)) is not None:
        lines += [_figure(images, "reliability.svg", picture, "fraction imitated by score"), "", f"Numbers: pairs. {MADE}", ""]
    return lines


def _merit_line(name: str, one: Merit) -> str:
    families = ", ".join(f"{family} {value:.2f}" for family, value in one.families.items() if not np.isnan(value)) or "–"
    cells = (name, str(one.within.count), *map(_text, (one.within, one.overall, one.area, one.regret)), families)
    return f"| {' | '.join(cells)} |"


def mixed(found: Found) -> list[str]:
    """Return what other demonstrators do to the best one, and how well that is predicted."""
    lines, harms = ["## Does another demonstrator harm?", "", found.tables["added"].experiment.detail, ""], found.harms
    if not harms:
        return [*lines, f"No mixture of the {found.half} half is recorded yet.", ""]
    harmful = sum(value < HARMFUL for value in harms.values())
    lines += [
        f"In {harmful} of {len(harms)} recorded mixtures of the {found.half} half, the return is below 80 % of what the best "
        "demonstrator alone gives.",
        "",
        "| predictor | mixtures | ρ within families | AUROC of harmful |",
        "|---|---|---|---|",
    ]
    for name, one in mixture_predictors(found.results, found.mixtures).items():
        if clusters_of(one, harms):
            judged = merit(one, harms, HARMFUL)
            lines.append(f"| {name} | {judged.area.count} | {_text(judged.within)} | {_text(judged.area)} |")
    return [*lines, ""]


def weighed(found: Found) -> list[str]:
    """Return what weights do where no demonstrator is given as related."""
    table = found.tables["continuum"]
    lines = ["## Do weights help where demonstrators differ by degrees?", "", table.experiment.detail, ""]
    if not table.done:
        return [*lines, "Not recorded yet.", ""]
    lines += [*grid(table, table.rows, table.places), ""]
    for one in claims(table, "direct", [ID_FEAS_OURS.name, NEIGHBOURS.name]):
        certain = "certain" if one.adjusted < CERTAIN else "not certain"
        above = "above both baselines" if one.claim.above else f"not above {' and '.join(one.claim.unbeaten)}"
        lines.append(
            f"* {one.place}: `direct` is {above}; p {one.adjusted:.2g} after Holm ({certain}), paired {one.paired:.2g}, least "
            f"certain against {one.claim.baseline}{_of_oracle(table, one.place)}."
        )
    return [*lines, ""]


def _of_oracle(table: Table, place: str) -> str:
    """Say which part of the oracle's return `direct` reaches, both above a random policy."""
    ours, best = table.returns(place, "direct"), table.returns(place, "oracle")
    zero = RANDOM_RETURNS[place]
    return f"; {(ours.mean() - zero) / (best.mean() - zero):.0%} of the oracle" if len(best) else ""


METHOD = (
    "## How it is measured",
    "",
    f"* `pairs`: {ALONE} demonstrations of one demonstrator, all weighed the same, plain `gaifo`, the protocol's steps of each",
    "  body, seeds 0, 1 and 2. *Imitable* means a normalised return of at least 0.8, mean over seeds.",
    f"* `added`: {BEST} demonstrations of the other body's demonstrator that seed 0 of `pairs` imitated best, and {OTHER} of",
    "  a further one. *Harmful* means less than 0.8 of the return of the best one alone, both above a random policy.",
    f"* Scores: the first {SCORED} demonstrations of every demonstrator, scored together per imitator by each scorer with its",
    "  defaults; the prediction is their mean. The two f-MDPs score only imitators of the reporting half, because each",
    "  learns a tracker per demonstrator.",
    "* Predictors without a scorer: *knob difference* is Σ |ln(a / b)| over the knobs of the two bodies. *Gait distance* is",
    "  the distance of the demonstrated states from the imitator's own random motions, or, for `added`, from those of the best",
    "  demonstrator. *Random* is a fixed random number per pair.",
    "* Halves: `results/protocol.json` lists the imitators of the development half, on which formulas are chosen, and of the",
    "  reporting half, which is evaluated once. The split and the imitators of `continuum` were fixed before the first run.",
    "",
)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / "results", help="folder with protocol.json and cells/")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of the page")
    parser.add_argument("--reporting", action="store_true", help="compare predictions with outcomes of the reporting half")
    options = parser.parse_args()
    found = found_in(options.results, options.results / "cells", reporting=options.reporting)
    (options.out / "prediction.md").write_text(page_text(found, options.out / "images" / "prediction"))


if __name__ == "__main__":
    main()
