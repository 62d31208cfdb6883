# SPDX-License-Identifier: MIT
"""Feasibility: how closely the imitator can follow each demonstration, turned into scores, verdicts and weights."""
