# SPDX-License-Identifier: MIT
"""Shards of a scoring job: merged, they are the whole job."""

import json
from pathlib import Path

import numpy as np
import pytest

from imitable.cli import merge as cli_merge
from imitable.cli import score as cli_score
from imitable.cli.experiment_verbs import Merge
from imitable.cli.main import parse
from imitable.cli.verbs import Score
from imitable.demos.store import read, write
from imitable.errors import BadOption, BadScores
from imitable.feasibility.episode_score import COLUMNS
from imitable.feasibility.merge import merge
from imitable.feasibility.score import Measuring, score
from imitable.feasibility.score_files import models_path, read_scores
from imitable.feasibility.scores import Scores
from imitable.feasibility.shards import KEY, Shard, parse_shard
from imitable.feasibility.step_files import read_steps
from imitable.robots.robot import Robot
from imitable.types import Trajectory
from tests.unit.pushed_slider import FORCE, own, pushed

SMALL_TRACKER = "trajectory:steps=2048,trained=2,horizon=10"


@pytest.fixture
def folders(slider: Robot, tmp_path: Path) -> list[Path]:
    """Seven demonstrations in two folders, of two demonstrators and of several lengths."""
    able = [Trajectory(one.states[: 20 + 3 * k], "able") for k, one in enumerate(own(slider, 3))]
    unable = [Trajectory(pushed((2 + k) * FORCE, 30).states, "unable") for k in range(4)]
    for name, some in (("first", able), ("second", unable)):
        write(tmp_path / name, slider.layout, some)
    return [tmp_path / "first", tmp_path / "second"]


def same(one: Scores, other: Scores) -> None:
    assert [(row.source, row.index, row.hash) for row in one.episodes] == [(r.source, r.index, r.hash) for r in other.episodes]
    for name in COLUMNS:
        np.testing.assert_equal(getattr(one, name), getattr(other, name), name)
    assert one.weighing == other.weighing
    assert one.measurement.own_share == other.measurement.own_share
    assert one.measurement.horizon == other.measurement.horizon
    assert one.measurement.covered == other.measurement.covered
    assert one.measurement.horizon_mass == other.measurement.horizon_mass
    assert one.measurement.extras == other.measurement.extras
    assert one.measurement.measured_steps == other.measurement.measured_steps


@pytest.mark.parametrize(
    ("method", "temperature"),
    [("direct", "auto"), ("direct", "paper"), ("inverse-dynamics:transitions=400,passes=1,calibration=3", "auto")],
)
def test_merged_shards_are_the_whole_job(
    slider: Robot, folders: list[Path], tmp_path: Path, method: str, temperature: str
) -> None:
    whole = score(read(*folders), slider, method, 3, temperature=temperature, out=tmp_path / "whole.parquet")
    paths = [tmp_path / f"{place}.parquet" for place in (1, 2, 3)]
    for place, path in zip((1, 2, 3), paths, strict=True):
        measuring = Measuring(shard=Shard(place, 3))
        score(read(*folders), slider, method, 3, measuring=measuring, temperature=temperature, out=path)
    merge([paths[2], paths[0], paths[1]], tmp_path / "merged.parquet")
    same(read_scores(tmp_path / "merged.parquet"), whole)
    for episode in whole.episodes:
        ours, theirs = (read_steps(tmp_path / f"{name}.parquet", episode.hash) for name in ("merged", "whole"))
        assert ours is not None
        assert theirs is not None
        np.testing.assert_array_equal(ours.errors, theirs.errors)


def test_what_learns_from_the_whole_set_needs_its_models(slider: Robot, folders: list[Path], tmp_path: Path) -> None:
    demos, paths = read(*folders), [tmp_path / f"{place}.parquet" for place in (1, 2)]
    whole = score(demos, slider, SMALL_TRACKER, out=tmp_path / "whole.parquet")
    with pytest.raises(BadOption, match="whole set"):
        score(demos, slider, SMALL_TRACKER, measuring=Measuring(shard=Shard(1, 2)), out=paths[0])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadOption, match="they lack the tracker of able"):
        score(demos, slider, SMALL_TRACKER, measuring=Measuring(shard=Shard(1, 2, tmp_path / "empty")), out=paths[0])
    assert not list(tmp_path.glob("1.parquet*")), "nothing is left behind"
    models = models_path(tmp_path / "whole.parquet")
    for place, path in zip((1, 2), paths, strict=True):
        score(demos, slider, SMALL_TRACKER, measuring=Measuring(shard=Shard(place, 2, models)), out=path)
    same(merge(paths, tmp_path / "merged.parquet"), whole)


def test_shards_that_do_not_belong_together_are_refused(slider: Robot, folders: list[Path], tmp_path: Path) -> None:
    demos = read(*folders)

    def shard(place: int, of: int, name: str, seed: int = 0) -> Path:
        path = tmp_path / f"{name}.parquet"
        score(demos, slider, seed=seed, measuring=Measuring(shard=Shard(place, of)), out=path)
        return path

    first, second, other, third = shard(1, 2, "a"), shard(2, 2, "b"), shard(2, 2, "c", seed=1), shard(3, 3, "d")
    score(demos, slider, out=tmp_path / "whole.parquet")
    for paths, reason in (
        ([first], "shards 2 are missing"),
        ([first, first], "shards 2 are missing"),
        ([first, second, second], "given twice"),
        ([first, other], "its seed was 1"),
        ([first, third], "another division"),
        ([first, tmp_path / "whole.parquet"], "no shard"),
    ):
        with pytest.raises(BadScores, match=reason):
            merge(paths, tmp_path / "merged.parquet")
    assert not (tmp_path / "merged.parquet").exists()
    with pytest.raises(BadOption, match="stay as they are"):
        merge([first, second], first)
    assert KEY not in merge([first, second], tmp_path / "merged.parquet").measurement.extras


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "1/", "a/b", "-1/2", "1/2/3", "1/0"])
def test_a_shard_is_one_of_so_many(text: str) -> None:
    with pytest.raises(BadOption, match="I/N"):
        parse_shard(text)


def test_shards_are_a_partition() -> None:
    for count in range(12):
        for of in range(1, 6):
            places = [place for k in range(of) for place in Shard(k + 1, of).places(count)]
            assert sorted(places) == list(range(count))


def test_shards_on_the_command_line(
    slider_path: Path, folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in (1, 2):
        verb = parse(["score", *map(str, folders), "--imitator", str(slider_path), "--shard", f"{place}/2"])
        assert isinstance(verb, Score)
        cli_score.run(verb)
    assert "next: imitable merge scores.1.parquet scores.2.parquet --out scores.parquet" in capsys.readouterr().err
    verb = parse(["score", *map(str, folders), "--imitator", str(slider_path), "--shard", "2/3", "--out", "part.parquet"])
    assert isinstance(verb, Score)
    cli_score.run(verb)
    assert "next: imitable merge part.parquet OTHER_SHARDS… --out scores.parquet" in capsys.readouterr().err
    joined = parse(["merge", "scores.1.parquet", "scores.2.parquet", "--json"])
    assert isinstance(joined, Merge)
    cli_merge.run(joined)
    assert len(json.loads(capsys.readouterr().out)["episodes"]) == 7
    for words in (["--models", "x"], ["--shard", "1/2", "--explain", "0"], ["--shard", "8/8", "--out", "8.parquet"]):
        verb = parse(["score", *map(str, folders), "--imitator", str(slider_path), *words])
        assert isinstance(verb, Score)
        with pytest.raises(BadOption):
            cli_score.run(verb)
