# SPDX-License-Identifier: MIT
"""The page of a reproduction, of this project's own records: experiments to choose, rows to switch, numbers of the records."""

from pathlib import Path

import pytest

from imitable.experiments.captions import OWN_EXPERT_ITSELF, OWN_REWARD
from imitable.experiments.catalogue import PAPER
from imitable.experiments.cells import Terms
from imitable.experiments.paper_numbers import REAL_ARM, SIMULATED_ARM, printed
from imitable.experiments.protocol import default_protocol, read_protocol
from imitable.experiments.random_policy import RandomReturns, random_path
from imitable.experiments.records import write_record
from imitable.experiments.tables import Table, table_of
from tests.browser.conftest import Browser
from tests.unit.test_cli import imitable
from tests.unit.test_report_reproduced import by_row, cells, keep

pytestmark = pytest.mark.xdist_group("browser")

RESULTS = Path(__file__).parents[2] / "results"
CHOOSE = """
const select = document.querySelector('#experiment');
select.value = [...select.options].find(option => option.textContent === '{}').value;
select.dispatchEvent(new Event('change'));
"""


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


def test_what_rows_are_compared_with_stands_below_them(browser: Browser, reproduced: Path) -> None:
    browser.open(reproduced)
    browser.run(CHOOSE.format("limits"))
    below = {row[0]: row[1:] for row in returns(browser)}
    assert "±" in below[OWN_REWARD][0], "several seeds"
    assert "±" not in below[OWN_EXPERT_ITSELF][0]
    browser.run(CHOOSE.format("demo-return"))
    settings = {row[0]: row[1:] for row in returns(browser)}
    assert settings[REAL_ARM][-1] == "2,746 ± 2,712"
    assert any(cell.endswith(" trials)") for cell in settings[REAL_ARM])
    assert {SIMULATED_ARM, "hopper"} <= set(settings)
    assert browser.complaints() == []


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
    browser.run(CHOOSE.format("arm"))
    assert returns(browser)[0] == ["row", "shelf"]
    assert "Panda" in browser.text("#tables .sentence")
    assert browser.complaints() == []


MARKS = """
    const x = (mark) => mark.cx.baseVal.value, y = (mark) => mark.cy.baseVal.value;
    return [...document.querySelectorAll('#tables figure')].map((panel) => ({
        name: panel.querySelector('figcaption').textContent, bars: panel.querySelectorAll('path.bar').length,
        means: [...panel.querySelectorAll('circle.mean')].map((mark) => [mark.textContent, x(mark), y(mark)]),
        finals: [...panel.querySelectorAll('circle.final')].map((mark) => [mark.textContent, x(mark), y(mark)]),
        levels: [...panel.querySelectorAll('line.level')].map((line) => line.y1.baseVal.value),
        ticks: [...panel.querySelectorAll('text[text-anchor=middle]')].map((text) => text.textContent),
    }))"""
"""What is drawn in every panel."""


def test_curves_end_in_the_returns_of_the_tables_beside_the_paper_s(browser: Browser, reproduced: Path, table: Table) -> None:
    browser.open(reproduced)
    panels = {panel["name"]: panel for panel in browser.run(MARKS)}
    assert list(panels) == table.places
    for place, panel in panels.items():
        finals = {title.split(": ")[0]: (x, y) for title, x, y in panel["finals"]}
        assert list(finals) == [row for row in table.rows if table.at(place, row)]
        assert len({x for x, _ in finals.values()}) == len(finals), "none hides another"
        means = {row: float(table.returns(place, row).mean()) for row in finals}
        above = sorted(finals, key=lambda row: finals[row][1])
        assert above == sorted(means, key=lambda row: -means[row]), "the higher the return, the higher the dot"
        [level] = panel["levels"]
        theirs = printed(place, "Ours")
        assert theirs is not None
        assert {row for row in finals if finals[row][1] < level} == {row for row in means if means[row] > theirs.mean}
    ends = browser.run("return [...document.querySelectorAll('#tables figure svg')].map(s => s.viewBox.baseVal.width)")
    assert all(x < ends[0] for panel in panels.values() for _, x, _ in panel["finals"])
    browser.run("document.querySelector('#row-filter input[value=direct]').click()")
    assert not any(title.startswith("direct:") for panel in browser.run(MARKS) for title, _, _ in panel["finals"])
    assert "Dots, side by side: the returns of the tables" in browser.text("#tables .two + p")


OWN = "direct:windows=3"
TITLES = {
    "The claim, test by test",
    "Rows over all settings: interquartile mean, probability of improvement",
    "Regret to related only, by setting",
    "Weights: the part that related demonstrators carry, by setting",
    "Rows: whose demonstrations, which scores, how they become weights, what that takes",
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
    assert "The claim: above GAIL, SAIL, ID-Feas in every setting." in browser.text("#tables .remarks + .sentence")
    assert "Ours (primary): above every baseline in 6 of 6 settings" in browser.text(".outcomes")
    assert "Seeds from 2 on alone: above in 6 of 6." in browser.text(".outcomes")
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
    assert related["Ours"] == ["50, 50, 50 (4, 4, 4)"] * 6
    assert browser.text("#tables .sentence + p").startswith("One learner for all rows but SAIL")
    assert not {"related only", "own expert"} & set(related), "whoever has other demonstrators has no such part"
    definitions = {line[0]: line[1:] for line in lines(browser, "definitions")}
    assert definitions["row"] == ["demonstrations", "scores", "weights", "needs access to"]
    assert definitions["related only"] == ["related only", "–", "all the same", "usual starts, who is related"]
    assert definitions[OWN][:3] == ["all", OWN, "the square of the score, balanced"]
    assert definitions[OWN][3] == "usual starts, labels of demonstrators, what its scorer asks for"
    assert ["swimmer", "Ours", "500", "20", "1,000", "3", "4", "90 %"] in lines(browser, "costs")
    assert browser.run("return document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    browser.run(CHOOSE.format("unrelated-count"))
    assert browser.text("#experiment option:checked") == "unrelated-count"
    assert [line[0] for line in returns(browser)][:3] == ["setting", "swimmer-0", "swimmer-100"], "settings below each other"
    assert browser.run("return document.querySelectorAll('#tables details[open]').length") == 3, "what was opened stays open"
    assert lines(browser, "trends") == []
    browser.run("document.querySelector('#trends').closest('details').open = true")
    assert ["GAIL", "hopper", "0.62", "1", "5"] in lines(browser, "trends")
    assert "The paper says that all rows decline." in browser.text("details:has(#trends) p")
    assert browser.complaints() == []


def test_returns_are_drawn_against_the_amount_that_is_varied(browser: Browser, fabricated: Path) -> None:
    browser.open(fabricated)
    assert not any(panel["means"] for panel in browser.run(MARKS)), "the main table varies nothing"
    browser.run(CHOOSE.format("unrelated-count"))
    panels = browser.run(MARKS)
    assert [panel["name"] for panel in panels[:5]] == ["swimmer", "walker2d-1", "half_cheetah-1", "hopper", "swimmer-0"]
    hopper, curves = panels[3:5]
    assert hopper["ticks"][:4] == ["0", "100", "500", "demonstrations of each unrelated demonstrator"]
    gail = [(title, x) for title, x, _ in hopper["means"] if title.startswith("GAIL")]
    assert [title for title, _ in gail] == ["GAIL: 10 (1)", "GAIL: 10 (1)", "GAIL: 11 ± 1 (3)"]
    first, second, third = (x for _, x in gail)
    assert (third - second) / (second - first) == pytest.approx(4, abs=0.05), "500 − 100 to 100 − 0"
    assert hopper["bars"] == sum("±" in title for title, _, _ in hopper["means"]), "a bar from two seeds on"
    ours, theirs = (next(y for title, _, y in hopper["means"] if title.startswith(row)) for row in ("Ours", "SAIL"))
    assert ours < theirs, "4,000 stands above 10"
    assert curves["finals"], "and then learning curves, a panel a place"
    assert not hopper["levels"] + curves["levels"], "the paper's return is drawn beside its claim only"
    assert browser.text("#tables .two + p").startswith("Mean actions of the final policy; bars: deviation between seeds")
    browser.run("document.querySelector('#row-filter input[value=GAIL]').click()")
    assert not any(title.startswith("GAIL") for panel in browser.run(MARKS) for title, _, _ in panel["means"])
    assert browser.complaints() == []


def test_a_line_has_a_gap_where_nothing_is_recorded(browser: Browser, tmp_path: Path) -> None:
    terms = Terms(default_protocol(), 1)
    keep(tmp_path, cells("budget/swimmer-20/gail", "budget/swimmer-80/gail", "budget/*/sail", terms=terms), by_row, terms)
    assert imitable("report", tmp_path, "--out", tmp_path / "report.html").returncode == 0
    browser.open(tmp_path / "report.html")
    [panel, *_] = browser.run(MARKS)
    assert (panel["name"], panel["bars"], len(panel["means"])) == ("swimmer", 0, 5)
    drawn = "return [...document.querySelector('#tables figure').querySelectorAll('svg > path')].map(p => p.getAttribute('d'))"
    assert sorted("".join(mark for mark in path if mark in "ML") for path in browser.run(drawn)) == ["MLL", "MM"]


def test_one_seed_is_no_test(browser: Browser, tmp_path: Path) -> None:
    terms = Terms(default_protocol(), 1)
    keep(tmp_path, cells("mujoco-a/swimmer", terms=terms), by_row, terms)
    assert imitable("report", tmp_path, "--out", tmp_path / "report.html").returncode == 0
    browser.open(tmp_path / "report.html")
    assert (
        "above every baseline in 1 of 1 settings that are recorded, of 6; no test yet: the row or a baseline"
        in browser.text(".outcomes")
    )
    assert "p < 0.01" not in browser.text(".outcomes")
    assert "are not recorded yet" in browser.text("#tables .remarks")
    assert "normalised: python -m" in browser.run("return document.querySelector('#together').closest('details').textContent")
