# SPDX-License-Identifier: MIT
"""The truth suite: motions whose feasibility is known by construction, on many robots, and what the verdict makes of them."""
