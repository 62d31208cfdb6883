# SPDX-License-Identifier: MIT
"""An engineer with a new arm sorts recordings of other arms: which to keep, why the others fail, weights for a trainer.

The arm is an MJCF file; the recordings are arrays of joint angles and speeds, without actions, made here by a formula. Out
come a ranked list, the reasons of the worst, `scores.parquet` for imitable and `weights.csv` for everything else.

python examples/robot_engineer.py
"""

import csv
from pathlib import Path

import numpy as np

import imitable as im

ARM = """
<mujoco model="arm">
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-120 120" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 0 1" range="-60 60" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
    <motor name="elbow" joint="elbow" gear="1" ctrllimited="true" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


def wave(times: np.ndarray, hertz: float, bend: float, name: str) -> im.Trajectory:
    """Bend both joints by up to `bend` rad and stretch them again, `hertz` times a second: (T + 1, 4) angles and speeds."""
    turn = 2 * np.pi * hertz
    angle, speed = bend / 2 * (1 - np.cos(turn * times)), bend / 2 * turn * np.sin(turn * times)
    return im.Trajectory(np.stack([0.6 * angle, -angle, 0.6 * speed, -speed], axis=1), name)


def main() -> None:
    """Build the set, score it, rank it, explain the worst, write the weights."""
    Path("arm.xml").write_text(ARM)
    arm = im.robot("arm.xml")
    times = np.arange(101) * arm.layout.period_s
    recordings = {"calm arm": (0.37, 0.9), "far-reaching arm": (0.37, 1.9), "fast arm": (3.1, 0.9)}
    demos = im.InMemory(
        arm.layout,
        [wave(times, hertz + 0.02 * k, bend, name) for name, (hertz, bend) in recordings.items() for k in range(3)],
    )
    scores = im.score(demos, arm, out=im.Output("scores.parquet", overwrite=True))
    ranking = np.argsort(scores.share, kind="stable")
    for row in ranking:
        print(f"{row}  {scores.episodes[int(row)].demonstrator:18}{scores.verdict[row]:12}share {scores.share[row]:.3f}")
    for name in ("far-reaching arm", "fast arm"):
        row = max(i for i, episode in enumerate(scores.episodes) if episode.demonstrator == name)
        print("", *im.explain(scores, row, demos).lines, sep="\n")
    with Path("weights.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["episode", "weight"])
        writer.writerows((row, float(weight)) for row, weight in enumerate(scores.weight))


if __name__ == "__main__":
    main()
