# SPDX-License-Identifier: MIT
"""What the page says of an experiment in words: sentences of docs/reproduction.md, without marks of Markdown."""

from imitable.experiments.captions import (
    AMOUNTS,
    ARMS,
    CURVES,
    EXPERTS,
    LIMITS,
    PAPERS_LINE,
    papers_arm,
    papers_steps,
    returns_caption,
)
from imitable.experiments.catalogue import GROUPS
from imitable.experiments.cells import Terms
from imitable.experiments.claim_text import REGRET, RELATED_MASSES, caveat_text, claim_text, tests_text, together_text
from imitable.experiments.paper_numbers import CLAIM
from imitable.experiments.rows import baselines_in
from imitable.experiments.scaling import scaled_count
from imitable.experiments.tables import Table

CLAIMED_IN = GROUPS["mujoco"]
"""Experiments that the paper's claim is about."""


def plain(text: str) -> str:
    """Return a text without marks of Markdown: the page writes text nodes."""
    return text.replace("`", "").replace("*", "")


def said(table: Table, terms: Terms, *, paper: bool) -> dict[str, str]:
    """Return what is said of an experiment, by where it stands.

    Args:
        table: of the experiment.
        terms: on which its cells were made.
        paper: whether the paper's own numbers may be compared with.
    """
    name, episodes = table.experiment.name, scaled_count(terms.protocol.evaluation.mean, terms.scale)
    of_paper = {"cost": f"{EXPERTS} {papers_steps()}", "arm": papers_arm()}
    of_references = {"demo-return": ARMS, "limits": LIMITS}
    of_claim = _of_claim(table, terms, paper=paper and name == CLAIM) if name in CLAIMED_IN else {}
    return {
        "curves": f"{CURVES} {PAPERS_LINE}" if paper and name == CLAIM else CURVES,
        "amounts": AMOUNTS,
        "returns": " ".join(filter(None, (returns_caption(episodes), plain(of_references.get(name, ""))))),
        "paper": of_paper.get(name, ""),
        **{where: plain(text) for where, text in of_claim.items()},
    }


def _of_claim(table: Table, terms: Terms, *, paper: bool) -> dict[str, str]:
    count = len(table.places)
    return {
        "claim": f"{claim_text(table.rows)} {caveat_text(terms.protocol)}",
        "tests": tests_text(count, paper=paper),
        "together": together_text(baselines_in(table.rows), count),
        "regret": REGRET,
        "related": RELATED_MASSES,
    }
