# SPDX-License-Identifier: MIT
"""Our laws, for other people's methods: `check_scorer(MyScorer(), demos, "hopper:gravity=15")` in a test of yours.

`check_learner` does the same for learners.
"""

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imitable.errors import BadWeights, ScoreWarning
from imitable.feasibility.episode_score import VERDICTS
from imitable.feasibility.score import Measuring, score
from imitable.feasibility.scorer import Scorer
from imitable.feasibility.scores import Scores
from imitable.imitation.learner import Learner, LearningJob, Training
from imitable.imitation.methods import parse_learner
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Floats, InMemory, Policy, Trajectory, Weights
from imitable.user_code import allow


def check_scorer(
    scorer: Scorer | str,
    demos: Demonstrations,
    imitator: Robot | str,
    *,
    seed: int = 0,
    local: bool = True,
    measuring: Measuring | None = None,
) -> Scores:
    """Raise AssertionError, naming the law, if a scorer breaks one; return its scores of the whole set.

    Args:
        scorer: the method, or its text.
        demos: at least three demonstrations that fit into memory.
        imitator: the robot that shall imitate.
        seed: seed of everything random.
        local: whether a demonstration's score may depend on that demonstration alone; a method that learns from the set, or
            scales by it, is not local, and is spared the law about added demonstrations.
        measuring: distance, compared entries, discount, rollouts, threads.
    """
    trajectories: list[Trajectory] = list(demos)

    def scored(chosen: Sequence[Trajectory]) -> Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)
            return score(InMemory(demos.layout, chosen), imitator, scorer, seed, measuring=measuring)

    scores = scored(trajectories)
    _law_of_ranges(scores)
    _same("the same seed gives the same scores", scored(trajectories), scores, np.arange(len(trajectories)))
    backwards = np.arange(len(trajectories))[::-1]
    _same("permuted demonstrations have permuted scores", scored(trajectories[::-1]), scores, backwards)
    if local:
        part = np.arange(len(trajectories) - 1)
        _same("an added demonstration changes no other score", scored(trajectories[:-1]), scores, part, weights=False)
    _law_of_strangers(scores, demos)
    return scores


def _law_of_ranges(scores: Scores) -> None:
    assert np.isfinite(scores.distance).all(), "distances are finite"
    assert np.isfinite(scores.share).all(), "shares are finite"
    assert ((scores.score >= 0) & (scores.score <= 1)).all(), "scores lie in [0, 1]"
    assert (scores.weight >= 0).all(), "no weight is negative"
    assert abs(float(scores.weight.sum()) - 1) < 1e-9, "weights sum to one"
    assert set(scores.verdict) <= set(VERDICTS), f"verdicts are {', '.join(VERDICTS)}"
    lengths = np.array([episode.length for episode in scores.episodes])
    assert (scores.first_divergence <= lengths).all(), "a divergence lies within its demonstration"


def _same(law: str, scores: Scores, expected: Scores, rows: "np.ndarray", *, weights: bool = True) -> None:
    """Compare scores[k] with expected[rows[k]], to the last bit but the weights, which are sums over the set."""
    for name in ("distance", "share", "score", "first_divergence"):
        ours: Floats = getattr(scores, name)
        assert np.array_equal(ours, getattr(expected, name)[rows]), f"{law}: {name} differs"
    assert scores.verdict == tuple(expected.verdict[int(i)] for i in rows), f"{law}: a verdict differs"
    if weights:
        assert np.allclose(scores.weight, expected.weight[rows], rtol=1e-9), f"{law}: a weight differs"


def _law_of_strangers(scores: Scores, demos: Demonstrations) -> None:
    """Weights are refused by demonstrations that they were not made for."""
    first = demos[0]
    stranger = InMemory(demos.layout, [Trajectory(first.states + 1e-6, first.demonstrator)])
    try:
        scores.weights.of(stranger)
    except BadWeights:
        return
    raise AssertionError("foreign weights are refused")


def check_learner(learner: Learner | str, demos: Demonstrations, imitator: Robot | str, *, steps: int, seed: int = 0) -> Policy:
    """Raise AssertionError, naming the law, if a learner breaks one; return the policy it learns from the whole set.

    Args:
        learner: the method, or its text.
        demos: at least two demonstrations that fit into memory and that the learner accepts.
        imitator: the robot that shall imitate.
        steps: control steps of each of the seven trainings: a few batches.
        seed: seed of everything random.
    """
    allow(learner)
    method = parse_learner(learner) if isinstance(learner, str) else learner
    body = parse_robot(imitator) if isinstance(imitator, str) else imitator
    trajectories: list[Trajectory] = list(demos)

    def begun(chosen: Sequence[Trajectory], weights: Weights | None = None, begin_seed: int = seed) -> Training:
        return method.begin(LearningJob(InMemory(demos.layout, chosen), body, weights, steps, begin_seed))

    first = begun(trajectories)
    _law_of_references(first, body)
    policy = _ended(first)
    assert _ended(begun(trajectories)).hash == policy.hash, "the same seed gives the same policy"
    assert _ended(begun(trajectories, begin_seed=seed + 1)).hash != policy.hash, "another seed gives another policy"
    lengths = np.array([len(trajectory) for trajectory in trajectories], np.float64)
    equal = _weights(trajectories, lengths)
    assert _ended(begun(trajectories, equal)).hash == policy.hash, "equal weights are no weights"
    most, without = lengths.copy(), lengths[:-1]
    most[-1] = 0.0
    zero = _ended(begun(trajectories, _weights(trajectories, most)))
    absent = _ended(begun(trajectories[:-1], _weights(trajectories[:-1], without)))
    assert zero.hash == absent.hash, "a demonstration of weight zero has no influence"
    _law_of_resuming(begun(trajectories), begun(trajectories), policy)
    return policy


def _weights(trajectories: Sequence[Trajectory], masses: Floats) -> Weights:
    return Weights(tuple(trajectory.hash for trajectory in trajectories), masses / masses.sum())


def _ended(training: Training) -> Policy:
    """Go on to the end of a training."""
    while not training.done:
        training.iterate()
    assert training.progress == 1.0, "a training that is done has done all of its work"
    return training.policy


def _law_of_references(training: Training, body: Robot) -> None:
    """A body without a task is compared with demonstrations, which must be states of its own."""
    if body.family.has_task:
        assert training.reference is None, "on a body with a task there is no reference"
        return
    assert training.reference is not None, "on a body without a task there is a reference"
    assert training.reference.states.shape[1] == len(body.start), "a reference holds states of the body"


def _law_of_resuming(first: Training, second: Training, policy: Policy) -> None:
    """A training that is saved, lost and loaded ends in the same bits."""
    first.iterate()
    with tempfile.TemporaryDirectory() as folder:
        first.save(Path(folder) / "training")
        second.load(Path(folder) / "training")
    assert second.policy.hash == first.policy.hash, "what is loaded is what was saved"
    assert _ended(second).hash == policy.hash, "an interrupted training ends like an uninterrupted one"
