# SPDX-License-Identifier: MIT
"""Tracking: the best action towards a wanted next state, and rollouts that follow a demonstration by it."""
