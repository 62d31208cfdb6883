# SPDX-License-Identifier: MIT
"""What rows are, in words."""

import pytest

from imitable.experiments.catalogue import catalogue
from imitable.experiments.jobs import Scoring, WeightRule
from imitable.experiments.protocol import default_protocol
from imitable.experiments.row_text import row_text
from imitable.experiments.rows import DIRECT, GAIL, GAIL_BALANCED, ID_FEAS, ID_FEAS_OURS, OURS_PAPER, Row
from imitable.feasibility.score import Measuring

USUAL = WeightRule(balance="demonstrator")


def weighed(rule: WeightRule) -> Row:
    return Row("row", scoring=Scoring("direct"), rule=rule)


@pytest.mark.parametrize(
    ("row", "weights"),
    [
        (GAIL, "all the same"),
        (GAIL_BALANCED, "all the same, balanced"),
        (DIRECT, "the square of the score, balanced"),
        (ID_FEAS, "the score, as published"),
        (ID_FEAS_OURS, "the square of the score, balanced"),
        (OURS_PAPER, "exp(−D / 5)"),
        (weighed(WeightRule("20.0")), "exp(−D / 20)"),
        (weighed(WeightRule("arm")), "exp(−D / σ), σ taken from the distances"),
        (weighed(WeightRule("share:0.03")), "exp(−share / 0.03)"),
        (weighed(WeightRule("score:1")), "the score"),
        (
            weighed(WeightRule("score:2", keep="feasible", balance="demonstrator")),
            "score^(1 / 2), feasible ones only, balanced",
        ),
        (weighed(WeightRule("auto", segments=True)), "the square of the score, of segments"),
        (Row("theirs", scoring=Scoring("no_such_module.Calm:k=1")), "by its scorer's own rule, balanced"),
        (Row("older", scoring=Scoring("direct:no_such_setting=1")), "the square of the score, balanced"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_weights(row: Row, weights: str) -> None:
    assert row_text(row, USUAL).weights == weights


def test_demonstrations_and_scores() -> None:
    noisy = Row("noisy", scoring=Scoring("direct", Measuring(rollouts=5)), acquires=True)
    text = row_text(noisy, USUAL)
    assert (text.demonstrations, text.scores) == ("all, asked for by score", "`direct`, mean of 5 rollouts")
    alone = row_text(Row("alone", whose="hopper:gravity=5"), USUAL)
    assert (alone.demonstrations, alone.scores) == ("those of hopper:gravity=5", "–")


def test_rows_of_one_experiment_that_differ_in_scores_or_weights_are_told_apart() -> None:
    rule = default_protocol().rule
    for experiment in catalogue():
        rows = {entry.row.name: entry.row for entry in experiment.entries}
        keys = {(row.whose, row.acquires, row.scoring, row.weighed_by(rule), row.scored_as) for row in rows.values()}
        texts = {(text.demonstrations, text.scores, text.weights) for text in (row_text(row, rule) for row in rows.values())}
        assert len(texts) == len(keys), experiment.name
