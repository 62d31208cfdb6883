# SPDX-License-Identifier: MIT
"""Merging batches gives the moments of all rows together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from imitable.nn.normaliser import fresh, updated


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(0, 2**31))
def test_merged_batches_have_the_moments_of_all_rows(sizes: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    batches = [rng.normal(rng.normal() * 10, rng.random() + 0.1, (size, 3)) for size in sizes]
    normaliser = fresh(3)
    for batch in batches:
        normaliser = updated(normaliser, batch)
    rows = np.concatenate(batches)
    np.testing.assert_allclose(normaliser.mean, rows.mean(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(normaliser.variance, rows.var(axis=0), rtol=1e-7, atol=1e-9)
    assert normaliser.count == len(rows)


def test_a_fresh_normaliser_changes_nothing() -> None:
    normaliser = fresh(2)
    np.testing.assert_array_equal(normaliser.mean, 0)
    np.testing.assert_allclose(normaliser.std, 1, rtol=1e-7)


def test_a_constant_entry_does_not_divide_by_zero() -> None:
    assert (updated(fresh(1), np.full((5, 1), 3.0)).std > 0).all()
