# SPDX-License-Identifier: MIT
"""A gate for a data pipeline: rules on scores, exit code 3, and a document that says why."""

import json
from pathlib import Path

import pytest

import imitable as im
from imitable import errors
from imitable.cli.main import main
from imitable.feasibility.gate import QUANTITIES, judged, parse_rules
from imitable.sim.babble import babble
from tests.conftest import SLIDER
from tests.unit.datasets import LAYOUT, trajectory
from tests.unit.scored import scores_of


def test_rules_are_about_parts_and_means() -> None:
    demos = im.InMemory(LAYOUT, [trajectory(5, k) for k in range(4)])
    scores = scores_of(demos, [4, 3, 1, 0])  # scores 1, 0.75, 0.25, 0: two of four are feasible
    for text, value, broken in (
        ("infeasible>0.2", 0.5, True),
        ("infeasible > 0.5", 0.5, False),
        ("infeasible>=0.5", 0.5, True),
        ("feasible<0.5", 0.5, False),
        ("score<0.6", 0.5, True),
        ("effective_size<2", 64 / 26, False),
        ("certificate<0.9", 1.0, False),
        ("borderline<=1e-9", 0.0, True),
    ):
        (outcome,) = judged(scores, parse_rules(text))
        assert (outcome.value, outcome.broken) == (pytest.approx(value), broken), text
    outcomes = judged(scores, parse_rules("infeasible>0.2, score<0.1,"))
    assert [outcome.broken for outcome in outcomes] == [True, False]
    assert all(isinstance(QUANTITIES[name](scores), float) for name in QUANTITIES)


@pytest.mark.parametrize("text", ["infeasible", "infeasibel>0.2", "infeasible=0.2", "infeasible>many", ">0.2", "score>1e"])
def test_wrong_rules_are_refused_before_anything_is_scored(text: str) -> None:
    with pytest.raises(errors.BadOption, match="--fail-on"):
        parse_rules(text)


def test_a_broken_rule_leaves_with_three_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slider.xml").write_text(SLIDER)
    body = im.robot("slider.xml")
    im.write("demos", body.layout, babble(body, 2, 20, seed=0))
    command = ["score", "demos", "--imitator", "slider.xml", "--json", "--overwrite", "--fail-on"]
    main([*command, "infeasible>0.9"])
    assert json.loads(capsys.readouterr().out)["fail_on"] == [{"rule": "infeasible>0.9", "value": 0.0, "broken": False}]
    with pytest.raises(SystemExit) as left:
        main([*command, "feasible>0.9,score<0"])
    said = capsys.readouterr()
    assert left.value.code == 3
    assert [rule["broken"] for rule in json.loads(said.out)["fail_on"]] == [True, False]
    assert said.err == "imitable: --fail-on: feasible>0.9 holds: it is 1; the scores are written, for use\n"
    assert Path("scores.parquet").is_file(), "what was measured is kept"
    with pytest.raises(SystemExit) as left:
        main([*command, "feasibel>0.9"])
    assert left.value.code == 2
    assert "did you mean 'feasible'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main([*command, "feasible>0.9", "--shard", "1/2"])
    assert left.value.code == 2
