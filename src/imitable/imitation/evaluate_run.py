# SPDX-License-Identifier: MIT
"""What the policies of a run folder are worth, by new episodes."""

from pathlib import Path

from imitable.errors import BadOption, NoRun
from imitable.evaluation.evaluate import evaluate
from imitable.evaluation.result import PolicyEvaluation, RunEvaluation
from imitable.evaluation.reward_function import import_reward
from imitable.imitation.run_folder import RunFolder
from imitable.types import Policy
from imitable.user_code import allow

NO_REWARD = "none"
"""Given as a reward: that of the run is left out."""


def evaluate_run(
    path: str | Path, *, episodes: int = 100, seed: int = 0, reward: str | None = None, threads: int = 1
) -> RunEvaluation:
    """Evaluate the final policy of a complete run, and beside it the best.

    A folder never says what is run: a reward that its setting names is imported only if it is given here, too.

    Args:
        path: folder of one run.
        episodes: episodes with each kind of actions.
        seed: another one gives other start states than the run's own evaluation had.
        reward: dotted name of a function that returns are counted by; `none`: not by the one that the run names.
        threads: threads of the simulator; results do not depend on it.
    """
    folder = RunFolder(Path(path))
    if not folder.complete:
        raise NoRun(str(folder.path), "it is not complete: go on with it by imitable imitate … --resume")
    named, best, imitator, reference = folder.setting.reward, folder.best, folder.imitator, folder.reference
    if named is not None and reward is None:
        expected = f"{path} names it, and what a folder names is never run; give --reward {named} if you trust it, or"
        raise BadOption("reward", named, f"{expected} --reward {NO_REWARD} to do without")
    allow(reward)
    function = None if reward in (None, NO_REWARD) else import_reward(reward)

    def evaluated(policy: Policy) -> PolicyEvaluation:
        return evaluate(imitator, policy, reference, episodes=episodes, seed=seed, reward=function, threads=threads)

    return RunEvaluation(str(imitator), evaluated(folder.policy), None if best is None else evaluated(best))
