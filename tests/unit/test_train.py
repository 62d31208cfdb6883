# SPDX-License-Identifier: MIT
"""Laws of training that hold for every learner: same seed, same bits; a break changes nothing; cores change nothing."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from imitable.errors import BadPolicy, CannotResume
from imitable.evaluation.returns import measure_returns
from imitable.nn.networks import from_policy
from imitable.nn.typed_jax import array
from imitable.policies.acting import act, mean, normalised
from imitable.rl.checkpoint import load_checkpoint, save_checkpoint
from imitable.rl.expert import QUIETER, Goal, Start, Stopping, quietened, train
from imitable.rl.settings import METHODS, Method
from imitable.rl.train import Trainer
from imitable.robots.parse import parse_robot
from imitable.runtime import THREAD_VARIABLES
from imitable.sim.disturbance import Pushes
from imitable.sim.task import Locomotion

SMALL = {name: kind(environments=8, length=16, minibatch=64, hidden=(8, 8)) for name, kind in METHODS.items()}
EVERY = pytest.mark.parametrize("method", SMALL.values(), ids=SMALL)
HOPPER = Locomotion(parse_robot("hopper"))


def trained(method: Method, iterations: int, seed: int = 0, task: Locomotion = HOPPER, **practice: Any) -> Trainer:
    trainer = Trainer(task, method, budget=128 * 100, seed=seed, **practice)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@EVERY
def test_the_same_seed_gives_the_same_policy_and_another_seed_another(method: Method) -> None:
    assert trained(method, 3).policy.hash == trained(method, 3).policy.hash
    assert trained(method, 3).policy.hash != trained(method, 3, seed=1).policy.hash


@EVERY
@pytest.mark.parametrize(
    ("body", "practice"),
    [("hopper", {}), ("half_cheetah:noise=0.1", {"staggered": True}), ("walker2d:noise=0.1", {"pushes": Pushes(50, 60)})],
)
def test_a_resumed_run_ends_in_the_same_bits(method: Method, body: str, practice: dict[str, Any], tmp_path: Path) -> None:
    task = Locomotion(parse_robot(body))
    whole = trained(method, 6, task=task, **practice)
    save_checkpoint(trained(method, 2, task=task, **practice), tmp_path / "checkpoint")
    resumed = Trainer(task, method, budget=128 * 100, seed=0, **practice)
    load_checkpoint(resumed, tmp_path / "checkpoint")
    for _ in range(4):
        progress = resumed.iterate()
    assert resumed.policy.hash == whole.policy.hash
    assert progress.steps == whole.steps
    assert list(resumed.recent) == list(whole.recent)
    np.testing.assert_array_equal(resumed.collector.batch.rows, whole.collector.batch.rows)


@EVERY
def test_the_result_is_the_mean_of_the_last_policies_and_learning_does_not_notice(method: Method, tmp_path: Path) -> None:
    averaging = dataclasses.replace(method, averaged=0.5)
    plain, averaged = (Trainer(HOPPER, one, budget=128 * 6, seed=0) for one in (method, averaging))
    weights: list[np.ndarray] = []
    while not plain.done:
        plain.iterate(), averaged.iterate()
        assert averaged.current.hash == plain.policy.hash
        weights.append(plain.policy.weights[1])
        if plain.steps == 128 * 4:
            save_checkpoint(averaged, tmp_path / "checkpoint")
    assert averaged.policy.hash != plain.policy.hash
    np.testing.assert_allclose(averaged.policy.weights[1], np.mean(weights[3:], axis=0), atol=1e-6)
    resumed = Trainer(HOPPER, averaging, budget=128 * 6, seed=0)
    load_checkpoint(resumed, tmp_path / "checkpoint")
    while not resumed.done:
        resumed.iterate()
    assert resumed.policy.hash == averaged.policy.hash


@EVERY
def test_a_checkpoint_of_other_settings_is_refused(method: Method, tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    save_checkpoint(trained(method, 1), path)
    others = {
        "seed": Trainer(HOPPER, method, 128 * 100, seed=1),
        "budget": Trainer(HOPPER, method, 128, seed=0),
        "body": Trainer(Locomotion(parse_robot("hopper:gravity=15")), method, 128 * 100, seed=0),
        "method": Trainer(HOPPER, dataclasses.replace(method, discount=0.5), 128 * 100, seed=0),
        "begin": Trainer(HOPPER, method, 128 * 100, seed=0, begin=trained(method, 1).policy),
        "task": Trainer(dataclasses.replace(HOPPER, pace=1.0), method, 128 * 100, seed=0),
        "pushes": Trainer(HOPPER, method, 128 * 100, seed=0, pushes=Pushes(2, 50)),
        "staggered": Trainer(HOPPER, method, 128 * 100, seed=0, staggered=True),
    }
    for name, other in others.items():
        with pytest.raises(CannotResume, match=name):
            load_checkpoint(other, path)


def test_a_missing_or_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    trainer = Trainer(HOPPER, SMALL["ppo"], 128, seed=0)
    with pytest.raises(CannotResume, match="no checkpoint"):
        load_checkpoint(trainer, tmp_path / "nothing")
    save_checkpoint(trainer, tmp_path / "cut")
    whole = (tmp_path / "cut").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CannotResume, match="damaged"):
        load_checkpoint(trainer, tmp_path / "cut")


BITS = """
import os, sys
os.sched_setaffinity(0, {int(core) for core in sys.argv[2].split(",")})
from imitable.robots.parse import parse_robot
from imitable.rl.settings import METHODS
from imitable.rl.train import Trainer

from imitable.sim.task import Locomotion
for kind in METHODS.values():
    task = Locomotion(parse_robot("half_cheetah"))
    trainer = Trainer(task, kind(environments=32, length=32), 2**20, 0, threads=int(sys.argv[1]))
    for _ in range(3):
        trainer.iterate()
    print(trainer.policy.hash)
"""


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_one_core_and_two_cores_give_the_same_bits() -> None:
    """Also in a process that nobody asked for one thread, such as a notebook."""

    def run(cores: list[int], threads: int) -> str:
        command = [sys.executable, "-c", BITS, str(threads), ",".join(map(str, cores))]
        plain = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=plain).stdout

    both = sorted(os.sched_getaffinity(0))[:2]
    assert run(both[:1], 1) == run(both, 2)


@EVERY
def test_numpy_and_jax_agree_on_the_mean_action(method: Method) -> None:
    trainer = trained(method, 2)
    observations = np.random.default_rng(0).normal(size=(5, trainer.task.observation_size))
    policy = trainer.policy
    inputs = normalised(policy, observations)
    with jax.default_matmul_precision("highest"):
        expected = trainer.agent.actor.mean(array(inputs))
    np.testing.assert_allclose(mean(policy, inputs), expected, rtol=1e-5, atol=1e-6)
    again = from_policy(policy, -1.0)
    np.testing.assert_array_equal(again.mean.weights[0], trainer.agent.actor.mean.weights[0])
    np.testing.assert_array_equal(again.log_std, -1.0)


@EVERY
def test_exploration_stays_below_its_falling_bound(method: Method) -> None:
    trainer = Trainer(HOPPER, dataclasses.replace(method, log_std=0.0, log_std_end=-3.0), budget=128 * 4, seed=0)
    while not trainer.done:
        bound = -3.0 * trainer.steps / trainer.budget
        trainer.iterate()
        assert float(trainer.agent.actor.log_std.max()) <= bound + 1e-6


def test_training_begins_from_the_policy_it_is_given() -> None:
    begin = trained(SMALL["ppo"], 3).policy
    trainer = Trainer(HOPPER, SMALL["trpo"], 128, seed=5, begin=begin)
    observations = np.random.default_rng(0).normal(size=(4, begin.observation_size))
    np.testing.assert_allclose(act(trainer.policy, observations), act(begin, observations), rtol=1e-4, atol=1e-6)


def test_a_given_policy_acts_as_before_while_only_the_critic_learns() -> None:
    begin = trained(SMALL["ppo"], 3).policy
    trainer = Trainer(HOPPER, SMALL["ppo"], 128 * 100, seed=5, begin=begin)
    trainer.iterate()
    assert trainer.critic_only
    observations = np.random.default_rng(0).normal(size=(4, begin.observation_size))
    np.testing.assert_allclose(act(trainer.policy, observations), act(begin, observations), rtol=1e-4, atol=1e-6)


def test_a_policy_of_another_body_is_refused_as_a_beginning() -> None:
    swimmer = Trainer(Locomotion(parse_robot("swimmer")), SMALL["ppo"], 128, seed=0).policy
    with pytest.raises(BadPolicy, match="8 observations"):
        train(HOPPER, SMALL["ppo"], 128, 0, Start(begin=swimmer))


def test_a_goal_that_is_met_stops_early_and_the_budget_stops_otherwise() -> None:
    easy = train(HOPPER, SMALL["ppo"], 300_000, 0, stopping=Stopping(Goal(-1000.0), episodes=2))
    assert easy.reached_goal
    assert easy.steps < 110_000
    hard = train(HOPPER, SMALL["ppo"], 1000, 0, stopping=Stopping(Goal(1e9), episodes=2))
    assert not hard.reached_goal
    assert 1000 - 128 < hard.steps <= 1000


def test_quietened_policies_return_the_same_sampled_as_mean() -> None:
    policy = trained(SMALL["ppo"], 3).policy
    loud = dataclasses.replace(policy, log_std=np.zeros_like(policy.log_std))
    expected = measure_returns(HOPPER, loud, 10, 0)
    quiet, sampled = quietened(HOPPER, loud, expected, 0.05, most=20)
    assert abs(sampled.mean - expected.mean) <= 0.05 * abs(expected.mean)
    assert (quiet.log_std <= loud.log_std).all()
    np.testing.assert_array_equal(quiet.weights[0], loud.weights[0])


def test_quietened_policies_are_steady_if_asked() -> None:
    policy = trained(SMALL["ppo"], 3).policy
    loud = dataclasses.replace(policy, log_std=np.zeros_like(policy.log_std))
    expected = measure_returns(HOPPER, loud, 10, 0)
    spread = float(expected.returns.std()) / abs(expected.mean)
    one, _ = quietened(HOPPER, loud, expected, 10.0)
    np.testing.assert_array_equal(one.log_std, loud.log_std)
    quiet, sampled = quietened(HOPPER, loud, expected, 10.0, spread, most=4)
    assert sampled.terminated.any()  # it falls whatever is asked, so all four steps are taken
    np.testing.assert_allclose(quiet.log_std, loud.log_std + 4 * QUIETER)


def test_pushes_change_what_is_learned_and_nothing_else_does() -> None:
    method = SMALL["ppo"]
    assert trained(method, 3, pushes=Pushes(50, 60)).policy.hash != trained(method, 3).policy.hash


def test_staggered_simulations_are_in_different_parts_of_their_episodes() -> None:
    task = Locomotion(parse_robot("swimmer"), length=50)
    method = METHODS["ppo"](environments=32, length=50, minibatch=64, hidden=(8, 8))
    ends = []
    for staggered in (False, True):
        trainer = Trainer(task, method, 10**6, 0, staggered=staggered)
        segment = trainer.collector.collect(trainer.policy, 50)
        ends.append(segment.truncated.any(axis=1).sum())
    assert ends[0] == 1
    assert ends[1] > 10
