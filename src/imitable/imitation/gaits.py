# SPDX-License-Identifier: MIT
"""Do the demonstrators that carry the weight move alike? A policy that is to have two gaits at once may end with neither.

The states of a demonstrator i under p_w, without the root's position and in the imitator's own scales, are a cloud of points.
Two gaits are apart by

    g(i, j) = W(i, j) / (½ V(i) + ½ V(j)),   W(i, j) = mean over directions θ of ∫ |F_i − F_j| dt,
                                             V(i)    = mean over directions θ of 2 ∫ F_i (1 − F_i) dt

with F_i the distribution of cloud i along θ: W is the sliced Wasserstein distance, V the mean distance of two points of one
cloud along the same directions. So g is 0 of a gait and itself, and 1 if it is as far to another gait as from one moment of
a gait to any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from imitable.command_text import command
from imitable.demos.part import Part
from imitable.evaluation.occupancy import Cloud, cloud_in_scales, mean_distance, sliced_distance
from imitable.imitation.transitions import densities, weighted_transitions
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Floats, Ints, Weights, by_demonstrator

MASS = 0.1
"""Part of the weight from which on a demonstrator counts."""

ANOTHER_GAIT = 0.25
"""Distance above which gaits differ. Measured on the development imitators' demonstrators (20 each): demonstrations of one
policy in two halves 0.01 to 0.06, at most 0.16 if each half is a single one; other policies 0.09 to 0.22 if they move alike,
and 0.32 to 2.0 if they do not (`docs/method.md`)."""

REST = 1e-6
"""A demonstrator that does not move is spread out by this much, in the imitator's scales."""

HEAVIEST, STATES = 50, 5000
"""Demonstrations of each that are looked at, those of most weight, and states of these, drawn by weight if there are more."""


@dataclass(frozen=True)
class GaitDistance:
    """How far apart the gaits of two demonstrators are."""

    demonstrators: tuple[str, str]
    """Who they are, the one of more weight first."""
    masses: tuple[float, float]
    """Their parts of the weight."""
    distance: float
    """g, 0 if they are the same."""


def gait_distances(demos: Demonstrations, imitator: Robot, weights: Weights | None = None) -> list[GaitDistance]:
    """Return the distances between the demonstrators that hold at least `MASS` of the weight, the largest first."""
    mass = densities(demos, weights) * [episode.length for episode in demos.episodes]
    groups = {name: np.array(places) for name, places in by_demonstrator(demos.episodes).items()}
    parts = {name: float(mass[places].sum() / mass.sum()) for name, places in groups.items()}
    names = sorted((name for name, part in parts.items() if part >= MASS), key=lambda name: -parts[name])
    if len(names) < 2:
        return []
    clouds = [_cloud(demos, _heaviest(groups[name], mass), imitator, weights) for name in names]
    found = [
        GaitDistance((names[i], names[j]), (parts[names[i]], parts[names[j]]), distance)
        for (i, j), distance in distances_between(clouds).items()
    ]
    return sorted(found, key=lambda pair: -pair.distance)


def distances_between(clouds: Sequence[Cloud]) -> dict[tuple[int, int], float]:
    """Return g of every two of some clouds, by their places i < j."""
    spreads = [mean_distance(cloud) for cloud in clouds]
    return {
        (i, j): sliced_distance(clouds[i], clouds[j]) / max(0.5 * spreads[i] + 0.5 * spreads[j], REST)
        for i, j in combinations(range(len(clouds)), 2)
    }


def gait_remark(distances: Sequence[GaitDistance], weights: Weights | None = None) -> str:
    """Return what a user should know before imitating, and what can be done; empty text: all move alike."""
    if not distances or distances[0].distance <= ANOTHER_GAIT:
        return ""
    farthest = distances[0]
    whom = " and ".join(
        f"{name} ({mass:.0%} of the weight)" for name, mass in zip(farthest.demonstrators, farthest.masses, strict=True)
    )
    heaviest = max((mass, name) for pair in distances for name, mass in zip(pair.demonstrators, pair.masses, strict=True))[1]
    scores = (weights.source if weights is not None else "") or "scores.parquet"
    first = "score them, then " if weights is None else ""
    remedy = command("weigh", [scores], {"keep": heaviest})
    return (
        f"the gaits of {whom} are {farthest.distance:.2f} apart (those that are alike: below {ANOTHER_GAIT}), so that a policy "
        f"may learn neither; {first}{remedy} keeps one"
    )


def _heaviest(places: Ints, mass: Floats) -> list[int]:
    """Return the places of a demonstrator's heaviest demonstrations that have a weight."""
    ordered = places[np.argsort(-mass[places], kind="stable")][:HEAVIEST]
    return ordered[mass[ordered] > 0].tolist()


def _cloud(demos: Demonstrations, places: Sequence[int], imitator: Robot, weights: Weights | None) -> Cloud:
    """Return the states of some demonstrations, in the imitator's scales."""
    transitions = weighted_transitions(Part(demos, places), weights, 0, STATES)
    real = ~transitions.absorbing
    return cloud_in_scales(imitator, transitions.before[real], transitions.density[real])
