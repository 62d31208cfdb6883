# SPDX-License-Identifier: MIT
"""Demonstrations: recorded from policies, kept as LeRobot v3.0 datasets, read in a stream."""
