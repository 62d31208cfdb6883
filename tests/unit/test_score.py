# SPDX-License-Identifier: MIT
"""The verb `score`: closed forms, files, resuming, bad input."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pyarrow.parquet as pq
import pytest

from imitable.acquisition import acquire, wilson
from imitable.demos.store import read, write
from imitable.errors import BadEpisode, BadOption, BadScores, BadWeights, CannotResume, ImitableError, OutputExists
from imitable.feasibility import score as score_module
from imitable.feasibility.checks import check_episode
from imitable.feasibility.explain import explain, ladders
from imitable.feasibility.ruler import compared
from imitable.feasibility.score import Measuring, method, score, subset, weigh
from imitable.feasibility.score_files import parts_path, read_scores, write_scores
from imitable.feasibility.step_files import copy_steps, read_steps, steps_path, write_traces
from imitable.files import Output
from imitable.robots.parse import parse_robot
from imitable.robots.robot import Robot
from imitable.sim.babble import babble
from imitable.tracking.attempts import Trace
from imitable.types import Demonstrations, Episode, InMemory, Layout, Trajectory, Weights, episode_of

DT, SUBSTEPS, DAMPING, FORCE = 0.01, 2, 0.1, 2.0
"""The slider of the tests, see conftest: 1 kg, two simulator steps a control step."""


def pushed(force: float, steps: int) -> Trajectory:
    """Return the slider's closed form under a constant force, far from its stops: v′ = (v + h F) / (1 + h c), x′ = x + h v′."""
    states = np.zeros((SUBSTEPS * steps + 1, 2))
    for t in range(SUBSTEPS * steps):
        velocity = (states[t, 1] + DT * force) / (1 + DT * DAMPING)
        states[t + 1] = states[t, 0] + DT * velocity, velocity
    return Trajectory(states[::SUBSTEPS], f"a cart pushed with {force} N")


@pytest.fixture
def slider(slider_path: Path) -> Robot:
    return parse_robot(str(slider_path))


class Heard:
    """An observer that remembers."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.lines: list[str] = []

    def progress(self, done: int, total: int, note: str = "") -> None:
        del total, note
        self.done.append(done)

    def say(self, line: str) -> None:
        self.lines.append(line)


def own(robot: Robot, count: int = 6, steps: int = 40, seed: int = 5) -> InMemory:
    return InMemory(robot.layout, babble(robot, count, steps, seed))


def test_direct_equals_the_closed_form(slider: Robot) -> None:
    """A cart that is pushed with twice the imitator's force: the best it can do is to push with all it has."""
    strong, weak = pushed(2 * FORCE, 30), pushed(FORCE, 30)
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9)
    scores = score(InMemory(slider.layout, [strong]), slider, measuring=measuring)
    gap = strong.states[1:, 1] - weak.states[1:, 1]
    expected = float((gap * 0.9 ** np.arange(30)).sum())
    assert scores.distance[0] == pytest.approx(expected, rel=1e-6)
    passive = float((strong.states[1:, 1] * 0.9 ** np.arange(30)).sum())
    assert scores.share[0] == pytest.approx(expected / passive, rel=1e-6)


def test_what_it_can_do_leaves_nothing(slider: Robot) -> None:
    scores = score(InMemory(slider.layout, [pushed(FORCE / 2, 30)]), slider)
    assert scores.share[0] < 0.01
    assert scores.verdict == ("feasible",)


def test_the_expected_distance_of_a_noisy_body_equals_the_closed_form(slider_path: Path) -> None:
    """At rest the best action is zero; noise gives the cart the speed F σ ξ (1/d + 1/d²) h, d = 1 + h c, and E|ξ| = √(2/π)."""
    noisy, sigma, steps = parse_robot(f"{slider_path}:noise=0.1"), 0.1, 5
    rest = Trajectory(np.zeros((steps + 1, 2)), "rest")
    measuring = Measuring(distance="l2", entries="slide_velocity", discount=0.9, rollouts=1500)
    scores = score(InMemory(noisy.layout, [rest]), noisy, "direct:form=restart", measuring=measuring)
    slowing = 1 + DT * DAMPING
    one_step = DT * FORCE * sigma * (1 / slowing + 1 / slowing**2) * np.sqrt(2 / np.pi)
    assert scores.distance[0] == pytest.approx(one_step * (0.9 ** np.arange(steps)).sum(), rel=0.03)


def test_a_tighter_range_never_lowers_the_distance(slider_path: Path) -> None:
    wide = parse_robot(str(slider_path))
    demos = InMemory(wide.layout, [pushed(FORCE, 60), pushed(-FORCE, 60), pushed(FORCE / 2, 60)])
    before = np.zeros(3)
    for reach in (1.0, 0.3, 0.15, 0.08, 0.04):
        body = parse_robot(f"{slider_path}:range.slide=-{reach}..{reach}")
        found = score(demos, body, measuring=Measuring(distance="l2", discount=0.98)).distance
        assert (found >= before - 0.01 * np.maximum(before, 1e-3)).all(), reach
        before = found
    assert before.min() > 0.1


def test_a_tighter_elbow_never_lowers_the_distance(arm_path: Path) -> None:
    wide = parse_robot(str(arm_path))
    demos = InMemory(wide.layout, [Trajectory(t.states, "wide") for t in babble(wide, 3, 60, 2)])
    before = np.zeros(3)
    for reach in (2.0, 0.4, 0.2, 0.1, 0.05):
        body = parse_robot(f"{arm_path}:range.elbow=-{reach}..{reach}")
        found = score(demos, body, measuring=Measuring(distance="l2", discount=0.98)).distance
        assert (found >= before - 0.02 * np.maximum(before, 0.05)).all(), reach
        before = found
    assert before.min() > 0.1


@pytest.mark.parametrize("form", ["rollout", "windows", "restart"])
def test_every_form_tells_own_from_impossible(slider: Robot, form: str) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE / 2, 40), pushed(8 * FORCE, 40)])
    scores = score(demos, slider, f"direct:form={form},window=20")
    assert scores.share[0] < 0.05 < 0.5 < scores.share[1]
    assert scores.measurement.certificate == 1.0


def test_windows_look_past_the_beginning(slider: Robot) -> None:
    """A demonstration that becomes impossible only after the horizon: the rollout form cannot know, windows can."""
    easy, hard = pushed(FORCE / 2, 40), pushed(-10 * FORCE, 40)
    states = np.concatenate([easy.states, easy.states[-1] + hard.states[1:]])
    demo = InMemory(slider.layout, [Trajectory(states, "later")])
    assert score(demo, slider, "direct:horizon=40").share[0] < 0.05
    assert score(demo, slider, "direct:form=windows,windows=4,window=40").share[0] > 0.2


def test_a_class_of_ones_own_is_a_method(slider: Robot) -> None:
    scorer = method("imitable.feasibility.methods.direct.Direct:horizon=7")
    assert score(own(slider), slider, scorer).measurement.horizon == 7


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("direkt", "did you mean 'direct'"),
        ("direct:form=roll", "rollout"),
        ("direct:speed=3", "speed"),
        ("direct:horizon=0", "horizon"),
        ("nowhere.Mine", "cannot be imported"),
    ],
)
def test_bad_methods_get_one_line(text: str, message: str) -> None:
    with pytest.raises(BadOption, match=message) as caught:
        method(text)
    assert "\n" not in str(caught.value)


def test_chunks_do_not_matter(slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    demos = own(slider)
    whole = score(demos, slider)
    monkeypatch.setattr(score_module, "CHUNK", 2)
    np.testing.assert_array_equal(score(demos, slider).share, whole.share)


def test_files_hold_everything(slider: Robot, tmp_path: Path) -> None:
    demos, out = own(slider), tmp_path / "scores.parquet"
    scores = score(demos, slider, out=out)
    back = read_scores(out)
    for name in ("distance", "share", "score", "weight", "first_divergence"):
        np.testing.assert_array_equal(getattr(back, name), getattr(scores, name))
    assert back.verdict == scores.verdict
    assert (back.measurement, back.weighing, back.path) == (scores.measurement, scores.weighing, scores.path)
    assert back.metadata() == scores.metadata()
    names = pq.read_table(out).column_names
    assert names[:5] == ["source", "episode_index", "episode_hash", "demonstrator", "length"]
    trace = read_steps(out, demos[2].hash)
    assert trace is not None
    assert trace.steps.tolist() == list(range(1, 41))
    assert trace.states.shape == (40, 2)
    assert not parts_path(out).exists()
    assert read_steps(out, "nobody") is None
    assert len(pq.read_table(steps_path(out))) == 6 * 40


def test_weigh_never_simulates_and_compositions_neither(slider: Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    demos = InMemory(slider.layout, [pushed(f * FORCE, 40) for f in (0.5, 1.5, 3.0, 8.0)])
    scores = score(demos, slider)
    monkeypatch.setattr(score_module, "babble", None)
    hot = weigh(scores, 1000)
    assert hot.weights.effective_size > scores.weights.effective_size
    kept = weigh(scores, "auto", "top:2")
    assert (kept.weight > 0).sum() == 2
    part = subset(scores, [demos[0].hash, demos[3].hash])
    np.testing.assert_array_equal(part.score, scores.score[[0, 3]])
    assert part.weight.sum() == pytest.approx(1)


def test_a_grown_set_measures_only_what_is_new(slider: Robot, tmp_path: Path) -> None:
    out, few, many = tmp_path / "scores.parquet", own(slider, 3), own(slider, 3, seed=9)
    grown = InMemory(slider.layout, [*few, *many])
    first = score(few, slider, out=out)
    heard = Heard()
    second = score(grown, slider, out=Output(out, resume=True, observer=heard))
    assert heard.done[0] == 3
    np.testing.assert_array_equal(second.share[:3], first.share)
    fresh = score(grown, slider, out=tmp_path / "fresh.parquet")
    np.testing.assert_array_equal(second.share, fresh.share)
    assert second.measurement.measured_steps == fresh.measurement.measured_steps
    assert pq.read_table(steps_path(out)).equals(pq.read_table(steps_path(tmp_path / "fresh.parquet")))


def test_resuming_with_other_settings_is_refused(slider: Robot, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    score(own(slider), slider, out=out)
    with pytest.raises(OutputExists, match="--resume"):
        score(own(slider), slider, out=out)
    with pytest.raises(CannotResume, match="seed"):
        score(own(slider), slider, seed=3, out=Output(out, resume=True))
    before = out.read_bytes()
    with pytest.raises(CannotResume, match="discount"):
        score(own(slider), slider, measuring=Measuring(discount=0.5), out=Output(out, resume=True))
    assert out.read_bytes() == before


KILLED = """
import sys
from imitable.demos.store import read
from imitable.feasibility import score
from imitable.files import Output
score.CHUNK = 2
score.score(read(sys.argv[1]), sys.argv[2], out=Output(sys.argv[3], resume=True))
"""


def test_a_killed_job_resumes_to_the_same_files(tmp_path: Path, slider: Robot, slider_path: Path) -> None:
    folder, out, straight = tmp_path / "demos", tmp_path / "scores.parquet", tmp_path / "straight.parquet"
    write(folder, slider.layout, own(slider, 24, 100))
    command = [sys.executable, "-c", KILLED, str(folder), str(slider_path)]
    process = subprocess.Popen([*command, str(out)])
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list(parts_path(out).glob("part-*"))) < 3 and process.poll() is None:
        time.sleep(0.002)
    assert process.poll() is None, "it was done before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists()
    assert parts_path(out).exists()
    subprocess.run([*command, str(out)], check=True)
    subprocess.run([*command, str(straight)], check=True)
    assert out.read_bytes() == straight.read_bytes()
    assert pq.read_table(steps_path(out)).equals(pq.read_table(steps_path(straight)))


def test_bad_demonstrations_are_named(slider: Robot, slider_path: Path) -> None:
    layout, good = slider.layout, pushed(FORCE, 10)
    clipped = np.concatenate([np.linspace(0, 0.5, 11)[:, None], np.minimum(np.linspace(0, 2, 11), 1.0)[:, None]], axis=1)
    outside = good.states + np.array([0.9, 0.0])
    for states, message in ((clipped, "clipped at ±1"), (outside, "slide = 0.9")):
        narrow = parse_robot(f"{slider_path}:range.slide=-0.5..0.5")
        with pytest.raises(BadEpisode, match=f"episode 1 .*{message}"):
            score(InMemory(layout, [good, Trajectory(states, "bad")]), narrow)
    with pytest.raises(BadEpisode, match=r"episode 0 .*one transition"):
        score(InMemory(layout, [pushed(FORCE, 1)]), slider)
    with pytest.raises(BadOption, match="no demonstration"):
        score(InMemory(layout, []), slider)


def test_demonstrations_of_another_robot_are_refused(slider: Robot) -> None:
    other = Layout(("a", "b"), ("c", "d"), (), 0.02)
    with pytest.raises(BadOption, match="not the imitator's"):
        score(InMemory(other, [Trajectory(np.zeros((5, 4)), "x")]), slider)
    slow = Layout(slider.layout.qpos, slider.layout.qvel, (), 0.05)
    with pytest.raises(BadOption, match=r"0\.05 s"):
        score(InMemory(slow, [Trajectory(np.zeros((5, 2)), "x")]), slider)


def test_entries_are_checked(slider: Robot) -> None:
    assert compared(slider, "all").tolist() == [True, True]
    assert compared(slider, "slide").tolist() == [True, False]
    assert compared(parse_robot("swimmer"), "rootless").sum() == 8
    with pytest.raises(BadOption, match="did you mean 'slide'"):
        compared(slider, "slid")
    for wrong in (Measuring(distance="manhattan"), Measuring(discount=1.5)):
        with pytest.raises(BadOption):
            score(own(slider), slider, measuring=wrong)


def test_damaged_score_files_get_one_line(tmp_path: Path, slider: Robot) -> None:
    path = tmp_path / "scores.parquet"
    with pytest.raises(BadScores, match="no such file"):
        read_scores(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(BadScores) as caught:
        read_scores(path)
    assert "\n" not in str(caught.value)
    write(tmp_path / "demos", slider.layout, own(slider))
    with pytest.raises(BadScores):
        read_scores(next((tmp_path / "demos").glob("data/*/*.parquet")))


def test_weights_belong_to_their_demonstrations(slider: Robot) -> None:
    demos = InMemory(slider.layout, [pushed(f * FORCE, 40) for f in (0.5, 1.5, 3.0)])
    weights = score(demos, slider, temperature=5.0).weights
    np.testing.assert_array_equal(score(demos, slider, temperature="5").weight, weights.values)
    np.testing.assert_array_equal(weights.of(demos), weights.values)
    backwards = InMemory(slider.layout, [demos[2], demos[1], demos[0]])
    np.testing.assert_allclose(weights.of(backwards), weights.values[::-1])
    assert weights.of(InMemory(slider.layout, [demos[1], demos[2]])).sum() == pytest.approx(1)
    with pytest.raises(BadWeights, match="other demonstrations"):
        weights.of(InMemory(slider.layout, [pushed(0.1, 40)]))
    with pytest.raises(BadWeights, match="sum to one"):
        Weights(("a", "b"), np.array([0.5, 0.2]))


def test_an_explanation_names_joint_force_and_knob(slider_path: Path, tmp_path: Path) -> None:
    weak, strong = parse_robot(f"{slider_path}:gear.push=0.2"), parse_robot(str(slider_path))
    demos = InMemory(weak.layout, [Trajectory(pushed(0.9 * FORCE, 40).states, str(strong))])
    out = tmp_path / "scores.parquet"
    scores = score(demos, weak, out=out)
    found = explain(scores, 0, demos)
    assert explain(read_scores(out), 0, demos) == found
    assert explain(replace(scores, path=None), 0, demos) == found, "without its steps it is measured again"
    assert found.verdict == "infeasible"
    assert found.first_divergence is not None
    assert found.forces[0].joint == "slide"
    assert found.forces[0].needed == pytest.approx(0.9 * FORCE, rel=0.1)
    assert found.forces[0].available == pytest.approx(0.2 * FORCE)
    (ladder,) = found.ladders
    assert ladder.knob == "gear.push"
    assert [rung.share for rung in ladder.rungs] == sorted((rung.share for rung in ladder.rungs), reverse=True)
    assert "feasible from gear.push ≥" in ladder.sentence
    assert ladder.rungs[0].share == scores.share[0]
    assert any("has 0.4" in line for line in found.lines)


def test_a_ladder_without_a_feasible_rung_says_so(slider_path: Path) -> None:
    weak = parse_robot(f"{slider_path}:gear.push=0.2")
    demos = InMemory(weak.layout, [Trajectory(pushed(5 * FORCE, 60).states, "a stranger")])
    scores = score(demos, weak)
    (ladder,) = ladders(demos[0], weak, scores)
    assert ladder.sentence.startswith("no gear.push from 0.2 to 1")


def test_whom_to_ask(slider: Robot) -> None:
    easy = [Trajectory(t.states, "able") for t in own(slider, 6)]
    hard = [Trajectory(pushed((8 + k) * FORCE, 40).states, "unable") for k in range(4)]
    scores = score(InMemory(slider.layout, [*easy, *hard]), slider)
    advice = acquire(scores, 10)
    assert [source.name for source in advice.sources] == ["able", "unable"]
    able, unable = advice.sources
    assert (able.feasible, unable.feasible) == (1.0, 0.0)
    assert able.probability + unable.probability == pytest.approx(1)
    assert able.queries + unable.queries == 10
    means = [scores.score[:6].mean(), scores.score[6:].mean()]
    assert able.probability == pytest.approx(means[0] / sum(means))
    assert "ask able for 10" in advice.sentence
    assert acquire(scores, 10, costs={"able": 4.0}).sources[0].feasible_per_cost == pytest.approx(0.25)
    assert {source.name for source in acquire(scores, 3, by="length").sources} == {"40"}
    for wrong in ({"costs": {"nobody": 1.0}}, {"by": "colour"}):
        with pytest.raises(ImitableError):
            acquire(scores, 3, **wrong)  # pyright: ignore[reportArgumentType]


def test_nobody_feasible_is_said(slider: Robot) -> None:
    hard = [Trajectory(pushed((8 + k) * FORCE, 40).states, "unable") for k in range(4)]
    scores = score(InMemory(slider.layout, hard), slider)
    assert "no demonstration is feasible" in scores.weighing.remarks[0]
    assert "no demonstrator has given a feasible" in acquire(scores, 5).sentence


def test_wilson_by_hand() -> None:
    low, high = wilson(5, 10)
    assert (low, high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)


def test_a_rewritten_score_file_reads_the_same(slider: Robot, tmp_path: Path) -> None:
    scores = score(own(slider), slider)
    write_scores(tmp_path / "a.parquet", scores)
    assert read_scores(tmp_path / "a.parquet").metadata() == scores.metadata()


def test_folders_and_memory_agree(slider: Robot, tmp_path: Path) -> None:
    write(tmp_path / "demos", slider.layout, own(slider))
    np.testing.assert_array_equal(score(read(tmp_path / "demos"), slider).share, score(own(slider), slider).share)


class Stream(Demonstrations):
    """A set that makes its trajectories anew whenever they are read, and counts how many are alive at once."""

    def __init__(self, robot: Robot, count: int) -> None:
        self.layout_, self.alive, self.most = robot.layout, WeakSet[Trajectory](), 0
        self._states = pushed(FORCE / 2, 6).states
        self._episodes = tuple(episode_of(self.make(k), k) for k in range(count))
        self.most = 0

    def make(self, k: int) -> Trajectory:
        made = Trajectory(self._states * (1 + 1e-6 * k), "stream")
        self.alive.add(made)
        self.most = max(self.most, len(self.alive))
        return made

    @property
    def layout(self) -> Layout:
        return self.layout_

    @property
    def episodes(self) -> tuple[Episode, ...]:
        return self._episodes

    def __getitem__(self, position: int) -> Trajectory:
        return self.make(position)

    def __iter__(self) -> Iterator[Trajectory]:
        return (self.make(k) for k in range(len(self._episodes)))


def test_memory_holds_a_chunk_and_no_more(slider: Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_module, "CHUNK", 8)
    demos = Stream(slider, 60)
    scores = score(demos, slider, "direct:restart_budget=0", out=tmp_path / "scores.parquet")
    assert len(scores) == 60
    assert demos.most <= 2 * 8 + 2


def test_a_movement_that_repeats_itself_is_not_taken_for_clipped(slider: Robot) -> None:
    angles = 2 * np.pi * np.arange(201) / 20
    speed = 2 * np.pi / 20 / slider.layout.period_s
    wave = np.stack([0.1 * np.sin(angles), 0.1 * speed * np.cos(angles)], axis=1)
    velocity = np.minimum(np.minimum(np.arange(101.0), 20), np.arange(101.0)[::-1]) * 0.01
    ramp = np.stack([np.cumsum(velocity) * slider.layout.period_s, velocity], axis=1)
    for states in (wave, ramp):
        trajectory = Trajectory(states, "scripted")
        check_episode(episode_of(trajectory, 0), trajectory, slider)


def test_a_recorder_that_clips_single_peaks_is_found_out(slider: Robot) -> None:
    angles, speed = 2 * np.pi * np.arange(201) / 20, 2 * np.pi / 20 / slider.layout.period_s
    peaks = np.clip(0.1 * speed * np.cos(angles), -0.0955 * speed, 0.0955 * speed)
    trajectory = Trajectory(np.stack([0.1 * np.sin(angles), peaks], axis=1), "clipped")
    with pytest.raises(BadEpisode, match="clipped"):
        check_episode(episode_of(trajectory, 0), trajectory, slider)


def test_what_was_learned_from_other_demonstrations_judges_none_of_these(slider: Robot, tmp_path: Path) -> None:
    method, out = "transferability:horizon=10,steps=4096", tmp_path / "scores.parquet"
    first, second = (
        InMemory(slider.layout, [replace(pushed(sign * force, 12), demonstrator="human") for sign in (1, -1)])
        for force in (FORCE, 0.3 * FORCE)
    )
    fresh = score(second, slider, method)
    score(first, slider, method, out=out)
    again = score(second, slider, method, out=Output(out, overwrite=True))
    np.testing.assert_array_equal(again.share, fresh.share)


def test_resuming_and_overwriting_at_once_is_refused(slider: Robot, tmp_path: Path) -> None:
    demos = InMemory(slider.layout, [pushed(FORCE, 10)])
    with pytest.raises(BadOption, match="--resume"):
        score(demos, slider, out=Output(tmp_path / "scores.parquet", resume=True, overwrite=True))


def test_steps_go_on_over_the_border_of_row_groups(tmp_path: Path) -> None:
    """Parquet closes a row group after so many rows, wherever an episode stands."""
    traces = {name: trace_of(rows, seed) for seed, (name, rows) in enumerate((("a", 5), ("b", 7), ("c", 3)))}
    whole, later = tmp_path / "whole.parquet", tmp_path / "later.parquet"
    write_traces(whole, traces)
    write_traces(later, {"b": traces["b"]})
    in_small_groups(whole, 4)
    wanted = [replace(episode_of(pushed(FORCE, 10), 0), hash=name) for name in ("a", "b")]
    copy_steps(steps_path(tmp_path / "scores.parquet"), [whole, later], wanted)
    for name in ("a", "b"):
        trace = read_steps(tmp_path / "scores.parquet", name)
        assert trace is not None
        for column in ("steps", "attempts", "errors", "states", "actions"):
            np.testing.assert_array_equal(getattr(trace, column), getattr(traces[name], column))
    assert read_steps(tmp_path / "scores.parquet", "c") is None


def trace_of(rows: int, seed: int) -> Trace:
    numbers = np.random.default_rng(seed).normal(size=(rows, 4))
    numbers[0, 0] = np.nan
    return Trace(np.arange(1, rows + 1), np.zeros(rows, np.int64), numbers[:, 0], numbers[:, 1:3], numbers[:, 3:])


def in_small_groups(path: Path, rows: int) -> None:
    """Write a Parquet file anew in row groups of so many rows."""
    file = pq.ParquetFile(path)
    table = file.read().replace_schema_metadata(file.metadata.metadata)
    pq.write_table(table, path, row_group_size=rows, write_page_checksum=True)


def test_a_strangers_demonstration_is_climbed_by_the_motor_that_lacks_strength(slider: Robot) -> None:
    """The imitator is as its file says and the demonstrator is no robot: nothing can be turned back."""
    stranger = replace(pushed(5 * FORCE, 12), demonstrator="human")
    scores = score(InMemory(slider.layout, [stranger]), slider)
    assert scores.verdict == ("infeasible",)
    [ladder] = ladders(stranger, slider, scores)
    assert ladder.knob == "gear.push"
    reached = float(ladder.sentence.split("≥ ")[1].split()[0])
    assert 3.5 < reached <= 6, "from about five times the force on"


def test_rollouts_of_a_body_without_noise_are_refused(slider: Robot) -> None:
    with pytest.raises(BadOption, match="no noise"):
        score(InMemory(slider.layout, [pushed(FORCE, 10)]), slider, measuring=Measuring(rollouts=3))


@pytest.mark.parametrize("name", ["neighbours", "transferability"])
def test_a_method_with_a_measure_of_its_own_refuses_other_distances(slider: Robot, name: str) -> None:
    for measuring in (Measuring(distance="l2"), Measuring(entries="rootless")):
        with pytest.raises(BadOption, match="leave out --distance"):
            score(InMemory(slider.layout, [pushed(FORCE, 10)]), slider, name, measuring=measuring)
