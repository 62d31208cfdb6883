# SPDX-License-Identifier: MIT
"""Which demonstrations, recorded on other bodies, can your robot imitate?

Names load on first use, so that `import imitable` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from imitable.acquisition import Advice, acquire
    from imitable.demos.collect import collect
    from imitable.demos.conversion.convert import Conversion, convert
    from imitable.demos.conversion.other_arm import OtherArm
    from imitable.demos.conversion.proposal import MappingOptions
    from imitable.demos.part import Part
    from imitable.demos.store import read, write
    from imitable.demos.waypoints import mode_counts, waypoint_demonstrations
    from imitable.drivers.limits import Safety
    from imitable.drivers.play import PlayedEpisode, Session, play
    from imitable.errors import ImitableError
    from imitable.evaluation.evaluate import evaluate
    from imitable.evaluation.reference import Reference
    from imitable.evaluation.result import Performance, PolicyEvaluation, ProjectionCount, RunEvaluation
    from imitable.exporters.export import Exported, export
    from imitable.feasibility.explain import Explanation, explain
    from imitable.feasibility.merge import merge
    from imitable.feasibility.score import Measuring, score, weigh
    from imitable.feasibility.score_files import read_scores, write_scores
    from imitable.feasibility.scorer import Measured, Scorer, ScoringJob
    from imitable.feasibility.scores import Scores
    from imitable.feasibility.shards import Shard
    from imitable.feasibility.uncertainty import Uncertainty, uncertain
    from imitable.files import Output
    from imitable.imitation.evaluate_run import evaluate_run
    from imitable.imitation.gaits import GaitDistance, gait_distances
    from imitable.imitation.imitate import imitate
    from imitable.imitation.learner import Learner, LearningJob, Training
    from imitable.imitation.run import Imitated, Run
    from imitable.imitation.transitions import WeightedTransitions, reference_of, weighted_transitions
    from imitable.observer import Observer
    from imitable.policies.files import load_policy, save_policy
    from imitable.policies.onnx import save_onnx
    from imitable.policies.shipped import policy_for
    from imitable.projection import Projected, project
    from imitable.report.page import write_report
    from imitable.rl.expert import Execution, Expert, Goal, Start, Stopping, train
    from imitable.rl.progress import Progress
    from imitable.rl.settings import Ppo, Trpo
    from imitable.robots.family import RobotFamily
    from imitable.robots.parse import parse_robot as robot
    from imitable.robots.robot import Robot
    from imitable.runtime import one_thread
    from imitable.sim.babble import babble, scales
    from imitable.sim.own_task import own_task
    from imitable.sim.reach import Reach
    from imitable.sim.task import Free, Locomotion
    from imitable.testing import check_learner, check_scorer
    from imitable.tracking.attempts import Trace, trace_without_rollout
    from imitable.tracking.inverse_dynamics import joints
    from imitable.types import Demonstrations, Episode, InMemory, Layout, Policy, Trajectory, Weights, by_demonstrator

_HOMES = {
    "Advice": "imitable.acquisition",
    "acquire": "imitable.acquisition",
    "collect": "imitable.demos.collect",
    "Conversion": "imitable.demos.conversion.convert",
    "convert": "imitable.demos.conversion.convert",
    "MappingOptions": "imitable.demos.conversion.proposal",
    "OtherArm": "imitable.demos.conversion.other_arm",
    "Part": "imitable.demos.part",
    "read": "imitable.demos.store",
    "write": "imitable.demos.store",
    "mode_counts": "imitable.demos.waypoints",
    "waypoint_demonstrations": "imitable.demos.waypoints",
    "Safety": "imitable.drivers.limits",
    "PlayedEpisode": "imitable.drivers.play",
    "Session": "imitable.drivers.play",
    "play": "imitable.drivers.play",
    "ImitableError": "imitable.errors",
    "evaluate": "imitable.evaluation.evaluate",
    "Reference": "imitable.evaluation.reference",
    "Performance": "imitable.evaluation.result",
    "PolicyEvaluation": "imitable.evaluation.result",
    "ProjectionCount": "imitable.evaluation.result",
    "RunEvaluation": "imitable.evaluation.result",
    "Exported": "imitable.exporters.export",
    "export": "imitable.exporters.export",
    "Explanation": "imitable.feasibility.explain",
    "explain": "imitable.feasibility.explain",
    "merge": "imitable.feasibility.merge",
    "Measuring": "imitable.feasibility.score",
    "score": "imitable.feasibility.score",
    "weigh": "imitable.feasibility.score",
    "read_scores": "imitable.feasibility.score_files",
    "write_scores": "imitable.feasibility.score_files",
    "Measured": "imitable.feasibility.scorer",
    "Scorer": "imitable.feasibility.scorer",
    "ScoringJob": "imitable.feasibility.scorer",
    "Scores": "imitable.feasibility.scores",
    "Shard": "imitable.feasibility.shards",
    "Uncertainty": "imitable.feasibility.uncertainty",
    "uncertain": "imitable.feasibility.uncertainty",
    "Output": "imitable.files",
    "evaluate_run": "imitable.imitation.evaluate_run",
    "GaitDistance": "imitable.imitation.gaits",
    "gait_distances": "imitable.imitation.gaits",
    "imitate": "imitable.imitation.imitate",
    "Learner": "imitable.imitation.learner",
    "LearningJob": "imitable.imitation.learner",
    "Training": "imitable.imitation.learner",
    "Imitated": "imitable.imitation.run",
    "Run": "imitable.imitation.run",
    "WeightedTransitions": "imitable.imitation.transitions",
    "reference_of": "imitable.imitation.transitions",
    "weighted_transitions": "imitable.imitation.transitions",
    "Observer": "imitable.observer",
    "load_policy": "imitable.policies.files",
    "save_policy": "imitable.policies.files",
    "save_onnx": "imitable.policies.onnx",
    "policy_for": "imitable.policies.shipped",
    "Projected": "imitable.projection",
    "project": "imitable.projection",
    "write_report": "imitable.report.page",
    "Execution": "imitable.rl.expert",
    "Expert": "imitable.rl.expert",
    "Goal": "imitable.rl.expert",
    "Start": "imitable.rl.expert",
    "Stopping": "imitable.rl.expert",
    "train": "imitable.rl.expert",
    "Progress": "imitable.rl.progress",
    "Ppo": "imitable.rl.settings",
    "Trpo": "imitable.rl.settings",
    "RobotFamily": "imitable.robots.family",
    "robot": "imitable.robots.parse:parse_robot",
    "Robot": "imitable.robots.robot",
    "one_thread": "imitable.runtime",
    "babble": "imitable.sim.babble",
    "scales": "imitable.sim.babble",
    "own_task": "imitable.sim.own_task",
    "Reach": "imitable.sim.reach",
    "Free": "imitable.sim.task",
    "Locomotion": "imitable.sim.task",
    "check_learner": "imitable.testing",
    "check_scorer": "imitable.testing",
    "Trace": "imitable.tracking.attempts",
    "trace_without_rollout": "imitable.tracking.attempts",
    "joints": "imitable.tracking.inverse_dynamics",
    "Demonstrations": "imitable.types",
    "Episode": "imitable.types",
    "InMemory": "imitable.types",
    "Layout": "imitable.types",
    "Policy": "imitable.types",
    "Trajectory": "imitable.types",
    "Weights": "imitable.types",
    "by_demonstrator": "imitable.types",
}
"""Where each public name lives."""

__all__ = [
    "Advice",
    "Conversion",
    "Demonstrations",
    "Episode",
    "Execution",
    "Expert",
    "Explanation",
    "Exported",
    "Free",
    "GaitDistance",
    "Goal",
    "ImitableError",
    "Imitated",
    "InMemory",
    "Layout",
    "Learner",
    "LearningJob",
    "Locomotion",
    "MappingOptions",
    "Measured",
    "Measuring",
    "Observer",
    "OtherArm",
    "Output",
    "Part",
    "Performance",
    "PlayedEpisode",
    "Policy",
    "PolicyEvaluation",
    "Ppo",
    "Progress",
    "Projected",
    "ProjectionCount",
    "Reach",
    "Reference",
    "Robot",
    "RobotFamily",
    "Run",
    "RunEvaluation",
    "Safety",
    "Scorer",
    "Scores",
    "ScoringJob",
    "Session",
    "Shard",
    "Start",
    "Stopping",
    "Trace",
    "Training",
    "Trajectory",
    "Trpo",
    "Uncertainty",
    "WeightedTransitions",
    "Weights",
    "acquire",
    "babble",
    "by_demonstrator",
    "check_learner",
    "check_scorer",
    "collect",
    "convert",
    "evaluate",
    "evaluate_run",
    "explain",
    "export",
    "gait_distances",
    "imitate",
    "joints",
    "load_policy",
    "merge",
    "mode_counts",
    "one_thread",
    "own_task",
    "play",
    "policy_for",
    "project",
    "read",
    "read_scores",
    "reference_of",
    "robot",
    "save_onnx",
    "save_policy",
    "scales",
    "score",
    "trace_without_rollout",
    "train",
    "uncertain",
    "waypoint_demonstrations",
    "weigh",
    "weighted_transitions",
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
