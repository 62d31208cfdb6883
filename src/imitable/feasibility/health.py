# SPDX-License-Identifier: MIT
"""Is a demonstration possible for this body, and its data sound? Read off its states; nothing is simulated."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from imitable.errors import BadEpisode
from imitable.feasibility.checks import check_episode, start_excess
from imitable.feasibility.spans import Span
from imitable.feasibility.static_checks import static_checks
from imitable.feasibility.unusual import disagreements
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.ground import standing
from imitable.sim.kinematics import joint_space
from imitable.sim.objects import own_entries
from imitable.sim.poses import size
from imitable.types import Demonstrations, Episode, Trajectory

DEEP_PART = 0.01
"""Geoms that are inside each other by more than this part of the body's size are mentioned: 1.3 cm of a humanoid."""

GEOMETRIC = ("range", "jump", "penetration", "reach")
"""Kinds of static checks that need no velocities."""

APART = 0.25
"""Velocities that disagree with positions by more than this part of both are of another unit or frame: twice as fast is ⅓."""

AT_REST, REST_SPEED = 0.1, 0.05
"""A joint that moves at less than this part of the speed that it babbles with, or so many radians or metres a second, is at
rest: what it has is noise, and the trembling of contacts."""


@dataclass(frozen=True)
class Health:
    """What was found in a demonstration on this body."""

    remarks: tuple[str, ...]
    """Sentences about the data: start, penetration, velocities."""
    spans: tuple[Span, ...] = ()
    """What the static checks found, in order of time."""
    unfit: str = ""
    """Why it cannot be evaluated at all; empty if it can."""

    @property
    def worst(self) -> tuple[tuple[Span, int], ...]:
        """The worst span of every kind, certain ones first, and how many of the kind there are."""
        kinds: dict[str, list[Span]] = {}
        for span in self.spans:
            kinds.setdefault(span.kind, []).append(span)
        found = [
            (max(some, key=lambda span: (span.certain, span.size / max(span.limit, 1e-9))), len(some))
            for some in kinds.values()
        ]
        return tuple(sorted(found, key=lambda pair: (not pair[0].certain, pair[0].begin)))


def health(episode: Episode, trajectory: Trajectory, imitator: Robot) -> Health:
    """Examine one demonstration: its data, and all static checks."""
    unfit, spans = why_unfit(episode, trajectory, imitator), static_checks(imitator, trajectory.states).spans
    if imitator.tool is not None:
        return Health((), spans, unfit)
    apart = _disagreement(trajectory, imitator)
    remarks = [start_excess(trajectory.states[0], imitator), *_inside(trajectory, imitator), apart]
    # with velocities in another unit all forces are wrong
    kept = tuple(span for span in spans if not apart or span.kind in GEOMETRIC)
    return Health(tuple(filter(None, remarks)), kept, unfit)


def why_unfit(episode: Episode, trajectory: Trajectory, imitator: Robot) -> str:
    """Return why a demonstration cannot be judged on this body; empty if it can."""
    if len(trajectory) < 2:
        return "it has one transition, and a rollout needs at least two"
    try:
        check_episode(episode, trajectory, imitator)
    except BadEpisode as error:
        return str(error).partition("cannot be judged: ")[2]
    return ""


def unfit_places(demos: Demonstrations, imitator: Robot) -> dict[int, str]:
    """Return the places of demonstrations that cannot be judged, and why."""
    seen = enumerate(zip(demos.episodes, demos, strict=True))
    reasons = {place: why_unfit(episode, trajectory, imitator) for place, (episode, trajectory) in seen}
    return {place: reason for place, reason in reasons.items() if reason}


def _inside(trajectory: Trajectory, imitator: Robot) -> Iterator[str]:
    """Say which two bodies are deepest inside each other, and for how long some are."""
    found, period = standing(imitator, trajectory.states), imitator.layout.period_s
    deep = found.depths > DEEP_PART * size(imitator)
    if deep.any():
        frame = int(found.depths.argmax())
        centimetres = 100 * float(found.depths[frame])
        part = f"{deep.mean():.0%} of the frames have such"
        yield f"{frame * period:.2f} s: {found.pairs[frame]} are inside each other by {centimetres:.1f} cm ({part})"


def _disagreement(trajectory: Trajectory, imitator: Robot) -> str:
    """Return which velocities are not those of the positions: ‖Δq − q̇ dt‖ > `APART` (‖Δq‖ + ‖q̇ dt‖), over the whole motion."""
    space, states = joint_space(imitator), trajectory.states
    gaps, _ = disagreements(imitator, states)
    moved = np.linalg.norm(space.difference(states[1:], states[:-1])[:, : space.nv], axis=0)
    steps = imitator.layout.period_s * (states[1:, space.nq :] + states[:-1, space.nq :]) / 2
    least = (
        np.maximum(AT_REST * scales(imitator).state[space.nq :], REST_SPEED)
        * imitator.layout.period_s
        * np.sqrt(len(trajectory))
    )
    ratios = np.linalg.norm(gaps, axis=0) / (moved + np.linalg.norm(steps, axis=0) + least)
    ratios = np.where(own_entries(imitator)[space.nq :], ratios, 0.0)
    apart = [name.removesuffix("_velocity") for name, ratio in zip(imitator.layout.qvel, ratios, strict=True) if ratio > APART]
    more = f" and {len(apart) - 3} more" if len(apart) > 3 else ""
    return (
        f"its velocities are not those of its positions ({', '.join(apart[:3])}{more}): another unit or frame?" if apart else ""
    )
