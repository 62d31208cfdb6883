# SPDX-License-Identifier: MIT
"""Small fixed jobs of the command line whose results must not move, and digests of what they write.

Nothing of the package is imported: files are read with the libraries of their formats, so that a reorganised house is held to
what the old one wrote.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from safetensors.numpy import load_file

ARM = """
<mujoco model="arm">
  <option timestep="0.01" gravity="0 0 0"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-2 2" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      <body name="lower" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 0 1" range="-2 2" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder_motor" joint="shoulder" gear="2" ctrllimited="true" ctrlrange="-1 1"/>
    <position name="elbow_servo" joint="elbow" kp="5" kv="0.3" ctrllimited="true" ctrlrange="-2 2" forcerange="-1 1"/>
  </actuator>
</mujoco>
"""
"""A motor and a servo."""

SMALL = "environments=8,length=16,minibatch=64,hidden=8x8"
SHORT = "length=16,minibatch=256,epochs=2"
LEARNED = "horizon=12,steps=6144,trained=2"

INVERSE = "inverse-dynamics:horizon=12,transitions=2000,passes=1,calibration=3,hidden=16"


@dataclass(frozen=True)
class Job:
    """One command line, and the file or folder that it writes."""

    name: str
    arguments: str
    out: str


def _trained(robot: str, method: str, name: str) -> Job:
    return Job(f"train {name}", f"train {robot} --method {method} --steps 4096 --episodes 2", f"{name}.safetensors")


def _collected(name: str, robots: str, episodes: str, options: str = "") -> Job:
    return Job(
        f"collect {name}", f"collect {robots} --policy {name}.safetensors --episodes {episodes} {options}", f"{name}.demos"
    )


def _scored(demos: str, name: str, imitator: str, method: str, options: str = "") -> Job:
    arguments = f"score {demos}.demos --imitator {imitator} --method {method} {options}"
    return Job(f"score {demos} {name}", arguments, f"{demos}.{name}.parquet")


def _imitated(demos: str, imitator: str, method: str, name: str, options: str = "--steps 384") -> Job:
    arguments = f"imitate {demos}.demos --imitator {imitator} --method {method} --episodes 2 {options}"
    return Job(f"imitate {demos} {name}", arguments, f"{demos}.{name}.run")


CHEETAH, HOPPER = "half_cheetah:front=0.01", "hopper:gravity=15"

CHAINS: dict[str, tuple[Job, ...]] = {
    "half_cheetah": (
        _trained("half_cheetah:front=0.05", f"ppo:{SHORT}", "cheetah"),
        _collected("cheetah", "half_cheetah:front=0.05 half_cheetah:back=0.5", "2,3", "--sampled"),
        _scored("cheetah", "direct", CHEETAH, "direct:window_s=1.5"),
        _scored("cheetah", "windows", CHEETAH, "direct:window_s=0.6,windows=3,effort=thorough"),
        _scored("cheetah", "restart", CHEETAH, "direct:form=restart,transitions=8,restart_budget=50"),
        _scored("cheetah", "noise", f"{CHEETAH},noise=0.05", "direct:window_s=0.5", "--rollouts 2 --distance l2"),
        _scored("cheetah", "trajectory", CHEETAH, f"trajectory:{LEARNED}"),
        _scored(
            "cheetah",
            "initial-state",
            CHEETAH,
            f"trajectory:{LEARNED},tracker_input=initial-state",
            "--discount 0.9",
        ),
        _scored("cheetah", "one-step", CHEETAH, f"one-step:{LEARNED}"),
        _scored(
            "cheetah",
            "inverse-dynamics",
            CHEETAH,
            INVERSE,
        ),
        _scored("cheetah", "transferability", CHEETAH, f"transferability:{LEARNED}"),
        _scored("cheetah", "neighbours", CHEETAH, "neighbours:horizon=12,transitions=2000"),
        Job(
            "weigh",
            "weigh cheetah.direct.parquet --temperature share:0.1 --keep top:3",
            "weighted.parquet",
        ),
        Job(
            "project pieces",
            f"project cheetah.demos --imitator {CHEETAH} --length 5 --pieces 3",
            "cheetah-pieces.demos",
        ),
        Job(
            "project by scores",
            f"project cheetah.demos --imitator {CHEETAH} --scores cheetah.direct.parquet",
            "cheetah-rollouts.demos",
        ),
        _imitated("cheetah", CHEETAH, f"gaifo:{SMALL},discriminator_steps=2", "gaifo", "--steps 384 --scores weighted.parquet"),
        _imitated("cheetah", CHEETAH, f"gaifo:{SMALL},discriminator_steps=2,weighting=loss,quiet_fraction=0.25", "loss"),
        _imitated("cheetah-pieces", CHEETAH, "cloning:gradient_steps=60,hidden=8x8", "cloning", "--steps 0"),
        _imitated(
            "cheetah",
            CHEETAH,
            "warm-start:pieces=40,gradient_steps=60,gaifo.hidden=8x8,gaifo.critic_steps=2048",
            "warm-start",
            "--steps 16384 --scores weighted.parquet",
        ),
        _imitated("cheetah", CHEETAH, "dcc:transitions=400,forward_steps=20,map_steps=20,minibatch=16", "dcc", "--steps 4096"),
    ),
    "hopper": (
        _trained("hopper:gravity=20", f"trpo:{SHORT}", "hop"),
        _collected("hop", "hopper:gravity=20 hopper:gravity=5", "4", "--seed 3"),
        _scored("hop", "direct", HOPPER, "direct"),
        _imitated("hop", HOPPER, f"gaifo:{SMALL},discriminator_steps=2", "gaifo"),
        _imitated("hop", HOPPER, f"gaifo:preset=trpo,{SMALL},discriminator_steps=2", "trpo"),
        _imitated("hop", HOPPER, f"gaifo:preset=paper,{SMALL},discriminator_minibatch=32", "paper"),
        _imitated(
            "hop",
            HOPPER,
            f"sail:{SMALL},critic_steps=128,goal_steps=20,babbled=200,inverse_steps=20,pretrained=10,inverse_updates=2,discriminator_steps=2",
            "sail",
            "--steps 640",
        ),
    ),
    "walker2d": (
        _trained("walker2d:friction=19.9", f"trpo:{SHORT}", "walk"),
        _collected("walk", "walker2d:friction=19.9 walker2d", "4"),
        _scored("walk", "direct", "walker2d:friction=24.9", "direct:effort=quick"),
    ),
    "swimmer": (
        _trained("swimmer:back=12", f"ppo:{SHORT}", "swim"),
        _collected("swim", "swimmer:back=12 swimmer:front=10", "2"),
        _scored("swim", "direct", "swimmer:back=10", "direct:window_s=1.6,effort=quick", "--entries rootless"),
    ),
    "arm": (
        Job("collect arm", "collect arm.xml --policy arm.safetensors --episodes 3 --sampled", "arm.demos"),
        _scored("arm", "direct", "arm.xml:gear.shoulder_motor=0.5", "direct:window_s=0.4"),
        _imitated("arm", "arm.xml", f"gaifo:{SMALL},discriminator_steps=2", "gaifo", "--steps 384 --horizon 40"),
    ),
}
"""Jobs by body; within a chain, later ones read what earlier ones wrote."""


@dataclass(frozen=True)
class Result:
    """What a job wrote."""

    digest: str
    """Hash of all arrays."""
    size: float
    """Mean size of their finite numbers but `UNSIZED`: what another kind of processor, which rounds otherwise, comes near."""


def run(chain: str, folder: Path) -> dict[str, Result]:
    """Carry the jobs of a chain out in a folder, all in one process: it starts JAX once."""
    commands = [[*job.arguments.split(), "--quiet", "--out", job.out] for job in CHAINS[chain]]
    start = "import json, sys; from imitable.cli.main import main; [main(words) for words in json.loads(sys.argv[1])]"
    command = [sys.executable, "-c", start, json.dumps(commands)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{chain}: {done.stderr}"
    return {job.name: digest(folder / job.out) for job in CHAINS[chain]}


UNSIZED = ("first_divergence",)
"""Steps at which an error crosses a bound: a last bit moves them from the first step to the last."""


def digest(path: Path) -> Result:
    """Return the digest of a policy, a score file, a set of demonstrations or a run folder."""
    hashed, sizes = hashlib.sha256(), list[float]()
    for name, array in arrays(path):
        hashed.update(f"{name}{array.dtype}{array.shape}".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
        if name not in UNSIZED and array.dtype.kind == "f" and np.isfinite(array).any():
            sizes.append(float(np.abs(array[np.isfinite(array)]).mean()))
    return Result(hashed.hexdigest()[:32], float(np.mean(sizes)))


def arrays(path: Path) -> Iterable[tuple[str, Any]]:
    """Yield everything that was computed, by name; texts and versions are not."""
    if path.suffix == ".safetensors":
        yield from sorted(load_file(path).items())
    elif path.suffix == ".parquet":
        yield from _columns(path, ("episode_hash", "distance", "share", "score", "weight", "verdict", "first_divergence"))
        if (steps := path.with_suffix(".steps.parquet")).exists():
            yield from _columns(steps, ("attempt", "step", "error", "state", "action"))
    elif (path / "meta" / "info.json").exists():
        for file in sorted(path.glob("data/*/*.parquet")):
            yield from _columns(file, ("observation.state", "action"))
        for file in sorted(path.glob("meta/episodes/*/*.parquet")):
            yield from _columns(file, ("return", "terminated", "episode_hash"))
    else:
        [folder] = path.glob("seed-*")
        yield from _run(folder)


def _run(folder: Path) -> Iterable[tuple[str, Any]]:
    for policy in filter(Path.exists, (folder / "policy.safetensors", folder / "best.safetensors")):
        yield from arrays(policy)
    evaluation = json.loads((folder / "evaluation.json").read_text())
    for which in ("last", "best"):
        for actions, numbers in (evaluation[which] or {}).items():
            yield from ((f"{which}.{actions}.{name}", np.array(value, float)) for name, value in sorted(numbers.items()))


def _columns(file: Path, names: Iterable[str]) -> Iterable[tuple[str, Any]]:
    table = pq.read_table(file)
    for name in names:
        column = table[name].combine_chunks()
        values = column.flatten() if hasattr(column, "flatten") and column.type.num_fields else column
        found = values.to_numpy(zero_copy_only=False)
        if found.dtype == object:
            found = found.astype("U64")
            found[found == "borderline"] = "nearly"  # the word when digests were made
        yield name, found


PROBE = """
import imitable.runtime; imitable.runtime.one_thread()
import hashlib, gymnasium, jax, mujoco, numpy as np, pathlib
rng = np.random.default_rng(0)
a, b = rng.standard_normal((2, 96, 96)).astype(np.float32)
found = [np.asarray(jax.jit(lambda a, b: jax.numpy.tanh(a @ b).sum(axis=0) + jax.numpy.exp(a).mean())(a, b)), a @ b, np.exp(a)]
path = pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets/half_cheetah.xml"
model = mujoco.MjModel.from_xml_path(str(path)); data = mujoco.MjData(model)
for _ in range(300):
    data.ctrl[:] = rng.uniform(-1, 1, model.nu); mujoco.mj_step(model, data)
found.append(data.qpos)
print(hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in found)).hexdigest()[:32])
"""


def probe() -> str:
    """Return a hash of a little of everything that processors round differently: XLA, BLAS, MuJoCo."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROBE], capture_output=True, text=True, check=True)
    return done.stdout.strip()
