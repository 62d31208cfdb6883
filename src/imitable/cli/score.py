# SPDX-License-Identifier: MIT
"""`imitable score`: which demonstrations can the imitator follow?"""

import shlex
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from imitable.cli.console import Watched, bar, document, say, shortened, table, tell
from imitable.cli.demonstrations import demonstrations
from imitable.cli.estimate import announce
from imitable.cli.method_help import helped
from imitable.cli.options import Common
from imitable.cli.plausible import check_doubts, follow_plausible
from imitable.cli.summary import by_verdict, narrow
from imitable.cli.verbs import Score
from imitable.command_text import command
from imitable.demos.fit import check_layout
from imitable.demos.part import Part
from imitable.errors import BadOption, RuleBroken
from imitable.feasibility.episode_score import VERDICTS, document_of
from imitable.feasibility.expected_steps import expected_steps
from imitable.feasibility.explain import explain
from imitable.feasibility.gate import judged, parse_rules
from imitable.feasibility.health import unfit_places
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.methods.direct import Direct
from imitable.feasibility.ruler import ruler
from imitable.feasibility.score import Measuring, doubt_remedies, score, score_key
from imitable.feasibility.score_files import parts_path, read_scores
from imitable.feasibility.scorer import Scorer
from imitable.feasibility.scores import Scores
from imitable.feasibility.shards import parse_shard
from imitable.feasibility.step_files import read_steps
from imitable.feasibility.verdict import VerdictOptions
from imitable.files import Output
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, InMemory

COVERED = 0.1
"""A score that judges a smaller part of the episodes than this says so loudly."""


def run(verb: Score) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.method, parse_scorer):
        return
    verb, rules = _sharded(verb), parse_rules(verb.fail_on)
    _verdicts(verb)
    imitator, scorer = parse_robot(verb.imitator), _scorer(verb)
    check_doubts(verb, imitator)
    demos = _fit(verb, demonstrations(verb.demos, verb.leave_out), imitator)
    if verb.explain is not None:
        _explain(verb, demos, imitator, scorer)
        return
    _estimate(verb, demos, imitator, scorer)
    with bar(verb.common, len(demos), "scoring") as shown:
        out = Output(verb.out, verb.resume, verb.overwrite, Watched(verb.common, shown))
        try:
            scores = score(
                demos,
                imitator,
                scorer,
                verb.common.seed,
                measuring=_measuring(verb),
                temperature=verb.temperature,
                verdicts=_verdicts(verb),
                out=out,
            )
        except KeyboardInterrupt:
            done = f"What is done is kept in {parts_path(verb.out)}: the same command with --resume goes on from there."
            raise KeyboardInterrupt(done if parts_path(verb.out).exists() else "") from None
    outcomes = judged(scores, rules)
    more = {"fail_on": [asdict(one) for one in outcomes]} | follow_plausible(verb, scores, demos)
    report(verb.common, scores, verb.out, more)
    _advise(verb, scores, imitator)
    if broken := [outcome.sentence for outcome in outcomes if outcome.broken]:
        raise RuleBroken(broken)


def _verdicts(verb: Score) -> VerdictOptions | None:
    """Return how verdicts about the whole motion are found; reject what has no effect on others."""
    if verb.verdicts == "share" and (verb.tolerance or verb.effort == "whole"):
        name, value = ("--tolerance", verb.tolerance) if verb.tolerance else ("--effort", verb.effort)
        raise BadOption(name, value, "it is of verdicts about the whole motion: give --verdicts motion")
    return VerdictOptions(verb.tolerance, verb.effort == "whole") if verb.verdicts == "motion" else None


def _advise(verb: Score, scores: Scores, imitator: Robot) -> None:
    """Say what would help a tracker that does badly, and what to do next."""
    for remedy in doubt_remedies(scores, imitator):
        say(verb.common, f"! {remedy}")
    say(verb.common, f"next: {_again(verb)} --explain EPISODE" if verb.shard is None else f"next: {_merge(verb)}")


def _fit(verb: Score, demos: Demonstrations, imitator: Robot) -> Demonstrations:
    """Leave out what cannot be judged, by name, if that is asked for."""
    if not verb.skip_unfit:
        return demos
    check_layout(demos.layout, imitator.layout, str(verb.demos[0]))
    unfit = unfit_places(demos, imitator)
    for place, reason in unfit.items():
        episode = demos.episodes[place]
        say(verb.common, f"! episode {episode.index} of {episode.source} is left out: {reason}")
    if len(unfit) == len(demos):
        raise BadOption("--skip-unfit", f"{len(unfit)} of {len(demos)}", "no demonstration is fit; see imitable inspect")
    return Part(demos, set(range(len(demos))) - set(unfit)) if unfit else demos


def _sharded(verb: Score) -> Score:
    """Give the score file of a shard a name of its own, unless the user has; refuse what has no effect."""
    if verb.shard is None:
        if verb.models is not None:
            raise BadOption("--models", verb.models, "it is for one part of a set: give --shard I/N, too")
        return verb
    if verb.fail_on:
        raise BadOption("--fail-on", verb.fail_on, "a rule is about the whole set, not one part of it: leave out --shard")
    if verb.explain is not None:
        raise BadOption("--shard", verb.shard, "one demonstration is explained; leave it out")
    place = parse_shard(verb.shard).place
    return replace(verb, out=Path(f"scores.{place}.parquet")) if verb.out == type(verb).out else verb


def _scorer(verb: Score) -> Scorer:
    """Return the method, at the effort that is asked for."""
    scorer = parse_scorer(verb.method)
    if verb.effort in (None, "whole"):
        return scorer
    if not isinstance(scorer, Direct):
        raise BadOption("--effort", verb.effort, f"only the method direct has one; {verb.method} spends what its settings say")
    return replace(scorer, effort=verb.effort)


def _again(verb: Score) -> str:
    """Return the command with all that the measures depend on, so that an explanation finds them again."""
    names, plain = (
        ("method", "effort", "verdicts", "tolerance", "distance", "entries", "discount", "rollouts", "leave_out", "skip_unfit"),
        Score(verb.demos, verb.imitator),
    )
    options = {"imitator": verb.imitator, "out": verb.out, **{name: getattr(verb, name) for name in names}}
    defaults = {name: getattr(plain, name) for name in names} | {"seed": plain.common.seed}
    return command("score", verb.demos, {**options, "seed": verb.common.seed}, defaults)


def _merge(verb: Score) -> str:
    """Return the command that joins this shard with the others."""
    shard, whole = parse_shard(verb.shard or "1/1"), verb.out.with_name("scores.parquet")
    mark = f".{shard.place}."
    if mark not in verb.out.name:
        return f"{command('merge', [verb.out])} OTHER_SHARDS… --out {shlex.quote(str(whole))}"
    names = [verb.out.with_name(verb.out.name.replace(mark, f".{k + 1}.")) for k in range(shard.of)]
    return command("merge", names, {"out": whole})


def report(common: Common, scores: Scores, out: Path, more: Mapping[str, object] | None = None) -> None:
    """Show the verdicts by demonstrator, the caveats first; the document says `more`, too."""
    for remark in scores.weighing.remarks:
        say(common, f"! {remark}")
    columns, rows = by_verdict(scores)
    heads, shown = narrow(columns, rows)
    table(common, f"{out}: {len(scores):,} demonstrations on {shortened(scores.imitator)}", heads, shown)
    say(common, f"verdicts: {'/'.join(VERDICTS)}; followed: part of the movement; diverges: median step it is lost at")
    if "possible" in heads:
        say(
            common, "possible: fraction of the motion outside impossible spans; covered: evaluated by attempts/by static checks"
        )
    say(common, _judged(scores))
    if _covered(scores) < COVERED:
        say(common, "! that is less than a tenth of the episodes: --effort thorough follows more of them")
    document(
        common,
        {
            "out": str(out),
            **{name: value for name, value in scores.metadata().items() if name != "key"},
            "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows],
            "episodes": [{"episode": place, **document_of(row)} for place, row in enumerate(scores)],
            **(more or {}),
        },
    )


def _covered(scores: Scores) -> float:
    """Return the part of the episodes that all attempts together judge."""
    return min(1.0, scores.measurement.covered * scores.measurement.attempts)


def _judged(scores: Scores) -> str:
    measured, key = scores.measurement, scores.measurement.key
    steps = f"{measured.horizon} steps"
    pieces = f"up to {measured.attempts} times {steps}" if measured.attempts > 1 else f"the first {steps}"
    by = measured.measure or f"{key.distance} distance"
    parts = [
        f"judged: {pieces} ({measured.horizon_s:.2g} s, {_covered(scores):.0%} of an episode) "
        f"by {by}, discount {key.discount:.4g} ({measured.horizon_mass:.0%} of its mass)",
        f"effective sample size {scores.weights.effective_size:.1f} of {len(scores)}",
        f"{measured.simulator_steps:,} simulated steps",
    ]
    if measured.certificate is not None:
        own = float(np.quantile(measured.own_share, 0.95))
        parts.insert(1, f"tracker certificate {measured.certificate:.1%}, own movements followed to a share of {own:.2g}")
    return "; ".join(parts)


def _measuring(verb: Score) -> Measuring:
    shard = None if verb.shard is None else parse_shard(verb.shard, verb.models)
    return Measuring(verb.distance, verb.entries, verb.discount, verb.rollouts, verb.common.threads, shard)


def _estimate(verb: Score, demos: Demonstrations, imitator: Robot, scorer: Scorer) -> None:
    """Say how long a long job will take."""
    demonstrators = len({episode.demonstrator for episode in demos.episodes})
    steps = expected_steps(scorer, imitator, len(demos), demonstrators)
    announce(verb.common, f"{len(demos):,} demonstrations, about {steps:,} simulated steps", imitator, steps)


def _explain(verb: Score, demos: Demonstrations, imitator: Robot, scorer: Scorer) -> None:
    place = verb.explain
    if place is None or not 0 <= place < len(demos):
        raise BadOption("--explain", place, f"give the place of a demonstration in the set, 0 to {len(demos) - 1}")
    one = InMemory(demos.layout, [demos[place]])
    with _scores_of(verb, one, imitator, scorer) as (scores, row):
        explanation = explain(scores, row, one, threads=verb.common.threads)
    tell(verb.common, f"episode {place} ({explanation.demonstrator}) on {shortened(str(imitator))}:")
    for line in explanation.lines:
        tell(verb.common, f"  {line}")
    for ladder in explanation.ladders:
        rows = [(rung.text, round(rung.share, 3), rung.verdict) for rung in ladder.rungs]
        table(verb.common, f"{ladder.knob} ({ladder.unit})", (ladder.knob, "share", "verdict"), rows)
    document(verb.common, {"episode": place, "lines": explanation.lines, **asdict(explanation)})


@contextmanager
def _scores_of(verb: Score, one: InMemory, imitator: Robot, scorer: Scorer) -> Generator[tuple[Scores, int]]:
    """Give scores of a demonstration, and its row: of an existing file of the same settings, or of a passing one."""
    measuring, name = _measuring(verb), one[0].hash
    if verb.out.exists():
        scores = read_scores(verb.out)
        hashes = [episode.hash for episode in scores.episodes]
        rule = ruler(imitator, measuring.distance, measuring.entries, measuring.discount)
        same = scores.measurement.key == score_key(imitator, scorer, rule, measuring, verb.common.seed, _verdicts(verb))
        if same and name in hashes and read_steps(verb.out, name) is not None:
            yield scores, hashes.index(name)
            return
    with tempfile.TemporaryDirectory() as folder:
        yield score(one, imitator, scorer, verb.common.seed, measuring=measuring, out=Path(folder) / "one.parquet"), 0
