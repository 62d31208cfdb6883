# SPDX-License-Identifier: MIT
"""A part of a set."""

from imitable.demos.part import Part
from imitable.types import Episode, InMemory
from tests.unit.test_types import LAYOUT, make_trajectory


class Counted(InMemory):
    """Demonstrations that count how often their rows are asked for."""

    asked = 0

    @property
    def episodes(self) -> tuple[Episode, ...]:
        self.asked += 1
        return super().episodes


class TestPart:
    def test_holds_what_the_set_holds_at_its_places(self) -> None:
        whole = InMemory(LAYOUT, [make_trajectory(seed=seed) for seed in range(5)])
        part = Part(whole, [3, 0, 3])
        assert len(part) == 2
        assert part.episodes == (whole.episodes[0], whole.episodes[3])
        assert list(part) == [whole[0], whole[3]] == [part[0], part[1]]

    def test_asks_the_set_for_its_rows_once(self) -> None:
        whole = Counted(LAYOUT, [make_trajectory(seed=seed) for seed in range(20)])
        part = Part(whole, range(10))
        for place in range(len(part)):
            assert part.episodes[place].hash == whole[place].hash
        assert whole.asked == 1
