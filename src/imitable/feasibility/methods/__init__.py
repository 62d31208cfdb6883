# SPDX-License-Identifier: MIT
"""Scorers: one whole file a method."""
