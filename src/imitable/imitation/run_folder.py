# SPDX-License-Identifier: MIT
"""A run on disk: what was asked, how it went, what came out; an interrupted one goes on to the same result.

`setting.json` what the result depends on, `metrics.jsonl` one line an iteration, `policy.safetensors` the final policy,
`best.safetensors` the one with the best return on the way (where there is a reward), `evaluation.json` what they are worth:
written last, so that a folder with it is complete. `reference.safetensors` is what a robot without a task is compared with;
`checkpoint-N/`, after N iterations, is there while the run is under way. All of them carry hashes of their contents: damaged
ones are refused.
"""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from imitable.errors import CannotResume, CannotWrite, NoRun, OutputExists
from imitable.evaluation import result
from imitable.evaluation.reference import Reference, load_reference, save_reference
from imitable.evaluation.result import RunEvaluation
from imitable.files import Output, append_line, check_kind, locked, new_folder, sweep, write_bytes
from imitable.imitation import hashed_json, setting
from imitable.imitation.hashed_json import DamagedJson, write_json
from imitable.imitation.learner import Training
from imitable.imitation.setting import SCHEMA, Setting
from imitable.policies.files import load_policy, save_policy
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Policy

Row = dict[str, float | None]
"""A line of the metrics."""


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        """Name it; nothing is read or written yet."""
        self.path = path

    @property
    def complete(self) -> bool:
        """Whether the run has ended."""
        return (self.path / "evaluation.json").exists()

    @property
    def setting(self) -> Setting:
        """What was asked."""
        content = self._read("setting.json")
        if content.get("schema") != SCHEMA:
            raise NoRun(str(self.path), f"it was written in schema {content.get('schema')}, and this is schema {SCHEMA}")
        try:
            return setting.from_json(content)
        except (KeyError, TypeError) as error:
            raise NoRun(str(self.path), f"setting.json is no setting ({error})") from None

    @property
    def imitator(self) -> Robot:
        """The body that learned; refused if its file has been changed since."""
        asked = self.setting
        robot = parse_robot(asked.imitator)
        if robot.hash != asked.imitator_hash:
            raise NoRun(str(self.path), f"its imitator {asked.imitator} is another body by now: the model has changed")
        return robot

    @property
    def evaluation(self) -> RunEvaluation:
        """What the policies are worth."""
        try:
            return result.from_json(self._read("evaluation.json"))
        except (KeyError, TypeError) as error:
            raise NoRun(str(self.path), f"evaluation.json is no evaluation ({error})") from None

    @property
    def policy(self) -> Policy:
        """The final policy: the result."""
        return load_policy(self.path / "policy.safetensors")

    @property
    def best(self) -> Policy | None:
        """The policy with the best return on the way, chosen by a reward that an imitator does not have."""
        path = self.path / "best.safetensors"
        return load_policy(path) if path.exists() else None

    @property
    def reference(self) -> Reference | None:
        """The demonstrated states that a robot without a task is compared with."""
        reference = load_reference(self.path / "reference.safetensors")
        if reference is None and not self.imitator.family.has_task:
            raise NoRun(str(self.path), "reference.safetensors is missing, which a robot without a task is compared with")
        return reference

    @property
    def checkpoint(self) -> Path | None:
        """The newest checkpoint, which is whole: it got its name when all of it was written."""
        return max(self._checkpoints(), key=_iterations, default=None)

    def _checkpoints(self) -> list[Path]:
        return [folder for folder in self.path.glob("checkpoint-*") if (folder / "standing.json").exists()]

    def metrics(self) -> list[Row]:
        """Return one row an iteration; a line that a kill cut short is left out."""
        try:
            lines = (self.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        if lines and not lines[-1].endswith(b"\n") and not self.complete:
            lines.pop()
        try:
            return [hashed_json.parse(line) for line in lines]
        except DamagedJson as error:
            raise NoRun(str(self.path), f"metrics.jsonl is damaged ({error})") from None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep other processes from writing this run; refuse if one does already."""
        with locked(self.path):
            yield

    def check(self, asked: Setting, out: Output) -> None:
        """Refuse a folder that must not be written; nothing is changed."""
        if not self.path.exists():
            return
        if not (self.path / "setting.json").exists():
            if not self.path.is_dir() or any(self.path.iterdir()):
                raise CannotWrite(str(self.path), "it exists and is no run folder; name another --out")
            return
        if out.overwrite:
            check_kind(self.path)
            return
        if not out.resume:
            raise OutputExists(str(self.path), resume=True)
        differing = asked.differing(self.setting)
        if differing:
            raise CannotResume(str(self.path), f"it was made with other settings ({', '.join(differing)})")

    def open(self, asked: Setting, *, resume: bool) -> None:
        """Start the folder anew, or leave what is there to be continued."""
        if self.path.exists() and not resume:
            shutil.rmtree(self.path)
        if not (self.path / "setting.json").exists():
            write_json(self.path / "setting.json", setting.to_json(asked))

    def append(self, row: Row) -> None:
        """Add a line to the metrics."""
        append_line(self.path / "metrics.jsonl", hashed_json.to_line(row))

    def save(self, training: Training, standing: "Standing") -> None:
        """Write a checkpoint, then remove older ones: killed at any moment, the run has one."""
        older = self._checkpoints()
        with new_folder(self.path / f"checkpoint-{standing.iterations}") as folder:
            training.save(folder / "training.safetensors")
            if standing.best is not None:
                save_policy(standing.best, folder / "best.safetensors")
            best_return = None if standing.best is None else standing.best_return
            write_json(folder / "standing.json", {"iterations": standing.iterations, "best_return": best_return})
        for folder in older:
            if _iterations(folder) != standing.iterations:
                shutil.rmtree(folder, ignore_errors=True)

    def load(self, training: Training, standing: "Standing") -> bool:
        """Go on from the last checkpoint, if there is one; metrics of what is done again are dropped."""
        if (folder := self.checkpoint) is None:
            (self.path / "metrics.jsonl").unlink(missing_ok=True)
            return False
        try:
            saved = hashed_json.read_json(folder / "standing.json")
        except DamagedJson as error:
            raise CannotResume(str(self.path), f"the checkpoint's standing.json is damaged ({error})") from None
        rows = self.metrics()[: saved["iterations"]]
        if len(rows) < saved["iterations"]:
            raise CannotResume(str(self.path), "metrics.jsonl has fewer lines than its checkpoint has iterations")
        training.load(folder / "training.safetensors")
        standing.iterations = saved["iterations"]
        if saved["best_return"] is not None:
            standing.best, standing.best_return = load_policy(folder / "best.safetensors"), float(saved["best_return"])
        write_bytes(self.path / "metrics.jsonl", "".join(hashed_json.to_line(row) + "\n" for row in rows).encode())
        return True

    def finish(self, policy: Policy, best: Policy | None, reference: Reference | None, evaluation: RunEvaluation) -> None:
        """Write what came out, the evaluation last."""
        if reference is not None:
            save_reference(reference, self.path / "reference.safetensors")
        save_policy(policy, self.path / "policy.safetensors")
        if best is not None:
            save_policy(best, self.path / "best.safetensors")
        write_json(self.path / "evaluation.json", {"schema": SCHEMA, **result.to_json(evaluation)})
        self.tidy()

    def tidy(self) -> None:
        """Leave only what a complete run has; a kill may have come between its last file and this."""
        sweep(self.path)
        for folder in self.path.glob("checkpoint-*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return hashed_json.read_json(self.path / name)
        except DamagedJson as error:
            raise NoRun(str(self.path), f"{name} cannot be read ({error})") from None


def _iterations(checkpoint: Path) -> int:
    """`checkpoint-12` → 12."""
    return int(checkpoint.name.removeprefix("checkpoint-"))


class Standing:
    """How far a run has come, beside what its training knows."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.iterations = 0
        self.best: Policy | None = None
        self.best_return = float("-inf")

    def note(self, progress: Progress, training: Training) -> None:
        """Count the iteration, and remember the policy so far if the last episodes returned more than at any time before.

        Several policies played them, the one that is remembered not among them: it has just learned from the latest.
        """
        self.iterations += 1
        if progress.mean_return > self.best_return:  # false for NaN
            self.best, self.best_return = training.policy, progress.mean_return


def row_of(reported: Progress, progress: float) -> Row:
    """Return the metrics of one iteration, and which part of the work is done; what is not known yet is null."""
    numbers = asdict(reported)
    metrics: dict[str, float] = numbers.pop("metrics")
    row: dict[str, float] = {"progress": progress, **numbers, **metrics}
    return {name: value if isfinite(value) else None for name, value in row.items()}


def runs_in(path: Path) -> list[RunFolder]:
    """Return the runs of a folder: itself, or those of its seeds."""
    if (path / "setting.json").exists():
        return [RunFolder(path)]
    folders = [RunFolder(file.parent) for file in path.glob("seed-*/setting.json")]
    if not folders:
        raise NoRun(str(path))
    return sorted(folders, key=lambda run: run.setting.seed)
