# SPDX-License-Identifier: MIT
"""What a cell came to: small enough to be kept with the code, whole enough to draw every table and figure from."""

from dataclasses import dataclass
from pathlib import Path

from imitable.errors import BadRecord
from imitable.experiments.costs import AND
from imitable.experiments.jobs import RunJob
from imitable.experiments.records import read_record, write_record

SCHEMA = 1


@dataclass(frozen=True)
class Episodes:
    """Episodes of the final policy with one kind of actions."""

    returns: tuple[float, ...]
    """One an episode, rounded to a tenth; the mean is of the exact ones."""
    mean: float
    length: float
    """Mean number of transitions."""
    falls: int


@dataclass(frozen=True)
class Spent:
    """What a cell took: control steps of the simulator, and seconds of one core."""

    score_steps: int
    """Of the scores that its weights are from, learning included; 0 without any."""
    projection_steps: int
    """Of demonstrations re-rolled on the imitator."""
    learner_steps: int
    score_s: float
    """Of making the scores, once for all cells that share them."""
    learner_s: float
    """Of learning and evaluation."""
    pieces_kept: int | None = None
    pieces_dropped: int | None = None
    """Of what was to be projected, as often as it was drawn; None without projection."""

    @property
    def steps(self) -> int:
        """All of them."""
        return self.score_steps + self.projection_steps + self.learner_steps


@dataclass(frozen=True)
class Occupied:
    """How near the final policy's states come to the demonstrated ones, see `evaluation.occupancy`: standing earns a return."""

    distance: float
    """Between visited and demonstrated states, mean actions."""
    floor: float | None = None
    """Between every other demonstration and the rest; None of a single one."""


@dataclass(frozen=True)
class Provenance:
    """What made a cell."""

    code: str
    """Hash of the code that computed it; several, joined by `AND`, if it changed on the way."""
    scores_code: str
    """Hash of the code that computed its scores; empty without any."""
    protocol: str
    """Hash of the protocol that it was run under."""
    setting: str
    """Hash of the run's whole setting."""
    policy: str
    """Hash of the final policy: two runs of one job that agree in it agree to the last bit."""
    versions: dict[str, str]
    scale: float = 1.0
    """By which demonstrations, steps and episodes were shrunk, for trials."""

    @property
    def codes(self) -> set[str]:
        """Hashes of all code that took part."""
        return {code for text in (self.code, self.scores_code) for code in text.split(AND)} - {""}


@dataclass(frozen=True)
class CellRecord:
    """What one job came to."""

    schema: int
    job: RunJob
    mean_actions: Episodes
    sampled_actions: Episodes
    demonstrations: int
    demonstrated_return: float
    """Mean return of the demonstrations, each on its own body."""
    masses: dict[str, float]
    """Probability mass of every demonstrator's transitions."""
    effective_size: float
    """So many demonstrations of equal weight would carry as much."""
    spent: Spent
    provenance: Provenance
    curve: tuple[tuple[int, float | None], ...]
    """Steps, and the mean return of the last 64 episodes so far, with sampled actions; None before the first one ends."""
    occupancy: Occupied | None = None
    """None of an arm, and of a cell from before it was recorded."""


def record_path(records: Path, job: RunJob) -> Path:
    """Return where the record of a job lies."""
    return records / f"{job.name}.json"


def read_cell(records: Path, job: RunJob) -> CellRecord | None:
    """Return the record of a job, if there is one; one of another job under its name was put there by hand."""
    path = record_path(records, job)
    if not path.exists():
        return None
    record = read_record(CellRecord, path)
    if record.job != job:
        raise BadRecord(str(path), "it is of another job than its name")
    return record


def cell_paths(records: Path) -> list[Path]:
    """Return where the records of a folder lie, by name; other files are left out."""
    return sorted(records.glob("*.seed-*.*.json"))


def read_cells(records: Path) -> list[CellRecord]:
    """Return all records of a folder, whatever their jobs."""
    return [read_record(CellRecord, path) for path in cell_paths(records)]


def write_cell(records: Path, record: CellRecord) -> None:
    """Write the record of a job."""
    write_record(record_path(records, record.job), record)
