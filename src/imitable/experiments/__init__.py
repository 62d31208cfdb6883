# SPDX-License-Identifier: MIT
"""Experiments: the paper's settings, and our own records."""
