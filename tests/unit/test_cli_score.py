# SPDX-License-Identifier: MIT
"""`imitable score | weigh | acquire` as a person meets them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.errors import BadOption
from imitable.feasibility.score_files import parts_path
from imitable.feasibility.step_files import steps_path
from imitable.sim.babble import babble
from tests.unit.test_cli import imitable, refused

QUICK = ("--method", "direct:window_s=0.4,restart_budget=50")


@pytest.fixture(scope="module")
def slider(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.conftest import SLIDER

    path = tmp_path_factory.mktemp("robot") / "slider.xml"
    path.write_text(SLIDER)
    return path


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory, slider: Path) -> Path:
    folder = tmp_path_factory.mktemp("score") / "demos"
    weak, strong = im.robot(str(slider)), im.robot(f"{slider}:gear.push=8")
    im.write(folder, weak.layout, [*babble(weak, 3, 40, 1), *babble(strong, 3, 40, 2)])
    return folder


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory, demos: Path, slider: Path) -> Path:
    out = tmp_path_factory.mktemp("out") / "scores.parquet"
    done = imitable("score", demos, "--imitator", slider, *QUICK, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "tracker certificate 100.0%" in done.stderr
    assert "effective sample size" in done.stderr
    assert "--explain EPISODE" in done.stderr
    return out


def test_scores_rank_what_can_be_followed(scores: Path) -> None:
    found = im.read_scores(scores)
    assert found.share[:3].max() < found.share[3:].min()
    assert found.weight[:3].sum() > 0.99
    assert steps_path(scores).exists()
    assert not parts_path(scores).exists()


def test_score_speaks_json(scores: Path, demos: Path, slider: Path, tmp_path: Path) -> None:
    done = imitable("score", demos, "--imitator", slider, *QUICK, "--out", tmp_path / "s.parquet", "--json", "--threads", "2")
    document = json.loads(done.stdout)
    assert len(document["episodes"]) == 6
    np.testing.assert_array_equal([row["share"] for row in document["episodes"]], im.read_scores(scores).share)
    assert {"certificate", "horizon_s", "effective_size", "simulator_steps", "remarks"} <= set(document)


def test_short_coverage_is_warned_of(demos: Path, slider: Path, tmp_path: Path) -> None:
    done = imitable(
        "score", demos, "--imitator", slider, "--method", "direct:window_s=0.06,windows=1", "--out", tmp_path / "s.parquet"
    )
    assert "less than a tenth" in done.stderr


def test_explain_names_the_knob(scores: Path, demos: Path, slider: Path) -> None:
    before = scores.read_bytes()
    done = imitable("score", demos, "--imitator", slider, *QUICK, "--out", scores, "--explain", "4", "--json")
    document = json.loads(done.stdout)
    assert document["verdict"] == "infeasible"
    assert [ladder["knob"] for ladder in document["ladders"]] == ["gear.push"]
    assert len(document["ladders"][0]["rungs"]) >= 8
    assert scores.read_bytes() == before


def test_weigh_and_acquire_work_on_the_file(scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "weighted.parquet"
    document = json.loads(imitable("weigh", scores, "--temperature", "1000", "--out", out, "--json").stdout)
    assert document["effective_size"] > 5
    np.testing.assert_array_equal(im.read_scores(out).distance, im.read_scores(scores).distance)
    advice = json.loads(imitable("acquire", "--scores", scores, "--budget", "9", "--json").stdout)
    assert sum(source["queries"] for source in advice["sources"]) == 9
    assert "ask" in imitable("acquire", "--scores", out, "--budget", "9").stderr


def test_method_help_lists_keys() -> None:
    document = json.loads(imitable("score", "x", "--imitator", "hopper", "--method", "direct:help", "--json").stdout)
    assert document["keys"]["effort"] == "standard"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--imitator", "hopper"), "not the imitator's"),
        (("--imitator", "SLIDER", "--method", "direkt"), "did you mean 'direct'"),
        (("--imitator", "SLIDER", "--temperature", "hot"), "auto, paper, arm"),
        (("--imitator", "SLIDER", "--discount", "2"), "from 0 to 1"),
        (("--imitator", "SLIDER", "--distance", "l7"), "standardised"),
        (("--imitator", "SLIDER", "--entries", "knee"), "slide"),
        (("--imitator", "SLIDER", "--explain", "99"), "0 to 5"),
        (("--imitator", "SLIDER", "--rollouts", "0"), "from 1"),
    ],
)
def test_bad_input_gets_one_line(arguments: tuple[str, ...], message: str, demos: Path, slider: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    given = [str(slider) if argument == "SLIDER" else argument for argument in arguments]
    assert message in refused("score", demos, *given, "--out", out)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_is_kept(scores: Path, demos: Path, slider: Path) -> None:
    before = scores.read_bytes()
    assert "--resume" in refused("score", demos, "--imitator", slider, *QUICK, "--out", scores)
    assert "seed" in refused("score", demos, "--imitator", slider, *QUICK, "--out", scores, "--resume", "--seed", "5")
    assert "only read" in refused("weigh", scores, "--out", scores)
    assert "no such file" in refused("acquire", "--scores", "nowhere.parquet")
    assert "NAME=PRICE" in refused("acquire", "--scores", scores, "--cost", "x")
    assert scores.read_bytes() == before


def test_demonstrations_can_be_left_out(tmp_path: Path, slider_path: Path) -> None:
    """One that cannot be judged is named, and the rest goes its way, to the policy."""
    body = im.robot(str(slider_path))
    good = babble(body, 3, 20, 0)
    outside = [replace(one, states=one.states + np.array([5.0, 0.0])) for one in good[:1]]
    im.write(tmp_path / "demos", body.layout, [good[0], *outside, *good[1:]])
    arguments = ("score", tmp_path / "demos", "--imitator", slider_path, "--out", tmp_path / "scores.parquet")
    assert "episode 1" in (line := refused(*arguments))
    assert "--leave-out" in line
    done = imitable(*arguments, "--leave-out", "1")
    assert done.returncode == 0, done.stderr
    assert "--leave-out 1 --explain" in done.stderr
    assert [episode.index for episode in im.read_scores(tmp_path / "scores.parquet").episodes] == [0, 2, 3]
    assert "from 0 to 3" in refused(*arguments, "--leave-out", "4", "--overwrite")
    assert "must stay" in refused(*arguments, "--leave-out", "0-3", "--overwrite")
    learn = ("imitate", tmp_path / "demos", "--imitator", slider_path, "--scores", tmp_path / "scores.parquet")
    quick = ("--method", "cloning:gradient_steps=2", "--episodes", "1", "--out", tmp_path / "run")
    assert "episode 1" in refused(*learn, *quick)
    assert imitable(*learn, *quick, "--leave-out", "1").returncode == 0


LIGHT = """
import json, sys
from imitable.cli.main import main
for words in json.loads(sys.argv[1]):
    main(words)
print("jax" in sys.modules)
"""


def test_what_learns_nothing_loads_no_jax(scores: Path, demos: Path, slider: Path, tmp_path: Path) -> None:
    job = ("score", str(demos), "--imitator", str(slider), *QUICK)
    commands = [
        [*job, "--out", str(tmp_path / "again.parquet")],
        [*job, "--out", str(scores), "--explain", "4"],
        ["weigh", str(scores), "--temperature", "1000", "--out", str(tmp_path / "weighted.parquet")],
        ["acquire", "--scores", str(scores), "--budget", "3"],
        ["project", str(demos), "--imitator", str(slider), "--scores", str(scores), "--out", str(tmp_path / "projected")],
        ["report", str(scores), "--out", str(tmp_path / "report.html")],
    ]
    quiet = json.dumps([[*words, "--quiet"] for words in commands])
    done = subprocess.run([sys.executable, "-c", LIGHT, quiet], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "False"


def test_the_examples_calls_work(demos: Path, slider: Path, tmp_path: Path) -> None:
    """What a user of the library writes most, with names of `imitable` alone."""
    out = tmp_path / "scores.parquet"
    found = im.score(im.read(demos), str(slider), QUICK[1], seed=1, temperature=5.0, out=out)
    assert im.read_scores(out).weighing.temperature == "5.0"
    assert found.path == out
    explanation = im.explain(im.read_scores(out), 4)
    assert explanation.verdict == "infeasible"
    assert explanation.lines
    with pytest.raises(BadOption, match="does not hold"):
        im.explain(found, 4, im.Part(im.read(demos), [0]))
    with pytest.raises(BadOption, match="0 to 5"):
        im.explain(found, 6)
    again = im.score(im.read(demos), str(slider), QUICK[1], seed=1, out=im.Output(out, resume=True))
    np.testing.assert_array_equal(again.share, found.share)
