# SPDX-License-Identifier: MIT
"""The page of a reproduction, of this project's own records: experiments to choose, rows to switch, numbers of the records."""

from pathlib import Path

import pytest

from imitable.experiments.catalogue import PAPER
from imitable.experiments.cells import Terms
from imitable.experiments.protocol import read_protocol
from imitable.experiments.tables import Table, table_of
from tests.browser.conftest import Browser
from tests.unit.test_cli import imitable

pytestmark = pytest.mark.xdist_group("browser")

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reproduced") / "reproduction.html"
    done = imitable("report", RESULTS / "cells", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def table() -> Table:
    [main] = [one for one in PAPER if one.name == "mujoco-a"]
    return table_of(main, Terms(read_protocol(RESULTS / "protocol.json")), RESULTS / "cells")


def returns(browser: Browser) -> list[list[str]]:
    """Return the texts of the table of returns, its head first."""
    return browser.run("return [...document.querySelectorAll('#returns tr')].map(r => [...r.children].map(c => c.textContent))")


def test_returns_are_those_of_the_records(browser: Browser, reproduced: Path, table: Table) -> None:
    browser.open(reproduced)
    assert browser.complaints() == []
    assert browser.requests() == [reproduced.as_uri()]
    head, *rows = returns(browser)
    assert head[1:] == table.places
    assert [row[0] for row in rows if not row[0].startswith("paper")] == table.rows
    shown = next(row for row in rows if row[0] == "direct")
    found = table.returns("half_cheetah-1", "direct")
    assert shown[1 + table.places.index("half_cheetah-1")].startswith(f"{found.mean():,.0f} ")
    paper = next(row for row in rows if row[0] == "paper: Ours")
    assert paper[1] == "74 ± 20"


def test_rows_are_switched_off_and_on(browser: Browser, reproduced: Path, table: Table) -> None:
    browser.open(reproduced)
    lines = "document.querySelectorAll('#tables figure path').length"
    before = browser.run(f"return {lines}")
    toggle = "document.querySelector('#row-filter input[value=direct]').click()"
    browser.run(toggle)
    drawn = sum(bool(table.at(place, "direct")) for place in table.places)
    assert before - browser.run(f"return {lines}") == 2 * drawn > 0, "a line and a band a setting"
    assert "direct" not in [row[0] for row in returns(browser)]
    browser.run(toggle)
    assert browser.run(f"return {lines}") == before
    widths = browser.run("return [...document.querySelectorAll('#tables figure svg')].map(s => s.viewBox.baseVal.width)")
    assert len(set(widths)) == 1, "every panel is drawn for the width that it has"


def test_another_experiment_is_chosen(browser: Browser, reproduced: Path) -> None:
    browser.open(reproduced)
    names = browser.run("return [...document.querySelectorAll('#experiment option')].map(o => o.textContent)")
    assert {"mujoco-a", "mujoco-b", "arm"} <= set(names)
    choose = "const s = document.getElementById('experiment'); s.value = {}; s.dispatchEvent(new Event('change'))"
    browser.run(choose.format(names.index("arm")))
    assert returns(browser)[0] == ["row", "shelf"]
    assert "Panda" in browser.text("#tables .sentence")
    assert browser.complaints() == []
