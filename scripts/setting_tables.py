# SPDX-License-Identifier: MIT
"""A setting's demonstrators and imitator in one Markdown table: returns, how far from the paper's, falls, pushes, refusals."""

from collections.abc import Mapping
from typing import Any

from imitable.evaluation.acceptance import SPREAD, Agreement
from imitable.experiments.settings import Setting

COLUMNS = ("robot", "part", "mean actions", "from the paper", "sampled actions", "falls", "pushes", "acceptance")


def table(setting: Setting, said: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the lines of the table, and one about all bodies together; `said` is a card, or what one says, by body."""
    agreement = Agreement({body: said[body]["mean_actions"]["return_mean"] for body in setting.bodies}, setting.paper_return)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for body, part in _parts(setting).items():
        mean, sampled, pushed = said[body]["mean_actions"], said[body]["sampled_actions"], said[body].get("pushed")
        cells = (
            f"`{body}`",
            part,
            _returns(mean),
            f"{agreement.from_paper[body]:+.0%}",
            _returns(sampled),
            f"{mean['falls']}, {sampled['falls']}",
            f"{pushed['survived']} ({pushed['newtons']:g} N)" if pushed else "–",
            "; ".join(said[body]["refusals"]) or "accepted" if "refusals" in said[body] else "not judged",
        )
        lines.append(f"| {' | '.join(cells)} |")
    verdict = f"**more than ±{SPREAD:.0%}**" if agreement.refusals else f"at most ±{SPREAD:.0%} are accepted"
    spread = f"Spread of the mean returns: ±{agreement.spread:.1%} of the middle between the lowest and the highest, {verdict}."
    return [*lines, "", f"{spread} The paper's demonstrations return {setting.paper_return:,.0f}."]


def _parts(setting: Setting) -> dict[str, str]:
    """Return what each body is in a setting; an imitator may demonstrate, too."""
    related = setting.demonstrators[: setting.related]
    parts = {body: "related" if body in related else "unrelated" for body in setting.demonstrators}
    mine = f"imitator, {parts[setting.imitator]}" if setting.imitator in parts else "imitator"
    return {setting.imitator: mine} | {body: part for body, part in parts.items() if body != setting.imitator}


def _returns(performance: Mapping[str, float]) -> str:
    return f"{performance['return_mean']:,.0f} ± {performance['return_std']:,.0f}"
