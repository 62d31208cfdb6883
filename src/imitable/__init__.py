# SPDX-License-Identifier: MIT
"""Which demonstrations, recorded on other bodies, can your robot imitate?

Names load on first use, so that `import imitable` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from imitable.acquisition import acquire
    from imitable.demos.collect import collect
    from imitable.demos.part import Part
    from imitable.demos.store import read, write
    from imitable.evaluation.evaluate import evaluate
    from imitable.evaluation.result import Performance, PolicyEvaluation, RunEvaluation
    from imitable.feasibility.explain import explain
    from imitable.feasibility.score import Measuring, score, weigh
    from imitable.feasibility.score_files import read_scores, write_scores
    from imitable.feasibility.scores import Scores
    from imitable.files import Output
    from imitable.imitation.evaluate_run import evaluate_run
    from imitable.imitation.imitate import imitate
    from imitable.imitation.run import Imitated, Run
    from imitable.observer import Observer
    from imitable.policies.files import load_policy, save_policy
    from imitable.policies.onnx import save_onnx
    from imitable.policies.shipped import policy_for
    from imitable.projection import project
    from imitable.report.page import write_report
    from imitable.rl.expert import Execution, Goal, Start, Stopping, train
    from imitable.robots.parse import parse_robot as robot
    from imitable.sim.task import Locomotion
    from imitable.types import Demonstrations, InMemory, Policy, Trajectory, Weights

_HOMES = {
    "acquire": "imitable.acquisition",
    "explain": "imitable.feasibility.explain",
    "Measuring": "imitable.feasibility.score",
    "score": "imitable.feasibility.score",
    "weigh": "imitable.feasibility.score",
    "read_scores": "imitable.feasibility.score_files",
    "write_scores": "imitable.feasibility.score_files",
    "collect": "imitable.demos.collect",
    "read": "imitable.demos.store",
    "write": "imitable.demos.store",
    "policy_for": "imitable.policies.shipped",
    "robot": "imitable.robots.parse:parse_robot",
    "Output": "imitable.files",
    "Observer": "imitable.observer",
    "imitate": "imitable.imitation.imitate",
    "Imitated": "imitable.imitation.run",
    "Run": "imitable.imitation.run",
    "evaluate": "imitable.evaluation.evaluate",
    "evaluate_run": "imitable.imitation.evaluate_run",
    "Performance": "imitable.evaluation.result",
    "PolicyEvaluation": "imitable.evaluation.result",
    "RunEvaluation": "imitable.evaluation.result",
    "project": "imitable.projection",
    "write_report": "imitable.report.page",
    "Execution": "imitable.rl.expert",
    "Goal": "imitable.rl.expert",
    "Start": "imitable.rl.expert",
    "Stopping": "imitable.rl.expert",
    "train": "imitable.rl.expert",
    "Locomotion": "imitable.sim.task",
    "save_onnx": "imitable.policies.onnx",
    "load_policy": "imitable.policies.files",
    "save_policy": "imitable.policies.files",
    "Demonstrations": "imitable.types",
    "InMemory": "imitable.types",
    "Part": "imitable.demos.part",
    "Policy": "imitable.types",
    "Scores": "imitable.feasibility.scores",
    "Trajectory": "imitable.types",
    "Weights": "imitable.types",
}

__all__ = [
    "Demonstrations",
    "Execution",
    "Goal",
    "Imitated",
    "InMemory",
    "Locomotion",
    "Measuring",
    "Observer",
    "Output",
    "Part",
    "Performance",
    "Policy",
    "PolicyEvaluation",
    "Run",
    "RunEvaluation",
    "Scores",
    "Start",
    "Stopping",
    "Trajectory",
    "Weights",
    "acquire",
    "collect",
    "evaluate",
    "evaluate_run",
    "explain",
    "imitate",
    "load_policy",
    "policy_for",
    "project",
    "read",
    "read_scores",
    "robot",
    "save_onnx",
    "save_policy",
    "score",
    "train",
    "weigh",
    "write",
    "write_report",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'imitable' has no attribute {name!r}; it has {', '.join(__all__)}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
