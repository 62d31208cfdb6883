# SPDX-License-Identifier: MIT
"""The verb `score`: which demonstrations can the imitator follow?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np

from imitable.demos.fit import check_set
from imitable.errors import BadOption
from imitable.feasibility import weighting
from imitable.feasibility.checks import check_episode
from imitable.feasibility.ruler import Ruler, ruler
from imitable.feasibility.score_files import Ledger, Row, models_path, parts_path
from imitable.feasibility.scorer import Job, Measured, Measurer, Scorer
from imitable.files import check_free, check_modes, check_writable
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.spec_text import find_method, parse_method, split
from imitable.types import Demonstrations, Floats, Scores, Trajectory

METHODS = {
    "direct": "imitable.feasibility.methods.direct:Direct",
    "trajectory": "imitable.feasibility.methods.trajectory:TrajectoryFmdp",
    "one-step": "imitable.feasibility.methods.one_step:OneStep",
    "inverse-dynamics": "imitable.feasibility.methods.inverse_dynamics:InverseDynamics",
    "transferability": "imitable.feasibility.methods.transferability:Transferability",
    "neighbours": "imitable.feasibility.methods.neighbours:Neighbours",
}
"""Names on the command line, and where each method lives."""

CHUNK = 64
"""Demonstrations that are measured side by side and kept together."""

OWN_ROLLOUTS = 8
"""Rollouts of the imitator itself that verdicts are calibrated on."""


@dataclass(frozen=True)
class Measuring:
    """Everything but the method that distances depend on."""

    distance: str = "standardised"
    """standardised, l2, l1 or cosine."""
    entries: str = "all"
    """State entries that are compared: all, rootless, or names joined by commas."""
    discount: float | None = None
    """γ of the distance; None: by time, exp(−period / 0.6 s)."""
    rollouts: int = 1
    """Rollouts a demonstration that the expected distance of a noisy body averages over."""

    def __post_init__(self) -> None:
        """Check what can be checked without a robot."""
        if not 1 <= self.rollouts <= 10_000:
            raise BadOption("rollouts", self.rollouts, "give a whole number from 1 to 10000")


def method(text: str) -> Scorer:
    """Return the scorer that `text` names: a built-in one, or a class of yours (`my_lab.scorers.Mine:k=3`)."""
    return cast(Scorer, parse_method(text, {split(text)[0]: find_method(text, METHODS, ("prepared", "rule"))}))


def score(
    demos: Demonstrations,
    imitator: Robot | str,
    method: Scorer | str = "direct",
    seed: int = 0,
    *,
    measuring: Measuring | None = None,
    temperature: str = "auto",
    threads: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    say: Callable[[str], None] = lambda line: None,
) -> Scores:
    """Score every demonstration for feasibility on the imitator.

    Args:
        demos: the set; read in a stream, never held whole.
        imitator: the robot that shall imitate, or its text.
        method: a scorer, or its text; `METHODS` lists the built-in ones.
        seed: seed of everything random.
        measuring: distance, compared entries, discount, rollouts.
        temperature: auto, paper, arm, or a number: how distances become scores.
        threads: threads of the simulator; results do not depend on it.
        out: `scores.parquet` to write, with `scores.steps.parquet` beside it.
        resume: go on with an interrupted job, or score only what is new in a grown set.
        overwrite: replace an existing output.
        on_progress: told how many demonstrations are done, and of how many.
        say: told single lines for a person.
    """
    robot = parse_robot(imitator) if isinstance(imitator, str) else imitator
    scorer = _method(method) if isinstance(method, str) else method
    measuring = measuring or Measuring()
    weighting.check_temperature(temperature)
    check_modes(resume=resume, overwrite=overwrite)
    _check_measuring(measuring, scorer, robot)
    check_set(demos, robot)
    for episode, trajectory in zip(demos.episodes, demos, strict=True):
        check_episode(episode, trajectory, robot)
    path = None if out is None else Path(out)
    if path is not None:
        _check_output(path, overwrite=overwrite, resume=resume)
    rule = ruler(robot, measuring.distance, measuring.entries, measuring.discount)
    key = job_key(robot, scorer, rule, measuring, seed)
    ledger = None if path is None else Ledger(path, key, resume=resume)
    models = None if path is None else models_path(path)
    job = Job(demos, robot, rule, seed, measuring.rollouts, threads, models, say)
    return _scored(job, scorer, key, temperature, ledger, on_progress)


_method = method


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


def _check_output(path: Path, *, overwrite: bool, resume: bool) -> None:
    check_writable(path)
    unfinished = parts_path(path)
    if unfinished.exists() and not (resume or overwrite):
        check_free(unfinished, overwrite=False, resume=True)
    check_free(path, overwrite=overwrite or resume, resume=True)


def job_key(robot: Robot, scorer: Scorer, rule: Ruler, measuring: Measuring, seed: int) -> dict[str, Any]:
    """Return what measures depend on: equal keys mean that they can be used again."""
    return {
        "version": version("imitable"),
        "imitator": str(robot),
        "imitator_hash": robot.hash,
        "method": f"{type(scorer).__module__}.{type(scorer).__qualname__}",
        "settings": asdict(cast(Any, scorer)),
        "distance": measuring.distance,
        "entries": measuring.entries,
        "discount": rule.discount,
        "rollouts": measuring.rollouts,
        "seed": seed,
    }


@dataclass(frozen=True)
class _Calibration:
    """What the imitator's own rollouts show."""

    distance: Floats
    share: Floats
    error: float
    """99th percentile of the error of one step."""


def _scored(
    job: Job,
    scorer: Scorer,
    key: dict[str, Any],
    temperature: str,
    ledger: Ledger | None,
    on_progress: Callable[[int, int], None],
) -> Scores:
    measurer = scorer.prepared(job)
    own, known = _calibration(job, measurer), measurer.about
    prepared_steps = measurer.spent
    rows = _rows(job, measurer, own.error, ledger, on_progress)
    measured_steps = ledger.spent if ledger else measurer.spent - prepared_steps
    about = {
        "key": key,
        **{name: value for name, value in key.items() if name != "imitator_hash"},
        **_coverage(job, measurer.horizon),
        **known,
        "rule": scorer.rule,
        "measure": _own_measure(scorer),
        "own_distance": own.distance.tolist(),
        "own_share": own.share.tolist(),
        "own_error": own.error,
        "measured_steps": measured_steps,
        "simulator_steps": prepared_steps + measured_steps,
    }
    scores = _composed(job.demos, [rows[episode.hash] for episode in job.demos.episodes], about, temperature)
    if ledger is not None:
        ledger.finish(scores)
    return scores


def _rows(
    job: Job, measurer: Measurer, threshold: float, ledger: Ledger | None, on_progress: Callable[[int, int], None]
) -> dict[str, Row]:
    """Measure what the ledger does not hold yet; return one row an episode hash."""
    rows = dict(ledger.rows) if ledger else {}
    missing = [i for i, episode in enumerate(job.demos.episodes) if episode.hash not in rows]
    done = len(job.demos) - len(missing)
    on_progress(done, len(job.demos))
    for chunk in _chunks(job.demos, missing):
        before = measurer.spent
        measured = measurer(chunk)
        found = [_row(one, threshold) for one in measured]
        names = [trajectory.hash for trajectory in chunk]
        if ledger is not None:
            ledger.add(names, measured, found, measurer.spent - before)
        rows |= dict(zip(names, found, strict=True))
        done += len(chunk)
        on_progress(done, len(job.demos))
    return rows


def _chunks(demos: Demonstrations, missing: Sequence[int]) -> Iterator[list[Trajectory]]:
    """Read the missing demonstrations in order and give them out in chunks."""
    whole = len(missing) == len(demos)
    stream = iter(demos) if whole else (demos[i] for i in missing)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def _calibration(job: Job, measurer: Measurer) -> _Calibration:
    """Measure the imitator's own rollouts: whatever it did there, it can do."""
    own = measurer(babble(job.imitator, OWN_ROLLOUTS, measurer.horizon, job.seed, threads=job.threads))
    errors = np.concatenate([m.trace.errors for m in own])
    return _Calibration(
        np.array([m.distance for m in own]), np.array([m.share for m in own]), float(np.nanquantile(errors, 0.99))
    )


def _row(measured: Measured, threshold: float) -> Row:
    trace = measured.trace
    step = weighting.first_divergence(trace.errors, trace.steps, trace.attempts, threshold)
    return Row(measured.distance, measured.share, step)


def _coverage(job: Job, horizon: int) -> dict[str, object]:
    """Say which part of the demonstrations one attempt judges, and how much of the discount's mass that holds."""
    lengths = np.array([episode.length for episode in job.demos.episodes])
    judged = min(horizon, int(lengths.max()))
    covered = float(np.minimum(judged, lengths).sum() / lengths.sum())
    return {
        "horizon": judged,
        "horizon_s": judged * job.imitator.layout.period_s,
        "horizon_mass": float(1 - job.ruler.discount**judged) if job.ruler.discount < 1 else covered,
        "covered": covered,
    }


def _composed(demos: Demonstrations, rows: Sequence[Row], about: dict[str, Any], temperature: str) -> Scores:
    count = len(rows)
    blank = Scores(
        episodes=demos.episodes,
        distance=np.array([row.distance for row in rows]),
        share=np.array([row.share for row in rows]),
        score=np.zeros(count),
        weight=np.zeros(count),
        verdict=("",) * count,
        first_divergence=np.array([row.first_divergence for row in rows], np.int64),
        about=about,
    )
    return weigh(blank, temperature)


def weigh(scores: Scores, temperature: str | None = None, keep: str = "all") -> Scores:
    """Return the scores under another temperature, with weights for what is kept; nothing is simulated."""
    temperature = str(scores.about["temperature"]) if temperature is None else temperature
    weighting.check_temperature(temperature)
    measures = weighting.Measures(
        scores.distance,
        scores.share,
        np.array([episode.length for episode in scores.episodes], np.int64),
        np.array(scores.about.get("calibration", scores.about["own_distance"])),
        np.array(scores.about["own_share"]),
    )
    logs = weighting.log_scores(measures, temperature, scores.about["rule"])
    feasible, nearly = weighting.thresholds(measures.own_share)
    verdict = weighting.verdicts(scores.share, feasible, nearly)
    weight = weighting.masses(logs, measures.length, weighting.kept_rows(keep, verdict, logs))
    about = scores.about | {
        "temperature": temperature,
        "keep": keep,
        "feasible_share": feasible,
        "nearly_share": nearly,
        "effective_size": float(1 / np.square(weight).sum()),
        "remarks": weighting.remarks(weight, verdict, scores.about.get("certificate"), measures.own_share),
    }
    return replace(scores, score=np.exp(logs), weight=weight, verdict=verdict, about=about)


def subset(scores: Scores, hashes: Sequence[str], temperature: str | None = None) -> Scores:
    """Return the scores of some demonstrations, weighted among themselves: another composition without a simulation."""
    places = {episode.hash: i for i, episode in enumerate(scores.episodes)}
    rows = [places[name] for name in hashes]
    part = replace(
        scores,
        episodes=tuple(scores.episodes[i] for i in rows),
        distance=scores.distance[rows],
        share=scores.share[rows],
        first_divergence=scores.first_divergence[rows],
    )
    return weigh(part, temperature)
