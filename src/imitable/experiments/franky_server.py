# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportUnknownParameterType=false, reportAttributeAccessIssue=false
# pyright: reportUntypedBaseClass=false, reportPrivateUsage=false
"""An FR3 that is simulated, behind the network protocol of a real one: python -m imitable.experiments.franky_server.

franky-sim's own model of the arm (other masses, friction and shapes than ours) stands before our scene, and differs from what
the imitator believes: sensors are noisy, the scene is shifted, the book weighs something. An arm that touches the scene says
so in the states that it sends, as a real one does. An adapter file: franky-sim is no dependency, and no type checker finds it.
"""

import argparse
from dataclasses import dataclass, fields
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from imitable import seeding
from imitable.errors import MissingExtra
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot

TOUCH = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
"""What an arm that touches the scene says of the directions of its tool."""


@dataclass(frozen=True)
class Difference:
    """How the arm differs from what the imitator believes of it."""

    noise: float = 0.0
    """Standard deviation of what is read of joint positions, in rad."""
    shift_x: float = 0.0
    """Metres by which the scene stands further away."""
    shift_z: float = 0.0
    """Metres by which it stands higher."""
    load: float = 0.0
    """Mass of the book in the hand, in kg; the arm does not know it."""
    friction: float = 1.0
    """Factor on the friction of the joints."""
    stiffness: float = 1.0
    """Factor on the gains of its servos."""


def add_scene(simulator: Any, robot: Robot, difference: Difference) -> list[str]:
    """Put the boxes of our scene into franky-sim's world, the held one into the hand; return their names."""
    model, names = robot.model, list[str]()
    hand = simulator.worldbody.find(".//body[@name='robot0_hand']")
    shift = np.array([difference.shift_x, 0.0, difference.shift_z])
    for index in range(model.ngeom):
        geom, body = model.geom(index), model.body(int(model.geom_bodyid[index])).name
        held = body == "hand" and geom.name.startswith("held")
        if int(geom.type[0]) != int(mujoco.mjtGeom.mjGEOM_BOX) or not (body == "world" or held):
            continue
        place = np.array(geom.pos) + (0.0 if held else shift)
        # the hand has a mass of its own in the file, which what is fixed to it would not add to: the book is a body
        parent = ElementTree.SubElement(hand, "body", name=f"{geom.name}_body") if held else simulator.worldbody
        box = ElementTree.SubElement(parent, "geom", name=geom.name, type="box")
        box.attrib |= {"pos": _numbers(place), "size": _numbers(geom.size), "quat": _numbers(geom.quat)}
        # held: touches the scene, not the fingers that hold it
        box.attrib |= (
            {"contype": "2", "conaffinity": "0", "mass": f"{max(difference.load, 0.001)}"} if held else {"conaffinity": "3"}
        )
        if not held:
            names.append(geom.name)
    return names


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.9g}" for value in values)


def sensing(robot: Any, names: list[str], noise: float, seed: int) -> None:
    """Let a simulated arm read its joints with noise, and feel when it touches one of the geoms that are named."""
    plain, rng = type(robot), seeding.generator(seed, "sensor noise")

    scene = np.array([robot.model.geom(name).id for name in names])

    class Sensing(plain):
        """An arm with sensors."""

        @property
        def state(self) -> Any:
            """What it sends every millisecond."""
            state, contact = super().state, self.data.contact
            touches = len(contact.dist) and (np.isin(contact.geom, scene).any(axis=1) & (contact.dist < 0)).any()
            read = np.array(state.q) + noise * rng.standard_normal(len(state.q))
            return state.replace(q=tuple(read.tolist()), cartesian_contact=TOUCH if touches else (0.0,) * 6)

    robot.__class__ = Sensing


def put_back_when_free(server: Any, arm: Any) -> None:
    """Let the arm stand at its start whenever a connection ends or begins, as if somebody had put it there."""
    reset = server._reset_state

    def put_back() -> None:
        if arm.data is not None:
            arm.data.qpos[:7], arm.data.qvel[:] = arm.initial_q, 0.0
            # what it reports as wanted speeds are differences, and nothing was that fast
            for component in arm._tracked_state_components.values():
                for observer in component.observers.values():
                    observer.clear()
        reset()

    server._reset_state = put_back


def serve(robot: Robot, difference: Difference, hostname: str, seed: int, *, put_back: bool) -> None:
    """Serve an arm before a robot's scene, at its start, until the process ends."""
    try:
        from franky_sim import SimulationServer
        from franky_sim.mujoco_simulator import MUJOCO_DEFAULT_KP, MUJOCO_DEFAULT_KV, MujocoSimulator
    except ImportError:
        raise MissingExtra("franky-sim", "franka-sim") from None
    gains = (tuple(difference.stiffness * gain for gain in table) for table in (MUJOCO_DEFAULT_KP, MUJOCO_DEFAULT_KV))
    kp, kv = gains
    with MujocoSimulator() as simulator:
        arm = simulator.add_robot(initial_q=tuple(robot.start[:7].tolist()), initial_hand_width=0.0, kp=kp, kv=kv)
        names = add_scene(simulator, robot, difference)
        with SimulationServer(simulator, hostname_candidates=[hostname]) as server:
            simulator.model.dof_frictionloss[:7] *= difference.friction
            sensing(arm, names, difference.noise, seed)
            if put_back:
                put_back_when_free(server.robot_servers[0], arm)
            print(f"serving {robot} at {hostname}", flush=True)
            server.run_forever()


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="panda:dof=3", help="whose scene and start it is")
    parser.add_argument("--hostname", default="127.0.0.1", help="address to listen at")
    parser.add_argument("--seed", type=int, default=0, help="of the sensors' noise")
    parser.add_argument("--put-back", action="store_true", help="to its start, whenever a connection ends or begins")
    for field in fields(Difference):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=float, default=field.default)
    options = parser.parse_args()
    difference = Difference(**{field.name: getattr(options, field.name) for field in fields(Difference)})
    serve(parse_robot(options.robot), difference, options.hostname, options.seed, put_back=options.put_back)


if __name__ == "__main__":
    main()
