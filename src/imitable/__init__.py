# SPDX-License-Identifier: MIT
"""Which demonstrations, recorded on other bodies, can your robot imitate?

Names load on first use, so that `import imitable` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from imitable.acquisition import acquire
    from imitable.demonstrators.shipped import policy_for
    from imitable.demos.collect import collect
    from imitable.demos.store import read, write
    from imitable.dynamics.parse import robot
    from imitable.feasibility.explain import explain
    from imitable.feasibility.method import Measuring, score, weighed
    from imitable.feasibility.score_files import read_scores, write_scores
    from imitable.imitation.method import Imitated, imitate
    from imitable.projection import project
    from imitable.report.page import write_report
    from imitable.rl.expert import train
    from imitable.sim.onnx import save_onnx
    from imitable.sim.policy import load_policy, save_policy
    from imitable.sim.task import Locomotion
    from imitable.types import Demonstrations, InMemory, Part, Policy, Scores, Trajectory, Weights

_HOMES = {
    "acquire": "imitable.acquisition",
    "explain": "imitable.feasibility.explain",
    "Measuring": "imitable.feasibility.method",
    "score": "imitable.feasibility.method",
    "weighed": "imitable.feasibility.method",
    "read_scores": "imitable.feasibility.score_files",
    "write_scores": "imitable.feasibility.score_files",
    "collect": "imitable.demos.collect",
    "read": "imitable.demos.store",
    "write": "imitable.demos.store",
    "policy_for": "imitable.demonstrators.shipped",
    "robot": "imitable.dynamics.parse",
    "imitate": "imitable.imitation.method",
    "Imitated": "imitable.imitation.method",
    "project": "imitable.projection",
    "write_report": "imitable.report.page",
    "train": "imitable.rl.expert",
    "Locomotion": "imitable.sim.task",
    "save_onnx": "imitable.sim.onnx",
    "load_policy": "imitable.sim.policy",
    "save_policy": "imitable.sim.policy",
    "Demonstrations": "imitable.types",
    "InMemory": "imitable.types",
    "Part": "imitable.types",
    "Policy": "imitable.types",
    "Scores": "imitable.types",
    "Trajectory": "imitable.types",
    "Weights": "imitable.types",
}

__all__ = [
    "Demonstrations",
    "Imitated",
    "InMemory",
    "Locomotion",
    "Measuring",
    "Part",
    "Policy",
    "Scores",
    "Trajectory",
    "Weights",
    "acquire",
    "collect",
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
    "weighed",
    "write",
    "write_report",
    "write_scores",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    if name not in _HOMES:
        raise AttributeError(f"module 'imitable' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
