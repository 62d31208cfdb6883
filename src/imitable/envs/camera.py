# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Pictures of a body in a state.

An adapter file: MuJoCo ships no types.
"""

from typing import Any, TypeAlias

import mujoco
import numpy as np
import numpy.typing as npt

from imitable.errors import BadOption
from imitable.robots.robot import Robot
from imitable.types import Floats

Frame: TypeAlias = npt.NDArray[np.uint8]


class Camera:
    """Draws states of one body through its model's first camera; the drawing context opens with the first picture."""

    def __init__(self, robot: Robot, height: int = 480, width: int = 480) -> None:
        self._robot, self._size = robot, (height, width)
        self._data: Any = mujoco.MjData(robot.model)
        self._renderer: Any = None

    def frame(self, state: Floats) -> Frame:
        """(S) → (height, width, 3): draw a state."""
        model, data = self._robot.model, self._data
        renderer = self._renderer = self._renderer or self._opened()
        data.qpos[:], data.qvel[:] = state[: model.nq], state[model.nq :]
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera=0 if model.ncam else -1)
        return renderer.render()

    def _opened(self) -> Any:
        try:
            return mujoco.Renderer(self._robot.model, *self._size)
        except Exception as error:  # every OpenGL back end fails in its own way
            advice = f"this machine gives no drawing context ({error}); set MUJOCO_GL=egl or MUJOCO_GL=osmesa before the start"
            raise BadOption("render_mode", "rgb_array", advice) from None

    def close(self) -> None:
        """Release the drawing context."""
        if self._renderer is not None:
            self._renderer.close()
        self._renderer = None
