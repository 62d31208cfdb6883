# SPDX-License-Identifier: MIT
"""What is left of the demonstrations in a run folder: where a body without a task starts, and what it should come near."""

from dataclasses import dataclass
from pathlib import Path

from imitable import tensors
from imitable.errors import NoRun
from imitable.files import write_bytes
from imitable.robots.robot import Robot
from imitable.sim.own_task import own_task
from imitable.sim.task import Free, Task
from imitable.types import Floats, Ints

_ARRAYS = ("states", "density", "owners", "starts", "held_out_starts")


@dataclass(frozen=True, eq=False)
class Reference:
    """The weighted demonstrations as clouds of states."""

    states: Floats
    """(M, S) demonstrated states that transitions start from."""
    density: Floats
    """(M) how likely each is, up to a factor."""
    owners: Ints
    """(M) which demonstration each is of."""
    starts: Floats
    """(K, S) where training starts."""
    held_out_starts: Floats
    """(K, S) where evaluations start: first states of demonstrations from which training never did, if there are several."""
    horizon: int
    """Steps of an episode: those of the longest demonstration, or as many as were asked for."""


def task_of(imitator: Robot, reference: Reference | None, *, observe_root: bool = False, held_out: bool = False) -> Task:
    """Return where imitation takes place: the robot's own task, or a free body that starts like the demonstrations.

    `held_out` starts it like those from which training does not.
    """
    if reference is None:
        return own_task(imitator, observe_root=observe_root)
    return Free(imitator, reference.horizon, reference.held_out_starts if held_out else reference.starts)


def save_reference(reference: Reference, path: Path) -> None:
    """Write a reference."""
    write_bytes(
        path, tensors.to_bytes({name: getattr(reference, name) for name in _ARRAYS}, {"horizon": str(reference.horizon)})
    )


def load_reference(path: Path) -> Reference | None:
    """Read the reference of a run, if it has one; a run from before starts were held out is evaluated where it was trained."""
    if not path.exists():
        return None
    try:
        arrays, metadata = tensors.read(path)
        arrays = {"held_out_starts": arrays["starts"]} | arrays
        return Reference(**{name: arrays[name] for name in _ARRAYS}, horizon=int(metadata["horizon"]))
    except (tensors.DamagedFile, KeyError, ValueError) as error:
        raise NoRun(str(path.parent), f"{path.name} cannot be read ({error})") from None
