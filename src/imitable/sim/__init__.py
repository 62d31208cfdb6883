# SPDX-License-Identifier: MIT
"""Simulation: batches of bodies, tasks, rollouts, NumPy policies, Gymnasium environments."""
