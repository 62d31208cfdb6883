# SPDX-License-Identifier: MIT
"""`imitable reproduce`: the paper's experiments, and our own."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module

from imitable.cli.console import Bar, bar, document, say, table
from imitable.cli.experiment_verbs import Reproduce
from imitable.command_text import command
from imitable.errors import BadOption, CellsFailed, MissingExtra
from imitable.experiments.catalogue import GROUPS, Experiment
from imitable.experiments.cell_records import CellRecord, read_cell
from imitable.experiments.cells import Cell, Terms, cells_of, chosen
from imitable.experiments.estimates import BUDGET_HOURS, FIRST_GOAL, core_hours, seconds
from imitable.experiments.executors import Executor, Failure, Local, Made
from imitable.experiments.intervals import interval
from imitable.experiments.prediction import everything, first_outcomes
from imitable.experiments.protocol import Protocol, default_protocol, read_protocol
from imitable.experiments.reproduction import (
    Standing,
    left_of,
    make_cells,
    protocol_changes,
    records_of,
    standing,
    with_methods,
    workshop_at,
)
from imitable.experiments.scaling import check_scale
from imitable.experiments.work import Piece, Workshop

STANDING = ("experiment", "cells", "done", "to do", "core-hours left", "about")
RESULT = ("cell", "seeds", "return", "±", "falls")

Failed = tuple[Piece, Failure]

CellResult = tuple[Cell, CellRecord | None]
"""A cell, and what it came to, if it is done."""


def run(verb: Reproduce) -> None:
    """Carry out the verb."""
    check_scale(verb.scale)
    protocol = _protocol(verb)
    _check(verb, len(protocol.seeds.paper))
    terms = Terms(protocol, verb.seeds, verb.scale)
    workshop, changes = workshop_at(verb.out, verb.records, terms), protocol_changes(protocol, verb.out)
    asked = _asked(verb, terms, workshop)
    if not verb.protocol.exists():
        say(verb.common, f"there is no {verb.protocol} here: the protocol is that of this version")
    for line in changes:
        say(verb.common, f"! the protocol has changed since cells were first run here: {line}; what it changes is post hoc")
    failed: list[Failed] = []
    if verb.experiments and not verb.dry_run:
        failed = _make(verb, cells_of(asked, terms), workshop, protocol)
        asked = _asked(verb, terms, workshop)  # what was made may have settled what further cells are
    _report(verb, asked, terms, workshop, changes, failed)
    if failed:
        worst, why = max(failed, key=lambda one: one[1].fault)
        raise CellsFailed(len(failed), worst.key, why.reason, fault=why.fault)


def _asked(verb: Reproduce, terms: Terms, workshop: Workshop) -> list[Experiment]:
    """Return the experiments that are named, all if none is, as far as what is recorded settles them."""
    outcomes = first_outcomes(terms, partial(read_cell, workshop.records))
    known = everything(verb.learners or tuple(terms.protocol.learners), outcomes)
    return with_methods(chosen(known, verb.experiments), verb.methods) if verb.experiments else list(known)


def _check(verb: Reproduce, most_seeds: int) -> None:
    """Refuse options that cannot be meant, before anything is computed."""
    if not 1 <= verb.seeds <= most_seeds:
        raise BadOption("--seeds", verb.seeds, f"give a number from 1 to {most_seeds}: so many are fixed by the protocol")
    if verb.workers < 0:
        raise BadOption("--workers", verb.workers, "give a number of at least 1, or 0 for one a core")
    if verb.methods and not verb.experiments:
        raise BadOption("--methods", " ".join(verb.methods), "name an experiment that they shall be rows of, such as mujoco-a")
    if verb.address is not None and verb.executor == "local":
        raise BadOption("--address", verb.address, "it names a Ray cluster: give --executor ray, too")
    for name, folder in (("--out", verb.out), ("--records", verb.records)):
        if folder is not None and folder.exists() and not folder.is_dir():
            raise BadOption(name, folder, "it is a file; name a folder")


def _protocol(verb: Reproduce) -> Protocol:
    if verb.protocol.exists():
        return read_protocol(verb.protocol)
    if verb.protocol != type(verb).protocol:
        raise BadOption(
            "--protocol", verb.protocol, "there is no such file; python -m imitable.experiments.protocol writes one"
        )
    return default_protocol()


def _make(verb: Reproduce, cells: Sequence[Cell], workshop: Workshop, protocol: Protocol) -> list[Failed]:
    """Make what is left; return what failed."""
    executor, left = _executor(verb), left_of(cells, workshop)
    say(verb.common, f"{_sizes(cells, left)}: about {_hours(core_hours(piece.job for piece in left))}")
    failed: list[Failed] = []
    try:
        with bar(verb.common, 1000, "making") as shown:
            progress = _Progress(left, shown)
            for made in make_cells(cells, workshop, protocol, executor):
                progress.note(made)
                if made.failure is not None:
                    failed.append((made.piece, made.failure))
                    say(verb.common, f"! {made.piece.key}: {made.failure.reason}")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"What is done is kept in {verb.out}: the same command goes on.") from None
    return failed


def _sizes(cells: Sequence[Cell], left: Sequence[Piece]) -> str:
    return f"{len(cells):,} cells, {len({cell.job.name for cell in cells}):,} runs; {len(left):,} pieces of work are left"


def _executor(verb: Reproduce) -> Executor:
    if verb.executor == "local":
        return Local(verb.workers)
    try:
        return import_module("imitable.experiments.ray_executor").Ray(verb.address, verb.workers)
    except ModuleNotFoundError:
        raise MissingExtra("ray", "ray") from None


class _Progress:
    """Moves the bar by the work that pieces are expected to be."""

    def __init__(self, left: Sequence[Piece], shown: Bar) -> None:
        self._total, self._count = sum(seconds(piece.job) for piece in left) or 1.0, len(left)
        self._done, self._ended, self._bar = 0.0, 0, shown

    def note(self, made: Made) -> None:
        """Hear that a piece has ended."""
        self._done += seconds(made.piece.job)
        self._ended += 1
        self._bar.move_to(round(1000 * self._done / self._total), f"{self._ended} of {self._count}: {made.piece.key}")


def _report(
    verb: Reproduce,
    experiments: Sequence[Experiment],
    terms: Terms,
    workshop: Workshop,
    changes: Sequence[str],
    failed: Sequence[Failed],
) -> None:
    """Show how far experiments are, and, of those that were named, what came out."""
    cells = cells_of(experiments, terms)
    made = list(zip(cells, records_of(cells, workshop.records), strict=True))
    stand = [standing(one, [pair for pair in made if pair[0].experiment == one.name], terms, workshop) for one in experiments]
    counted = cells if verb.experiments else cells_of(_of_the_paper(experiments), terms)
    left = core_hours(piece.job for piece in left_of(counted, workshop))
    table(verb.common, f"Experiments, in {verb.out}", STANDING, [_standing_row(one) for one in stand])
    what = "all together" if verb.experiments else "`all`"
    say(verb.common, f"{what}, shared work once: about {_hours(left)} left")
    goal = None if verb.experiments else _first_goal(experiments, terms, workshop)
    if goal is not None:
        words = f"of `all --seeds {FIRST_GOAL}`, the first goal, about {_hours(goal)} are left; its budget: {BUDGET_HOURS}"
        say(verb.common, words)
    codes = {code for _, record in made if record for code in record.provenance.codes}
    if len(codes) > 1:
        say(verb.common, f"! the code changed between these cells: {', '.join(sorted(codes))}")
    results = _results(made)
    if verb.experiments and results:
        table(verb.common, "Returns, mean actions of the final policy; ± between seeds", RESULT, results)
    say(verb.common, f"next: {next_command(verb, left)}")
    document(
        verb.common,
        {
            "out": str(verb.out),
            "protocol": terms.protocol.hash,
            "changes": list(changes),
            "codes": sorted(codes),
            "core_hours_left": left,
            "first_goal": None if goal is None else {"seeds": FIRST_GOAL, "core_hours_left": goal, "budget": BUDGET_HOURS},
            "experiments": [asdict(one) for one in stand],
            "cells": _documented(made, workshop) if verb.experiments else [],
            "failed": [{"piece": piece.key, "reason": why.reason} for piece, why in failed],
        },
    )


def _first_goal(experiments: Sequence[Experiment], terms: Terms, workshop: Workshop) -> float:
    """Return the core-hours that are left of the first goal."""
    left = left_of(cells_of(_of_the_paper(experiments), replace(terms, seeds=FIRST_GOAL)), workshop)
    return core_hours(piece.job for piece in left)


def _of_the_paper(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Leave out those of development, what they are for is chosen, and all that go beyond the paper."""
    return [one for one in experiments if one.name in GROUPS["all"]]


def _hours(count: float) -> str:
    return f"{count:{'.0f' if count >= 10 else '.2g'}} core-hours"


def _standing_row(one: Standing) -> tuple[object, ...]:
    about = f"{one.about} ({one.lacking})" if one.lacking else one.about
    return one.experiment, one.cells, one.done, one.cells - one.done, f"{one.core_hours:.3g}", about


def _results(made: Sequence[CellResult]) -> list[tuple[object, ...]]:
    """Return a row a cell's path, over the seeds that are done."""
    found: dict[str, list[tuple[float, int]]] = {}
    for cell, record in made:
        if record is not None:
            found.setdefault(cell.path, []).append((record.mean_actions.mean, record.mean_actions.falls))
    rows: list[tuple[object, ...]] = []
    for path, numbers in found.items():
        short = interval([mean for mean, _ in numbers])
        spread = round(short.std, 1) if short.count > 1 else "–"
        rows.append((path, short.count, round(short.mean, 1), spread, sum(falls for _, falls in numbers)))
    return rows


def _documented(made: Sequence[CellResult], workshop: Workshop) -> list[dict[str, object]]:
    return [
        {
            "path": cell.path,
            "seed": cell.seed,
            "run": str(workshop.store.run(cell.job)),
            "done": record is not None,
            "return_mean": None if record is None else record.mean_actions.mean,
        }
        for cell, record in made
    ]


def next_command(verb: Reproduce, left: float) -> str:
    """Return what to do next, under the same terms, `left` being the core-hours that are left."""
    places = {"records": verb.records, "out": verb.out}
    if not verb.experiments:
        return command("reproduce", ["mujoco/swimmer"], {"seeds": 1, "dry_run": True, **places})
    if not left:
        return command("report", [verb.records or verb.out], {"out": "reproduction.html"})
    names = ("methods", "learners", "seeds", "scale", "workers", "executor", "address", "protocol")
    same = {name: getattr(verb, name) for name in names}
    defaults = {name: getattr(type(verb), name) for name in names if name != "seeds"}  # how many is worth saying
    return command("reproduce", verb.experiments, {**same, **places}, defaults)
