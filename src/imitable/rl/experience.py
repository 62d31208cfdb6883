# SPDX-License-Identifier: MIT
"""What an update learns from: one segment of experience as float32 arrays."""

from typing import NamedTuple

from jaxtyping import Array, Bool, Float


class Experience(NamedTuple):
    """T steps of N simulations."""

    inputs: Float[Array, "t n o"]
    """Normalised observations."""
    next_inputs: Float[Array, "t n o"]
    """Normalised observations after the step."""
    actions: Float[Array, "t n a"]
    """Sampled actions, in half control ranges."""
    anchors: Float[Array, "t n a"]
    """Actions that the policy's mean is held to, if the method holds it to any."""
    rewards: Float[Array, "t n"]
    """Scaled rewards."""
    terminal_values: Float[Array, "t n"]
    """What the future is worth where an episode terminated."""
    terminated: Bool[Array, "t n"]
    """Ended by the task: the critic is not asked about the future."""
    ended: Bool[Array, "t n"]
    """Terminated or truncated."""
    quiet: Bool[Array, " n"]
    """Simulations that took mean actions: the critic learns from them, the actor has nothing to compare."""


class Rows(NamedTuple):
    """The same, flattened and with advantages: what losses average over."""

    inputs: Float[Array, "m o"]
    actions: Float[Array, "m a"]
    anchors: Float[Array, "m a"]
    log_probabilities: Float[Array, " m"]
    """Of the actions under the policy that took them."""
    advantages: Float[Array, " m"]
    """Standardised; zero where the action was the mean."""
    targets: Float[Array, " m"]
    """What the critic should say: advantage + old value."""
