# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportMissingImports=false
"""Inverse kinematics of one arm by quadratic programmes, with hard joint limits: `mink`, the extra `arm`.

Slower than `inverse_kinematics` and not in batches, but it knows limits while it solves; ours is tested against it.
An adapter file: mink is not always installed.
"""

import numpy as np

from imitable.errors import MissingExtra
from imitable.robots.robot import Robot
from imitable.sim.inverse_kinematics import TURN_M, tool_chain
from imitable.types import Floats

ROUNDS = 60
"""Steps of the solver, at most."""


def brought(robot: Robot, state: Floats, target: Floats, *, tolerance_m: float = 1e-6) -> Floats:
    """(S), (3) → (S) the arm at rest with its tool at a target, or as near as it gets; welded joints stay where they are.

    Position counts a hundred times as much as tilt, as in batches.
    """
    try:
        import mink
    except ImportError:
        raise MissingExtra("mink", "arm") from None
    assert robot.tool is not None, robot
    chain, model = tool_chain(robot), robot.model
    task = mink.FrameTask(robot.tool.site, "site", position_cost=1.0, orientation_cost=TURN_M**2)
    rotation = mink.SO3.from_matrix(np.array(chain.upright))
    task.set_target(mink.SE3.from_rotation_and_translation(rotation, np.asarray(target)))
    welded = np.setdiff1d(np.arange(model.nv), chain.columns).tolist()
    frozen = [mink.DofFreezingTask(model, welded)] if welded else None
    configuration = mink.Configuration(model, np.array(state[: model.nq]))
    limits = [mink.ConfigurationLimit(model)]
    for _ in range(ROUNDS):
        velocity = mink.solve_ik(configuration, [task], 1.0, "daqp", limits=limits, constraints=frozen, damping=1e-6)
        configuration.integrate_inplace(velocity, 1.0)
        if np.linalg.norm(configuration.data.site_xpos[chain.site] - target) < tolerance_m:
            break
    return np.concatenate([configuration.q, np.zeros(model.nv)])
