# SPDX-License-Identifier: MIT
"""The shipped demonstrators are what the paper's settings need, and what their cards say."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imitable.errors import BadOption, NoDemonstrator
from imitable.evaluation import acceptance
from imitable.evaluation.returns import measure_returns
from imitable.experiments.settings import SETTINGS, Setting
from imitable.policies.files import save_policy
from imitable.policies.lineage import lineage, training_steps
from imitable.policies.shipped import SETS, card, cards, file_name, folder, policy_for, shipped
from imitable.rl.expert import EVALUATION_SEED
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Policy

SCRIPTS = Path(__file__).parents[2] / "scripts"
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
        said = card(parse_robot(body), setting.name)
        inside = low <= said["mean_actions"]["return_mean"] <= high
        assert inside or said["note"], f"{body}: {said['mean_actions']}"


@pytest.mark.parametrize("said", [one for name in SETS for one in cards(name)], ids=lambda said: said["robot"])
def test_a_demonstrator_is_accepted_or_its_card_says_what_is_short(said: dict[str, Any]) -> None:
    mean, sampled, pushed = said["mean_actions"], said["sampled_actions"], said["pushed"]
    assert mean["falls"] == sampled["falls"] == 0
    assert abs(mean["return_mean"] - sampled["return_mean"]) <= 0.03 * mean["return_mean"]
    assert sampled["return_std"] <= 0.05 * sampled["return_mean"]
    assert (pushed["survived"] >= 95) == (not said["refusals"])
    assert not said["refusals"] or said["note"]
    assert mean["return_mean"] >= 95 or not said["robot"].startswith("swimmer:back")


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
    assert policy_for(hopper, "development hopper").hash == policy_for(hopper).hash
    assert policy_for(heavier, "hopper").hash == policy_for(heavier).hash
    assert shipped() == tuple(said["robot"] for said in cards() if not said.get("setting"))
    assert {said["robot"] for said in cards() if said.get("setting") == "hopper"} == {"hopper"}
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


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a script of the repository as a module."""
    monkeypatch.syspath_prepend(SCRIPTS)
    return import_module


def test_every_body_of_the_settings_has_one_recipe_a_policy(script: Callable[[str], Any]) -> None:
    recipes = script("demonstrator_recipes").RECIPES
    assert len({(recipe.name, recipe.set_name) for recipe in recipes}) == len(recipes)
    shared = [recipe.robot for recipe in recipes if recipe.set_name == "a" and not recipe.setting]
    assert sorted(shared) == BODIES
    assert all(recipe.begin is None or recipe.begin in shared for recipe in recipes)
    assert all(recipe.settings and recipe.set_name in SETS for recipe in recipes)


def test_a_policy_for_one_setting_takes_it_from_the_one_for_all(
    script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = script("demonstrator_recipes")
    plain = module.Recipe("walker2d", "", "")
    own, other = replace(plain, setting="walker2d-2"), replace(plain, set_name="b")
    monkeypatch.setattr(module, "RECIPES", (plain, own, other))
    names = [[setting.name for setting in recipe.settings] for recipe in (plain, own, other)]
    assert names == [["walker2d-1"], ["walker2d-2"], ["walker2d-1", "walker2d-2"]]
    assert [recipe.title for recipe in (own, other)] == ["walker2d@walker2d-2", "walker2d of set b"]


def test_a_recipe_waits_for_the_one_that_it_begins_from(
    script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, recipe = script("train_demonstrators"), script("demonstrator_recipes").Recipe
    begun: list[str] = []

    def train(one: Any) -> str | None:
        begun.append(one.title)
        return None if one.robot == "swimmer" else one.title

    monkeypatch.setattr(module, "train", train)
    monkeypatch.setattr(module, "is_done", lambda one: one.robot == "walker2d")
    rows = [recipe("hopper:gravity=15", "", "", begin="hopper"), recipe("hopper", "", "", setting="hopper", begin="hopper")]
    rows += [recipe("hopper", "", "", begin="walker2d"), recipe("walker2d", "", "")]
    module.train_missing(rows)
    assert begun[0] == "hopper"
    assert sorted(begun[1:]) == ["hopper-gravity=15", "hopper@hopper"]
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(begun)
    with pytest.raises(SystemExit, match=r"not trained: swimmer, swimmer-back=10$"):
        module.train_missing([recipe("swimmer", "", ""), recipe("swimmer:back=10", "", "", begin="swimmer")])


def test_recipes_run_the_code_beside_their_script(
    script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "src" / "imitable"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import sys; print('here', sys.argv[1:])")
    module = script("train_demonstrators")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", "src")  # of the folder that the user stands in, not of the one that training runs in
    assert module.imitable(["robots", "hopper"], tmp_path).stdout == "here ['robots', 'hopper']\n"


def test_recipes_are_chosen_by_family_body_and_setting(script: Callable[[str], Any]) -> None:
    module = script("train_demonstrators")
    assert {one.robot for one in module.chosen(["hopper"], "a")} == {body for body in BODIES if body.startswith("hopper")}
    assert [one.robot for one in module.chosen(["hopper:gravity=15"], "a")] == ["hopper:gravity=15"]
    with pytest.raises(SystemExit) as left:
        module.chosen(["hopper:gravity=3"], "a")
    assert left.value.code == 2


@pytest.mark.parametrize(
    ("change", "code", "line"),
    [
        ({}, 0, "hopper: the same bits"),
        ({"about": {"robot": "another text"}}, 0, "hopper: the same bits"),
        ({"log_std": np.float32([-1, -1, -1])}, 1, "hopper: differs in log_std"),
        ({"observation_limit": 9.0}, 1, "hopper: differs in observation_limit"),
        (None, 1, "hopper: failed: no room"),
    ],
)
def test_a_check_compares_bits_and_touches_nothing(
    change: dict[str, Any] | None,
    code: int,
    line: str,
    script: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    module = script("train_demonstrators")
    policy, asked = policy_for(parse_robot("hopper")), list[list[str]]()

    def trained(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        asked.append(arguments)
        if change is not None:
            save_policy(replace(policy, **change), folder / arguments[arguments.index("--out") + 1])
        return subprocess.CompletedProcess(arguments, change is None, "", "no room\n")

    before = {path: path.stat().st_mtime_ns for path in folder().rglob("*")}
    monkeypatch.setattr(module, "imitable", trained)
    monkeypatch.setattr(module, "BUILD", tmp_path)
    left = tmp_path / "check" / "a" / "hopper" / "hopper.safetensors"
    left.parent.mkdir(parents=True)
    left.write_text("of an earlier check")
    monkeypatch.setattr("sys.argv", ["train_demonstrators.py", "--check", "hopper"])
    monkeypatch.setattr(module, "RECIPES", [recipe for recipe in module.RECIPES if recipe.robot == "hopper"])
    with pytest.raises(SystemExit) as leave:
        module.main()
    assert (int(leave.value.code), capsys.readouterr().out.strip()) == (code, line)
    assert asked[0][:2] == ["train", "hopper"]
    assert {path: path.stat().st_mtime_ns for path in folder().rglob("*")} == before


def test_what_was_trained_lies_in_its_set_with_a_card(
    script: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch, two_hoppers: Path, tmp_path: Path
) -> None:
    module, recipe = script("train_demonstrators"), script("demonstrator_recipes").Recipe
    policy, asked = policy_for(parse_robot("hopper:gravity=15")), recipe("hopper:gravity=15", "3460 ± 87", "", 4, set_name="b")

    def trained(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        save_policy(policy, folder / arguments[arguments.index("--out") + 1])
        return subprocess.CompletedProcess(arguments, 0, json.dumps({"robot": asked.robot, "steps": 7, "log_std": []}), "")

    monkeypatch.setattr(module, "imitable", trained)
    monkeypatch.setattr(module, "BUILD", tmp_path / "build")
    monkeypatch.setattr(acceptance, "EPISODES", 2)
    assert not module.is_done(asked)
    assert module.train(asked).startswith("hopper-gravity=15 of set b: 7 steps")
    assert module.is_done(asked)
    said = json.loads((two_hoppers / "b" / "hopper-gravity=15.json").read_text())
    assert (said["set"], said["setting"], said["seed"], said["command"]) == ("b", "", 4, asked.command)
    assert said["from_paper"] == {"hopper": pytest.approx(said["mean_actions"]["return_mean"] / 3460 - 1, abs=1e-3)}
    assert not list((tmp_path / "build").rglob("*.safetensors"))


def test_acceptance_judges_the_demonstrators_of_a_setting_or_candidates_in_their_place(
    script: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    two_hoppers: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, judged = script("accept_demonstrators"), list[tuple[str, str]]()

    def judge(task: Locomotion, policy: Policy) -> acceptance.Acceptance:
        judged.append((str(task.robot), policy.hash))
        return acceptance.judge(task, policy)

    candidate = policy_for(parse_robot("hopper:gravity=15"))
    (tmp_path / "new").mkdir()
    save_policy(candidate, tmp_path / "new" / "hopper-gravity=2.safetensors")
    monkeypatch.setattr(acceptance, "EPISODES", 2)
    monkeypatch.setattr(module, "judge", judge)
    hopper = next(setting for setting in SETTINGS if setting.name == "hopper")
    module.print_tables([hopper, hopper], "a", tmp_path / "new")
    found = dict(judged)
    assert len(judged) == len(found) == 5
    assert found["hopper"] == policy_for(parse_robot("hopper:gravity=20")).hash
    assert found["hopper:gravity=2"] == candidate.hash
    said = capsys.readouterr().out
    assert said.count("## hopper\n") == said.count("| `hopper:gravity=15` | imitator |") == 2
    assert "The paper's demonstrations return 3,460." in said


def test_a_table_says_who_is_refused_and_how_far_a_setting_is_spread(script: Callable[[str], Any]) -> None:
    table, setting = script("setting_tables").table, next(one for one in SETTINGS if one.name == "half_cheetah-2")
    returns = {body: {"return_mean": 3337.0, "return_std": 5.0, "falls": 0} for body in setting.bodies}
    said = {body: {"mean_actions": one, "sampled_actions": one | {"falls": 2}} for body, one in returns.items()}
    said[setting.imitator] |= {"refusals": [], "pushed": {"survived": 97, "newtons": 60.0}}
    said["half_cheetah:back=0.01"] |= {"refusals": ["2 falls with sampled actions"]}
    lines = table(setting, said)
    assert len(lines) == 2 + 4 + 2  # the imitator demonstrates, too
    assert lines[2] == (
        "| `half_cheetah:front=0.01` | imitator, related | 3,337 ± 5 | +0% | 3,337 ± 5 | 0, 2 | 97 (60 N) | accepted |"
    )
    assert lines[4].endswith("| – | not judged |")
    assert "back=0.01` | unrelated" in lines[5]
    assert lines[5].endswith("| 2 falls with sampled actions |")
    assert "±0.0% of the middle" in lines[-1]
    returns["half_cheetah:back=0.05"]["return_mean"] = 2337.0
    assert "**more than ±7%**" in table(setting, said)[-1]
    assert "| -30% |" in table(setting, said)[4]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_bodies_of_a_setting_return_alike(setting: Setting) -> None:
    said = {body: card(parse_robot(body), setting.name) for body in setting.bodies}
    agreement = acceptance.Agreement(
        {body: one["mean_actions"]["return_mean"] for body, one in said.items()}, setting.paper_return
    )
    assert not agreement.refusals


def test_a_page_of_results_names_the_policies_that_are_new(
    script: Callable[[str], Any], two_hoppers: Path, tmp_path: Path
) -> None:
    mark = script("older_policies").mark
    bodies = {(said["robot"], said.get("setting", "")) for said in cards()} - {("hopper", "hopper")}
    known = {f"{body}@{name}" if name else body: policy_for(parse_robot(body), name).hash for body, name in bodies}
    known["swimmer"] = "another"
    (tmp_path / "policies.json").write_text(json.dumps({"page": known}))
    [line, _] = mark(tmp_path, "page")
    assert line.endswith("not measured yet: `hopper@hopper`, `swimmer`.")


def test_an_animation_follows_the_body_and_lets_the_ground_pass(script: Callable[[str], Any]) -> None:
    module, robot = script("animate_demonstrators"), parse_robot("walker2d")
    states = np.tile(robot.start, (1001, 1))
    states[:, 0] = np.arange(1001) * robot.layout.period_s * 1.5  # m/s
    scene = module.filmed(robot, states)
    assert scene.seconds == pytest.approx(2.0)
    assert len(scene.points) == 51
    assert scene.travel == pytest.approx([3.0, 0.0])
    assert np.ptp(scene.points, axis=0) == pytest.approx(np.zeros_like(scene.points[0]))
    left, bottom, width, height = scene.window
    assert bottom < 0 < scene.points[0, :, 1].min()
    assert left < scene.points[0, :, 0].min() < scene.points[0, :, 0].max() < left + width
    assert scene.points[0, :, 1].max() < bottom + height
    far = module.is_far(robot)
    assert (len(far), sum(far)) == (len(scene.shown.radii), 3)
    text = module.drawn(scene, far, "a <body>")
    assert "<title>a &lt;body&gt;</title>" in text
    assert 'values="0 0;-600 0" dur="2s"' in text
    assert text.count('attributeName="d"') == 7


def test_an_animation_of_a_short_episode_shows_what_there_is(script: Callable[[str], Any]) -> None:
    robot = parse_robot("swimmer")
    states = np.tile(robot.start, (26, 1))
    scene = script("animate_demonstrators").filmed(robot, states)
    assert (len(scene.points), scene.seconds, scene.above) == (26, 1.0, True)


def test_lineages_end_in_a_policy_from_scratch() -> None:
    names = [one["robot"] for one in lineage("walker2d:friction=9.9")]
    assert names == ["walker2d:friction=9.9", "walker2d:friction=19.9", "walker2d:friction=24.9"]
    assert [one["robot"] for one in lineage("half_cheetah:back=0.01")] == ["half_cheetah:back=0.01"]
    own, usual = lineage("walker2d", "walker2d-2")
    assert (own["setting"], usual["setting"]) == ("walker2d-2", "")
    assert {one["set"] for one in lineage("hopper:gravity=20", set_name="b")} == {"b"}


def test_training_steps_count_every_run_once() -> None:
    back_10, back_12, back_20 = (card(parse_robot(f"swimmer:back={value}"))["steps"] for value in (10, 12, 20))
    assert training_steps([lineage("swimmer:back=12"), lineage("swimmer:back=20")]) == back_10 + back_12 + back_20
    last = card(parse_robot("walker2d:friction=9.9"))
    earlier = 1_300_000  # the first of its two runs
    assert training_steps([[last]]) == last["steps"] + earlier
