# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false
"""Compiling models, safely: those of users are tried in a process with limits first, and MuJoCo's warnings are one line each.

An adapter file: MuJoCo ships no types, so its specs and models pass through here as `Any`.
"""

import json
import math
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import mujoco

from imitable.errors import BadModel
from imitable.files import content_hash

MOST_MB, MOST_CPU_S, MOST_WALL_S = 2048, 20, 60
"""Memory and processor time that compiling a user's model may take, and how long is waited for it on a busy machine."""

MOST_MODEL_MB = 512
"""Largest compiled model: every simulation and every hash holds a copy."""

MOST_ACTUATORS = 2_000
"""Every actuator has knobs of its own."""

LEAST_STEP_S = 2e-6
"""Shortest time step: with it a control period of 0.02 s is 10,000 steps."""

CHEAP = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MUJOCO_GL": "disable"}
"""Environment of the trial: no memory is reserved for threads, and nothing is loaded that draws."""

REFERENCE = re.compile(rb"file\w*\s*=")
"""What a model has that is made of several files; one without it is the same wherever it lies."""

_accepted: set[tuple[str, str]] = set()
"""Hash and, if it is made of several files, place of every file that compiled within the limits."""

_told: set[str] = set()
"""Warnings that were printed."""


def check(path: str) -> None:
    """Refuse a model file that MuJoCo cannot compile, crashes on, or takes too much time or memory for.

    It is compiled in a process of its own first, once for the same content.
    """
    if not Path(path).is_file():
        raise BadModel(path, "no such file")
    alone = REFERENCE.search(Path(path).read_bytes()) is None
    key = content_hash(path), "" if alone else str(Path(path).resolve())
    if key not in _accepted:
        if reason := _fault(path):
            raise BadModel(path, reason)
        _accepted.add(key)


def _fault(path: str) -> str:
    """Return why a model cannot be used; empty if it can."""
    trial = [sys.executable, "-P", str(Path(__file__).with_name("trial.py")), path, str(MOST_MB), str(MOST_CPU_S)]
    much = "fewer replicas, coarser meshes or smaller textures would take less"
    try:
        done = subprocess.run(
            trial, env=os.environ | CHEAP, stdin=subprocess.DEVNULL, capture_output=True, timeout=MOST_WALL_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"compiling it takes more than {MOST_WALL_S} s; {much}"
    if done.returncode < 0:
        if -done.returncode in (getattr(signal, "SIGXCPU", None), getattr(signal, "SIGKILL", None)):
            return f"compiling it takes more than {MOST_CPU_S} s of processor time; {much}"
        crash = signal.strsignal(-done.returncode)
        return f"MuJoCo crashes on it ({crash}): a model must not attach itself, nor two models each other"
    try:
        said: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = {"reason": (done.stderr.decode(errors="replace").strip().splitlines() or ["no answer"])[-1]}
    if said.get("memory"):
        return f"compiling it takes more than {MOST_MB} MB of memory; {much}"
    if reason := said.get("reason"):
        return f"MuJoCo cannot compile it: {reason}"
    megabytes, timestep = float(said["bytes"]) / 1e6, float(said["timestep"])
    if megabytes > MOST_MODEL_MB:
        return f"its compiled model takes {megabytes:,.0f} MB, more than {MOST_MODEL_MB}; {much}"
    if said["actuators"] > MOST_ACTUATORS:
        return f"it has {said['actuators']:,} actuators, more than {MOST_ACTUATORS:,}"
    if not LEAST_STEP_S <= timestep < math.inf:
        return f"its time step is {timestep:g} s: give <option timestep> of at least {LEAST_STEP_S:g} s, such as 0.002"
    return ""


def compiled(spec: Any, name: str, *, quiet: bool = False) -> Any:
    """Return the compiled model of a spec; what MuJoCo remarks is printed, a line each, unless `quiet`."""
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        try:
            model = spec.compile()
        except (ValueError, RuntimeError) as error:
            raise BadModel(name, f"MuJoCo cannot compile it: {error}") from None
    for remark in () if quiet else remarks:
        tell(str(remark.message))
    return model


def tell(message: str) -> None:
    """Print a warning of MuJoCo as one line, once; those about a moment of a simulation are left to the batch that steps it.

    MuJoCo's own way is a file MUJOCO_LOG.TXT in the working folder.
    """
    if message not in _told and "Time = " not in message:
        _told.add(message)
        print(f"imitable: MuJoCo warns: {' '.join(message.split())}", file=sys.stderr)


if mujoco.get_mju_user_warning() is None:
    mujoco.set_mju_user_warning(tell)
