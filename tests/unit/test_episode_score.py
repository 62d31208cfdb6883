# SPDX-License-Identifier: MIT
"""One record of a scored demonstration: its columns, impossible spans, and what they do to weights."""

import csv
import json
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from imitable import acquire, export, score
from imitable.cli.main import main
from imitable.demos.store import read, write
from imitable.errors import BadOption, ScoreWarning
from imitable.feasibility.episode_score import COLUMNS, EpisodeScore, cells_of, document_of, rows_of
from imitable.feasibility.gate import judged, parse_rules
from imitable.feasibility.score import subset, weigh
from imitable.feasibility.score_files import TYPES, read_scores, write_scores
from imitable.feasibility.scores import Scores
from imitable.feasibility.sealed import read_sealed, write_sealed
from imitable.projection import project
from imitable.report.scored import page_columns
from imitable.robots.robot import Robot
from imitable.types import InMemory, Layout, Trajectory, episode_of
from tests.unit.pushed_slider import FORCE, own, pushed
from tests.unit.scored import scores_of

LAYOUT = Layout(("x",), ("v",), ("a",), 0.1)


def moved(transitions: int, seed: int) -> Trajectory:
    rng = np.random.default_rng(seed)
    return Trajectory(rng.normal(size=(transitions + 1, 2)), f"d{seed % 2}", rng.normal(size=(transitions, 1)))


@pytest.fixture
def demos() -> InMemory:
    """Three demonstrations of 20 transitions, 2 s each."""
    return InMemory(LAYOUT, [moved(20, seed) for seed in range(3)])


def evaluated(demos: InMemory, begins: list[tuple[float, ...]], ends: list[tuple[float, ...]], keep: str = "auto") -> Scores:
    """Scores of equal shares whose whole motions were evaluated, weighted."""
    scores = scores_of(demos, [1] * len(demos)).with_columns(
        duration_s=[0.1 * len(one) for one in demos],
        covered_static=[1.0] * len(demos),
        covered_dynamic=[0.5] * len(demos),
        infeasible_begin=begins,
        infeasible_end=ends,
        verdict=["infeasible" if begin else "feasible" for begin in begins],
    )
    return weigh(scores, keep=keep, balance="none")


def record(**columns: Any) -> EpisodeScore:
    return EpisodeScore(episode=episode_of(moved(20, 0), 3, "folder"), distance=1.0, share=0.5, **columns)


def test_every_column_goes_through_a_file_and_back(tmp_path: Path, demos: InMemory) -> None:
    odd: dict[str, Any] = {
        "double": 0.25,
        "int64": 7,
        "bool": True,
        "string": "knee",
        "list<double>": (0.5, 1.5),
        "list<int64>": (0, 3),
    }
    fields = {name: odd[column.kind.parquet] for name, column in COLUMNS.items() if not column.field}
    full = replace(record(), **fields)
    scores = replace(scores_of(demos, [1, 1, 1]), rows=(full, record(weight=0.75)))
    write_scores(tmp_path / "a.parquet", scores)
    back = read_scores(tmp_path / "a.parquet")
    assert repr(back[0]) == repr(full), "NaN is not itself"
    assert cells_of(back.rows)["first_divergence"] == [7, None]
    assert repr(rows_of(cells_of(back.rows))) == repr(back.rows)
    for name in COLUMNS:
        assert len(getattr(back, name)) == 2
    assert json.loads(json.dumps(document_of(full)))["lost_at"] == [0.5, 1.5]


def test_columns_are_attributes_that_nobody_can_change(demos: InMemory) -> None:
    scores = scores_of(demos, [1, 2, 3])
    assert scores.share.dtype == np.float64
    assert scores.episode_hash == tuple(one.hash for one in demos)
    assert {"share", "reason"} <= set(dir(scores))
    with pytest.raises(ValueError, match="read-only"):
        scores.share[0] = 1.0
    with pytest.raises(AttributeError, match="shares"):
        _ = scores.shares
    assert [row.weight for row in scores] == scores.weight.tolist()
    assert scores[1:] == scores.rows[1:]


def test_spans_are_joined_and_what_is_left_is_feasible() -> None:
    one = record(duration_s=2.0, covered_static=1.0, infeasible_begin=(1.2, 0.3, 0.5), infeasible_end=(1.6, 0.6, 0.7))
    assert one.infeasible_spans == ((0.3, 0.7), (1.2, 1.6))
    assert one.feasible_spans == ((0.0, 0.3), (0.7, 1.2), (1.6, 2.0))
    assert one.feasible_part == pytest.approx(1.2 / 2)
    assert one.possible == ((0, True), (3, False), (7, True), (12, False), (16, True))
    ends = record(duration_s=2.0, covered_static=1.0, infeasible_begin=(0.0, 1.55), infeasible_end=(0.31, 2.0))
    assert ends.feasible_spans == ((0.31, 1.55),)
    assert ends.possible == ((0, False), (4, True), (15, False)), "a transition that a span touches is impossible"
    unknown = record(duration_s=2.0)
    assert (unknown.feasible_spans, math.isnan(unknown.feasible_part)) == ((), True)


def test_files_of_schema_4_are_read(slider: Robot, tmp_path: Path) -> None:
    """Their word for borderline, their name of its threshold, and all demonstrations that they kept."""
    path = tmp_path / "s.parquet"
    scores = score(own(slider, 2), slider, "direct:effort=quick", out=path)
    cells, metadata = read_sealed(path, TYPES)
    later = ("duration_s", "mpkpe_m", "tolerance_ratio", "cause", "reason", "covered_dynamic", "covered_static")
    kinds = {name: kind for name, kind in TYPES.items() if name not in (*later, "infeasible_begin", "infeasible_end")}
    cells["verdict"] = ["nearly", "feasible"]
    metadata |= {"schema": 4, "keep": "all", "nearly_share": metadata.pop("borderline_share")}
    write_sealed(path, cells, kinds, metadata)
    old = read_scores(path)
    assert old.verdict == ("borderline", "feasible")
    assert old.weighing.borderline_share == scores.weighing.borderline_share > old.weighing.feasible_share
    assert (old.weighing.keep, old.cause, old.infeasible_begin) == ("all", ("", ""), ((), ()))
    assert np.isnan(old.covered_static).all()
    again = weigh(old, 5.0)
    assert again.verdict == old.verdict, "a verdict is measured, weighing changes none"
    assert "nearly_share" not in again.metadata()


def test_impossible_spans_weigh_nothing_and_the_rest_keeps_its_weight(demos: InMemory) -> None:
    spans = evaluated(demos, [(), (0.5,), (0.0,)], [(), (1.0,), (2.0,)])
    np.testing.assert_allclose(spans.weight, np.array([20, 15, 0]) / 35)
    each = spans.weights.of_transitions(demos)
    impossible = np.r_[25:30, 40:60]
    np.testing.assert_allclose(np.delete(each, impossible), 1 / 35)
    assert each[impossible].max() == 0
    whole = evaluated(demos, [(), (0.5,), (0.0,)], [(), (1.0,), (2.0,)], keep="all")
    np.testing.assert_allclose(whole.weight, 1 / 3)
    assert whole.weights.segments == ()
    named = weigh(spans, keep="feasible-segments")
    np.testing.assert_array_equal(named.weight, spans.weight)


def test_spans_and_shares_of_segments_count_together(demos: InMemory) -> None:
    scores = evaluated(demos, [(0.5,), (), ()], [(1.0,), (), ()])
    begins, shares = ((0, 8), (0,), (0,)), ((0.0, 0.05), (0.0,), (0.0,))
    both = weigh(scores.with_columns(segment_begin=begins, segment_share=shares), segments=True)
    alone = weigh(both, keep="all")
    ours, theirs = (one.weights.of_transitions(demos) for one in (both, alone))
    assert ours[5:10].max() == 0
    kept = np.r_[0:5, 10:60]
    np.testing.assert_allclose(ours[kept] / ours[kept].sum(), theirs[kept] / theirs[kept].sum())


def test_a_demonstrator_weighs_as_the_mean_of_its_transitions_the_impossible_as_zero(demos: InMemory) -> None:
    spans = weigh(evaluated(demos, [(), (), (0.0,)], [(), (), (1.0,)]), balance="demonstrator")
    np.testing.assert_allclose(spans.weight, np.array([20, 40, 10]) / 70)  # d0 gave the first and the third


def test_where_nothing_is_possible_everything_keeps_its_weight(demos: InMemory) -> None:
    none = evaluated(demos, [(0.0,)] * 3, [(2.0,)] * 3)
    np.testing.assert_allclose(none.weight, 1 / 3)
    assert none.weights.segments == ()
    assert "impossible throughout" in none.weighing.remarks[0]
    part = subset(evaluated(demos, [(0.0,), (), ()], [(2.0,), (), ()]), [demos[0].hash])
    assert part.weight.tolist() == [1.0]


def test_segments_need_verdicts_about_whole_motions(demos: InMemory) -> None:
    scores = scores_of(demos, [1, 1, 1])
    with pytest.raises(BadOption, match="spans"):
        weigh(scores, keep="feasible-segments")
    np.testing.assert_array_equal(weigh(scores, keep="auto").weight, weigh(scores, keep="all").weight)


def test_exports_and_advice_follow_verdicts(demos: InMemory, tmp_path: Path) -> None:
    scores = evaluated(demos, [(), (0.5,), ()], [(), (1.0,), ()]).with_columns(
        verdict=["unknown", "infeasible", "feasible"], reason=["no torque limit", "elbow needs 3.3 × its torque", ""]
    )
    export(demos, scores, "csv", tmp_path / "a.csv")
    [first, second, _] = csv.DictReader((tmp_path / "a.csv").read_text().splitlines())
    assert (first["verdict"], first["reason"], first["infeasible_begin"]) == ("unknown", "no torque limit", "")
    assert (second["infeasible_begin"], second["infeasible_end"], float(second["feasible_part"])) == ("0.5", "1.0", 0.75)
    done = export(demos, scores, "lerobot", tmp_path / "whole")
    assert "1 episodes are partly impossible" in done.lines[-1]
    sources = {one.name: one.feasible for one in acquire(scores, 4).sources}
    assert sources == {"d0": 0.5, "d1": 0.0}, "only what is known to be feasible counts"
    [unknown, part] = judged(scores, parse_rules("unknown>0.3,feasible_part<0.9"))
    assert (unknown.value, unknown.broken) == (pytest.approx(1 / 3), True)
    assert (part.value, part.broken) == (pytest.approx(2.75 / 3), False)


def test_projected_pieces_have_no_impossible_spans(slider: Robot, tmp_path: Path) -> None:
    demos, path = own(slider, 2), tmp_path / "s.parquet"
    scores = score(demos, slider, out=path)
    spans = scores.with_columns(covered_static=[1.0] * 2, infeasible_begin=[(0.1,), ()], infeasible_end=[(0.2,), ()])
    write_scores(path, weigh(spans))
    pieces = project(demos, slider, scores=path, length=10, pieces=2).scores
    assert pieces is not None
    assert not any(pieces.infeasible_begin)
    np.testing.assert_allclose(pieces.duration_s, 10 * slider.layout.period_s)
    assert pieces.weights.segments == ()


def test_a_score_warns_once_in_python_and_on_the_command_line_prints_instead(
    slider: Robot, slider_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demos = InMemory(slider.layout, [pushed((3 + k) * FORCE, 12) for k in range(3)])
    with pytest.warns(ScoreWarning) as caught:
        scores = score(demos, slider, out=tmp_path / "python.parquet")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert all(remark in str(caught[0].message) for remark in scores.weighing.remarks)
    write(tmp_path / "demos", slider.layout, demos)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        main(["score", str(tmp_path / "demos"), "--imitator", str(slider_path), "--out", str(tmp_path / "s.parquet")])
    said = capsys.readouterr()
    assert said.err.count(scores.weighing.remarks[0]) == 1
    assert said.out.count("0/0/1/0") == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = score(InMemory(slider.layout, [*own(slider, 3), *demos]), slider)
    assert not good.weighing.remarks


def test_the_table_has_what_was_evaluated_where_anything_was(
    demos: InMemory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = evaluated(demos, [(), (0.5,), ()], [(), (1.0,), ()])
    write_scores(tmp_path / "s.parquet", scores)
    main(["weigh", str(tmp_path / "s.parquet"), "--out", str(tmp_path / "w.parquet")])
    said = capsys.readouterr().out
    assert "50%/100%" in said
    assert "75%" in said
    main(["weigh", str(tmp_path / "s.parquet"), "--out", str(tmp_path / "v.parquet"), "--json"])
    groups = {row["demonstrator"]: row for row in json.loads(capsys.readouterr().out)["demonstrators"]}
    assert groups["d1"]["feasible_part"] == 0.75
    assert (groups["d0"]["unknown"], groups["d0"]["covered_dynamic"]) == (0, 0.5)


def test_the_page_weighs_impossible_spans_as_nothing(demos: InMemory) -> None:
    """`columns.possible` is what the page multiplies a demonstration's length by."""
    scores = evaluated(demos, [(), (0.5,), (0.0,)], [(), (1.0,), (2.0,)])
    assert page_columns(scores)["columns"]["possible"] == pytest.approx([1, 0.75, 0])
    assert page_columns(weigh(scores, keep="all"))["columns"]["possible"] == pytest.approx([1, 1, 1])
    assert page_columns(scores)["columns"]["verdict"] == [0, 2, 2]


def test_frames_of_lerobot_weigh_nothing_inside_an_impossible_span(demos: InMemory, tmp_path: Path) -> None:
    write(tmp_path / "demos", LAYOUT, demos)
    read_back, scores = read(tmp_path / "demos"), evaluated(demos, [(), (0.5,), (0.1,)], [(), (1.0,), (2.0,)])
    export(read_back, scores, "lerobot-weights", tmp_path / "out")
    weights = np.array(pq.read_table(tmp_path / "out/weights.parquet")["weight"])  # 21 frames of 20 transitions
    assert (weights[21 + 5 : 21 + 10] == 0).all()
    assert (weights[[21, 25, 21 + 11]] > 0).all()
    assert (weights[44:] == 0).all()
    assert weights[42] > 0, "one possible transition of twenty weighs as much as any other"
