# SPDX-License-Identifier: MIT
"""Learners: a policy of the imitator from weighted demonstrations."""
