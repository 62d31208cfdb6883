# SPDX-License-Identifier: MIT
"""A folder that holds, beside data, a module for every name that Python or a library may try to import, and a user's own."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

OPTIONAL = ("pandas", "etils", "zstandard", "torch", "tensorflow", "cupy", "polars", "ray", "jax_plugins", "fsspec", "colorama")
"""What libraries try and is often not there."""

OURS = {"imitable", "tests", "__main__"}


CALM = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import imitable as im
from my_lab.errors import of_pairs

@dataclass(frozen=True)
class Calm:
    rule: ClassVar[str] = "share"
    horizon: int = 5

    def prepared(self, job):
        from my_lab import late
        return AtWork(job, self.horizon)

class AtWork:
    def __init__(self, job, horizon):
        self.job, self.horizon, self.spent, self.about = job, horizon, 0, {}

    def __call__(self, trajectories):
        return [self.measured(trajectory) for trajectory in trajectories]

    def measured(self, trajectory):
        errors = of_pairs(trajectory.states[: self.horizon + 1])
        trace = im.trace_without_rollout(trajectory, np.arange(1, len(errors) + 1), errors, self.job.imitator)
        return im.Measured(float(errors.mean()), float(errors.mean()) / 10, trace)
"""
"""Of a scorer of the user's own, in a package."""


def write_my_lab(folder: Path) -> None:
    """Write the package, with modules that import each other."""
    lab = folder / "my_lab"
    lab.mkdir()
    (lab / "scorers.py").write_text(CALM)
    (lab / "late.py").write_text("")
    (lab / "errors.py").write_text("import numpy as np\nof_pairs = lambda s: np.abs(np.diff(s, axis=0)).max(axis=1)\n")


@contextmanager
def hostile_modules(folder: Path) -> Generator[None]:
    """Put the modules there; one that is run leaves NAME.py.ran."""
    names = {*sys.stdlib_module_names, *packages_distributions(), *OPTIONAL, "sitecustomize", "usercustomize"} - OURS
    files = [folder / f"{name}.py" for name in sorted(names) if name.isidentifier()]
    files.append(folder / "jax_plugins" / "evil.py")
    files[-1].parent.mkdir()
    for file in files:
        file.write_text("open(__file__ + '.ran', 'w').close()\nraise ImportError('hostile')\n")
    try:
        yield
    finally:
        for file in files:
            file.unlink()
        files[-1].parent.rmdir()
