# SPDX-License-Identifier: MIT
"""Learned policies of the three-joint arm through the real protocol: python -m imitable.experiments.arm_real.

No hardware is there. franky-control and libfranka command franky-sim's FR3 in a process of its own, whose sensors are noisy and
which is not the arm that the policies learned on (`franky_server.py`). Trials of all rows are interleaved and have the same
starts, and the record grows with each: RESULTS/arm_real.json. It needs the extra `franka-sim`.
"""

import argparse
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.demos.collect import episode_seed
from imitable.drivers.arm_model import ArmModel
from imitable.drivers.franka import Franky
from imitable.drivers.guard import Guard
from imitable.drivers.journal import Journal, writing
from imitable.drivers.limits import Safety, limits_of
from imitable.drivers.pilot import PolicyPilot
from imitable.drivers.play import Session, head_of
from imitable.drivers.player import Player
from imitable.drivers.recording import read_recording
from imitable.errors import ArmContact, BadOption, ImitableError, LostConnection, StaleReading
from imitable.experiments.arm_real_records import (
    DIFFERENCE,
    ROBOT,
    SLOWDOWN,
    ArmRealRecord,
    Trial,
    empty_record,
    read_arm_real,
    record_path,
    thinned,
)
from imitable.experiments.catalogue import PAPER
from imitable.experiments.cells import Terms, cells_of, chosen
from imitable.experiments.franky_server import Difference
from imitable.experiments.options import add_places, places_of
from imitable.experiments.protocol import Protocol, read_protocol
from imitable.experiments.records import Places, write_record
from imitable.experiments.reproduction import PROTOCOL_FILE
from imitable.experiments.store import Store
from imitable.imitation.run_folder import RunFolder
from imitable.policies.files import load_policy
from imitable.robots.parse import parse_robot
from imitable.sim.reach import Reach
from imitable.types import Policy

ADDRESS, ROWS = "127.0.0.1", ("GAIL", "SAIL", "ID-Feas", "Ours")
DRIVER = Franky(address=ADDRESS, dynamics=1.0, stale=1.0, realtime=False)
SEED = 2021
"""Of the starts."""
ATTEMPTS = 3
"""Of a trial whose connection was lost: a machine that is busy with other things is no failure of a policy."""


@contextmanager
def serving(robot: str, difference: Difference, seed: int) -> Generator[None]:
    """Have an arm served in a process of its own while the block lasts."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asdict(difference).items()]
    command = [sys.executable, "-m", "imitable.experiments.franky_server", f"--robot={robot}", f"--hostname={ADDRESS}"]
    with subprocess.Popen([*command, *options, f"--seed={seed}", "--put-back"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            if not any("serving" in line for line in server.stdout):
                raise LostConnection(ADDRESS, "the server of the simulated arm ended; look at what it says above")
            yield
        finally:
            server.kill()


def trial(task: Reach, policy: Policy, seed: int, journal: Journal) -> Trial:
    """Play one trial from a start that its seed draws."""
    model = ArmModel(task.robot)
    limits = limits_of(model, DRIVER.abilities(model), Safety())
    start = task.start(seeding.generator(seed, "episode"), 1).states[0][: len(model.joints)]
    journal.begin(head_of(task, policy, "franky", Session(slowdown=SLOWDOWN, seed=seed)))
    journal.episode(0, seed)
    player = Player(DRIVER.connect(model), Guard(limits, model), journal, SLOWDOWN * task.robot.layout.period_s)
    player.go_to(np.clip(start, limits.positions[0], limits.positions[1]))
    pilot, reason, contact = PolicyPilot(task, policy, model), "", False
    try:
        player.play(pilot, task.horizon)
        player.stop()
    except (LostConnection, StaleReading):
        raise
    except ImitableError as error:
        reason, contact = str(error), isinstance(error, ArmContact)
    rules, hit = task.rules, pilot.absorbing or contact
    steps = task.horizon if reason and not hit else pilot.steps
    total = rules.goal_reward * (pilot.terminated and not hit) - rules.hit_cost * hit - rules.action_cost * steps
    journal.end(terminated=hit, total_return=total)
    return Trial(seed, policy.hash, pilot.steps, total, pilot.terminated and not hit, hit, reason)


def trials(policies: Mapping[str, Sequence[Policy]], count: int, places: Places) -> ArmRealRecord:
    """Play what is missing of `count` trials of every row; the record is written after each trial."""
    task, path = Reach(parse_robot(ROBOT)), record_path(places.results)
    record = read_arm_real(places.results) or empty_record()
    if replace(record, rows={}) != empty_record():
        raise BadOption("--results", places.results, "the record there is of other settings; name another folder")
    _check_policies(record, policies)
    for index in range(count):
        seed = episode_seed(task, SEED, index)
        for name, several in policies.items():
            done = record.rows.get(name, ())
            if len(done) <= index:
                journal = places.runs / "arm-real" / f"{name}-{index}.jsonl"
                made = _tried(task, several[index % len(several)], seed, journal)
                record = replace(record, rows=record.rows | {name: (*done, made)})
                write_record(path, record, indent=1)
                print(f"{name} {index}: return {made.total_return:,.0f} in {made.steps} steps {made.stopped}", flush=True)
    return record


def _check_policies(record: ArmRealRecord, policies: Mapping[str, Sequence[Policy]]) -> None:
    """Refuse to go on with rows whose trials are of other policies."""
    for name, several in policies.items():
        if not {one.policy for one in record.rows.get(name, ())} <= {one.hash for one in several}:
            raise BadOption("--policy", name, "the record has trials of another policy in this row; name another --results")


def _tried(task: Reach, policy: Policy, seed: int, path: Path) -> Trial:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with writing(path) as journal:
                made = trial(task, policy, seed, journal)
            _, episodes = read_recording(path)
            # of a trial that was refused its first step nothing is left to draw
            return replace(made, path=thinned(task.tools(episodes[0].states)) if episodes else ())
        except (LostConnection, StaleReading) as error:
            if attempt == ATTEMPTS:
                raise
            print(f"once more: {error}", file=sys.stderr)
    raise AssertionError


def policies_of(texts: Sequence[str]) -> dict[str, list[Policy]]:
    """Return policies by the names of their rows, of `NAME=PATH` with files or run folders; a name may come again."""
    found: dict[str, list[Policy]] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not name or not equals or not path:
            raise BadOption("--policy", text, "give NAME=PATH, such as Ours=runs/ours/seed-0")
        policy = RunFolder(Path(path)).policy if Path(path).is_dir() else load_policy(path)
        found.setdefault(name, []).append(policy)
    return found


def policies_in(runs: Path, protocol: Protocol) -> dict[str, list[Policy]]:
    """Return the policies that `imitable reproduce arm --out RUNS` has made, one a seed, by the names of their rows."""
    [arm] = chosen(PAPER, ["arm"])
    found: dict[str, list[Policy]] = {}
    for cell in cells_of([arm], Terms(protocol)):
        folder = RunFolder(Store(runs).run(cell.job))
        if cell.row in ROWS and folder.complete:
            found.setdefault(cell.row, []).append(folder.policy)
    return found


def main() -> None:
    """Play the trials that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_places(parser)
    text = "NAME=PATH of a policy file or run folder, as often as wanted; default: the runs of the experiment arm"
    parser.add_argument("--policy", action="append", default=[], help=text)
    parser.add_argument("--trials", type=int, default=100, help="of every row")
    options = parser.parse_args()
    places = places_of(options)
    policies = policies_of(options.policy) or policies_in(places.runs, read_protocol(places.results / PROTOCOL_FILE))
    if not policies:
        raise BadOption("--runs", places.runs, "nothing of the experiment arm is there; use imitable reproduce arm first")
    with serving(ROBOT, DIFFERENCE, seed=0):
        trials(policies, options.trials, places)


if __name__ == "__main__":
    main()
