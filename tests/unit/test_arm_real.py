# SPDX-License-Identifier: MIT
"""The experiment arm-real without an arm: what its records say; with one it is in tests/interop."""

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.errors import BadOption
from imitable.experiments.arm_real import policies_in, policies_of, trials
from imitable.experiments.arm_real_records import Trial, compared, empty_record, read_arm_real, record_path, thinned
from imitable.experiments.protocol import default_protocol
from imitable.experiments.records import Places, write_record
from imitable.experiments.statistics import fisher
from tests.unit.over_policy import over_policy

ROOT = Path(__file__).resolve().parents[2]

GOAL = Trial(1, "a", 100, 0.0, True, False, "")
HIT = Trial(1, "b", 10, -10_500.0, False, True, "contact")
STOP = Trial(1, "b", 10, -8_000.0, False, False, "beyond a limit")


def test_rows_are_compared_with_ours() -> None:
    rows = {
        "Ours": (GOAL, replace(GOAL, total_return=100.0)) * 2,
        "GAIL": (HIT, replace(HIT, total_return=-10_600.0), STOP, STOP),
    }
    found = compared(replace(empty_record(), rows=rows))
    assert (found["Ours"].goals, found["Ours"].return_mean, found["GAIL"].hits, found["GAIL"].stops) == (4, 50.0, 2, 2)
    assert math.isnan(found["Ours"].p_goal)
    assert found["GAIL"].p_goal == pytest.approx(2 / math.comb(8, 4))
    assert found["GAIL"].p_return < 0.01


def test_trials_that_all_end_alike_are_compared_in_silence() -> None:
    rows = {"Ours": (GOAL, replace(GOAL, total_return=100.0)), "GAIL": (replace(STOP, total_return=-8000.0),) * 2}
    assert compared(replace(empty_record(), rows=rows))["GAIL"].p_return < 0.01


@pytest.mark.parametrize("n", [2, 5, 10])
def test_fishers_test_of_all_against_none_is_a_count_of_orders(n: int) -> None:
    assert fisher((n, n), (0, n)) == pytest.approx(2 / math.comb(2 * n, n))
    assert fisher((1, n), (1, n)) == pytest.approx(1.0)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = replace(empty_record(), rows={"Ours": (GOAL,), "GAIL": (HIT, STOP)})
    assert read_arm_real(tmp_path) is None
    write_record(record_path(tmp_path), record, indent=1)
    assert read_arm_real(tmp_path) == record


def test_a_path_is_thinned_in_the_plane_and_keeps_its_ends() -> None:
    tools = np.array([[0.3 + 0.01 * k, 0.5, 0.2 - 0.0014 * k] for k in range(11)])
    assert thinned(tools) == ((300, 200), (340, 194), (380, 189), (400, 186))
    assert thinned(tools[:9])[-2:] == ((340, 194), (380, 189)), "the last place is there once"


def test_a_path_takes_one_line_of_the_record(tmp_path: Path) -> None:
    kept = replace(GOAL, path=((1, -2), (3, 4)))
    record = replace(empty_record(), rows={"Ours": (GOAL, kept)})
    write_record(record_path(tmp_path), record, indent=1)
    assert '"path": [[1, -2], [3, 4]]\n' in record_path(tmp_path).read_text()
    assert read_arm_real(tmp_path) == record


def test_paths_are_drawn_a_panel_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    tried, body = import_module("arm_figures").tried, import_module("arm_real_page").body
    record = replace(
        empty_record(),
        rows={"Ours": (GOAL, replace(GOAL, path=((300, 200), (800, 100)))), "GAIL": (STOP, replace(STOP, path=()))},
    )
    picture = tried(record).decode()
    assert [title in picture for title in ("Ours: goal in 2 of 2", "GAIL: goal in 0 of 2")] == [True, True]
    text = "\n".join(body(record, "images"))
    assert "in 1 of 4 trials" in text
    assert "; 2 more were played before paths were kept; 1 more was stopped before the first step." in text
    assert text.count("* GAIL, after 10 steps: beyond a limit") == 2
    bare = replace(empty_record(), rows={"Ours": (GOAL,)})
    assert tried(bare) is None
    assert "arm-real.svg" not in "\n".join(body(bare, "images"))


def test_trials_of_other_policies_are_not_gone_on_with(tmp_path: Path) -> None:
    write_record(record_path(tmp_path), replace(empty_record(), rows={"Ours": (GOAL,)}), indent=1)
    with pytest.raises(BadOption, match="another policy"):
        trials({"Ours": [over_policy(im.robot("panda:dof=3"))]}, 1, Places(tmp_path, tmp_path))


def test_nothing_is_made_of_runs_that_are_not_there(tmp_path: Path) -> None:
    assert policies_in(tmp_path, default_protocol()) == {}


def test_policies_are_named_by_their_rows(tmp_path: Path) -> None:
    policy = over_policy(im.robot("panda:dof=3"))
    im.save_policy(policy, tmp_path / "over.safetensors")
    [again, _] = policies_of([f"Ours={tmp_path}/over.safetensors"] * 2)["Ours"]
    assert again.hash == policy.hash
    with pytest.raises(BadOption, match="NAME=PATH"):
        policies_of(["over.safetensors"])
