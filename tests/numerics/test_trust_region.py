# SPDX-License-Identifier: MIT
"""Each part of a trust region step against something that can be trusted: dense algebra, explicit Hessians, closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from imitable.nn.networks import Actor, actor, log_probability
from imitable.nn.typed_jax import positive_solve, scaled
from imitable.rl.experience import Rows
from imitable.rl.trust_region import fisher_product, gaussian_kl, inner, line_search, mean_kl, surrogate


@pytest.fixture
def small() -> Actor:
    """An actor with all its parameters away from their initial values."""
    fresh = actor(jax.random.key(0), (3, 4, 2), -0.5)
    flat, unravel = ravel_pytree(fresh)
    return unravel(flat + 0.3 * jax.random.normal(jax.random.key(1), flat.shape))


@pytest.fixture
def inputs() -> jax.Array:
    return jax.random.normal(jax.random.key(2), (50, 3))


@pytest.fixture
def rows(small: Actor, inputs: jax.Array) -> Rows:
    mean = small.mean(inputs)
    actions = mean + jnp.exp(small.log_std) * jax.random.normal(jax.random.key(3), mean.shape)
    gains = jax.random.normal(jax.random.key(4), (50,))
    return Rows(inputs, actions, actions, log_probability(mean, small.log_std, actions), gains, gains)


def test_fisher_product_is_the_hessian_of_the_mean_kl(small: Actor, inputs: jax.Array) -> None:
    flat, unravel = ravel_pytree(small)
    hessian = jax.hessian(lambda x: mean_kl(small, unravel(x), inputs))(flat)
    product = fisher_product(small, inputs, damping=0.1)
    columns = [ravel_pytree(product(unravel(e)))[0] for e in jnp.eye(len(flat))]
    np.testing.assert_allclose(jnp.stack(columns), hessian + 0.1 * jnp.eye(len(flat)), rtol=2e-4, atol=2e-4)


def test_conjugate_gradient_solves_what_a_dense_solve_does(small: Actor, inputs: jax.Array) -> None:
    flat, unravel = ravel_pytree(small)
    product = fisher_product(small, inputs, damping=0.1)
    dense = np.stack([ravel_pytree(product(unravel(e)))[0] for e in jnp.eye(len(flat))]).astype(np.float64)
    b = np.asarray(jax.random.normal(jax.random.key(5), flat.shape))
    x = ravel_pytree(positive_solve(product, unravel(jnp.asarray(b)), steps=4 * len(flat)))[0]
    np.testing.assert_allclose(x, np.linalg.solve(dense, b), rtol=2e-3, atol=2e-3)


def test_few_steps_of_conjugate_gradient_already_shrink_the_residual(small: Actor, inputs: jax.Array) -> None:
    product = fisher_product(small, inputs, damping=0.1)
    b = scaled(small, 1.0)
    residuals = []
    for steps in (1, 5, 20):
        x = positive_solve(product, b, steps)
        gap = jax.tree.map(lambda u, v: u - v, product(x), b)
        residuals.append(float(inner(gap, gap)))
    assert residuals[0] > residuals[1] > residuals[2]


def test_kl_of_gaussians_is_the_textbook_one() -> None:
    # KL(N(1, 2²) ‖ N(0, 1)) = log(1/2) + (4 + 1) / 2 − 1/2
    one, two = jnp.array([[1.0]]), jnp.array([jnp.log(2.0)])
    assert float(gaussian_kl(one, two, jnp.zeros((1, 1)), jnp.zeros(1))[0]) == pytest.approx(-np.log(2) + 2.0, rel=1e-6)


def test_kl_equals_the_average_log_ratio_of_samples() -> None:
    mean, log_std = jnp.array([[0.3, -0.2]]), jnp.array([-0.4, 0.1])
    other_mean, other_log_std = jnp.array([[0.0, 0.1]]), jnp.array([-0.2, 0.3])
    noise = jax.random.normal(jax.random.key(0), (200_000, 2))
    samples = mean + jnp.exp(log_std) * noise
    means, other_means = (jnp.broadcast_to(row, samples.shape) for row in (mean, other_mean))
    ratio = log_probability(means, log_std, samples) - log_probability(other_means, other_log_std, samples)
    expected = gaussian_kl(mean, log_std, other_mean, other_log_std)[0]
    assert float(ratio.mean()) == pytest.approx(float(expected), abs=5e-3)


def test_log_probability_integrates_to_one() -> None:
    grid = jnp.linspace(-8, 8, 4001)[:, None]
    density = jnp.exp(log_probability(jnp.full_like(grid, 0.7), jnp.array([-0.3]), grid))
    assert float(jnp.trapezoid(density, grid[:, 0])) == pytest.approx(1.0, abs=1e-4)


def test_kl_of_an_actor_with_itself_is_zero(small: Actor, inputs: jax.Array) -> None:
    assert float(mean_kl(small, small, inputs)) == 0.0


def test_surrogate_of_the_old_actor_is_the_mean_advantage(small: Actor, rows: Rows) -> None:
    assert float(surrogate(small, rows)) == pytest.approx(float(rows.advantages.mean()), abs=1e-6)


def test_line_search_holds_the_kl_bound_and_improves(small: Actor, rows: Rows) -> None:
    uphill = jax.grad(surrogate)(small, rows)
    found = line_search(small, scaled(uphill, 100.0), rows, max_kl=0.01, halvings=30)
    assert bool(found.accepted)
    assert 0 < float(found.kl) <= 0.01
    assert float(surrogate(found.actor, rows)) > float(surrogate(small, rows))


def test_line_search_tries_as_many_halvings_as_it_is_told(small: Actor, rows: Rows) -> None:
    uphill = jax.grad(surrogate)(small, rows)
    needed = next(k for k in range(60) if line_search(small, scaled(uphill, 100.0), rows, 0.01, k).accepted)
    assert needed > 0
    assert bool(line_search(small, scaled(uphill, 100.0 * 2.0), rows, 0.01, needed + 1).accepted)
    assert not bool(line_search(small, scaled(uphill, 100.0 * 2.0), rows, 0.01, needed).accepted)


def test_line_search_keeps_the_old_actor_when_nothing_improves(small: Actor, rows: Rows) -> None:
    downhill = scaled(jax.grad(surrogate)(small, rows), -1.0)
    found = line_search(small, downhill, rows, max_kl=0.01, halvings=5)
    assert not bool(found.accepted)
    assert float(found.kl) == 0.0
    for new, old in zip(jax.tree.leaves(found.actor), jax.tree.leaves(small), strict=True):
        np.testing.assert_array_equal(new, old)
