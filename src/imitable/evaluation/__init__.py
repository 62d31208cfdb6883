# SPDX-License-Identifier: MIT
"""Evaluation: what a policy is worth."""
