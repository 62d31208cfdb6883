# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false
"""The model of a Franka Panda, generated from its public kinematic table and limits: no meshes, no files.

Body i of the chain stands at (a, −d sin α, d cos α) in the frame of body i − 1, turned by α about x; its hinge is its own z
axis (modified Denavit–Hartenberg parameters). Capsules stand in for the links, boxes for hand, fingers and what they hold.
An adapter file: MuJoCo ships no types.
"""

import math
from itertools import product
from typing import Any

import mujoco

from imitable.errors import BadModel
from imitable.robots.compiling import check

Point = tuple[float, float, float]

DH_TABLE: tuple[Point, ...] = (
    (0.0, 0.333, 0.0),
    (0.0, 0.0, -math.pi / 2),
    (0.0, 0.316, math.pi / 2),
    (0.0825, 0.0, math.pi / 2),
    (-0.0825, 0.384, -math.pi / 2),
    (0.0, 0.0, math.pi / 2),
    (0.088, 0.0, math.pi / 2),
)
"""a (m), d (m) and α (rad) of joints 1 to 7."""

FLANGE_M, HAND_TURN, TOOL_M = 0.107, -math.pi / 4, 0.1034
"""From joint 7 to the flange, the hand's turn there, and from the hand to the point between its fingers."""

RANGES = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)
"""Of the joints, rad."""

SPEEDS = (2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61)
"""Largest speeds of the joints, rad/s."""

TORQUES = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)
"""Largest torques of the joints, Nm."""

INERTIAS = (1.0, 1.6, 0.7, 1.2, 0.13, 0.16, 0.105)
"""About the joints midway to the shelf, kg m²; rough."""

BANDWIDTH = 80.0
"""Of the critically damped position servos, rad/s: 91 % of a step are made in a control period."""

START = (0.0, -0.42, 0.0, -2.98, 0.0, 2.56, math.pi / 4)
"""Joint angles before noise: hand down, before the shelf."""

JOINTS = tuple(f"joint{number}" for number in range(1, 8))
MOVING = {7: JOINTS, 3: ("joint2", "joint4", "joint6")}
"""Joints that move, by degrees of freedom. With joints 1, 3 and 5 at zero, axes 2, 4 and 6 are parallel to y."""

TOOL = "tool"
"""The site between the fingers: what a person means by where the arm is."""

TIMESTEP_S, FRAME_SKIP = 1 / 240, 12

CLEARANCE_M = 0.01
"""A part of the arm that is nearer to the scene than this has hit it, as in the published task; nothing pushes yet."""

LOCK_INERTIA = 1e12
"""Of a welded joint, kg m². It keeps its state entries, so that arms with and without it have states of one layout."""

_ARM, _SCENE = 1, 2
"""Bits of contact: arm with scene, not arm with arm."""

_LINKS = (  # body, from, to, radius of its capsules: of the public shape
    (0, (0, 0, 0.0), (0, 0, 0.28), 0.075),
    (1, (0, 0, -0.19), (0, 0, 0), 0.068),
    (2, (0, 0, -0.06), (0, 0, 0.06), 0.066),
    (2, (0, -0.19, 0), (0, 0, 0), 0.066),
    (3, (0, 0, -0.14), (0, 0, 0), 0.062),
    (3, (0.0825, 0, -0.02), (0.0825, 0, 0.05), 0.058),
    (4, (0, 0, -0.05), (0, 0, 0.05), 0.058),
    (4, (-0.0825, 0.06, 0), (-0.0825, 0.1, 0), 0.058),
    (5, (0, 0, -0.26), (0, 0, -0.22), 0.058),
    (5, (0, 0.08, -0.2), (0, 0.08, -0.05), 0.03),
    (5, (0, 0.0, -0.05), (0, 0, 0.02), 0.05),
    (6, (0, 0, -0.05), (0, 0, 0.02), 0.05),
    (6, (0.088, 0, -0.02), (0.088, 0, 0.04), 0.046),
    (7, (0, 0, -0.05), (0, 0, 0.08), 0.044),
)
_MASSES = (2.8, 2.7, 2.7, 2.4, 2.4, 2.4, 1.5, 1.0)
"""Of base and links, kg; rough, because the arm bears its own weight (`gravcomp`)."""


def arm() -> Any:
    """Return the `MjSpec` of an arm with seven joints, servos and an empty hand, in an empty world."""
    spec = mujoco.MjSpec()
    spec.modelname = "panda"
    spec.compiler.degree = False
    spec.option.timestep = TIMESTEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    body = spec.worldbody.add_body(name="link0")
    _add_links(body, 0)
    for number, (name, (a, d, alpha)) in enumerate(zip(JOINTS, DH_TABLE, strict=True), start=1):
        body = body.add_body(
            name=f"link{number}",
            pos=(a, -d * math.sin(alpha), d * math.cos(alpha)),
            quat=(math.cos(alpha / 2), math.sin(alpha / 2), 0, 0),
            gravcomp=1,
        )
        limits = {"range": RANGES[number - 1], "limited": mujoco.mjtLimited.mjLIMITED_TRUE}
        body.add_joint(name=name, axis=(0, 0, 1), armature=0.1, **limits)
        _add_links(body, number)
    hand = body.add_body(
        name="hand",
        pos=(0, 0, FLANGE_M),
        quat=(math.cos(HAND_TURN / 2), 0, 0, math.sin(HAND_TURN / 2)),
        gravcomp=1,
    )
    _add_hand(spec, hand)
    add_servos(spec)
    return spec


def add_servos(spec: Any) -> None:
    """Give every joint a position servo with the arm's own torque limit, and the model its start."""
    for name, (low, high), torque, inertia in zip(JOINTS, RANGES, TORQUES, INERTIAS, strict=True):
        servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_position(kp=BANDWIDTH**2 * inertia, kv=2 * BANDWIDTH * inertia)
        servo.ctrlrange, servo.ctrllimited = (low, high), mujoco.mjtLimited.mjLIMITED_TRUE
        servo.forcerange, servo.forcelimited = (-torque, torque), mujoco.mjtLimited.mjLIMITED_TRUE
    spec.add_key(name="start", qpos=START)


def read_arm(path: str) -> Any:
    """Return the `MjSpec` of a user's own model of the arm, with our servos and start; its fingers stand still.

    It must call its joints joint1 to joint7 and its hand `hand`, as the common models do.
    """
    check(path)
    spec = mujoco.MjSpec.from_file(path)
    found = {str(joint.name) for joint in spec.joints}
    if not {*JOINTS} <= found or spec.body("hand") is None:
        raise BadModel(path, "a model of this arm has hinges joint1 to joint7 and a body hand; its own names them otherwise")
    others = [joint for joint in spec.joints if joint.name not in JOINTS]
    for element in (*spec.keys, *spec.actuators, *spec.equalities, *spec.tendons, *others):
        spec.delete(element)
    spec.option.timestep = TIMESTEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for geom in spec.geoms:
        if int(geom.contype) or int(geom.conaffinity):
            geom.contype, geom.conaffinity, geom.gap = _ARM, _SCENE, CLEARANCE_M
    for body in spec.bodies:
        body.gravcomp = 1
    spec.body("hand").add_site(name=TOOL, pos=(0, 0, TOOL_M))
    add_servos(spec)
    return spec


def lock(spec: Any, joint: str) -> None:
    """Weld a joint at its start: no servo, no room, and an inertia that no force moves."""
    angle = START[JOINTS.index(joint)]
    hinge = spec.joint(joint)
    hinge.range, hinge.armature = (angle - 1e-6, angle + 1e-6), LOCK_INERTIA
    # MuJoCo solves contacts the less exactly, the larger the mean inertia is; that of a weld must not count
    spec.option.tolerance = 1e-8 / LOCK_INERTIA
    spec.delete(spec.actuator(joint))


def _add_links(body: Any, number: int) -> None:
    shapes = [link for link in _LINKS if link[0] == number]
    for place, (_, begin, end, radius) in enumerate(shapes):
        body.add_geom(
            name=f"{body.name}_{place}",
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=(*begin, *end),
            size=(radius, 0, 0),
            mass=_MASSES[number] / len(shapes),
            rgba=(0.93, 0.93, 0.95, 1),
            **(_contact(_ARM) if number else {"contype": 0, "conaffinity": 0}),
        )


def _add_hand(spec: Any, hand: Any) -> None:
    _add_solid(spec, hand, "palm", (0.0, 0.0, 0.03), (0.06, 0.2, 0.07), (0.25, 0.27, 0.3), 0.7)
    for side, sign in (("left", 1), ("right", -1)):
        _add_solid(spec, hand, f"{side}_finger", (0.0, sign * 0.009, 0.088), (0.02, 0.016, 0.044), (0.25, 0.27, 0.3), 0.05)
    hand.add_site(name=TOOL, pos=(0, 0, TOOL_M))


def hold(spec: Any, name: str, centre: Point, sides: Point, colour: Point) -> None:
    """Put a box between the fingers; a user's model keeps its own fingers where they are."""
    hand = spec.body("hand")
    _add_solid(spec, hand, name, centre, sides, colour, 0.1)
    for side, sign in (("left", 1), ("right", -1)):
        for geom in (spec.geom(f"{side}_finger"), spec.geom(f"{side}_finger_shape")):
            if geom is not None:
                geom.pos[1] = sign * (sides[1] / 2 + 0.008)


def add_box(spec: Any, name: str, centre: Point, sides: Point, colour: Point) -> None:
    """Add a box of the scene; centre and whole sides in metres."""
    half = tuple(side / 2 for side in sides)
    spec.worldbody.add_geom(
        name=name, type=mujoco.mjtGeom.mjGEOM_BOX, pos=centre, size=half, rgba=(*colour, 1), **_contact(_SCENE)
    )


def _add_solid(spec: Any, body: Any, name: str, centre: Point, sides: Point, colour: Point, mass: float) -> None:
    """Add a box of the arm: one to be seen, and its hull to touch with.

    MuJoCo's collider of two boxes does not list edges that are near each other and do not touch; that of hulls does.
    """
    half = tuple(side / 2 for side in sides)
    corners = [sign * side for signs in product((-1, 1), repeat=3) for sign, side in zip(signs, half, strict=True)]
    spec.add_mesh(name=name, uservert=corners)
    shape = {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": half, "contype": 0, "conaffinity": 0}
    body.add_geom(name=f"{name}_shape", pos=centre, mass=mass, rgba=(*colour, 1), **shape)
    hull = {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": name, "group": 3}
    body.add_geom(name=name, pos=centre, mass=0.0, rgba=(*colour, 0), **hull, **_contact(_ARM))


def _contact(bit: int) -> dict[str, Any]:
    """Contacts are listed from `CLEARANCE_M` on, and push from 0 on (the meaning of gap since MuJoCo 3.9).

    Gaps of two geoms add up, so that the scene has none. Contacts are hard: a servo that pushes on must not come through a
    stand of 2 cm.
    """
    hard = {"solref": (2 * TIMESTEP_S, 1.0), "solimp": (0.99, 0.999, 0.001, 0.5, 2.0)}
    return {"contype": bit, "conaffinity": _SCENE if bit == _ARM else _ARM, "gap": CLEARANCE_M if bit == _ARM else 0.0, **hard}
