# SPDX-License-Identifier: MIT
"""The verb `score`: which demonstrations can the imitator follow?"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from imitable.demos.fit import check_set
from imitable.demos.part import Part
from imitable.errors import BadOption, BadScores, ScoreWarning, one_of
from imitable.feasibility import weighting
from imitable.feasibility.calibration import calibrated, calibrated_alone
from imitable.feasibility.checks import check_episode, start_excess
from imitable.feasibility.episode_score import EpisodeScore, column_of
from imitable.feasibility.ledger import Ledger
from imitable.feasibility.methods import METHODS, parse_scorer, scorer_text
from imitable.feasibility.ruler import Ruler, resolved_entries, ruler
from imitable.feasibility.score_files import models_path, parts_path
from imitable.feasibility.scorer import Measured, Measurer, Scorer, ScoringJob, depends_on_set
from imitable.feasibility.scores import (
    OWN,
    Measurement,
    ScoreKey,
    Scores,
    Weighing,
    nothing_possible,
    segment_rule,
)
from imitable.feasibility.shards import KEY, Shard, coverage
from imitable.feasibility.tolerance import parse_tolerance
from imitable.feasibility.tracking_summary import summarise_tracking
from imitable.feasibility.verdict import Assessor, VerdictOptions
from imitable.files import Output, check_apart, check_free, check_writable, locked
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.robots.servos import servo_advice
from imitable.spec_text import settings_hash, split
from imitable.tracking.attempts import Trace
from imitable.types import Demonstrations, Floats, InMemory, Trajectory
from imitable.user_code import allow

CHUNK = 64
"""Demonstrations that are measured side by side and put on disk together."""


@dataclass(frozen=True)
class Measuring:
    """How to measure: everything but imitator, method and seed that distances depend on, and the simulator's threads."""

    distance: str = "standardised"
    """standardised, l2, l1 or cosine."""
    entries: str = "all"
    """State entries that are compared: all of the robot, rootless, everything (objects, too), or names joined by commas."""
    discount: float | None = None
    """γ of the distance; None: by time, exp(−period / 0.6 s)."""
    rollouts: int = 1
    """Rollouts a demonstration that the expected distance of a noisy body averages over."""
    threads: int = 1
    """Threads of the simulator; results do not depend on them."""
    shard: Shard | None = None
    """Which part of the set is measured, of a job that is divided; None: all of it."""

    def __post_init__(self) -> None:
        """Check what can be checked without a robot."""
        if not 1 <= self.rollouts <= 10_000:
            raise BadOption("rollouts", self.rollouts, "give a whole number from 1 to 10000")


def score(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Scorer | str = "direct",
    seed: int = 0,
    *,
    measuring: Measuring | None = None,
    temperature: str | float = "auto",
    verdicts: VerdictOptions | None = None,
    out: str | Path | Output | None = None,
) -> Scores:
    """Score every demonstration for feasibility on the imitator.

    Args:
        demos: the set; read in a stream, never held whole.
        imitator: the robot that shall imitate, or its text.
        method: a scorer, or its text: direct, trajectory, one-step, inverse-dynamics, transferability, neighbours, or the
            dotted name of a class of yours.
        seed: seed of everything random.
        measuring: distance, compared entries, discount, rollouts, threads.
        temperature: auto, paper, arm, share:NUMBER, score:NUMBER or a number: how distances become scores and weights.
        verdicts: how verdicts about the whole motion are found, which scores do not depend on; None: thresholds on the share
            of a few windows.
        out: `scores.parquet` to write, with `scores.steps.parquet` beside it. An `Output` may also resume (go on with an
            interrupted job, or score only what is new in a grown set) or overwrite, and names who is told on the way.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    allow(method)
    scorer = parse_scorer(method) if isinstance(method, str) else method
    measuring, output, temperature = measuring or Measuring(), Output.of(out), weighting.temperature_text(temperature)
    _check_measuring(measuring, scorer, robot)
    check_set(demos, robot)
    for place, (episode, trajectory) in enumerate(zip(demos.episodes, demos, strict=True)):
        check_episode(episode, trajectory, robot)
        if robot.tool is None and (remark := start_excess(trajectory.states[0], robot)):
            output.observer.say(f"! demonstration {place}: {remark}; it begins at the limit")
    if output.path is not None:
        check_apart(output.path, (episode.source for episode in demos.episodes))
        _check_output(output.path, output)
    whole, shard = len(demos), measuring.shard
    if shard is not None:
        demos = _shard_of(demos, shard, scorer)
    metric = ruler(robot, measuring.distance, measuring.entries, measuring.discount)
    key = score_key(robot, scorer, metric, measuring, seed, verdicts)
    models = None if output.path is None else models_path(output.path)
    learns = shard is None or not depends_on_set(scorer)
    if shard is not None and not learns:
        models = shard.models
    job = ScoringJob(demos, robot, metric, seed, measuring.rollouts, measuring.threads, models, output.observer, learns)
    said = {} if shard is None else {KEY: [shard.place, shard.of, whole]}
    rule = Weighing(temperature)
    if output.path is None:
        scores = _scored(job, scorer, key, rule, None, said)
    else:
        with locked(output.path):
            _check_output(output.path, output)  # again: another process may have ended meanwhile
            ledger = Ledger(output.path, key, resume=output.resume)
            with ledger.keeping():
                scores = _scored(job, scorer, key, rule, ledger, said)
    if lines := [*scores.weighing.remarks, *doubt_remedies(scores, robot)]:
        warnings.warn(". ".join(lines), ScoreWarning, stacklevel=2)
    return scores


def _shard_of(demos: Demonstrations, shard: Shard, scorer: Scorer) -> Demonstrations:
    """Return the shard's part of a set; refuse one that cannot be measured without the rest."""
    if depends_on_set(scorer) and (shard.models is None or not shard.models.is_dir()):
        reason = "it learns from the whole set: score once without --shard, then give --models, its scores.parquet.models"
        raise BadOption("shard", f"{shard.place}/{shard.of}", reason)
    places = shard.places(len(demos))
    if not len(places):
        raise BadOption("shard", f"{shard.place}/{shard.of}", f"there are {len(demos)} demonstrations: give at most so many")
    return Part(demos, places)


def _check_measuring(measuring: Measuring, scorer: Scorer, robot: Robot) -> None:
    """Refuse options that would have no effect."""
    own = _own_measure(scorer)
    if own and (measuring.distance, measuring.entries) != (Measuring.distance, Measuring.entries):
        raise BadOption("distance", measuring.distance, f"the method measures the {own}; leave out --distance and --entries")
    if measuring.rollouts > 1 and robot.noise == 0:
        raise BadOption("rollouts", measuring.rollouts, "this imitator has no noise, so that all would be alike; set its noise")


def _own_measure(scorer: Scorer) -> str:
    """Return what a method measures instead of the ruler's distance, if it does; see `Scorer`."""
    return str(getattr(scorer, "measure", ""))


def _check_output(path: Path, output: Output) -> None:
    check_writable(path)
    unfinished = parts_path(path)
    if unfinished.exists() and not (output.resume or output.overwrite):
        check_free(unfinished, overwrite=False, resume=True)
    check_free(path, overwrite=output.overwrite or output.resume, resume=True)


def score_key(
    robot: Robot, scorer: Scorer, rule: Ruler, measuring: Measuring, seed: int, verdicts: VerdictOptions | None = None
) -> ScoreKey:
    """Return what measures and verdicts depend on."""
    return ScoreKey(
        version=version("imitable"),
        imitator=str(robot),
        imitator_hash=robot.hash,
        method=scorer_text(scorer),
        distance=measuring.distance,
        entries=resolved_entries(robot, measuring.entries),
        discount=rule.discount,
        rollouts=measuring.rollouts,
        seed=seed,
        settings=settings_hash(scorer),
        tolerance="" if verdicts is None else str(parse_tolerance(verdicts.tolerance, robot)),
        whole=verdicts is not None and verdicts.whole,
    )


def measured_again(scores: Scores, trajectory: Trajectory, *, threads: int = 1) -> Trace:
    """Measure one demonstration once more, as the scores were measured, and return what the method sees.

    A class that a file names is never loaded, unless it is ours.
    """
    key, imitator = scores.measurement.key, parse_robot(scores.imitator)
    if split(key.method)[0] not in METHODS:
        reason = f"its steps are missing, and a class that it names ({key.method}) is not run; score again into a file"
        raise BadScores(str(scores.path or "in memory"), reason)
    rule = ruler(imitator, key.distance, key.entries, key.discount)
    job = ScoringJob(InMemory(imitator.layout, [trajectory]), imitator, rule, key.seed, key.rollouts, threads)
    return parse_scorer(key.method).prepared(job)([trajectory])[0].trace


def _scored(
    job: ScoringJob,
    scorer: Scorer,
    key: ScoreKey,
    weighing: Weighing,
    ledger: Ledger | None,
    said: Mapping[str, object],
) -> Scores:
    measurer = scorer.prepared(job)
    alone = bool(getattr(scorer, "alone", False))
    own = calibrated_alone(job.imitator, scorer, key, job.threads) if alone else calibrated(job, measurer)
    extras = {**_extras(scorer, measurer), **said}
    spent_before = measurer.spent
    prepared_steps = spent_before + own.spent
    noise = weighting.noise_of(own.share)
    assessor = assessor_of(job.imitator, key, job.threads)
    rows = [_judged(row, noise) for row in _rows(job, measurer, own.error, ledger, assessor)]
    measured_steps = ledger.spent if ledger else measurer.spent - spent_before + (assessor.spent if assessor else 0)
    lengths = np.array([episode.length for episode in job.demos.episodes])
    judged, covered, mass = coverage(lengths, measurer.horizon, job.ruler.discount)
    measurement = Measurement(
        key=key,
        rule=scorer.rule,
        measure=_own_measure(scorer),
        horizon=judged,
        horizon_s=judged * job.imitator.layout.period_s,
        horizon_mass=mass,
        covered=covered,
        own_distance=tuple(own.distance.tolist()),
        own_share=tuple(own.share.tolist()),
        own_error=own.error,
        noise=noise,
        jitter=own.jitter,
        measured_steps=measured_steps,
        simulator_steps=prepared_steps + measured_steps,
        extras=extras,
    )
    scores = _weighed(rows, measurement, weighing)
    if ledger is None:
        return scores
    ledger.finish(scores)
    return replace(scores, path=ledger.path)


def assessor_of(imitator: Robot, key: ScoreKey, threads: int) -> Assessor | None:
    """Return what finds the verdicts; None where they are thresholds on the share."""
    tolerance = parse_tolerance(key.tolerance, imitator)
    return Assessor(imitator, tolerance, whole=key.whole, threads=threads) if key.tolerance else None


def _judged(row: EpisodeScore, noise: float) -> EpisodeScore:
    """Return the record with a verdict, where no evaluation of the whole motion has given it one."""
    if row.evaluated or row.verdict:
        return row
    return replace(row, verdict=weighting.verdict_of_share(row.share, *weighting.thresholds(noise), fell=row.fell))


def doubt_remedies(scores: Scores, robot: Robot) -> list[str]:
    """Return what would help a tracker that hardly follows the imitator's own movements."""
    measured = scores.measurement
    doubtful = weighting.is_doubtful(measured.certificate, np.array(measured.own_share))
    return [advice] if doubtful and (advice := servo_advice(robot)) else []


def _extras(scorer: Scorer, measurer: Measurer) -> dict[str, Any]:
    """Return what the method says of itself, as the score file will give it back."""
    extras: dict[str, Any] = json.loads(json.dumps(measurer.about))
    for name in extras:
        if name in OWN:
            reason = f"it says {name!r} of itself (`about`), which the score file says of every method; use another word"
            raise BadOption("method", scorer_text(scorer), reason)
    return extras


def _rows(
    job: ScoringJob, measurer: Measurer, own_error: float, ledger: Ledger | None, assessor: Assessor | None
) -> list[EpisodeScore]:
    """Measure what the ledger does not hold yet; return one record per demonstration, not weighted yet."""
    episodes, rows = job.demos.episodes, dict(ledger.rows) if ledger else {}
    missing = [place for place, episode in enumerate(episodes) if episode.hash not in rows]
    done = len(episodes) - len(missing)
    job.observer.progress(done, len(episodes))
    for places, chunk in _chunks(job.demos, missing):
        before = measurer.spent + (assessor.spent if assessor else 0)
        measured = measurer(chunk)
        new = [
            summarise_tracking(one, seen, episodes[place], job.imitator, own_error)
            for place, one, seen in zip(places, measured, chunk, strict=True)
        ]
        if assessor is not None:
            new = assessed(assessor, chunk, measured, new)
        if ledger is not None:
            ledger.add(new, [one.trace for one in measured], measurer.spent + (assessor.spent if assessor else 0) - before)
        rows |= {row.episode.hash: row for row in new}
        done += len(chunk)
        job.observer.progress(done, len(episodes))
    return [replace(rows[episode.hash], episode=episode) for episode in episodes]


def assessed(
    assessor: Assessor, chunk: Sequence[Trajectory], measured: Sequence[Measured], rows: Sequence[EpisodeScore]
) -> list[EpisodeScore]:
    """Return the records with verdicts: unknown of a method that does not track, because it does not see the robot move."""
    tracked = [place for place, one in enumerate(measured) if np.isfinite(one.trace.states).any()]
    judged = dict(zip(tracked, assessor([chunk[k] for k in tracked], [rows[k] for k in tracked]), strict=True))
    reason = "this method does not simulate the robot; score with direct for a verdict"
    return [judged.get(place, replace(row, verdict="unknown", reason=reason)) for place, row in enumerate(rows)]


def _chunks(demos: Demonstrations, missing: Sequence[int]) -> Iterator[tuple[Sequence[int], list[Trajectory]]]:
    """Read the missing demonstrations in order and give them out in chunks, with their places."""
    whole = len(missing) == len(demos)
    stream = iter(demos) if whole else (demos[i] for i in missing)
    for begin in range(0, len(missing), CHUNK):
        yield missing[begin : begin + CHUNK], list(islice(stream, CHUNK))


def weigh(
    scores: Scores,
    temperature: str | float | None = None,
    keep: str | None = None,
    balance: str | None = None,
    *,
    segments: bool | None = None,
) -> Scores:
    """Return the scores under another temperature, with weights for what `keep` names; nothing is simulated.

    `keep` is "all", "feasible" demonstrations, "top:K" of the highest scores, or the name of a demonstrator; or
    "feasible-segments": a transition in a confirmed impossible span has no weight, the rest of its demonstration keeps its own.
    "auto" is feasible-segments where the whole motions were evaluated, else all.
    `balance` = "demonstrator" lets demonstrators weigh as their means say, however many demonstrations each gave; "none" lets
    every transition weigh for itself; "auto" balances by the temperatures auto, share:NUMBER and score:NUMBER, but not by the
    published rules. With `segments` a transition weighs as the segment around it says instead of the demonstration.
    What is not given stays as it was, and no verdict changes.
    """
    given = {"keep": keep, "balance": balance, "segments": segments}
    given |= {"temperature": None if temperature is None else weighting.temperature_text(temperature)}
    weighing = replace(scores.weighing, **{name: value for name, value in given.items() if value is not None})
    return replace(_weighed(scores.rows, scores.measurement, weighing), path=scores.path)


def _weighed(rows: Sequence[EpisodeScore], measurement: Measurement, weighing: Weighing) -> Scores:
    """Return the scores of a set: its records with everything that weighting adds."""
    text, balance = weighing.temperature, weighing.balance
    if balance not in weighting.BALANCES:
        raise BadOption("balance", balance, one_of(balance, weighting.BALANCES))
    lengths, verdict, names = (column_of(rows, name) for name in ("length", "verdict", "demonstrator"))
    logs, low, high = (_log_scores(rows, measurement, text, sign) for sign in (0, 1, -1))
    chosen = weighting.chosen_rows(weighing.keep, verdict, logs, names)
    if weighing.segments and measurement.rule != "share":
        raise BadOption("segments", "yes", "this method scores demonstrations as a whole; score with direct")
    rule = segment_rule(rows, measurement, weighing)
    weighed = np.array([rule.mean_log(row) for row in rows])
    if not weighing.segments:
        weighed += weighting.weight_logs(logs, text, measurement.rule)
    even = weighting.is_balanced(balance, text, measurement.rule)
    weight = weighting.balanced(weighed, lengths, names, chosen) if even else weighting.masses(weighed, lengths, chosen)
    remarks = weighting.remarks(weight, verdict, measurement.certificate, np.array(measurement.own_share))
    if weighing.keep in (weighting.SEGMENTS, "auto") and nothing_possible(rows):
        remarks.insert(0, "every demonstration is impossible throughout, so that all keep their weights")
    feasible, borderline = weighting.thresholds(measurement.noise)
    weighing = replace(weighing, feasible_share=feasible, borderline_share=borderline, remarks=tuple(remarks))
    columns = {"score": np.exp(logs), "score_low": np.exp(low), "score_high": np.exp(high), "weight": weight}
    return Scores(tuple(rows), measurement, weighing).with_columns(**columns)


def _log_scores(rows: Sequence[EpisodeScore], measurement: Measurement, temperature: str, sign: int) -> Floats:
    """(N) ln score, of the shares as they are (sign 0) or moved by their uncertainty: worse (1) or better (−1)."""
    distance, share, spread, lengths = (column_of(rows, name) for name in ("distance", "share", "spread", "length"))
    moved = share + sign * np.hypot(spread, measurement.jitter)
    factor = np.maximum(moved, 0) / np.maximum(share, 1e-12) if sign else np.ones(len(rows))
    measures = weighting.Measures(
        distance * factor, np.maximum(moved, 0), lengths, np.array(measurement.calibration), measurement.noise
    )
    return weighting.log_scores(measures, temperature, measurement.rule)


def subset(scores: Scores, hashes: Sequence[str], temperature: str | float | None = None) -> Scores:
    """Return the scores of some demonstrations, weighted among themselves: another composition without a simulation."""
    places = {episode.hash: i for i, episode in enumerate(scores.episodes)}
    return weigh(scores.at([places[name] for name in hashes]), temperature)
