# SPDX-License-Identifier: MIT
"""The tutorial of the Unitree G1, command by command, with the package that it names: its verdicts are what must hold."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.interop.environments import ROOT, environment
from tests.interop.pages import page_blocks, run_commands

import imitable as im
from imitable.experiments.balanced import balanced_movements
from imitable.experiments.g1 import METHOD, SERVOS, g1
from imitable.feasibility.score import score
from imitable.feasibility.unusual import unusual
from imitable.types import InMemory

pytestmark = pytest.mark.interop

PAGE = ROOT / "docs" / "tutorials" / "unitree-g1.md"
BOX = "sub3_largebox_003_mj"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Carry out all commands of the page but those that install the package, in one folder."""
    home = tmp_path_factory.mktemp("g1")
    python = environment("holosoma", "holosoma==0.0.3", options=("--no-deps",))
    [data] = (python.parents[1] / "lib").glob("python*/site-packages/holosoma/data")
    (home / "data").symlink_to(data)
    (home / "copies.py").write_text((ROOT / "examples" / "g1" / "copies.py").read_text())
    [gains] = page_blocks(PAGE, "json")
    (home / "g1_servos.json").write_text(gains)
    _, *blocks = page_blocks(PAGE, "")
    run_commands(blocks, home)
    return home


def scored(folder: Path, file: str) -> dict[str, tuple[float, str]]:
    """Return score and verdict by demonstrator."""
    scores = im.read_scores(folder / file)
    names = (episode.demonstrator for episode in scores.episodes)
    return dict(zip(names, zip(scores.score.tolist(), scores.verdict, strict=True), strict=True))


def test_the_page_has_the_gains_of_the_example() -> None:
    [gains] = page_blocks(PAGE, "json")
    assert json.loads(gains) == json.loads((ROOT / SERVOS).read_text())


def test_the_clip_is_worth_more_than_faster_lifted_or_on_a_weak_body(folder: Path) -> None:
    strong, weak = scored(folder, "scores.parquet"), scored(folder, "weak.parquet")
    assert strong[BOX][0] > max(strong["twice as fast"][0], weak[BOX][0])
    assert strong[BOX][1] == "feasible"
    assert strong["lifted"][1] == "infeasible"
    robot, copies = g1(folder / "data", ROOT / SERVOS), im.read(folder / "copies")
    reasons = [span.sentence for span in unusual(robot, copies[1].states).spans]
    assert any("nothing supports it" in reason for reason in reasons)


def test_a_lifted_clip_is_put_back_onto_the_ground(folder: Path) -> None:
    lifted, better = im.read(folder / "copies")[1], [one for one in im.read(folder / "better") if one.demonstrator == "lifted"]
    assert 0.2 < float(np.mean(lifted.states[:, 2] - better[0].states[:, 2])) < 0.35


def test_what_a_trainer_opens_is_there(folder: Path) -> None:
    listed = (folder / "motions.yaml").read_text()
    assert f"{BOX}.npz" in listed
    assert (folder / "weights" / "weights.parquet").is_file()
    clips = sorted((folder / "followed").glob("*.npz"))
    assert clips
    assert {"joint_pos", "joint_names", "body_pos_w"} <= set(np.load(clips[0]).files)


def test_own_balanced_movements_are_feasible(folder: Path) -> None:
    robot = g1(folder / "data", ROOT / SERVOS)
    movements = balanced_movements(robot)
    assert min(float(one.states[:, 2].min()) for one in movements) > 0.6, "it stands"
    scores = score(InMemory(robot.layout, movements), robot, METHOD)
    assert set(scores.verdict) == {"feasible"}
