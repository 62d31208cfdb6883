# SPDX-License-Identifier: MIT
"""Options that every verb takes. Nothing heavy is imported here."""

from dataclasses import dataclass
from typing import Annotated

import tyro


@dataclass(frozen=True)
class Common:
    """Options that every verb takes."""

    seed: int = 0
    """Seed of everything random."""
    json: bool = False
    """Print one JSON document on stdout, and nothing else there."""
    threads: int = 1
    """Threads of the simulator; results do not depend on it."""
    quiet: bool = False
    """No tables and no progress bar."""


CommonOptions = Annotated[Common, tyro.conf.arg(name="")]
