# SPDX-License-Identifier: MIT
"""Rules that a set of demonstrations must not break: `infeasible>0.2,score<0.5`."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from imitable.errors import BadOption, one_of
from imitable.feasibility.scores import Scores

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def _part(verdict: str) -> Callable[[Scores], float]:
    return lambda scores: sum(word == verdict for word in scores.verdict) / len(scores)


QUANTITIES: Mapping[str, Callable[[Scores], float]] = {
    "feasible": _part("feasible"),
    "borderline": _part("borderline"),
    "infeasible": _part("infeasible"),
    "unknown": _part("unknown"),
    "feasible_part": lambda scores: float(scores.feasible_part.mean()),
    "score": lambda scores: float(scores.score.mean()),
    "share": lambda scores: float(scores.share.mean()),
    "followed": lambda scores: float(scores.followed.mean()),
    "effective_size": lambda scores: scores.weights.effective_size,
    "certificate": lambda scores: 1.0 if scores.measurement.certificate is None else scores.measurement.certificate,
}
"""What a rule can be about: parts of the set by verdict, means over it, how many carry the weight, the tracker."""


@dataclass(frozen=True)
class Rule:
    """The set fails if this holds."""

    quantity: str
    comparison: str
    bound: float

    def __str__(self) -> str:
        """Return the rule as it is written."""
        return f"{self.quantity}{self.comparison}{self.bound:g}"


@dataclass(frozen=True)
class Outcome:
    """What became of a rule."""

    rule: str
    value: float
    broken: bool

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        return f"{self.rule} holds: it is {self.value:.4g}"


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of `infeasible>0.2,score<0.5`."""
    rules: list[Rule] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"(\w+)\s*(>=|<=|>|<)\s*([-+.\deE]+)", part)
        if match is None:
            raise BadOption("--fail-on", part, "give NAME>NUMBER or NAME<NUMBER, such as infeasible>0.2")
        name, comparison, number = match.groups()
        if name not in QUANTITIES:
            raise BadOption("--fail-on", part, one_of(name, QUANTITIES))
        try:
            rules.append(Rule(name, comparison, float(number)))
        except ValueError:
            raise BadOption("--fail-on", part, f"{number} is no number") from None
    return tuple(rules)


def judged(scores: Scores, rules: Sequence[Rule]) -> tuple[Outcome, ...]:
    """Return what becomes of every rule."""
    values = [QUANTITIES[rule.quantity](scores) for rule in rules]
    return tuple(
        Outcome(str(rule), value, COMPARISONS[rule.comparison](value, rule.bound))
        for rule, value in zip(rules, values, strict=True)
    )
