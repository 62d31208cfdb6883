# SPDX-License-Identifier: MIT
"""Networks and normalisers shared by scorers and learners."""
