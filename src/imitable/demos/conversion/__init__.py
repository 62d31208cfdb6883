# SPDX-License-Identifier: MIT
"""From other people's columns to states of a robot: mapping, units, velocities, resampling."""
