# SPDX-License-Identifier: MIT
"""Arms: read, commanded within limits, stopped, and written down; the simulator, and real ones through their own protocols."""
