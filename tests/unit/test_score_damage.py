# SPDX-License-Identifier: MIT
"""A flipped bit never becomes a number: damaged score files are refused, damaged chunks and models are made again."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from imitable.errors import BadScores, CannotResume
from imitable.feasibility import score as score_module
from imitable.feasibility.model_cache import cached
from imitable.feasibility.ruler import ruler
from imitable.feasibility.score import score
from imitable.feasibility.score_files import parts_path, read_scores
from imitable.feasibility.scorer import ScoringJob
from imitable.feasibility.scores import Scores
from imitable.feasibility.step_files import read_steps, steps_path
from imitable.files import Output
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tensors import Arrays
from imitable.types import InMemory

QUICK = "direct:window_s=0.16,restart_budget=0"


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    return parse_robot(str(slider_path))


@pytest.fixture
def demos(slider: Robot) -> InMemory:
    return InMemory(slider.layout, babble(slider, 6, 12, 5))


@pytest.fixture
def scored(slider: Robot, demos: InMemory, tmp_path: Path) -> Scores:
    return score(demos, slider, QUICK, out=tmp_path / "scores.parquet")


def flips(path: Path, count: int, seed: int = 0) -> Iterator[int]:
    """Flip one bit of a file at a time, and put it back."""
    whole = path.read_bytes()
    for bit in np.random.default_rng(seed).integers(8 * len(whole), size=count).tolist():
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(damaged))
        yield bit
    path.write_bytes(whole)


def said(scores: Scores) -> str:
    """Everything that a score file says."""
    columns = (scores.distance, scores.share, scores.score, scores.weight, scores.first_divergence)
    return repr((scores.episodes, [column.tolist() for column in columns], scores.verdict, scores.metadata()))


def test_a_flipped_bit_in_a_score_file_changes_nothing_or_is_refused(scored: Scores) -> None:
    assert scored.path is not None
    expected, refused = said(scored), 0
    for bit in flips(scored.path, 300):
        try:
            assert said(read_scores(scored.path)) == expected, f"bit {bit} went unnoticed"
        except BadScores as error:
            refused += "\n" not in str(error)
    assert refused > 150


def test_a_flipped_bit_in_the_steps_changes_nothing_or_is_refused(scored: Scores, demos: InMemory) -> None:
    assert scored.path is not None
    names = [one.hash for one in demos]
    expected = [trace_text(scored.path, name) for name in names]
    refused = 0
    for bit in flips(steps_path(scored.path), 150):
        try:
            assert [trace_text(scored.path, name) for name in names] == expected, f"bit {bit} went unnoticed"
        except BadScores:
            refused += 1
    assert refused > 75


def trace_text(path: Path, name: str) -> str:
    trace = read_steps(path, name)
    assert trace is not None, "steps were lost without a word"
    return repr([getattr(trace, column).tolist() for column in ("steps", "attempts", "errors", "states", "actions")])


class Stopped(Exception):
    """An interruption on the way."""


class Impatient:
    """Stops a job after so many demonstrations."""

    def __init__(self, most: int) -> None:
        self._most = most

    def progress(self, done: int, total: int, note: str = "") -> None:
        if done >= self._most:
            raise Stopped

    def say(self, line: str) -> None:
        """Hear nothing."""


@pytest.mark.parametrize("pattern", ["part-*", "steps-*"])
def test_a_damaged_chunk_is_measured_again(
    slider: Robot, demos: InMemory, tmp_path: Path, scored: Scores, monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    monkeypatch.setattr(score_module, "CHUNK", 2)
    out = tmp_path / "resumed.parquet"
    with pytest.raises(Stopped):
        score(demos, slider, QUICK, out=Output(out, observer=Impatient(4)))
    parts = sorted(parts_path(out).glob(pattern))
    assert len(parts) == 2
    stopped = tmp_path / "stopped"
    shutil.copytree(parts_path(out), stopped)
    for _ in flips(parts[0], 8):
        resumed = score(demos, slider, QUICK, out=Output(out, resume=True))
        np.testing.assert_array_equal(resumed.distance, scored.distance)
        np.testing.assert_array_equal(read_scores(out).share, scored.share)
        assert trace_text(out, demos[0].hash) == trace_text(tmp_path / "scores.parquet", demos[0].hash)
        out.unlink()
        shutil.copytree(stopped, parts_path(out))


def test_chunks_of_other_settings_are_refused(slider: Robot, demos: InMemory, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    with pytest.raises(Stopped):
        score(demos, slider, QUICK, out=Output(out, observer=Impatient(6)))
    with pytest.raises(CannotResume, match="seed"):
        score(demos, slider, QUICK, seed=2, out=Output(out, resume=True))


def test_resuming_refuses_damaged_steps_before_it_measures(slider: Robot, demos: InMemory, scored: Scores) -> None:
    assert scored.path is not None
    steps = steps_path(scored.path)
    whole = bytearray(steps.read_bytes())
    whole[200] ^= 16
    steps.write_bytes(bytes(whole))
    with pytest.raises(BadScores, match="steps"):
        score(demos, slider, QUICK, out=Output(scored.path, resume=True, observer=Impatient(0)))


def test_a_file_without_a_hash_is_refused(scored: Scores) -> None:
    assert scored.path is not None
    table = pq.read_table(scored.path)
    old = {name: value for name, value in table.schema.metadata.items() if name == b"imitable"}
    pq.write_table(table.replace_schema_metadata(old), scored.path)
    with pytest.raises(BadScores, match="no content hash"):
        read_scores(scored.path)


def test_a_damaged_model_is_learned_again(slider: Robot, demos: InMemory, tmp_path: Path) -> None:
    job = ScoringJob(demos, slider, ruler(slider), seed=1, models=tmp_path / "models")
    fits = 0

    def learn() -> Arrays:
        nonlocal fits
        fits += 1
        return {"weight": np.arange(12.0).reshape(3, 4), "spent": np.array(7)}

    expected = cached(job, ("toy", 1), learn)
    assert fits == 1
    [path] = (tmp_path / "models").iterdir()
    for _ in flips(path, 200):
        arrays = cached(job, ("toy", 1), learn)
        assert set(arrays) == set(expected)
        for name, array in expected.items():
            np.testing.assert_array_equal(arrays[name], array)
    assert fits > 100
