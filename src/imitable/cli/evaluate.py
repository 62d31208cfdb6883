# SPDX-License-Identifier: MIT
"""`imitable evaluate`: what the policies of a run are worth."""

from typing import Any

from imitable.cli.console import bar, document, say, table
from imitable.cli.imitate import evaluation_table
from imitable.cli.verbs import Evaluate
from imitable.errors import BadOption, NoRun
from imitable.evaluation.evaluate import worth
from imitable.evaluation.returns import EVALUATION_SEED
from imitable.evaluation.reward_function import reward_function
from imitable.imitation.run_folder import RunFolder, runs_in
from imitable.types import Policy


def run(verb: Evaluate) -> None:
    """Carry out the verb."""
    if verb.episodes < 1:
        raise BadOption("--episodes", verb.episodes, "give a number above 0")
    runs = runs_in(verb.run)
    found: list[dict[str, Any]] = []
    with bar(verb.common, len(runs), "evaluating") as shown:
        for done, folder in enumerate(runs):
            found.append(_evaluated(verb, folder))
            shown.move_to(done + 1)
    rows = evaluation_table([folder.path.name for folder in runs], found)
    table(verb.common, f"{verb.run}: {verb.episodes} episodes", *rows)
    say(verb.common, "best: chosen by a reward that an imitator does not have; the last policy is the result")
    document(verb.common, {"runs": [{"folder": str(folder.path), **one} for folder, one in zip(runs, found, strict=True)]})


def _evaluated(verb: Evaluate, folder: RunFolder) -> dict[str, Any]:
    if not folder.complete:
        raise NoRun(str(folder.path), "it is not complete: go on with it by imitable imitate … --resume")
    setting, best, imitator = folder.setting, folder.best, folder.imitator
    named = verb.reward or setting["reward"]
    reward = None if named is None else reward_function(named)

    def judged(policy: Policy) -> dict[str, Any]:
        seed, threads = EVALUATION_SEED + verb.common.seed, verb.common.threads
        return worth(imitator, policy, folder.reference, verb.episodes, seed=seed, reward=reward, threads=threads)

    return {
        "last": judged(folder.policy),
        "best": None if best is None else judged(best),
    }
