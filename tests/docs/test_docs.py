# SPDX-License-Identifier: MIT
"""What the README and the docs show is run: Python blocks are executed, commands are parsed, links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from imitable.cli.main import parse

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "results").glob("*.md")),
]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


PYTHON = [pytest.param(code, id=f"{page.name}-{k}") for page in PAGES for k, code in enumerate(blocks(page, "python"))]


def commands(page: Path) -> list[str]:
    inline = [code for code in re.findall(r"`([^`\n]+)`", page.read_text()) if len(code.split()) > 2]
    lines = [line.split(" #")[0].strip() for block in blocks(page, "") for line in block.splitlines()]
    chained = [part for command in [*inline, *lines] for part in command.split(" && ")]
    return [command for command in chained if command.startswith("imitable ")]


COMMANDS = sorted({command for page in PAGES for command in commands(page)})


@pytest.mark.parametrize("code", PYTHON)
def test_python_blocks_run(code: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command: str) -> None:
    parse(shlex.split(command)[1:])


def test_there_is_something_to_test() -> None:
    assert PYTHON
    assert len(COMMANDS) > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_is_empty(page: Path) -> None:
    assert len(page.read_text()) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name} links to {target}"
