# SPDX-License-Identifier: MIT
"""SAIL: its three models against closed forms, and the laws of trainings: same seed, same bits; a break changes nothing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption
from imitable.imitation.learner import LearningJob
from imitable.imitation.methods.sail import AlignmentReward, Sail, absorbed
from imitable.imitation.training import PolicyTraining
from imitable.nn import discriminator, inverse_model, next_state_vae, wasserstein_critic
from imitable.nn.typed_jax import array
from imitable.policies.acting import act
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.sim.batch import Batch
from imitable.types import Floats, InMemory, Singles, Trajectory, Weights

SMALL = Sail(
    environments=8,
    length=16,
    minibatch=64,
    hidden=(8, 8),
    critic_steps=128,
    goal_hidden=(8,),
    goal_latent=2,
    goal_steps=20,
    babbled=400,
    inverse_hidden=8,
    inverse_blocks=1,
    inverse_steps=20,
    inverse_updates=2,
    pretrained=20,
    discriminator_hidden=(8,),
    discriminator_minibatch=16,
    discriminator_steps=2,
)
HOPPER = parse_robot("hopper")
STEPS = 128 * 20


def shown(count: int = 3, seed: int = 7) -> list[Trajectory]:
    """Return state-only movements of a hopper, of which the first ends in a fall."""
    own = [Trajectory(one.states, "somebody") for one in babble(HOPPER, count, 30, seed)]
    return [replace(own[0], terminated=True), *own[1:]]


def training(
    trajectories: list[Trajectory] | None = None, weights: Weights | None = None, seed: int = 0, method: Sail = SMALL
) -> PolicyTraining:
    demos = InMemory(HOPPER.layout, shown() if trajectories is None else trajectories)
    return method.begin(LearningJob(demos, HOPPER, weights, STEPS, seed))


def after(made: PolicyTraining, iterations: int) -> str:
    for _ in range(iterations):
        made.iterate()
    return made.policy.hash


def predicted(z: Floats, changes: Floats, beta: float, steps: int = 1500) -> Floats:
    """Return the VAE's most likely changes of the last 200 rows, after a fit to the others."""
    rows = np.random.default_rng(1).integers(len(z) - 200, size=(steps, 128))
    x, y = z.astype(np.float32), changes.astype(np.float32)
    model = next_state_vae.fit(x, y, rows, 0, hidden=(32,), latent=z.shape[1], beta=beta, learning_rate=3e-3)
    return np.asarray(model(array(x[-200:])), np.float64)


def test_the_divergence_is_that_of_two_gaussians() -> None:
    mean, log_std = np.array([[0.0, 1.0]], np.float32), np.array([[0.0, np.log(2)]], np.float32)
    found = np.asarray(next_state_vae.divergence(array(mean), array(log_std)))
    np.testing.assert_allclose(found, [[0, 2 - np.log(2)]], atol=1e-6)


def test_the_vae_recovers_a_linear_system() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4000, 3))
    changes = z @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    errors = predicted(z, changes, beta=1e-5) - changes[-200:]
    assert np.square(errors).mean() < 0.01


@pytest.mark.parametrize("beta", [0.4, 1.0, 4.0])
def test_beta_shrinks_predictions_as_rate_distortion_says(beta: float) -> None:
    """Of a Gaussian of variance 1, D + β · rate is least at the distortion D = min(1, β / 2), with E[ŷ | y] = (1 − D) y."""
    z = np.random.default_rng(0).normal(size=(6000, 1))
    slope = np.polyfit(z[-200:, 0], predicted(z, z, beta)[:, 0], 1)[0]
    assert slope == pytest.approx(1 - min(1, beta / 2), abs=0.06)


def test_the_inverse_model_improves_as_it_goes_on_and_pieces_make_a_whole() -> None:
    rng = np.random.default_rng(0)
    states, actions = rng.normal(size=(2000, 3)), rng.uniform(-1, 1, (2000, 2))
    changes = states @ rng.normal(size=(3, 3)) + actions @ rng.normal(size=(2, 3))
    inputs, units = array(np.concatenate([states, changes], axis=1), np.float32), array(actions, np.float32)
    order, rates = array(rng.integers(2000, size=(600, 64)), np.int32), array(np.full(600, 3e-3), np.float32)
    fresh = inverse_model.begun(0, 6, 2, hidden=32, blocks=1)
    half, first = inverse_model.continued(fresh, inputs, units, order[:300], rates[:300])
    whole, second = inverse_model.continued(half, inputs, units, order[300:], rates[300:])
    at_once, _ = inverse_model.continued(fresh, inputs, units, order, rates)
    _, third = inverse_model.continued(whole, inputs, units, order[:0], rates[:0])
    assert float(third) < float(second) < float(first) / 3
    np.testing.assert_allclose(np.asarray(at_once.network.weights[0]), np.asarray(whole.network.weights[0]), atol=1e-4)


def test_the_critic_tells_two_points_apart_by_their_distance() -> None:
    """With d between the points and the penalty λ, g d − λ (g − 1)² is largest at the slope g = 1 + d / (2 λ)."""
    first, second = (np.broadcast_to(np.array(point, np.float32), (1, 64, 2)) for point in ([0.6, 0.8], [-0.6, -0.8]))
    critic = discriminator.fresh(0, 2, (32,))
    theirs, ours = (array(np.repeat(rows, 800, axis=0)) for rows in (first, second))
    critic = wasserstein_critic.fit(critic, theirs, ours, array(3e-3, np.float32), array(10.0, np.float32))
    worth = np.asarray(
        wasserstein_critic.values_demonstrated_is_high(critic.network, array(np.concatenate([first[0, :1], second[0, :1]])))
    )
    assert worth[0] - worth[1] == pytest.approx(2 * 1.1, rel=0.05)


def slid(imitator: Robot, count: int, steps: int) -> tuple[Floats, Floats]:
    """Return states (count, steps + 1, 2) of a cart under u = −2 q − v, and the controls (count, steps, 1)."""
    batch = Batch(imitator, count)
    states, controls = [np.random.default_rng(0).uniform(-0.4, 0.4, (count, 2))], list[Floats]()
    batch.set_state(states[0])
    for _ in range(steps):
        controls.append(-2 * states[-1][:, :1] - states[-1][:, 1:])
        batch.step(controls[-1])
        states.append(batch.states)
    return np.stack(states, axis=1), np.stack(controls, axis=1)


def test_the_policy_finds_the_demonstrators_actions_in_states_alone(slider_path: Path) -> None:
    imitator = parse_robot(str(slider_path))
    states, controls = slid(imitator, 20, 50)
    demos = InMemory(imitator.layout, [Trajectory(one, "cart") for one in states])
    fitted = {"goal_steps": 3000, "inverse_steps": 3000, "pretrained": 1500, "babbled": 8000, "beta": 1e-4}
    method = replace(SMALL, hidden=(32,), goal_hidden=(32,), inverse_hidden=32, **fitted)
    made = method.begin(LearningJob(demos, imitator, None, 32_000, 0))
    errors = act(made.policy, states[:, :-1].reshape(-1, 2)) - controls.reshape(-1, 1)
    assert np.abs(errors).mean() < np.abs(controls).mean() / 4
    assert made.trainer.budget == 32_000 - 8000
    assert made.iterate().steps == 8000 + method.rl.batch, "random movements are steps, too"


def test_a_training_that_was_interrupted_ends_in_the_same_bits(tmp_path: Path) -> None:
    whole, broken, resumed = training(), training(), training()
    expected = after(whole, 5)
    after(broken, 2)
    broken.save(tmp_path / "checkpoint")
    resumed.load(tmp_path / "checkpoint")
    assert after(resumed, 3) == expected
    for left, right in zip(whole.trainer.reward_model.snapshot(), resumed.trainer.reward_model.snapshot(), strict=True):
        assert left.keys() == right.keys()
        assert all(np.array_equal(left[name], right[name]) for name in left)


def test_the_same_seed_gives_the_same_policy_and_another_seed_another() -> None:
    assert after(training(), 2) == after(training(), 2)
    assert after(training(), 2) != after(training(seed=1), 2)


def test_a_demonstration_without_weight_has_no_influence() -> None:
    demonstrated = shown()
    stranger = Trajectory(3 * demonstrated[1].states, "stranger", terminated=True)
    everything = [*demonstrated, stranger]
    weights = Weights(tuple(one.hash for one in everything), np.array([0.5, 0.25, 0.25, 0.0]))
    part = Weights(tuple(one.hash for one in demonstrated), np.array([0.5, 0.25, 0.25]))
    assert after(training(everything, weights), 2) == after(training(demonstrated, part), 2)
    assert after(training(demonstrated, part), 2) != after(training(demonstrated), 2)


def test_actions_of_demonstrations_are_never_read() -> None:
    acted = [replace(one, actions=np.full((len(one), 3), 0.7)) for one in shown()]
    assert after(training(acted), 2) == after(training(), 2)


def test_rewards_are_of_mean_zero_and_name_actions_inside_the_range() -> None:
    made = training()
    segment = made.trainer.collector.collect(made.policy, SMALL.length)
    assert isinstance(made.trainer.reward_model, AlignmentReward)
    given = made.trainer.reward_model(segment)
    anchors: Singles | None = given.anchors
    assert anchors is not None
    assert anchors.shape == segment.units.shape
    assert np.abs(anchors).max() <= 1
    assert given.rewards.shape == segment.rewards.shape
    assert given.rewards.mean() == pytest.approx(0, abs=1e-9)
    assert given.absorbing_reward != 0


def test_a_fall_is_never_worth_more_than_living_on() -> None:
    """Demonstrated states about 0; an imitator as far off as an untrained Hopper, 9.2, that falls every other step."""
    rng, size = np.random.default_rng(0), 11
    demonstrated, own = (np.pad(rng.normal(size=(1000, size)), ((0, 0), (0, 1))) for _ in range(2))
    own[:, 0] += np.sqrt(9.2**2 - size)
    rows = np.concatenate([own, np.tile(absorbed(size), (500, 1))])
    critic, numbers = discriminator.fresh(0, size + 1, (100, 100)), [array(x, np.float32) for x in (3e-4, 1.0)]
    shown = [array(part[rng.integers(len(part), size=(160, 256))], np.float32) for part in (demonstrated, rows)]
    critic = wasserstein_critic.fit(critic, *shown, *numbers)
    values = [
        wasserstein_critic.values_demonstrated_is_high(critic.network, array(part, np.float32)) for part in (demonstrated, own)
    ]
    fallen = wasserstein_critic.values_demonstrated_is_high(critic.network, array(absorbed(size)[None]))
    assert np.mean(values[0]) > np.mean(values[1]) > fallen[0]


@pytest.mark.parametrize("setting", [{"beta": -1.0}, {"anchor": -0.1}, {"discount": 1.0}, {"minibatch": 10**6}])
def test_settings_outside_their_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(BadOption, match=next(iter(setting))):
        Sail(**setting)  # pyright: ignore[reportArgumentType]
