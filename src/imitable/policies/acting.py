# SPDX-License-Identifier: MIT
"""What a policy does: from observations to actions, in NumPy."""

import numpy as np

from imitable.policies.perceptron import Perceptron, Product, rowwise
from imitable.types import Floats, Policy, Singles


def normalised(policy: Policy, observations: Floats) -> Singles:
    """(N, O) → (N, O): z = clip((o − mean) / std, ±limit), in float32."""
    z = (observations - policy.observation_mean) / policy.observation_std
    return np.clip(z, -policy.observation_limit, policy.observation_limit).astype(np.float32)


def mean(policy: Policy, inputs: Singles, product: Product = np.matmul) -> Singles:
    """(N, O) → (N, A): μ of normalised observations, in half control ranges."""
    return Perceptron(policy.weights, policy.biases)(inputs, product)


def controls(policy: Policy, units: Singles) -> Floats:
    """(N, A) → (N, A): from half control ranges to the actuators' own units."""
    return (policy.action_centre + policy.action_half_range * units).astype(np.float64)


def act(policy: Policy, observations: Floats, rng: np.random.Generator | None = None) -> Floats:
    """(N, O) → (N, A): mean actions, or sampled ones when a generator is given; an action depends on its own row alone."""
    units = mean(policy, normalised(policy, observations), rowwise)
    if rng is not None:
        units = units + np.exp(policy.log_std) * rng.standard_normal(units.shape, dtype=np.float32)
    return controls(policy, units)
