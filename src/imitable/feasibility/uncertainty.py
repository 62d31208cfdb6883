# SPDX-License-Identifier: MIT
"""The model is never the robot: each demonstration on several plausible bodies, and which doubt matters most."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from imitable import seeding
from imitable.errors import BadOption
from imitable.feasibility.episode_score import column_of
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.ruler import ruler
from imitable.feasibility.scorer import Measurer, ScoringJob
from imitable.feasibility.scores import Scores
from imitable.feasibility.tracking_summary import summarise_tracking
from imitable.feasibility.weighting import verdict_of_share
from imitable.observer import SILENT, Observer
from imitable.robots.family import Value
from imitable.robots.knob_text import named_knobs
from imitable.robots.parse import parse_robot, with_knobs
from imitable.robots.robot import Robot
from imitable.spec_text import split
from imitable.types import Demonstrations, Floats, Ints, Trajectory, episode_of

BODIES = 16
"""Plausible bodies that a demonstration is followed on."""

CHUNK = 64
"""Demonstrations that are measured side by side."""


@dataclass(frozen=True)
class Doubt:
    """Knobs that one does not know exactly, and by which part."""

    setting: str
    """As typed: a knob's name, or a wildcard."""
    knobs: tuple[str, ...]
    part: float
    """0.1: all of them together may be off by up to a tenth either way."""


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """N demonstrations on K plausible bodies."""

    doubts: tuple[Doubt, ...]
    factors: Floats
    """(K, D) what each body's knobs are multiplied by, a column a doubt."""
    shares: Floats
    """(N, K)."""
    feasible: Ints
    """(N) bodies on which the demonstration is feasible."""
    worst_knob: tuple[str, ...]
    """(N) the doubt that moves the share most, and the direction that is bad: `strength.* lower`; empty if none does."""

    @property
    def bodies(self) -> int:
        """K."""
        return len(self.factors)

    def sentence(self, place: int) -> str:
        """Say on how many bodies a demonstration is feasible, and what matters most."""
        knob = f"; worst: {self.worst_knob[place]}" if self.worst_knob[place] else ""
        return f"feasible on {int(self.feasible[place])} of {self.bodies}{knob}"


def parse_doubts(imitator: Robot, text: str) -> tuple[Doubt, ...]:
    """Read `mass.*=10%,friction.*=30%`: knobs of the imitator, by name or wildcard, and by which part they are uncertain."""
    _, settings = split(f"uncertain:{text}")
    doubts: list[Doubt] = []
    for setting, value in settings.items():
        knobs = named_knobs(imitator.family, setting)
        if wrong := [knob.name for knob in knobs if not isinstance(imitator.value(knob.name), float)]:
            raise BadOption("uncertain", setting, f"{wrong[0]} is no number; give knobs that are")
        try:
            part = float(value.removesuffix("%")) / 100
        except ValueError:
            part = float("nan")
        if not value.endswith("%") or not 0 < part < 1:
            raise BadOption("uncertain", f"{setting}={value}", "give a part in percent, more than 0 and less than 100: 10%")
        doubts.append(Doubt(setting, tuple(knob.name for knob in knobs), part))
    if not doubts:
        raise BadOption("uncertain", text, "name knobs and parts, such as mass.*=10%,strength.*=20%")
    return tuple(doubts)


def drawn_factors(doubts: Sequence[Doubt], count: int, seed: int) -> Floats:
    """(K, D) factors 1 + part · u, u in (−1, 1): every doubt spread evenly over the K bodies, in an order of its own."""
    columns: list[Floats] = []
    for doubt in doubts:
        rng = seeding.generator(seed, "plausible", doubt.setting)
        spread = (rng.permutation(count) + rng.random(count)) / count
        columns.append(1 + doubt.part * (2 * spread - 1))
    return np.stack(columns, axis=1)


def plausible_body(imitator: Robot, doubts: Sequence[Doubt], factors: Floats) -> Robot:
    """Return the imitator with its doubtful knobs multiplied, (D) factors, as far as knobs go."""
    values: dict[str, Value] = dict(imitator.values)
    for doubt, factor in zip(doubts, factors.tolist(), strict=True):
        for name in doubt.knobs:
            knob, value = imitator.family.knob(name), imitator.value(name)
            assert knob is not None, name
            assert isinstance(value, float), name
            values[name] = min(max(value * factor, knob.low), knob.high)
    return with_knobs(imitator.family, values)


def uncertain(
    scores: Scores,
    demos: Demonstrations,
    doubts: str,
    *,
    bodies: int = BODIES,
    threads: int = 1,
    observer: Observer = SILENT,
) -> Uncertainty:
    """Follow every demonstration on plausible bodies, as `direct` does: in the way of the scores, if it made them.

    Args:
        scores: of the same demonstrations on the imitator itself; its ruler and its thresholds serve all bodies.
        demos: the scored set, in its order.
        doubts: `mass.*=10%,friction.*=30%,strength.*=20%`.
        bodies: how many.
        threads: of the simulator; results do not depend on it.
        observer: told how far it is.
    """
    if [episode.hash for episode in demos.episodes] != [episode.hash for episode in scores.episodes]:
        raise BadOption("demos", f"{len(demos)} demonstrations", "they are not those of the scores; give the scored set")
    imitator = parse_robot(scores.imitator)
    read, seed = parse_doubts(imitator, doubts), scores.measurement.key.seed
    factors = drawn_factors(read, bodies, seed)
    robots = [plausible_body(imitator, read, row) for row in factors]
    measurers = [_measurer(scores, demos, imitator, robot, threads) for robot in robots]
    shares, words, stream = np.empty((len(demos), bodies)), list[list[str]](), iter(demos)
    while chunk := list(islice(stream, CHUNK)):
        begin = len(words)
        columns = [_verdicts(scores, measure, robot, chunk) for measure, robot in zip(measurers, robots, strict=True)]
        shares[begin : begin + len(chunk)] = np.stack([column[0] for column in columns], axis=1)
        words += [list(row) for row in zip(*(column[1] for column in columns), strict=True)]
        observer.progress(len(words), len(demos))
    feasible = np.array([row.count("feasible") for row in words], np.int64)
    return Uncertainty(read, factors, shares, feasible, tuple(_worst(read, factors, row) for row in shares))


def _measurer(scores: Scores, demos: Demonstrations, imitator: Robot, body: Robot, threads: int) -> Measurer:
    key = scores.measurement.key
    scorer = parse_scorer(key.method if split(key.method)[0] == "direct" else "direct:effort=quick")
    rule = ruler(imitator, key.distance, key.entries, key.discount)
    return scorer.prepared(ScoringJob(demos, body, rule, key.seed, key.rollouts, threads))


def _verdicts(scores: Scores, measure: Measurer, body: Robot, chunk: Sequence[Trajectory]) -> tuple[Floats, tuple[str, ...]]:
    """(n) shares and verdicts of some demonstrations on one body."""
    measured, own_error = measure(chunk), scores.measurement.own_error
    pairs = enumerate(zip(measured, chunk, strict=True))
    rows = [summarise_tracking(one, seen, episode_of(seen, place), body, own_error) for place, (one, seen) in pairs]
    shares = column_of(rows, "share")
    limits = scores.weighing.feasible_share, scores.weighing.borderline_share
    return shares, tuple(verdict_of_share(row.share, *limits, fell=row.fell) for row in rows)


def _worst(doubts: Sequence[Doubt], factors: Floats, shares: Floats) -> str:
    """Name the doubt of the largest coefficient of (K) shares on the (K, D) factors, each in its own part."""
    parts = np.array([doubt.part for doubt in doubts])
    columns = np.column_stack([(factors - 1) / parts, np.ones(len(factors))])
    slopes = np.linalg.lstsq(columns, shares, rcond=None)[0][:-1]
    worst = int(np.abs(slopes).argmax())
    if abs(slopes[worst]) < 1e-3:
        return ""
    return f"{doubts[worst].setting} {'higher' if slopes[worst] > 0 else 'lower'}"
