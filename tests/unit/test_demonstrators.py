# SPDX-License-Identifier: MIT
"""The shipped demonstrators are what the paper's settings need, and what their cards say."""

from pathlib import Path

import numpy as np
import pytest

from imitable.errors import BadOption, NoDemonstrator
from imitable.evaluation.returns import measure_returns
from imitable.experiments.settings import SETTINGS
from imitable.policies.shipped import SETS, card, cards, file_name, folder, policy_for, shipped
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


def test_a_setting_and_a_set_may_have_policies_of_their_own(two_hoppers: Path) -> None:
    hopper, heavier = parse_robot("hopper"), parse_robot("hopper:gravity=15")
    owners = {policy_for(parse_robot(f"hopper:gravity={value}")).hash: value for value in (5, 20)}
    assert owners[policy_for(hopper, "hopper").hash] == 20
    assert owners[policy_for(parse_robot("hopper:noise=0.1"), "hopper").hash] == 20
    assert owners[policy_for(hopper, set_name="b").hash] == 5
    assert policy_for(hopper).hash not in owners
    assert policy_for(hopper, "held-out hopper").hash == policy_for(hopper).hash
    assert policy_for(heavier, "hopper").hash == policy_for(heavier).hash
    assert shipped() == tuple(said["robot"] for said in cards() if not said.get("setting"))
    assert len(cards()) == len(shipped()) + 1
    assert card(hopper, "hopper")["setting"] == "hopper"
    assert shipped("b") == ("hopper",)


def test_a_body_that_is_not_in_a_set_is_told_where_it_is(two_hoppers: Path) -> None:
    with pytest.raises(
        NoDemonstrator, match=r"set b has no demonstrator for 'walker2d': leave --set out .* choose from: hopper$"
    ):
        policy_for(parse_robot("walker2d"), set_name="b")
    with pytest.raises(NoDemonstrator, match=r"imitable train hopper:gravity=3 .*walker2d"):
        policy_for(parse_robot("hopper:gravity=3"), set_name="b")
    with pytest.raises(BadOption, match="set=c is not allowed: choose from: a, b"):
        policy_for(parse_robot("hopper"), set_name="c")


def test_set_b_has_whole_settings_and_no_body_that_set_a_lacks() -> None:
    others = set(shipped("b"))
    assert others <= set(shipped())
    assert others == {body for setting in SETTINGS if others & set(setting.bodies) for body in setting.bodies}


@pytest.mark.parametrize("set_name", SETS)
def test_every_policy_has_a_card_that_names_it_and_settings_that_exist(set_name: str) -> None:
    files = {path.stem for path in folder(set_name).glob("*.safetensors")}
    names = {setting.name: setting.bodies for setting in SETTINGS}
    assert {file_name(said["robot"], said.get("setting", "")) for said in cards(set_name)} == files
    assert all(said["robot"] in names[said["setting"]] for said in cards(set_name) if said.get("setting"))


def test_a_body_without_a_policy_is_told_how_to_get_one() -> None:
    with pytest.raises(NoDemonstrator, match="imitable train hopper:gravity=3"):
        policy_for(parse_robot("hopper:gravity=3"))
