# SPDX-License-Identifier: MIT
"""Experiments become cells, cells become jobs: equal content is one job, whoever asks for it."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from imitable.errors import BadOption
from imitable.experiments.catalogue import CHEETAH, PAPER, SCORE_STEPS, SWIMMER, Entry, Experiment, at, catalogue
from imitable.experiments.cell_records import CellRecord, read_cells, record_path
from imitable.experiments.cells import Terms, cells_of, chosen, job_of, lacking
from imitable.experiments.code_hash import ABOVE, hash_of
from imitable.experiments.jobs import RunJob, Scoring, WeightRule, slug
from imitable.experiments.protocol import (
    PLAIN,
    PROJECTION,
    Protocol,
    changed_experts,
    default_protocol,
    expert_hashes,
    read_protocol,
)
from imitable.experiments.records import from_json, read_record, to_json, write_record
from imitable.experiments.reproduction import with_methods
from imitable.experiments.rows import (
    DIRECT,
    GAIL,
    GAIL_BALANCED,
    ID_FEAS,
    LABELS,
    OURS,
    OWN_EXPERT,
    SAIL,
    TABLE_A,
    TABLE_B,
    Row,
    scored_by,
    styles,
)
from imitable.experiments.scaling import check_scale, scaled_count, scaled_method
from imitable.experiments.settings import BY_NAME, SETTINGS
from imitable.feasibility.methods import parse_scorer
from imitable.feasibility.methods.trajectory import TrajectoryFmdp
from imitable.feasibility.score import Measuring
from imitable.imitation.methods import parse_learner
from imitable.imitation.methods.sail import Sail
from imitable.policies.shipped import SETS
from tests.unit.small_cells import PROTOCOL, TINY, cells

WHOLE = Terms(PROTOCOL)


def test_rows_have_the_names_of_the_tables() -> None:
    assert [row.name for row in TABLE_A] == [
        "GAIL",
        "SAIL",
        "ID-Feas",
        "Ours (paper)",
        "Ours",
        "direct",
        "related only",
        "own expert",
        "ID-Feas (our weight rule)",
        "GAIL (balanced)",
        "neighbours",
    ]
    assert [row.name for row in TABLE_B] == ["GAIL", "ID-Feas", "Ours", "direct", "related only", "own expert"]
    assert {row.learner for row in TABLE_B} == {PROJECTION}


@pytest.mark.parametrize("experiment", catalogue(), ids=lambda one: one.name)
def test_paths_tell_the_entries_of_an_experiment_apart(experiment: Experiment) -> None:
    paths = [(slug(entry.where.name), slug(entry.row.name)) for entry in experiment.entries]
    assert len(set(paths)) == len(paths)
    assert all("/" not in part for path in paths for part in path)


def test_every_method_of_the_catalogue_can_be_made() -> None:
    for experiment in catalogue():
        for entry in experiment.entries:
            job = job_of(entry, 0, WHOLE)
            assert job.steps >= parse_learner(job.learner).least_steps
            if job.scores is not None:
                parse_scorer(job.scores.scoring.method)


def test_cells_of_equal_content_are_one_job() -> None:
    main, swept, parts = (
        cells(name, terms=WHOLE)[0].job for name in ("mujoco-a/hopper/direct", "cost/hopper/direct", "weighting/hopper/direct")
    )
    assert main == swept == parts
    unrelated, half = cells("unrelated-count/hopper-500/ours", terms=WHOLE), cells("demo-count/hopper-100/ours", terms=WHOLE)
    assert (
        {cell.job.name for cell in unrelated}
        == {cell.job.name for cell in half}
        <= {cell.job.name for cell in cells("mujoco-a/hopper/ours", terms=WHOLE)}
    )


def test_names_differ_where_content_does() -> None:
    jobs = {cell.job for cell in cells_of(catalogue(), WHOLE)}
    assert len({job.name for job in jobs}) == len(jobs) > 500
    assert len({job.scores.name for job in jobs if job.scores}) == len({job.scores for job in jobs if job.scores})


def test_another_demonstrator_is_another_job(two_hoppers: Path) -> None:
    place = at(replace(CHEETAH, name="hopper", imitator="hopper:gravity=15", demonstrators=("hopper",) * 4))
    plain, own = (
        job_of(Entry(replace(place, setting=replace(place.setting, name=name)), GAIL), 0, TINY) for name in ("none", "hopper")
    )
    renamed = replace(own, demos=replace(own.demos, recordings=tuple(replace(r, setting="none") for r in own.demos.recordings)))
    assert plain.hash == renamed.hash != own.hash


def test_a_job_survives_its_record() -> None:
    for cell in cells("mujoco/swimmer", "budget/swimmer-20", terms=WHOLE):
        again = from_json(RunJob, json.loads(json.dumps(to_json(cell.job))))
        assert again == cell.job
        assert again.name == cell.job.name


def test_measures_that_do_not_depend_on_the_set_are_taken_from_the_whole_composition() -> None:
    job = job_of(Entry(replace(at(SWIMMER), counts=(50, 50, 100, 100)), DIRECT), 0, WHOLE)
    [whole] = [cell.job for cell in cells("mujoco-a/swimmer/direct", terms=Terms(PROTOCOL, 1))]
    assert job.scores == whole.scores
    assert job.demos != whole.demos
    learned = job_of(Entry(replace(at(SWIMMER), counts=(50, 50, 100, 100)), OURS), 0, WHOLE)
    assert learned.scores is not None
    assert learned.scores.demos == learned.demos, "a tracker learns from what the row has, and nothing else"


def test_seeds_are_outermost_and_claims_have_more() -> None:
    some = cells("mujoco-a/hopper", "development/hopper", terms=Terms(PROTOCOL, 5))
    ranks = [cell.seed % 100 for cell in some]
    assert ranks == sorted(ranks)
    count = Counter(cell.row for cell in some if cell.experiment == "mujoco-a")
    assert {count[row] for row in ("GAIL", "SAIL", "ID-Feas", "Ours", "direct")} == {5}
    assert {count[row.name] for row in TABLE_A if row.name not in ("GAIL", "SAIL", "ID-Feas", "Ours", "direct")} == {3}
    assert {cell.seed for cell in some if cell.experiment == "development"} == {100, 101, 102}
    assert all(cell.job.seed == cell.seed == recording.seed for cell in some for recording in cell.job.demos.recordings)
    few = Counter(cell.row for cell in cells("mujoco-a/hopper", terms=Terms(PROTOCOL, 3)))
    assert (few["Ours"], few["neighbours"]) == (3, 1)
    assert {cell.seed for cell in cells("long", terms=WHOLE)} == {0}


def test_a_path_names_experiments_settings_and_rows() -> None:
    assert {(cell.experiment, cell.row) for cell in cells("mujoco/swimmer/ours")} == {
        ("mujoco-a", "Ours"),
        ("mujoco-b", "Ours"),
    }
    assert {cell.path for cell in cells("MuJoCo-A/Swimmer/Ours (paper)")} == {"mujoco-a/swimmer/ours-paper"}
    assert {cell.where for cell in cells("mujoco-a/*/gail")} == {setting.name for setting in SETTINGS}
    assert {cell.experiment for cell in cells("all")} == {experiment.name for experiment in PAPER}


@pytest.mark.parametrize("name", ["mujocco", "mujoco/swimer", "mujoco/swimmer/our", "a/b/c/d", "mujoco//ours", ""])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(BadOption):
        chosen(catalogue(), [name])


def test_whose_demonstrations() -> None:
    def bodies(row: Row) -> list[str]:
        return [recording.body for recording in job_of(Entry(at(SWIMMER), row), 0, WHOLE).demos.recordings]

    by_name = {row.name: row for row in TABLE_A}
    assert bodies(GAIL) == list(SWIMMER.demonstrators)
    assert bodies(by_name["related only"]) == list(SWIMMER.demonstrators[:2])
    assert bodies(by_name["own expert"]) == [SWIMMER.imitator]
    assert bodies(replace(GAIL, whose="swimmer:back=20")) == ["swimmer:back=20"]
    assert bodies(replace(GAIL, whose="none of them")) == []


def test_learners_come_from_the_protocol() -> None:
    protocol = replace(PROTOCOL, learners={PLAIN: "gaifo:penalty=3", PROJECTION: "gaifo:penalty=4"})

    def learner(text: str) -> str:
        return job_of(Entry(at(SWIMMER), replace(GAIL, learner=text)), 0, Terms(protocol)).learner

    assert learner(PLAIN) == "gaifo:penalty=3.0"
    assert learner(PROJECTION) == "gaifo:penalty=4.0"
    assert learner("plain:weighting=loss") == "gaifo:weighting=loss,penalty=3.0"
    assert learner("sail") == "sail"


def test_weights_are_those_of_the_row_or_of_the_protocol() -> None:
    protocol = replace(PROTOCOL, rule=replace(PROTOCOL.rule, balance="demonstrator"))
    rows = {row.name: job_of(Entry(at(SWIMMER), row), 0, Terms(protocol)).rule for row in TABLE_A}
    assert rows["direct"] == rows["Ours"] == rows["neighbours"] == protocol.rule
    assert rows["ID-Feas (our weight rule)"] == replace(protocol.rule, scored_as="share")
    assert rows["ID-Feas"].balance == rows["Ours (paper)"].balance == rows["GAIL"].balance == "none"
    assert rows["Ours (paper)"].temperature == "paper"
    assert rows[GAIL_BALANCED.name].balance == "demonstrator"


def test_what_cannot_be_run_says_why() -> None:
    bare = replace(PROTOCOL, learners={PLAIN: "gaifo"})
    assert "projection" in str(lacking(Entry(at(SWIMMER), TABLE_B[0]), bare))
    assert lacking(Entry(at(SWIMMER), TABLE_B[0]), PROTOCOL) is None
    assert "set b" in str(lacking(Entry(replace(at(CHEETAH), policies="b"), GAIL), PROTOCOL))
    assert not cells_of(chosen(catalogue(), ["mujoco-b"]), Terms(bare))


def test_a_scale_shrinks_everything_and_leaves_nothing_out() -> None:
    job = job_of(Entry(at(CHEETAH), OURS), 0, Terms(PROTOCOL, scale=0.1))
    assert [recording.count for recording in job.demos.recordings] == [2, 2, 50, 50]
    assert (job.steps, job.episodes) == (100_000, (10, 2))
    assert job.scores is not None
    assert job.scores.scoring.method == "trajectory:steps=50000"
    assert scaled_count(0, 0.5) == 0
    assert scaled_count(1, 1e-9) == 1
    assert scaled_method(TrajectoryFmdp(), 1e-9).steps > 1, "never below what the setting allows"
    sail = scaled_method(Sail(), 0.5)
    assert (sail.goal_steps, sail.babbled, sail.length) == (2000, 25_000, Sail().length)
    assert scaled_method(Sail(), 1) == Sail()
    for wrong in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(BadOption):
            check_scale(wrong)


def test_a_budget_is_spent_uniformly_or_by_score() -> None:
    jobs = {cell.row: cell.job for cell in cells("budget/swimmer-20", terms=Terms(PROTOCOL, 1))}
    assert [one.count for one in jobs["GAIL"].demos.recordings] == [6, 6, 6, 6]
    assert jobs["Ours-Uniform"].demos == jobs["GAIL"].demos == jobs["SAIL"].demos
    acquisition = jobs["Ours"].demos.acquisition
    assert acquisition is not None
    assert acquisition.budget == 20
    assert [one.count for one in jobs["Ours"].demos.recordings] == [21, 21, 21, 21], "any of them may be asked every time"


def test_the_protocol_survives_its_file_and_says_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "protocol.json"
    assert read_protocol(path) == default_protocol()
    write_record(path, PROTOCOL, indent=1)
    assert read_protocol(path) == PROTOCOL
    assert not PROTOCOL.changes(PROTOCOL)
    other = replace(PROTOCOL, steps=PROTOCOL.steps | {"hopper": 5}, seeds=replace(PROTOCOL.seeds, paper=(7,)))
    assert other.changes(PROTOCOL) == ["steps of hopper: 5, was 1000000", "seeds of paper: [7], was [0, 1, 2, 3, 4]"]
    assert other.hash != PROTOCOL.hash


def test_the_protocol_knows_its_demonstrators(two_hoppers: Path) -> None:
    fixed = replace(PROTOCOL, experts=expert_hashes())
    assert not changed_experts(fixed)
    shutil.copy(two_hoppers / "hopper-gravity=5.safetensors", two_hoppers / "hopper@hopper.safetensors")
    [line] = changed_experts(fixed)
    assert line.startswith("experts of hopper@hopper: ")
    assert isinstance(fixed, Protocol)


def test_the_code_hash_is_that_of_what_computes(tmp_path: Path) -> None:
    package = tmp_path / "package"
    for name in ("rl/ppo.py", "experiments/cells.py", "cli/main.py", "__init__.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("x = 1\n")
    before = hash_of(package)
    for name in ("experiments/cells.py", "cli/main.py", "__init__.py"):
        (package / name).write_text("x = 2\n")
    (package / "rl" / "notes.txt").write_text("no code")
    (package / "rl" / "ppo.py").write_bytes(b"x = 1\r\n")
    assert hash_of(package) == before
    (package / "experiments" / "store.py").write_text("x = 1\n")
    assert hash_of(package) != before, "it makes weights"
    before = hash_of(package)
    (package / "rl" / "ppo.py").rename(package / "rl" / "trpo.py")
    assert hash_of(package) != before
    assert "rl" not in ABOVE


def test_a_scorer_of_the_user_s_is_a_row() -> None:
    job = job_of(Entry(at(SWIMMER), scored_by("direct:window_s=0.2", DIRECT)), 0, WHOLE)
    assert job.scores is not None
    assert job.scores.scoring.method == "direct:window_s=0.2"
    assert job.rule == PROTOCOL.rule
    with pytest.raises(BadOption):
        job_of(Entry(at(SWIMMER), scored_by("derict", DIRECT)), 0, WHOLE)


def test_a_scorer_of_the_user_s_rolls_a_noisy_body_out_as_often_as_the_rows_beside_it() -> None:
    often = replace(OURS, scoring=Scoring("trajectory", Measuring(distance="l2", rollouts=7)))
    assert scored_by("direct", often).scoring == Scoring("direct", Measuring(rollouts=7))
    assert scored_by("direct", GAIL).scoring == Scoring("direct")


def test_rows_state_their_access() -> None:
    balanced, plain = WeightRule(balance="demonstrator"), WeightRule()
    assert set(TABLE_B[0].needs(balanced)) > set(GAIL.needs(balanced)) == set(SAIL.needs(balanced))
    for row in TABLE_A:
        labels = LABELS in row.needs(balanced)
        assert labels == (LABELS in row.access or row.weighed_by(balanced).balance == "demonstrator")
    assert LABELS in DIRECT.needs(balanced)
    assert LABELS not in DIRECT.needs(plain)
    assert LABELS in GAIL_BALANCED.needs(plain)
    assert LABELS not in ID_FEAS.needs(balanced), "as published, it knows no demonstrator"


def test_an_expert_that_two_settings_share_is_imitated_once() -> None:
    shared = [job_of(Entry(at(BY_NAME[name]), OWN_EXPERT), 0, WHOLE) for name in ("half_cheetah-1", "half_cheetah-2")]
    assert shared[0] == shared[1]
    apart = [job_of(Entry(at(BY_NAME[name]), OWN_EXPERT), 0, WHOLE) for name in ("walker2d-1", "walker2d-2")]
    assert apart[0] != apart[1]


def test_the_protocol_of_the_records_is_that_of_this_version() -> None:
    assert read_protocol(Path(__file__).parents[2] / "results" / "protocol.json") == default_protocol()


def test_a_row_looks_the_same_in_every_figure() -> None:
    main, compared = styles([row.name for row in TABLE_A]), styles(["GAIL", "SAIL", "DCC", "ID-Feas", "Ours"])
    assert len(set(main.values())) == len(TABLE_A)
    assert all(compared[row] == main[row] for row in compared if row in main)
    assert len(set(compared.values())) == len(compared), "and no two rows look alike"


@pytest.mark.parametrize("folder", ["cells", "first_protocol", "development"])
def test_records_stand_under_the_names_that_their_jobs_have(folder: str) -> None:
    """Otherwise they are not found, and hours of work are done again: whoever changes a default moves them on purpose."""
    records = Path(__file__).parents[2] / "results" / folder
    found = [path for path in records.glob("*.json") if path.name != "protocol.json"]
    assert found
    for path in found:
        assert record_path(records, read_record(CellRecord, path).job) == path


def test_the_steps_of_scores_that_are_given_to_others_are_not_too_few() -> None:
    records = read_cells(Path(__file__).parents[2] / "results" / "cells")
    by_imitator = {(setting.imitator, setting.counts): setting.name for setting in SETTINGS}
    compared = 0
    for record in records:
        place = by_imitator.get((record.job.imitator, tuple(one.count for one in record.job.demos.recordings)))
        usual = {one.policies for one in record.job.demos.recordings} == {SETS[0]}  # as those have that are given these steps
        if place and usual and record.job.scores and record.job.scores.scoring == DIRECT.scoring:
            assert record.spent.score_steps <= SCORE_STEPS[place], place
            compared += 1
    assert compared >= 24


def test_scorers_of_users_are_rows_like_those_beside_them() -> None:
    experiments = with_methods(chosen(catalogue(), ["all"]), ["direct:windows=3", "direct"])
    added = {one.name: [entry for entry in one.entries if entry.row.name == "direct:windows=3"] for one in experiments}
    assert {entry.row.learner for entry in added["mujoco-a"]} == {PLAIN}
    assert {entry.row.learner for entry in added["mujoco-b"]} == {PROJECTION}
    assert all(entry.row.acquires for entry in added["budget"])
    assert {(entry.row.learner, entry.row.steps) for entry in added["arm"]} == {("state-vae", 0)}
    assert cells_of(experiments, Terms(default_protocol(), 1)), "all of them can be made"
    for one in experiments:
        rows = Counter((entry.where, entry.row.name) for entry in one.entries)
        assert set(rows.values()) == {1}, "a row that is there is not added"
