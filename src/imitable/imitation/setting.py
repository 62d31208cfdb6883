# SPDX-License-Identifier: MIT
"""What a run's result depends on, as `setting.json` says it. Nothing that stands in such a file is ever imported."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from importlib.metadata import version
from typing import Any, cast

import numpy as np

from imitable.evaluation.evaluate import Episodes
from imitable.types import Demonstrations, Episode, Weights

SCHEMA = 2
"""Of run folders."""

UNCOMPARED = ("versions", "sources", "scores")
"""What does not decide whether a run can go on: where it ran and where its files lie."""


@dataclass(frozen=True)
class Setting:
    """Everything that a run's result depends on."""

    imitator: str
    """The robot, as text."""
    imitator_hash: str
    """Of its compiled model."""
    method: str
    """The learner as the text that makes it again: `gaifo:length=64`."""
    steps: int
    """Control steps that it may learn from."""
    seed: int
    """Of everything random."""
    episodes: Episodes
    """Of the evaluation: with each kind of actions, or with mean and with sampled ones."""
    reward: str | None
    """Dotted name of the function that the evaluation counts returns by."""
    horizon: int | None
    """Steps of an episode of a robot without a task, if they were given."""
    demonstrations: int
    """How many."""
    demonstrations_hash: str
    """Of their contents, in order."""
    weights: str | None
    """Hash of the weights; None: every transition counts the same."""
    scores: str | None
    """Score file that the weights are from."""
    sources: tuple[str, ...]
    """Folders of the demonstrations; empty text: they were in memory."""
    versions: dict[str, str]
    """Of the packages that compute."""
    evaluate_best: bool = True
    """Whether the best policy on the way was evaluated, too."""
    method_hash: str = ""
    """Of all settings of the learner: its text names only what differs from defaults, which another version may change."""

    def differing(self, other: "Setting") -> list[str]:
        """Return the names of what decides whether a run can go on, and is not the same."""
        names = (field.name for field in fields(self) if field.name not in UNCOMPARED)
        return [name for name in names if getattr(self, name) != getattr(other, name)]


def installed_versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {name: version(name) for name in ("imitable", "mujoco", "jax", "numpy")}


def hash_of(setting: Setting) -> str:
    """Return a hash of what decides whether a run can go on."""
    content = {name: value for name, value in asdict(setting).items() if name not in UNCOMPARED}
    return _hash(json.dumps(content, sort_keys=True).encode())


def episodes_hash(episodes: Sequence[Episode]) -> str:
    """Return a hash of which demonstrations a run was given, in which order."""
    return _hash(*(episode.hash.encode() for episode in episodes))


def weights_hash(weights: Weights, demos: Demonstrations) -> str:
    """Return a hash of the demonstrations' weights, in order."""
    segments = repr(weights.of_segments(demos)).encode() if weights.segments else b""
    return _hash(np.asarray(weights.of(demos)).tobytes() + segments)


def to_json(setting: Setting) -> dict[str, Any]:
    """Return the contents of `setting.json`."""
    return {"schema": SCHEMA, **asdict(setting)}


def from_json(content: dict[str, Any]) -> Setting:
    """Return what `to_json` was given; KeyError or TypeError if the content is something else."""
    names = [field.name for field in fields(Setting) if field.name in content or field.default is MISSING]
    values: dict[str, Any] = {name: content[name] for name in names}
    values["sources"] = tuple(values["sources"])
    if isinstance(values["episodes"], list):
        values["episodes"] = tuple(cast(list[int], values["episodes"]))
    return Setting(**values)


def _hash(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:32]
