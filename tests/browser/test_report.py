# SPDX-License-Identifier: MIT
"""The report as a person meets it: a real headless Chromium opens the file from disk."""

import base64
import json
import time
import xml.etree.ElementTree
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

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
from imitable.report.detail import DETAILED, detailed_rows, explained_rows
from imitable.report.page import embedded
from imitable.report.policies import VIDEO_BYTES
from imitable.sim.babble import babble
from imitable.types import Episode, Trajectory
from tests.conftest import ARM, SLIDER
from tests.unit.test_cli import imitable, refused

pytestmark = pytest.mark.xdist_group("browser")

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
"""Where Debian's packages put them; `make test` installs them before its workers start."""
SCRIPT = "<script>alert(1)</script>"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,900 --force-prefers-reduced-motion"
)
MANY = 5_000


class Browser:
    """A Chromium that says what it saw."""

    def __init__(self, folder: Path) -> None:
        options = Options()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS.split(), f"--user-data-dir={folder / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver: Any = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.downloads = folder / "downloads"
        kept = {"behavior": "allow", "downloadPath": str(self.downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", kept)

    def open(self, page: Path) -> None:
        """Open a file; complaints and requests from before are forgotten."""
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(page.as_uri())

    def run(self, script: str) -> Any:
        return self.driver.execute_script(script)

    def text(self, selector: str) -> str:
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def column(self, place: int) -> list[str]:
        """Return the texts of a column of the table of demonstrations."""
        return self.run(
            f"return [...document.querySelectorAll('#demonstrations tbody tr td:nth-child({place})')].map(c => c.textContent)"
        )

    def sort(self, key: str) -> None:
        self.driver.find_element(By.CSS_SELECTOR, f"#demonstrations [data-key={key}]").click()

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return what was asked for since the last `open`, other than data that the page holds itself."""
        sent = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        urls = [one["params"]["request"]["url"] for one in sent if one["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("blob:", "data:"))]

    def slide(self, notch: int) -> None:
        self.run(f"const s = document.getElementById('temperature'); s.value = {notch}; s.dispatchEvent(new Event('input'))")

    def thread_s(self) -> float:
        """Return the seconds that the page's thread has computed, once `Performance.enable` was called."""
        metrics = self.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    def sorting_s(self, key: str) -> float:
        """Sort the demonstrations by a column; return how long the page's thread computed for that and the layout."""
        before = self.thread_s()
        self.run(f"document.querySelector('#demonstrations [data-key={key}]').click(); document.body.offsetHeight")
        return self.thread_s() - before

    def until(self, what: str, seconds: float = 15.0) -> Any:
        """Wait until an expression is true; return it."""
        end = time.monotonic() + seconds
        while not (found := self.run(f"return {what}")):
            assert time.monotonic() < end, what
            time.sleep(0.05)
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    if not all(Path(part).exists() for part in (CHROMIUM, DRIVER)):
        pytest.skip("there is no Chromium with its driver: run make parts")
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.driver.quit()


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score demonstrations of a weak and of a strong arm for the weak one; one demonstrator has a wicked name."""
    folder = tmp_path_factory.mktemp("report")
    model = folder / "arm.xml"
    model.write_text(ARM)
    weak, strong = im.robot(str(model)), im.robot(f"{model}:gear.shoulder_motor=12,gear.elbow_motor=6")
    wicked = [replace(one, demonstrator=SCRIPT) for one in babble(weak, 2, 40, 3)]
    demos: list[Trajectory] = [*babble(weak, 3, 40, 1), *babble(strong, 3, 40, 2), *wicked]
    im.write(folder / "demos", weak.layout, demos)
    im.score(im.read(folder / "demos"), weak, "direct:horizon=20,restart_budget=50", out=folder / "scores.parquet")
    return folder / "scores.parquet"


@pytest.fixture(scope="module")
def page(scores: Path) -> Path:
    out = scores.with_name("report.html")
    done = imitable("report", scores, "--out", out, "--explain", "2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == {"out": str(out), "bytes": out.stat().st_size, "demonstrations": 8}
    return out


def test_it_loads_without_a_complaint_and_asks_nothing_of_the_network(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]
    sentence = browser.text("#sentence")
    for words in ("20 steps", "all 4 state entries", "certificate", "objects that are missing from the model are not judged"):
        assert words in sentence
    assert "imitable report" in browser.text("#provenance")
    assert "simulator steps" in browser.text("#provenance")


def test_a_wicked_name_stays_text(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert SCRIPT in browser.column(2)
    assert browser.run("return document.querySelectorAll('script').length") == 2
    assert browser.run("return document.querySelectorAll('#demonstrations script').length") == 0
    assert browser.complaints() == []


def test_the_picture_of_a_clicked_demonstration_moves(browser: Browser, page: Path) -> None:
    browser.open(page)
    row = browser.driver.find_element(By.CSS_SELECTOR, "tr[data-row='4']")
    row.click()
    frames = "Number(document.getElementById('canvas').dataset.frame)"
    first = browser.until(frames)
    browser.until(f"{frames} !== {first}")
    assert browser.text("#look-title").startswith("#4 by ")
    assert browser.text("#play") == "pause"
    browser.driver.find_element(By.ID, "play").click()
    assert browser.text("#play") == "play"
    drawn = browser.run("return document.getElementById('canvas').toDataURL()")
    browser.run("const s = document.getElementById('scrub'); s.value = 0; s.dispatchEvent(new Event('input'))")
    assert browser.run("return document.getElementById('canvas').toDataURL()") != drawn
    assert browser.run("return document.querySelectorAll('#error path').length") == 1
    assert browser.complaints() == []


def test_it_can_be_used_by_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector(\"tr[data-row='3']\").focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.text("#look-title").startswith("#3 by ")
    browser.run("document.querySelector('#demonstrations [data-key=place]').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.column(1) == [f"#{row}" for row in range(8)]
    assert browser.run("return document.activeElement.dataset.key") == "place"


@pytest.mark.parametrize("keep", ["all", "top:3"])
def test_the_slider_weighs_as_python_does(browser: Browser, scores: Path, keep: str, tmp_path: Path) -> None:
    kept = tmp_path / "scores.parquet"
    write_scores(kept, weigh(im.read_scores(scores), keep=keep))
    im.write_report([kept], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    browser.sort("place")
    own = browser.text("#weigh-command")
    assert own.startswith(f"imitable weigh {kept} --temperature auto")
    for notch, temperature in ((60, "0.03"), (100, "0.139"), (180, "3")):
        browser.slide(notch)
        wanted = weigh(im.read_scores(scores), f"share:{temperature}", keep)
        weights = browser.run("return [...document.querySelectorAll('#demonstrations .weight')].map(c => Number(c.title))")
        np.testing.assert_allclose(weights, wanted.weight, rtol=1e-12, atol=1e-300)
        assert f"{1 / np.square(wanted.weight).sum():.2f} of 8" in browser.text("#ess")
        command = browser.text("#weigh-command").split()
        assert command[3:5] == ["--temperature", f"share:{temperature}"]
        assert ("--keep" in command) == (keep != "all")
    done = imitable(*command[1:-1], tmp_path / "weighted.parquet")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(weights, im.read_scores(tmp_path / "weighted.parquet").weight, rtol=1e-12)
    browser.driver.find_element(By.ID, "own").click()
    assert browser.text("#weigh-command") == own


def test_sort_and_filter(browser: Browser, page: Path) -> None:
    browser.open(page)
    shares = [float(text) for text in browser.column(4)]
    assert shares == sorted(shares)
    browser.sort("share")
    assert [float(text) for text in browser.column(4)] == shares[::-1]
    browser.driver.find_element(By.ID, "filter").send_keys("gear.shoulder")
    assert len(browser.column(1)) == 3
    assert browser.text("#shown") == "3 of 8 demonstrations"
    browser.run("const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
    browser.driver.find_element(By.CSS_SELECTOR, "#verdict-filter input[value=feasible]").click()
    assert "feasible" not in {text[1:] for text in browser.column(3)}


def test_pictures_can_be_saved(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.driver.find_element(By.ID, "save-svg").click()
    browser.driver.find_element(By.ID, "save-gif").click()
    end, found = time.monotonic() + 20, list[Path]()
    while len(found) < 2 and time.monotonic() < end:
        time.sleep(0.1)
        found = [path for path in browser.downloads.glob("*") if path.suffix in (".svg", ".gif")]
    gif, svg = sorted(found)
    assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg")
    with Image.open(gif) as picture:
        assert getattr(picture, "n_frames", 0) == 21
        first = np.asarray(picture.convert("RGB"))
        picture.seek(20)
        last = np.asarray(picture.convert("RGB"))
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 3
    assert (first != last).any()
    assert browser.complaints() == []


def test_without_its_demonstrations_it_shows_the_attempt_and_says_so(browser: Browser, scores: Path, tmp_path: Path) -> None:
    found = im.read_scores(scores)
    gone = tuple(replace(episode, source=str(tmp_path / "gone")) for episode in found.episodes)
    write_scores(tmp_path / "scores.parquet", replace(found, episodes=gone))
    steps_path(tmp_path / "scores.parquet").write_bytes(steps_path(scores).read_bytes())
    im.write_report([tmp_path / "scores.parquet"], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    assert "states are not at hand" in browser.text("#look-note")
    assert browser.run("return document.getElementById('stage').hidden") is False
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(browser: Browser, page: Path, width: int) -> None:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.open(page)
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_dark_is_dark(browser: Browser, page: Path) -> None:
    shades: dict[str, int] = {}
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.open(page)
        drawn = browser.run("return document.getElementById('canvas').toDataURL()")
        (browser.downloads.parent / "shot.png").write_bytes(base64.b64decode(drawn.split(",")[1]))
        with Image.open(browser.downloads.parent / "shot.png") as picture:
            shades[scheme] = int(np.median(np.asarray(picture.convert("L"))))
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert shades["dark"] < 60
    assert shades["light"] > 200


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
    blank = np.zeros(MANY)
    grown = replace(
        scores,
        episodes=episodes,
        distance=10 * share,
        share=share,
        score=blank,
        weight=blank,
        verdict=("",) * MANY,
        first_divergence=step.astype(np.int64),
    )
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
    "method", ["neighbours", "direct:form=restart,horizon=10,restart_budget=0", "direct:form=windows,window=8,restart_budget=0"]
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
    found = im.read_scores(scores)
    named = tuple(replace(e, demonstrator=paper.demonstrators[i % 4]) for i, e in enumerate(found.episodes))
    measurement = replace(found.measurement, key=replace(found.measurement.key, imitator=paper.imitator))
    write_scores(tmp_path / "scores.parquet", replace(found, episodes=named, measurement=measurement))
    for seed, value in enumerate((100.0, 200.0, 300.0)):
        run_folder(tmp_path / "run" / f"seed-{seed}", seed, value, len(found))
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
        "3,314.4",
    ):
        assert words in shown
    assert browser.run("return document.querySelectorAll('#runs figure').length") == 2
    im.write_report([tmp_path / "run"], tmp_path / "runs.html")
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
