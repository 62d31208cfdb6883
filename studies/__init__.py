# SPDX-License-Identifier: MIT
"""Studies that only this repository can run."""
