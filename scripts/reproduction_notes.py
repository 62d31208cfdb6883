# SPDX-License-Identifier: MIT
"""Notes of docs/reproduction.md: what was found, in words, with numbers that are read from the records when it is written.

`{mujoco-a/hopper/ours}` is the mean return of a row over its seeds, `{mujoco-a/hopper/ours@1}` that of seed 1, `@2-4` the mean
over seeds 2 to 4; `@each` lists all. A word after a blank asks for something else: `sampled` (returns of sampled
actions), `falls`, `related` (per cent of the weights on related demonstrators) or `demonstrated` (the return of what is
imitated). Such a number is never older than its table; one that is typed into a note is of a single look.
"""

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from imitable.experiments.cell_records import CellRecord
from imitable.experiments.jobs import slug
from imitable.experiments.tables import Table, related_masses

_PLACEHOLDER = re.compile(r"\{([^{}@ ]+)(?:@([\d-]+|each))?(?: (\w+))?\}")
"""A cell's path, its seeds and a quantity."""

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


def _number(tables: Mapping[str, Table], path: str, seeds: str | None, quantity: str) -> str:
    name, place, row = _cell(tables, path)
    values = _values(tables[name], place, row, quantity)
    if not values:
        raise LookupError(f"a note asks for {path}, which is not recorded")
    if seeds == "each":
        *first, last = map(_shown, values.values())
        return f"{', '.join(first)} and {last}" if first else last
    try:
        return _shown(float(np.mean([values[seed] for seed in _asked(seeds, values)])))
    except KeyError as missing:
        raise LookupError(f"a note asks for {path}, seed {missing}, which is not recorded") from missing


def _asked(seeds: str | None, known: Iterable[int]) -> Iterable[int]:
    """Return the seeds that a note names; all that are known if it names none."""
    if seeds is None:
        return known
    first, _, last = seeds.partition("-")
    return range(int(first), int(last or first) + 1)


def _shown(value: float) -> str:
    return f"{round(value):,}".replace("-", "−")


def _values(table: Table, place: str, row: str, quantity: str) -> dict[int, float]:
    """Return a quantity of a row by seed."""
    records = table.at(place, row)
    if quantity == "related":
        found = (100 * related_masses(table, row)[place]).tolist()
    else:
        found = [QUANTITIES[quantity](record) for record in records]
    return dict(zip((record.job.seed for record in records), found, strict=True))


def _cell(tables: Mapping[str, Table], path: str) -> tuple[str, str, str]:
    """Return experiment, place and row of a path as the command line has it."""
    name, place, row = path.split("/")
    [where] = [one for one in tables[name].places if slug(one) == place]
    [which] = [one for one in tables[name].rows if slug(one) == row]
    return name, where, which
