# SPDX-License-Identifier: MIT
"""Options that all experiments have."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from imitable.experiments.records import Places


def add_places(parser: ArgumentParser) -> None:
    """Add where records and runs lie; the defaults are those of the repository, seen from its root."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of the records")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder of demonstrations, score files and run folders")


def places_of(options: Namespace) -> Places:
    """Return the places that were given."""
    return Places(options.results, options.runs)
