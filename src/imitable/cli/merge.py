# SPDX-License-Identifier: MIT
"""`imitable merge`: shards of one scoring job as one score file."""

from imitable.cli.console import say
from imitable.cli.experiment_verbs import Merge
from imitable.cli.score import report
from imitable.command_text import command
from imitable.feasibility.merge import merge


def run(verb: Merge) -> None:
    """Carry out the verb."""
    scores = merge(verb.scores, verb.out, overwrite=verb.overwrite)
    report(verb.common, scores, verb.out)
    say(verb.common, f"next: {command('weigh', [verb.out], {'temperature': 'auto'})}")
