# SPDX-License-Identifier: MIT
"""The page of a reproduction, of this project's own records: experiments to choose, rows to switch, numbers of the records."""

from pathlib import Path

import pytest

from imitable.experiments.catalogue import PAPER
from imitable.experiments.cells import Terms
from imitable.experiments.protocol import default_protocol, read_protocol
from imitable.experiments.random_policy import RandomReturns, random_path
from imitable.experiments.records import write_record
from imitable.experiments.tables import Table, table_of
from tests.browser.conftest import Browser
from tests.unit.test_cli import imitable
from tests.unit.test_report_reproduced import by_row, cells, keep

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


OWN = "direct:windows=3"
CHOOSE = "const s = document.getElementById('experiment'); s.value = {}; s.dispatchEvent(new Event('change'))"
TITLES = {
    "The claim, test by test",
    "Rows over all settings: interquartile mean, probability of improvement",
    "Regret to related only, by setting",
    "Weights: the part that related demonstrators carry, by setting",
    "Access: what every row needs beside demonstrated states",
    "Costs: simulator steps and core-seconds",
    "Every seed",
}


@pytest.fixture(scope="module")
def fabricated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of records that nobody ran: all of table A, a user's row, a sweep, and a cell of another scale."""
    out, protocol = tmp_path_factory.mktemp("fabricated"), default_protocol()
    terms, trial = Terms(protocol, 3), Terms(protocol, 1, scale=0.01)
    some = cells("mujoco-a", "unrelated-count/*/gail", terms=terms, methods=[OWN])
    keep(out, some, by_row, terms)
    keep(out, cells("mujoco-a/hopper/gail", terms=trial), by_row, trial)
    write_record(random_path(out), RandomReturns(1, {cell.job.imitator: 0.0 for cell in some}))
    done = imitable("report", out, "--out", out / "report.html")
    assert done.returncode == 0, done.stderr
    return out / "report.html"


def lines(browser: Browser, table: str) -> list[list[str]]:
    """Return the texts of a table that is to be seen, its head first."""
    rows = f"[...document.querySelectorAll('#{table} tr')].filter(r => r.checkVisibility())"
    return browser.run(f"return {rows}.map(r => [...r.children].map(c => c.textContent))")


def test_everything_that_is_computed_is_in_tables_that_open(browser: Browser, fabricated: Path) -> None:
    browser.open(fabricated)
    assert "1 of scale 0.01" in browser.text("#reproduction-remarks")
    assert "Post hoc" in browser.text("#reproduction-remarks")
    assert "Ours (primary): above GAIL, SAIL, ID-Feas in 6 of 6 settings" in browser.text(".outcomes")
    titles = browser.run("return [...document.querySelectorAll('#tables summary')].map(s => s.textContent)")
    assert set(titles) == TITLES
    assert lines(browser, "claims") == []
    browser.run("document.querySelectorAll('#tables summary').forEach(s => s.click())")
    claim = dict(zip(*lines(browser, "claims")[:2], strict=True))
    assert (claim["row"], claim["setting"], claim["above all"], claim["the paper's p"]) == (
        "Ours",
        "swimmer",
        "yes",
        "0.116 (ID-Feas)",
    )
    assert [line[0] for line in lines(browser, "together")][-1] == OWN
    together = {line[0]: line[1:] for line in lines(browser, "together")}
    assert together["Ours"][:2] == ["6", "3"]
    assert together["Ours"][2].startswith("0.67 (0.67 to ")
    assert together[OWN][-1] == "17 %", "its only seed is as good as the lowest of three"
    assert lines(browser, "regret")[0] == returns(browser)[0]
    related = {line[0]: line[1:] for line in lines(browser, "related")[1:]}
    assert related["Ours"] == ["50 %, 50 %, 50 %"] * 6
    assert browser.text("#tables .sentence + p").startswith("One learner for all rows but SAIL")
    assert not {"related only", "own expert"} & set(related), "whoever has other demonstrators has no such part"
    assert [OWN, "usual starts, labels of demonstrators, what its scorer asks for"] in lines(browser, "access")
    assert ["swimmer", "Ours", "500", "20", "1,000", "3", "4", "90 %"] in lines(browser, "costs")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    browser.run(CHOOSE.format(1))
    assert browser.text("#experiment option:checked") == "unrelated-count"
    assert [line[0] for line in returns(browser)][:3] == ["setting", "swimmer-0", "swimmer-100"], "settings below each other"
    assert browser.run("return document.querySelectorAll('#tables details[open]').length") == 3, "what was opened stays open"
    assert lines(browser, "trends") == []
    browser.run("document.querySelector('#trends').closest('details').open = true")
    assert ["GAIL", "hopper", "0.62", "1", "5"] in lines(browser, "trends")
    assert browser.complaints() == []


def test_one_seed_is_no_test(browser: Browser, tmp_path: Path) -> None:
    terms = Terms(default_protocol(), 1)
    keep(tmp_path, cells("mujoco-a/swimmer", terms=terms), by_row, terms)
    assert imitable("report", tmp_path, "--out", tmp_path / "report.html").returncode == 0
    browser.open(tmp_path / "report.html")
    assert "above GAIL, SAIL, ID-Feas in 1 of 1 settings that are recorded, of 6; no test yet: the row or one" in browser.text(
        ".outcomes"
    )
    assert "p < 0.01" not in browser.text(".outcomes")
    assert "are not recorded yet" in browser.text("#tables .remarks")
    assert "normalised: python -m" in browser.run("return document.querySelector('#together').closest('details').textContent")
