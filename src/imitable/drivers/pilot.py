# SPDX-License-Identifier: MIT
"""A policy at the arm: from readings to states, observations, actions, and the joint positions that those mean."""

import numpy as np

from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Reading
from imitable.drivers.player import Decision
from imitable.policies.acting import act
from imitable.sim.inverse_kinematics import moved_tools
from imitable.sim.rollout import check_fit
from imitable.sim.task import Moment, Task
from imitable.types import Floats, Policy


class PolicyPilot:
    """Plays one episode of a task with mean actions, and counts what it is paid."""

    def __init__(self, task: Task, policy: Policy, model: ArmModel) -> None:
        """Refuse a policy that does not fit the task; the model is of the task's robot."""
        check_fit(task, policy)
        self._task, self._policy, self._model = task, policy, model
        self._before: Moment | None = None
        self._action = np.empty((1, 0))
        self.total_return, self.terminated, self.absorbing = 0.0, False, False

    def decide(self, reading: Reading) -> Decision:
        """Return the policy's action in this state, within the control range, and what it means for the joints."""
        assert self._before is not None, "an episode is looked at before it is decided"
        actions = act(self._policy, self._task.observe(self._before))
        self._action = np.clip(actions, *self._task.robot.control_range)
        return Decision(self._action[0], joint_targets(self._model, reading.desired[None], self._action)[0])

    def over(self, reading: Reading) -> bool:
        """Count what the last action was paid, and say whether the task is over."""
        before, self._before = self._before, self._moment(reading)
        if before is not None:
            self.total_return += float(self._task.reward(before, self._action, self._before)[0])
        end = self._task.end(self._before)
        self.terminated, self.absorbing = bool(end.terminated[0]), bool(end.absorbing[0])
        return self.terminated

    @property
    def steps(self) -> int:
        """Actions that were carried out."""
        return 0 if self._before is None else int(self._before.steps[0])

    def _moment(self, reading: Reading) -> Moment:
        step = 0 if self._before is None else int(self._before.steps[0]) + 1
        state = np.concatenate([reading.positions, reading.velocities])
        return Moment(state[None], np.array([step]), np.zeros((1, 0), np.int64))


def joint_targets(model: ArmModel, positions: Floats, actions: Floats) -> Floats:
    """(N, J), (N, A) → (N, J) where the joints shall be: of a tool by inverse kinematics, of servos as they are told."""
    robot = model.robot
    if robot.tool is not None:
        states = np.concatenate([positions, np.zeros_like(positions)], axis=1)
        return moved_tools(robot, states, actions)[:, : robot.layout.nq]
    targets = positions.copy()
    targets[:, model.servos] = actions
    return targets
