# SPDX-License-Identifier: MIT
"""What stands under figures and tables, one text for docs/reproduction.md and the report."""

from imitable.experiments.paper_numbers import ARM, ARM_P, SIMULATED_ARM, STEPS
from imitable.experiments.tables import Table

CURVES = (
    "Lines: the last 64 episodes while it learns, with sampled actions, mean over seeds; bands: the range of seeds. Dots, side "
    "by side: the returns of the tables, with mean actions of the final policy."
)
"""Of returns against steps."""

PAPERS_LINE = "The grey dotted level: the paper's Ours."

AMOUNTS = "Mean actions of the final policy; bars: deviation between seeds, where there are two or more."
"""Of returns against an amount."""

OWN_EXPERT_ITSELF, OWN_REWARD = "its own expert itself", "learned from its own reward"
"""What the imitators of `limits` could do beside imitating."""

LIMITS = (
    "Each imitator can do all that its demonstrators can, so that every demonstration is feasible. What else the body can do: "
    "its shipped expert, whose training stopped at a goal, so that experts are equally good, and PPO on the task's reward "
    "without a goal (`python -m imitable.experiments.own_reward`)."
)

ARMS = (
    "Demonstrated: the mean of all demonstrations of a setting, related or not, each on its own body. The arm: its rows have "
    "weight rules of their own, see arm; `Ours (paper)` was not run on it. The paper's real arm is hardware; ours is a "
    "simulated FR3 behind the real driver, and its numbers are over trials, not over seeds."
)
"""Of demonstrations against ours."""

EXPERTS = "Experts: all runs of the four demonstrators, and of the policies that they began from, each once."


def returns_caption(episodes: int) -> str:
    """Say what numbers in a table of returns are, of so many episodes a run."""
    return f"Mean ± deviation between seeds (number of seeds), mean actions of the final policy, {episodes} episodes."


def missing_text(table: Table) -> str:
    """Say how many cells are not recorded yet, and whether these are further seeds only; empty if all are recorded."""
    if not table.missing:
        return ""
    text = f"{table.missing:,} of {len(table.cells):,} planned cells are not recorded yet"
    begun = all(table.at(cell.where, cell.row) for cell in table.cells)
    return f"{text}: further seeds of rows that have at least one." if begun else f"{text}."


def papers_steps() -> str:
    """Say what the paper says of its costs."""
    return (
        f"The paper: about {STEPS['score']:,} steps for each of four f-MDPs, and {STEPS['learner']:,} of imitation; of its "
        "experts it does not say."
    )


def papers_arm() -> str:
    """Say what the paper says of its simulated arm."""
    demonstrated, ours = ARM[SIMULATED_ARM]
    returned, succeeded = ARM_P[SIMULATED_ARM]
    return (
        f"The paper: Ours {ours.mean:,} ± {ours.std:,}, demonstrations {demonstrated.mean:,} ± {demonstrated.std:,}. It does "
        "not say between what it deviates; its ticks are not ours, so that returns of arrivals are not comparable, but hits "
        f"and arrivals are. Its highest p, with ID-Feas, are {returned:.2g} of the return and {succeeded:.2g} of success. It "
        "prints 5.12e3 steps for the scores and 2.56e4 for the learner."
    )
