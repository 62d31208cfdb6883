# SPDX-License-Identifier: MIT
"""The shapes in annotations are checked while tests run: a wrong one fails in the function that it is given to."""

import subprocess
import sys

import jax.numpy as jnp
import pytest
from jaxtyping import TypeCheckError

from imitable.nn.networks import log_probability
from imitable.rl.returns import advantages


def test_a_wrong_shape_fails_where_it_arises() -> None:
    with pytest.raises(TypeCheckError, match=r"log_probability(.|\n)*'actions'"):
        log_probability(jnp.zeros((5, 2)), jnp.zeros(2), jnp.zeros((5, 3)))


def test_arrays_that_would_broadcast_silently_are_refused() -> None:
    rewards, ended = jnp.zeros((4, 3)), jnp.zeros((4, 3), bool)
    with pytest.raises(TypeCheckError, match="next_values"):
        advantages(rewards, rewards, jnp.zeros((1, 3)), ended, 0.9, 0.9)


def test_nothing_is_checked_outside_of_tests() -> None:
    code = (
        "import sys, jax.numpy as jnp; from imitable.nn.networks import log_probability\n"
        "log_probability(jnp.zeros((1, 2)), jnp.zeros(2), jnp.zeros((5, 2))); print('beartype' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
