# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Changes of a body as data: each edit is a frozen dataclass that writes into an `MjSpec`.

An adapter file: MuJoCo ships no types, so its specs pass through here as `Any`.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco

from imitable.errors import BadModel
from imitable.robots.compiling import compiled


class Edit(Protocol):
    """One change of a body."""

    def apply(self, spec: Any) -> None:
        """Write the change into the `MjSpec`."""
        ...


def actuator_names(spec: Any) -> tuple[str, ...]:
    """Return one distinct name an actuator: its own, else that of what it drives, numbered from the second on."""
    names: dict[str, None] = {}
    for index, actuator in enumerate(spec.actuators):
        name = str(actuator.name or actuator.target or f"actuator{index}")
        names[name if name not in names else f"{name}_{index}"] = None
    return tuple(names)


@dataclass(frozen=True)
class JointRange:
    """Limit a joint to [low, high]: degrees for a hinge, metres for a slide."""

    joint: str
    low: float
    high: float

    def apply(self, spec: Any) -> None:
        """Write the limits in the unit the spec itself uses."""
        joint = spec.joint(self.joint)
        hinge = int(joint.type) != int(mujoco.mjtJoint.mjJNT_SLIDE)
        scale = math.pi / 180 if hinge and not spec.compiler.degree else 1.0
        joint.range = (self.low * scale, self.high * scale)
        joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE


@dataclass(frozen=True)
class SlidingFriction:
    """Set the sliding friction of geoms; torsional and rolling friction stay.

    MuJoCo takes the larger friction of two touching geoms, so a value below the floor's own has no effect.
    """

    geoms: tuple[str, ...]
    value: float

    def apply(self, spec: Any) -> None:
        """Write the first friction entry of every geom."""
        for name in self.geoms:
            geom = spec.geom(name)
            geom.friction = (self.value, *geom.friction[1:])


@dataclass(frozen=True)
class GearFactor:
    """Multiply the gear of actuators: the torque that a full control gives."""

    actuators: tuple[str, ...]
    factor: float

    def apply(self, spec: Any) -> None:
        """Scale every entry of the gears."""
        for actuator, name in zip(spec.actuators, actuator_names(spec), strict=True):
            if name in self.actuators:
                actuator.gear = actuator.gear * self.factor


@dataclass(frozen=True)
class Strength:
    """Multiply the force that an actuator can give; what a servo is told, an angle or a speed, stays.

    A motor's gear is multiplied. A servo gives gain · control + bias within its force range: its gear would also turn the angle
    that a control means, so gain, bias and force range are multiplied instead. If the driven joint limits the force of its
    actuators, that limit is multiplied, too.
    """

    actuator: str
    factor: float

    def apply(self, spec: Any) -> None:
        """Scale the actuator, and the force limit of its joint."""
        actuator = spec.actuators[actuator_names(spec).index(self.actuator)]
        if is_servo(actuator):
            self._scale_servo(actuator)
        else:
            actuator.gear = actuator.gear * self.factor
        if actuator.trntype == mujoco.mjtTrn.mjTRN_JOINT and self.factor > 0:
            joint = spec.joint(actuator.target)
            joint.actfrcrange = joint.actfrcrange * self.factor

    def _scale_servo(self, actuator: Any) -> None:
        # before MuJoCo compiles it, entry 2 of a position servo may be a ratio r > 0: its damping becomes 2 r √(gain · inertia)
        ratio = actuator.biasprm[2] > 0 and actuator.biasprm[1] == -actuator.gainprm[0]
        actuator.gainprm, actuator.biasprm = actuator.gainprm * self.factor, actuator.biasprm * self.factor
        if ratio and self.factor > 0:
            actuator.biasprm[2] /= math.sqrt(self.factor)
        if self.factor > 0:  # an empty range would be refused, and without gains there is no force to limit
            actuator.forcerange = actuator.forcerange * self.factor


def is_servo(actuator: Any) -> bool:
    """Return whether an actuator of a spec gives a force that depends on where the body is."""
    return actuator.biastype != mujoco.mjtBias.mjBIAS_NONE


@dataclass(frozen=True)
class Gravity:
    """Set gravity to `value` m/s² along −z."""

    value: float

    def apply(self, spec: Any) -> None:
        """Write the gravity vector."""
        spec.option.gravity = (0.0, 0.0, -self.value)


@dataclass(frozen=True)
class BodyMass:
    """Set the mass of a body in kg; its inertia scales with it."""

    body: str
    value: float

    def apply(self, spec: Any) -> None:
        """Scale the body's own inertia, or else the mass or density of its geoms."""
        if spec.compiler.settotalmass > 0:
            raise BadModel(self.body, "its mass cannot be set while the model file sets settotalmass: remove that attribute")
        factor = self.value / float(compiled(spec.copy(), self.body, quiet=True).body(self.body).mass[0])
        body = spec.body(self.body)
        from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        if body.explicitinertial and not from_geoms:
            body.mass, body.inertia, body.fullinertia = body.mass * factor, body.inertia * factor, body.fullinertia * factor
            return
        for geom in body.geoms:
            if math.isnan(geom.mass):
                geom.density = geom.density * factor
            else:
                geom.mass = geom.mass * factor
