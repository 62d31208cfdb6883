# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Where the parts of a body are in the world: G geoms, each the convex hull of a few points, inflated by a radius.

A sphere is 1 point, a capsule 2, a box its 8 corners; round or free forms get a few points of their surface. The page draws
the hull of the points in the plane of motion with a round pen. Shapes: F states, P points of all geoms together.
An adapter file: MuJoCo ships no types.
"""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from imitable.robots.robot import Robot
from imitable.types import Floats

VISIBLE_GROUPS = 3
"""Geoms of the groups below this one are drawn: MuJoCo's own viewer shows these by default."""

CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
"""(8, 3) corners of a cube."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A body in F states."""

    radii: tuple[float, ...]
    """(G) metres."""
    counts: tuple[int, ...]
    """(G) points of each geom."""
    points: Floats
    """(F, P, 3) metres."""


def figure(robot: Robot, states: Floats) -> Figure:
    """(F, S) → the body in these states, by kinematics alone; of an arm only what moves with it."""
    model = robot.model
    return _placed(robot, states, [geom for geom in range(model.ngeom) if _drawn(model, geom) and not _still(robot, geom)])


def scene(robot: Robot) -> Figure:
    """Return what stands around an arm, in one state."""
    model = robot.model
    return _placed(
        robot, robot.start[None], [geom for geom in range(model.ngeom) if _drawn(model, geom) and _still(robot, geom)]
    )


def _still(robot: Robot, geom: int) -> bool:
    return robot.tool is not None and int(robot.model.geom_bodyid[geom]) == 0


def _placed(robot: Robot, states: Floats, geoms: list[int]) -> Figure:
    model = robot.model
    shapes = [(geom, *_shape(model, geom)) for geom in geoms]
    data = mujoco.MjData(model)
    points = np.empty((len(states), sum(len(local) for _, _, local in shapes), 3))
    for row, state in enumerate(states):
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        placed = [data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T for geom, _, local in shapes]
        points[row] = np.concatenate(placed) if placed else 0.0
    return Figure(tuple(radius for _, radius, _ in shapes), tuple(len(local) for _, _, local in shapes), points)


def ground(robot: Robot) -> float | None:
    """Return the height of the floor, if the model has a level one."""
    model = robot.model
    for geom in np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)).tolist():
        if int(model.geom_bodyid[geom]) == 0 and abs(float(model.geom_quat[geom][0])) > 0.999:
            return float(model.geom_pos[geom][2])
    return None


def _drawn(model: Any, geom: int) -> bool:
    flat = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
    return int(model.geom_type[geom]) not in flat and int(model.geom_group[geom]) < VISIBLE_GROUPS


def _shape(model: Any, geom: int) -> tuple[float, Floats]:
    """Return radius and (k, 3) points of a geom in its own frame."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return float(size[0]), np.zeros((1, 3))
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return float(size[0]), np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
    if kind == int(mujoco.mjtGeom.mjGEOM_ELLIPSOID):
        return 0.0, _directions(24) * size
    if kind == int(mujoco.mjtGeom.mjGEOM_CYLINDER):
        angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
        ring = np.stack([size[0] * np.cos(angles), size[0] * np.sin(angles), np.zeros(6)], axis=1)
        end = np.array([0.0, 0.0, size[1]])
        return 0.0, np.concatenate([ring + end, ring - end])
    if kind == int(mujoco.mjtGeom.mjGEOM_MESH):
        first, number = (int(array[model.geom_dataid[geom]]) for array in (model.mesh_vertadr, model.mesh_vertnum))
        vertices = np.array(model.mesh_vert[first : first + number], float)
        return 0.0, vertices[np.unique((vertices @ _directions(16).T).argmax(axis=0))]
    box = np.array(model.geom_aabb[geom], float)
    return 0.0, box[:3] + CORNERS * box[3:]


def _directions(count: int) -> Floats:
    """(count, 3) unit vectors spread evenly over the sphere."""
    place = np.arange(count) + 0.5
    height, angle = 1 - 2 * place / count, np.pi * (1 + 5**0.5) * place
    across = np.sqrt(1 - height**2)
    return np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
