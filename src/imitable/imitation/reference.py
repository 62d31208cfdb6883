# SPDX-License-Identifier: MIT
"""What is left of the lessons in a run folder: where a body without a task starts, and which states it should come near."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from imitable import seeding, tensors
from imitable.dynamics.variant import Variant
from imitable.errors import NoRun
from imitable.files import write_bytes
from imitable.imitation.lessons import Lessons, Sampler
from imitable.sim.task import Free, Locomotion, Task
from imitable.types import Floats, Ints

STARTS = 1000
"""First states of demonstrations, drawn by weight."""

STATES = 50_000
"""Demonstrated states that are kept, drawn by weight if there are more."""

_ARRAYS = ("states", "density", "owners", "starts")


@dataclass(frozen=True, eq=False)
class Reference:
    """The weighed demonstrations as clouds of states."""

    states: Floats
    """(M, S) demonstrated states that transitions start from."""
    density: Floats
    """(M) how likely each is, up to a factor."""
    owners: Ints
    """(M) which demonstration each is of."""
    starts: Floats
    """(K, S) where episodes start."""
    horizon: int
    """Steps of an episode: those of the longest demonstration, or as many as were asked for."""


def reference(imitator: Variant, taught: Lessons, seed: int, horizon: int | None = None) -> Reference | None:
    """Return the reference of a set of lessons, for episodes of `horizon` steps; a robot with a task of its own needs none."""
    if imitator.robot.rules is not None:
        return None
    rng = seeding.generator(seed, "starts")
    starts = taught.starts[Sampler(taught.start_density).draw(rng, (STARTS,))]
    rows, density = np.flatnonzero(~taught.absorbing), taught.density[~taught.absorbing]
    if len(rows) > STATES:
        rows, density = np.sort(rows[Sampler(density).draw(rng, (STATES,))]), np.ones(STATES)
    return Reference(taught.before[rows], density, taught.owners[rows], starts, horizon or taught.longest)


def task_of(imitator: Variant, known: Reference | None, *, observe_root: bool = False) -> Task:
    """Return where imitation takes place: the robot's own task, or a free body that starts like the demonstrations."""
    if known is None:
        return Locomotion(imitator, observe_root=observe_root)
    return Free(imitator, known.horizon, known.starts)


def save_reference(known: Reference, path: Path) -> None:
    """Write a reference."""
    write_bytes(path, tensors.to_bytes({name: getattr(known, name) for name in _ARRAYS}, {"horizon": str(known.horizon)}))


def load_reference(path: Path) -> Reference | None:
    """Read the reference of a run, if it has one."""
    if not path.exists():
        return None
    try:
        arrays, metadata = tensors.read(path)
        return Reference(**{name: arrays[name] for name in _ARRAYS}, horizon=int(metadata["horizon"]))
    except (tensors.DamagedFile, KeyError) as error:
        raise NoRun(str(path.parent), f"{path.name} cannot be read ({error})") from None
