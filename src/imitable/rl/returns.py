# SPDX-License-Identifier: MIT
"""Advantages and returns from rewards and values."""

from jaxtyping import Array, Bool, Float

from imitable.nn.typed_jax import scan


def advantages(
    rewards: Float[Array, "t n"],
    values: Float[Array, "t n"],
    next_values: Float[Array, "t n"],
    ended: Bool[Array, "t n"],
    discount: float,
    gae_lambda: float,
) -> Float[Array, "t n"]:
    """Return generalised advantage estimates (Schulman et al., 2016).

    δ_t = r_t + γ v'_t − v_t and A_t = δ_t + γ λ (1 − ended_t) A_{t+1}, with A = 0 behind the last row.

    `next_values` is what the future is worth *after* the step and before any restart: the critic's value where the episode goes
    on or was cut by the clock, 0 where it terminated (or the value of an absorbing state, if the task has one).
    """
    errors = rewards + discount * next_values - values
    keep = discount * gae_lambda * (1.0 - ended)

    def back(later: Float[Array, " n"], row: tuple[Array, Array]) -> tuple[Array, Array]:
        error, factor = row
        now = error + factor * later
        return now, now

    return scan(back, 0.0 * values[0], (errors, keep), reverse=True)[1]


def standardised(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """Return (x − mean) / (deviation + 1e-8)."""
    return (x - x.mean()) / (x.std() + 1e-8)
