# SPDX-License-Identifier: MIT
"""The scorers, one whole file each, and the table that loads one by its name when it is asked for."""

from typing import cast

from imitable.feasibility.scorer import Scorer
from imitable.spec_text import find_method, parse_method, split, text_of

METHODS = {
    "direct": "imitable.feasibility.methods.direct:Direct",
    "trajectory": "imitable.feasibility.methods.trajectory:TrajectoryFmdp",
    "one-step": "imitable.feasibility.methods.one_step:OneStepFmdp",
    "inverse-dynamics": "imitable.feasibility.methods.inverse_dynamics:InverseDynamics",
    "transferability": "imitable.feasibility.methods.transferability:Transferability",
    "neighbours": "imitable.feasibility.methods.neighbours:Neighbours",
}
"""Names on the command line, and where each scorer lives."""


def parse_scorer(text: str) -> Scorer:
    """Return the scorer that `text` names: a built-in one, or a class of yours (`my_lab.scorers.Mine:k=3`).

    A class of yours is imported, which runs code: only if you typed its name, see `imitable.user_code`.
    """
    return cast(Scorer, parse_method(text, {split(text)[0]: find_method(text, METHODS, ("prepared", "rule"))}))


def scorer_text(scorer: Scorer) -> str:
    """Return the text that makes a scorer again."""
    return text_of(scorer, METHODS)
