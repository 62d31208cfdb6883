# SPDX-License-Identifier: MIT
"""The verdict on a demonstration: is there a motion of the imitator that stays within the tolerance of all of it?

Static checks see every transition. Windows that overlap by half, or those at suspicious transitions of long demonstrations,
are attempted in simulation. Then

* infeasible: a static check is certain, or an attempt leaves twice the tolerance where a check is suspicious;
* unknown: attempts leave twice the tolerance, but nothing shows why, so that it may be the tracker's failure; or no limit of
  the torque is known;
* borderline: the best attempt at some window leaves the tolerance, but not twice as far;
* feasible: an attempt stays within the tolerance in every window.

The worst window decides, not a mean. A verdict depends on the demonstration, the imitator and the tolerance alone: not on the
method that scores, and not on other demonstrations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from imitable.feasibility.episode_score import EpisodeScore
from imitable.feasibility.spans import Span, impossible, runs
from imitable.feasibility.static_checks import static_checks
from imitable.feasibility.tolerance import Tolerance, root_errors
from imitable.feasibility.tube import Tube, Windows
from imitable.feasibility.unusual import moments
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tracking.attempts import Pieces
from imitable.tracking.balance import balance, friction_losses
from imitable.tracking.economy import affordable
from imitable.tracking.inverse_dynamics import actuator_limits, joints, strength_unknown
from imitable.types import Bools, Floats, Ints, Trajectory

TILED_S = 20.0
"""Demonstrations up to this long are attempted as a whole; of longer ones suspicious windows and `SPREAD` more."""

SPREAD = 12
"""Windows of a long demonstration that are attempted in any case."""

ENOUGH = 2
"""Confirmed failures after which a demonstration is not attempted further, unless all of it shall be."""

LOST = 4
"""Failures that nothing explains after which it is clear that the verdict will not be feasible."""

STRONG = 1.5
"""A force that is required must exceed what is available so many times to explain a failed attempt: where a body hits the
ground, inverse dynamics over a control step is rough."""

TWICE = 2.0
"""Beyond so many tolerances an attempt is lost: the tracker's own errors are smaller on bodies that it masters."""

MASTERED = 0.95
"""Part of the windows of its own motions that trackers keep within the tolerance on a body that they master: there a failure
is the body's, even if no check was suspicious."""

TRACKING = "tracking"
"""The cause where attempts fail and no check shows why."""

CAUSES = {
    "range": "range",
    "reach": "reach",
    "jump": "jump",
    "speed": "speed",
    "penetration": "penetration",
    "skating": "skating",
    "support": "support",
    "path": "support",
    "torque": "torque",
    "balance": "support",
    "outer force": "support",
    TRACKING: TRACKING,
}
"""Kinds of static checks, the most telling first, and the cause that they stand for."""


@dataclass(frozen=True)
class VerdictOptions:
    """How verdicts are found; scores and weights do not depend on it."""

    tolerance: str = ""
    """See `parse_tolerance`; empty: the default of the kind of body."""
    whole: bool = False
    """Whether every window is attempted, however long the demonstration is and whatever has failed."""


@dataclass(frozen=True, eq=False)
class _Case:
    """One demonstration while it is judged."""

    trajectory: Trajectory
    spans: tuple[Span, ...]
    rows: Ints
    """Its windows among those of its chunk."""

    def suspicion(self, begin: int, end: int) -> list[Span]:
        """Return the spans within some transitions."""
        return [span for span in self.spans if span.begin < end and span.end > begin]

    @property
    def certain(self) -> list[Span]:
        return [span for span in self.spans if span.certain]


class Assessor:
    """Finds the verdicts of one imitator."""

    def __init__(self, imitator: Robot, tolerance: Tolerance, *, whole: bool = False, threads: int = 1) -> None:
        """Get the trackers ready."""
        self.imitator, self.tolerance, self.whole = imitator, tolerance, whole
        self._tube = Tube(imitator, tolerance, threads)

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._tube.spent

    def __call__(self, trajectories: Sequence[Trajectory], records: Sequence[EpisodeScore]) -> list[EpisodeScore]:
        """Return the records of some demonstrations with their verdicts, and how the robot tracks them."""
        found = [static_checks(self.imitator, one.states, self.tolerance).spans for one in trajectories]
        begins = [self._begins(one, spans) for one, spans in zip(trajectories, found, strict=True)]
        pieces = self._pieces(trajectories, begins)
        cases = [
            _Case(one, spans, np.flatnonzero(pieces.owners == place))
            for place, (one, spans) in enumerate(zip(trajectories, found, strict=True))
        ]
        windows = self._tube.cheaply(trajectories, pieces) if len(pieces.owners) else None
        tried = np.zeros(len(pieces.owners), bool)
        if windows is not None:
            windows, tried = self._retried(trajectories, cases, windows)
        return [self._record(case, record, trajectories, windows, tried) for case, record in zip(cases, records, strict=True)]

    def _begins(self, trajectory: Trajectory, spans: Sequence[Span]) -> Ints:
        """Return where windows begin; none where nothing is left to find out."""
        begins, steps = self._tube.begins(len(trajectory)), self._tube.steps
        if self.whole:
            return begins
        certain = impossible([span for span in spans if span.certain], len(trajectory))
        begins = begins[[not certain[begin : begin + steps].any() for begin in begins.tolist()]]
        if len(trajectory) * self.imitator.layout.period_s <= TILED_S:
            return begins
        suspicious = impossible(spans, len(trajectory))
        chosen: Bools = np.array([bool(suspicious[begin : begin + steps].any()) for begin in begins.tolist()], bool)
        chosen[np.linspace(0, len(begins) - 1, min(SPREAD, len(begins))).astype(int)] = True
        return begins[chosen]

    def _pieces(self, trajectories: Sequence[Trajectory], begins: Sequence[Ints]) -> Pieces:
        owners = np.repeat(np.arange(len(begins)), [len(some) for some in begins])
        firsts = np.concatenate([*begins, np.zeros(0, np.int64)]).astype(np.int64)
        lengths = np.minimum(self._tube.steps, np.array([len(one) for one in trajectories], np.int64)[owners])
        return Pieces(owners, np.arange(len(owners)), firsts, lengths)

    def _retried(self, trajectories: Sequence[Trajectory], cases: Sequence[_Case], windows: Windows) -> tuple[Windows, Bools]:
        """Try failed windows harder, suspicious ones first, until enough failures of a demonstration are confirmed."""
        tried: Bools = windows.worst <= 1
        count = ENOUGH
        while True:
            rows = [self._next(case, windows, tried, count) for case in cases]
            chosen = np.concatenate([*rows, np.zeros(0, np.int64)]).astype(np.int64)
            if not len(chosen):
                return windows, tried
            windows = self._tube.hard(trajectories, windows, chosen)
            tried[chosen] = True
            count *= 2

    def _next(self, case: _Case, windows: Windows, tried: Bools, count: int) -> Ints:
        """Return the windows of a demonstration that are tried next, at most `count`."""
        left = case.rows[~tried[case.rows]]
        failed = sum(self._confirmed(case, windows, row) for row in case.rows[tried[case.rows]].tolist())
        lost = int((windows.worst[case.rows[tried[case.rows]]] > TWICE).sum())
        if not len(left) or (not self.whole and (failed + len(case.certain) >= ENOUGH or lost >= LOST)):
            return np.zeros(0, np.int64)
        worst = [
            max((span.size / max(span.limit, 1e-9) for span in self._suspicion(case, windows, row)), default=-1.0)
            for row in left.tolist()
        ]
        return left[np.argsort(-np.array(worst), kind="stable")[:count]]

    def _suspicion(self, case: _Case, windows: Windows, row: int) -> list[Span]:
        begin = int(windows.pieces.begins[row])
        return case.suspicion(begin, begin + int(windows.pieces.lengths[row]))

    def _confirmed(self, case: _Case, windows: Windows, row: int) -> bool:
        """Return whether a window shows that the demonstration is impossible: it fails, and it is clear that the robot does."""
        if windows.worst[row] <= TWICE:
            return False
        return any(map(_is_strong, self._suspicion(case, windows, row))) or self._mastered

    @cached_property
    def _mastered(self) -> bool:
        """Whether the robot is bolted down, all of it is driven, and trackers master it."""
        driven = actuator_limits(self.imitator) > 0
        return bool(driven.all()) and solver_check(self.imitator, self.tolerance) >= MASTERED

    def _lacking(self, case: _Case, begin: int, end: int) -> Span:
        """Return what an arm lacks most in some transitions, contacts apart: the reason of a failure that no check foresaw."""
        imitator, period = self.imitator, self.imitator.layout.period_s
        needed = np.abs(moments(balance(imitator, case.trajectory.states[begin : end + 1]).needed, imitator))
        available = np.maximum(actuator_limits(imitator) + friction_losses(imitator), 1e-9)
        over: Floats = needed / available
        row, joint = divmod(int(over.argmax()), over.shape[1])
        name = imitator.layout.qvel[joint].removesuffix("_velocity")
        kind = "torque" if over[row, joint] > 1 else TRACKING
        lacking = over.max(axis=1) > 1
        first, last = (int(k) for k in np.flatnonzero(lacking)[[0, -1]]) if lacking.any() else (0, end - begin - 1)
        first, last = begin + first, begin + last + 1
        unit = {one.name: one.force_unit for one in joints(imitator)}.get(name, "Nm")
        size, limit = float(needed[row, joint]), float(available[joint])
        return Span(kind, first, last, first * period, last * period, name, size, limit, unit)

    def _record(
        self,
        case: _Case,
        record: EpisodeScore,
        trajectories: Sequence[Trajectory],
        windows: Windows | None,
        tried: Bools,
    ) -> EpisodeScore:
        rows = case.rows[tried[case.rows]] if windows is not None else case.rows[:0]
        failed = [] if windows is None else [row for row in rows.tolist() if windows.worst[row] > 1]
        confirmed = [] if windows is None else [row for row in failed if self._confirmed(case, windows, row)]
        blamed = [*case.certain]
        marked = impossible(blamed, len(case.trajectory))
        if windows is not None:
            for row in confirmed:
                begin = int(windows.pieces.begins[row])
                end = begin + int(windows.pieces.lengths[row])
                strong = [span for span in case.suspicion(begin, end) if _is_strong(span)]
                for span in strong or [self._lacking(case, begin, end)]:
                    blamed.append(span)
                    marked[max(begin, span.begin) : min(end, span.end)] = True
        if windows is not None and confirmed:
            marked |= self._alike(case, windows, rows, blamed)
        record = self._tracked(case, record, trajectories, windows, rows, marked)
        verdict, cause, reason = self._verdict(case, windows, failed, blamed)
        if verdict != "infeasible" and self.imitator.has_servos and (doubt := strength_unknown(self.imitator)):
            verdict, cause, reason = "unknown", "torque", doubt
        period = self.imitator.layout.period_s
        spans = list(runs(marked)) if verdict == "infeasible" else []
        return replace(
            record,
            verdict=verdict,
            cause=cause,
            reason=reason,
            infeasible_begin=tuple(round(begin * period, 3) for begin, _ in spans),
            infeasible_end=tuple(round(end * period, 3) for _, end in spans),
            covered_static=1.0,
            covered_dynamic=self._coverage(case, windows, rows),
        )

    def _alike(self, case: _Case, windows: Windows, rows: Ints, blamed: Sequence[Span]) -> Bools:
        """(T) what is suspicious for the reason that attempts confirmed, where no attempt has shown that it can be done.

        A demonstration is not attempted further once enough failures are confirmed, so that the rest of such spans is open.
        """
        kinds = {span.kind for span in blamed}
        marked = impossible([span for span in case.spans if span.kind in kinds and _is_strong(span)], len(case.trajectory))
        for row in rows[windows.worst[rows] <= 1].tolist():
            begin = int(windows.pieces.begins[row])
            marked[begin : begin + int(windows.pieces.lengths[row])] = False
        return marked

    def _verdict(
        self, case: _Case, windows: Windows | None, failed: Sequence[int], blamed: Sequence[Span]
    ) -> tuple[str, str, str]:
        """Return verdict, cause and reason."""
        if blamed:
            order = list(CAUSES)
            decisive = min(
                blamed, key=lambda span: (not span.certain, order.index(span.kind), -span.size / max(span.limit, 1e-9))
            )
            return "infeasible", CAUSES[decisive.kind], decisive.sentence
        if windows is None or not failed:
            return "feasible", "", ""
        worst = max(failed, key=lambda row: float(windows.worst[row]))
        ratio, begin = float(windows.worst[worst]), int(windows.pieces.begins[worst])
        where = f"{begin * self.imitator.layout.period_s:.2f} s"
        if ratio <= TWICE:
            return "borderline", TRACKING, f"the best attempt after {where} is off by {ratio:.1f} times the tolerance"
        reason = f"attempts after {where} fail and no check shows why, so that it may be the tracker's failure"
        return "unknown", TRACKING, reason

    def _coverage(self, case: _Case, windows: Windows | None, rows: Ints) -> float:
        seen = np.zeros(len(case.trajectory), bool)
        if windows is not None:
            for begin, length in zip(windows.pieces.begins[rows].tolist(), windows.pieces.lengths[rows].tolist(), strict=True):
                seen[begin : begin + length] = True
        return float(seen.mean())

    def _tracked(
        self,
        case: _Case,
        record: EpisodeScore,
        trajectories: Sequence[Trajectory],
        windows: Windows | None,
        rows: Ints,
        marked: Bools,
    ) -> EpisodeScore:
        """Return the record with how the best attempts at its windows went."""
        firsts = np.flatnonzero(marked)[:1].tolist()
        period = self.imitator.layout.period_s
        if windows is None or not len(rows):
            empty = not marked.any()
            return replace(
                record,
                followed=float(1 - marked.mean()),
                success=empty,
                first_divergence=min(firsts, default=-1),
                lost_at=tuple(round(step * period, 2) for step in firsts),
            )
        own = Windows(windows.pieces.rows(rows), windows.states[rows], windows.ratios[rows])
        errors = self._tube.errors(trajectories, own)
        outside: Bools = own.ratios > 1
        left = [int(own.pieces.begins[k] + outside[k].argmax()) + 1 for k in np.flatnonzero(outside.any(axis=1)).tolist()]
        off, seen = marked.copy(), marked.copy()
        for k in range(len(rows)):
            begin, length = int(own.pieces.begins[k]), int(own.pieces.lengths[k])
            off[begin : begin + length] |= outside[k, :length]
            seen[begin : begin + length] = True
        begins = sorted({*firsts, *left})
        wanted = own.pieces.states(trajectories, self._tube.steps)[:, 1:]
        heights, tilts = root_errors(self.imitator, own.states, wanted)
        return replace(
            record,
            followed=float(1 - off[seen].mean()),
            lost_at=tuple(sorted({round(step * period, 2) for step in begins})),
            success=not begins,
            first_divergence=min(begins, default=-1),
            error_mean_m=float(np.average(errors.body_mean_m, weights=own.pieces.lengths)),
            error_max_m=float(errors.body_largest_m.max()),
            mpkpe_m=float(np.average(errors.body_mean_m, weights=own.pieces.lengths)),
            tolerance_ratio=float(own.worst.max()),
            height_error_m=_largest(heights),
            tilt_error_rad=_largest(tilts),
            joint_error_rad=float(errors.joint_largest_rad.max()),
            worst_joint=_worst(errors.joints_rad, errors.joints),
            worst_body=_worst(errors.bodies_m, errors.points),
        )


@lru_cache(maxsize=64)
def solver_check(imitator: Robot, tolerance: Tolerance) -> float:
    """Return the part of the windows of a body's own motions, from motor babbling, that trackers keep within the tolerance."""
    own = babble(imitator, affordable(imitator, 8, 4), max(100, round(2.0 / imitator.layout.period_s)), 0)
    tube = Tube(imitator, tolerance)
    owners = [(place, begin) for place, one in enumerate(own) for begin in tube.begins(len(one)).tolist()]
    places, begins = np.array(owners, np.int64).T
    lengths = np.minimum(tube.steps, np.array([len(one) for one in own], np.int64)[places])
    windows = tube.cheaply(own, Pieces(places, np.arange(len(places)), begins, lengths))
    return float((tube.hard(own, windows, np.flatnonzero(windows.worst > 1)).worst <= 1).mean())


def _is_strong(span: Span) -> bool:
    """Return whether a suspicion explains a failed attempt."""
    return span.certain or span.kind not in ("torque", "outer force", "balance") or span.size > STRONG * span.limit


def _largest(errors: Floats) -> float:
    return float(np.nan_to_num(errors, nan=0.0, posinf=0.0).max(initial=0.0))


def _worst(errors: Floats, names: tuple[str, ...]) -> str:
    """(n, H, k) → the name of the column with the largest error; empty without columns."""
    return names[int(np.where(np.isnan(errors), 0.0, errors).max(axis=(0, 1)).argmax())] if names else ""
