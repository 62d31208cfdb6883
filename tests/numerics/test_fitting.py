# SPDX-License-Identifier: MIT
"""The one network and its NumPy twin, the one fit loop, and which class a discriminator's logits are high for."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from imitable.nn import discriminator, fitting, wasserstein_critic
from imitable.nn.fitting import TrainState, cosine_rates, falling_rates
from imitable.nn.networks import Mlp, mean_of, mlp, policy_of
from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import array
from imitable.policies.acting import act
from imitable.policies.perceptron import Activation, layers_from_arrays, layers_to_arrays, rowwise
from imitable.robots.parse import parse_robot

X, Y = np.random.default_rng(0).normal(size=(2, 40, 3)).astype(np.float32)
ORDER = np.random.default_rng(1).integers(40, size=(7, 8))


def network(activation: Activation = "tanh", residual: bool = False, seed: int = 0) -> Mlp:
    made = mlp(jax.random.key(seed), (3, 5, 5, 5, 3), last_scale=1.0)
    biases = tuple(jax.random.normal(jax.random.key(seed + k), bias.shape) for k, bias in enumerate(made.biases))
    return Mlp(made.weights, biases, activation, residual)


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("product", [rowwise, np.matmul])
def test_the_numpy_twin_says_the_same(activation: Activation, residual: bool, product: Callable[..., np.ndarray]) -> None:
    made = network(activation, residual)
    with jax.default_matmul_precision("highest"):
        expected = made(array(X))
    np.testing.assert_allclose(made.numpy(X, product), expected, rtol=1e-5, atol=1e-5)


def test_the_forms_of_the_network_differ() -> None:
    forms = [network("tanh"), network("relu"), network("tanh", residual=True), network("relu", residual=True)]
    assert len({form.numpy(X).tobytes() for form in forms}) == 4


def test_layers_have_names_and_read_back() -> None:
    twin = network().numpy
    weights, biases = layers_from_arrays(layers_to_arrays(twin.weights, twin.biases))
    assert all(map(np.array_equal, (*weights, *biases), (*twin.weights, *twin.biases)))


def loss(model: Mlp, rows: jax.Array) -> jax.Array:
    return jnp.square(model(array(X)[rows]) - array(Y)[rows]).mean()


def test_fitting_is_a_loop_of_adam_s_steps() -> None:
    rates = falling_rates(0.01, len(ORDER))
    fitted, losses = fitting.fit(loss, fitting.start(network()), array(ORDER), array(rates, np.float32))
    model = network()
    state = optax.scale_by_adam().init(model)
    for rows, rate, recorded in zip(ORDER, rates, losses, strict=True):
        assert float(loss(model, rows)) == pytest.approx(float(recorded), rel=1e-5)
        change, state = optax.scale_by_adam().update(jax.grad(loss)(model, rows), state)
        model = jax.tree.map(lambda x, c, rate=rate: x - rate * c, model, change)
    for found, expected in zip(jax.tree.leaves(fitted.network), jax.tree.leaves(model), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_one_rate_is_the_same_rate_for_every_step_and_two_fits_make_one() -> None:
    whole, _ = fitting.fit(loss, fitting.start(network()), array(ORDER), jnp.float32(0.01))
    half, _ = fitting.fit(loss, fitting.start(network()), array(ORDER[:4]), jnp.full(4, 0.01))
    both, _ = fitting.fit(loss, half, array(ORDER[4:]), jnp.full(3, 0.01))
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(both), strict=True):
        np.testing.assert_array_equal(one, other)


def test_networks_side_by_side_have_their_own_rates() -> None:
    def slope(both: tuple[Mlp, Mlp], rows: jax.Array) -> tuple[jax.Array, tuple[Mlp, Mlp]]:
        return loss(both[0], rows), (jax.grad(loss)(both[0], rows), jax.grad(loss)(both[1], rows))

    pair = (network(seed=1), network(seed=2))
    found, _ = fitting.descend(slope, fitting.start(pair), array(ORDER), (jnp.float32(0.01), jnp.float32(0.0)))
    alone, _ = fitting.fit(loss, fitting.start(pair[0]), array(ORDER), jnp.float32(0.01))
    np.testing.assert_allclose(found.network[0].weights[0], alone.network.weights[0], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(found.network[1].weights[0], pair[1].weights[0])


def test_rates_fall() -> None:
    np.testing.assert_allclose(falling_rates(2.0, 5)[[0, -1]], [2.0, 0.02])
    parts = [cosine_rates(2.0, begin, 5, 10) for begin in (0, 5)]
    np.testing.assert_array_equal(np.concatenate(parts), cosine_rates(2.0, 0, 10, 10))
    np.testing.assert_allclose(parts[1][0], 1.0)


class TestSigns:
    """Demonstrated rows lie at +1, the imitator's at −1."""

    demonstrated, imitated = (jnp.full((60, 16, 2), place) for place in (1.0, -1.0))
    fresh, rate, none = discriminator.fresh(0, 2, (8,)), jnp.float32(0.01), jnp.float32(0.0)

    def signs(self, high: Callable[[Mlp, jax.Array], jax.Array], state: TrainState[Mlp]) -> list[float]:
        rows = jnp.array([[1.0, 1.0], [-1.0, -1.0]])
        return np.sign(high(state.network, rows) - high(state.network, jnp.zeros((2, 2)))).tolist()

    def test_demonstrated_is_high(self) -> None:
        fitted = discriminator.fit(self.fresh, self.demonstrated, self.imitated, jnp.ones((60, 16)), self.rate, self.none)
        assert self.signs(discriminator.logits_demonstrated_is_high, fitted) == [1, -1]

    def test_imitated_is_high(self) -> None:
        classes = {"imitated": self.imitated, "demonstrated": self.demonstrated}
        fitted = discriminator.fit_imitated_is_high(self.fresh, **classes, learning_rate=self.rate, penalty=self.none)
        assert self.signs(discriminator.logits_imitated_is_high, fitted) == [-1, 1]

    def test_the_wasserstein_critic_is_high_where_it_was_demonstrated(self) -> None:
        fitted = wasserstein_critic.fit(self.fresh, self.demonstrated, self.imitated, self.rate, jnp.float32(1.0))
        assert self.signs(wasserstein_critic.values_demonstrated_is_high, fitted) == [1, -1]


def test_a_network_becomes_a_policy_of_a_robot_and_back() -> None:
    hopper = parse_robot("hopper")
    mean = mlp(jax.random.key(0), (11, 4, 3), last_scale=1.0)
    observed = Normaliser(np.arange(11.0), np.full(11, 4.0), 1.0)
    policy = policy_of(mean, np.full(3, -1.0), observed, hopper)
    assert [float(entry) for entry in policy.action_half_range] == [1.0] * 3
    np.testing.assert_allclose(policy.observation_std, 2.0)
    z = np.random.default_rng(0).normal(size=(4, 11))
    with jax.default_matmul_precision("highest"):
        expected = mean(array(z, np.float32))
    np.testing.assert_allclose(act(policy, np.arange(11.0) + 2 * z), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(mean_of(policy).weights[0], mean.weights[0])
