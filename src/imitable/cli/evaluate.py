# SPDX-License-Identifier: MIT
"""`imitable evaluate`: what the policies of a run are worth."""

from imitable.cli.console import bar, document, say, table
from imitable.cli.evaluation_table import evaluation_table
from imitable.cli.verbs import Evaluate
from imitable.errors import BadOption
from imitable.evaluation.result import RunEvaluation, to_json
from imitable.imitation.evaluate_run import evaluate_run
from imitable.imitation.run_folder import runs_in


def run(verb: Evaluate) -> None:
    """Carry out the verb."""
    if verb.episodes < 1:
        raise BadOption("--episodes", verb.episodes, "give a number above 0")
    runs = runs_in(verb.run)
    evaluations: list[RunEvaluation] = []
    with bar(verb.common, len(runs), "evaluating") as shown:
        for done, folder in enumerate(runs):
            evaluations.append(
                evaluate_run(
                    folder.path,
                    episodes=verb.episodes,
                    seed=verb.common.seed,
                    reward=verb.reward,
                    threads=verb.common.threads,
                )
            )
            shown.move_to(done + 1)
    rows = evaluation_table([folder.path.name for folder in runs], evaluations)
    table(verb.common, f"{verb.run}: {verb.episodes} episodes", *rows)
    say(verb.common, "best: chosen by a reward that an imitator does not have; last is the result")
    numbered = zip(runs, evaluations, strict=True)
    document(verb.common, {"runs": [{"folder": str(folder.path), **to_json(one)} for folder, one in numbered]})
