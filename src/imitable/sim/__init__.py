# SPDX-License-Identifier: MIT
"""Simulation: batches of bodies, tasks, rollouts, babbling, kinematics."""
