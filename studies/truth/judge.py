# SPDX-License-Identifier: MIT
"""What the verdict makes of the motions: every robot is scored in a process of its own, and every motion becomes one row.

Reads what a row of scores has: `verdict` and, from the versions that have them, `infeasible_spans` and `cause`.
"""

import json
import math
import resource
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

import imitable as im
from imitable.errors import BadEpisode, ImitableError
from imitable.feasibility.verdict import VerdictOptions
from studies.truth.make import folder
from studies.truth.motion import Truth, read_truths
from studies.truth.robots import Entry
from studies.truth.scenes import robot_text

VERDICTS = ("feasible", "borderline", "infeasible", "unknown")
OLD_NAMES = {"nearly": "borderline"}
REFUSED, NO_KNOB = "refused", "no knob"
"""A motion that `score` does not take at all, and an imitator that this version cannot set up."""

ABOUT = "about.txt"
"""In a run's folder: version, method and number of motions, JSON."""

COLUMNS = (
    "share",
    "residual",
    "followed",
    "error_mean_m",
    "error_max_m",
    "joint_error_rad",
    "tilt_error_rad",
    "height_error_m",
)


@dataclass(frozen=True)
class Judged:
    """What is known of a motion, and what the verdict made of it."""

    truth: Truth
    verdict: str
    spans: tuple[tuple[float, float], ...] | None
    """Seconds called infeasible; None where the version has no such column."""
    cause: str | None
    columns: dict[str, float]
    success: bool | None
    seconds: float
    """Length of the motion."""
    core_seconds: float
    """Processor time: that of all motions of its imitator, in proportion to their lengths."""
    remark: str = ""


def chosen(truths: Sequence[Truth], each: int) -> list[Truth]:
    """Return `each` feasible and `each` impossible motions, evenly over how they were made, and a quarter as many weak ones."""
    picked: list[Truth] = []
    for label, count in (("feasible", each), ("impossible", each), ("weak", math.ceil(each / 4))):
        kinds: dict[tuple[str, str], list[Truth]] = {}
        for truth in truths:
            if truth.label == label:
                kinds.setdefault((truth.group, truth.made), []).append(truth)
        turn = crc32(truths[0].robot.encode())  # so that small runs over many robots see all ways
        ranked = [
            ((place + 0.5) / len(kind), (n + turn) % len(kinds), truth)
            for n, kind in enumerate(kinds.values())
            for place, truth in enumerate(kind)
        ]
        ordered = [truth for _, _, truth in sorted(ranked, key=lambda one: one[:2])]
        picked += ordered[:count]
    return picked


def judge_all(robots: Sequence[Entry], version: str, each: int, method: str, out: Path) -> None:
    """Judge robots one after the other, each in a child process; those that are done are left alone."""
    out.mkdir(parents=True, exist_ok=True)
    (out / ABOUT).write_text(json.dumps({"version": version, "method": method, "each": each}) + "\n", encoding="utf-8")
    for robot in robots:
        target = out / f"{robot.name}.json"
        if target.is_file():
            continue
        command = [sys.executable, "-m", "studies.truth", "judge", robot.name, "--each", str(each), "--method", method]
        finished = subprocess.run([*command, "--out", str(target)], check=False)
        print(
            f"{robot.name}: {'done' if finished.returncode == 0 else f'failed with exit code {finished.returncode}'}",
            flush=True,
        )


def judge(robot: Entry, each: int, method: str, target: Path) -> None:
    """Judge one robot's motions and write the rows."""
    truths, notes = read_truths(folder(robot) / "truth.json")
    picked, rows = chosen(truths, each), list[Judged]()
    for group in dict.fromkeys(truth.group for truth in picked):
        rows += _group(robot, group, [truth for truth in picked if truth.group == group], method)
    content = {"notes": notes, "rows": [asdict(row) for row in rows]}
    part = target.with_suffix(".part")
    part.write_text(json.dumps(content) + "\n", encoding="utf-8")
    part.rename(target)


def _group(robot: Entry, group: str, truths: list[Truth], method: str) -> list[Judged]:
    """Judge the motions of one imitator; those that are refused are named and left out."""
    demos, truths = im.read(folder(robot) / group), sorted(truths, key=lambda truth: truth.index)  # as a part has them
    period, lengths = demos.layout.period_s, {truth.name: demos.episodes[truth.index].length for truth in truths}
    seconds = {name: period * length for name, length in lengths.items()}
    try:
        imitator = im.robot(robot_text(robot, truths[0].knob))
    except ImitableError as error:
        return [_without(truth, NO_KNOB, seconds[truth.name], str(error)) for truth in truths]
    rows, left, before = list[Judged](), list(truths), _processor_time()
    while left:
        part = im.Part(demos, [truth.index for truth in left])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = im.score(part, imitator, method, verdicts=VerdictOptions())
        except BadEpisode as error:
            refused = next((t for t in left if f"episode {t.index} " in str(error)), left[0])
            rows.append(_without(refused, REFUSED, seconds[refused.name], str(error)))
            left.remove(refused)
            continue
        except ImitableError as error:
            return rows + [_without(truth, REFUSED, seconds[truth.name], str(error)) for truth in left]
        spent = (_processor_time() - before) / sum(seconds[truth.name] for truth in left)
        return rows + [read_row(scores, place, truth, seconds[truth.name], spent) for place, truth in enumerate(left)]
    return rows


def read_row(scores: im.Scores, place: int, truth: Truth, seconds: float, spent: float) -> Judged:
    """Return one row of scores, with the columns that this version has."""
    spans = getattr(scores, "infeasible_spans", None)
    cause = getattr(scores, "cause", None)
    verdict, demonstrator = str(scores.verdict[place]), scores.episodes[place].demonstrator
    if demonstrator != truth.name:
        raise RuntimeError(f"row {place} is of {demonstrator}, not of {truth.name}")
    columns = {name: float(getattr(scores, name)[place]) for name in COLUMNS if getattr(scores, name, None) is not None}
    return Judged(
        truth,
        OLD_NAMES.get(verdict, verdict),
        None if spans is None else tuple((float(begin), float(end)) for begin, end in spans[place]),
        None if cause is None else str(cause[place] or ""),
        {name: value for name, value in columns.items() if math.isfinite(value)},
        scores.success[place],
        seconds,
        spent * seconds,
    )


def _without(truth: Truth, verdict: str, seconds: float, remark: str) -> Judged:
    return Judged(truth, verdict, None, None, {}, None, seconds, 0.0, remark)


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def read_rows(path: Path) -> tuple[list[Judged], list[str]]:
    """Read the rows of one robot, and its notes."""
    content = json.loads(path.read_text(encoding="utf-8"))
    rows: list[Judged] = []
    for row in content["rows"]:
        truth = Truth(**(row["truth"] | {"span": _pair(row["truth"]["span"])}))
        spans = None if row["spans"] is None else tuple((float(a), float(b)) for a, b in row["spans"])
        rows.append(Judged(**(row | {"truth": truth, "spans": spans})))
    return rows, list(content["notes"])


def _pair(span: list[float] | None) -> tuple[float, float] | None:
    return None if span is None else (span[0], span[1])
