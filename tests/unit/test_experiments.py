# SPDX-License-Identifier: MIT
"""Experiments on a small scale: what is missing is made, what is there is left alone."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.experiments import feasibility
from imitable.experiments.cases import LEARNING_CASES, SCORING_CASES, LearningCase, Recording, ScoringCase
from imitable.experiments.demonstrations import demos_folder, distinct, record_demonstrations, recorded
from imitable.experiments.imitation import learn, missing_cases
from imitable.experiments.imitation_records import learning_path, read_learning
from imitable.experiments.noise import still_fraction
from imitable.experiments.records import Places
from imitable.experiments.settings import BY_NAME, DEVELOPMENT, FRESH, SETTINGS, Setting
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.sim.rollout import episodes
from imitable.sim.task import Locomotion
from imitable.types import Floats, Policy, Trajectory

SMALL = "gaifo:environments=2,length=64,minibatch=32,hidden=8,discriminator_hidden=8"
TINY = LearningCase("own", "tiny", "hopper", ("hopper",), (2,), 256, SMALL, weighted=True, seeds=(1, 0), episodes=1)


def test_a_case_is_learned_anew_whatever_is_recorded(tmp_path: Path) -> None:
    places = Places(tmp_path / "results", tmp_path / "runs")
    path = learning_path(places.results, TINY)
    path.parent.mkdir(parents=True)
    path.write_text("an old record")
    [record] = learn([TINY], places, processes=1)
    assert record.case == TINY
    assert [run.seed for run in record.runs] == [0, 1]
    assert record.runs[0].mean_actions != record.runs[1].mean_actions
    assert read_learning(places.results, "own") == [record]
    assert (places.runs / "imitation" / "runs" / "own.tiny" / "seed-1" / "policy.safetensors").is_file()
    assert (places.runs / "imitation" / "scores" / "tiny.parquet").is_file()


def test_only_cases_without_a_record_are_missing(tmp_path: Path) -> None:
    own = [case for case in LEARNING_CASES if case.group == "own"]
    assert missing_cases(["own"], "", tmp_path) == own
    path = learning_path(tmp_path, own[0])
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert missing_cases(["own"], "", tmp_path) == own[1:]
    assert missing_cases(["own"], own[1].name, tmp_path) == own[1:2]


def test_names_of_cases_tell_their_records_apart() -> None:
    assert len({case.record for case in LEARNING_CASES}) == len(LEARNING_CASES)
    assert len({case.name for case in SCORING_CASES}) == len(SCORING_CASES)
    assert len(BY_NAME) == len(SETTINGS) + len(DEVELOPMENT) + len(FRESH)


def test_a_setting_is_measured_by_demonstrator(tmp_path: Path) -> None:
    setting = Setting("toy", "hopper:gravity=15", BY_NAME["hopper"].demonstrators, (1, 1, 1, 1))
    case = ScoringCase("direct, short", "direct:window_s=0.08,effort=quick", each=2)
    record = feasibility.measure(setting, case, tmp_path)
    assert {body: len(scores.share) for body, scores in record.demonstrators.items()} == dict.fromkeys(setting.demonstrators, 2)
    assert (record.setting, record.case, record.method) == ("toy", "direct, short", "direct:window_s=0.08,effort=quick")
    assert record.recorded_certificate is None
    assert record.seconds > 0
    assert record.one_pass_s > 0
    assert record.simulator_steps > 0
    assert "key" not in record.about


def test_every_case_names_a_setting_of_its_bodies() -> None:
    for case in LEARNING_CASES:
        assert {case.imitator, *case.demonstrators} <= set(BY_NAME[case.setting].bodies), case.name
        assert {recording.setting for recording in case.recordings} == {case.setting}


def test_two_policies_of_a_body_never_share_a_recording(two_hoppers: Path, tmp_path: Path) -> None:
    kinds = [Recording("hopper", 2, setting) for setting in ("", "development hopper", "hopper")]
    plain, held_out, own = (demos_folder(tmp_path, kind) for kind in kinds)
    assert plain == held_out != own
    assert len(distinct(tmp_path, [*kinds, Recording("hopper", 3, "hopper")])) == 3
    for kind in kinds:
        record_demonstrations(tmp_path, kind)
    hashes = [{episode.hash for episode in recorded(tmp_path, [kind]).episodes} for kind in kinds]
    assert hashes[0] == hashes[1]
    assert not hashes[0] & hashes[2]


def test_a_case_may_shake_what_is_followed_and_draw_other_demonstrations(tmp_path: Path) -> None:
    setting = Setting("toy", "hopper:gravity=15", BY_NAME["hopper"].demonstrators, (1, 1, 1, 1))
    plain = ScoringCase("direct, short", "direct:window_s=0.08,effort=quick", each=1)
    cases = (plain, replace(plain, name="shaken", method=f"{plain.method},jitter=0.001"), replace(plain, name="other", seed=2))
    one, shaken, other = (feasibility.measure(setting, case, tmp_path) for case in cases)
    for body in setting.demonstrators:
        assert one.demonstrators[body].share != shaken.demonstrators[body].share
        assert one.demonstrators[body].share == pytest.approx(shaken.demonstrators[body].share, abs=0.2)
        assert one.demonstrators[body].share != other.demonstrators[body].share


def test_a_robot_without_a_policy_demonstrates_babble(tmp_path: Path) -> None:
    recording = Recording("examples/robots/servo_arm.xml", 2)
    record_demonstrations(tmp_path, recording)
    assert {len(trajectory) for trajectory in recorded(tmp_path, [recording])} == {500}


def test_a_setting_is_measured_on_its_own_demonstrators(two_hoppers: Path, tmp_path: Path) -> None:
    bodies = ("hopper:gravity=20", "hopper", "hopper:gravity=5", "hopper:gravity=2")
    case = ScoringCase("direct, short", "direct:window_s=0.04,effort=quick", each=1)
    for name in ("hopper", "toy"):
        feasibility.measure(Setting(name, "hopper:gravity=15", bodies, (1, 1, 1, 1)), case, tmp_path)
    folders = {path.name.rpartition("-")[0] for path in (tmp_path / "demos").iterdir()}
    assert len(folders) == 4
    assert len(list((tmp_path / "demos").glob("hopper-1-*"))) == 2
    assert len(list((tmp_path / "demos").iterdir())) == 5


def test_the_certificate_is_that_of_the_setting_s_own_imitator(two_hoppers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def played(task: Locomotion, policy: Policy, *_: object, **__: object) -> Iterator[tuple[Trajectory, Floats]]:
        asked.append(policy.hash)
        return episodes(task, policy, [0])

    monkeypatch.setattr(feasibility, "episodes", played)
    monkeypatch.setattr(feasibility, "CERTIFIED_TRANSITIONS", 2)
    feasibility.recorded_certificate(Setting("hopper", "hopper", BY_NAME["hopper"].demonstrators, (1, 1, 1, 1)))
    assert set(asked) == {policy_for(parse_robot("hopper:gravity=20")).hash}


def test_a_recorded_certificate_is_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "CERTIFIED_EPISODES", 1)
    monkeypatch.setattr(feasibility, "CERTIFIED_TRANSITIONS", 20)
    found = feasibility.recorded_certificate(BY_NAME["hopper"])
    assert 0.9 <= found.mean <= 1
    assert 0.9 <= found.sampled <= 1


def test_a_swimmer_stands_still_where_no_joint_moves() -> None:
    states = np.zeros((501, 10))
    states[:300, 8] = 1.0  # before it has settled
    states[400:, 9] = -1.0
    assert still_fraction([Trajectory(states, "swimmer")]) == pytest.approx(100 / 201)
