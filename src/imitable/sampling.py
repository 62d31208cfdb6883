# SPDX-License-Identifier: MIT
"""Transitions drawn by weight, for trainers of any kind: NumPy only."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


class Movement(Protocol):
    """What a batch needs of a trajectory."""

    @property
    def states(self) -> npt.NDArray[np.float64]:
        """(T + 1, S)."""
        ...

    @property
    def actions(self) -> npt.NDArray[np.float64] | None:
        """(T, A), if known."""
        ...

    @property
    def terminated(self) -> bool:
        """Whether the last state ended the task."""
        ...


class WeightedSampler:
    """Draws places by probability, with replacement. A torch `DataLoader` takes it as `sampler=`."""

    def __init__(self, probabilities: npt.NDArray[np.float64], samples: int | None = None, seed: int = 0) -> None:
        """Draw `samples` an epoch; default: as many as there are places."""
        self._ends = np.cumsum(probabilities)
        self._samples = len(probabilities) if samples is None else samples
        self._generator = np.random.default_rng(seed)

    def __len__(self) -> int:
        """Return the number of draws an epoch."""
        return self._samples

    def __iter__(self) -> Iterator[int]:
        """Draw an epoch; the next one is another."""
        total = float(self._ends[-1])
        draws = np.minimum(self._generator.random(self._samples) * total, np.nextafter(total, 0))
        # a place of no weight has the same end as the one before it, and is never the first whose end lies beyond a draw
        drawn: npt.NDArray[np.int64] = np.searchsorted(self._ends, draws, "right")
        return iter(drawn.tolist())


def drawn_batch(
    read: Callable[[int], Movement], lengths: Sequence[int], places: npt.NDArray[np.int64]
) -> dict[str, npt.NDArray[Any]]:
    """Return the transitions at places in all of them, one trajectory after the other; each that is needed is read once.

    `obs`, `next_obs` (n, S), `dones` (n), and `acts` (n, A) if all have actions.
    """
    ends = np.cumsum(lengths)
    owners = np.searchsorted(ends, places, "right")
    rows: dict[int, tuple[Any, Any, bool, Any]] = {}
    for owner in sorted({int(owner) for owner in owners}):
        one, length = read(owner), int(lengths[owner])
        for row in np.flatnonzero(owners == owner).tolist():
            step = int(places[row]) - int(ends[owner]) + length
            action = None if one.actions is None else one.actions[step]
            rows[row] = one.states[step], one.states[step + 1], one.terminated and step == length - 1, action
    states, after, dones, actions = zip(*(rows[row] for row in range(len(places))), strict=True)
    batch: dict[str, npt.NDArray[Any]] = {"obs": np.stack(states), "next_obs": np.stack(after), "dones": np.array(dones)}
    return batch if any(action is None for action in actions) else batch | {"acts": np.stack(actions)}
