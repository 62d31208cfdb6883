# SPDX-License-Identifier: MIT
"""Learning curves of several seeds."""

import pytest

from imitable.experiments.curves import Curve, mean_curve


def test_curves_are_averaged_where_all_are_known() -> None:
    first: Curve = [(0, None), (10, 1.0), (20, 2.0), (30, 3.0), (40, 4.0)]
    other: Curve = [(15, 10.0), (35, 30.0), (50, 0.0)]
    found = mean_curve([first, other])
    assert found is not None
    assert found.steps.tolist() == [20, 30, 40], "at 10 the other one is not known"
    assert found.low.tolist() == [2, 3, 4]
    assert found.high.tolist() == [15, 25, 20]
    assert found.mean.tolist() == [8.5, 14, 12]
    assert found.end == 50


@pytest.mark.parametrize("curves", [[], [[]], [[(0, None)]], [[(0, 1.0)], [(0, None)]]])
def test_there_is_no_mean_of_nothing(curves: list[Curve]) -> None:
    assert mean_curve(curves) is None
