# SPDX-License-Identifier: MIT
"""The peer: sb3-contrib's TRPO on 8 environments. Run by throughput.py in an environment of its own; prints steps/s."""

# pyright: basic, reportMissingImports=false
# the peer's packages are not in our environment: their pins fight with ours

import sys
import time

import gymnasium
from sb3_contrib import TRPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv


class Clock(BaseCallback):
    """Notes the time of every rollout's start."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[tuple[int, float]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((self.num_timesteps, time.perf_counter()))

    def _on_step(self) -> bool:
        return True


if __name__ == "__main__":
    kind = {"dummy": DummyVecEnv, "subprocess": SubprocVecEnv}[sys.argv[2]]
    env = kind([lambda: gymnasium.make(sys.argv[1]) for _ in range(8)])
    clock = Clock()
    TRPO("MlpPolicy", env, device="cpu", seed=0).learn(8 * 2048 * 4, callback=clock)
    (a, start), (b, end) = clock.marks[1], clock.marks[-1]
    print((b - a) / (end - start))
