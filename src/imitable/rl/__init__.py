# SPDX-License-Identifier: MIT
"""Reinforcement learning: returns, trust regions, TRPO, PPO and the training loop."""

from imitable.runtime import one_thread

one_thread()  # before JAX loads here: same seed, same bits, on any number of cores
