# SPDX-License-Identifier: MIT
"""The shipped demonstrators are what the paper's settings need, and what their cards say."""

import numpy as np
import pytest

from imitable.errors import NoDemonstrator
from imitable.evaluation.returns import measure_returns
from imitable.experiments.settings import SETTINGS
from imitable.policies.shipped import card, policy_for, shipped
from imitable.rl.expert import EVALUATION_SEED
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion

BODIES = sorted({body for setting in SETTINGS for body in setting.bodies})


def test_every_body_of_the_settings_has_its_policy_and_none_is_left_over() -> None:
    assert sorted(shipped()) == BODIES
    assert len(BODIES) == 23


def test_texts_of_the_settings_are_canonical() -> None:
    assert [str(parse_robot(body)) for body in BODIES] == BODIES


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_returns_lie_in_the_band_of_their_setting_or_the_card_says_why_not(setting) -> None:
    low, high = setting.band
    for body in setting.bodies:
        said = card(parse_robot(body))
        inside = low <= said["mean_actions"]["return_mean"] <= high
        assert inside or said["note"], f"{body}: {said['mean_actions']}"


@pytest.mark.parametrize("body", BODIES)
def test_mean_and_sampled_return_agree_within_five_per_cent(body: str) -> None:
    said = card(parse_robot(body))
    mean, sampled = said["mean_actions"]["return_mean"], said["sampled_actions"]["return_mean"]
    assert abs(mean - sampled) <= 0.05 * abs(mean)


@pytest.mark.parametrize("body", BODIES)
def test_a_policy_returns_what_its_card_says(body: str) -> None:
    robot = parse_robot(body)
    found = measure_returns(Locomotion(robot), policy_for(robot), 4, EVALUATION_SEED)
    said = card(robot)["mean_actions"]
    spread = max(4 * said["return_std"], 0.05 * abs(said["return_mean"]))
    assert abs(np.median(found.returns) - said["return_mean"]) <= spread


def test_actuation_noise_does_not_change_whose_policy_it_is() -> None:
    assert policy_for(parse_robot("hopper:noise=0.1")).hash == policy_for(parse_robot("hopper")).hash


def test_a_body_without_a_policy_is_told_how_to_get_one() -> None:
    with pytest.raises(NoDemonstrator, match="imitable train hopper:gravity=3"):
        policy_for(parse_robot("hopper:gravity=3"))
