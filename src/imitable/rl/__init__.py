# SPDX-License-Identifier: MIT
"""Reinforcement learning: returns, trust regions, TRPO, PPO and the training loop."""
