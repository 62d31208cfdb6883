# SPDX-License-Identifier: MIT
"""From experience to rows, and the losses on them, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from imitable.nn.fitting import start
from imitable.nn.networks import Actor, Mlp, actor, log_probability
from imitable.rl.agent import Agent, bounded, fresh_networks, to_rows
from imitable.rl.experience import Experience, Rows
from imitable.rl.ppo import clipped_surrogate
from imitable.rl.settings import METHODS, Ppo
from imitable.rl.value_fit import fit, value_loss


def linear_critic(slope: float) -> Mlp:
    """v(x) = slope · x."""
    return Mlp((jnp.array([[slope]]),), (jnp.zeros(1),))


@pytest.fixture
def agent() -> Agent:
    return Agent(actor(jax.random.key(0), (1, 1), -0.5), linear_critic(10.0), ())


def experience(terminated: list[bool], ended: list[bool]) -> Experience:
    """Two steps of one simulation: states 1 → 2 | 3 → 4, where 3 is a restart if the first step ended."""

    def column(values: list[float] | list[bool]) -> jax.Array:
        return jnp.asarray(values)[:, None]

    return Experience(
        inputs=column([1.0, 3.0])[..., None],
        next_inputs=column([2.0, 4.0])[..., None],
        actions=jnp.zeros((2, 1, 1)),
        anchors=jnp.zeros((2, 1, 1)),
        rewards=column([0.5, 0.25]),
        terminal_values=column([7.0, 9.0]),
        terminated=column(terminated),
        ended=column(ended),
        quiet=jnp.zeros(1, bool),
    )


@pytest.mark.parametrize(
    ("terminated", "ended", "targets"),
    [
        # without a trace a target is r + γ v', v' the critic on the state *after* the step, never on the restart
        ([False, False], [False, False], [0.5 + 0.9 * 20, 0.25 + 0.9 * 40]),
        ([False, False], [True, False], [0.5 + 0.9 * 20, 0.25 + 0.9 * 40]),
        ([True, False], [True, False], [0.5 + 0.9 * 7, 0.25 + 0.9 * 40]),
        ([False, True], [False, True], [0.5 + 0.9 * 20, 0.25 + 0.9 * 9]),
    ],
    ids=["going on", "truncated", "terminated", "terminated last"],
)
def test_targets_without_a_trace(agent: Agent, terminated: list[bool], ended: list[bool], targets: list[float]) -> None:
    rows = to_rows(agent, experience(terminated, ended), discount=0.9, gae_lambda=0.0)
    np.testing.assert_allclose(rows.targets, targets, rtol=1e-5)


def test_a_truncation_cuts_the_trace_but_not_the_value(agent: Agent) -> None:
    going = to_rows(agent, experience([False, False], [False, False]), 0.9, 1.0).targets
    cut = to_rows(agent, experience([False, False], [True, False]), 0.9, 1.0).targets
    second = 0.25 + 0.9 * 40 - 30
    np.testing.assert_allclose(going[0], 0.5 + 0.9 * 20 + 0.9 * second, rtol=1e-5)
    np.testing.assert_allclose(cut[0], 0.5 + 0.9 * 20, rtol=1e-5)


def test_rows_carry_the_probability_of_the_actions(agent: Agent) -> None:
    batch = experience([False, False], [False, False])
    rows = to_rows(agent, batch, 0.9, 0.95)
    expected = log_probability(agent.actor.mean(rows.inputs), agent.actor.log_std, rows.actions)
    np.testing.assert_array_equal(rows.log_probabilities, expected)
    np.testing.assert_allclose(rows.advantages.mean(), 0, atol=1e-6)


def shifted(advantage: float, log_ratio: float) -> float:
    """The clipped surrogate of one row whose probability ratio is exp(log_ratio)."""
    model = Actor(Mlp((jnp.zeros((1, 1)),), (jnp.zeros(1),)), jnp.zeros(1))
    inputs, actions = jnp.zeros((1, 1)), jnp.zeros((1, 1))
    old = log_probability(model.mean(inputs), model.log_std, actions) - log_ratio
    rows = Rows(inputs, actions, actions, old, jnp.array([advantage]), jnp.zeros(1))
    return float(clipped_surrogate(model, rows, clip=0.2))


@pytest.mark.parametrize(
    ("advantage", "ratio", "expected"),
    [(1.0, 1.1, 1.1), (1.0, 1.5, 1.2), (1.0, 0.5, 0.5), (-1.0, 1.5, -1.5), (-1.0, 0.5, -0.8), (-1.0, 0.9, -0.9)],
)
def test_clipping_rewards_no_more_than_its_bound_and_forgives_nothing(advantage: float, ratio: float, expected: float) -> None:
    assert shifted(advantage, float(np.log(ratio))) == pytest.approx(expected, rel=1e-5)


def test_value_loss_is_half_the_mean_square() -> None:
    assert float(value_loss(linear_critic(2.0), jnp.array([[1.0], [2.0]]), jnp.array([0.0, 5.0]))) == pytest.approx((4 + 1) / 4)


def test_the_value_fit_learns_a_line() -> None:
    critic, inputs = linear_critic(0.0), jnp.linspace(-1, 1, 64)[:, None]
    order = jnp.tile(jnp.arange(64).reshape(4, 16), (200, 1))
    fitted = fit(start(critic), inputs, 3 * inputs[:, 0] + 1, order, jnp.float32(0.05)).network
    assert float(fitted.weights[0][0, 0]) == pytest.approx(3.0, abs=0.02)
    assert float(fitted.biases[0][0]) == pytest.approx(1.0, abs=0.02)


def test_bounded_lowers_only_what_is_above() -> None:
    model = Actor(Mlp((), ()), jnp.array([-3.0, 0.0]))
    np.testing.assert_array_equal(bounded(model, jnp.float32(-1.0)).log_std, [-3.0, -1.0])


@pytest.mark.parametrize("method", METHODS.values())
def test_networks_differ_with_every_seed_however_large(method: type[Ppo]) -> None:
    seeds = (1, 2**32 + 1, 2**64)
    first = [np.asarray(fresh_networks(method(), 3, 2, seed)[0].mean.weights[0]) for seed in seeds]
    assert not np.array_equal(first[0], first[1])
    assert not np.array_equal(first[1], first[2])
