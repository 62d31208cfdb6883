# SPDX-License-Identifier: MIT
"""What the README and the docs show is run: blocks are executed, commands are parsed, links lead somewhere, the site builds.

Python blocks of a page stand for themselves. In a tutorial or a how-to the blocks of the page belong together: Python and `sh`
blocks are carried out in order, in one folder and one interpreter. Commands in blocks without a language are only parsed: they
may take hours. Blocks of `text` are left alone.
"""

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from imitable.cli.main import parse
from imitable.experiments.settings import SETTINGS
from imitable.policies.shipped import SETS, cards
from imitable.robots.parse import ROBOTS

ROOT = Path(__file__).parents[2]
TOGETHER = [page for folder in ("tutorials", "how-to") for page in sorted((ROOT / "docs" / folder).glob("*.md"))]
ALONE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "results").glob("*.md")),
]
PAGES = ALONE + TOGETHER
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


PYTHON = [pytest.param(code, id=f"{page.name}-{k}") for page in ALONE for k, code in enumerate(blocks(page, "python"))]


def commands(page: Path) -> list[str]:
    inline = [code for code in re.findall(r"`([^`\n]+)`", page.read_text()) if len(code.split()) > 2]
    lines = [line.split(" #")[0].strip() for kind in ("", "sh") for block in blocks(page, kind) for line in block.splitlines()]
    chained = [re.split(r" >| \\?\|", part)[0] for command in [*inline, *lines] for part in command.split(" && ")]
    return [command for command in chained if command.startswith("imitable ")]


COMMANDS = sorted({command for page in PAGES for command in commands(page)})


def program(page: Path) -> str:
    """Return one program that carries out the blocks of a page, each under the page's name and line numbers."""
    parts = ["import subprocess"]
    for found in BLOCK.finditer(page.read_text()):
        kind, code = found.groups()
        line = page.read_text()[: found.start()].count("\n") + 1
        if kind == "python":
            parts.append(f"exec(compile({chr(10) * line + code!r}, {page.name!r}, 'exec'), globals())")
        if kind == "sh":
            parts.append(f"subprocess.run(['bash', '-ec', {code!r}], check=True)")
    return "\n".join(parts)


def run(code: str, folder: Path) -> None:
    """Run a program in a folder, with `imitable` on the path, as a user has it."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", PYTHON)
def test_python_blocks_run(code: str, tmp_path: Path) -> None:
    run(code, tmp_path)


@pytest.mark.parametrize("page", [page for page in TOGETHER if program(page) != "import subprocess"], ids=name_of)
def test_tutorials_run_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    run(program(page), tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_run_and_are_short(example: Path, tmp_path: Path) -> None:
    assert len(example.read_text().splitlines()) < 80
    run(f"import runpy; runpy.run_path({str(example)!r}, run_name='__main__')", tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_understood(command: str) -> None:
    parse(shlex.split(command)[1:])


def test_there_is_something_to_test() -> None:
    assert PYTHON
    assert len(TOGETHER) >= 8
    assert len(EXAMPLES) == 3
    assert len(COMMANDS) > 20


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_is_empty(page: Path) -> None:
    assert len(page.read_text()) > 100


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.fixture(scope="module")
def written() -> dict[str, Callable[[], str]]:
    return runpy.run_path(str(ROOT / "scripts" / "write_pages.py"))["PAGES"]


@pytest.mark.parametrize("name", ["errors.md", "reference.md"])
def test_written_pages_are_those_of_the_code(name: str, written: dict[str, Callable[[], str]]) -> None:
    assert (ROOT / "docs" / name).read_text() == written[name](), f"docs/{name} is old: run make pages"


def test_the_page_of_the_demonstrators_is_that_of_their_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    page: str = import_module("demonstrators_page").page()
    said = "docs/demonstrators.md is old: run python scripts/draw_demonstrators.py --page"
    assert (ROOT / "docs" / "demonstrators.md").read_text() == page, said
    assert all(f"### Setting {setting.name}\n" in page for setting in SETTINGS)
    assert page.count("<details") == page.count("</details>") == sum(family().rules is not None for family in ROBOTS.values())


def test_every_demonstrator_has_a_small_animation_and_none_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    where = import_module("demonstrators_page").animation
    shown = {ROOT / "docs" / where(said, set_name) for set_name in SETS for said in cards(set_name)}
    assert shown == set((ROOT / "docs" / "images" / "gaits").rglob("*.svg")), "run python scripts/animate_demonstrators.py"
    for path in shown:
        drawing = ElementTree.parse(path).getroot()
        moves = [node for node in drawing.iter("{http://www.w3.org/2000/svg}animate") if node.get("attributeName") == "d"]
        assert path.stat().st_size <= 40_000
        assert {node.get("repeatCount") for node in moves} == {"indefinite"}
        assert all(len(set(node.get("values", "").split(";"))) > 10 for node in moves)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    for page in ("index.html", "tutorials/imitate/index.html", "results/index.html", "images/parting.gif"):
        assert (tmp_path / "site" / page).is_file()
    folded = (tmp_path / "site" / "demonstrators" / "index.html").read_text()
    assert re.search(r"<details>\s*<summary>[^<]*</summary>\s*<div[^>]*><pre.*?imitable train", folded, re.DOTALL)
    assert 'src="../images/gaits/hopper-gravity%3D15.svg"' in folded
