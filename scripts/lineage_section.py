# SPDX-License-Identifier: MIT
"""Who descends from whom among the demonstrators, on docs/reproduction.md: what related may mean beside dynamics."""

from imitable.experiments.settings import SETTINGS, Setting
from imitable.policies.lineage import lineage


def lineages() -> list[str]:
    """Return the caveat, and a line a setting."""
    return [
        "## Where the demonstrators come from",
        "",
        "The published demonstrations are not available. Ours were trained ([demonstrators.md](demonstrators.md)), many from",
        "the policy of another body on. In all settings but HalfCheetah's, related demonstrators and the imitator's own expert",
        "are of one lineage and unrelated ones of others, so that a score may tell gaits apart as well as dynamics. Arrows",
        "lead from the policy that a run began from to what came of it; all others were trained from scratch.",
        "",
        "| setting | imitator's expert | related | unrelated |",
        "|---|---|---|---|",
        *map(_line, SETTINGS),
        "",
    ]


def _line(setting: Setting) -> str:
    related, unrelated = setting.demonstrators[: setting.related], setting.demonstrators[setting.related :]
    groups = ([setting.imitator], related, unrelated)
    return f"| {setting.name} | {' | '.join('; '.join(_chain(body, setting.name) for body in group) for group in groups)} |"


def _chain(body: str, setting: str) -> str:
    """Name policies: one that is for a setting alone by that setting, too."""
    cards = [(str(one["robot"]), str(one["setting"])) for one in reversed(lineage(body, setting))]
    return " → ".join((name.partition(":")[2] or name) + (f" for {own}" if own else "") for name, own in cards)
