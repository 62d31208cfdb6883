# SPDX-License-Identifier: MIT
"""Do demonstrations fit an imitator? Asked before anything is simulated or learned."""

from imitable.errors import BadEpisode, BadOption
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Layout


def check_set(demos: Demonstrations, imitator: Robot) -> None:
    """Refuse an empty set, and demonstrations of other joints."""
    if not len(demos):
        raise BadOption("DEMOS", "(empty)", "there is no demonstration in the set; record or convert some first")
    check_layout(demos.layout, imitator.layout, demos.episodes[0].source)
    for episode in demos.episodes:
        if episode.length < 2:
            reason = "it has one transition, and a rollout needs at least two; leave it out (--leave-out)"
            raise BadEpisode(episode.source, episode.index, reason)


def check_layout(demonstrated: Layout, imitator: Layout, source: str) -> None:
    """Refuse demonstrations whose states or control period are not the imitator's."""
    if demonstrated.state != imitator.state:
        first = next((a for a in demonstrated.state if a not in imitator.state), f"{len(demonstrated.state)} entries")
        raise BadOption(
            "DEMOS",
            source or "in memory",
            f"their states ({len(demonstrated.state)} entries, {first} among them) are not the imitator's "
            f"({len(imitator.state)} entries: {', '.join(imitator.state)}); give demonstrations of the same joints, "
            "or map them (imitable convert)",
        )
    if abs(demonstrated.period_s - imitator.period_s) > 1e-6:
        raise BadOption(
            "DEMOS",
            source or "in memory",
            f"a frame lasts {demonstrated.period_s:g} s, the imitator's control period is {imitator.period_s:g} s; "
            f"resample them (imitable convert), or give the robot period={demonstrated.period_s:g} if it is a model file",
        )
