# SPDX-License-Identifier: MIT
"""An arm in the report: drawn in space with its scene and paths, turned by dragging."""

from pathlib import Path

import pytest

import imitable as im
from tests.browser.conftest import Browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    seven, three = im.robot("panda"), im.robot("panda:dof=3")
    demos = [*im.waypoint_demonstrations(seven, {"left": 1}, 0), *im.waypoint_demonstrations(three, {"over": 1}, 0)]
    im.write(folder / "demos", seven.layout, demos, arm=seven)
    im.score(im.read(folder / "demos"), three, "direct:effort=quick,windows=1,restart_budget=0", out=folder / "scores.parquet")
    im.write_report([folder / "scores.parquet"], folder / "report.html", explain=0)
    return folder / "report.html"


def test_an_arm_is_drawn_in_space_and_turned_by_dragging(browser: Browser, page: Path) -> None:
    driver = browser.driver
    driver.get(page.as_uri())
    shown = "return document.getElementById('canvas').toDataURL()"
    before = driver.execute_script(shown)
    drag = """
        const canvas = document.getElementById("canvas"), at = (type, x) =>
          canvas.dispatchEvent(new PointerEvent(type, {clientX: x, clientY: 20, buttons: 1, bubbles: true}));
        at("pointerdown", 10); at("pointermove", 120); at("pointerup", 120);
    """
    driver.execute_script(drag)
    assert driver.execute_script(shown) != before


def test_what_is_out_of_reach_is_said(browser: Browser, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "is fixed; the path leaves its plane by" in text
