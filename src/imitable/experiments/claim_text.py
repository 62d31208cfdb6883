# SPDX-License-Identifier: MIT
"""The paper's claim in words: what is claimed, what came of it, and how it was tested. Names of rows stand in backticks."""

from collections.abc import Sequence

import numpy as np

from imitable.experiments.paper_numbers import printed
from imitable.experiments.protocol import Protocol
from imitable.experiments.rows import PRIMARY, baselines_in, tested_in
from imitable.experiments.statistics import Trend, holm
from imitable.experiments.tables import CERTAIN, Outcome, Table, outcome

UNLIKELY = 0.05
"""p below which a trend counts."""

REGRET = "Regret: how far the mean stays below that of `related only`."
RELATED_MASSES = (
    "The part of the weights that related demonstrators carry, in per cent, each seed; in brackets: the effective number of "
    "demonstrations."
)


def claim_text(rows: Sequence[str]) -> str:
    """Say what is claimed of some rows."""
    return f"The claim: above {', '.join(baselines_in(rows))} in every setting."


def caveat_text(protocol: Protocol) -> str:
    """Say when the claim holds, and what speaks against believing it."""
    seen = (
        "; but the protocol was changed after seeds 0 and 1 of GAIL, `direct` and the ceilings had been seen, so that seeds "
        f"from {protocol.unseen} on alone are new evidence"
    )
    return (
        "It holds if it holds in the least certain one. Primary rows were named beforehand"
        f"{'' if protocol.unseen is None else seen}. Conclusions hold for these demonstrators."
    )


def outcome_texts(table: Table, protocol: Protocol, *, paper: bool = True) -> list[str]:
    """Return what came of the claim, a sentence a row that is tested.

    Args:
        table: of the experiment.
        protocol: that of the table; it says which seeds had been seen.
        paper: whether the paper's own returns may be compared with.
    """
    kinds = {row: "primary" if row in PRIMARY else "exploratory" for row in tested_in(table.rows)}
    return [
        f"`{row}` ({kind}): {_outcome(outcome_of(table, row), paper=paper)}{_unseen(table, row, protocol)}"
        for row, kind in kinds.items()
    ]


def outcome_of(table: Table, row: str) -> Outcome:
    """Return what came of the claim of a row, against the baselines of its table and the paper's own returns."""
    theirs = {place: one.mean for place in table.places if (one := printed(place, "Ours")) is not None}
    return outcome(table, row, baselines_in(table.rows), theirs)


def _outcome(found: Outcome, *, paper: bool) -> str:
    if not found.compared:
        return "not compared anywhere yet."
    test = "no test yet: the row or a baseline has one seed"
    if found.tested:
        who = "where the row and all baselines have two seeds or more"
        later = f" (in {found.foreseen} if all seeds that are planned had today's means and deviations)"
        test = f"with p < {CERTAIN} after Holm in {found.certain} of {found.tested} {who}{later}"
    above = f"above every baseline in {found.above} of {found.compared} settings that are recorded, of {found.places}"
    theirs = f"; above the paper's own return in {found.above_printed} of {found.recorded}" if paper else ""
    return f"{above}; {test}{theirs}."


def _unseen(table: Table, row: str, protocol: Protocol) -> str:
    """Say what seeds alone show that nobody had seen when the protocol was changed; empty if it never was."""
    if protocol.unseen is None or not (found := outcome_of(table.since(protocol.unseen), row)).compared:
        return ""
    test = f", with p < {CERTAIN} in {found.certain} of {found.tested}" if found.tested else ""
    return f" Seeds from {protocol.unseen} on alone: above in {found.above} of {found.compared}{test}."


def tests_text(places: int, *, paper: bool) -> str:
    """Say how the claim is tested in so many settings, and what of the paper's own p-values, if they stand beside ours."""
    theirs = " Of the paper's p-values that can be recomputed, a one-sided test gives Swimmer's only." if paper else ""
    return (
        "Per setting the largest p over the baselines (Welch, two-sided; 1 where the mean is not above); Holm over all "
        f"{places} settings, recorded or not; one-sided and uncorrected next to it. Paired: a permutation test over seeds, "
        "two-sided and uncorrected, which cannot be below 0.06 with five seeds. A row or a baseline with one seed has no p. "
        "With all seeds: what p after Holm would be if all that are planned had today's means and deviations, which are "
        f"themselves uncertain.{theirs}"
    )


def together_text(baselines: Sequence[str], places: int) -> str:
    """Say what numbers of rows over so many settings are."""
    return (
        "Rows over all settings together. Normalised: 0 is a random policy's return, 1 that of the row `own expert` of this "
        "table, which imitates the expert, treated as exact. The interquartile mean leaves a quarter of the runs, rounded "
        "down, out at each end, failures among them; mean and worst setting leave out none. The interval is a bootstrap's "
        "within settings, and needs three seeds everywhere; with so few runs it is narrower than 95 % should be. P: how "
        f"likely a run of the row is above one of {', of '.join(baselines)}, in this order (50 % against itself). {REGRET} A "
        f"row of fewer than {places} settings is not comparable with the others."
    )


def decline_text(trends: Sequence[Trend]) -> str:
    """Say what came of the paper's claim that all rows decline with more unrelated demonstrations, and what could."""
    tested = [one for one in trends if not np.isnan(one.p)]
    if not tested:
        return "The paper's claim that all rows decline is not tested yet."
    falls, certain = sum(one.rho < 0 for one in tested), sum(p < UNLIKELY for p in holm([one.p for one in trends]))
    return (
        f"The paper says that all rows decline. Here ρ is below 0 in {falls} of {len(tested)} pairs of row and setting, with "
        f"p < {UNLIKELY} after Holm over all {len(trends)} in {certain}. With so few runs no p can be below "
        f"{min(one.least_p for one in tested):.2g}, before the correction. Where amounts have different seeds, ρ mixes seeds "
        "and amounts."
    )
