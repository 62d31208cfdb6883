# SPDX-License-Identifier: MIT
"""Cells: one row in one place with one seed, resolved to the job that makes it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from imitable.errors import BadOption, one_of
from imitable.experiments.cases import EACH, Recording
from imitable.experiments.catalogue import GROUPS, Entry, Experiment, Where
from imitable.experiments.jobs import Acquisition, DemoSet, RunJob, ScoreJob, Scoring, WeightRule, slug
from imitable.experiments.protocol import PROJECTION, Protocol
from imitable.experiments.rows import ALL, OWN, RELATED, Row
from imitable.experiments.scaling import scaled_count, scaled_method
from imitable.experiments.settings import SETTINGS
from imitable.feasibility.methods import parse_scorer, scorer_text
from imitable.feasibility.scorer import depends_on_set
from imitable.imitation.learner import Learner
from imitable.imitation.methods import learner_text, parse_learner
from imitable.policies.shipped import SETS, shipped
from imitable.robots.parse import parse_robot
from imitable.spec_text import split

ANYTHING = "*"
"""Stands for every setting or row."""

FEWER = 2
"""Rows that no claim is about have so many seeds less than the others, and one at least."""


@dataclass(frozen=True)
class Cell:
    """One number of a table before it is known."""

    experiment: str
    where: str
    row: str
    seed: int
    job: RunJob

    @property
    def path(self) -> str:
        """Its name on the command line, without the seed."""
        return "/".join(map(slug, (self.experiment, self.where, self.row)))


@dataclass(frozen=True)
class Terms:
    """On which terms experiments become cells."""

    protocol: Protocol
    seeds: int = 5
    """Seeds of the rows that claims are about, of five; the others have two fewer."""
    scale: float = 1.0

    def seeds_of(self, experiment: Experiment, entry: Entry) -> tuple[int, ...]:
        """Return the seeds of an entry, the first ones of those that are fixed."""
        every = self.protocol.seeds.development if experiment.development else entry.seeds or self.protocol.seeds.paper
        alike = experiment.development or entry.claimed
        return every[: self.seeds if alike else max(1, self.seeds - FEWER)]


def cells_of(experiments: Sequence[Experiment], terms: Terms) -> list[Cell]:
    """Return the cells of some experiments, seeds outermost: whatever ends early leaves whole tables of fewer seeds."""
    found = [
        (rank, Cell(experiment.name, entry.where.name, entry.row.name, seed, job_of(entry, seed, terms)))
        for experiment in experiments
        for entry in experiment.entries
        if lacking(entry, terms.protocol) is None
        for rank, seed in enumerate(terms.seeds_of(experiment, entry))
    ]
    return [cell for _, cell in sorted(found, key=lambda pair: pair[0])]


def lacking(entry: Entry, protocol: Protocol) -> str | None:
    """Say what an entry lacks before it can be run; None if nothing."""
    if entry.missing:
        return entry.missing
    name = split(entry.row.learner)[0]
    if name == PROJECTION and name not in protocol.learners:
        return "the protocol names no learner with projection"
    where = entry.where
    bodies = [body for body, count in zip(where.setting.demonstrators, where.counts, strict=True) if count]
    missing = [body for body in bodies if body not in shipped(where.policies) and parse_robot(body).tool is None]
    return f"set {where.policies} has no demonstrator for {', '.join(missing)}" if missing else None


def job_of(entry: Entry, seed: int, terms: Terms) -> RunJob:
    """Return what one cell depends on."""
    row, where, protocol, scale = entry.row, entry.where, terms.protocol, terms.scale
    rule = replace(row.weighed_by(protocol.rule), scored_as=row.scored_as)
    scoring = row.scoring and replace(row.scoring, method=_scaled_scorer(row.scoring.method, scale))
    demos = _own(where, seed, terms) if row.whose == OWN else _demos(row, where, seed, scale, scoring, rule)
    learner, least_steps = _scaled_learner(_learner(row.learner, protocol), scale)
    steps = (protocol.steps[split(where.imitator)[0]] if row.steps is None else row.steps) + row.more_steps
    evaluation = protocol.evaluation
    scored = None
    if scoring is not None:
        scored = ScoreJob(where.imitator, _scored(demos, where, seed, scale, scoring), scoring, seed)
    return RunJob(
        imitator=where.imitator,
        demos=demos,
        scores=scored,
        rule=rule,
        learner=learner,
        steps=max(least_steps, scaled_count(steps, scale)),
        scores_count=scored is not None and split(row.learner)[0] in protocol.scores_count,
        seed=seed,
        episodes=(scaled_count(evaluation.mean, scale), scaled_count(evaluation.sampled, scale)),
    )


def _learner(text: str, protocol: Protocol) -> str:
    """Return the text of the learner that a row names, which may be one of the protocol's, with further settings."""
    name, settings = split(text)
    base = protocol.learners.get(name)
    if base is None:
        return text
    extra = ",".join(f"{key}={value}" for key, value in settings.items())
    return base if not extra else f"{base}{',' if ':' in base else ':'}{extra}"


@cache
def _scaled_learner(text: str, scale: float) -> tuple[str, int]:
    """Return a learner's own text, and the least steps that it can learn from; thousands of cells have the same few."""
    learner: Learner = scaled_method(parse_learner(text), scale)
    return learner_text(learner), learner.least_steps


@cache
def _scaled_scorer(text: str, scale: float) -> str:
    """Return a scorer's own text."""
    return scorer_text(scaled_method(parse_scorer(text), scale))


@cache
def _depends_on_set(text: str) -> bool:
    return depends_on_set(parse_scorer(text))


def _own(where: Where, seed: int, terms: Terms) -> DemoSet:
    """Return demonstrations of the imitator's own expert, under the first setting that has it: equal work is done once."""
    experts, end = terms.protocol.experts, "" if where.policies == SETS[0] else f" set {where.policies}"
    own = experts.get(f"{where.imitator}@{where.setting.name}{end}")
    same = (one.name for one in SETTINGS if own and experts.get(f"{where.imitator}@{one.name}{end}") == own)
    setting = next(same, where.setting.name)
    return DemoSet((Recording(where.imitator, scaled_count(EACH, terms.scale), setting, seed, where.policies),))


def _demos(row: Row, where: Where, seed: int, scale: float, scoring: Scoring | None, rule: WeightRule) -> DemoSet:
    """Return the demonstrations of a row."""
    if where.budget is not None:
        return _asked_for(row, where, seed, scaled_count(where.budget, scale), scoring, rule)
    return DemoSet(
        tuple(
            Recording(body, scaled_count(count, scale), where.setting.name, seed, where.policies)
            for place, (body, count) in enumerate(zip(where.setting.demonstrators, where.counts, strict=True))
            if count and _belongs(row, where, place, body)
        )
    )


def _belongs(row: Row, where: Where, place: int, body: str) -> bool:
    return row.whose in (ALL, body) or (row.whose == RELATED and place < where.setting.related)


def _asked_for(row: Row, where: Where, seed: int, budget: int, scoring: Scoring | None, rule: WeightRule) -> DemoSet:
    """Return one demonstration of every demonstrator and so many more: by score any number of each, else the same."""
    bodies = where.setting.demonstrators
    by_score = row.acquires and scoring is not None
    more = [budget if by_score else (budget + place) // len(bodies) for place in range(len(bodies))]
    recordings = [
        Recording(body, 1 + count, where.setting.name, seed, where.policies) for body, count in zip(bodies, more, strict=True)
    ]
    return DemoSet(tuple(recordings), Acquisition(budget, scoring, rule) if by_score and scoring else None)


def _scored(demos: DemoSet, where: Where, seed: int, scale: float, scoring: Scoring) -> DemoSet:
    """Return the set whose scores a row takes: the setting's whole composition, if measures of one do not depend on others."""
    if demos.acquisition is not None or _depends_on_set(scoring.method):
        return demos
    whole = {
        body: Recording(body, scaled_count(count, scale), where.setting.name, seed, where.policies)
        for body, count in zip(where.setting.demonstrators, where.setting.counts, strict=True)
        if count
    }
    within = all(one.body in whole and one.count <= whole[one.body].count for one in demos.recordings)
    return DemoSet(tuple(whole.values())) if within else demos


def chosen(experiments: Sequence[Experiment], names: Sequence[str]) -> list[Experiment]:
    """Return what `EXPERIMENT[/SETTING[/ROW]]` texts name, in the order of the catalogue."""
    wanted = [_parts(name) for name in names]
    for parts in wanted:
        _check_known(experiments, parts)
    found: list[Experiment] = []
    for experiment in experiments:
        kept = tuple(entry for entry in experiment.entries if any(_fits(experiment, entry, parts) for parts in wanted))
        if kept:
            found.append(replace(experiment, entries=kept))
    return found


def _parts(name: str) -> list[str]:
    parts = [part if part == ANYTHING else slug(part) for part in name.split("/")]
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise BadOption("EXPERIMENT", name, "give EXPERIMENT, EXPERIMENT/SETTING or EXPERIMENT/SETTING/ROW")
    return parts


def _fits(experiment: Experiment, entry: Entry, parts: Sequence[str]) -> bool:
    own = (slug(entry.where.name), slug(entry.row.name))
    named = experiment.name in GROUPS.get(parts[0], (parts[0],))
    return named and all(asked in (mine, ANYTHING) for asked, mine in zip(parts[1:], own, strict=False))


def _check_known(experiments: Sequence[Experiment], parts: Sequence[str]) -> None:
    """Refuse a name that nothing has, and say which there are."""
    names = [*(experiment.name for experiment in experiments), *GROUPS]
    if parts[0] not in names:
        raise BadOption("EXPERIMENT", parts[0], one_of(parts[0], names))
    of_it = [entry for one in experiments if one.name in GROUPS.get(parts[0], (parts[0],)) for entry in one.entries]
    kinds = (("SETTING", [slug(entry.where.name) for entry in of_it]), ("ROW", [slug(entry.row.name) for entry in of_it]))
    for part, (kind, choices) in zip(parts[1:], kinds, strict=False):
        if part != ANYTHING and part not in choices:
            raise BadOption(kind, part, one_of(part, dict.fromkeys(choices)))
