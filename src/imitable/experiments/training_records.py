# SPDX-License-Identifier: MIT
"""Records of training with a task reward: what experts reach (`make slow`), and how fast they learn (`make bench`)."""

from dataclasses import dataclass
from pathlib import Path

from imitable.experiments.records import read_if_there


@dataclass(frozen=True)
class ExpertRow:
    """One robot and method."""

    steps: int
    returns: tuple[float, ...]
    """Mean return of every seed's final policy."""
    mean: float
    goal: float


@dataclass(frozen=True)
class ExpertRecord:
    """All rows, by robot and method joined by a space."""

    command: str
    seeds: tuple[int, ...]
    episodes: int
    rows: dict[str, ExpertRow]


@dataclass(frozen=True)
class ThroughputRow:
    """One robot and method."""

    robot: str
    method: str
    steps_per_s: float
    limit_per_s: float
    """Of the bare simulator."""
    limit_fraction: float
    """`steps_per_s` ÷ `limit_per_s`."""
    target: float
    peer_steps_per_s: dict[str, float]
    """By kind of the peer's vector environment; empty without a peer."""
    multiple_of_peer: float | None


@dataclass(frozen=True)
class ThroughputRecord:
    """All rows."""

    settings: str
    rounds: int
    rows: tuple[ThroughputRow, ...]


def experts_path(results: Path) -> Path:
    """Return where the record of experts lies."""
    return results / "learning.json"


def read_experts(results: Path) -> ExpertRecord | None:
    """Return the record of experts, if it is there."""
    return read_if_there(ExpertRecord, experts_path(results))


def read_throughput(results: Path) -> ThroughputRecord | None:
    """Return the record of throughput, if it is there."""
    return read_if_there(ThroughputRecord, results / "throughput.json")
