# SPDX-License-Identifier: MIT
"""What the page says of a reproduction: experiments of which anything is recorded, what is left out, and where all is from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imitable.errors import BadOption
from imitable.experiments.cells import Terms
from imitable.experiments.protocol import Protocol, read_protocol
from imitable.experiments.reproduction import PROTOCOL_FILE
from imitable.experiments.store import RECORDS
from imitable.experiments.tables import Table, spent_hours
from imitable.report.again import Again, names_of, recorded_cells, seeds_of
from imitable.report.experiment import experiment
from imitable.report.measured import read_measured
from imitable.report.recorded import Records, Shown, read_records, recorded, scale_of, shown_of

RUNS = Path("runs")
"""Where `imitable reproduce` makes cells, if nothing says where these were made."""


@dataclass(frozen=True)
class Reproduction:
    """A folder of records, and the terms that they were made on."""

    path: Path
    """As it was named."""
    beside: Path
    """Folder with the protocol, and with what was measured once for all cells."""
    folder: Path
    """Of the records."""
    records: Records
    terms: Terms

    @property
    def again(self) -> Again:
        """How its cells are made again."""
        in_store, protocol = self.folder.name == RECORDS, self.beside / PROTOCOL_FILE
        out, records = (self.folder.parent, None) if in_store else (RUNS, self.folder)
        return Again(self.terms, protocol if protocol.exists() else None, records, out)


def reproduction_at(path: Path) -> Reproduction | None:
    """Return what `imitable reproduce` left in a folder: its OUT, or its folder of records; None if it is neither."""
    folder = path / RECORDS if (path / RECORDS).is_dir() else path
    records = read_records(folder)
    has_protocol = (path / PROTOCOL_FILE).exists()
    if not records:
        if has_protocol:
            raise BadOption("PATH", path, "imitable reproduce left no record in it: name the folder of its --records")
        return None
    beside = path if has_protocol or folder != path else path.parent
    protocol = read_protocol(beside / PROTOCOL_FILE)
    return Reproduction(path, beside, folder, records, Terms(protocol, scale=scale_of(records, protocol)))


def reproduced(found: Reproduction) -> dict[str, Any]:
    """Return the experiments of which anything is recorded."""
    shown, measured = shown_of(found.records, found.terms), read_measured(found.beside)
    tables = {table.experiment.name: table for table in shown.tables}
    return {
        "name": str(found.path),
        "remarks": [*_left_out(found, shown), *_post_hoc(found.terms.protocol)],
        "runs": len(recorded(shown.tables)),
        "normalised": measured.random is not None,
        "experiments": [
            experiment(table, tables, found.terms, measured, shown.own) | {"command": _whole_command(found, table, shown)}
            for table in shown.tables
            if recorded([table])
        ],
        "provenance": _provenance(found, shown),
    }


def _left_out(found: Reproduction, shown: Shown) -> list[str]:
    """Say which records are in no table, in one line."""
    if not shown.left_out:
        return []
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in shown.left_out.items())
    count, every = sum(shown.left_out.values()), len(found.records)
    terms = f"protocol {found.terms.protocol.hash} at scale {found.terms.scale:g}"
    return [f"{count:,} of {every:,} records are left out, as the tables are those of {terms}: {reasons}."]


def _post_hoc(protocol: Protocol) -> list[str]:
    """Say what was changed after cells had been seen."""
    if not protocol.post_hoc:
        return []
    return [f"Post hoc, after cells had been run and seen, the protocol was changed: {'; '.join(protocol.post_hoc)}."]


def _provenance(found: Reproduction, shown: Shown) -> list[tuple[str, str]]:
    protocol, made, rule = found.terms.protocol, recorded(shown.tables), found.terms.protocol.rule
    numbers = ", ".join(map(str, protocol.seeds.paper))
    return [
        ("records", str(found.folder)),
        ("recorded", f"{len(made):,} runs, {spent_hours(made):.1f} core-hours"),
        ("protocol", protocol.hash),
        ("learners", ", ".join(f"{name} {text}" for name, text in protocol.learners.items())),
        ("weights", f"temperature {rule.temperature}, balance {rule.balance}"),
        ("steps", ", ".join(f"{name} {count:,}" for name, count in protocol.steps.items())),
        ("seeds", f"{numbers}; of development {', '.join(map(str, protocol.seeds.development))}"),
        ("evaluation", f"{protocol.evaluation.mean} episodes with mean, {protocol.evaluation.sampled} with sampled actions"),
        ("scale", f"{found.terms.scale:g}"),
        ("code", ", ".join(sorted({code for record in made for code in record.provenance.codes}))),
        *([("command", _command(found, shown))] if made else []),
    ]


def _whole_command(found: Reproduction, table: Table, shown: Shown) -> str:
    """Return what makes all cells of an experiment."""
    methods = {row.scorer: None for row in shown.own if row.experiment == table.experiment.name}
    return found.again.command([table.experiment.name], found.terms.seeds, list(methods))


def _command(found: Reproduction, shown: Shown) -> str:
    """Return what makes all recorded cells again."""
    every = recorded_cells(shown.tables)
    names = [name for made in every for name in names_of(made, shown.own)]
    return found.again.command(names, seeds_of(every, found.terms), sorted({row.scorer for row in shown.own}))
