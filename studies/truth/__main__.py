# SPDX-License-Identifier: MIT
"""The truth suite from the command line: `python -m studies.truth install | make | score | page`."""

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path

from studies.truth.judge import judge, judge_all
from studies.truth.make import EACH, make
from studies.truth.page import collect_run, write_page
from studies.truth.robots import ROBOTS, Entry, entry
from studies.truth.scenes import ROOT, NotInstalled, data, install


def main() -> None:
    """Read the command line and do it."""
    parser = argparse.ArgumentParser(prog="python -m studies.truth", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("install", help="packages the robots come from, without their dependencies")
    making = verbs.add_parser("make", help="make the motions; robots that are complete are left alone")
    scoring = verbs.add_parser("score", help="score them, one process per robot; robots that are done are left alone")
    for one in (making, scoring):
        one.add_argument("--split", choices=("development", "reporting", "all"), default="all")
        one.add_argument("--robots", nargs="*", default=[], help="only these")
        one.add_argument("--each", type=int, default=EACH, help="feasible and impossible motions per robot")
    judging = verbs.add_parser("judge", help="score one robot in this process")
    judging.add_argument("robot")
    judging.add_argument("--each", type=int, default=EACH)
    judging.add_argument("--out", type=Path, required=True)
    for one in (scoring, judging):
        one.add_argument("--method", default="direct", help="scorer and settings, for example direct:effort=quick")
    scoring.add_argument("--name", default="", help="name of the run; default: the commit")
    scoring.add_argument("--version", default="", help="what the page prints as the version; default: the commit")
    paging = verbs.add_parser("page", help="write results/truth.md from the runs in results/truth and those just scored")
    paging.add_argument("--names", nargs="*", default=[], help="runs whose rows are gathered into results/truth first")
    given = parser.parse_args()
    if given.verb == "install":
        install()
    elif given.verb == "make":
        _make(_picked(given.split, given.robots), given.each)
    elif given.verb == "score":
        name = given.name or commit()
        robots, version = _picked(given.split, given.robots), given.version or commit()
        judge_all(robots, version, given.each, given.method, data() / "verdicts" / name)
    elif given.verb == "judge":
        judge(entry(given.robot), given.each, given.method, given.out)
    else:
        for name in given.names:
            collect_run(name, data() / "verdicts" / name)
        print(write_page())


def _make(robots: Sequence[Entry], each: int) -> None:
    for robot in robots:
        try:
            truths = make(robot, each)
        except NotInstalled as error:
            print(f"{robot.name}: {error}", flush=True)
            continue
        counts = {label: sum(truth.label == label for truth in truths) for label in ("feasible", "impossible", "weak")}
        print(f"{robot.name}: {', '.join(f'{count} {label}' for label, count in counts.items())}", flush=True)


def _picked(split: str, names: Sequence[str]) -> list[Entry]:
    return [entry(name) for name in names] or [robot for robot in ROBOTS if split in ("all", robot.split)]


def commit() -> str:
    """Return the commit that is checked out."""
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
