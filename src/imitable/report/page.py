# SPDX-License-Identifier: MIT
"""Data and template → one HTML file that works from disk and asks nothing of the network.

The charts are drawn by a script of our own: a plotting library would put megabytes into every page, and the template has only
a few places to fill, which needs no template engine. Whatever comes from files is text: the data stand in a block of
JSON that cannot close its own element, the script writes text nodes only, and the page's own policy (CSP) lets no other
script run and nothing be fetched.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from imitable.errors import BadOption
from imitable.files import check_free, check_writable, locked, write_bytes
from imitable.report.content import content

EXPLAINED = 4
"""Demonstrations a score file that are followed on other bodies, by default: each takes seconds."""

SCRIPTS = (
    "elements",
    "weights",
    "charts",
    "tables",
    "space",
    "pictures",
    "player",
    "look",
    "saving",
    "policies",
    "statistics",
    "figures",
    "experiments",
    "page",
)
"""Files of the page's script, in the order in which they run; the last one starts it."""


@dataclass(frozen=True)
class WrittenReport:
    """A page that was written."""

    out: Path
    """The HTML file."""
    bytes: int
    """Its size."""
    demonstrations: int
    """Demonstrations in it, of all score files."""
    runs: int
    """Runs in it, of all run folders and reproductions."""
    remarks: tuple[str, ...] = ()
    """What is missing from it, and why."""


def write_report(
    paths: Sequence[str | Path],
    out: str | Path = "report.html",
    *,
    explain: int = EXPLAINED,
    threads: int = 1,
    overwrite: bool = False,
    command: str = "",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> WrittenReport:
    """Write the page of some score files, run folders and reproductions.

    Args:
        paths: score files (with their steps beside them), run folders, and what `imitable reproduce` left; one is enough.
        out: HTML file to write.
        explain: demonstrations a score file whose ladders are climbed: of every demonstrator the nearest, then the farthest.
        threads: threads of the simulator; results do not depend on it.
        overwrite: replace an existing file.
        command: what made the page, for its provenance.
        on_progress: told how many details are done, and of how many.
    """
    target = Path(out)
    if explain < 0:
        raise BadOption("explain", explain, "give a number from 0 on")
    check_writable(target)
    with locked(target):
        check_free(target, overwrite=overwrite)
        data = content(
            [Path(path) for path in paths], explain=explain, threads=threads, command=command, on_progress=on_progress
        )
        text = page(data).encode()
        write_bytes(target, text)
    demonstrations = sum(len(file["columns"]["share"]) for file in data["scores"])
    runs = sum(len(one["seeds"]) for one in data["policies"]) + sum(one["runs"] for one in data["reproductions"])
    remarks = tuple(remark for one in data["policies"] for remark in one["remarks"])
    return WrittenReport(target, len(text), demonstrations, runs, remarks)


def page(data: dict[str, Any]) -> str:
    """Return the whole page."""
    folder = Path(__file__).parent
    template, style = ((folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css"))
    script = _script(folder / "script")
    own = f"style-src {_digest(style)}; script-src {_digest(script)}"
    policy = f"default-src 'none'; img-src data: blob:; media-src data:; {own}"
    parts = {"policy": policy, "title": escape(_title(data)), "style": style, "script": script, "data": embedded(data)}
    head, *rest = template.split("{{")
    for piece in rest:
        name, tail = piece.split("}}", 1)
        head += parts[name.strip()] + tail
    return head


def _script(folder: Path) -> str:
    """Return the files of the script as one, in a scope of its own: a page from disk may load no other file, nor modules."""
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _title(data: dict[str, Any]) -> str:
    names = dict.fromkeys(part["imitator"] for part in (*data["scores"], *data["policies"]))
    return f"imitable: {', '.join(names) or 'the paper, reproduced'}"


def embedded(data: object) -> str:
    """Return JSON that is safe inside a script element: no <, no &, no line separators; null where a number is not finite."""
    finite = json.loads(json.dumps(data), parse_constant=lambda _: None)
    text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
