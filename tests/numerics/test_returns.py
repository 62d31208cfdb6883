# SPDX-License-Identifier: MIT
"""Advantages by hand, against brute force, and their limits."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imitable.rl.returns import advantages, standardised
from imitable.rl.scaling import fresh, scaled


def brute_force(
    rewards: np.ndarray, values: np.ndarray, futures: np.ndarray, ended: np.ndarray, discount: float, gae_lambda: float
) -> np.ndarray:
    """A_t = Σ_k (γλ)^k δ_{t+k} up to the first end, written as the definition."""
    out = np.zeros_like(rewards)
    deltas = rewards + discount * futures - values
    for i in range(rewards.shape[1]):
        for t in range(len(rewards)):
            for k in range(t, len(rewards)):
                out[t, i] += (discount * gae_lambda) ** (k - t) * deltas[k, i]
                if ended[k, i]:
                    break
    return out


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 1))
def test_advantages_are_the_definition(seed: int, discount: float, gae_lambda: float) -> None:
    rng = np.random.default_rng(seed)
    rewards, values, futures = rng.normal(size=(3, 7, 4)).astype(np.float32)
    ended = rng.random((7, 4)) < 0.3
    found = advantages(*(jnp.asarray(x) for x in (rewards, values, futures, ended)), discount, gae_lambda)
    np.testing.assert_allclose(found, brute_force(rewards, values, futures, ended, discount, gae_lambda), rtol=1e-4, atol=1e-4)


def test_with_full_trace_an_advantage_is_the_return_minus_the_value() -> None:
    rewards, values = jnp.array([[1.0], [2.0], [4.0]]), jnp.array([[0.5], [0.25], [0.125]])
    futures = jnp.array([[0.25], [0.125], [0.0]])
    ended = jnp.array([[False], [False], [True]])
    found = advantages(rewards, values, futures, ended, 0.5, 1.0)
    assert found[:, 0].tolist() == pytest.approx([1 + 1 + 1 - 0.5, 2 + 2 - 0.25, 4 - 0.125])


def test_with_no_trace_an_advantage_is_the_one_step_error() -> None:
    rewards, values, futures = jnp.array([[1.0], [2.0]]), jnp.array([[0.5], [0.25]]), jnp.array([[0.25], [3.0]])
    found = advantages(rewards, values, futures, jnp.zeros((2, 1), bool), 0.9, 0.0)
    assert found[:, 0].tolist() == pytest.approx([1 + 0.9 * 0.25 - 0.5, 2 + 0.9 * 3 - 0.25])


def test_under_a_constant_reward_falling_into_an_absorbing_state_has_no_advantage() -> None:
    # the value of the absorbing state is r / (1 − γ): with the true values everywhere, nothing is gained or lost by falling
    reward, discount = 0.7, 0.9
    value = reward / (1 - discount)
    rewards, values = jnp.full((5, 2), reward), jnp.full((5, 2), value)
    ended = jnp.zeros((5, 2), bool).at[2, 0].set(True)
    found = advantages(rewards, values, values, ended, discount, 0.95)
    np.testing.assert_allclose(found, 0.0, atol=1e-5)


def test_standardised_has_mean_zero_and_deviation_one() -> None:
    x = standardised(jnp.arange(12.0).reshape(3, 4))
    assert float(x.mean()) == pytest.approx(0.0, abs=1e-6)
    assert float(x.std()) == pytest.approx(1.0, abs=1e-5)


def test_reward_scale_divides_by_the_deviation_of_the_discounted_return() -> None:
    rng = np.random.default_rng(0)
    rewards, ended = rng.normal(size=(50, 3)), rng.random((50, 3)) < 0.1
    running, track = np.zeros(3), []
    for reward, end in zip(rewards, ended, strict=True):
        running = reward + 0.9 * running
        track.append(running)
        running = np.where(end, 0.0, running)
    first, a = scaled(fresh(3), rewards[:20], ended[:20], 0.9)
    second, b = scaled(first, rewards[20:], ended[20:], 0.9)
    np.testing.assert_allclose(a, rewards[:20] / np.std(np.array(track[:20])), rtol=1e-6)
    np.testing.assert_allclose(b, rewards[20:] / np.std(np.array(track)), rtol=1e-6)
    np.testing.assert_allclose(second.returns, running)
