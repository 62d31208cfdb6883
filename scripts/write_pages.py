# SPDX-License-Identifier: MIT
"""Write docs/errors.md from errors.py, and docs/reference.md from the public names of the package.

python scripts/write_pages.py
"""

import ast
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import imitable
from imitable import errors, testing
from imitable.errors import ImitableError
from imitable.feasibility.episode_score import COLUMNS

DOCS = Path(__file__).resolve().parents[1] / "docs"

EXAMPLES: dict[str, ImitableError] = {
    type(error).__name__: error
    for error in (
        ImitableError("what is wrong: what would be right"),
        errors.UnknownRobot("hoper", ["half_cheetah", "hopper", "swimmer", "walker2d"]),
        errors.UnknownKnob("hopper", "gravitas", ["gravity", "noise"]),
        errors.BadKnobValue("hopper", "gravity", "1000", "a number between 0 and 100"),
        errors.BadSpec("hopper:gravity", "'gravity' has no value"),
        errors.BadModel("arm.xml", "actuator 'elbow' has no control range: give it ctrlrange"),
        errors.MixedRobots("their states differ"),
        errors.BadTrajectory("states must have shape (T + 1, S) with T ≥ 1, got (1, 12)"),
        errors.UnstableSimulation("arm.xml:gear.elbow=1000", 7),
        errors.BadPolicy("policy.safetensors", "it observes 11 entries, hopper gives 17"),
        errors.NoDemonstrator("hopper:gravity=12", ["hopper", "hopper:gravity=15"], can_train=True),
        errors.BadDataset("demos", "there is no meta/info.json in it"),
        errors.BadMapping("clips/walk.csv", "it has 36 numbers a frame, the robot 19 positions"),
        errors.MixedDatasets("demos", "more", "their states differ"),
        errors.OutputExists("scores.parquet", resume=True),
        errors.Busy("run"),
        errors.CannotWrite("scores.parquet", "no space left on the device"),
        errors.CannotResume("run/seed-0", "steps was 1000000 and is 2000000"),
        errors.BadOption("--seed", -1, "give a whole number from 0 on"),
        errors.BadWeights("3 demonstrations are not among those that were weighted"),
        errors.BadScores("scores.parquet", "it is no parquet file"),
        errors.BadRecord("own.hopper.json: runs: 0: seed", "expected int, there is 'one'"),
        errors.BadEpisode("demos", 4, "its velocities are clipped at ±10"),
        errors.MissingExtra("onnx", "onnx"),
        errors.CellsFailed(2, "runs/hopper.gaifo.direct.seed-0", "no demonstration is feasible"),
        errors.NoRun("run"),
        errors.RuleBroken(["infeasible>0.2 holds: it is 0.45"]),
        errors.BadCommand("7 joints need as many positions, but 3 were given"),
        errors.BeyondLimit("speed of joint4 in the command", "2.310 rad/s", "at most 2.175 rad/s"),
        errors.ArmContact("the command would bring held_book – stand1 together"),
        errors.StaleReading("nothing new for 0.2 s"),
        errors.LostConnection("172.16.0.2", "libfranka: UDP receive: Timeout"),
        errors.ArmRefuses("libfranka: Move command aborted: motion aborted by reflex! [cartesian_reflex]"),
        errors.BadJournal("log.journal.jsonl", "No such file or directory"),
    )
}
"""One of every class, as a user would meet it."""


def kinds() -> list[type[ImitableError]]:
    """Return all errors in the order of errors.py."""
    found = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, ImitableError)]
    return [kind for kind in found if kind.__module__ == errors.__name__]


def errors_page() -> str:
    """Return docs/errors.md."""
    lines = [
        "# Errors",
        "",
        "Every error that input can cause is a class in `imitable.errors`, under `ImitableError`. On the command line each is",
        "one line on stderr and exit code 2, and nothing half-written stays behind. Exit code 3 is a broken rule of",
        "`score --fail-on`, 1 is our fault, 130 an interruption. In Python, catch `ImitableError`, or the one you mean.",
        "",
        "```python",
        "import imitable as im",
        "from imitable.errors import UnknownRobot",
        "",
        "try:",
        '    im.robot("hoper")',
        "except UnknownRobot as error:",
        "    print(error)  # unknown robot 'hoper': did you mean 'hopper'? …",
        "```",
        "",
        "Written by `make pages` from the classes themselves.",
    ]
    for kind in kinds():
        lines += ["", f"## {kind.__name__}", "", inspect.getdoc(kind) or "", "", "```text", str(EXAMPLES[kind.__name__]), "```"]
    return "\n".join(lines) + "\n"


def reference_page() -> str:
    """Return docs/reference.md."""
    lines = [
        "# Reference",
        "",
        "The public names: `import imitable as im`, then `im.score`, `im.Trajectory` and so on. They load on first use, so the",
        "import itself is light. The command line has the same verbs: `imitable --help`. Errors are on",
        "[their own page](errors.md), formulas on [the method's](method.md).",
        "",
        "Written by `make pages` from the docstrings themselves.",
    ]
    named = {name: getattr(imitable, name) for name in sorted(imitable.__all__, key=str.lower)}
    for title, wanted in (("Functions", False), ("Classes", True)):
        lines += ["", f"## {title}"]
        for name, thing in named.items():
            if inspect.isclass(thing) == wanted:
                lines += _entry(f"im.{name}", thing)
    lines += [
        "",
        "## Columns of scores",
        "",
        "Of `im.Scores`, `scores.parquet`, the JSON of `score` and the CSV of `export`.",
    ]
    lines += ["", "| column | type | group | contents |", "|---|---|---|---|"]
    lines += [f"| `{one.name}` | {one.kind.parquet} | {one.about.group} | {one.about.text} |" for one in COLUMNS.values()]
    lines += ["", "## imitable.testing"]
    for name in ("check_scorer", "check_learner"):
        lines += _entry(name, getattr(testing, name))
    return "\n".join(lines) + "\n"


def _entry(name: str, thing: Any) -> list[str]:
    tree = _Constants(vars(sys.modules[thing.__module__])).visit(ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0])
    lines = ["", f"### {name}", ""]
    if isinstance(tree, ast.ClassDef):
        return lines + _signature(name, _made_with(tree), "") + _prose(inspect.getdoc(thing) or "") + _members(tree)
    assert isinstance(tree, ast.FunctionDef)
    assert tree.returns is not None
    return lines + _signature(name, _arguments(tree), f" -> {ast.unparse(tree.returns)}") + _prose(inspect.getdoc(thing) or "")


class _Constants(ast.NodeTransformer):
    """Puts numbers and texts in the place of constants that stand for them."""

    def __init__(self, home: dict[str, Any]) -> None:
        self._home = home

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._home.get(node.id)
        return ast.Constant(value) if isinstance(value, int | float | str) else node


def _signature(name: str, parts: list[str], end: str) -> list[str]:
    if not parts:
        return []
    line = f"{name}({', '.join(parts)}){end}"
    if len(line) > 110:
        line = f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"
    return ["```text", line, "```", ""]


def _arguments(function: ast.FunctionDef) -> list[str]:
    """Return the arguments as they are written, without self."""
    found = function.args
    defaults = [None] * (len(found.args) - len(found.defaults)) + [*found.defaults]
    parts = [_argument(one, default) for one, default in zip(found.args, defaults, strict=True) if one.arg != "self"]
    named = [_argument(one, default) for one, default in zip(found.kwonlyargs, found.kw_defaults, strict=True)]
    star = [f"*{_argument(found.vararg, None)}"] if found.vararg else ["*"] if named else []
    return [*parts, *star, *named]


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    kind = f"{one.arg}: {ast.unparse(one.annotation)}" if one.annotation else one.arg
    return kind + _default(default)


def _default(value: ast.expr | None) -> str:
    # what a lambda or a factory makes is not said by its text
    hidden = isinstance(value, ast.Lambda) or (isinstance(value, ast.Call) and ast.unparse(value.func) == "field")
    return "" if value is None else f" = {'…' if hidden else ast.unparse(value)}"


def _made_with(kind: ast.ClassDef) -> list[str]:
    """Return what a class is made with: the arguments of its constructor, or its fields."""
    for node in kind.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return _arguments(node)
    if not any("dataclass" in ast.unparse(decorator) for decorator in kind.decorator_list):
        return []
    return [
        f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}{_default(node.value)}"
        for node in kind.body
        if isinstance(node, ast.AnnAssign) and "ClassVar" not in ast.unparse(node.annotation)
    ]


def _prose(text: str) -> list[str]:
    """Return a docstring in Markdown: the list of arguments becomes a list."""
    before, found, after = text.partition("\nArgs:\n")
    lines = before.strip().splitlines()
    if found:
        # an argument's second line is indented once more
        arguments = re.sub(r"\n\s+(?=\S)", " ", textwrap.dedent(after).strip()).splitlines()
        lines += ["", *(re.sub(r"^(\w+):", r"* `\1`:", line) for line in arguments)]
    return lines


def _members(kind: ast.ClassDef) -> list[str]:
    """Return one line for every field, property and method that has a docstring."""
    said: list[str] = []
    for node, below in zip(kind.body, [*kind.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            said.append(f"* `{ast.unparse(node.target)}`: {' '.join(str(below.value.value).split())}")
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and (text := ast.get_docstring(node)):
            called = "" if "property" in "".join(map(ast.unparse, node.decorator_list)) else f"({', '.join(_arguments(node))})"
            said.append(f"* `{node.name}{called}`: {text.splitlines()[0]}")
    return ["", *said] if said else []


PAGES = {"errors.md": errors_page, "reference.md": reference_page}
"""Pages that are written, and what writes them."""


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page())


if __name__ == "__main__":
    main()
