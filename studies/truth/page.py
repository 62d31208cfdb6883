# SPDX-License-Identifier: MIT
"""The page of the suite, results/truth.md, from the rows of its runs in results/truth."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

from studies.truth.judge import ABOUT, NO_KNOB, REFUSED, VERDICTS, Judged, read_rows
from studies.truth.motion import WAYS, Truth
from studies.truth.robots import ROBOTS
from studies.truth.scenes import ROOT

RECORDS, PAGE = ROOT / "results" / "truth", ROOT / "results" / "truth.md"
NEAR_S = 0.3
"""A span is located if it lies within the true one, widened by so many seconds."""

BINS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, float("inf"))
CLEAR = 2.0
"""Times the tolerance from which on a motion must not be called feasible."""

NEAR_LIMIT = 0.9

INTRODUCTION = """# The truth suite

<!-- written by `python -m studies.truth page` -->

Motions whose feasibility is known by construction, and the verdict on each. Feasible motions were made by the body itself in
plain MuJoCo; half of them are delivered as recorders do (positions only, 10–100 Hz, encoder steps, noise, a lost frame).
Impossible ones were constructed, with a known reason, span and magnitude in times the tolerance. None is built with code that
the checks use. Motions that are impossible by less than the tolerance (*weak*) appear in the detection curve only.

Robots were assigned to the halves before anything was scored: the verdict is developed on one half, reported on the other."""

METHOD = """How motions are made impossible, and how impossible: magnitudes are smallest deviations of a motion that might be
possible, in times the tolerance. ε is the tolerance of positions of a floating base: 0.25 m, or 15 % of a small body's size."""

COMMANDS = """Verdicts are those about the whole motion (`score --verdicts motion`), except in the run `before`, which had none.

Commands: `make truth`; or `python -m studies.truth install`, `make`, `score --split development --each 4`, `page`."""


def collect_run(name: str, verdicts: Path) -> None:
    """Gather the rows of a run into one record: what the page is made of."""
    robots = {path.stem: read_rows(path) for path in sorted(verdicts.glob("*.json"))}
    RECORDS.mkdir(parents=True, exist_ok=True)
    lines = [(verdicts / ABOUT).read_text(encoding="utf-8").strip()]
    lines += [json.dumps({"robot": robot, "notes": notes}) for robot, (_, notes) in robots.items()]
    lines += [json.dumps(_compact(row)) for rows, _ in robots.values() for row in rows]
    (RECORDS / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _compact(row: Judged) -> dict[str, object]:
    """Return a row as it is recorded: rounded, without what is empty."""
    content = asdict(row)
    content["remark"] = re.sub(r"/\S*/(motions|packages)/", "", row.remark)  # no paths of a machine
    content["columns"] = {name: _rounded(value) for name, value in row.columns.items()}
    content["truth"] = {key: _rounded(value) for key, value in asdict(row.truth).items() if value not in ("", 0.0, None)}
    return {key: _rounded(value) for key, value in content.items() if value not in ("", None)}


def _rounded(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def read_run(path: Path) -> tuple[list[Judged], dict[str, list[str]], dict[str, object]]:
    """Read a recorded run: rows, per robot what could not be made, and how it was scored."""
    about, *lines = path.read_text(encoding="utf-8").splitlines()
    rows: list[Judged] = []
    notes: dict[str, list[str]] = {}
    for line in lines:
        content = json.loads(line)
        if "robot" in content:
            notes[content["robot"]] = content["notes"]
            continue
        truth = {"knob": "", "index": 0} | content["truth"]
        truth["span"] = tuple(truth["span"]) if "span" in truth else None
        spans = content.get("spans")
        known = {"spans": None, "cause": None, "success": None, "core_seconds": 0.0} | content
        known |= {"truth": Truth(**truth), "spans": None if spans is None else tuple((float(a), float(b)) for a, b in spans)}
        rows.append(Judged(**known))
    return rows, notes, json.loads(about)


def write_page() -> Path:
    """Write the page from all recorded runs, the newest first."""
    runs = sorted(RECORDS.glob("*.jsonl"), key=lambda path: (path.stem == "before", path.stat().st_mtime))
    parts = [_introduction()]
    for path in runs:
        parts.append(_run(path.stem, *read_run(path)))
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return PAGE


def _introduction() -> str:
    halves = {split: [robot for robot in ROBOTS if robot.split == split] for split in ("development", "reporting")}
    table = [
        (
            robot.name,
            robot.kind,
            robot.split,
            robot.drive,
            robot.package or "this repository",
            f"`{robot.settings}`" if robot.settings else "",
        )
        for robots in halves.values()
        for robot in robots
    ]
    ways = [(name, way.what, way.magnitude) for name, way in WAYS.items()]
    return "\n\n".join(
        (
            INTRODUCTION,
            _table(("robot", "kind", "half", "moved by", "package", "settings"), table),
            METHOD,
            _table(("made by", "what", "magnitude"), ways),
            COMMANDS,
        )
    )


def _run(name: str, rows: list[Judged], notes: dict[str, list[str]], about: dict[str, object]) -> str:
    robots, method = len({row.truth.robot for row in rows}), f"method `{about['method']}`, `--each {about['each']}`"
    parts = [f"## Run `{name}`", f"Version {about['version']}, {method}: {len(rows)} motions of {robots} robots."]
    for split in ("development", "reporting"):
        names = {robot.name for robot in ROBOTS if robot.split == split}
        half = [row for row in rows if row.truth.robot in names]
        if half:
            parts += [f"### {split.capitalize()} half", _criteria(half), _confusion(half)]
    parts += [_curve(rows), _kinds(rows), _own(rows), _failures(rows)]
    missing = [f"- {robot}: {note}" for robot, lines in sorted(notes.items()) for note in lines]
    if missing:
        parts += ["#### Not made", "\n".join(missing)]
    return "\n\n".join(part for part in parts if part)


def _criteria(rows: Sequence[Judged]) -> str:
    """Return the targets and what was measured."""
    judged = [row for row in rows if row.verdict in VERDICTS]
    clear = [row for row in judged if row.truth.label == "impossible" and row.truth.magnitude >= CLEAR]
    own = [row for row in judged if row.truth.label == "feasible"]
    called = [row for row in clear if row.verdict == "infeasible"]
    spliced = [row for row in clear if row.spans is not None and row.truth.span is not None]
    caused = [row for row in called if row.cause is not None]
    turned = [row for row in clear if row.truth.knob and row.cause is not None]
    robots = sorted({row.truth.robot for row in clear})
    worst = max(robots, key=lambda robot: _part(clear, _feasible, robot), default="")
    seconds = sum(row.seconds for row in judged) or 1.0
    lines = (
        ("impossible by ≥ 2 tolerances, called feasible", _share(clear, _feasible), "≤ 1 %"),
        ("the worst robot of these", f"{worst} {100 * _part(clear, _feasible, worst):.0f} %" if worst else "–", "≤ 5 %"),
        ("own motions called feasible", _share(own, _feasible), "≥ 90 %"),
        ("own motions called infeasible", _share(own, lambda row: row.verdict == "infeasible"), "≤ 2 %"),
        ("own motions borderline or unknown", _share(own, _undecided), "≤ 10 %"),
        ("impossible by ≥ 2, borderline or unknown", _share(clear, _undecided), "≤ 10 %"),
        ("spans found and located within 0.3 s", _share(spliced, located), "≥ 95 %"),
        ("reason correct, of those called infeasible", _share(caused, right_cause), "≥ 90 %"),
        ("one knob turned: called infeasible for the right reason", _share(turned, right_cause), "≥ 90 %"),
        ("refused or not set up", _share(rows, lambda row: row.verdict in (REFUSED, NO_KNOB)), "0"),
        ("core-seconds per second of motion", f"{sum(row.core_seconds for row in judged) / seconds:.2f}", ""),
    )
    return _table(("", "measured", "target"), lines)


def _feasible(row: Judged) -> bool:
    return row.verdict == "feasible"


def _undecided(row: Judged) -> bool:
    return row.verdict in ("borderline", "unknown")


def located(row: Judged) -> bool:
    """Return whether a span that was called infeasible lies within the true one, widened by 0.3 s."""
    if not row.spans or row.truth.span is None:
        return False
    begin, end = row.truth.span
    return any(begin - NEAR_S <= a and b <= end + NEAR_S for a, b in row.spans)


def right_cause(row: Judged) -> bool:
    """Return whether the named cause is one of those that are right for how the motion was made impossible."""
    return row.cause in WAYS[row.truth.made].causes


def _confusion(rows: Sequence[Judged]) -> str:
    outcomes = (*VERDICTS, REFUSED, NO_KNOB)
    table: list[tuple[str, ...]] = []
    for robot in [robot for robot in ROBOTS if any(row.truth.robot == robot.name for row in rows)]:
        own = [row for row in rows if row.truth.robot == robot.name and row.truth.label == "feasible"]
        clear = [row for row in rows if row.truth.robot == robot.name and row.truth.magnitude >= CLEAR]
        near = [row for row in rows if row.truth.robot == robot.name and 1 <= row.truth.magnitude < CLEAR]
        spent = sum(row.core_seconds for row in (*own, *clear, *near)) / (
            sum(row.seconds for row in (*own, *clear, *near)) or 1
        )
        counts = (" / ".join(str(sum(row.verdict == one for row in part)) for one in outcomes) for part in (own, near, clear))
        table.append((robot.name, robot.kind, *counts, f"{spent:.2f}"))
    legend = "Counts: feasible / borderline / infeasible / unknown / refused / no such knob."
    return (
        legend
        + "\n\n"
        + _table(("robot", "kind", "own motions", "impossible by 1–2", "impossible by ≥ 2", "core-s per s"), table)
    )


def _curve(rows: Sequence[Judged]) -> str:
    """Return how much of what is impossible is not called feasible, by how impossible it is."""
    kinds = ("torque arm", "servo arm", "legged")
    of = {robot.name: robot.kind for robot in ROBOTS}
    table: list[tuple[str, ...]] = []
    for low, high in pairwise(BINS):
        part = [r for r in rows if r.verdict in VERDICTS and r.truth.label != "feasible" and low <= r.truth.magnitude < high]
        cells = [_share([r for r in part if of[r.truth.robot] == kind], lambda r: not _feasible(r)) for kind in kinds]
        ends = f"{low:g}–{high:g}" if high < float("inf") else f"≥ {low:g}"
        table.append(
            (ends, *cells, _share(part, lambda r: not _feasible(r)), _share(part, lambda r: r.verdict == "infeasible"))
        )
    return "#### Detection curve: not called feasible, by times the tolerance\n\n" + _table(
        ("times the tolerance", *kinds, "all", "all, called infeasible"), table
    )


def _kinds(rows: Sequence[Judged]) -> str:
    table: list[tuple[str, ...]] = []
    for made in WAYS:
        part = [r for r in rows if r.truth.made == made and r.verdict in VERDICTS and r.truth.magnitude >= CLEAR]
        if part:
            spans = [row for row in part if row.spans is not None]
            caused = [row for row in part if row.cause is not None and row.verdict == "infeasible"]
            table.append((made, _share(part, _feasible), _share(spans, located), _share(caused, right_cause)))
    return "#### By how the motion was made impossible (by ≥ 2)\n\n" + _table(
        ("made by", "called feasible", "located within 0.3 s", "reason correct"), table
    )


def _own(rows: Sequence[Judged]) -> str:
    own = [row for row in rows if row.truth.label == "feasible" and row.verdict in VERDICTS]
    cases: tuple[tuple[str, Callable[[Judged], bool]], ...] = (
        ("full states", lambda row: row.truth.made == "own"),
        ("as recorded", lambda row: row.truth.made == "recorded"),
        ("≥ 90 % of some torque or range", lambda row: row.truth.use >= NEAR_LIMIT),
        ("less", lambda row: row.truth.use < NEAR_LIMIT),
        ("made by an imitator with a knob turned", lambda row: bool(row.truth.knob)),
    )
    table = [
        (
            name,
            _share([r for r in own if case(r)], _feasible),
            _share([r for r in own if case(r)], lambda r: r.verdict == "infeasible"),
        )
        for name, case in cases
    ]
    return "#### Own motions\n\n" + _table(("", "called feasible", "called infeasible"), table)


def _failures(rows: Sequence[Judged]) -> str:
    """Return where it fails: robots and ways, with counts, and the names of some."""
    wrong = [r for r in rows if r.truth.label == "impossible" and r.truth.magnitude >= CLEAR and _feasible(r)]
    alarms = [r for r in rows if r.truth.label == "feasible" and r.verdict == "infeasible"]
    lines = ["#### Where it fails"]
    for title, part in (("Impossible by ≥ 2 and called feasible", wrong), ("Own motions called infeasible", alarms)):
        groups: dict[str, list[Judged]] = {}
        for row in part:
            groups.setdefault(row.truth.name.rsplit("/", 1)[0], []).append(row)
        largest = sorted(groups.items(), key=lambda item: -len(item[1]))[:25]
        shown = [f"- `{group}`: {len(rows)}, for example `{rows[0].truth.name}` ({_said(rows[0])})" for group, rows in largest]
        lines += [f"{title}: {len(part)}.", "\n".join(shown)]
    refused = sorted({f"{row.truth.robot}: {row.remark}" for row in rows if row.verdict == REFUSED})
    lines += ["Refused:", "\n".join(f"- {line}" for line in refused[:20])] if refused else []
    return "\n\n".join(line for line in lines if line)


def _said(row: Judged) -> str:
    parts = [f"{row.truth.magnitude:.1f} tolerances"] if row.truth.magnitude else [row.truth.recorder or "full states"]
    parts += [
        f"{name} {value:.3g}"
        for name, value in row.columns.items()
        if name in ("share", "residual", "error_max_m", "joint_error_rad")
    ]
    return ", ".join(parts + ([f"cause {row.cause}"] if row.cause else []))


def _part(rows: Iterable[Judged], holds: Callable[[Judged], bool], robot: str) -> float:
    part = [row for row in rows if row.truth.robot == robot]
    return sum(map(holds, part)) / len(part) if part else 0.0


def _share(rows: Sequence[Judged], holds: Callable[[Judged], bool]) -> str:
    held = sum(map(holds, rows))
    return f"{100 * held / len(rows):.1f} % ({held} of {len(rows)})" if rows else "–"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
