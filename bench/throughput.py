# SPDX-License-Identifier: MIT
"""Training throughput against the simulator's limit, and against a peer. Ratios of one run; absolute rates only beside them.

The *limit* is the simulator replaying the same controls from the same states on the same threads, nothing else in the loop.
Both cores are busy: two processes train at once, then both replay at once.

    python bench/throughput.py [--rounds 3] [--no-peers] [--out results/throughput.json]
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

from imitable.runtime import one_thread

one_thread()  # before NumPy and JAX are imported, here and in the processes that inherit this environment

import numpy as np  # noqa: E402

from imitable.demos.collect import collect  # noqa: E402
from imitable.experiments.records import write_record  # noqa: E402
from imitable.experiments.training_records import ThroughputRecord, ThroughputRow  # noqa: E402
from imitable.imitation.learner import LearningJob  # noqa: E402
from imitable.imitation.methods.gaifo import Gaifo  # noqa: E402
from imitable.policies.acting import controls  # noqa: E402
from imitable.policies.shipped import policy_for  # noqa: E402
from imitable.rl.settings import METHODS, method  # noqa: E402
from imitable.rl.train import Trainer  # noqa: E402
from imitable.robots.parse import parse_robot  # noqa: E402
from imitable.sim.batch import Batch  # noqa: E402
from imitable.sim.reach import Reach  # noqa: E402
from imitable.sim.rollout import Segment  # noqa: E402
from imitable.sim.task import Locomotion, moment_of  # noqa: E402
from imitable.types import Bools, InMemory, Policy  # noqa: E402

PROCESSES = 2
BUDGET = {"half_cheetah": 1_500_000, "hopper": 2_500_000, "swimmer": 1_000_000, "walker2d": 2_500_000}
"""Steps of the learning test, whose very settings are measured."""
WARM = 15
"""Iterations before the clock starts: compilation, and the first falls."""
ITERATIONS = 10
"""Iterations of one round."""
TARGETS = {"trpo": {"half_cheetah": 0.7, "hopper": 0.7, "swimmer": 0.7, "walker2d": 0.7}} | {
    "ppo": {"half_cheetah": 0.5, "hopper": 0.65, "swimmer": 0.65, "walker2d": 0.65},
    "gaifo": {"half_cheetah": 0.7, "hopper": 0.7, "swimmer": 0.75, "walker2d": 0.7},
    "control": {"panda": 0.5, "panda:dof=3": 0.5},
}
OWN = {"half_cheetah": "half_cheetah:front=0.01", "hopper": "hopper:gravity=15", "swimmer": "swimmer:back=10"} | {
    "walker2d": "walker2d:friction=24.9"
}
"""Bodies of the own-body check of imitation, whose very settings are measured."""
DEMONSTRATIONS = 10
ARMS, ACTIONS = 256, 20
"""Arms in a batch, and random actions of a round."""
PEER_TARGETS = {"half_cheetah": 10.0, "hopper": 5.5}
PEER_IDS = {"half_cheetah": "HalfCheetah-v5", "hopper": "Hopper-v5"}
PEER_PACKAGES = ["torch==2.13.0", "stable-baselines3==2.9.2", "sb3-contrib==2.9.2", "gymnasium[mujoco]==1.4.0", "mujoco==4.0.0"]


def replay(batch: Batch, segment: Segment, controls: np.ndarray, frame_skip: int) -> float:
    """Return the seconds that the bare simulator needs for the transitions of a segment."""
    length, n = segment.rewards.shape
    states = segment.moments.states.reshape(length, n, -1)
    restarted = np.zeros((length, n), bool)
    restarted[1:] = (segment.terminated | segment.truncated)[:-1]
    # past our own batch, whose checks are no part of the limit
    native, ctrl = batch._native, batch._ctrl  # pyright: ignore[reportPrivateUsage]
    batch.set_state(states[0])
    started = time.perf_counter()
    for t in range(length):
        if restarted[t].any():
            ids = np.flatnonzero(restarted[t])
            batch.set_state(states[t, ids], ids)
        ctrl[:] = controls[t]
        native.step(None, nstep=frame_skip)
    return time.perf_counter() - started


def trainer_of(name: str, text: str, seed: int) -> Trainer:
    """Return the trainer of a method: of an expert, or of imitation from demonstrations of the body's own expert."""
    if text != "gaifo":
        return Trainer(Locomotion(parse_robot(name)), method(text), BUDGET[name], seed)
    task = Locomotion(parse_robot(OWN[name]))
    demos = InMemory(task.robot.layout, collect(task, policy_for(task.robot), DEMONSTRATIONS, 1))
    return Gaifo().begin(LearningJob(demos, task.robot, None, BUDGET[name], seed)).trainer


def measure(name: str, text: str, seed: int, rounds: int, barrier: Barrier) -> dict[str, float]:
    """Train and replay in turns; return steps and the seconds of both."""
    trainer = trainer_of(name, text, seed)
    task = trainer.task
    bare = Batch(task.robot, trainer.method.environments)
    recorded: list[Segment] = []
    collect = trainer.collector.collect

    def recording(policy: Policy, length: int, quiet: Bools | None = None) -> Segment:
        recorded.append(collect(policy, length, quiet))
        return recorded[-1]

    trainer.collector.collect = recording
    for _ in range(WARM):
        trainer.iterate()
    total = {"steps": 0.0, "training_s": 0.0, "limit_s": 0.0}
    for _ in range(rounds):
        recorded.clear()
        barrier.wait()
        started = time.perf_counter()
        for _ in range(ITERATIONS):
            trainer.iterate()
        total["training_s"] += time.perf_counter() - started
        barrier.wait()
        for segment in recorded:
            total["limit_s"] += replay(bare, segment, controls(trainer.policy, segment.units), task.robot.frame_skip)
            total["steps"] += segment.rewards.size
    return total


def ours(name: str, text: str, rounds: int) -> dict[str, float]:
    """Measure one robot and method with both cores busy."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(PROCESSES) as pool:
        barrier = manager.Barrier(PROCESSES)
        results = pool.starmap(measure, [(name, text, seed, rounds, barrier) for seed in range(PROCESSES)])
    rate = sum(r["steps"] / r["training_s"] for r in results)
    limit = sum(r["steps"] / r["limit_s"] for r in results)
    return {"steps_per_s": rate, "limit_per_s": limit, "limit_fraction": rate / limit}


def arms(text: str, rounds: int) -> dict[str, float]:
    """Measure a batch of arms, one thread: inverse kinematics, observation, goal and hits, against the same angles replayed."""
    task = Reach(parse_robot(text))
    batch, bare = Batch(task.robot, ARMS), Batch(task.robot, ARMS)
    native, ctrl = bare._native, bare._ctrl  # pyright: ignore[reportPrivateUsage]
    rng, seconds = np.random.default_rng(0), list[tuple[float, float]]()
    for _ in range(1 + rounds):
        starts = task.start(rng, ARMS).states
        actions = task.robot.to_controls(rng.uniform(-1, 1, (ACTIONS, ARMS, 3)))
        angles, begun = list[np.ndarray](), time.perf_counter()
        batch.set_state(starts)
        for action in actions:
            batch.step(action)
            after = moment_of(batch.states)
            task.observe(after)
            task.end(after)
            angles.append(batch._ctrl.copy())  # pyright: ignore[reportPrivateUsage]
        own, begun = time.perf_counter() - begun, time.perf_counter()
        bare.set_state(starts)
        for angle in angles:
            ctrl[:] = angle
            native.step(None, nstep=task.robot.frame_skip)
        seconds.append((own, time.perf_counter() - begun))
    steps, (own_s, limit_s) = rounds * ARMS * ACTIONS, np.array(seconds[1:]).sum(axis=0).tolist()  # the first round warms up
    return {"steps_per_s": steps / own_s, "limit_per_s": steps / limit_s, "limit_fraction": limit_s / own_s}


def peer_python() -> Path:
    """Return the interpreter of the peers' own virtual environment, made on first use."""
    venv = Path(__file__).resolve().parents[1] / ".venv-peers"
    python = venv / "bin" / "python"
    if not (venv / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEER_PACKAGES], check=True)
        (venv / ".ready").touch()
    return python


def peer(name: str) -> dict[str, float]:
    """Return steps/s of sb3-contrib's TRPO on 8 environments, in its own process and in processes of their own."""
    free = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS") and k != "NPROC"}
    rates: dict[str, float] = {}
    for kind in ("dummy", "subprocess"):
        command = [str(peer_python()), str(Path(__file__).with_name("peer_trpo.py")), PEER_IDS[name], kind]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=free)
        rates[kind] = float(done.stdout.split()[-1])
    return rates


def row_of(name: str, text: str, measured: dict[str, float], rates: dict[str, float]) -> ThroughputRow:
    """Return the row of a robot and a method; only TRPO is compared with the peer, which is one."""
    multiple = measured["steps_per_s"] / max(rates.values()) if rates and text == "trpo" else None
    return ThroughputRow(name, text, **measured, target=TARGETS[text][name], peer_steps_per_s=rates, multiple_of_peer=multiple)


def line_of(row: ThroughputRow) -> str:
    """Return a line of the table on the terminal."""
    fractions, rates = f"{row.limit_fraction:>16.2f}{row.target:>8.2f}", f"{row.steps_per_s:>12,.0f}{row.limit_per_s:>12,.0f}"
    compared = f"{row.multiple_of_peer:>9.1f}{PEER_TARGETS[row.robot]:>8.1f}" if row.multiple_of_peer else ""
    return f"{row.robot:<14}{row.method:<8}{fractions}{rates}{compared}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--robots", nargs="*", default=list(BUDGET))
    parser.add_argument("--arms", nargs="*", default=list(TARGETS["control"]))
    parser.add_argument("--methods", nargs="*", default=[*METHODS, "gaifo"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows: list[ThroughputRow] = []
    missed: list[str] = []
    print(f"{'robot':<14}{'method':<8}{'part of limit':>16}{'target':>8}{'steps/s':>12}{'limit':>12}{'× peer':>9}{'target':>8}")
    for name in arguments.robots:
        rates = peer(name) if name in PEER_IDS and not arguments.no_peers else {}
        for text in arguments.methods:
            row = row_of(name, text, ours(name, text, arguments.rounds), rates)
            print(line_of(row), flush=True)
            rows.append(row)
            peer_missed = row.multiple_of_peer is not None and row.multiple_of_peer < PEER_TARGETS[name]
            if row.limit_fraction < row.target or peer_missed:
                missed.append(f"{name} {text}")
    for text in arguments.arms:
        row = row_of(text, "control", arms(text, arguments.rounds), {})
        print(line_of(row), flush=True)
        rows.append(row)
        if row.limit_fraction < row.target:
            missed.append(f"{text} control")
    print(f"targets missed: {', '.join(missed) or 'none'}")
    if arguments.out:
        write_record(arguments.out, ThroughputRecord("defaults", arguments.rounds, tuple(rows)), indent=2)
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
