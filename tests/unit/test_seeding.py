# SPDX-License-Identifier: MIT
import json

import numpy as np

from imitable import seeding


def draws(seed: int, *names: str | int) -> list[float]:
    return seeding.generator(seed, *names).random(8).tolist()


def test_the_same_path_gives_the_same_numbers() -> None:
    assert draws(3, "start") == draws(3, "start")


def test_every_seed_and_path_has_a_stream_of_its_own() -> None:
    paths = [(), ("start",), ("noise",), ("start", "noise"), ("start", 1), ("start", "1"), ("start", 1, 0), ("startnoise",)]
    streams = [tuple(draws(seed, *path)) for seed in (0, 1, 2**40) for path in paths]
    assert len(set(streams)) == len(streams)


def test_streams_are_not_correlated() -> None:
    many = np.stack([seeding.generator(0, "stream", i).standard_normal(2000) for i in range(20)])
    correlation = np.corrcoef(many) - np.eye(20)
    assert np.abs(correlation).max() < 0.1


def test_drawing_from_one_does_not_move_another() -> None:
    start, noise = seeding.generator(0, "start"), seeding.generator(0, "noise")
    noise.random(1000)
    assert start.random(8).tolist() == draws(0, "start")


def test_the_numbers_never_change() -> None:
    """A published seed means the same run in every release."""
    raw = seeding.generator(0, "start").bit_generator.random_raw(2)
    assert raw.tolist() == [16002240535347551851, 9166113881767830230]


def test_json_keeps_the_whole_state() -> None:
    rng = seeding.generator(5, "start")
    rng.standard_normal(7)
    rng.integers(0, 100, dtype=np.int32)  # leaves half a word in the buffer
    text = seeding.to_json(rng)
    json.loads(text)
    again = seeding.from_json(text)
    np.testing.assert_array_equal(rng.integers(0, 100, 5, dtype=np.int32), again.integers(0, 100, 5, dtype=np.int32))
    np.testing.assert_array_equal(rng.standard_normal(9), again.standard_normal(9))
    assert seeding.to_json(rng) == seeding.to_json(again)
