# SPDX-License-Identifier: MIT
"""A hook of mkdocs: pages outside docs/ join the site, and links between both lead there as they do in the repository.

docs/method.md links to ../results/feasibility.md, which is right in the repository. In the site docs/ is the root, so that
results/feasibility.md stands beside method.md.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "results/*.md",
    "results/*.svg",
    "results/*.json",
    "results/demonstrators/*.md",
    "results/demonstrators/*.csv",
)
"""Pages that join the site, and the tables that they link to."""


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages outside docs/."""
    for path in sorted(found for pattern in OUTSIDE for found in ROOT.glob(pattern)):
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    here = page.file.src_uri if page.file.generated_by else f"docs/{page.file.src_uri}"
    return re.sub(r"\]\((?!https?:|#)([^)#]+)", lambda link: f"]({_moved(here, link[1])}", markdown)


def _moved(here: str, target: str) -> str:
    """Return where a link of the file `here` leads to in the site."""
    there = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
    return posixpath.relpath(there.removeprefix("docs/"), posixpath.dirname(here.removeprefix("docs/")) or ".")
