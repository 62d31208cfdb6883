# SPDX-License-Identifier: MIT
"""The report of every kind of input: large sets, lost demonstrations, all scorers, runs, bad paths."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selenium.webdriver.common.by import By

import imitable as im
from imitable.evaluation.result import Performance, PolicyEvaluation, RunEvaluation, to_json
from imitable.experiments.settings import SETTINGS
from imitable.feasibility.score import weigh
from imitable.feasibility.score_files import write_scores
from imitable.feasibility.scores import Scores
from imitable.feasibility.step_files import steps_path
from imitable.imitation.hashed_json import write_json
from imitable.imitation.run_folder import RunFolder
from imitable.imitation.setting import SCHEMA, Setting
from imitable.policies.shipped import card
from imitable.report.detail import DETAILED, detailed_rows, explained_rows
from imitable.report.page import embedded
from imitable.report.policies import VIDEO_BYTES
from imitable.sim.babble import babble
from imitable.types import Episode
from tests.browser.conftest import Browser
from tests.conftest import SLIDER
from tests.unit.test_cli import refused

pytestmark = pytest.mark.xdist_group("browser")

MANY = 5_000


def test_without_its_demonstrations_it_shows_the_attempt_and_says_so(browser: Browser, scores: Path, tmp_path: Path) -> None:
    scored = im.read_scores(scores)
    gone = scored.with_columns(episode=[replace(episode, source=str(tmp_path / "gone")) for episode in scored.episodes])
    write_scores(tmp_path / "scores.parquet", gone)
    steps_path(tmp_path / "scores.parquet").write_bytes(steps_path(scores).read_bytes())
    im.write_report([tmp_path / "scores.parquet"], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    assert "states are not at hand" in browser.text("#look-note")
    assert browser.run("return document.getElementById('stage').hidden") is False
    assert browser.complaints() == []


def many(scores: Scores, folder: str) -> Scores:
    """Return scores of 5,000 demonstrations of 1,000 steps, drawn at random; nothing is simulated."""
    generator = np.random.default_rng(0)
    names = [f"arm-{place}" for place in range(6)]
    episodes = tuple(
        Episode(folder, row, f"{row:032x}", names[row % 6], 1000, float(generator.normal(100, 20)), False, row)
        for row in range(MANY)
    )
    share = np.abs(generator.normal(0.2 * (np.arange(MANY) % 6), 0.1))
    step = np.where(share > 0.2, generator.integers(1, 900, MANY), -1)
    rows = scores.at([row % len(scores) for row in range(MANY)])
    grown = rows.with_columns(episode=episodes, distance=10 * share, share=share, first_divergence=step)
    return weigh(grown)


def test_five_thousand_demonstrations_open_and_sort_without_a_stall(browser: Browser, scores: Path, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    write_scores(out, many(im.read_scores(scores), str(tmp_path / "gone")))
    written = im.write_report([out], tmp_path / "report.html")
    assert written.demonstrations == MANY
    assert written.bytes < 20e6
    # processor time of the page's own thread: other work on the machine does not count
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    browser.open(tmp_path / "report.html")
    assert browser.complaints() == []
    assert 0 < browser.thread_s() < 3
    for key in ("weight", "demonstrator", "divergence", "share"):
        assert browser.sorting_s(key) < 0.2, key
    assert len(browser.column(1)) == 50
    assert browser.text("#page") == "page 1 of 100"
    browser.slide(90)
    assert f"of {MANY:,}" in browser.text("#ess")


def test_details_are_spread_and_capped(scores: Path) -> None:
    grown = many(im.read_scores(scores), "gone")
    rows = detailed_rows(grown, DETAILED)
    assert len(set(rows)) == DETAILED
    pairs = {(episode.demonstrator, verdict) for episode, verdict in zip(grown.episodes, grown.verdict, strict=True)}
    assert {(grown.episodes[row].demonstrator, grown.verdict[row]) for row in rows} == pairs
    first = explained_rows(grown, rows, 6)
    assert len({grown.episodes[row].demonstrator for row in first}) == 6


@pytest.mark.parametrize(
    "method",
    ["neighbours", "direct:form=restart,transitions=10,restart_budget=0", "direct:window_s=0.16,windows=3,restart_budget=0"],
)
def test_every_kind_of_scorer_has_a_page(browser: Browser, scores: Path, tmp_path: Path, method: str) -> None:
    demos, imitator = im.read(scores.with_name("demos")), im.read_scores(scores).imitator
    im.score(demos, imitator, method, out=tmp_path / "scores.parquet")
    im.write_report([tmp_path / "scores.parquet"], tmp_path / "report.html", explain=0)
    browser.open(tmp_path / "report.html")
    browser.driver.find_element(By.CSS_SELECTOR, "tr[data-row='4']").click()
    assert ("simulates no attempt" in browser.text("#look-note")) == (method == "neighbours")
    browser.until("Number(document.getElementById('canvas').dataset.frame)")
    assert f"--method {method}" in browser.text("#provenance")
    assert browser.complaints() == []


def run_folder(path: Path, seed: int, returns: float, demonstrations: int, horizon: int | None = None) -> None:
    """Write a run as `imitate` does, without learning anything."""
    performance = Performance(2, 1000.0, 0, (1000, 1000), (False, False), returns, 1.0, returns - 1, (returns, returns))
    setting = Setting(
        imitator="half_cheetah:front=0.01",
        imitator_hash="0",
        method="gaifo",
        steps=3000,
        seed=seed,
        episodes=2,
        reward=None,
        horizon=horizon,
        demonstrations=demonstrations,
        demonstrations_hash="1",
        weights=None,
        scores=None,
        sources=("gone",),
        versions={"imitable": "0.1.0"},
    )
    folder = RunFolder(path)
    folder.open(setting, resume=False)
    for k in (1, 2, 3):
        folder.append({"progress": k / 3, "steps": 1000 * k, "mean_return": None if k == 1 else returns * k / 3})
    evaluation = RunEvaluation(setting.imitator, PolicyEvaluation(performance, performance), None)
    write_json(path / "evaluation.json", {"schema": SCHEMA, **to_json(evaluation)})


def test_runs_have_curves_and_returns_and_stand_beside_the_paper(browser: Browser, scores: Path, tmp_path: Path) -> None:
    [paper] = [setting for setting in SETTINGS if setting.name == "half_cheetah-1"]
    scored = im.read_scores(scores)
    named = [replace(e, demonstrator=paper.demonstrators[i % 4]) for i, e in enumerate(scored.episodes)]
    measurement = replace(scored.measurement, key=replace(scored.measurement.key, imitator=paper.imitator))
    write_scores(tmp_path / "scores.parquet", replace(scored.with_columns(episode=named), measurement=measurement))
    for seed, value in enumerate((100.0, 200.0, 300.0)):
        run_folder(tmp_path / "run" / f"seed-{seed}", seed, value, len(scored))
    im.write_report([tmp_path / "scores.parquet", tmp_path / "run"], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    shown = browser.text("#policies")
    # mean 200, deviation 100, t(0.975, 2) = 4.303: ± 248.4
    for words in (
        "200.0",
        "−48.4 to 448.4",
        "paper, Ours",
        "2,830.6",
        "paper, GAIL",
        "expert trained on half_cheetah",
        f"{card(im.robot('half_cheetah:front=0.01'))['mean_actions']['return_mean']:,.1f}",
    ):
        assert words in shown
    assert browser.run("return document.querySelectorAll('#runs figure').length") == 2
    assert im.write_report([tmp_path / "run"], tmp_path / "runs.html").runs == 3
    browser.open(tmp_path / "runs.html")
    assert browser.run("return document.getElementById('verdicts').hidden")
    assert "What half_cheetah:front=0.01 learned" in browser.text("h1")
    assert browser.complaints() == []


def test_policies_move_and_videos_play(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "slider.xml").write_text(SLIDER)
    body, run = im.robot(str(tmp_path / "slider.xml")), tmp_path / "run"
    im.write(tmp_path / "demos", body.layout, babble(body, 2, 20, seed=0))
    im.imitate(im.read(tmp_path / "demos"), body, "cloning:gradient_steps=2", run=im.Run(episodes=1), out=run)
    dot = b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"
    (run / "dot.gif").write_bytes(dot)
    (run / "long.mp4").write_bytes(b"0" * VIDEO_BYTES)
    im.write_report([run], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    frame = "Number(document.querySelector('#runs canvas').dataset.frame)"
    first = browser.until(frame)
    browser.driver.find_element(By.CSS_SELECTOR, "button.watch").click()
    browser.until(f"{frame} !== {first}")
    browser.until("document.querySelector('.video img').naturalWidth")
    assert "long.mp4 (too large for the page)" in browser.text("#policies")
    assert browser.complaints() == []
    (run / "policy.safetensors").write_bytes(b"damaged")
    [remark] = im.write_report([run], tmp_path / "damaged.html").remarks
    browser.open(tmp_path / "damaged.html")
    assert remark in browser.text("#runs .remarks")
    assert browser.complaints() == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_data_come_back_and_cannot_close_their_element(data: object) -> None:
    text = embedded(data)
    assert json.loads(text) == data
    assert not set("<>&\u2028\u2029") & set(text)


def test_bad_input_is_refused_in_one_line(scores: Path, page: Path, tmp_path: Path) -> None:
    assert "--overwrite" in refused("report", scores, "--out", page)
    assert "no such file" in refused("report", tmp_path / "nothing.parquet", "--out", tmp_path / "r.html")
    assert "no run folder" in refused("report", tmp_path, "--out", tmp_path / "r.html")
    assert "name score files" in refused("report", "--out", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
