# SPDX-License-Identifier: MIT
"""What the page says of recorded experiments, from fabricated records: nothing is run."""

import json
import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from imitable.cli import report
from imitable.cli.experiment_verbs import Reproduce
from imitable.cli.main import parse
from imitable.cli.verbs import Report
from imitable.experiments.arm_real_records import DIFFERENCE, ArmRealRecord, Trial, record_path
from imitable.experiments.captions import OWN_EXPERT_ITSELF, OWN_REWARD
from imitable.experiments.catalogue import UNRELATED_COUNTS, catalogue
from imitable.experiments.cell_records import SCHEMA, CellRecord, Episodes, Provenance, Spent
from imitable.experiments.cells import Cell, Terms, cells_of, chosen
from imitable.experiments.jobs import RunJob
from imitable.experiments.own_reward_records import OwnReward, own_reward_path
from imitable.experiments.paper_numbers import MAPPING, PAPER, PERCENTAGES, REAL_ARM, SIMULATED_ARM
from imitable.experiments.protocol import UNSEEN, default_protocol, read_protocol
from imitable.experiments.random_policy import RandomReturns, random_path
from imitable.experiments.records import write_record
from imitable.experiments.reproduction import PROTOCOL_FILE, with_methods
from imitable.experiments.store import RECORDS
from imitable.report.content import content
from imitable.report.page import embedded

PROTOCOL = default_protocol()
TWO_SEEDS = Terms(PROTOCOL, seeds=2)
MAIN = "mujoco-a"
NEVER = "no_such_module.Calm"
"""A scorer that cannot be imported."""


def record(job: RunJob, value: float, terms: Terms = TWO_SEEDS, code: str = "code") -> CellRecord:
    """Return what a job might have come to."""
    played = Episodes((value,), value, 10.0, 0)
    spent = Spent(0 if job.scores is None else 500, 20, 1000, 3.0, 4.0, 9, 1)
    origin = Provenance(code, "", terms.protocol.hash, "setting", "policy", {}, terms.scale)
    masses = {one.body: 1 / len(job.demos.recordings) for one in job.demos.recordings}
    return CellRecord(SCHEMA, job, played, played, 4, 50.0, masses, 4.0, spent, origin, ((0, None), (10, 1.0), (20, value)))


def keep(out: Path, cells: Iterable[Cell], value: Callable[[Cell], float], terms: Terms = TWO_SEEDS) -> None:
    """Write records of cells into a store, and its protocol if it has none."""
    out.mkdir(exist_ok=True)
    if not (out / PROTOCOL_FILE).exists():
        write_record(out / PROTOCOL_FILE, terms.protocol)
    for cell in cells:
        write_record(out / RECORDS / f"{cell.job.name}.json", record(cell.job, value(cell), terms))


def cells(*names: str, terms: Terms = TWO_SEEDS, methods: Sequence[str] = ()) -> list[Cell]:
    return cells_of(with_methods(chosen(catalogue(tuple(terms.protocol.learners)), names), methods), terms)


def by_row(cell: Cell) -> float:
    """Return a number such that ours are above, with little spread between seeds."""
    return {"Ours": 4000.0, "direct": 5000.0, "own expert": 6000.0, "related only": 4500.0}.get(cell.row, 10.0) + cell.seed


class Shown:
    """What the page carries of a store."""

    def __init__(self, out: Path) -> None:
        [one] = json.loads(embedded(content([out], explain=0)["reproductions"]))
        self.remarks: list[str] = one["remarks"]
        self.provenance: dict[str, str] = dict(one["provenance"])
        self.experiments: dict[str, Any] = {each["name"]: each for each in one["experiments"]}

    def place(self, experiment: str, name: str) -> dict[str, Any]:
        return next(place for place in self.experiments[experiment]["places"] if place["name"] == name)

    def definition(self, experiment: str, row: str) -> dict[str, Any]:
        return next(line for line in self.experiments[experiment]["definitions"] if line["row"] == row)

    def command(self, experiment: str = "") -> Reproduce:
        """Return the command that makes the recorded cells again, or all of an experiment."""
        text = self.experiments[experiment]["command"] if experiment else self.provenance["command"]
        verb = parse(shlex.split(text)[1:])
        assert isinstance(verb, Reproduce)
        return verb


def own_job(text: str, cell: Cell) -> RunJob:
    """Return the job of a user's scorer beside a cell that has scores; it is not imported."""
    assert cell.job.scores is not None
    scoring = replace(cell.job.scores.scoring, method=text)
    return replace(cell.job, scores=replace(cell.job.scores, scoring=scoring), rule=PROTOCOL.rule)


# ---------------------------------------------------------------- rows of a user's own


def test_a_user_s_own_row_is_shown_without_importing_its_scorer(tmp_path: Path) -> None:
    some = cells(f"{MAIN}/hopper/id-feas", f"{MAIN}/hopper/gail")
    keep(tmp_path, some, by_row)
    job = own_job(NEVER, next(cell for cell in some if cell.row == "ID-Feas"))
    for age, (name, value) in enumerate({"0123456789ab": 7.0, "ba9876543210": 8.0}.items()):
        path = tmp_path / RECORDS / f"hopper-gravity=15.gaifo.no_such_module.calm.seed-0.{name}.json"
        write_record(path, record(job, value))
        os.utime(path, ns=(age, age))
    shown = Shown(tmp_path)
    main = shown.experiments[MAIN]
    assert main["rows"][-1] == NEVER
    assert shown.place(MAIN, "hopper")["rows"][NEVER]["returns"] == [8.0], "the scorer's file has changed: the newest counts"
    assert {line["row"] for line in main["aggregates"]} == {"GAIL", "ID-Feas", NEVER}
    own = shown.definition(MAIN, NEVER)
    assert (own["scores"], own["weights"]) == (NEVER, "by its scorer's own rule, balanced")
    assert own["needs"][-1] == "what its scorer asks for"
    assert main["missing"] == main["cells"] - 5, "two seeds of two rows of the catalogue, and this one"
    assert "1 of 6 records" in shown.remarks[0]
    assert "a scorer's file" in shown.remarks[0]
    assert shown.command().methods == shown.command(MAIN).methods == (NEVER,)
    assert set(shown.command().experiments) == {f"{MAIN}/hopper/gail", f"{MAIN}/hopper/id-feas"}


def test_own_rows_stand_in_every_experiment_that_they_were_made_for(tmp_path: Path) -> None:
    text, terms = "direct:windows=3", Terms(PROTOCOL, seeds=1)
    experiments = catalogue(tuple(PROTOCOL.learners))
    made = [cell for cell in cells_of(with_methods(experiments, [text]), terms) if cell.row == text]
    keep(tmp_path, made, by_row)
    shown = Shown(tmp_path)
    assert len(shown.remarks) == 1, "that on post hoc changes: none is left out"
    for one in experiments:
        places = {cell.where for cell in made if cell.experiment == one.name}
        if one.name == "total-steps":
            continue  # with the usual number of steps, its rows are those of the main tables
        arm = {SIMULATED_ARM} if one.name == "demo-return" else set[str]()
        found = {place["name"] for place in shown.experiments[one.name]["places"] if text in place["rows"]}
        assert found == places | arm, one.name


def test_own_rows_like_different_rows_have_different_names(tmp_path: Path) -> None:
    text, names = "direct:windows=3", (f"{MAIN}/walker2d-2/direct", f"{MAIN}/walker2d-2/related-only")
    for name, value in zip(names, (2.0, 3.0), strict=True):
        keep(tmp_path, [cell for cell in cells(name, methods=[text]) if cell.row == text], lambda _, value=value: value)
    rows = Shown(tmp_path).place(MAIN, "walker2d-2")["rows"]
    assert {row: found["returns"] for row, found in rows.items()} == {text: [2.0], f"{text}, like related only": [3.0]}


# ---------------------------------------------------------------- the paper's numbers, and its claim


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """One seed of every cell there is."""
    out = tmp_path_factory.mktemp("everything")
    keep(out, cells_of(catalogue(tuple(PROTOCOL.learners)), Terms(PROTOCOL, seeds=1)), by_row)
    return Shown(out)


def test_the_paper_s_numbers_stand_where_its_settings_are(everything: Shown) -> None:
    found = {name: {place["name"]: place["paper"] for place in one["places"]} for name, one in everything.experiments.items()}
    with_numbers = {name for name, places in found.items() if any(places.values())}
    assert with_numbers == {"mujoco-a", "mujoco-b", "unrelated-count", "demo-count", "mapping", "demo-return"}
    whole = {f"{name}-500" for name in ("swimmer", "walker2d-1", "half_cheetah-1", "hopper")}
    assert {place for place, numbers in found["unrelated-count"].items() if numbers} == whole
    assert [one["mean"] for one in found["demo-count"]["hopper-20"]] == [one.mean for one in PERCENTAGES["hopper"][20]]
    assert [one["mean"] for one in found["mapping"]["swimmer"]] == [one.mean for one in MAPPING]
    assert [one["method"] for one in found["mujoco-b"]["walker2d-2"]] == ["Ours"]
    assert [one["mean"] for one in found["demo-return"][SIMULATED_ARM]] == [1823, 2127]


def test_what_no_row_learned_stands_beside_the_rows(everything: Shown) -> None:
    swimmer = everything.place("demo-return", "swimmer")["references"]
    assert {name: cell["mean"] for name, cell in swimmer.items()} == {"demonstrated": 50.0}
    limits = everything.experiments["limits"]
    assert {tuple(place["references"]) for place in limits["places"]} == {("demonstrated", OWN_EXPERT_ITSELF)}
    assert "shipped expert" in limits["said"]["returns"]
    assert all(place["references"] == {} for place in everything.experiments[MAIN]["places"])


def test_what_was_measured_once_for_all_is_read_beside_the_protocol(tmp_path: Path) -> None:
    some = cells("limits", "arm", "demo-return/hopper", terms=Terms(PROTOCOL, seeds=1))
    keep(tmp_path, some, by_row)
    arms = [place for place in Shown(tmp_path).experiments["demo-return"]["places"] if place["name"].endswith(" arm")]
    assert [place["name"] for place in arms] == [SIMULATED_ARM], "no trial was made"
    assert arms[0]["rows"]["Ours"]["returns"] == [4000.0]
    imitator = next(cell.job.imitator for cell in some if cell.experiment == "limits")
    write_record(own_reward_path(tmp_path), OwnReward((0, 1), {imitator: (4000.0, 6000.0)}))
    trials = tuple(Trial(seed, "policy", 10, total, goal=True, hit=False, stopped="") for seed, total in enumerate((1.0, 3.0)))
    rows = {"direct": trials, "no row of this table": trials}
    write_record(record_path(tmp_path), ArmRealRecord("a", "simulated", "panda", 2.0, DIFFERENCE, rows))
    shown = Shown(tmp_path)
    found = [place["references"].get(OWN_REWARD) for place in shown.experiments["limits"]["places"]]
    [best] = [one for one in found if one is not None]
    assert (best["mean"], best["count"]) == (5000.0, 2)
    real = shown.place("demo-return", REAL_ARM)
    assert list(real["rows"]) == ["direct"]
    assert (real["rows"]["direct"]["mean"], real["rows"]["direct"]["count"], real["rows"]["direct"]["seeds"]) == (2.0, 2, [])
    assert [one["mean"] for one in real["paper"]] == [2531, 2746]


def test_only_the_main_tables_make_claims(everything: Shown) -> None:
    found = everything.experiments
    assert {name for name, one in found.items() if one["outcomes"] or one["claims"] or one["baselines"]} == {MAIN, "mujoco-b"}
    assert len(found[MAIN]["outcomes"]) == 3
    assert all("no test yet" in text and "Seeds from" not in text for text in found[MAIN]["outcomes"]), "one seed is no test"
    assert {one["p"] for one in found[MAIN]["claims"]} == {None}


def test_the_command_of_everything_is_short(everything: Shown) -> None:
    names = [one.name for one in catalogue()]
    assert set(everything.command().experiments) <= set(names)
    assert everything.command().seeds == 1


def test_a_trial_is_not_compared_with_the_paper(tmp_path: Path) -> None:
    terms = Terms(PROTOCOL, seeds=1, scale=0.1)
    keep(tmp_path, cells(f"{MAIN}/swimmer", terms=terms), by_row, terms)
    main = Shown(tmp_path).experiments[MAIN]
    assert not any(place["paper"] or place["level"] for place in main["places"])
    assert not any("paper's own" in text for text in main["outcomes"])
    assert "paper" not in main["said"]["curves"]
    assert main["said"]["returns"].endswith(" 10 episodes."), "a tenth of the protocol's"


def test_claims_have_both_p_and_the_paper_s(tmp_path: Path) -> None:
    keep(tmp_path, cells(MAIN, terms=Terms(PROTOCOL, seeds=3)), by_row)
    main = Shown(tmp_path).experiments[MAIN]
    text = main["outcomes"][0]
    assert text.startswith("Ours (primary): above every baseline in 6 of 6 settings that are recorded, of 6; with p < 0.01 ")
    assert "in 6 of 6 where the row and all baselines have two seeds or more (in 6 if all seeds that are planned had" in text
    assert "; above the paper's own return in 6 of 6." in text
    assert main["said"]["tests"].endswith("a one-sided test gives Swimmer's only.")
    swimmer = next(one for one in main["claims"] if (one["row"], one["place"]) == ("Ours", "swimmer"))
    assert 0 < swimmer["one_sided"] < swimmer["p"] < swimmer["adjusted"] < 0.01
    assert 0 < swimmer["foreseen"] < swimmer["adjusted"], "five seeds are planned, three are recorded"
    assert swimmer["paired"] == pytest.approx(2 / 2**3), "three seeds, all above"
    assert swimmer["above"]
    assert swimmer["paper"] == [0.116, "ID-Feas"]


# ---------------------------------------------------------------- everything else that is computed


def test_rows_over_all_settings(tmp_path: Path) -> None:
    rows = ("gail", "sail", "id-feas", "ours", "related-only", "own-expert")
    some = cells(*(f"{MAIN}/{place}/{row}" for place in ("swimmer", "hopper") for row in rows), terms=Terms(PROTOCOL, seeds=4))
    keep(tmp_path, some, by_row)
    [ours] = [line for line in Shown(tmp_path).experiments[MAIN]["aggregates"] if line["row"] == "Ours"]
    assert ours["improvement"] == {"GAIL": 1.0, "SAIL": 1.0, "ID-Feas": 1.0}
    assert ours["regret"] == {"swimmer": 4500.5 - 4001.5, "hopper": 4500.5 - 4001.5}
    assert ours["related"] == {"swimmer": [0.5] * 4, "hopper": [0.5] * 4}, "two of four bodies, equal masses"
    assert ours["effective"] == {"swimmer": [4] * 4, "hopper": [4] * 4}
    assert ours["normalised"] is None, "nobody measured random policies"
    write_record(random_path(tmp_path), RandomReturns(1, {cell.job.imitator: 0.5 for cell in some}))
    [ours] = [line for line in Shown(tmp_path).experiments[MAIN]["aggregates"] if line["row"] == "Ours"]
    whole = ours["normalised"]
    assert (whole["places"], whole["fewest"]) == (2, 4)
    assert whole["iqm"] == pytest.approx((4001.5 - 0.5) / 6000)
    assert whole["low"] < whole["iqm"] < whole["high"]


def test_the_trend_over_unrelated_demonstrations(tmp_path: Path) -> None:
    some = cells("unrelated-count/*/gail", terms=Terms(PROTOCOL, seeds=5))
    keep(tmp_path, some, lambda cell: -float(cell.where.split("-")[-1]) - cell.seed)
    trends = Shown(tmp_path).experiments["unrelated-count"]["trends"]
    tests = trends["tests"]
    assert {line["setting"] for line in tests} == {"swimmer", "walker2d-1", "half_cheetah-1", "hopper"}
    assert all(line["rho"] < -0.9 and line["p"] < 0.01 and line["runs"] == 3 * len(UNRELATED_COUNTS) for line in tests)
    assert "below 0 in 4 of 4 pairs of row and setting, with p < 0.05 after Holm over all 16 in 4" in trends["said"]


def test_a_user_s_own_row_has_a_trend_and_no_part_in_the_paper_s_claim(tmp_path: Path) -> None:
    text, terms = "direct:windows=3", Terms(PROTOCOL, seeds=2)
    names = [f"unrelated-count/hopper-{count}/{row}" for count in UNRELATED_COUNTS for row in ("gail", "ours")]
    some = cells(*names, terms=terms, methods=[text])
    keep(tmp_path, some, lambda cell: float(cell.seed) + float(cell.where.split("-")[-1]) * (1 if cell.row == text else -1))
    trends = Shown(tmp_path).experiments["unrelated-count"]["trends"]
    own = [line for line in trends["tests"] if line["row"] == text]
    assert [(line["setting"], line["rho"] > 0) for line in own] == [("hopper", True)]
    assert "below 0 in 2 of 2 pairs of row and setting, with p < 0.05 after Holm over all 16" in trends["said"]


def test_amounts_group_the_places_that_differ_by_them(everything: Shown) -> None:
    sweeps = {name: one["sweep"] for name, one in everything.experiments.items() if one["sweep"]}
    assert {name: sweep["label"] for name, sweep in sweeps.items()} == {
        "unrelated-count": "demonstrations of each unrelated demonstrator",
        "demo-count": "% of all demonstrations",
        "budget": "demonstrations asked for",
    }
    groups = {name: {group["name"]: group["points"] for group in sweep["groups"]} for name, sweep in sweeps.items()}
    assert list(groups["unrelated-count"]) == ["swimmer", "walker2d-1", "half_cheetah-1", "hopper"]
    assert groups["unrelated-count"]["hopper"] == [[0, "hopper-0"], [100, "hopper-100"], [500, "hopper-500"]]
    assert [amount for amount, _ in groups["demo-count"]["half_cheetah-1"]] == [40, 60, 100]
    assert groups["budget"] == {"swimmer": [[20, "swimmer-20"], [40, "swimmer-40"], [80, "swimmer-80"]]}
    for name, sweep in groups.items():
        shown = {place["name"] for place in everything.experiments[name]["places"]}
        assert {place for points in sweep.values() for _, place in points} == shown, name


def test_curves_end_with_the_returns_of_the_tables_beside_the_paper_s(everything: Shown) -> None:
    swimmer = everything.place(MAIN, "swimmer")
    assert swimmer["rows"]["Ours"]["curve"]["end"] == 20
    assert swimmer["rows"]["Ours"]["curve"]["mean"][-1] == swimmer["rows"]["Ours"]["mean"] == 4000
    levels = {name: [place["level"] for place in one["places"]] for name, one in everything.experiments.items()}
    assert levels.pop(MAIN) == [PAPER[place["name"]][0].mean for place in everything.experiments[MAIN]["places"]]
    assert not any(level for each in levels.values() for level in each), "the paper claims nothing with another learner"
    captions = {name: one["said"]["curves"] for name, one in everything.experiments.items()}
    assert {name for name, caption in captions.items() if "the paper's Ours" in caption} == {MAIN}


def test_rows_are_defined(everything: Shown) -> None:
    ours = everything.definition(MAIN, "Ours (paper)")
    assert (ours["demonstrations"], ours["scores"]) == ("all", "trajectory:tracker_input=initial-state, l2, discount 0.9")
    assert ours["weights"] == "exp(−D / 5)"
    direct = everything.definition("mujoco-b", "direct")
    assert (direct["scores"], direct["weights"]) == ("direct", "the square of the score, balanced")
    assert everything.definition(MAIN, "own expert")["demonstrations"] == "own expert's"
    needs = everything.definition("mujoco-b", "GAIL")["needs"]
    assert needs == ["usual starts", "any-state resets", "the simulator as a model"]
    for one in everything.experiments.values():
        assert [line["row"] for line in one["definitions"]] == one["rows"]
        assert "`" not in json.dumps(one), "text, not Markdown"


def test_costs(everything: Shown) -> None:
    projected = everything.experiments["mujoco-b"]
    spent = next(line for line in projected["costs"] if line["row"] == "direct")
    assert (spent["score_steps"], spent["projection_steps"], spent["learner_steps"]) == (500, 20, 1000)
    assert (spent["score_s"], spent["learner_s"], spent["followed"], spent["experts"]) == (3.0, 4.0, 0.9, None)
    cost = everything.experiments["cost"]
    assert cost["costs"][0]["experts"] == 3_919_872, "the expert that two of Swimmer's began from counts once"
    assert cost["said"]["paper"].startswith("Experts: all runs of the four demonstrators")
    assert "70,000,000" in cost["said"]["paper"]


def test_rows_stand_beside_the_usual_ones(tmp_path: Path) -> None:
    names = ("total-steps/swimmer", "long", "mujoco-a/swimmer/gail", "mujoco-a/swimmer/direct", "mujoco-a/walker2d-1/gail")
    keep(tmp_path, cells(*names, terms=Terms(PROTOCOL, seeds=1)), by_row)
    shown = Shown(tmp_path)
    usual = {(one["row"], one["experiment"], one["other"]): one["there"] for one in shown.experiments["total-steps"]["beside"]}
    assert usual["GAIL, plain", "mujoco-a", "direct"]["mean"] == 5000.0
    assert usual["GAIL, projection", "mujoco-b", "direct"] is None
    longer = [(one["row"], one["there"] and one["there"]["mean"]) for one in shown.experiments["long"]["beside"]]
    assert longer == [("GAIL", 10.0), ("Ours", None)]


def test_the_arm_s_trials(tmp_path: Path) -> None:
    values = {"GAIL": -8000.0, "direct": 200.0}
    some = cells("arm/*/gail", "arm/*/direct", terms=Terms(PROTOCOL, seeds=3))
    keep(tmp_path, some, lambda cell: values[cell.row] + cell.seed)
    gail, direct = Shown(tmp_path).experiments["arm"]["trials"]
    assert (gail["success"], direct["success"]) == (0, 1)
    assert gail["p_return"] < 0.001
    assert direct["p_return"] is None


def test_seeds_that_nobody_had_seen_are_told_apart_if_the_protocol_was_changed(tmp_path: Path) -> None:
    terms = Terms(PROTOCOL, seeds=5)
    some = cells(f"{MAIN}/hopper", terms=terms)
    keep(tmp_path, some, lambda cell: -cell.seed if cell.row == "direct" and cell.seed >= UNSEEN else by_row(cell), terms)
    main = Shown(tmp_path).experiments[MAIN]
    ours, direct, published = main["outcomes"]
    assert "above every baseline in 1 of 1 " in ours
    assert ours.endswith(f" Seeds from {UNSEEN} on alone: above in 1 of 1, with p < 0.01 in 1 of 1.")
    assert direct.endswith(f" Seeds from {UNSEEN} on alone: above in 0 of 1, with p < 0.01 in 0 of 1.")
    assert published.endswith(f" Seeds from {UNSEEN} on alone: above in 0 of 1."), "one seed of three is left"
    assert f"seeds from {UNSEEN} on alone are new evidence" in main["said"]["claim"]
    write_record(tmp_path / PROTOCOL_FILE, replace(PROTOCOL, post_hoc=()))
    main = Shown(tmp_path).experiments[MAIN]
    assert not any("Seeds from" in text for text in main["outcomes"])
    assert main["said"]["claim"] == (
        "The claim: above GAIL, SAIL, ID-Feas in every setting. It holds if it holds in the least certain one. Primary rows "
        "were named beforehand. Conclusions hold for these demonstrators."
    )


def test_what_was_changed_post_hoc_is_said(tmp_path: Path) -> None:
    keep(tmp_path, cells(f"{MAIN}/swimmer/gail"), by_row)
    [remark] = Shown(tmp_path).remarks
    assert all(change in remark for change in PROTOCOL.post_hoc)
    write_record(tmp_path / PROTOCOL_FILE, replace(PROTOCOL, post_hoc=()))
    shown = Shown(tmp_path)
    assert shown.remarks == []
    assert any("another protocol" in remark for remark in shown.experiments[MAIN]["remarks"])


# ---------------------------------------------------------------- what is left out, and the command


def test_cells_of_other_terms_are_left_out_and_said(tmp_path: Path) -> None:
    small, other = Terms(PROTOCOL, 2, scale=0.01), Terms(replace(PROTOCOL, steps=PROTOCOL.steps | {"hopper": 500_000}), 2)
    keep(tmp_path, cells(f"{MAIN}/hopper/gail"), by_row)
    others = cells(f"{MAIN}/hopper", terms=other)
    keep(tmp_path, others, by_row, other)
    keep(tmp_path, cells(f"{MAIN}/hopper/sail", terms=small)[:1], by_row, small)
    shown = Shown(tmp_path)
    remark = shown.remarks[0]
    assert remark.startswith(f"{len(others) + 1} of {len(others) + 3} records are left out")
    assert f"{len(others)} of another protocol ({other.protocol.hash})" in remark
    assert "1 of scale 0.01" in remark
    assert shown.provenance["scale"] == "1"
    assert shown.place(MAIN, "hopper")["rows"].keys() == {"GAIL"}
    keep(tmp_path, cells(f"{MAIN}/hopper", terms=small), by_row, small)
    assert Shown(tmp_path).provenance["scale"] == "0.01", "there are more cells of it now"


def test_cells_of_changed_defaults_and_of_no_experiment_are_left_out(tmp_path: Path) -> None:
    [cell] = cells(f"{MAIN}/hopper/direct", terms=Terms(PROTOCOL, 1))
    keep(tmp_path, [cell], by_row)
    older = tmp_path / RECORDS / f"{cell.job.name.rpartition('.')[0]}.000000000000.json"
    write_record(older, record(cell.job, 1.0))
    write_record(older.with_name("x.seed-0.111111111111.json"), record(replace(cell.job, steps=77), 1.0))
    shown = Shown(tmp_path)
    assert "1 from before a default, a demonstrator or a scorer's file was changed" in shown.remarks[0]
    assert "1 of no experiment here" in shown.remarks[0]
    assert shown.place(MAIN, "hopper")["rows"]["direct"]["returns"] == [5000.0]
    assert "direct" not in shown.experiments["demo-return"]["rows"][:2]
    assert "demo-count" not in shown.experiments, "it has no such row"


def test_a_store_of_which_nothing_fits_says_so(tmp_path: Path) -> None:
    [cell] = cells(f"{MAIN}/hopper/gail", terms=Terms(PROTOCOL, 1))
    write_record(tmp_path / "x.seed-0.0.json", record(replace(cell.job, steps=77), 1.0))
    shown = Shown(tmp_path)
    assert shown.experiments == {}
    assert "command" not in shown.provenance
    assert shown.remarks[0].startswith("1 of 1 records are left out")


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize(
    ("names", "methods", "seeds"),
    [
        ((f"{MAIN}/swimmer/gail", f"{MAIN}/*/direct", f"{MAIN}/*/related-only", "limits"), (), 4),
        (("mujoco-b/swimmer/direct", "development/swimmer"), (), 2),
        (("budget/swimmer-20/ours",), ("neighbours:transitions=9000",), 1),
    ],
)
def test_the_command_makes_the_same_cells_again(
    names: tuple[str, ...], methods: tuple[str, ...], seeds: int, scale: float, tmp_path: Path
) -> None:
    terms = Terms(PROTOCOL, seeds, scale)
    some = cells(*names, terms=terms, methods=methods)
    keep(tmp_path, some, by_row, terms)
    verb = Shown(tmp_path).command()
    assert (verb.scale, verb.seeds, verb.out, verb.records) == (scale, seeds, tmp_path, None)
    assert read_protocol(verb.protocol) == PROTOCOL
    again = cells(*verb.experiments, terms=Terms(PROTOCOL, verb.seeds, verb.scale), methods=verb.methods)
    assert {cell.job.name for cell in again} == {cell.job.name for cell in some}


def test_the_command_names_a_folder_of_records(tmp_path: Path) -> None:
    keep(tmp_path, cells(f"{MAIN}/swimmer/gail"), by_row)
    assert Shown(tmp_path / RECORDS).command() == Shown(tmp_path).command()
    folder = (tmp_path / RECORDS).rename(tmp_path / "cells")
    verb, whole = Shown(folder).command(), Shown(folder).command(MAIN)
    assert (verb.records, verb.out, verb.protocol) == (folder, Path("runs"), tmp_path / PROTOCOL_FILE)
    assert verb.experiments == (f"{MAIN}/swimmer/gail",)
    assert (whole.experiments, whole.seeds) == ((MAIN,), 5)


def test_the_command_says_how_many_runs_the_page_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(tmp_path, cells(f"{MAIN}/swimmer/gail"), by_row)
    verb = parse(["report", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert isinstance(verb, Report)
    report.run(verb)
    assert "page.html: 2 runs, " in capsys.readouterr().err
