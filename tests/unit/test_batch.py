# SPDX-License-Identifier: MIT
from pathlib import Path

import numpy as np
import pytest

from imitable.errors import MixedRobots
from imitable.robots.parse import parse_robot
from imitable.sim.batch import Batch


def drive(batch: Batch, steps: int = 20) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    controls = rng.uniform(-1, 1, (steps, len(batch), batch.robot.control_range.shape[1]))
    return [batch.step(control) for control in controls]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e12])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_unstable_simulation_is_flagged_and_does_not_spread(
    value: float, threads: int, capfd: pytest.CaptureFixture[str]
) -> None:
    body = parse_robot("hopper")
    sound, hurt = Batch(body, 4, threads), Batch(body, 4, threads)
    for batch in (sound, hurt):
        batch.set_state(np.tile(body.start, (4, 1)))
    bad = np.full(len(body.start), value)
    hurt.set_state(bad, np.array([2]))
    flags = drive(hurt)
    assert not np.any(drive(sound))
    assert flags[0].tolist() == [False, False, True, False]
    others = [0, 1, 3]
    np.testing.assert_array_equal(hurt.states[others], sound.states[others])
    assert not np.array(flags)[:, others].any()
    assert capfd.readouterr() == ("", ""), "MuJoCo's own warnings stay silent"


def test_an_unstable_simulation_can_be_set_again() -> None:
    body = parse_robot("hopper")
    sound, hurt = Batch(body, 2), Batch(body, 2)
    hurt.set_state(np.full((2, len(body.start)), np.nan))
    drive(hurt, 3)
    for batch in (sound, hurt):
        batch.set_state(np.tile(body.start, (2, 1)))
    assert not np.any(drive(hurt))
    drive(sound)
    np.testing.assert_array_equal(hurt.states, sound.states)


def test_a_second_instability_is_flagged_like_the_first() -> None:
    body = parse_robot("hopper")
    batch, states = Batch(body, 2), np.stack([body.start, np.full(12, 1e12)])
    for _ in range(3):
        batch.set_state(states)
        assert batch.step(np.zeros((2, 3))).tolist() == [False, True]
        batch.set_state(np.stack([body.start] * 2))
        assert batch.step(np.zeros((2, 3))).tolist() == [False, False]


def test_a_subset_reports_its_own_unstable_simulations_only() -> None:
    body = parse_robot("swimmer")
    batch = Batch(body, 3)
    batch.set_state(np.full((1, len(body.start)), np.nan), np.array([1]))
    assert batch.step(np.zeros((2, 2)), np.array([0, 2])).tolist() == [False, False]
    assert batch.step(np.zeros((2, 2)), np.array([0, 1])).tolist() == [False, True]


def test_a_control_that_is_no_number_is_unstable() -> None:
    batch = Batch(parse_robot("swimmer"), 2)
    assert batch.step(np.array([[0.0, 0.0], [np.nan, 0.0]])).tolist() == [False, True]


def test_an_unstable_simulation_writes_no_log_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    batch = Batch(parse_robot("hopper"), 1)
    batch.set_state(np.full((1, 12), 1e12))
    drive(batch, 2)
    assert not list(tmp_path.iterdir())


def test_states_and_rows_are_copies() -> None:
    batch = Batch(parse_robot("hopper"), 2)
    batch.states[:] = 7.0
    batch.rows[:] = 7.0
    assert (batch.states != 7.0).all()
    assert len(batch) == 2


class TestRefusals:
    def test_a_wrong_number_of_bodies(self) -> None:
        with pytest.raises(MixedRobots, match="2 bodies for 3 simulations"):
            Batch([parse_robot("hopper"), parse_robot("hopper:gravity=5")], 3)

    def test_other_joints(self) -> None:
        with pytest.raises(MixedRobots, match="hopper and walker2d differ"):
            Batch([parse_robot("hopper"), parse_robot("walker2d")], 2)

    def test_another_time_step_with_the_same_control_period(self, slider_path: Path, tmp_path: Path) -> None:
        finer = tmp_path / "finer.xml"
        finer.write_text(slider_path.read_text().replace('timestep="0.01"', 'timestep="0.005"'))
        bodies = [parse_robot(str(slider_path)), parse_robot(str(finer))]
        assert bodies[0].layout == bodies[1].layout
        with pytest.raises(MixedRobots, match="time step"):
            Batch(bodies, 2)

    def test_another_number_of_bodies_behind_the_same_joints(self, slider_path: Path, tmp_path: Path) -> None:
        larger = tmp_path / "larger.xml"
        larger.write_text(slider_path.read_text().replace("</worldbody>", '<body><geom size="0.1"/></body></worldbody>'))
        with pytest.raises(MixedRobots, match="cannot be simulated in one batch"):
            Batch([parse_robot(str(slider_path)), parse_robot(str(larger))], 2)
