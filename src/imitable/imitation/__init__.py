# SPDX-License-Identifier: MIT
"""Learners: a policy of the imitator from weighed demonstrations."""
