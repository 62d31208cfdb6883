# SPDX-License-Identifier: MIT
"""The report as a person meets it: a page opened from disk, looked at, sorted, filtered, weighed anew and saved."""

import base64
import io
import shlex
import time
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import imitable as im
from imitable.feasibility.score import weigh
from imitable.feasibility.score_files import write_scores
from tests.browser.conftest import SCRIPT, Browser
from tests.unit.test_cli import imitable

pytestmark = pytest.mark.xdist_group("browser")


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


@pytest.mark.parametrize(("keep", "balance"), [("all", "none"), ("top:3", "none"), ("all", "demonstrator"), (SCRIPT, "none")])
def test_the_slider_weighs_as_python_does(browser: Browser, scores: Path, keep: str, balance: str, tmp_path: Path) -> None:
    out = tmp_path / "scores.parquet"
    write_scores(out, weigh(im.read_scores(scores), keep=keep, balance=balance))
    im.write_report([out], tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    browser.sort("place")
    own = browser.text("#weigh-command")
    assert own.startswith(f"imitable weigh {out} --temperature auto")
    for notch, temperature in ((60, "0.03"), (100, "0.139"), (180, "3")):
        browser.slide(notch)
        wanted = weigh(im.read_scores(scores), f"share:{temperature}", keep, balance)
        weights = browser.run("return [...document.querySelectorAll('#demonstrations .weight')].map(c => Number(c.title))")
        np.testing.assert_allclose(weights, wanted.weight, rtol=1e-12, atol=1e-300)
        assert f"{1 / np.square(wanted.weight).sum():.2f} of 8" in browser.text("#ess")
        command = shlex.split(browser.text("#weigh-command"))
        assert command[3:5] == ["--temperature", f"share:{temperature}"]
        assert ("--keep" in command) == (keep != "all")
    done = imitable(*command[1:-1], tmp_path / "weighted.parquet")
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(weights, im.read_scores(tmp_path / "weighted.parquet").weight, rtol=1e-12)
    browser.driver.find_element(By.ID, "own").click()
    assert browser.text("#weigh-command") == own


def test_a_score_shows_its_uncertainty_and_what_was_followed(browser: Browser, scores: Path, page: Path) -> None:
    read = im.read_scores(scores)
    browser.open(page)
    browser.sort("place")
    for row, (score, followed) in enumerate(zip(browser.column(6), browser.column(7), strict=True)):
        low, high = (float(text) for text in score.split("(")[1].rstrip(")").split("–"))
        assert low == pytest.approx(read.score_low[row], rel=0.01, abs=1e-3)
        assert high == pytest.approx(read.score_high[row], rel=0.01, abs=1e-3)
        assert float(followed.rstrip(" %")) == pytest.approx(100 * read.followed[row], abs=0.1)


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
    end, pictures = time.monotonic() + 20, list[Path]()
    while len(pictures) < 2 and time.monotonic() < end:
        time.sleep(0.1)
        pictures = [path for path in browser.downloads.glob("*") if path.suffix in (".svg", ".gif")]
    gif, svg = sorted(pictures)
    assert xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg")
    with Image.open(gif) as picture:
        assert getattr(picture, "n_frames", 0) == 41
        first = np.asarray(picture.convert("RGB"))
        picture.seek(40)
        last = np.asarray(picture.convert("RGB"))
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 3
    assert (first != last).any()
    assert browser.complaints() == []


@pytest.mark.parametrize("name", ["half_cheetah-front=0.01", "swimmer"])
def test_a_demonstrator_moves_where_a_page_shows_its_picture(name: str, browser: Browser, tmp_path: Path) -> None:
    picture = Path(__file__).parents[2] / "docs" / "images" / "gaits" / f"{name}.svg"
    (tmp_path / "page.html").write_text(f'<img src="{picture.as_uri()}">')
    browser.open(tmp_path / "page.html")
    browser.until("document.images[0].complete && document.images[0].naturalWidth === 160")
    first, seen = browser.driver.get_screenshot_as_png(), time.monotonic()
    shots = {first}
    while len(shots) < 4 and time.monotonic() < seen + 20:
        time.sleep(0.1)
        shots.add(browser.driver.get_screenshot_as_png())
    assert len(shots) == 4
    dark = [np.asarray(Image.open(io.BytesIO(shot)).convert("L")) < 100 for shot in shots]
    assert all(200 < shade.sum() < 8000 for shade in dark)
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
