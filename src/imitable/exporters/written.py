# SPDX-License-Identifier: MIT
"""What a form of export tells of itself."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Written:
    """Files, and lines for whoever starts the trainer."""

    files: tuple[Path, ...]
    lines: tuple[str, ...] = ()
