# SPDX-License-Identifier: MIT
"""Direct: no learning. A tracker asks the simulator itself for the actions that follow a demonstration.

Forms: `windows` follows from its own state (as the trajectory f-MDP) in several windows of the demonstration, `restart` begins
every step in the demonstrated state (as the one-step f-MDP). Windows have two stages: the greedy tracker of every step
(`tracking/follow.py`), and one that plans (`tracking/planner.py`) where greed may be the reason of a failure. Of the two
the smaller distance counts, so that the second stage can only tighten what the first one found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from imitable import seeding
from imitable.feasibility.scorer import GREEDY, PLANNED, Measured, ScoringJob
from imitable.feasibility.spans import Span, impossible
from imitable.feasibility.spread import as_distance, spread_steps
from imitable.feasibility.unusual import GEOMETRY, unusual
from imitable.robots.robot import Robot
from imitable.sim.babble import scales
from imitable.sim.kinematics import own_starts, within_limits
from imitable.sim.objects import has_objects, own_entries
from imitable.spec_text import OneOf, Range, check_fields
from imitable.tracking.attempts import Attempts, Pieces, Trace, compare_attempts, discounted_share
from imitable.tracking.certificate import certificate
from imitable.tracking.follow import Followed, follow, passive_rollout
from imitable.tracking.planner import Bound, Planner, follow_with_plans
from imitable.tracking.solver import GUESSES, Lanes, Solver
from imitable.types import Bools, Floats, Ints, Trajectory

BLOCK = 256
"""Attempts that are simulated side by side, each with about ten candidates: more would only take memory."""

EFFORTS: dict[str, tuple[int, int]] = {"quick": (100, 3), "standard": (200, 3), "thorough": (400, 6)}
"""Effort: control steps of a demonstration that are followed, about, and windows at most. One window there always is."""

WALK_COST, PLAN_COST = 1.4, 8
"""Simulated steps an actuator that the stages take a step of a window, roughly: for an estimate before a long job."""

MAY_BE_GREED = (0.02, 0.35)
"""Shares of the first stage between which `standard` plans: below, nothing is to be gained; above, no plan ever made it."""

LEADS = (0.5, 0.0)
"""Plans begin so many of their lengths before an attempt begins to fail, one after the other: to prepare, or to save."""


@dataclass(frozen=True)
class Direct:
    """Settings of the direct scorer."""

    rule: ClassVar[str] = "share"
    alone: ClassVar[bool] = True
    form: Annotated[str, OneOf("windows", "restart")] = "windows"
    """windows or restart."""
    effort: Annotated[str, OneOf(*EFFORTS)] = "standard"
    """quick: the greedy tracker alone; standard: more windows, plans where they may help; thorough: yet more, and for all."""
    window_s: Annotated[float, Range(1e-3, 10**6)] = 0.8
    """Seconds of a window."""
    windows: Annotated[int, Range(0, 1000)] = 0
    """Windows of a demonstration, the first at its start; 0: as many as the effort pays for."""
    transitions: Annotated[int, Range(1, 10**6)] = 100
    """Transitions of the form `restart`, spread over the demonstration."""
    restart_budget: Annotated[int, Range(0, 10**6)] = 300
    """Simulated steps for new beginnings of the search, a window."""
    jitter: Annotated[float, Range(0, 1)] = 0.0
    """Noise on what windows follow, in scales of the imitator's own movements: what of a score is the tracker's luck?"""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> "_Windows | _Restarts":
        """Return the measurer: there is nothing to learn."""
        return _Windows(self, job) if self.form == "windows" else _Restarts(self, job)

    def window_steps(self, imitator: Robot) -> int:
        """Return the control steps of a window."""
        return max(1, round(self.window_s / imitator.layout.period_s))

    def steps_each(self, imitator: Robot) -> int:
        """Return about how many simulated steps a demonstration takes."""
        steps, actuators = self.window_steps(imitator), len(imitator.layout.actuators)
        greedy = (GUESSES + WALK_COST * (actuators + 2)) * steps + self.restart_budget
        planned = {"quick": 0.0, "standard": 0.3, "thorough": 1.0}[self.effort] * PLAN_COST * actuators * steps
        return round(self.window_count(steps) * (greedy + planned))

    def window_count(self, steps: int) -> int:
        """Return how many windows of so many control steps are followed."""
        most_steps, most = EFFORTS[self.effort]
        return self.windows or min(max(1, most_steps // steps), most)


class _Tracker:
    """What both forms share."""

    def __init__(self, method: Direct, job: ScoringJob) -> None:
        self._method, self._job = method, job
        self._lanes = Lanes(job.imitator, _scale_without_objects(job), job.threads)
        self._solver = Solver(restart_budget=method.restart_budget)

    @cached_property
    def about(self) -> dict[str, object]:
        """The certificate of the solver on this body, and how many pieces of a demonstration are judged."""
        solved = certificate(self._lanes, self._solver, self._job.demos, self._job.seed)
        return {"certificate": solved, "attempts": self._attempts}

    @property
    def _attempts(self) -> int:
        return 1

    @property
    def _repeats(self) -> int:
        return self._job.rollouts if self._job.imitator.noise else 1

    def _pieces(self, begins: Sequence[Ints], lengths: Sequence[int]) -> Pieces:
        """Return pieces that begin at `begins[i]` (K) of demonstration i, each as often as a noisy body is rolled out."""
        rows: list[tuple[int, int, int, int]] = []
        for owner, (steps, length) in enumerate(zip(begins, lengths, strict=True)):
            numbers = np.arange(len(steps) * self._repeats).tolist()
            rows += [(owner, number, int(steps[number // self._repeats]), length) for number in numbers]
        return Pieces(*np.array(rows, np.int64).T)

    def _noise(self, trajectories: Sequence[Trajectory], pieces: Pieces, steps: int) -> Floats | None:
        job = self._job
        return pieces.disturbances(trajectories, job.imitator, steps, job.seed) if job.imitator.noise else None

    def _greedy(self, trajectories: Sequence[Trajectory], pieces: Pieces, targets: Floats) -> Attempts:
        """Follow targets (n, H + 1, S) step by step, and let the passive imitator go from the same starts."""
        steps = int(targets.shape[1]) - 1
        blocks = list[tuple[Floats, Floats, Floats]]()
        for begin in range(0, len(targets), BLOCK):
            part, wanted = pieces.part(begin, BLOCK), targets[begin : begin + BLOCK]
            noise = self._noise(trajectories, part, steps)
            followed = follow(self._lanes, self._solver, wanted, part.lengths, self._job.seed, disturbances=noise)
            blocks.append((followed.states, followed.actions, passive_rollout(self._lanes, wanted[:, 0], steps, noise)))
        states, actions, passive = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
        return compare_attempts(self._job.ruler, pieces, targets[:, 1:], Followed(states, actions), passive)


class _Windows(_Tracker):
    """The form `windows` at work."""

    def __init__(self, method: Direct, job: ScoringJob) -> None:
        super().__init__(method, job)
        self.horizon = method.window_steps(job.imitator)
        self._planner, self._planning = Planner(), Lanes(job.imitator, _compared_scale(job), job.threads)
        self._ahead = self._planner.ahead(job.imitator.layout.period_s)

    @property
    def _attempts(self) -> int:
        return self._method.window_count(self.horizon)

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent + self._planning.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Follow windows of all of them, a block of attempts side by side."""
        lengths = [min(self.horizon, len(trajectory)) for trajectory in trajectories]
        spans = [unusual(self._job.imitator, trajectory.states).spans for trajectory in trajectories]
        begins = [self._begins(trajectory, seen) for trajectory, seen in zip(trajectories, spans, strict=True)]
        pieces = self._pieces(begins, lengths)
        targets = pieces.states(trajectories, max(lengths) + self._ahead)
        targets[:, 0] = within_limits(self._job.imitator, targets[:, 0])
        if self._method.jitter:
            targets[:, 1:] = self._jittered(trajectories, pieces, targets[:, 1:])
        greedy = self._greedy(trajectories, pieces, targets[:, : max(lengths) + 1])
        owned = [np.flatnonzero(pieces.owners == owner) for owner in range(len(trajectories))]
        shares = np.array([greedy.share(self._job.ruler, rows)[0] for rows in owned])
        chosen: Bools = self._planned(shares)
        best = greedy if not chosen.any() else self._tightened(trajectories, greedy, targets, chosen[pieces.owners])
        stages = np.where(chosen, PLANNED, GREEDY)
        measured = [self._measured(rows, best, int(stage)) for rows, stage in zip(owned, stages, strict=True)]
        wholes = zip(measured, trajectories, spans, strict=True)
        return [_as_a_whole(one, len(trajectory), found) for one, trajectory, found in wholes]

    def _begins(self, trajectory: Trajectory, spans: Sequence[Span]) -> Ints:
        """Return where windows begin; `quick` looks at no span that they miss."""
        return window_begins(trajectory, self.horizon, self._attempts, () if self._method.effort == "quick" else spans)

    def _jittered(self, trajectories: Sequence[Trajectory], pieces: Pieces, targets: Floats) -> Floats:
        """(n, H, S) → (n, H, S) with noise of its own on every piece."""
        ruler, shape = self._job.ruler, targets.shape[1:2]
        generators = pieces.generators(trajectories, self._job.seed, "jitter")
        noise = np.stack([rng.standard_normal((*shape, len(ruler.scale))) for rng in generators])
        return ruler.space.moved(targets, self._method.jitter * ruler.scale * noise)

    def _planned(self, shares: Floats) -> Bools:
        """(N) which demonstrations get the second stage: a fixed rule on the first one's share alone."""
        if self._method.effort == "standard":
            return (shares > MAY_BE_GREED[0]) & (shares < MAY_BE_GREED[1])
        return np.full(len(shares), self._method.effort == "thorough")

    def _tightened(self, trajectories: Sequence[Trajectory], greedy: Attempts, targets: Floats, chosen: Bools) -> Attempts:
        """Plan the chosen attempts (n), too, and keep what is better, window by window."""
        best, rows = greedy, np.flatnonzero(chosen)
        size = max(1, BLOCK // self._repeats) * self._repeats  # the rollouts of a window are judged together
        blocks = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
        for lead in LEADS:
            best = self._replanned(trajectories, best, targets, blocks, round(lead * self._ahead))
        return best

    def _replanned(
        self, trajectories: Sequence[Trajectory], best: Attempts, targets: Floats, blocks: Sequence[Ints], lead: int
    ) -> Attempts:
        """Try to do better than the best attempts so far, with plans that begin `lead` steps before these begin to fail."""
        ruler, states, actions = self._job.ruler, best.states.copy(), best.actions.copy()
        for rows in blocks:
            planned, whole = self._plans(trajectories, best, targets, rows, lead)
            errors = ruler.errors(planned.states, targets[rows, 1 : planned.states.shape[1] + 1])
            distances = np.where(whole, ruler.discounted(errors), np.inf)
            won = self._window_means(distances) < self._window_means(best.distances(ruler, rows)[0])
            states[rows[won]], actions[rows[won]] = planned.states[won], planned.actions[won]
        followed = Followed(states, actions)
        made = compare_attempts(ruler, best.pieces, targets[:, 1 : states.shape[1] + 1], followed, best.states)
        return replace(made, passive_errors=best.passive_errors)

    def _plans(
        self, trajectories: Sequence[Trajectory], best: Attempts, targets: Floats, rows: Ints, lead: int
    ) -> tuple[Followed, Bools]:
        """Follow some attempts with plans, and say which (n) were not given up because they fell behind.

        A noisy body plans from the start and to the end: another draw might turn it.
        """
        pieces, steps = best.pieces.rows(rows), int(best.states.shape[1])
        noise = self._noise(trajectories, pieces, steps)
        begins = np.zeros(len(rows), np.int64) if noise is not None else self._failures(best, rows, lead)
        last = int(targets.shape[1]) - 1
        columns: Ints = np.minimum(begins[:, None] + np.arange(last + 1), last)
        within, branched = np.minimum(columns[:, :steps], steps - 1), begins > 0
        wanted = targets[rows[:, None], columns]
        wanted[branched, 0] = best.states[rows[branched], begins[branched] - 1]
        rivals = np.where(np.arange(steps) < (pieces.lengths - begins)[:, None], best.errors[rows[:, None], within], np.nan)
        planned, whole = follow_with_plans(
            self._planning,
            self._planner,
            wanted,
            pieces.lengths - begins,
            best.actions[rows[:, None], within],
            bound=Bound(self._job.ruler, rivals) if noise is None else None,
            disturbances=noise,
        )
        states, actions = best.states[rows], best.actions[rows]
        for row, begin in enumerate(begins.tolist()):
            states[row, begin:] = planned.states[row, : steps - begin]
            actions[row, begin:] = planned.actions[row, : steps - begin]
        return Followed(states, actions), whole

    def _failures(self, attempts: Attempts, rows: Ints, lead: int) -> Ints:
        """(n) steps, `lead` before the first at which the distance so far is a share that a plan may better, `MAY_BE_GREED`."""
        ruler = self._job.ruler
        weights = ruler.discount ** np.arange(int(attempts.errors.shape[1]))
        so_far = np.nancumsum(weights * attempts.errors[rows], axis=1)
        failing: Bools = so_far > MAY_BE_GREED[0] * attempts.distances(ruler, rows)[1][:, None]
        firsts = np.where(failing.any(axis=1), failing.argmax(axis=1), attempts.pieces.lengths[rows] - 1)
        return np.maximum(firsts - lead, 0)

    def _window_means(self, distances: Floats) -> Floats:
        """(n) → (n): of a noisy body the mean over a window's rollouts counts, not the luckiest of them."""
        return np.repeat(distances.reshape(-1, self._repeats).mean(axis=1), self._repeats)

    def _measured(self, rows: Ints, attempts: Attempts, stage: int) -> Measured:
        """Average the windows of one demonstration; E[distance] of a noisy body is the mean over its rollouts."""
        (distances, _), (share, spread) = attempts.distances(self._job.ruler, rows), attempts.share(self._job.ruler, rows)
        windows = np.unique(attempts.pieces.begins[rows])
        each = [attempts.share(self._job.ruler, rows[attempts.pieces.begins[rows] == begin])[0] for begin in windows]
        segments = tuple(zip(segment_begins(windows, self.horizon), each, strict=True))
        return Measured(float(distances.mean()), share, attempts.trace(rows), spread, stage, segments=segments)


class _Restarts(_Tracker):
    """The form `restart` at work."""

    def __init__(self, method: Direct, job: ScoringJob) -> None:
        super().__init__(method, job)
        self.horizon = method.transitions

    @property
    def spent(self) -> int:
        """Simulated control steps so far."""
        return self._lanes.spent

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Try single transitions of all of them."""
        begins = [spread_steps(trajectory, self.horizon) for trajectory in trajectories]
        pieces = self._pieces(begins, [1] * len(trajectories))
        targets = pieces.states(trajectories, 1)
        targets[:, 0] = own_starts(self._job.imitator, targets[:, 0])
        attempts = self._greedy(trajectories, pieces, targets)
        return [self._measured(np.flatnonzero(pieces.owners == owner), attempts) for owner in range(len(trajectories))]

    def _measured(self, rows: Ints, attempts: Attempts) -> Measured:
        """Average the one-step errors of one demonstration: none compounds, so that none counts more than another."""
        both = (attempts.errors, attempts.passive_errors)
        errors, passive = (array[rows, 0].reshape(-1, self._repeats).mean(axis=1) for array in both)
        firsts = rows[:: self._repeats]
        # every step is an attempt of its own: one that fails says nothing of the next
        trace = Trace(
            attempts.pieces.begins[firsts] + 1,
            np.arange(len(firsts)),
            errors,
            attempts.states[firsts, 0],
            attempts.actions[firsts, 0],
        )
        ruler, error = self._job.ruler, float(errors.mean())
        share = discounted_share(error, float(passive.mean()), ruler.step_floor)
        return Measured(as_distance(ruler, error, self.horizon), share, trace, stage=GREEDY)


def _as_a_whole(measured: Measured, length: int, spans: tuple[Span, ...]) -> Measured:
    """Count the part u of a movement that its states alone rule out: share ← share + u (1 − share)⁺.

    Windows see some of a movement, static checks all of it. Forces do not count here: where they look wrong, a window is.
    """
    certain = impossible([span for span in spans if span.kind in GEOMETRY], length)
    ends = [*(begin for begin, _ in measured.segments[1:]), length]
    segments = tuple(
        (begin, _with_impossible(share, certain[begin:end]))
        for (begin, share), end in zip(measured.segments, ends, strict=True)
    )
    return replace(measured, share=_with_impossible(measured.share, certain), spans=spans, segments=segments)


def _with_impossible(share: float, certain: Bools) -> float:
    """Return share + u (1 − share)⁺, u the part of steps that are certain to be impossible."""
    return share + float(certain.mean()) * max(0.0, 1 - share)


def segment_begins(windows: Ints, steps: int) -> list[int]:
    """Return where segments begin: each transition is of the window whose middle is nearest."""
    middles = windows + steps / 2
    return [0, *np.ceil((middles[1:] + middles[:-1]) / 2).astype(np.int64).tolist()]


def window_begins(trajectory: Trajectory, steps: int, count: int, spans: Sequence[Span] = ()) -> Ints:
    """Return where windows begin: the first at the start, the others where the episode's hash says, a stretch each.

    One more looks at the longest span that the others miss.
    """
    latest = len(trajectory) - steps
    if latest < 1:
        return np.zeros(1, np.int64)
    edges = np.linspace(min(steps, latest), latest, count)
    places = edges[:-1] + seeding.generator(0, "windows", trajectory.hash).random(count - 1) * np.diff(edges)
    begins = np.concatenate([[0], places.astype(np.int64)])
    missed = [span for span in spans if not ((begins < span.end) & (begins + steps > span.begin)).any()]
    if missed:
        longest = max(missed, key=lambda span: span.end - span.begin)
        begins = np.append(begins, np.clip(longest.begin - steps // 4, 0, latest))
    return np.unique(begins)


def _scale_without_objects(job: ScoringJob) -> Floats:
    """(2 nv) scale of the errors that every step makes small: infinite for objects that are not compared."""
    scale, space = scales(job.imitator).difference, job.ruler.space
    if job.imitator.tool is not None or not has_objects(job.imitator):
        return scale
    return np.where(space.tangent(~own_entries(job.imitator)) & ~job.ruler.compared, np.inf, scale)


def _compared_scale(job: ScoringJob) -> Floats:
    """(2 nv) scale of the errors that plans make small: the ruler's, and infinite where nothing is compared."""
    return np.where(job.ruler.compared, job.ruler.scale, np.inf)
