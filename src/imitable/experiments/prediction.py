# SPDX-License-Identifier: MIT
"""Does the score predict what imitation achieves? One demonstrator and one imitator at a time, and mixtures of demonstrators.

`added` and `continuum` depend on what `pairs` came to: whose demonstrations are the best ones of an imitator, and how much each
demonstrator weighs for the oracle. Only seed 0 of `pairs` decides that, so that later seeds change no cell. Until it is
recorded for all demonstrators of an imitator, these cells lack it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from imitable.experiments.catalogue import FURTHER, Entry, Experiment, Where, catalogue
from imitable.experiments.cell_records import CellRecord
from imitable.experiments.cells import Terms, job_of
from imitable.experiments.halves import IMITATORS, RANDOM_RETURNS, family_of, fixed_halves
from imitable.experiments.jobs import RunJob, WeightRule
from imitable.experiments.protocol import PLAIN
from imitable.experiments.rows import DIRECT, GAIL, ID_FEAS_OURS, NEIGHBOURS, OURS, OUTCOMES, STARTS, UNIFORM, Row
from imitable.experiments.settings import Setting
from imitable.policies.shipped import shipped

ALONE, BEST, OTHER, EACH = 20, 50, 500, 50
"""Demonstrations of the one demonstrator of a pair, of the best one and the other one of a mixture, of each in `continuum`."""

CHOOSER = 0
"""The seed of `pairs` that decides which mixtures there are."""

SEEDS = (0, 1, 2)
"""Seeds of `pairs` and `added`; `continuum` has those of the protocol."""

IMITABLE = 0.8
"""Normalised return from which a demonstrator counts as imitated."""

HARMFUL = 0.8
"""Part of the best demonstrator's normalised return below which adding another demonstrator counts as harmful."""

Outcomes = Mapping[tuple[str, str], float]
"""Normalised returns of pairs, by imitator and demonstrator."""


def demonstrators_for(imitator: str) -> tuple[str, ...]:
    """Return all shipped demonstrators of the imitator's family, its own expert included.

    Each body once: a policy that is shipped for only one of the paper's settings is left out.
    """
    return tuple(body for body in shipped() if family_of(body) == family_of(imitator))


def others_for(imitator: str) -> tuple[str, ...]:
    """Return those of other bodies: what the imitator's own expert shows is always imitable, so it is no test."""
    return tuple(body for body in demonstrators_for(imitator) if body != imitator)


def _where(imitator: str, demonstrators: Sequence[str], counts: Sequence[int]) -> Where:
    setting = Setting("prediction", imitator, tuple(demonstrators), tuple(counts), related=0)
    return Where(imitator, setting, setting.counts, imitator)


def _pairs() -> tuple[Entry, ...]:
    found: list[Entry] = []
    for imitator in IMITATORS:
        bodies = demonstrators_for(imitator)
        where = _where(imitator, bodies, [ALONE] * len(bodies))
        found += [Entry(where, Row(f"{body} alone", whose=body, rule=UNIFORM), True, SEEDS) for body in bodies]
    return tuple(found)


PAIRS = Experiment(
    "pairs",
    "one demonstrator, one imitator: is it imitated?",
    _pairs(),
    f"{ALONE} demonstrations of one body, all weighed the same. No pair is dropped: those of one body with itself tell how "
    "much the learner loses, and stay out of what is predicted.",
)


def normalised_return(record: CellRecord) -> float:
    """Return the outcome of a cell: 0 is a random policy of the imitator, 1 the mean return of the demonstrations."""
    zero = RANDOM_RETURNS[record.job.imitator]
    return (record.mean_actions.mean - zero) / (record.demonstrated_return - zero)


def first_outcomes(terms: Terms, read: Callable[[RunJob], CellRecord | None]) -> Outcomes:
    """Return the outcomes of the pairs' first seed, as far as they are recorded."""
    made = {(entry.where.imitator, entry.row.whose): read(job_of(entry, CHOOSER, terms)) for entry in PAIRS.entries}
    return {pair: normalised_return(record) for pair, record in made.items() if record is not None}


def waiting(imitators: Sequence[str], outcomes: Outcomes) -> dict[str, str]:
    """Return what must be recorded before the mixtures of some imitators are known, by those of which they are not."""
    found = [one for one in imitators if any((one, body) not in outcomes for body in others_for(one))]
    reason = f"run seed {CHOOSER} of pairs first: {len(found)} of {len(imitators)} imitators lack it"
    return dict.fromkeys(found, reason)


def best_for(imitator: str, outcomes: Outcomes) -> str:
    """Return the demonstrator of another body that is imitated best alone, of equal ones the first."""
    return max(others_for(imitator), key=lambda body: outcomes[imitator, body])


def added(outcomes: Outcomes) -> Experiment:
    """Return what another demonstrator does to demonstrations of the best one."""
    found: list[Entry] = []
    lacking = waiting(IMITATORS, outcomes)
    for imitator in IMITATORS:
        missing = lacking.get(imitator, "")
        best = "" if missing else best_for(imitator, outcomes)
        for body in others_for(imitator):
            where = _where(imitator, [best or imitator, body], [BEST, OTHER])
            row = Row(f"with {OTHER} of {body}", rule=UNIFORM)
            if body != best:
                found.append(Entry(where, row, True, SEEDS, missing))
    return Experiment(
        "added",
        "what does one more demonstrator do to a mixture?",
        tuple(found),
        f"{BEST} demonstrations of the demonstrator that seed {CHOOSER} of pairs imitated best, and {OTHER} of another one, "
        "all weighed the same. The imitator's own expert takes no part.",
    )


def oracle_masses(imitator: str, outcomes: Outcomes) -> tuple[tuple[str, float], ...]:
    """Return weights of demonstrators by the square of their outcomes: our weight rule, with the truth as the score.

    Outcomes are cut to [0, 1]. Where all are zero there is no choice to make, and all weigh the same.
    """
    known = {body: min(max(outcomes[imitator, body], 0.0), 1.0) ** 2 for body in others_for(imitator)}
    total = sum(known.values())
    return tuple((body, round(value / total if total else 1 / len(known), 4)) for body, value in known.items())


def continuum(outcomes: Outcomes) -> Experiment:
    """Return all demonstrators of a family in equal numbers, weighed in several ways."""
    found: list[Entry] = []
    lacking = waiting(fixed_halves().continuum, outcomes)
    for imitator in fixed_halves().continuum:
        bodies, missing = others_for(imitator), lacking.get(imitator, "")
        where = _where(imitator, bodies, [EACH] * len(bodies))
        rows = (replace(GAIL, name="unweighted"), ID_FEAS_OURS, NEIGHBOURS, OURS, DIRECT)
        found += [Entry(where, row, claimed=True) for row in rows]
        masses = () if missing else oracle_masses(imitator, outcomes)
        found.append(Entry(where, Row("oracle", (STARTS, OUTCOMES), rule=WeightRule(masses=masses)), True, None, missing))
    return Experiment(
        "continuum",
        "all demonstrators of a family in equal numbers",
        tuple(found),
        f"{EACH} demonstrations of each body of the family, without the imitator's own expert, which would make every score "
        f"alike. The oracle weighs demonstrators by the square of what seed {CHOOSER} of pairs came to.",
    )


def everything(learners: Sequence[str] = (PLAIN,), outcomes: Outcomes | None = None) -> tuple[Experiment, ...]:
    """Return all experiments: the catalogue's, and those on prediction, as far as known outcomes of pairs say what they are."""
    known: Outcomes = {} if outcomes is None else outcomes
    return (*catalogue(learners), *FURTHER, PAIRS, added(known), continuum(known))
