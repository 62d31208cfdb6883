# SPDX-License-Identifier: MIT
"""Models of users are compiled within limits, in a process of its own; MuJoCo's warnings are one line each."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadKnobValue, BadModel
from imitable.robots import compiling
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch
from imitable.workers import Workers
from tests.conftest import SLIDER

ATTACH = """<asset><model name="other" file="FILE"/></asset><worldbody><attach model="other" body="cart" prefix="p"/>"""

MOTOR = '<motor name="m{}" joint="slide" ctrllimited="true" ctrlrange="-1 1"/>'

GREEDY = {
    "replicas": (
        "<body name",
        '<replicate count="1000000" offset="0 0 1"><geom size="0.1"/></replicate><body name',
        "takes more than",
    ),
    "nuser": ("<worldbody>", '<size nuser_body="500000000"/><worldbody>', "2048 MB of memory"),
    "arena": ("<worldbody>", '<size memory="100G"/><worldbody>', "2048 MB of memory"),
    "texture": (
        "<worldbody>",
        '<asset><texture name="t" type="2d" builtin="flat" width="30000" height="30000"/></asset><worldbody>',
        "2048 MB of memory",
    ),
    "large": (
        "<worldbody>",
        '<asset><texture name="t" type="2d" builtin="flat" width="15000" height="15000"/></asset><worldbody>',
        "takes 675 MB, more than 512",
    ),
    "actuators": ("</actuator>", "".join(map(MOTOR.format, range(2_000))) + "</actuator>", "2,001 actuators"),
}
"""What is replaced in a model by what, and what is exceeded then."""


def model(path: Path, *changes: str) -> str:
    """Write the slider with a change; return its path."""
    path.write_text(SLIDER.replace(*changes) if changes else SLIDER)
    return str(path)


def refused(text: str) -> str:
    with pytest.raises(BadModel) as caught:
        parse_robot(text)
    return str(caught.value)


def test_models_that_attach_each_other_are_refused(tmp_path: Path) -> None:
    alone = model(tmp_path / "alone.xml", "<worldbody>", ATTACH.replace("FILE", "alone.xml"))
    first = model(tmp_path / "first.xml", "<worldbody>", ATTACH.replace("FILE", "second.xml"))
    model(tmp_path / "second.xml", "<worldbody>", ATTACH.replace("FILE", "first.xml"))
    for text in (alone, f"{alone}:gravity=3", first):
        assert "MuJoCo crashes on it" in refused(text)
    assert "MuJoCo crashes on it" in refused(f"panda:model={alone}")


@pytest.mark.parametrize("kind", GREEDY)
def test_a_model_that_takes_too_much_is_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "MOST_CPU_S", 5)
    before, after, exceeded = GREEDY[kind]
    assert exceeded in refused(model(tmp_path / "greedy.xml", before, after))


@pytest.mark.parametrize("step", ["0", "-0.01", "nan", "inf", "1e-300", "1e-6"])
def test_a_time_step_that_no_period_can_have_is_refused(step: str, tmp_path: Path) -> None:
    assert "at least 2e-06 s" in refused(model(tmp_path / "model.xml", 'timestep="0.01"', f'timestep="{step}"'))


def test_a_control_period_of_too_many_steps_is_refused(tmp_path: Path) -> None:
    path = model(tmp_path / "model.xml", 'timestep="0.01"', 'timestep="0.00001"')
    assert parse_robot(f"{path}:period=0.1").frame_skip == 10_000
    with pytest.raises(BadKnobValue, match=r"such as 0\.1"):
        parse_robot(f"{path}:period=1")


def test_the_same_content_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(compiling, "_accepted", set())
    monkeypatch.setattr(compiling, "_fault", lambda path: tried.append(path) or "")
    included = '<include file="size.xml"/><worldbody>'
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "size.xml").write_text("<mujoco/>")
        for _ in range(2):
            compiling.check(model(tmp_path / folder / "alone.xml"))
            compiling.check(model(tmp_path / folder / "parts.xml", "<worldbody>", included))
    assert [str(Path(path).relative_to(tmp_path)) for path in tried] == ["a/alone.xml", "a/parts.xml", "b/parts.xml"]


WARNED = ("<worldbody>", '<custom><numeric name="n" data="nan"/></custom><worldbody>')
"""A change that MuJoCo warns of."""


@pytest.mark.parametrize("changes", [WARNED, ("<worldbody>", ATTACH.replace("FILE", "robot.xml"))])
def test_the_command_line_prints_one_line_and_leaves_no_file(changes: tuple[str, str], tmp_path: Path) -> None:
    model(tmp_path / "robot.xml", *changes)
    command = [sys.executable, "-m", "imitable", "robots", "robot.xml", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    warned = changes is WARNED
    assert (done.returncode, done.stderr.count("\n")) == (0 if warned else 2, 1), done.stderr
    assert done.stderr.startswith("imitable: MuJoCo warns: " if warned else "imitable: robot.xml: ")
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]


def entries(text: str) -> tuple[str, ...]:
    return parse_robot(text).layout.qpos


def test_no_thread_and_no_process_writes_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    robot = parse_robot(model(tmp_path / "robot.xml", *WARNED))
    monkeypatch.chdir(tmp_path)
    assert Batch(robot, 4, threads=2).step(np.full((4, 1), np.nan)).all()
    with Workers(1) as workers:
        assert workers.submit(entries, "robot.xml").result() == robot.layout.qpos
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]
    assert capfd.readouterr().err.count("\n") == 2, "the model's own warning, of each process"
