# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Motions as recorders deliver them: positions only, at a lower or higher rate, in encoder steps, with noise, a frame lost.

What was recorded is brought to the imitator's control period by splines, and velocities are differences of positions: what a
user has after converting. An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from imitable.types import Floats
from studies.truth.body import Body, continuous

MAY_CHANGE_RAD, MAY_CHANGE_M = 0.02, 0.01
"""A recording that changes the motion by more than this part of the tolerance is not used: it may be another motion."""


@dataclass(frozen=True)
class Recorder:
    """How positions are recorded."""

    hertz: float
    step: float
    """Encoder step, radians or metres; 0: none."""
    noise: float
    """Standard deviation, radians or metres."""
    lost: bool
    """Whether one frame is missing; the timestamps show it, so that the spline bridges it."""

    def __str__(self) -> str:
        """Return the recorder in words."""
        parts = [f"{self.hertz:g} Hz"]
        parts += [f"steps of {1e3 * self.step:.2g} mrad"] if self.step else []
        parts += [f"noise {1e3 * self.noise:.2g} mrad"] if self.noise else []
        return ", ".join(parts + (["one frame lost"] if self.lost else []))


RECORDERS = (
    Recorder(50, 0, 0, False),
    Recorder(100, 2 * np.pi / 4096, 0, False),
    Recorder(25, 0, 2e-4, True),
    Recorder(10, 0, 0, False),
    Recorder(50, 2 * np.pi / 65536, 2e-4, True),
    Recorder(20, 2 * np.pi / 16384, 1e-4, False),
)


def recorded(body: Body, fine: Floats, recorder: Recorder, rng: np.random.Generator) -> Floats | None:
    """Return (T + 1, S) states as a recorder would deliver them; None if the motion is too fast for it."""
    timestep, model = float(body.model.opt.timestep), body.model
    true_times = timestep * np.arange(len(fine), dtype=np.float64)
    stride = max(1, round(1 / recorder.hertz / timestep))
    places = np.arange(0, len(fine), stride)
    if recorder.lost and len(places) > 4:
        places = np.delete(places, int(rng.integers(2, len(places) - 2)))
    if places[-1] != len(fine) - 1:
        places = np.append(places, len(fine) - 1)
    seen = fine[places].copy()
    scalar = np.array([model.jnt_qposadr[j] for j in range(model.njnt) if int(model.jnt_type[j]) > 1], int)
    seen[:, scalar] += recorder.noise * rng.standard_normal((len(seen), len(scalar)))
    if recorder.step:
        seen[:, scalar] = recorder.step * np.round(seen[:, scalar] / recorder.step)
    times = true_times[:: body.skip]
    qpos = _at(body, true_times[places], seen, times)
    if not _close(body, qpos, fine[:: body.skip]):
        return None
    return np.concatenate([qpos, body.velocities(qpos, body.period)], axis=1)


def _at(body: Body, known: Floats, seen: Floats, times: Floats) -> Floats:
    """Interpolate positions, quaternions on the sphere."""
    model = body.model
    out = np.asarray(CubicSpline(known, seen)(times))
    for j in range(model.njnt):
        kind, place = int(model.jnt_type[j]), int(model.jnt_qposadr[j])
        if kind > 1:
            continue
        quaternion = slice(place + 3, place + 7) if kind == 0 else slice(place, place + 4)
        turns = Rotation.from_quat(np.roll(seen[:, quaternion], -1, axis=1))
        out[:, quaternion] = continuous(np.roll(RotationSpline(known, turns)(times).as_quat(), 1, axis=1))
    return out


def _close(body: Body, qpos: Floats, true: Floats) -> bool:
    """Return whether a recording still is the motion."""
    change = np.empty((len(qpos), body.model.nv))
    for row, a, b in zip(change, qpos, true, strict=True):
        mujoco.mj_differentiatePos(body.model, row, 1.0, b, a)
    slides = body.dofs[~body.turning]
    turns = np.setdiff1d(np.arange(body.model.nv), slides)
    return bool(
        np.abs(change[:, turns]).max(initial=0) < MAY_CHANGE_RAD and np.abs(change[:, slides]).max(initial=0) < MAY_CHANGE_M
    )
