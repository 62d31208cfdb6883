# SPDX-License-Identifier: MIT
"""Laws of the house itself, read from its source: no import cycle of any kind, imports at the top, short functions, files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import imitable
from imitable.cli.verbs import VERBS
from imitable.report.page import SCRIPTS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(path.read_text())
    for path in sorted((SOURCE / "imitable").rglob("*.py"))
}

LONGEST_FUNCTION, LONGEST_FILE = 50, 400
"""Lines of code; a function's docstring does not count."""


def imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Yield every module of ours that some code imports: at its top, inside functions, or for type checkers only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("imitable"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node, inner if inner in MODULES else str(node.module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("imitable"):
                    yield node, alias.name


def lazily_imported(name: str, tree: ast.AST) -> Iterator[str]:
    """Yield every module of ours that some code imports by its name: texts `imitable.x.y` or `imitable.x.y:Name`, verbs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            module, _, attribute = node.value.partition(":")
            if module in MODULES and module != "imitable" and (attribute.isidentifier() or node.value == module):
                yield module
    if name == "imitable.cli.main":  # makes its modules' names of those of the verbs
        yield from (f"imitable.cli.{verb}" for verb in VERBS)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_there_is_no_import_cycle_of_any_kind() -> None:
    # the package's own front door names everything, for type checkers only
    graph = {
        name: {*(module for _, module in imported(tree)), *lazily_imported(name, tree)}
        for name, tree in MODULES.items()
        if name != "imitable"
    }
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise AssertionError(f"these modules import each other: {' → '.join(error.args[1])}") from None


def test_our_modules_are_imported_at_the_top() -> None:
    nested = {
        f"{name}:{node.lineno}"
        for name, tree in MODULES.items()
        for function in functions(tree)
        for node, _ in imported(function)
    }
    assert not nested


def test_functions_are_short() -> None:
    long = {
        f"{name}.{one.name}": size for name, tree in MODULES.items() for one in functions(tree) if (size := lines_of(one)) > 50
    }
    assert not long


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = ast.get_docstring(function, clean=False)
    return (function.end_lineno or 0) - function.lineno + 1 - (len(docstring.splitlines()) if docstring else 0)


def test_files_are_short() -> None:
    folders = ("src", "tests", "scripts", "bench", "examples")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    paths += [path for path in SOURCE.rglob("*") if path.suffix in (".js", ".css", ".html")]
    sizes = {path: len(path.read_text().splitlines()) for path in paths}
    long = {
        str(path.relative_to(ROOT)): size for path, size in sizes.items() if size > LONGEST_FILE and "tests" not in path.parts
    }
    assert not long


def test_the_files_of_the_page_share_one_scope_and_no_name_twice() -> None:
    """They are joined when a page is written: a second function of a name would take the place of the first in silence."""
    texts = [path.read_text() for path in sorted((SOURCE / "imitable" / "report" / "script").glob("*.js"))]
    names = [name for text in texts for name in re.findall(r"^(?:function|const|let) (\w+)", text, re.MULTILINE)]
    assert len(names) > 50
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_room_hides_a_public_name() -> None:
    # importing imitable.x.y sets imitable.x to the module, so that a public function x would be gone from then on
    rooms = {name.split(".")[1] for name in MODULES if "." in name}
    assert not rooms & set(imitable.__all__)


def test_the_report_s_scripts_share_one_scope_without_meeting() -> None:
    """They run as one: a function that two of them declare would be the last one's everywhere."""
    folder = SOURCE / "imitable" / "report" / "script"
    names = [
        name
        for path in sorted(folder.glob("*.js"))
        for name in re.findall(r"^(?:function|const|let) +(\w+)", path.read_text(), re.M)
    ]
    assert len(names) > 50
    assert {name for name in names if names.count(name) > 1} == set()
    assert {path.stem for path in folder.glob("*.js")} == set(SCRIPTS)
