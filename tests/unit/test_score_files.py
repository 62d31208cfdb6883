# SPDX-License-Identifier: MIT
"""Files of scores: what they hold, resuming after a kill or with a grown set, memory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pyarrow.parquet as pq
import pytest

from imitable.demos.store import read, write
from imitable.errors import BadOption, BadScores, Busy, CannotResume, OutputExists
from imitable.feasibility import ledger, score_files
from imitable.feasibility import score as score_module
from imitable.feasibility.score import Measuring, score, weigh
from imitable.feasibility.score_files import parts_path, read_scores, write_scores
from imitable.feasibility.step_files import copy_steps, read_steps, steps_path, write_traces
from imitable.files import Output, locked
from imitable.robots.robot import Robot
from imitable.tracking.attempts import Trace
from imitable.types import Demonstrations, Episode, InMemory, Layout, Trajectory, episode_of
from tests.unit.pushed_slider import FORCE, Heard, own, pushed


def test_chunks_do_not_matter(slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    demos = own(slider)
    whole = score(demos, slider)
    monkeypatch.setattr(score_module, "CHUNK", 2)
    np.testing.assert_array_equal(score(demos, slider).share, whole.share)


def test_files_hold_everything(slider: Robot, tmp_path: Path) -> None:
    demos, out = own(slider), tmp_path / "scores.parquet"
    scores = score(demos, slider, out=out)
    back = read_scores(out)
    for name in ("distance", "share", "score", "weight", "first_divergence"):
        np.testing.assert_array_equal(getattr(back, name), getattr(scores, name))
    assert back.verdict == scores.verdict
    assert (back.measurement, back.weighing, back.path) == (scores.measurement, scores.weighing, scores.path)
    assert back.metadata() == scores.metadata()
    names = pq.read_table(out).column_names
    assert names[:5] == ["source", "episode_index", "episode_hash", "demonstrator", "length"]
    trace = read_steps(out, demos[2].hash)
    assert trace is not None
    assert trace.steps.tolist() == list(range(1, 41))
    assert trace.states.shape == (40, 2)
    assert not parts_path(out).exists()
    assert read_steps(out, "nobody") is None
    assert len(pq.read_table(steps_path(out))) == 6 * 40


def test_a_grown_set_measures_only_what_is_new(slider: Robot, tmp_path: Path) -> None:
    out, few, many = tmp_path / "scores.parquet", own(slider, 3), own(slider, 3, seed=9)
    grown = InMemory(slider.layout, [*few, *many])
    first = score(few, slider, out=out)
    heard = Heard()
    second = score(grown, slider, out=Output(out, resume=True, observer=heard))
    assert heard.done[0] == 3
    np.testing.assert_array_equal(second.share[:3], first.share)
    fresh = score(grown, slider, out=tmp_path / "fresh.parquet")
    np.testing.assert_array_equal(second.share, fresh.share)
    assert second.measurement.measured_steps == fresh.measurement.measured_steps
    assert pq.read_table(steps_path(out)).equals(pq.read_table(steps_path(tmp_path / "fresh.parquet")))


def test_resuming_with_other_settings_is_refused(slider: Robot, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    score(own(slider), slider, out=out)
    with pytest.raises(OutputExists, match="--resume"):
        score(own(slider), slider, out=out)
    with pytest.raises(CannotResume, match="seed"):
        score(own(slider), slider, seed=3, out=Output(out, resume=True))
    before = out.read_bytes()
    with pytest.raises(CannotResume, match="discount"):
        score(own(slider), slider, measuring=Measuring(discount=0.5), out=Output(out, resume=True))
    assert out.read_bytes() == before


def test_killed_before_it_could_let_go_of_its_parts_a_job_counts_its_steps_once(
    slider: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "scores.parquet"
    with monkeypatch.context() as patch:
        patch.setattr(ledger.shutil, "rmtree", lambda *_, **__: None)
        first = score(own(slider), slider, out=out)
    assert parts_path(out).exists()
    again = score(own(slider), slider, out=Output(out, resume=True))
    assert again.measurement.measured_steps == first.measurement.measured_steps > 0
    assert not parts_path(out).exists()


def test_the_second_of_two_processes_is_refused(slider: Robot, tmp_path: Path) -> None:
    with locked(tmp_path / "scores.parquet"), pytest.raises(Busy):
        score(own(slider), slider, out=tmp_path / "scores.parquet")
    assert not list(tmp_path.glob("*scores*"))


def test_an_older_file_that_says_auto_is_read_as_it_was_weighed(
    slider: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to schema 3, `auto` weighed by the score, not by its square."""
    demos = InMemory(slider.layout, [pushed(FORCE / 2, 6), pushed(3 * FORCE, 6)])
    squared = score(demos, slider)
    older = replace(weigh(squared, "score:1"), weighing=squared.weighing)
    monkeypatch.setattr(score_files, "SCHEMA", 3)
    write_scores(tmp_path / "older.parquet", older)
    monkeypatch.undo()
    back = read_scores(tmp_path / "older.parquet")
    assert back.weighing.temperature == "score:1"
    np.testing.assert_allclose(weigh(back).weight, back.weight)
    assert not np.allclose(back.weight, squared.weight)


KILLED = """
import sys
from imitable.demos.store import read
from imitable.feasibility import score
from imitable.files import Output
score.CHUNK = 2
score.score(read(sys.argv[1]), sys.argv[2], out=Output(sys.argv[3], resume=True))
"""


def test_a_killed_job_resumes_to_the_same_files(tmp_path: Path, slider: Robot, slider_path: Path) -> None:
    folder, out, straight = tmp_path / "demos", tmp_path / "scores.parquet", tmp_path / "straight.parquet"
    write(folder, slider.layout, own(slider, 24, 100))
    command = [sys.executable, "-c", KILLED, str(folder), str(slider_path)]
    process = subprocess.Popen([*command, str(out)])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list(parts_path(out).glob("part-*"))) < 3 and process.poll() is None:
        time.sleep(0.002)
    assert process.poll() is None, "it was done before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert parts_path(out).exists()
    subprocess.run([*command, str(out)], check=True)
    subprocess.run([*command, str(straight)], check=True)
    assert out.read_bytes() == straight.read_bytes()
    assert pq.read_table(steps_path(out)).equals(pq.read_table(steps_path(straight)))


def test_damaged_score_files_get_one_line(tmp_path: Path, slider: Robot) -> None:
    path = tmp_path / "scores.parquet"
    with pytest.raises(BadScores, match="no such file"):
        read_scores(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(BadScores) as caught:
        read_scores(path)
    assert "\n" not in str(caught.value)
    write(tmp_path / "demos", slider.layout, own(slider))
    with pytest.raises(BadScores):
        read_scores(next((tmp_path / "demos").glob("data/*/*.parquet")))


def test_a_rewritten_score_file_reads_the_same(slider: Robot, tmp_path: Path) -> None:
    scores = score(own(slider), slider)
    write_scores(tmp_path / "a.parquet", scores)
    assert read_scores(tmp_path / "a.parquet").metadata() == scores.metadata()


def test_folders_and_memory_agree(slider: Robot, tmp_path: Path) -> None:
    write(tmp_path / "demos", slider.layout, own(slider))
    np.testing.assert_array_equal(score(read(tmp_path / "demos"), slider).share, score(own(slider), slider).share)


class Stream(Demonstrations):
    """A set that makes its trajectories anew whenever they are read, and counts how many are alive at once."""

    def __init__(self, robot: Robot, count: int) -> None:
        self.layout_, self.alive, self.most = robot.layout, WeakSet[Trajectory](), 0
        self._states = pushed(FORCE / 2, 6).states
        self._episodes = tuple(episode_of(self.make(k), k) for k in range(count))
        self.most = 0

    def make(self, k: int) -> Trajectory:
        made = Trajectory(self._states * (1 + 1e-6 * k), "stream")
        self.alive.add(made)
        self.most = max(self.most, len(self.alive))
        return made

    @property
    def layout(self) -> Layout:
        return self.layout_

    def _rows(self) -> tuple[Episode, ...]:
        return self._episodes

    def __getitem__(self, position: int) -> Trajectory:
        return self.make(position)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self.make(k) for k in range(len(self._episodes)))


def test_memory_holds_a_chunk_and_no_more(slider: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_module, "CHUNK", 8)
    demos = Stream(slider, 60)
    scores = score(demos, slider, "direct:restart_budget=0", out=tmp_path / "scores.parquet")
    assert len(scores) == 60
    assert demos.most <= 2 * 8 + 2


def test_what_was_learned_from_other_demonstrations_judges_none_of_these(slider: Robot, tmp_path: Path) -> None:
    method, out = "transferability:horizon=10,steps=4096", tmp_path / "scores.parquet"
    first, second = (
        InMemory(slider.layout, [replace(pushed(sign * force, 12), demonstrator="human") for sign in (1, -1)])
        for force in (FORCE, 0.3 * FORCE)
    )
    fresh = score(second, slider, method)
    score(first, slider, method, out=out)
    again = score(second, slider, method, out=Output(out, overwrite=True))
    np.testing.assert_array_equal(again.share, fresh.share)


def test_resuming_and_overwriting_at_once_is_refused(slider: Robot, tmp_path: Path) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE, 10)])
    with pytest.raises(BadOption, match="--resume"):
        score(demos, slider, out=Output(tmp_path / "scores.parquet", resume=True, overwrite=True))


def test_steps_go_on_over_the_border_of_row_groups(tmp_path: Path) -> None:
    """Parquet closes a row group after so many rows, wherever an episode stands."""
    traces = {name: trace_of(rows, seed) for seed, (name, rows) in enumerate((("a", 5), ("b", 7), ("c", 3)))}
    whole, later = tmp_path / "whole.parquet", tmp_path / "later.parquet"
    write_traces(whole, traces)
    write_traces(later, {"b": traces["b"]})
    in_small_groups(whole, 4)
    wanted = [replace(episode_of(pushed(FORCE, 10), 0), hash=name) for name in ("a", "b")]
    copy_steps(steps_path(tmp_path / "scores.parquet"), [whole, later], wanted)
    for name in ("a", "b"):
        trace = read_steps(tmp_path / "scores.parquet", name)
        assert trace is not None
        for column in ("steps", "attempts", "errors", "states", "actions"):
            np.testing.assert_array_equal(getattr(trace, column), getattr(traces[name], column))
    assert read_steps(tmp_path / "scores.parquet", "c") is None


def trace_of(rows: int, seed: int) -> Trace:
    numbers = np.random.default_rng(seed).normal(size=(rows, 4))
    numbers[0, 0] = np.nan
    return Trace(np.arange(1, rows + 1), np.zeros(rows, np.int64), numbers[:, 0], numbers[:, 1:3], numbers[:, 3:])


def in_small_groups(path: Path, rows: int) -> None:
    """Write a Parquet file anew in row groups of so many rows."""
    file = pq.ParquetFile(path)
    table = file.read().replace_schema_metadata(file.metadata.metadata)
    pq.write_table(table, path, row_group_size=rows, write_page_checksum=True)
