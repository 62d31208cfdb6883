# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportUnknownLambdaType=false
"""Do the exported weights help a trainer that is not ours? Arms of three strengths show a reach; the weakest imitates it.

python examples/foreign_trainer/proof.py PYTHON_WITH_TORCH [--out results/foreign_trainer.json]
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import numpy.typing as npt

import imitable as im

Floats = npt.NDArray[np.float64]
Act = Callable[[Floats], Floats]

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 0 1" range="-2.5 2.5" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" contype="0" conaffinity="0"/>
      <body pos="0.3 0 0">
        <joint name="elbow" axis="0 0 1" range="-2.5 2.5" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" gear="1" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="elbow" joint="elbow" gear="0.5" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
GOAL = np.array([0.9, -1.1])
OURS, STRENGTHS = 0.4, {0.4: 5, 2.0: 25, 6.0: 25}
"""Our arm's motors, and how many demonstrations come from arms of each strength, × the file's."""
STEPS, SEEDS, EPISODES = 100, 5, 20
GAINS = np.array([6.0, 3.0]), np.array([1.6, 0.8])


def body(path: Path, strength: float) -> im.Robot:
    """Return an arm of this strength."""
    return im.robot(f"{path}:gear.shoulder={strength},gear.elbow={strength}")


def torque_controls(robot: im.Robot, state: Floats) -> Floats:
    """Return the controls of a demonstrator: kp (goal − q) − kd q̇ in newton metres, divided by what its motors give."""
    torque = GAINS[0] * (GOAL - state[:2]) - GAINS[1] * state[2:]
    return np.clip(torque / robot.model.actuator_gear[:, 0], -1, 1)


def play(robot: im.Robot, start: Floats, act: Act) -> tuple[Floats, Floats]:
    """Return states (T + 1, 4) and controls (T, 2) of one episode."""
    model, data = robot.model, mujoco.MjData(robot.model)
    data.qpos[:] = start
    states, controls = [np.concatenate([data.qpos, data.qvel])], list[Floats]()
    for _ in range(STEPS):
        controls.append(act(states[-1]))
        data.ctrl[:] = controls[-1]
        mujoco.mj_step(model, data, robot.frame_skip)
        states.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(states), np.array(controls)


def starts(count: int, seed: int) -> Floats:
    """Return positions to start from, (count, 2)."""
    return np.random.default_rng(seed).uniform([-1.2, -0.5], [0.2, 1.2], (count, 2))


def recorded(path: Path) -> list[im.Trajectory]:
    """Return the demonstrations of all arms."""
    made: list[im.Trajectory] = []
    for strength, count in STRENGTHS.items():
        robot = body(path, strength)
        for start in starts(count, round(10 * strength)):
            states, controls = play(robot, start, lambda state, robot=robot: torque_controls(robot, state))
            made.append(im.Trajectory(states, str(strength), controls))
    return made


def cloned(path: Path) -> Act:
    """Return the policy that a trainer wrote."""
    held = np.load(path)

    def act(state: Floats) -> Floats:
        hidden = (state - held["mean"]) / held["std"]
        for layer in range(3):
            hidden = held[f"w{layer}"] @ hidden + held[f"b{layer}"]
            hidden = np.tanh(hidden) if layer < 2 else hidden
        return np.clip(hidden, -1, 1)

    return act


def distance(robot: im.Robot, act: Act) -> float:
    """Return the mean distance from the goal over episodes that nobody demonstrated, radians."""
    played = (play(robot, start, act)[0][:, :2] for start in starts(EPISODES, 99))
    return float(np.mean([np.linalg.norm(positions - GOAL, axis=1).mean() for positions in played]))


def main(python: str, out: Path) -> None:
    """Record, score, weigh, train elsewhere with and without weights, and play."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "arm.xml").write_text(ARM)
        ours = body(folder / "arm.xml", OURS)
        demos = im.InMemory(ours.layout, recorded(folder / "arm.xml"))
        scores = im.score(demos, ours)
        weights = scores.weights.of_transitions(demos)
        obs, acts = (np.concatenate(rows) for rows in zip(*((one.states[:-1], one.actions) for one in demos), strict=True))
        np.savez(folder / "transitions.npz", obs=obs, acts=acts, weights=weights)
        found: dict[str, list[float]] = {"unweighted": [], "weighted": []}
        for form, numbers in found.items():
            for seed in range(SEEDS):
                extra = ["--weighted"] if form == "weighted" else []
                script = [python, str(Path(__file__).with_name("clone.py"))]
                arguments = [str(folder / "transitions.npz"), str(folder / "policy.npz"), str(seed)]
                subprocess.run([*script, *arguments, *extra], check=True)
                numbers.append(distance(ours, cloned(folder / "policy.npz")))
        masses = {name: float(scores.weight[places].sum()) for name, places in im.by_demonstrator(demos.episodes).items()}
        expert = distance(ours, lambda state: torque_controls(ours, state))
        record = {"goal_distance_rad": found, "expert": expert, "weight_by_strength": masses, "verdicts": verdicts(scores)}
        out.write_text(json.dumps(record, indent=1))
        print(out.read_text())


def verdicts(scores: im.Scores) -> dict[str, list[int]]:
    """Return feasible, borderline and infeasible demonstrations of each strength."""
    return {
        name: [sum(scores.verdict[place] == word for place in places) for word in ("feasible", "borderline", "infeasible")]
        for name, places in im.by_demonstrator(scores.episodes).items()
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[3] if len(sys.argv) > 3 else "results/foreign_trainer.json"))
