# SPDX-License-Identifier: MIT
"""The command line: one frozen dataclass a verb, one file that carries it out."""
