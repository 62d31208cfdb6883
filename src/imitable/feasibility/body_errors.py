# SPDX-License-Identifier: MIT
"""How far an attempt is from its demonstration in units that people know: metres of bodies, radians of joints, success."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.errors import BadOption, one_of
from imitable.robots.robot import Robot
from imitable.sim.kinematics import joint_space
from imitable.sim.poses import joint_columns, point_names, positions
from imitable.types import Bools, Floats, Ints

SUCCESS_M = 0.5
"""Metres up to which an attempt succeeds: the rule of the humanoid groups."""

RULES = ("mean", "largest")
"""What must stay below the threshold in every judged step: the mean over the bodies, or every body."""


@dataclass(frozen=True, eq=False)
class BodyErrors:
    """Errors of n attempts of at most H steps; NaN beyond their ends, infinite where an attempt has no state any more."""

    bodies_m: Floats
    """(n, H, B) distances of bodies or sites in the world."""
    points: tuple[str, ...]
    """Names of the B bodies."""
    joints_rad: Floats
    """(n, H, J) of joints that turn; of a ball or free joint, the angle of the rotation between both."""
    joints: tuple[str, ...]
    """Names of the J joints."""
    slides_m: Floats
    """(n, H, K) of joints that slide, and of the three translations of a free joint."""
    slides: tuple[str, ...]
    """Names of the K entries."""

    @property
    def body_steps_m(self) -> Floats:
        """(n, H) mean over the bodies."""
        return self.bodies_m.mean(axis=2)

    @property
    def body_mean_m(self) -> Floats:
        """(n) mean over bodies and judged steps."""
        return _judged_mean(self.bodies_m)

    @property
    def body_largest_m(self) -> Floats:
        """(n) of any body in any judged step."""
        return _judged_max(self.bodies_m)

    @property
    def joint_mean_rad(self) -> Floats:
        """(n) mean over turning joints and judged steps; 0 without such a joint."""
        return _judged_mean(self.joints_rad)

    @property
    def joint_largest_rad(self) -> Floats:
        """(n) of any turning joint in any judged step."""
        return _judged_max(self.joints_rad)

    @property
    def slide_mean_m(self) -> Floats:
        """(n) mean over sliding joints and judged steps; 0 without such a joint."""
        return _judged_mean(self.slides_m)

    @property
    def slide_largest_m(self) -> Floats:
        """(n) of any sliding joint in any judged step."""
        return _judged_max(self.slides_m)

    def success(self, threshold_m: float = SUCCESS_M, rule: str = "mean") -> Bools:
        """(n) whether an attempt stays within the threshold in every judged step.

        `mean`: of the bodies' mean distance, as PHC and UHC are evaluated (failed once a frame's mean exceeds 0.5 m).
        `largest`: of every body's distance, as PHC trains; stricter.
        """
        if rule not in RULES:
            raise BadOption("rule", rule, one_of(rule, RULES))
        steps = self.body_steps_m if rule == "mean" else self.bodies_m.max(axis=2)
        return ~np.any(steps > threshold_m, axis=1)


def body_errors(
    imitator: Robot, followed: Floats, demonstrated: Floats, points: Sequence[str] | None = None, lengths: Ints | None = None
) -> BodyErrors:
    """Compare followed with demonstrated states, (n, H, S) each.

    Args:
        imitator: whose body is put into both.
        followed: states of the attempts; NaN beyond their ends.
        demonstrated: the states that they head for.
        points: names of bodies or sites; None: all bodies that move, by their centres of mass.
        lengths: (n) judged steps; a followed state that is NaN before is infinitely far. None: up to the last state there is.
    """
    space = joint_space(imitator)
    gaps = np.abs(space.difference(followed, demonstrated)[..., : space.nv])
    apart = positions(imitator, followed, points) - positions(imitator, demonstrated, points)
    names = space.names(imitator.layout.state)[: space.nv]
    columns = joint_columns(imitator)
    judged: Bools = np.asarray(np.isfinite(followed).all(axis=2))
    within = judged if lengths is None else _within(lengths, int(followed.shape[1]))

    def cut(errors: Floats) -> Floats:
        missing = np.where(within, np.inf, np.nan)[..., None]
        return np.where((within & judged)[..., None], errors, missing)

    angles = [np.linalg.norm(gaps[..., list(three)], axis=-1) for three in columns.turning]
    return BodyErrors(
        bodies_m=cut(np.linalg.norm(apart, axis=-1)),
        points=point_names(imitator) if points is None else tuple(points),
        joints_rad=cut(np.stack(angles, axis=-1) if angles else np.zeros((*gaps.shape[:-1], 0))),
        joints=columns.names,
        slides_m=cut(gaps[..., list(columns.sliding)]),
        slides=tuple(names[column] for column in columns.sliding),
    )


def _within(lengths: Ints, steps: int) -> Bools:
    """(n) → (n, steps) which steps are judged."""
    return np.less(np.arange(steps), lengths[:, None])


def _judged_mean(errors: Floats) -> Floats:
    """(n, H, k) → (n) mean over what is not NaN; 0 if there is nothing."""
    known = ~np.isnan(errors)
    return np.where(known, errors, 0.0).sum(axis=(1, 2)) / np.maximum(known.sum(axis=(1, 2)), 1)


def _judged_max(errors: Floats) -> Floats:
    """(n, H, k) → (n) largest that is not NaN; 0 if there is nothing."""
    return np.where(np.isnan(errors), 0.0, errors).max(axis=(1, 2), initial=0.0)
