# SPDX-License-Identifier: MIT
"""Robots: families with knobs, bodies with their knobs set, and their compiled models."""
