# SPDX-License-Identifier: MIT
"""Rows of the tables: who is imitated, by what weights, with which learner. Names are the same in code, tables and report."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from imitable.experiments.jobs import Scoring, WeightRule
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.feasibility.score import Measuring

ALL, RELATED, OWN = "all", "related", "own"
"""Whose demonstrations a row has: the setting's, those of related demonstrators, those of the imitator's own expert."""

STARTS, FIRST, ANY, MODEL = "usual starts", "first-state resets", "any-state resets", "the simulator as a model"
LABELS, WHO, EXPERT = "labels of demonstrators", "who is related", "an expert of the imitator"
OUTCOMES = "what imitation of each demonstrator achieves"
"""Access: what a row needs beside demonstrated states."""


@dataclass(frozen=True)
class Row:
    """A row before anything is resolved."""

    name: str
    access: tuple[str, ...] = (STARTS,)
    """What its scores and its demonstrations need; balanced weights and a learner with projection add their own."""
    whose: str = ALL
    """all, related, own, or the text of one body."""
    scoring: Scoring | None = None
    """None: nothing is measured."""
    rule: WeightRule | None = None
    """None: that of the protocol, if anything is measured."""
    scored_as: str = ""
    """Rule by which `auto` scores, if it is not the scorer's own."""
    learner: str = PLAIN
    """A name of the protocol's learners, with settings that differ if there are any (`plain:weighting=loss`), or a text."""
    steps: int | None = None
    """Control steps of learning; None: those of the protocol."""
    more_steps: int = 0
    """Control steps of learning beside those."""
    acquires: bool = False
    """Whether demonstrations beside the first ones are asked for by score; else, where there is a budget, uniformly."""

    def weighed_by(self, usual: WeightRule) -> WeightRule:
        """Return its rule, given that of the protocol."""
        return usual if self.rule is None else self.rule

    def needs(self, usual: WeightRule) -> tuple[str, ...]:
        """Return everything that the row needs access to, each once, given the rule of the protocol."""
        labels = (LABELS,) if self.weighed_by(usual).balance == "demonstrator" else ()
        projected = (ANY, MODEL) if self.learner.split(":")[0] == PROJECTION else ()
        return tuple(dict.fromkeys((*self.access, *labels, *projected)))


UNIFORM, AS_PUBLISHED = WeightRule(), WeightRule()
"""Every transition counts the same; the scorer's own rule."""

PAPER_MEASURING = Measuring(distance="l2", discount=0.9)
PAPER_SCORER = "trajectory:tracker_input=initial-state"

GAIL = Row("GAIL", rule=UNIFORM)
SAIL = Row("SAIL", rule=UNIFORM, learner="sail")
ID_FEAS = Row("ID-Feas", (STARTS, FIRST), scoring=Scoring("inverse-dynamics"), rule=AS_PUBLISHED)
OURS_PAPER = Row(
    "Ours (paper)", (STARTS, FIRST, LABELS), scoring=Scoring(PAPER_SCORER, PAPER_MEASURING), rule=WeightRule("paper")
)
OURS = Row("Ours", (STARTS, ANY, LABELS), scoring=Scoring("trajectory"))
DIRECT = Row("direct", (STARTS, ANY, MODEL), scoring=Scoring("direct"))
RELATED_ONLY = Row("related only", (STARTS, WHO), RELATED, rule=UNIFORM)
OWN_EXPERT = Row("own expert", (STARTS, EXPERT), OWN, rule=UNIFORM)
ID_FEAS_OURS = Row("ID-Feas (our weight rule)", (STARTS, FIRST), scoring=Scoring("inverse-dynamics"), scored_as="share")
GAIL_BALANCED = Row("GAIL (balanced)", rule=WeightRule(balance="demonstrator"))
NEIGHBOURS = Row("neighbours", (STARTS, ANY), scoring=Scoring("neighbours"))

ARM_LEARNER = "state-vae"
ARM_STEPS = 200_000
"""Control steps of those learners of the arm that take any."""
ARM_ROWS = (
    replace(GAIL, learner="gaifo:averaged=0,staggered=0", steps=ARM_STEPS),
    replace(SAIL, learner="sail:averaged=0,staggered=0", steps=ARM_STEPS),
    Row("unweighted", rule=UNIFORM, learner=ARM_LEARNER, steps=0),
    replace(ID_FEAS, learner=ARM_LEARNER, steps=0),
    replace(OURS, scoring=Scoring("trajectory:steps=40960"), rule=WeightRule("arm"), learner=ARM_LEARNER, steps=0),
    replace(
        DIRECT,
        scoring=Scoring("direct:effort=quick,restart_budget=50"),
        rule=WeightRule("score:1"),
        learner=ARM_LEARNER,
        steps=0,
    ),
)
"""The paper's arm: ID-Feas, Ours and direct weigh what one learner, a VAE of state transitions, imitates. Its cells are of the
time before learners averaged their last policies and weights were squared, and so are its rows."""

BASELINES = (GAIL, SAIL, ID_FEAS)
"""What the paper compares with."""

CONTROLS = (ID_FEAS_OURS, GAIL_BALANCED, NEIGHBOURS)
"""Rows that tell weight rules from scores."""

TABLE_A = (*BASELINES, OURS_PAPER, OURS, DIRECT, RELATED_ONLY, OWN_EXPERT, *CONTROLS)
"""The paper's claim: the plain learner for every row (SAIL is one of its own)."""

TABLE_B = tuple(replace(row, learner=PROJECTION) for row in (GAIL, ID_FEAS, OURS, DIRECT, RELATED_ONLY, OWN_EXPERT))
"""With projection."""

PRIMARY = ("Ours", "direct")
"""Rows whose tests against the baselines were fixed beforehand."""
EXPLORATORY = ("Ours (paper)",)
"""Rows that are tested likewise, but with fewer seeds, and not corrected for being tried, too."""

CLAIMED = frozenset({"GAIL", "SAIL", "ID-Feas", "Ours", "direct"})
"""Rows that a claim is about: they have more seeds in the main tables."""

RULES = {
    "as it was": WeightRule("share:0.03"),
    "as it was, balanced": WeightRule("share:0.03", balance="demonstrator"),
    "plain": WeightRule("score:1"),
    "balanced": WeightRule("score:1", balance="demonstrator"),
    "sharper": WeightRule(balance="demonstrator"),
}
"""Candidates of our weight rule: exp(−share / 0.03), as it was before scores had the imitator's noise in them; the score; and
its square, as it is today."""


def baselines_in(rows: Sequence[str]) -> list[str]:
    """Return which of some rows the paper compares with."""
    return [row.name for row in BASELINES if row.name in rows]


def tested_in(rows: Sequence[str]) -> list[str]:
    """Return which of some rows are tested against those, the primary ones first."""
    return [row for row in (*PRIMARY, *EXPLORATORY) if row in rows]


def styles(rows: Sequence[str]) -> dict[str, int]:
    """Return the number of a line's style by row: a row of table A has the same in every figure, others take what is free."""
    order = {row.name: place for place, row in enumerate(TABLE_A)}
    taken = {order[row] for row in rows if row in order}
    free = (number for number in count() if number not in taken)
    return {row: order[row] if row in order else next(free) for row in rows}


def likest(rows: Sequence[Row]) -> Row:
    """Return which of some rows in one place that of a user's scorer is made like: one that has scores, if there is one."""
    return next((row for row in rows if row.scoring is not None), rows[0])


def scored_by(method: str, like: Row) -> Row:
    """Return the row of a user's scorer, weighed by the protocol's rule; all but the scores is as in another row.

    Its measures are its own, but a noisy body is rolled out as often as there.
    """
    measuring = Measuring() if like.scoring is None else Measuring(rollouts=like.scoring.measuring.rollouts)
    scoring = Scoring(method, measuring)
    return replace(like, name=method, access=(STARTS,), scoring=scoring, rule=None, scored_as="", more_steps=0)
