# SPDX-License-Identifier: MIT
"""Why a demonstration fails: where it diverges, which entries fail, what forces it needs, which knob would have to move."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable.errors import BadOption
from imitable.feasibility.ladders import Ladder, ladders
from imitable.feasibility.reach import OutOfReach, out_of_reach
from imitable.feasibility.reasons import BrokenLimit, FailingEntry, NeededForce, broken_limits, failing_entries, needed_forces
from imitable.feasibility.remedy import remedy
from imitable.feasibility.score import measured_again
from imitable.feasibility.scores import Scores
from imitable.feasibility.sources import Sources
from imitable.feasibility.static_checks import static_checks
from imitable.feasibility.step_files import read_steps
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.tracking.attempts import Trace
from imitable.types import Demonstrations, Episode, Trajectory


@dataclass(frozen=True)
class Explanation:
    """All that is known of one demonstration's failure."""

    demonstrator: str
    share: float
    verdict: str
    first_divergence: int | None
    """Step, or None."""
    first_divergence_s: float | None
    entries: tuple[FailingEntry, ...]
    """The worst first."""
    limits: tuple[BrokenLimit, ...]
    """Joints that would have to leave their range, the farthest first."""
    forces: tuple[NeededForce, ...]
    """Joints that would need more force than they have, the worst first."""
    ladders: tuple[Ladder, ...]
    followed: float
    """Part of the movement that was followed; NaN of a method without rollouts."""
    lost_at: tuple[float, ...]
    """Seconds at which an attempt was lost, or what is impossible begins."""
    impossible: tuple[str, ...]
    """Where the states alone rule the movement out, in words."""
    worst_s: float
    """When the attempt was farthest from the demonstration."""
    out_of_reach: OutOfReach | None = None
    """Where an arm cannot bring its tool."""
    remedy: str = ""
    """Knob values with which the whole motion is within torque, range and speed, in words."""
    fall: str = ""
    """How the imitator lies at the end of an attempt, in words; empty if it did not fall."""

    @property
    def lines(self) -> list[str]:
        """The explanation as sentences."""
        lines = [f"{self.verdict}: a share of {self.share:.2f} of what doing nothing leaves remains"]
        if np.isfinite(self.followed):
            where = "; lost at " + ", ".join(f"{second:.1f} s" for second in self.lost_at[:6]) if self.lost_at else ""
            lines.append(f"followed for {self.followed:.0%} of the movement{where}; farthest from it at {self.worst_s:.1f} s")
        if self.first_divergence is None:
            lines.append("it never leaves the demonstration for good within the judged steps")
        else:
            lines.append(f"it diverges at step {self.first_divergence} ({self.first_divergence_s:.2f} s)")
        lines += [] if self.out_of_reach is None else [self.out_of_reach.sentence]
        lines += [self.fall] if self.fall else []
        lines += list(self.impossible[:3])
        lines += [self.remedy] if self.remedy else []
        for entry in self.entries[:3]:
            lines.append(f"{entry.name} is off by {entry.gap:.3g} on average, {entry.in_scales:.1f} times its usual spread")
        for broken in self.limits[:4]:
            lines.append(f"{broken.joint} would have to go to {broken.reaches:.3g}, its limit is {broken.limit:.3g}")
        for force in self.forces[:4]:
            has = f"has {force.available:.3g}" if force.available else "nothing drives it"
            lines.append(f"{force.joint} would need {force.needed:.3g} {force.unit}, {has}")
        return [*lines, *(ladder.sentence for ladder in self.ladders)]


def explain(scores: Scores, place: int, demos: Demonstrations | None = None, *, threads: int = 1) -> Explanation:
    """Explain what became of the demonstration at `place` of the scores.

    Args:
        scores: of `score` or `read_scores`.
        place: its row.
        demos: where to find it, in any order; None: in the folder that the scores name.
        threads: threads of the simulator; results do not depend on it.

    What its method saw is read from the steps beside the score file; without them, the demonstration is measured again.
    """
    if not 0 <= place < len(scores):
        raise BadOption("place", place, f"give the row of a demonstration, 0 to {len(scores) - 1}")
    trajectory = _demonstration(scores.episodes[place], demos, scores.path)
    trace = None if scores.path is None else read_steps(scores.path, trajectory.hash)
    return explained(scores, place, trajectory, trace or measured_again(scores, trajectory, threads=threads), threads=threads)


def _demonstration(episode: Episode, demos: Demonstrations | None, path: Path | None) -> Trajectory:
    """Find a scored demonstration again."""
    if demos is not None:
        places = {one.hash: place for place, one in enumerate(demos.episodes)}
        trajectory = demos[places[episode.hash]] if episode.hash in places else None
    else:
        trajectory = Sources(Path() if path is None else path.parent).trajectory(episode)
    if trajectory is None:
        where = "the set given" if demos is not None else episode.source or "memory"
        raise BadOption("demos", where, f"it does not hold episode {episode.index} as it was scored; give the scored set")
    return trajectory


def _spans(imitator: Robot, trajectory: Trajectory) -> tuple[str, ...]:
    """Return what static checks find, what is certain first, then by size over limit: the worst span of every kind."""
    found = static_checks(imitator, trajectory.states).spans
    order = sorted(found, key=lambda span: (not span.certain, -span.size / max(span.limit, 1e-9)))
    worst = {span.kind: span for span in reversed(order)}
    return tuple(span.sentence for span in order if worst[span.kind] is span)


def _fall(scores: Scores, place: int) -> str:
    if not scores.fell[place]:
        return ""
    tilt = np.degrees(float(scores.tilt_error_rad[place]))
    return f"it falls: its root is off by up to {float(scores.height_error_m[place]):.2f} m in height and {tilt:.0f}° in tilt"


def explained(scores: Scores, place: int, trajectory: Trajectory, trace: Trace, *, threads: int = 1) -> Explanation:
    """Explain a row of the scores; `trace` is what its method saw of `trajectory`."""
    imitator = parse_robot(scores.imitator)
    step = int(scores.first_divergence[place])
    after, last = trace.steps >= max(step, 0), int(trace.steps.max())
    failed = scores.verdict[place] != "feasible"  # reasons are only for what is not
    return Explanation(
        demonstrator=trajectory.demonstrator,
        share=float(scores.share[place]),
        verdict=scores.verdict[place],
        first_divergence=step if step >= 0 else None,
        first_divergence_s=step * imitator.layout.period_s if step >= 0 else None,
        entries=failing_entries(imitator, trace.states[after], trajectory.states[trace.steps[after]]),
        limits=broken_limits(trajectory, imitator, last) if failed else (),
        forces=needed_forces(trajectory, imitator, last) if failed else (),
        ladders=ladders(trajectory, imitator, scores, threads=threads) if failed else (),
        followed=float(scores.followed[place]),
        lost_at=scores.lost_at[place],
        impossible=_spans(imitator, trajectory) if failed else (),
        remedy=remedy(imitator, trajectory.states).sentence if failed else "",
        out_of_reach=out_of_reach(imitator, trajectory),
        fall=_fall(scores, place),
        worst_s=float(trace.steps[int(np.argmax(trace.errors))] * imitator.layout.period_s),
    )
