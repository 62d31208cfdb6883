# SPDX-License-Identifier: MIT
"""The learners, one whole file each, and the table that loads one by its name when it is asked for."""

from typing import cast

from imitable.imitation.learner import Learner
from imitable.spec_text import find_method, parse_method, split, text_of

METHODS = {
    "gaifo": "imitable.imitation.methods.gaifo:Gaifo",
    "sail": "imitable.imitation.methods.sail:Sail",
    "warm-start": "imitable.imitation.methods.warm_start:WarmStart",
    "cloning": "imitable.imitation.methods.cloning:Cloning",
    "state-vae": "imitable.imitation.methods.state_vae:StateVae",
    "dcc": "imitable.imitation.methods.dcc:Dcc",
}
"""Names on the command line, and where each learner lives."""


def parse_learner(text: str) -> Learner:
    """Return the learner that `text` names: a built-in one, or a class of yours (`my_lab.learners.Mine:k=3`).

    A class of yours is imported, which runs code: only if you typed its name, see `imitable.user_code`.
    """
    return cast(Learner, parse_method(text, {split(text)[0]: find_method(text, METHODS, ("begin", "least_steps"))}))


def learner_text(learner: Learner) -> str:
    """Return the text that makes a learner again."""
    return text_of(learner, METHODS)
