# SPDX-License-Identifier: MIT
"""What the paper prints for the places of an experiment, where imitator, demonstrators and their numbers are its own."""

from imitable.experiments.catalogue import Where
from imitable.experiments.paper_numbers import ARM, DEMONSTRATED, MAPPING, PAPER, PERCENTAGES, STEPS, Printed
from imitable.experiments.settings import SETTINGS
from imitable.policies.shipped import SETS

RETURNS = ("mujoco-a", "mujoco-b", "unrelated-count", "demo-count")
"""Experiments whose rows the paper prints returns of; further ones have tables of their own."""


def printed_at(experiment: str, where: Where) -> tuple[Printed, ...]:
    """Return the paper's numbers for a place; none if the place is not the paper's."""
    if experiment == "mapping":
        return MAPPING
    if experiment == "demo-return":
        return DEMONSTRATED[where.setting.name]
    if experiment not in RETURNS or not _is_the_papers(where):
        return ()
    parts = PERCENTAGES.get(where.setting.name) or {100: PAPER[where.setting.name]}
    return next((numbers for percent, numbers in parts.items() if where.counts == _part(where, percent)), ())


def said_of(experiment: str) -> str:
    """Return what the paper says of an experiment in other numbers than those of its tables; empty if nothing."""
    if experiment == "cost":
        return (
            f"The paper: about {STEPS['score']:,} steps for each of four f-MDPs, and {STEPS['learner']:,} of imitation; of its "
            "experts it does not say."
        )
    if experiment == "arm":
        demonstrated, spread, ours, deviation = ARM["simulated arm"]
        return (
            f"The paper: Ours {ours:,} ± {deviation:,}, demonstrations {demonstrated:,} ± {spread:,}. Its ticks are not ours, "
            "so that returns of arrivals are not comparable, but hits and arrivals are."
        )
    return ""


def _is_the_papers(where: Where) -> bool:
    plain = where.imitator == where.setting.imitator and where.policies == SETS[0] and where.budget is None
    return plain and where.setting in SETTINGS


def _part(where: Where, percent: int) -> tuple[int, ...]:
    return tuple(round(count * percent / 100) for count in where.setting.counts)
