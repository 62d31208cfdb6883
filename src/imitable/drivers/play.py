# SPDX-License-Identifier: MIT
"""The verb `play`: a policy plays episodes on an arm; commands and readings become demonstrations."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.demos.collect import episode_seed
from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Arm, Driver
from imitable.drivers.dry_run import ImaginedArm
from imitable.drivers.guard import Guard
from imitable.drivers.journal import Head, Journal, read_journal, writing
from imitable.drivers.limits import Limits, Safety, limits_of
from imitable.drivers.parse import driver_text, parse_driver
from imitable.drivers.pilot import PolicyPilot
from imitable.drivers.player import Player
from imitable.drivers.recording import journal_path, write_recording
from imitable.errors import BadOption, CannotResume
from imitable.files import Output, check_free, locked
from imitable.sim.task import Task
from imitable.types import Policy
from imitable.user_code import allow


@dataclass(frozen=True)
class Session:
    """What is played, how often, and within which limits."""

    episodes: int = 1
    """How many."""
    safety: Safety = field(default_factory=Safety)
    """What is allowed."""
    slowdown: float = 1.0
    """Times the robot's control period that the arm is given for an action."""
    dry_run: bool = False
    """Connect to nothing and write nothing: say what would be sent, and take it as carried out."""
    seed: int = 0
    """Of the starts."""

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        if self.episodes < 1:
            raise BadOption("episodes", self.episodes, "play at least one")
        if not 1 <= self.slowdown <= 100:
            raise BadOption("slowdown", self.slowdown, "give a number from 1 to 100")


@dataclass(frozen=True)
class PlayedEpisode:
    """How one episode went."""

    seed: int
    steps: int
    """Actions."""
    total_return: float
    terminated: bool
    """Whether the task ended it, rather than the clock."""


def play(task: Task, policy: Policy, driver: str | Driver, session: Session, out: str | Path | Output) -> list[PlayedEpisode]:
    """Play episodes on an arm, from starts that the task draws; between them the arm goes back the way it came.

    `OUT.journal.jsonl` holds everything as it happens; OUT, a set of demonstrations, is made of it at the end, also of one
    that an error brought about.

    Args:
        task: whose robot the arm is, where episodes start, when they are over, and what they pay.
        policy: who decides.
        driver: text such as `sim` or `franky:address=172.16.0.2`, or the settings themselves.
        session: how many episodes, within which limits.
        out: folder of the demonstrations.
    """
    allow(driver)
    chosen, model, output = parse_driver(driver) if isinstance(driver, str) else driver, ArmModel(task.robot), Output.of(out)
    limits = limits_of(model, chosen.abilities(model), session.safety)
    if session.dry_run:
        with writing(Path(os.devnull)) as nothing:
            imagined = ArmInPlay(ImaginedArm(model, output.observer.say), model, limits, nothing)
            return list(episodes(task, policy, imagined, session))
    if output.path is None:
        raise BadOption("out", None, "name a folder: what an arm does is written down")
    journal, head = journal_path(output.path), head_of(task, policy, driver_text(chosen), session)
    done = _done(journal, output, head)
    arm, played = chosen.connect(model), list[PlayedEpisode]()
    with locked(journal), writing(journal, append=done is not None) as pages:
        try:
            if done is None:
                pages.begin(head)
            for one in episodes(task, policy, ArmInPlay(arm, model, limits, pages), session, done or 0):
                played.append(one)
                output.observer.progress(len(played), session.episodes, f"return {one.total_return:,.0f}")
        finally:
            write_recording(journal, output.path, overwrite=True)
    return played


def _done(journal: Path, output: Output, head: Head) -> int | None:
    """Return how many episodes of an interrupted log are over; None if it is to be begun."""
    assert output.path is not None
    if output.resume and journal.exists():
        before, lines = read_journal(journal)
        if before != head:
            raise CannotResume(str(output.path), "it is of another policy, robot, driver, seed or slowdown")
        return sum(line["kind"] == "end" for line in lines)
    for path in (output.path, journal):
        check_free(path, overwrite=output.overwrite, resume=True)
    return None


@dataclass(frozen=True, eq=False)
class ArmInPlay:
    """An arm that is connected, and what belongs to it."""

    arm: Arm
    model: ArmModel
    limits: Limits
    journal: Journal


def episodes(task: Task, policy: Policy, connected: ArmInPlay, session: Session, first: int = 0) -> Iterator[PlayedEpisode]:
    """Play episode after episode from the `first` on; the arm rests when the last is over."""
    journal, limits = connected.journal, connected.limits
    player = Player(connected.arm, Guard(limits, connected.model), journal, session.slowdown * task.robot.layout.period_s)
    for index in range(first, session.episodes):
        seed = episode_seed(task, session.seed, index)
        journal.episode(index, seed)
        start = task.start(seeding.generator(seed, "episode"), 1).states[0][: len(connected.model.joints)]
        player.go_to(np.clip(start, limits.positions[0], limits.positions[1]))
        pilot = PolicyPilot(task, policy, connected.model)
        path = player.play(pilot, task.horizon)
        journal.end(terminated=pilot.absorbing, total_return=pilot.total_return)
        yield PlayedEpisode(seed, len(path) - 1, pilot.total_return, pilot.terminated)
        player.go_back(path)
    player.stop()


def head_of(task: Task, policy: Policy, driver: str, session: Session) -> Head:
    """Return what a journal of this policy belongs to."""
    layout = task.robot.layout
    return Head(
        robot=str(task.robot),
        driver=driver,
        policy=policy.hash,
        seed=session.seed,
        joints=layout.qpos,
        qpos=layout.qpos,
        qvel=layout.qvel,
        actuators=layout.actuators,
        period_s=session.slowdown * layout.period_s,
    )
