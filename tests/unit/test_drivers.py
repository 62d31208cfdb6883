# SPDX-License-Identifier: MIT
"""Arms in play: whatever goes wrong, the arm stops, the error says why in one line, and the log is complete."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import imitable as im
from imitable.cli.main import main
from imitable.drivers.arm_model import ArmModel
from imitable.drivers.driver import Abilities, Arm, Command, Driver, Reading
from imitable.drivers.guard import Guard
from imitable.drivers.journal import Line, read_journal, writing
from imitable.drivers.limits import Safety, limits_of
from imitable.drivers.parse import driver_text, parse_driver
from imitable.drivers.pilot import PolicyPilot
from imitable.drivers.play import Session, play
from imitable.drivers.player import Player
from imitable.drivers.recording import journal_path, write_recording
from imitable.drivers.simulator import SimulatedArm, Simulator
from imitable.errors import (
    ArmContact,
    BadJournal,
    BadOption,
    BeyondLimit,
    CannotResume,
    ImitableError,
    LostConnection,
    MissingExtra,
    OutputExists,
    StaleReading,
)
from imitable.files import Output
from imitable.sim.batch import Batch
from imitable.sim.own_task import own_task
from tests.unit.over_policy import over_policy

TASK = own_task(im.robot("panda:dof=3"))
MODEL = ArmModel(TASK.robot)
OVER = over_policy(TASK.robot)
BREAKS_AT = 20
"""The command at which something goes wrong."""


class Faulty(SimulatedArm):
    """A simulated arm that something happens to in the middle of a motion."""

    def __init__(self, happens: Callable[["Faulty"], None]) -> None:
        super().__init__(Simulator(), MODEL)
        self._happens, self.count, self.lost, self.frozen, self.stops = happens, 0, False, False, 0
        self._last = super().read()

    def command(self, command: Command) -> None:
        self.count += 1
        if self.count == BREAKS_AT:
            self._happens(self)
        super().command(command)

    def read(self) -> Reading:
        if not self.frozen:
            self._last = super().read()
        return self._last

    def stop(self) -> None:
        self.stops += 1
        if self.lost:
            raise LostConnection("10.0.0.2", "no answer")
        super().stop()

    @property
    def speed(self) -> float:
        return float(np.abs(super().read().velocities).max())


def lose(arm: Faulty) -> None:
    arm.lost = True
    raise LostConnection("10.0.0.2", "cable")


def freeze(arm: Faulty) -> None:
    arm.frozen = True


def interrupt(arm: Faulty) -> None:
    raise KeyboardInterrupt("by hand")


@dataclass(frozen=True)
class Given:
    """A driver that is connected to an arm of a test."""

    arm: Arm

    def abilities(self, model: ArmModel) -> Abilities:
        return Simulator().abilities(model)

    def connect(self, model: ArmModel) -> Arm:
        return self.arm


def kinds(path: Path) -> list[str]:
    return [line["kind"] for line in read_journal(journal_path(path))[1]]


def lines(path: Path, kind: str) -> list[Line]:
    return [line for line in read_journal(journal_path(path))[1] if line["kind"] == kind]


@pytest.mark.parametrize(
    ("happens", "error", "said"),
    [(lose, LostConnection, "10.0.0.2"), (freeze, StaleReading, "stood still"), (interrupt, KeyboardInterrupt, "by hand")],
    ids=["lost", "stale", "interrupted"],
)
def test_whatever_goes_wrong_the_arm_is_stopped_and_the_log_is_complete(
    happens: Callable[[Faulty], None], error: type[BaseException], said: str, tmp_path: Path
) -> None:
    arm = Faulty(happens)
    with pytest.raises(error, match=said) as raised:
        play(TASK, OVER, Given(arm), Session(3), tmp_path / "log")
    assert "\n" not in str(raised.value)
    assert arm.stops == 1
    [stopped] = lines(tmp_path / "log", "stopped")
    assert said in stopped["reason"]
    told = lines(tmp_path / "log", "command")
    assert len(told) == BREAKS_AT, "the command under way is in the journal, too"
    if arm.lost:
        assert [line["kind"] for line in read_journal(journal_path(tmp_path / "log"))[1][-2:]] == ["stopped", "unanswered"]
    else:
        assert arm.speed < 0.01
    [trajectory] = im.read(tmp_path / "log")
    with_action = [line["action"] for line in told if "action" in line]
    answered = with_action[: len(trajectory)]
    assert len(with_action) - len(trajectory) == (0 if error is StaleReading else 1)
    np.testing.assert_array_equal(trajectory.actions, answered)
    assert trajectory.demonstrator == "panda:dof=3"


@pytest.mark.parametrize(
    ("towards", "safety", "error", "said"),
    [
        ((0.0, 0.0, 1.0), Safety(high=(1.0, 0.4, 0.3)), BeyondLimit, "z of the tool"),
        ((0.0, 0.0, 1.0), Safety(speed=0.2), BeyondLimit, "speed of joint"),
        ((1.0, 0.0, 0.0), Safety(), ArmContact, "stand1"),
    ],
    ids=["box", "speed", "contact ahead"],
)
def test_a_command_beyond_a_limit_never_leaves(
    towards: tuple[float, float, float], safety: Safety, error: type[ImitableError], said: str, tmp_path: Path
) -> None:
    arm = Faulty(freeze)  # never, because it is not commanded so often
    arm.count = -(10**6)
    with pytest.raises(error, match=said):
        play(TASK, over_policy(TASK.robot, towards), Given(arm), Session(safety=safety), tmp_path / "log")
    [refused] = lines(tmp_path / "log", "refused")
    assert said in refused["reason"]
    assert arm.count == -(10**6) + len(lines(tmp_path / "log", "command")), "what was refused was not sent"
    assert kinds(tmp_path / "log")[-2:] == ["refused", "stopped"]
    assert arm.stops == 1
    assert arm.speed < 0.01
    assert not MODEL.touching(arm.read().positions, 0.0)


def test_contact_that_no_model_foresaw_stops_the_arm(tmp_path: Path) -> None:
    believed = own_task(im.robot("panda:dof=3,scene=box"))
    arm = SimulatedArm(Simulator(), MODEL)  # before a shelf, which the guard does not know of
    with pytest.raises(ArmContact, match=r"contact: .*held_book"):
        play(believed, over_policy(believed.robot, height=0.18), Given(arm), Session(), tmp_path / "log")
    assert lines(tmp_path / "log", "reading")[-1]["contact"]
    assert float(np.abs(arm.read().velocities).max()) < 0.05


def test_the_simulator_does_what_a_rollout_does(tmp_path: Path) -> None:
    with writing(tmp_path / "journal.jsonl") as journal:
        limits = limits_of(MODEL, Simulator().abilities(MODEL), Safety())
        player = Player(Simulator().connect(MODEL), Guard(limits, MODEL), journal, TASK.robot.layout.period_s)
        path = player.play(PolicyPilot(TASK, OVER, MODEL), 40)
    batch = Batch(TASK.robot, 1)
    batch.set_state(TASK.robot.start[None])
    told = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    for line in (line for line in told if line["kind"] == "command"):
        batch.step(np.array([line["action"]]))
    last = np.concatenate([path[-1].positions, path[-1].velocities])
    np.testing.assert_allclose(batch.states[0], last, atol=1e-9)


def test_a_log_is_a_set_of_demonstrations_that_reaches_the_goal(tmp_path: Path) -> None:
    played = play(TASK, OVER, "sim", Session(2, seed=3), tmp_path / "log")
    demos = im.read(tmp_path / "log")
    assert demos.layout == TASK.robot.layout
    assert [len(one) for one in demos] == [one.steps for one in played]
    assert [one.total_return for one in demos.episodes] == [one.total_return for one in played]
    for one in played:
        assert one.terminated
        assert one.total_return == 5000 - 50 * one.steps
    assert kinds(tmp_path / "log")[-1] == "stopped"
    assert play(TASK, OVER, "sim", Session(2, seed=3), tmp_path / "again") == played


def test_the_last_step_before_the_clock_counts_like_all_others(tmp_path: Path) -> None:
    [one] = play(TASK, over_policy(TASK.robot, (0.0, 0.0, 0.0)), "sim", Session(), tmp_path / "log")
    assert (one.steps, one.total_return, one.terminated) == (160, -8000.0, False)
    assert im.read(tmp_path / "log").episodes[0].total_return == -8000.0


def test_an_arm_that_has_come_too_near_goes_back_the_way_it_came(tmp_path: Path) -> None:
    near = Safety(clearance=0.0)  # the task ends at 1 cm, before the guard does
    [one] = play(TASK, over_policy(TASK.robot, (1.0, 0.0, 0.0)), "sim", Session(safety=near), tmp_path / "log")
    assert one.terminated
    assert one.total_return == -10_000 - 50 * one.steps
    last = np.array(lines(tmp_path / "log", "reading")[-1]["positions"])
    first = im.read(tmp_path / "log")[0].states[0][:7]
    np.testing.assert_allclose(last, first, atol=0.011)


def test_noise_of_the_sensors_is_named_by_its_seed(tmp_path: Path) -> None:
    for name, text in (("a", "sim:noise=0.001"), ("b", "sim:noise=0.001"), ("c", "sim:noise=0.001,seed=1")):
        play(TASK, OVER, text, Session(), tmp_path / name)
    a, b, c = (im.read(tmp_path / name)[0].hash for name in "abc")
    assert a == b != c


def test_a_dry_run_says_every_command_and_writes_nothing(tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.lines: list[str] = []

        def say(self, line: str) -> None:
            self.lines.append(line)

        def progress(self, done: int, total: int, note: str = "") -> None:
            del done, total, note

    told = Told()
    [one] = play(TASK, OVER, "franky", Session(dry_run=True), Output(tmp_path / "log", observer=told))
    assert one.terminated
    assert len([line for line in told.lines if "rad within 0.05 s" in line]) > one.steps
    assert told.lines[-1].endswith("stop")
    assert not list(tmp_path.iterdir())
    with pytest.raises(BeyondLimit, match="z of the tool"):
        play(TASK, OVER, "franky", Session(safety=Safety(high=(1.0, 0.4, 0.3)), dry_run=True), tmp_path / "log")


def test_outputs_are_kept_and_resumed(tmp_path: Path) -> None:
    play(TASK, OVER, "sim", Session(1), tmp_path / "log")
    with pytest.raises(OutputExists, match="--resume"):
        play(TASK, OVER, "sim", Session(1), tmp_path / "log")
    journal = journal_path(tmp_path / "log")
    whole = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join(whole) + '{"kind": "read')  # as a kill leaves it
    with pytest.raises(CannotResume, match="another"):
        play(TASK, OVER, "sim", Session(2, seed=1), Output(tmp_path / "log", resume=True))
    [second] = play(TASK, OVER, "sim", Session(2), Output(tmp_path / "log", resume=True))
    whole_set = play(TASK, OVER, "sim", Session(2), tmp_path / "all")
    assert second.seed == whole_set[1].seed
    assert [one.seed for one in im.read(tmp_path / "log").episodes] == [one.seed for one in whole_set]


def test_drivers_are_text(tmp_path: Path) -> None:
    text = "franky:address=10.0.0.7,dynamics=0.1"
    driver = parse_driver(text)
    assert isinstance(driver, Driver)
    assert driver_text(driver) == text
    with pytest.raises(BadOption, match="did you mean 'franky'"):
        parse_driver("franki")
    with pytest.raises(BadOption, match="give a number from"):
        parse_driver("franky:dynamics=2")
    with pytest.raises(MissingExtra, match=r"imitable\[franka\]"):
        play(TASK, OVER, "franky", Session(), tmp_path / "log")
    assert not list(tmp_path.iterdir()), "what cannot be connected to leaves nothing behind"


@pytest.mark.parametrize("address", ["8.8.8.8", "134744072", "2001:4860:4860::8888", "100.64.0.1", "0.0.0.0", "mixed.example"])
def test_an_arm_outside_private_networks_needs_remote(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = socket.getaddrinfo

    def resolved(host: str, *rest: object, **options: object) -> list[Any]:
        """Of a name with two addresses, one of them near, without asking the network."""
        hosts = ["192.168.1.7", "93.184.216.34"] if host == "mixed.example" else [host]
        return [one for host in hosts for one in known(host, 0, type=socket.SOCK_STREAM)]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with pytest.raises(BadOption, match="outside private networks"):
        play(TASK, OVER, f"franky:address={address}", Session(), tmp_path / "log")
    with pytest.raises(MissingExtra):
        play(TASK, OVER, f"franky:address={address},remote=1", Session(), tmp_path / "log")
    im.save_policy(OVER, tmp_path / "over.safetensors")
    monkeypatch.chdir(tmp_path)
    words = ["play", "over.safetensors", "--driver", f"franky:address={address}"]
    for flags, said in (([], "outside private networks"), (["--remote"], "franky-control")):
        with pytest.raises(SystemExit, match="2"):
            main([*words, *flags])
        assert said in capsys.readouterr().err


@pytest.mark.parametrize("address", ["172.16.0.2", "10.0.0.7", "192.168.1.2", "127.0.0.1", "::1", "fd00::1", "localhost"])
def test_an_arm_in_a_private_network_is_connected_to(address: str, tmp_path: Path) -> None:
    with pytest.raises(MissingExtra):
        play(TASK, OVER, f"franky:address={address}", Session(), tmp_path / "log")


def test_a_lost_connection_names_the_arms_that_stop_on_their_own() -> None:
    assert "Franka arms stop on their own" in str(LostConnection("172.16.0.2", "cable"))


@pytest.mark.parametrize("text", ["", "{}\n", '{"kind": "head"}\n', "nonsense\n", '{"kind": "head", "schema": 99}\n'])
def test_a_damaged_journal_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text(text)
    with pytest.raises(BadJournal):
        write_recording(tmp_path / "journal.jsonl", tmp_path / "log")


def test_a_process_that_is_killed_leaves_all_that_the_arm_was_told(tmp_path: Path) -> None:
    im.save_policy(OVER, tmp_path / "over.safetensors")
    command = [sys.executable, "-m", "imitable", "play", "over.safetensors", "--episodes", "1000", "--quiet"]
    journal, deadline = journal_path(tmp_path / "log"), time.monotonic() + 120
    with subprocess.Popen(command, cwd=tmp_path) as playing:
        while not (journal.exists() and journal.read_text().count('"action"') > 20):
            assert playing.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        playing.kill()
    assert not (tmp_path / "log").exists()
    assert write_recording(journal, tmp_path / "log") >= 1
    assert len(im.read(tmp_path / "log")[0]) >= 20
