# SPDX-License-Identifier: MIT
"""A run on disk: what was asked, how it went, what came out; an interrupted one goes on to the same result.

`setting.json` what the result depends on, `metrics.jsonl` one line an iteration, `policy.safetensors` the last policy,
`best.safetensors` the one with the best return on the way (where there is a reward), `evaluation.json` what they are worth:
written last, so that a folder with it is complete. `reference.safetensors` is what a robot without a task is judged by;
`checkpoint/` is there while the run is under way.
"""

import json
import shutil
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from imitable.errors import CannotResume, CannotWrite, NoRun, OutputExists
from imitable.evaluation.reference import Reference, load_reference, save_reference
from imitable.files import new_folder, write_bytes
from imitable.imitation.learner import Training
from imitable.policies.files import load_policy, save_policy
from imitable.rl.progress import Progress
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Policy

SCHEMA = 1

Row = dict[str, float | None]
"""A line of the metrics."""

UNCOMPARED = ("versions", "sources", "scores")
"""Entries of a setting that do not decide whether a run can go on: where it ran and where its files lie."""


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
    def setting(self) -> dict[str, Any]:
        """What was asked."""
        return read_json(self.path / "setting.json")

    @property
    def imitator(self) -> Robot:
        """The body that learned; refused if its file has been changed since."""
        setting = self.setting
        found = parse_robot(setting["imitator"])
        if found.hash != setting["imitator_hash"]:
            raise NoRun(str(self.path), f"its imitator {setting['imitator']} is another body by now: the model has changed")
        return found

    @property
    def evaluation(self) -> dict[str, Any]:
        """What the policies are worth."""
        return read_json(self.path / "evaluation.json")

    @property
    def policy(self) -> Policy:
        """The last policy: the result."""
        return load_policy(self.path / "policy.safetensors")

    @property
    def best(self) -> Policy | None:
        """The policy with the best return on the way, chosen by a reward that an imitator does not have."""
        path = self.path / "best.safetensors"
        return load_policy(path) if path.exists() else None

    def metrics(self) -> list[Row]:
        """Return one row an iteration; a line that a kill cut short is left out."""
        try:
            lines = (self.path / "metrics.jsonl").read_text().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def check(self, setting: dict[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Refuse a folder that must not be written; nothing is changed."""
        if not self.path.exists():
            return
        if not (self.path / "setting.json").exists():
            if not self.path.is_dir() or any(self.path.iterdir()):
                raise CannotWrite(str(self.path), "it exists and is no run folder; name another --out")
            return
        if overwrite:
            return
        if not resume:
            raise OutputExists(str(self.path), resume=True)
        saved = self.setting
        differing = [name for name in setting if name not in UNCOMPARED and saved.get(name) != setting[name]]
        if differing:
            raise CannotResume(str(self.path), f"it was made with other settings ({', '.join(differing)})")

    def open(self, setting: dict[str, Any], *, resume: bool) -> None:
        """Start the folder anew, or leave what is there to be continued."""
        if self.path.exists() and not resume:
            shutil.rmtree(self.path)
        if not (self.path / "setting.json").exists():
            write_json(self.path / "setting.json", setting)

    def append(self, row: Row) -> None:
        """Add a line to the metrics."""
        with (self.path / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def save(self, training: Training, standing: "Standing") -> None:
        """Write a checkpoint in place of the last one."""
        with new_folder(self.path / "checkpoint") as folder:
            training.save(folder / "training.safetensors")
            if standing.best is not None:
                save_policy(standing.best, folder / "best.safetensors")
            known = {"iterations": standing.iterations, "best_return": standing.best_return}
            write_json(folder / "standing.json", known if standing.best is not None else known | {"best_return": None})

    def load(self, training: Training, standing: "Standing") -> bool:
        """Go on from the last checkpoint, if there is one; metrics of what is done again are dropped."""
        folder = self.path / "checkpoint"
        if not (folder / "standing.json").exists():
            (self.path / "metrics.jsonl").unlink(missing_ok=True)
            return False
        training.load(folder / "training.safetensors")
        saved = read_json(folder / "standing.json")
        standing.iterations = int(saved["iterations"])
        if saved["best_return"] is not None:
            standing.best, standing.best_return = load_policy(folder / "best.safetensors"), float(saved["best_return"])
        kept = self.metrics()[: standing.iterations]
        write_bytes(self.path / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in kept).encode())
        return True

    @property
    def reference(self) -> Reference | None:
        """The demonstrated states that a robot without a task is judged by."""
        return load_reference(self.path / "reference.safetensors")

    def finish(self, policy: Policy, best: Policy | None, known: Reference | None, evaluation: dict[str, Any]) -> None:
        """Write what came out, the evaluation last."""
        if known is not None:
            save_reference(known, self.path / "reference.safetensors")
        save_policy(policy, self.path / "policy.safetensors")
        if best is not None:
            save_policy(best, self.path / "best.safetensors")
        write_json(self.path / "evaluation.json", evaluation)
        shutil.rmtree(self.path / "checkpoint", ignore_errors=True)


class Standing:
    """How far a run has come, beside what its training knows."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.iterations = 0
        self.best: Policy | None = None
        self.best_return = float("-inf")

    def note(self, progress: Progress, training: Training) -> None:
        """Count the iteration, and keep its policy if its episodes returned more than any before."""
        self.iterations += 1
        if progress.mean_return > self.best_return:  # false for NaN
            self.best, self.best_return = training.policy, progress.mean_return


def row_of(progress: Progress, share: float) -> Row:
    """Return the metrics of one iteration; what is not known yet is null."""
    numbers = asdict(progress)
    metrics: dict[str, float] = numbers.pop("metrics")
    row: dict[str, float] = {"share": share, **numbers, **metrics}
    return {name: value if isfinite(value) else None for name, value in row.items()}


def runs_in(path: Path) -> list[RunFolder]:
    """Return the runs of a folder: itself, or those of its seeds."""
    if (path / "setting.json").exists():
        return [RunFolder(path)]
    found = [RunFolder(folder.parent) for folder in path.glob("seed-*/setting.json")]
    if not found:
        raise NoRun(str(path))
    return sorted(found, key=lambda run: run.setting["seed"])


def read_json(path: Path) -> dict[str, Any]:
    """Read one of a run's JSON files."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise NoRun(str(path.parent), f"{path.name} cannot be read ({error})") from None


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write one of a run's JSON files, whole or not at all."""
    write_bytes(path, (json.dumps(content, indent=2) + "\n").encode())
