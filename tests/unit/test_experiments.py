# SPDX-License-Identifier: MIT
"""Experiments on a small scale: what is missing is made, what is there is left alone."""

from pathlib import Path

import numpy as np
import pytest

from imitable.experiments import feasibility
from imitable.experiments.cases import LEARNING_CASES, SCORING_CASES, LearningCase, ScoringCase
from imitable.experiments.imitation import learn, missing_cases
from imitable.experiments.imitation_records import learning_path, read_learning
from imitable.experiments.noise import still_fraction
from imitable.experiments.records import Places
from imitable.experiments.settings import BY_NAME, HELD_OUT, SETTINGS, Setting
from imitable.types import Trajectory

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
    assert len(BY_NAME) == len(SETTINGS) + len(HELD_OUT)


def test_a_setting_is_measured_by_demonstrator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feasibility, "EACH", 2)
    setting = Setting("toy", "hopper:gravity=15", BY_NAME["hopper"].demonstrators, (1, 1, 1, 1))
    case = ScoringCase("direct, short", "direct:horizon=4")
    record = feasibility.measure(setting, case, tmp_path)
    assert {body: len(scores.share) for body, scores in record.demonstrators.items()} == dict.fromkeys(setting.demonstrators, 2)
    assert (record.setting, record.case, record.method) == ("toy", "direct, short", "direct:horizon=4")
    assert record.recorded_certificate is None
    assert record.seconds > 0
    assert record.one_pass_s > 0
    assert record.simulator_steps > 0
    assert "key" not in record.about


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
