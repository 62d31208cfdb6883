# SPDX-License-Identifier: MIT
"""What a row is, in words: whose demonstrations, which scores, how they become weights. No scorer of a user's is imported."""

from dataclasses import dataclass

from imitable.experiments.jobs import Scoring, WeightRule
from imitable.experiments.rows import ALL, OWN, RELATED, Row
from imitable.feasibility.methods import METHODS
from imitable.feasibility.weighting import PAPER_TEMPERATURE, SCORE, SHARE, parse_temperature
from imitable.spec_text import find_method, split

NOTHING = "–"

WHOSE = {ALL: "all", RELATED: "related only", OWN: "own expert's"}
"""Whose demonstrations; others are those of one body."""

BY_ITSELF = {"share": "the square of the score", "calibrated": "the score, as published", "sigmoid": "the score"}
"""What `auto` weighs by, by the rule that scores."""

OWN_RULE = "by its scorer's own rule"
"""How `auto` weighs by the scores of a scorer that is not ours."""


@dataclass(frozen=True)
class RowText:
    """A row in words; texts of methods stand in backticks."""

    demonstrations: str
    """Whose."""
    scores: str
    """By which scorer, and by which distance if it is not ours."""
    weights: str
    """How they are made of the scores."""
    needs: tuple[str, ...]
    """What it needs access to beside demonstrated states."""


def row_text(row: Row, usual: WeightRule) -> RowText:
    """Return what a row is, given the weight rule of the protocol."""
    scores = NOTHING if row.scoring is None else _measured(row.scoring)
    return RowText(_demonstrations(row), scores, _weights(row, row.weighed_by(usual)), row.needs(usual))


def _demonstrations(row: Row) -> str:
    whose = WHOSE.get(row.whose, f"those of {row.whose}")
    return f"{whose}, asked for by score" if row.acquires else whose


def _measured(scoring: Scoring) -> str:
    """Say who scores, and by which distance if its discount is a number of the paper's, not one by time."""
    measuring = scoring.measuring
    distance = "" if measuring.discount is None else f", {measuring.distance}, discount {measuring.discount:g}"
    rollouts = "" if measuring.rollouts == 1 else f", mean of {measuring.rollouts} rollouts"
    return f"`{scoring.method}`{distance}{rollouts}"


def _weights(row: Row, rule: WeightRule) -> str:
    """Say how scores become weights."""
    if rule.masses is not None:
        return "the square of what imitation achieves, by demonstrator"
    by = "all the same" if row.scoring is None else _by(row.scoring, rule, row.scored_as)
    kept = "" if rule.keep == "all" else f", {rule.keep} ones only"
    balanced = ", balanced" if rule.balance == "demonstrator" else ""
    return f"{by}{kept}{', of segments' if rule.segments else ''}{balanced}"


def _by(scoring: Scoring, rule: WeightRule, scored_as: str) -> str:
    """Say what a demonstration weighs: D is its distance, see `weighting.log_scores` and `weighting.weight_logs`."""
    temperature = rule.temperature
    if temperature == "auto":
        return BY_ITSELF.get(scored_as or _scored_as(scoring.method), OWN_RULE)
    if temperature == "paper":
        return f"exp(−D / {PAPER_TEMPERATURE:g})"
    if temperature == "arm":
        return "exp(−D / σ), σ taken from the distances"
    number = parse_temperature(temperature)
    if temperature.startswith(SCORE):
        return "the score" if number == 1 else f"score^(1 / {number:g})"
    return f"exp(−share / {number:g})" if temperature.startswith(SHARE) else f"exp(−D / {number:g})"


def _scored_as(method: str) -> str:
    """Return the rule by which a scorer of ours scores; empty of another one, which would have to be imported."""
    name, _ = split(method)
    return str(find_method(name, METHODS).rule) if name in METHODS else ""
