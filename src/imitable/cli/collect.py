# SPDX-License-Identifier: MIT
"""`imitable collect`: record demonstrations."""

from collections.abc import Iterator

from imitable.cli.console import Bar, bar, document, say, table
from imitable.cli.summary import demonstrator_table
from imitable.cli.verbs import Collect
from imitable.command_text import command
from imitable.demos.collect import collect
from imitable.demos.store import read, write
from imitable.demos.waypoints import mode_counts, waypoint_demonstrations
from imitable.errors import BadOption, MixedDatasets
from imitable.experiments.settings import SETTINGS
from imitable.policies.files import load_policy
from imitable.policies.shipped import policy_for, quiet_text
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.own_task import own_task
from imitable.types import Policy, Trajectory


def run(verb: Collect) -> None:
    """Carry out the verb."""
    if not verb.specs:
        raise BadOption("SPEC", "(none)", "name one robot or several, such as hopper:gravity=20")
    robots = [parse_robot(spec) for spec in verb.specs]
    counts = _counts(verb.episodes, len(robots))
    _check_alike(robots)
    policies = _policies(verb, robots)
    with bar(verb.common, sum(counts), "recording") as shown:
        recorded = _record(verb, robots, policies, counts, shown)
        arm = robots[0] if robots[0].tool else None
        write(verb.out, robots[0].layout, recorded, overwrite=verb.overwrite, arm=arm)
    demos = read(verb.out)
    columns, rows = demonstrator_table(demos.episodes)
    table(verb.common, f"{verb.out}: {len(demos):,} demonstrations", columns, rows)
    say(verb.common, f"next: {command('inspect', [verb.out])}")
    document(verb.common, {"out": str(verb.out), "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows]})


def _policies(verb: Collect, robots: list[Robot]) -> list[Policy | None]:
    """Return who plays each robot: the user's policy, or the demonstrators of a set, those of a setting if one is named.

    None plays an arm: way points lead it.
    """
    if verb.policy is not None:
        for option, value, default in (("--setting", verb.setting, None), ("--set", verb.set, "a")):
            if value != default:
                raise BadOption(option, value, "it chooses among the shipped demonstrators; leave it out, or --policy")
        return [load_policy(verb.policy)] * len(robots)
    if verb.setting is not None:
        _check_setting(verb.setting, robots)
    return [None if robot.tool else policy_for(robot, verb.setting or "", verb.set) for robot in robots]


def _check_setting(name: str, robots: list[Robot]) -> None:
    bodies = {setting.name: setting.bodies for setting in SETTINGS}
    if name not in bodies:
        raise BadOption("--setting", name, f"choose from: {', '.join(bodies)}")
    for robot in robots:
        if quiet_text(robot) not in bodies[name]:
            raise BadOption("--setting", name, f"{robot} is not in it, but {', '.join(dict.fromkeys(bodies[name]))}")


def _record(
    verb: Collect, robots: list[Robot], policies: list[Policy | None], counts: list[int], shown: Bar
) -> Iterator[Trajectory]:
    done, common = 0, verb.common
    for robot, policy, count in zip(robots, policies, counts, strict=True):
        if policy is None:
            made = waypoint_demonstrations(robot, mode_counts(robot, count), common.seed, threads=common.threads)
        else:
            made = collect(own_task(robot), policy, count, common.seed, sampled=verb.sampled, threads=common.threads)
        for trajectory in made:
            yield trajectory
            done += 1
            shown.move_to(done, str(robot))


def _counts(text: str, robots: int) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise BadOption("--episodes", text, "give N, or N,N,… one for each robot") from None
    if len(counts) == 1:
        counts *= robots
    if len(counts) != robots or min(counts) < 1:
        raise BadOption("--episodes", text, f"give one number above 0, or {robots}, one for each robot")
    return counts


def _check_alike(robots: list[Robot]) -> None:
    for other in robots[1:]:
        if other.layout != robots[0].layout:
            raise MixedDatasets(str(robots[0]), str(other), "their states differ; collect them into folders of their own")
