# SPDX-License-Identifier: MIT
"""What is different in LeRobot v2.0 and v2.1: rows of episodes are lines of JSON, and every episode has its own data file."""

import json
from pathlib import Path
from typing import Any

from imitable.demos.parquet import no_own
from imitable.errors import BadDataset

EPISODES_FILE = "meta/episodes.jsonl"


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """Read `meta/episodes.jsonl` as rows of v3, in the order of their indices; the columns that imitable adds are None."""
    try:
        lines = (folder / EPISODES_FILE).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise BadDataset(str(folder), f"it has no {EPISODES_FILE}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataset(str(folder), f"{EPISODES_FILE} cannot be read ({error})") from None
    rows = [_row(folder, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    return sorted(rows, key=lambda row: row["episode_index"])


def _row(folder: Path, number: int, line: str) -> dict[str, Any]:
    try:
        raw = json.loads(line)
        index, length = int(raw["episode_index"]), int(raw["length"])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise BadDataset(str(folder), f"line {number} of {EPISODES_FILE} has no episode_index and length") from None
    if index < 0:
        raise BadDataset(str(folder), f"line {number} of {EPISODES_FILE} has the episode_index {index}")
    return no_own() | {"episode_index": index, "length": length, "data/chunk_index": 0, "data/file_index": 0}
