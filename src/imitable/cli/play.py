# SPDX-License-Identifier: MIT
"""`imitable play`: a policy on an arm."""

from dataclasses import asdict
from pathlib import Path

from imitable.cli.arm_verbs import Play
from imitable.cli.console import Bar, Watched, aloud, bar, document, say, table
from imitable.cli.method_help import helped
from imitable.cli.verbs import Common
from imitable.command_text import command
from imitable.drivers.limits import Safety
from imitable.drivers.parse import parse_driver
from imitable.drivers.play import Session, play
from imitable.drivers.recording import journal_path
from imitable.errors import BadOption, ImitableError
from imitable.files import Output
from imitable.imitation.run_folder import RunFolder
from imitable.policies.files import load_policy
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.own_task import own_task
from imitable.types import Policy


def run(verb: Play) -> None:
    """Carry out the verb."""
    if helped(verb.common, verb.driver, parse_driver):
        return
    driver = f"{verb.driver}{',' if ':' in verb.driver else ':'}remote=1" if verb.remote else verb.driver
    policy, robot = _policy(verb)
    safety = Safety(verb.speed, verb.tool_speed, verb.box[:3], verb.box[3:], verb.clearance)
    session = Session(verb.episodes, safety, verb.slowdown, verb.dry_run, verb.common.seed)
    with bar(verb.common, verb.episodes, "playing") as shown:
        output = Output(verb.out, verb.resume, verb.overwrite, _Listening(verb.common, shown, aloud=verb.dry_run))
        try:
            played = play(own_task(robot), policy, driver, session, output)
        except ImitableError:
            _say_what_is_kept(verb)
            raise
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"The arm was stopped. {journal_path(verb.out)} has all until then.") from None
    rows = [(one.steps, one.total_return, "yes" if one.terminated else "no", one.seed) for one in played]
    what = "dry run" if verb.dry_run else str(verb.out)
    table(verb.common, f"{what}: {len(played)} episodes by {driver}", ("steps", "return", "ended", "seed"), rows)
    say(verb.common, f"next: {_next(verb, driver)}")
    files = (None, None) if verb.dry_run else (str(verb.out), str(journal_path(verb.out)))
    content = {"out": files[0], "journal": files[1], "robot": str(robot), "driver": driver, "dry_run": verb.dry_run}
    document(verb.common, content | {"episodes": [asdict(one) for one in played]})


def _next(verb: Play, driver: str) -> str:
    if verb.dry_run:
        return command("play", [verb.policy], {"driver": driver, "out": verb.out})
    return command("inspect", [verb.out])


class _Listening(Watched):
    """Says on stderr what a dry run would send, with `--json`, too: it is what was asked for."""

    def __init__(self, common: Common, shown: Bar, *, aloud: bool) -> None:
        super().__init__(common, shown)
        self._aloud = aloud

    def say(self, line: str) -> None:
        """Say a line."""
        if self._aloud:
            aloud(line)
        else:
            super().say(line)


def _policy(verb: Play) -> tuple[Policy, Robot]:
    """Return the policy of a file or of a run, and the robot that it is of, or that was asked for."""
    if verb.policy.is_dir():
        folder = RunFolder(verb.policy)
        return folder.policy, folder.imitator if verb.robot is None else parse_robot(verb.robot)
    policy = load_policy(verb.policy)
    name = verb.robot or policy.about.get("robot", "")
    if not name:
        raise BadOption("--robot", "(none)", "the policy does not say which robot it is of; give it, such as panda:dof=3")
    return policy, parse_robot(name)


def _say_what_is_kept(verb: Play) -> None:
    journal = Path(journal_path(verb.out))
    if journal.exists():
        say(verb.common, f"{journal} has every command and reading until then")
