# SPDX-License-Identifier: MIT
"""What the paper prints for the places of an experiment, where imitator, demonstrators and their numbers are its own."""

from imitable.experiments.catalogue import Where
from imitable.experiments.paper_numbers import CLAIM, DEMONSTRATED, MAPPING, PAPER, PERCENTAGES, Printed, printed
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


def papers_level(experiment: str, where: Where) -> float | None:
    """Return the paper's own return that is drawn beside the curves of its claim."""
    found = printed(where.setting.name, "Ours") if experiment == CLAIM else None
    return None if found is None else found.mean


def _is_the_papers(where: Where) -> bool:
    plain = where.imitator == where.setting.imitator and where.policies == SETS[0] and where.budget is None
    return plain and where.setting in SETTINGS


def _part(where: Where, percent: int) -> tuple[int, ...]:
    return tuple(round(count * percent / 100) for count in where.setting.counts)
