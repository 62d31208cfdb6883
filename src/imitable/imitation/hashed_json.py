# SPDX-License-Identifier: MIT
"""JSON that says when it was damaged: the key `hash` holds a hash of everything else."""

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from imitable.files import write_bytes

HASH = "hash"
"""Key of the hash."""


class DamagedJson(Exception):
    """The text is not what was written; callers say what was expected of it."""


def to_line(content: dict[str, Any]) -> str:
    """Return the content with its hash, in one line."""
    return json.dumps(content | {HASH: _hash(content)})


def parse(text: str | bytes) -> dict[str, Any]:
    """Return the content without its hash; refuse one that does not match it."""
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedJson(f"it is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise DamagedJson("it is no table")
    table = cast(dict[str, Any], content)
    if HASH not in table:
        raise DamagedJson("it carries no hash of its contents, as if an earlier version had written it")
    if table.pop(HASH) != _hash(table):
        raise DamagedJson("its contents are not those that were written")
    return table


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write content and hash, whole or not at all."""
    write_bytes(path, (json.dumps(content | {HASH: _hash(content)}, indent=2) + "\n").encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise DamagedJson(error.strerror or str(error)) from None


def _hash(content: dict[str, Any]) -> str:
    """Return a hash of the canonical text: keys in order, no spaces."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
