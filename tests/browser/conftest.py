# SPDX-License-Identifier: MIT
"""A real headless Chromium, and score files and a page for it to open."""

import json
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

import imitable as im
from imitable.sim.babble import babble
from imitable.types import Trajectory
from tests.conftest import ARM
from tests.unit.test_cli import imitable

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
"""Where Debian's packages put them; `make test` installs them before its workers start."""
SCRIPT = "<script>alert(1)</script>"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,900 --force-prefers-reduced-motion"
)


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
        saving = {"behavior": "allow", "downloadPath": str(self.downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", saving)

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
        while not (value := self.run(f"return {what}")):
            assert time.monotonic() < end, what
            time.sleep(0.05)
        return value


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    if not all(Path(part).exists() for part in (CHROMIUM, DRIVER)):
        pytest.skip("there is no Chromium with its driver: run make parts")
    chromium = Browser(tmp_path_factory.mktemp("browser"))
    yield chromium
    chromium.driver.quit()


@pytest.fixture(scope="package")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score demonstrations of a weak and of a strong arm for the weak one; one demonstrator has a wicked name."""
    folder = tmp_path_factory.mktemp("report")
    model = folder / "arm.xml"
    model.write_text(ARM)
    weak, strong = im.robot(str(model)), im.robot(f"{model}:gear.shoulder_motor=12,gear.elbow_motor=6")
    wicked = [replace(one, demonstrator=SCRIPT) for one in babble(weak, 2, 40, 3)]
    demos: list[Trajectory] = [*babble(weak, 3, 40, 1), *babble(strong, 3, 40, 2), *wicked]
    im.write(folder / "demos", weak.layout, demos)
    im.score(im.read(folder / "demos"), weak, "direct:window_s=0.4,restart_budget=50", out=folder / "scores.parquet")
    return folder / "scores.parquet"


@pytest.fixture(scope="package")
def page(scores: Path) -> Path:
    out = scores.with_name("report.html")
    done = imitable("report", scores, "--out", out, "--explain", "2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == {"out": str(out), "bytes": out.stat().st_size, "demonstrations": 8, "runs": 0, "remarks": []}
    return out
