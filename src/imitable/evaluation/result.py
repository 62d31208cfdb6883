# SPDX-License-Identifier: MIT
"""What an evaluation finds, as typed results; `evaluation.json` has the same names, and leaves out what is not known."""

from dataclasses import asdict, dataclass
from typing import Any, cast


@dataclass(frozen=True)
class Performance:
    """A policy's episodes with one kind of actions. None: not known, such as a return without a reward.

    Fractions are between 0 and 1; `imitable.evaluation.occupancy` says what is measured.
    """

    episodes: int
    """E."""
    length_mean: float
    """Mean number of transitions."""
    falls: int
    """Episodes that ended by a fall."""
    lengths: tuple[int, ...]
    """(E) transitions."""
    terminated: tuple[bool, ...]
    """(E) whether each ended by a fall."""
    return_mean: float | None = None
    """Mean return, by the task or by a user's reward."""
    return_std: float | None = None
    """Its deviation between episodes."""
    return_min: float | None = None
    """The lowest."""
    returns: tuple[float, ...] | None = None
    """(E) undiscounted returns."""
    occupancy: float | None = None
    """Distance between visited and demonstrated states; of a robot without a task."""
    floor: float | None = None
    """The same distance between every other demonstration and the rest."""
    length: float | None = None
    """Mean number of transitions, not rounded."""
    limit_violations: float | None = None
    """Fraction of visited states with a joint beyond its range."""
    contact_violations: float | None = None
    """Fraction of visited states with two geoms inside each other."""
    demonstrated_limit_violations: float | None = None
    """The same fraction of demonstrated states."""
    demonstrated_contact_violations: float | None = None
    """The same fraction of demonstrated states."""


@dataclass(frozen=True)
class PolicyEvaluation:
    """One policy, by the same start states twice."""

    mean_actions: Performance
    sampled_actions: Performance

    def by_actions(self) -> tuple[tuple[str, Performance], ...]:
        """Return both, with the kind of actions as a word for tables."""
        return ("mean", self.mean_actions), ("sampled", self.sampled_actions)


@dataclass(frozen=True)
class ProjectionCount:
    """What it took to project demonstrations before learning from them."""

    steps: int
    """Simulated control steps; they are part of the run's."""
    kept: int
    """Pieces of demonstrations that the imitator could follow."""
    dropped: int
    """Pieces that it lost, or fell in."""


@dataclass(frozen=True)
class RunEvaluation:
    """The policies of one run."""

    imitator: str
    """The robot, as text."""
    last: PolicyEvaluation
    """The final policy: the result."""
    best: PolicyEvaluation | None
    """The policy with the best return on the way; None without a task reward, or if nobody asked."""
    projection: ProjectionCount | None = None
    """What the run projected before it learned; None: nothing."""

    def by_policy(self) -> tuple[tuple[str, str, Performance], ...]:
        """Return (policy, actions, performance) of all that were evaluated."""
        policies = (("last", self.last), ("best", self.best))
        return tuple(
            (name, actions, performance)
            for name, policy in policies
            if policy is not None
            for actions, performance in policy.by_actions()
        )


def to_json(evaluation: RunEvaluation) -> dict[str, Any]:
    """Return the contents of `evaluation.json`."""
    best = None if evaluation.best is None else policy_to_json(evaluation.best)
    projected = {} if evaluation.projection is None else {"projection": asdict(evaluation.projection)}
    return {"imitator": evaluation.imitator, "last": policy_to_json(evaluation.last), "best": best, **projected}


def policy_to_json(evaluation: PolicyEvaluation) -> dict[str, Any]:
    """Return one policy's part of it; JSON has no NaN: what is not known is left out."""
    return {
        f"{actions}_actions": {name: value for name, value in asdict(performance).items() if value is not None}
        for actions, performance in evaluation.by_actions()
    }


def from_json(content: dict[str, Any]) -> RunEvaluation:
    """Return what `to_json` was given; KeyError or TypeError if the content is something else."""
    best = None if content["best"] is None else _policy(content["best"])
    projection = ProjectionCount(**content["projection"]) if "projection" in content else None
    return RunEvaluation(content["imitator"], _policy(content["last"]), best, projection)


def _policy(content: dict[str, Any]) -> PolicyEvaluation:
    return PolicyEvaluation(_performance(content["mean_actions"]), _performance(content["sampled_actions"]))


def _performance(content: dict[str, Any]) -> Performance:
    values: dict[str, Any] = {name: _tuple(value) for name, value in content.items()}
    return Performance(**values)


def _tuple(value: Any) -> Any:
    return tuple(cast(list[Any], value)) if isinstance(value, list) else value
