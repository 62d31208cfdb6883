# SPDX-License-Identifier: MIT
"""`imitable weigh`: other scores and weights from the same distances."""

from imitable.cli.console import document, say, table
from imitable.cli.summary import by_verdict, narrow
from imitable.cli.verbs import Weigh
from imitable.command_text import command
from imitable.feasibility.score import weigh
from imitable.feasibility.score_files import read_scores, write_scores
from imitable.files import check_free, check_writable, locked


def run(verb: Weigh) -> None:
    """Carry out the verb."""
    scores = weigh(read_scores(verb.scores), verb.temperature, verb.keep, verb.balance, segments=verb.segments or None)
    check_writable(verb.out)
    with locked(verb.out):
        check_free(verb.out, overwrite=verb.overwrite)
        write_scores(verb.out, scores)
    for remark in scores.weighing.remarks:
        say(verb.common, f"! {remark}")
    columns, rows = by_verdict(scores)
    table(verb.common, f"{verb.out}: temperature {scores.weighing.temperature}, keeping {verb.keep}", *narrow(columns, rows))
    say(verb.common, f"effective sample size {scores.weights.effective_size:.1f} of {len(scores)}")
    sources = dict.fromkeys(episode.source for episode in scores.episodes if episode.source)
    options = {"imitator": scores.imitator, "scores": verb.out, "out": "run"}
    say(verb.common, f"next: {command('imitate', sources or ['DEMOS'], options)}")
    document(
        verb.common,
        {
            "out": str(verb.out),
            "temperature": scores.weighing.temperature,
            "keep": verb.keep,
            "balance": scores.weighing.balance,
            "segments": scores.weighing.segments,
            "effective_size": scores.weights.effective_size,
            "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows],
        },
    )
