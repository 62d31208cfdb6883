# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""A Unitree G1 that stands and moves: its own balanced movements, made by its servos and a few lines of control.

No tracker and no learning is asked, so that a tracker can be judged by them: whatever is recorded here, the body did.
An adapter file: MuJoCo ships no types.
"""

from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.sim.ground import standing
from imitable.types import Floats, Trajectory

STANCE = {
    "hip_pitch": -0.312,
    "knee": 0.669,
    "ankle_pitch": -0.363,
    "shoulder_pitch": 0.2,
    "left_shoulder_roll": 0.2,
    "right_shoulder_roll": -0.2,
    "elbow": 0.6,
}
"""Angles that it stands with, rad; all other joints are at 0."""

WAVES: dict[str, dict[str, float]] = {
    "own: swings its arms": {"left_shoulder_pitch_joint": -0.8, "right_shoulder_pitch_joint": 0.8},
    "own: turns its waist": {"waist_yaw_joint": 0.4},
    "own: spreads its arms": {"left_shoulder_roll_joint": 0.5, "right_shoulder_roll_joint": -0.5},
}
"""Movements, and how far they take joints, rad."""

HERTZ, SETTLE_S, LASTS_S = 0.4, 1.0, 3.0
"""Of a wave; seconds until the recording begins, and that it lasts."""

PUSH, BRAKE, AHEAD_M = 12.0, 2.0, 0.03
"""Ankles give way by so many radians a metre that the centre of mass is off, and a metre a second that it moves; it shall be
so far ahead of the ankles."""


def balanced_movements(g1: Robot) -> list[Trajectory]:
    """Return what it does while it balances, a movement a wave: states (T + 1, S), controls (T, A)."""
    return [_played(g1, name, wave) for name, wave in WAVES.items()]


def lowest_m(movement: Trajectory) -> float:
    """Return how low the root of a free body comes, metres: who falls is low."""
    return float(movement.states[:, 2].min())


def _played(g1: Robot, name: str, wave: dict[str, float]) -> Trajectory:
    model, period = g1.model, g1.layout.period_s
    data, stance = mujoco.MjData(model), _by_actuator(g1, STANCE)
    amplitude, settle = _by_actuator(g1, wave), round(SETTLE_S / period)
    _stand(g1, data, stance)
    states, actions, before = list[Floats](), list[Floats](), _off(model, data)
    for step in range(settle + round(LASTS_S / period)):
        off = _off(model, data)
        swing = np.sin(2 * np.pi * HERTZ * max(0, step - settle // 2) * period)
        control = stance + swing * amplitude + _ankles(g1, PUSH * off + BRAKE * (off - before) / period)
        data.ctrl[:], before = np.clip(control, *g1.control_range), off
        states.append(np.concatenate([data.qpos, data.qvel]))
        actions.append(np.array(data.ctrl))
        mujoco.mj_step(model, data, g1.frame_skip)
        mujoco.mj_forward(model, data)
    states.append(np.concatenate([data.qpos, data.qvel]))
    return Trajectory(np.array(states[settle:]), name, np.array(actions[settle:]))


def _by_actuator(g1: Robot, angles: dict[str, float]) -> Floats:
    """(A) the angle of every actuator whose name has a key in it, 0 of the others."""
    return np.array([sum(angle for part, angle in angles.items() if part in name) for name in g1.layout.actuators])


def _stand(g1: Robot, data: Any, stance: Floats) -> None:
    """Put it onto the ground."""
    model = g1.model
    data.qpos[model.jnt_qposadr[model.actuator_trnid[:, 0]]] = stance
    data.qpos[2] -= float(standing(g1, np.concatenate([data.qpos, data.qvel])[None]).ground[0])
    mujoco.mj_forward(model, data)


def _off(model: Any, data: Any) -> Floats:
    """(2) metres that the centre of mass is off, forwards and to the left."""
    ankles = [data.xpos[model.body(f"{side}_ankle_roll_link").id] for side in ("left", "right")]
    return data.subtree_com[1][:2] - np.mean(ankles, axis=0)[:2] - (AHEAD_M, 0.0)


def _ankles(g1: Robot, push: Floats) -> Floats:
    """(2) → (A) controls of the ankles against a push."""
    return _by_actuator(g1, {"ankle_pitch": float(push[0]), "ankle_roll": -float(push[1])})
