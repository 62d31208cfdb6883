# SPDX-License-Identifier: MIT
"""Bodies: robots, the knobs that change them, and their compiled models."""
