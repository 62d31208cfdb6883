# SPDX-License-Identifier: MIT
"""Learners: one whole file a method."""
