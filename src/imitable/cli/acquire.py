# SPDX-License-Identifier: MIT
"""`imitable acquire`: whom to ask next."""

from dataclasses import asdict

from imitable.acquisition import Source, acquire
from imitable.cli.console import bar, document, say, table
from imitable.cli.verbs import Acquire
from imitable.demos.store import read
from imitable.errors import BadOption
from imitable.feasibility.method import score
from imitable.feasibility.score_files import read_scores
from imitable.types import Scores

COLUMNS = ("name", "episodes", "feasible", "95 % interval", "p", "queries", "cost", "feasible/cost")


def run(verb: Acquire) -> None:
    """Carry out the verb."""
    costs = _costs(verb.cost)
    advice = acquire(_scores(verb), verb.budget, costs=costs, by=verb.by)
    table(verb.common, f"Whom to ask for {verb.budget} demonstrations", COLUMNS, [_row(source) for source in advice.sources])
    say(verb.common, advice.sentence)
    document(verb.common, {"budget": verb.budget, **asdict(advice)})


def _scores(verb: Acquire) -> Scores:
    if verb.scores is not None:
        return read_scores(verb.scores)
    if not verb.demos or verb.imitator is None:
        raise BadOption("DEMOS", "(none)", "give demonstrations and --imitator SPEC, or --scores FILE")
    demos = read(*verb.demos)
    with bar(verb.common, len(demos), "scoring") as shown:
        return score(
            demos,
            verb.imitator,
            "direct",
            verb.common.seed,
            threads=verb.common.threads,
            on_progress=lambda done, _: shown.move_to(done),
        )


def _costs(text: str) -> dict[str, float]:
    """Read NAME=X,…; names may hold = and : of their own, so the price is what follows the last =."""
    costs: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        name, equals, price = part.rpartition("=")
        try:
            costs[name.strip()] = float(price)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise BadOption("--cost", part, "give NAME=PRICE, several joined by commas")
    return costs


def _row(source: Source) -> tuple[object, ...]:
    return (
        source.name,
        source.demonstrations,
        f"{source.feasible:.0%}",
        f"{source.low:.0%}–{source.high:.0%}",
        round(source.probability, 3),
        source.queries,
        source.cost,
        round(source.feasible_per_cost, 3),
    )
