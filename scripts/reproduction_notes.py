# SPDX-License-Identifier: MIT
"""Notes of docs/reproduction.md: what was found, in words, with numbers that are read from the records when it is written.

`{mujoco-a/hopper/ours}` is the mean return of a row over its seeds, `{mujoco-a/hopper/ours@1}` that of seed 1. A word after a
blank asks for something else: `sampled` (returns of sampled actions), `falls`, `related` (per cent of the weights on related
demonstrators) or `demonstrated` (the return of what is imitated). Such a number is never older than its table; one that is
typed into a note is of a single look.
"""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from imitable.experiments.cell_records import CellRecord
from imitable.experiments.jobs import slug
from imitable.experiments.tables import Table, related_masses

_PLACEHOLDER = re.compile(r"\{([^{}@ ]+)(?:@(\d+))?(?: (\w+))?\}")
"""A cell's path, a seed and a quantity."""

QUANTITIES: dict[str, Callable[[CellRecord], float]] = {
    "returns": lambda record: record.mean_actions.mean,
    "sampled": lambda record: record.sampled_actions.mean,
    "falls": lambda record: record.mean_actions.falls,
    "demonstrated": lambda record: record.demonstrated_return,
}
"""What may be asked of a record; `related` is asked of a table."""


def notes_of(text: str) -> dict[str, str]:
    """Return what stands under every heading, `## EXPERIMENT`, and, under the empty name, before the first one."""
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    parts = [part.partition("\n") for part in rest]
    found = {"": first.strip()} | {name.strip(): body.strip() for name, _, body in parts}
    return {name: body for name, body in found.items() if body}


def filled(text: str, tables: Mapping[str, Table]) -> str:
    """Return a note with its numbers; one whose cell is not recorded is refused."""
    return _PLACEHOLDER.sub(lambda found: _number(tables, found[1], found[2], found[3] or "returns"), text)


def _number(tables: Mapping[str, Table], path: str, seed: str | None, quantity: str) -> str:
    name, place, row = _cell(tables, path)
    table = tables[name]
    records = table.at(place, row)
    values = _values(table, place, row, records, quantity)
    chosen = [value for record, value in zip(records, values, strict=True) if seed is None or record.job.seed == int(seed)]
    if not chosen:
        raise LookupError(f"a note asks for {path}{'' if seed is None else f', seed {seed}'}, which is not recorded")
    return f"{round(np.mean(chosen)):,}".replace("-", "−")


def _values(table: Table, place: str, row: str, records: Sequence[CellRecord], quantity: str) -> list[float]:
    if quantity == "related":
        return (100 * related_masses(table, row)[place]).tolist()
    return [QUANTITIES[quantity](record) for record in records]


def _cell(tables: Mapping[str, Table], path: str) -> tuple[str, str, str]:
    """Return experiment, place and row of a path as the command line has it."""
    name, place, row = path.split("/")
    [where] = [one for one in tables[name].places if slug(one) == place]
    [which] = [one for one in tables[name].rows if slug(one) == row]
    return name, where, which
