# SPDX-License-Identifier: MIT
"""`imitable collect`: record demonstrations."""

from collections.abc import Iterator

from imitable.cli.console import Bar, bar, document, say, table
from imitable.cli.summary import by_demonstrator
from imitable.cli.verbs import Collect
from imitable.demonstrators.shipped import policy_for
from imitable.demos.collect import collect
from imitable.demos.store import read, write
from imitable.dynamics.parse import robot
from imitable.dynamics.variant import Variant
from imitable.errors import BadOption, MixedDatasets
from imitable.sim.policy import load_policy
from imitable.sim.task import Free, Locomotion
from imitable.types import Policy, Trajectory


def run(verb: Collect) -> None:
    """Carry out the verb."""
    if not verb.specs:
        raise BadOption("SPEC", "(none)", "name one robot or several, such as hopper:gravity=20")
    variants = [robot(spec) for spec in verb.specs]
    counts = _counts(verb.episodes, len(variants))
    _check_alike(variants)
    policies = [load_policy(verb.policy) if verb.policy else policy_for(variant) for variant in variants]
    with bar(verb.common, sum(counts), "recording") as shown:
        recorded = _record(verb, variants, policies, counts, shown)
        write(verb.out, variants[0].layout, recorded, overwrite=verb.overwrite)
    demos = read(verb.out)
    columns, rows = by_demonstrator(demos.episodes)
    table(verb.common, f"{verb.out}: {len(demos):,} demonstrations", columns, rows)
    say(verb.common, f"next: imitable inspect {verb.out}")
    document(verb.common, {"out": str(verb.out), "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows]})


def _record(
    verb: Collect, variants: list[Variant], policies: list[Policy], counts: list[int], shown: Bar
) -> Iterator[Trajectory]:
    done = 0
    for variant, policy, count in zip(variants, policies, counts, strict=True):
        task = Locomotion(variant) if variant.robot.rules else Free(variant)
        for trajectory in collect(task, policy, count, verb.common.seed, sampled=verb.sampled, threads=verb.common.threads):
            yield trajectory
            done += 1
            shown.move_to(done, str(variant))


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


def _check_alike(variants: list[Variant]) -> None:
    for other in variants[1:]:
        if other.layout != variants[0].layout:
            raise MixedDatasets(str(variants[0]), str(other), "their states differ; collect them into folders of their own")
