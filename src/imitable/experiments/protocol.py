# SPDX-License-Identifier: MIT
"""The protocol: what is fixed before the paper's settings are run. python -m imitable.experiments.protocol writes it.

It holds hashes of the demonstrators, the learners, the weight rule, the steps of every body, seeds and evaluation. Everything
that runs or reads cells reads it. What a cell depends on is part of its name, so that a change makes other cells, never a
mixture; beside that a change is said.
"""

import argparse
import hashlib
import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import cast

from imitable.errors import BadOption, BadRecord
from imitable.experiments.halves import Halves, fixed_halves
from imitable.experiments.jobs import WeightRule
from imitable.experiments.records import read_record, to_json, write_record
from imitable.experiments.settings import SETTINGS
from imitable.policies.shipped import SETS, has_policy, policy_for
from imitable.robots.parse import parse_robot

PLAIN, PROJECTION = "plain", "projection"
"""Names of learners: what the paper claims, and the one that begins from demonstrations projected onto the imitator."""

MILLION = 1_000_000

POST_HOC = (
    "the result of a run is the mean of the policies of its last twentieth, not the last policy (gaifo, warm-start, SAIL)",
    "weights by the square of the score, not by the score",
    "episodes of the simulations begin at different times, so that a batch shows all parts of a movement (the same learners)",
)
"""What was changed after cells of the six settings had been run, which are kept in results/first_protocol."""

UNSEEN = 2
"""The first seed of which nothing had been seen then: of GAIL, `direct` and the ceilings, seeds 0 and 1 had been. Seeds from it
on alone are new evidence."""


@dataclass(frozen=True)
class Seeds:
    """Seeds of cells; each varies demonstrations, scorer and learner."""

    paper: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Of the paper's settings; the rows that a claim is about have all of them, others two fewer."""
    development: tuple[int, ...] = (100, 101, 102)
    """Of the development imitators, on which learner and weight rule are chosen."""


@dataclass(frozen=True)
class Evaluation:
    """What the final policy plays."""

    mean: int = 100
    """Episodes with mean actions."""
    sampled: int = 20
    """Episodes with sampled actions."""


@dataclass(frozen=True)
class Protocol:
    """What is fixed."""

    learners: dict[str, str]
    """Learners as text, by name: plain and projection."""
    rule: WeightRule
    """Of our own weights; the paper's rule and ID-Feas's are as published."""
    steps: dict[str, int]
    """Control steps of learning, by robot family."""
    scores_count: tuple[str, ...]
    """Names of the learners whose steps are reduced by those of the scores, so that the total is the same for all rows."""
    seeds: Seeds
    evaluation: Evaluation
    experts: dict[str, str]
    """Hashes of the demonstrators, by body, `@` and setting, and set if it is not a."""
    post_hoc: tuple[str, ...] = ()
    """What was changed after cells had been run and seen."""
    halves: Halves | None = None
    """Which imitators may be looked at while the probability of imitation is worked on, and which only report."""

    @property
    def unseen(self) -> int | None:
        """The first seed of which nothing had been seen when it was changed; None: it is as it was fixed beforehand."""
        return UNSEEN if self.post_hoc else None

    @property
    def hash(self) -> str:
        """Of all that cells depend on, which the split of the imitators is not: it says what may be read of them."""
        text = json.dumps(to_json(replace(self, halves=None)), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def changes(self, other: "Protocol") -> list[str]:
        """Return what is not the same in another protocol, a line each: this one's value, then the other's."""
        lines: list[str] = []
        for field in fields(self):
            ours, theirs = (_flat(field.name, getattr(one, field.name)) for one in (self, other))
            names = [name for name in ours | theirs if ours.get(name) != theirs.get(name)]
            lines += [f"{name}: {ours.get(name)}, was {theirs.get(name)}" for name in names]
        return lines


def _flat(name: str, value: object) -> dict[str, object]:
    """Return a field's values by name, those of tables and dataclasses one by one."""
    content: object = to_json(value)
    if not isinstance(content, dict):
        return {name: content}
    return {f"{name} of {key}": each for key, each in cast(dict[str, object], content).items()}


def default_protocol() -> Protocol:
    """Return the protocol of this version: its own defaults and its own demonstrators."""
    return Protocol(
        learners={PLAIN: "gaifo", PROJECTION: "warm-start"},
        rule=WeightRule(balance="demonstrator"),
        steps={"swimmer": 2 * MILLION, "walker2d": 2 * MILLION, "half_cheetah": MILLION, "hopper": MILLION},
        scores_count=(),
        seeds=Seeds(),
        evaluation=Evaluation(),
        experts=expert_hashes(),
        post_hoc=POST_HOC,
        halves=fixed_halves(),
    )


def expert_hashes() -> dict[str, str]:
    """Return the hashes of the policies that demonstrate in the paper's settings."""
    return {
        f"{body}@{setting.name}{'' if set_name == SETS[0] else f' set {set_name}'}": policy.hash[:16]
        for set_name in SETS
        for setting in SETTINGS
        for body in setting.bodies
        if has_policy(robot := parse_robot(body), set_name) and (policy := policy_for(robot, setting.name, set_name))
    }


def read_protocol(path: Path) -> Protocol:
    """Return the protocol of a file; without one, that of this version."""
    try:
        return read_record(Protocol, path) if path.exists() else default_protocol()
    except BadRecord as error:
        raise BadOption("--protocol", path, f"{error.reason}; python -m imitable.experiments.protocol writes one") from None


def changed_experts(protocol: Protocol) -> list[str]:
    """Return which demonstrators are not those of the protocol, a line each."""
    shipped = expert_hashes()
    return replace(protocol, experts=shipped).changes(protocol)


def _pairs(texts: list[str]) -> dict[str, str]:
    """Read NAME=VALUE."""
    pairs = {text.partition("=")[0]: text.partition("=")[2] for text in texts}
    if not all(pairs.values()):
        raise BadOption("NAME=VALUE", " ".join(texts), "give a name, =, and its value")
    return pairs


def main() -> None:
    """Write the protocol of this version, with what the options change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/protocol.json"))
    parser.add_argument("--learner", action="append", default=[], help="NAME=TEXT, such as projection=warm-start")
    parser.add_argument("--steps", action="append", default=[], help="ROBOT=NUMBER, such as hopper=1000000")
    parser.add_argument("--balance", default="demonstrator", help="demonstrator, or none")
    parser.add_argument("--temperature", default="auto")
    parser.add_argument("--scores-count", action="append", default=[], help="name of a learner that pays for its scores")
    options = parser.parse_args()
    plain = default_protocol()
    protocol = Protocol(
        plain.learners | _pairs(options.learner),
        WeightRule(temperature=options.temperature, balance=options.balance),
        plain.steps | {name: int(number) for name, number in _pairs(options.steps).items()},
        tuple(options.scores_count),
        plain.seeds,
        plain.evaluation,
        plain.experts,
        plain.post_hoc,
        plain.halves,
    )
    write_record(options.out, protocol, indent=1)


if __name__ == "__main__":
    main()
