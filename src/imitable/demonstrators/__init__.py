# SPDX-License-Identifier: MIT
"""The shipped demonstrators: one policy and one card for every body of the paper's six settings."""
