# SPDX-License-Identifier: MIT
"""How well a demonstration was tracked, in units that people know: which part of it, where tracking failed, metres."""

from dataclasses import replace

import numpy as np

from imitable.feasibility.body_errors import body_errors
from imitable.feasibility.episode_score import EpisodeScore
from imitable.feasibility.lost import lost
from imitable.feasibility.scorer import Measured
from imitable.feasibility.spans import impossible
from imitable.feasibility.weighting import first_divergence
from imitable.robots.robot import Robot
from imitable.tracking.attempts import Trace
from imitable.types import Episode, Floats, Ints, Trajectory


def summarise_tracking(
    measured: Measured, trajectory: Trajectory, episode: Episode, imitator: Robot, own_error: float
) -> EpisodeScore:
    """Return the record of a demonstration; of a method without rollouts it only has where the error exceeds `own_error`."""
    trace, period = measured.trace, imitator.layout.period_s
    begins = [span.begin for span in measured.spans]
    segments = measured.segments or ((0, measured.share),)
    record = EpisodeScore(
        episode=episode,
        distance=measured.distance,
        share=measured.share,
        spread=measured.spread,
        stage=measured.stage,
        duration_s=len(trajectory) * period,
        segment_begin=tuple(begin for begin, _ in segments),
        segment_share=tuple(share for _, share in segments),
    )
    if not np.isfinite(trace.states).any():
        step = first_divergence(trace.errors, trace.steps, trace.attempts, own_error)
        steps = [*begins, *([step] if step >= 0 else [])]
        return replace(record, lost_at=_times(steps, period), first_divergence=min(steps, default=-1))
    attempted, rows = _attempts(trace)
    demonstrated = trajectory.states[np.minimum(trace.steps[rows], len(trajectory))]
    lengths = (rows >= 0).sum(axis=1)
    points = None if imitator.tool is None else (imitator.tool.site,)
    errors = body_errors(imitator, attempted, demonstrated, points, lengths)
    gone = lost(imitator, errors, attempted, demonstrated)
    lost_steps = [int(trace.steps[rows[row, step]]) for row, step in enumerate(gone.steps.tolist()) if step >= 0]
    within = ~np.isnan(gone.ratios)
    kept = float((gone.ratios[within] <= 1).mean()) if within.any() else 0.0
    return replace(
        record,
        followed=kept * float(1 - impossible(measured.spans, len(trajectory)).mean()),
        lost_at=_times([*begins, *lost_steps], period),
        error_mean_m=float(np.average(errors.body_mean_m, weights=lengths)),
        error_max_m=float(errors.body_largest_m.max()),
        success=bool(errors.success().all()),
        first_divergence=min([*begins, *lost_steps], default=-1),
        fell=bool(gone.fell.any()),
        height_error_m=_largest(gone.heights_m),
        tilt_error_rad=_largest(gone.tilts_rad),
        joint_error_rad=float(errors.joint_largest_rad.max()),
        worst_joint=_worst(errors.joints_rad, errors.joints),
        worst_body=_worst(errors.bodies_m, errors.points),
    )


def _largest(errors: Floats) -> float:
    """Return the largest of all that is judged."""
    return float(np.where(np.isnan(errors), 0.0, errors).max(initial=0.0))


def _worst(errors: Floats, names: tuple[str, ...]) -> str:
    """(n, H, k) → the name of the column with the largest error; empty without columns."""
    return names[int(np.where(np.isnan(errors), 0.0, errors).max(axis=(0, 1)).argmax())] if names else ""


def _attempts(trace: Trace) -> tuple[Floats, Ints]:
    """Return the states of n attempts of at most H steps, (n, H, S), NaN beyond their ends, and their rows (n, H), −1 there."""
    names, owners = np.unique(trace.attempts, return_inverse=True)
    counts = np.bincount(owners)
    rows = np.full((len(names), int(counts.max())), -1)
    for attempt in range(len(names)):
        rows[attempt, : counts[attempt]] = np.flatnonzero(owners == attempt)
    states = np.where((rows >= 0)[:, :, None], trace.states[rows], np.nan)
    return states, rows


def _times(steps: list[int], period_s: float) -> tuple[float, ...]:
    return tuple(sorted({round(step * period_s, 2) for step in steps}))
