# SPDX-License-Identifier: MIT
"""What the page says of runs whose files are damaged: their numbers stand, and what is missing is named."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import imitable as im
from imitable.cli.main import main
from imitable.report.content import content
from imitable.sim.babble import babble
from tests.conftest import SLIDER


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A robot without a task, and two seeds of it."""
    place = tmp_path_factory.mktemp("runs")
    (place / "slider.xml").write_text(SLIDER)
    body = im.robot(str(place / "slider.xml"))
    demos = im.InMemory(body.layout, babble(body, 2, 20, seed=0))
    for seed in range(2):
        im.imitate(demos, body, "cloning:gradient_steps=2", run=im.Run(episodes=1, seed=seed), out=place / f"run/seed-{seed}")
    return place / "run"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


DAMAGE: dict[str, Callable[[Path], None]] = {"cut": cut, "flipped": flipped, "gone": Path.unlink}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", ["policy.safetensors", "reference.safetensors"])
def test_a_damaged_run_is_reported_on_the_page_and_on_stderr(
    name: str, how: str, seed: int, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = runs / f"seed-{seed}" / name, tmp_path / "report.html"
    [sound] = content([runs], explain=0)["policies"]
    assert sound["motion"] is not None
    assert sound["remarks"] == []
    whole = file.read_bytes()
    try:
        DAMAGE[how](file)
        [shown] = content([runs], explain=0)["policies"]
        main(["report", str(runs), "--out", str(page), "--quiet"])
        err = capsys.readouterr().err
        main(["report", str(runs), "--out", str(page), "--overwrite", "--json"])
        document = json.loads(capsys.readouterr().out)
    finally:
        file.write_bytes(whole)
    [remark] = shown["remarks"]
    assert f"seed-{seed}" in remark
    assert (shown["motion"] is None) == (seed == 0), "the first finished seed is the one that is watched"
    assert shown["final"] == sound["final"], "numbers stand"
    assert f"! {remark}" in err
    assert document["remarks"] == [remark]
    assert f"seed-{seed}" in page.read_text().split('id="data"')[1]
