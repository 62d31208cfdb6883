# SPDX-License-Identifier: MIT
"""The six settings on docs/reproduction.md: who imitates whom, and how many demonstrations there are of each."""

from imitable.experiments.settings import SETTINGS, Setting


def settings() -> list[str]:
    """Return a line a setting."""
    lines = [
        "## The six settings",
        "",
        "The number before a demonstrator is that of its demonstrations. Knobs: Swimmer's are the degrees that a joint bends,",
        "Walker2d's the friction of its feet, HalfCheetah's the strength of a leg's motors, Hopper's gravity; those that are",
        "not named are as in the paper (`imitable robots BODY` lists them; Walker2d's friction is 0.9, Gymnasium's 1.9).",
        "",
        "| setting | imitator | related demonstrators | unrelated demonstrators |",
        "|---|---|---|---|",
    ]
    return [*lines, *(_line(setting) for setting in SETTINGS), ""]


def _line(setting: Setting) -> str:
    each = [f"{count} × `{body}`" for body, count in zip(setting.demonstrators, setting.counts, strict=True)]
    related, unrelated = ", ".join(each[: setting.related]), ", ".join(each[setting.related :])
    return f"| {setting.name} | `{setting.imitator}` | {related} | {unrelated} |"
