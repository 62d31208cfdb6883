# SPDX-License-Identifier: MIT
"""`imitable quickstart`: the main job, end to end, on a small scale."""

import dataclasses
from pathlib import Path

from imitable.cli import collect, imitate, report, score
from imitable.cli.console import document, say
from imitable.cli.verbs import Collect, Common, Imitate, Quickstart, Report, Score
from imitable.command_text import command
from imitable.files import check_free
from imitable.imitation.run_folder import runs_in

ROBOTS = ("half_cheetah:front=0.05", "half_cheetah:front=0.5", "half_cheetah:back=0.5", "half_cheetah:back=0.05")
"""The demonstrators of the paper's first HalfCheetah setting."""

EPISODES = "3,3,30,30"
"""Their demonstrations: a tenth of the paper's and less, the unrelated ones in the majority as there."""

IMITATOR = "half_cheetah:front=0.01"
"""And its imitator."""

METHOD, STEPS = "warm-start", 500_000
"""Learner and control steps of each of both imitations."""


def run(verb: Quickstart) -> None:
    """Carry out the verb."""
    demos, scores = verb.out / "demos", verb.out / "scores.parquet"
    weighted, unweighted, page = verb.out / "weighted", verb.out / "unweighted", verb.out / "report.html"
    for path in (demos, scores, weighted, unweighted, page):
        check_free(path, overwrite=verb.overwrite)
    try:
        _run_steps(verb, demos, scores, weighted, unweighted, page)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"What is complete stays in {verb.out}; start again with --overwrite.") from None


def _run_steps(verb: Quickstart, demos: Path, scores: Path, weighted: Path, unweighted: Path, page: Path) -> None:
    common, inner = verb.common, _inner(verb.common)
    recording = command("collect", ROBOTS, {"episodes": EPISODES, "out": demos})
    say(common, f"1/5  record four bodies: {recording}")
    collect.run(Collect(ROBOTS, episodes=EPISODES, out=demos, overwrite=verb.overwrite, common=inner))
    scoring = command("score", [demos], {"imitator": IMITATOR, "out": scores})
    say(common, f"2/5  which of them can the imitator follow? {scoring}")
    score.run(Score((demos,), IMITATOR, out=scores, overwrite=verb.overwrite, common=inner))
    say(common, f"3/5  imitate what it can follow: {_imitation(demos, scores, weighted)}")
    _imitate(verb, demos, scores, weighted)
    say(common, f"4/5  imitate everything, for comparison: {_imitation(demos, None, unweighted)}")
    _imitate(verb, demos, None, unweighted)
    paths = (scores, weighted, unweighted)
    say(common, f"5/5  one page of it all: {command('report', paths, {'out': page})}")
    report.run(Report(paths, explain=2, out=page, overwrite=verb.overwrite, common=inner))
    by_weight, plain = _return(weighted), _return(unweighted)
    say(common, f"return of imitating by weight: {by_weight:,.0f}; of imitating everything: {plain:,.0f}")
    say(common, f"done: open {page} in a browser. With demonstrations of your own:")
    say(common, "  imitable inspect DEMOS")
    say(common, "  imitable score DEMOS --imitator my_robot.xml")
    say(common, "  imitable imitate DEMOS --imitator my_robot.xml --scores scores.parquet")
    named = {"demos": demos, "scores": scores, "weighted": weighted, "unweighted": unweighted, "report": page}
    document(common, {name: str(path) for name, path in named.items()})


def _imitation(demos: Path, scores: Path | None, out: Path) -> str:
    return command("imitate", [demos], {"imitator": IMITATOR, "method": METHOD, "steps": STEPS, "scores": scores, "out": out})


def _imitate(verb: Quickstart, demos: Path, scores: Path | None, out: Path) -> None:
    asked = Imitate((demos,), IMITATOR, scores, METHOD, STEPS, episodes=20, out=out, overwrite=verb.overwrite)
    imitate.run(dataclasses.replace(asked, common=_inner(verb.common)))


def _inner(common: Common) -> Common:
    """Return the options of the single steps: one document on stdout, ours."""
    return dataclasses.replace(common, json=False, quiet=common.quiet or common.json)


def _return(out: Path) -> float:
    [folder] = runs_in(out)
    mean_return = folder.evaluation.last.mean_actions.return_mean
    assert mean_return is not None  # the imitator has a task
    return mean_return
