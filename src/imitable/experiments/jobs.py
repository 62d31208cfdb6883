# SPDX-License-Identifier: MIT
"""Jobs: everything that a result depends on, and a name made of it, so that equal jobs are one file whoever asks for them.

A changed default of a learner, a scorer or the weights makes another name, though the texts of jobs do not show it.

A `Recording` makes demonstrations, a `ScoreJob` distances, a `RunJob` a policy and what it is worth. None of them knows which
experiment it is for: two that ask for the same share it.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from imitable.experiments.cases import STANDARD, Recording
from imitable.experiments.demonstrations import demos_folder
from imitable.experiments.records import to_json
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.score import Measuring
from imitable.feasibility.weighting import SHARPER
from imitable.imitation.methods import parse_learner
from imitable.spec_text import settings_hash, split


@dataclass(frozen=True)
class Scoring:
    """How demonstrations are measured."""

    method: str
    """The scorer as text."""
    measuring: Measuring = STANDARD


@dataclass(frozen=True)
class WeightRule:
    """How measures become weights, see `imitable.feasibility.score.weigh`."""

    temperature: str = "auto"
    keep: str = "all"
    balance: str = "none"
    segments: bool = False
    scored_as: str = ""
    """Rule by which `auto` scores, of `weighting.RULES`; empty: the scorer's own."""
    masses: tuple[tuple[str, float], ...] | None = None
    """Demonstrators and what each weighs, if that is fixed, not measured. None is left out of a job's JSON and its name."""


@dataclass(frozen=True)
class Acquisition:
    """Demonstrations that are asked for by score: independent draws of demonstrators by the paper's Eqn. 4."""

    budget: int
    """Demonstrations beside the first one of every demonstrator."""
    scoring: Scoring
    """Of those first ones."""
    rule: WeightRule


@dataclass(frozen=True)
class DemoSet:
    """Demonstrations of some bodies as one set."""

    recordings: tuple[Recording, ...]
    acquisition: Acquisition | None = None
    """Which part of the recordings belongs to the set; None: all."""

    @property
    def first_ones(self) -> "DemoSet":
        """The first demonstration of every demonstrator."""
        return DemoSet(tuple(Recording(one.body, 1, one.setting, one.seed, one.policies) for one in self.recordings))


@dataclass(frozen=True)
class ScoreJob:
    """Demonstrations to be measured on an imitator."""

    imitator: str
    demos: DemoSet
    scoring: Scoring
    seed: int

    @cached_property
    def name(self) -> str:
        """Name of its score file."""
        by = slug(split(self.scoring.method)[0])
        return f"{slug(self.imitator)}.{by}.seed-{self.seed}.{_hash(self, self.demos, self.settings)[:12]}"

    @property
    def settings(self) -> tuple[object, ...]:
        """What the scorer's text does not say: all its settings, defaults included."""
        return (scorer_hash(self.scoring.method),)


@dataclass(frozen=True)
class RunJob:
    """A policy to be learned and evaluated: all that one cell of a table depends on."""

    imitator: str
    demos: DemoSet
    scores: ScoreJob | None
    """Where weights come from: scores of these demonstrations, or of more; None: nothing was measured."""
    rule: WeightRule
    learner: str
    """The learner as text."""
    steps: int
    """Control steps that it may learn from."""
    scores_count: bool
    """Whether the simulator steps of the scores are taken off those of the learner."""
    seed: int
    """Of the learner."""
    episodes: tuple[int, int]
    """Of the evaluation, with mean and with sampled actions."""

    @cached_property
    def hash(self) -> str:
        """Of all of it, and of the policies that demonstrate."""
        return _hash(self, self.demos, self.settings)

    @property
    def settings(self) -> tuple[object, ...]:
        """What the job's texts do not say: all settings of learner and scorer, and the power of the score that weighs."""
        scorer = () if self.scores is None else self.scores.settings
        power = (SHARPER,) if self.scores is not None and self.rule.temperature == "auto" else ()
        return (learner_hash(self.learner), *scorer, *power)

    @cached_property
    def name(self) -> str:
        """Name of its run folder and of its record."""
        by = "unweighted" if self.scores is None else slug(split(self.scores.scoring.method)[0])
        return f"{slug(self.imitator)}.{slug(split(self.learner)[0])}.{by}.seed-{self.seed}.{self.hash[:12]}"


def slug(text: str) -> str:
    """Return a name as it stands in paths and on the command line: `ID-Feas (our weight rule)` → `id-feas-our-weight-rule`."""
    return re.sub(r"[^a-z0-9._=+]+", "-", text.lower()).strip("-")


def _hash(job: object, demos: DemoSet, settings: tuple[object, ...]) -> str:
    """Return a hash of a job's content; a folder of demonstrations is named by the policy that plays them, too."""
    folders = [demos_folder(Path(), recording).name for recording in demos.recordings]
    text = json.dumps([to_json(job), folders, settings], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def learner_hash(text: str) -> str:
    """Return a hash of all settings of a learner, given as text."""
    return settings_hash(parse_learner(text))


@cache
def scorer_hash(text: str) -> str:
    """Return a hash of all settings of a scorer, given as text."""
    return settings_hash(parse_scorer(text))
