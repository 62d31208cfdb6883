# SPDX-License-Identifier: MIT
"""`imitable acquire`: whom to ask next."""

from collections.abc import Iterable
from dataclasses import asdict

from imitable.acquisition import Source, acquire, grouped
from imitable.cli.console import Watched, bar, document, say, table
from imitable.cli.verbs import Acquire
from imitable.demos.store import read
from imitable.errors import BadOption, one_of
from imitable.feasibility.score import Measuring, score
from imitable.feasibility.score_files import read_scores
from imitable.feasibility.scores import Scores
from imitable.files import Output

COLUMNS = ("name", "episodes", "feasible", "95 % interval", "p", "queries", "cost", "feasible/cost")


def run(verb: Acquire) -> None:
    """Carry out the verb."""
    if verb.draw is not None and verb.draw < 0:
        raise BadOption("--draw", verb.draw, "give a seed, a whole number from 0 on")
    scores = _scores(verb)
    costs = _costs(verb.cost, grouped(scores, verb.by))
    advice = acquire(scores, verb.budget, costs=costs, by=verb.by, draw=verb.draw)
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
        out = Output(observer=Watched(verb.common, shown))
        return score(
            demos, verb.imitator, "direct", verb.common.seed, measuring=Measuring(threads=verb.common.threads), out=out
        )


def _costs(text: str, names: Iterable[str]) -> dict[str, float]:
    """Read NAME=PRICE,…; names may hold commas and = of their own, so that the longest one is looked for first."""
    longest_first, costs, rest = sorted(names, key=len, reverse=True), dict[str, float](), text
    while rest:
        name = next((name for name in longest_first if rest.startswith(f"{name}=")), None)
        if name is None:
            part = rest.rpartition("=")[0] or rest
            raise BadOption("--cost", rest, f"give NAME=PRICE, several joined by commas; {one_of(part, longest_first)}")
        price, _, rest = rest[len(name) + 1 :].partition(",")
        try:
            costs[name] = float(price)
        except ValueError:
            raise BadOption("--cost", f"{name}={price}", "give NAME=PRICE, several joined by commas") from None
        rest = rest.strip()
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
