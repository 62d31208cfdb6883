# SPDX-License-Identifier: MIT
"""Cells are made once, whatever stops them in between, by the real parts at a tiny scale."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from imitable.cli import reproduce as cli_reproduce
from imitable.cli.experiment_verbs import Reproduce
from imitable.cli.main import parse
from imitable.cli.reproduce import run
from imitable.errors import BadOption, BadRecord, CellsFailed, ImitableError
from imitable.experiments import costs, jobs, work
from imitable.experiments.cases import Recording
from imitable.experiments.catalogue import CHEETAH, Entry, at, catalogue
from imitable.experiments.cell_records import CellRecord, read_cell
from imitable.experiments.cells import Cell, Terms, cells_of, chosen, job_of
from imitable.experiments.demonstrations import record_demonstrations
from imitable.experiments.estimates import FIRST_GOAL, core_hours, seconds
from imitable.experiments.executors import FAILED, Failure, Here, Local, Made, Queue
from imitable.experiments.protocol import PLAIN
from imitable.experiments.records import read_record, write_record
from imitable.experiments.reproduction import PROTOCOL_FILE, protocol_changes, records_of, standing, workshop_at
from imitable.experiments.rows import GAIL, GAIL_BALANCED, ID_FEAS
from imitable.experiments.store import Store
from imitable.experiments.work import POINTS, Piece, learning_curve, make, masses_of, pieces_of
from imitable.feasibility.methods import parse_scorer
from imitable.files import locked
from imitable.imitation.methods import parse_learner
from imitable.imitation.run_folder import RunFolder
from imitable.report.content import content
from tests.unit.small_cells import PROTOCOL, TINY, cells, made, workshop

ROOT = Path(__file__).parents[2]
NAMES = ("mujoco-a/half_cheetah-1/gail", "mujoco-a/half_cheetah-1/id-feas", "cost/half_cheetah-1/id-feas")


def results(some: Sequence[Cell], folder: Path) -> list[CellRecord]:
    found = records_of(some, workshop(folder).records)
    assert all(record is not None for record in found)
    return [record for record in found if record is not None]


def bits(some: Sequence[Cell], folder: Path) -> list[tuple[object, ...]]:
    """What must be the same to the last bit."""
    return [(one.provenance.policy, one.mean_actions, one.sampled_actions, one.curve) for one in results(some, folder)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which some cells were made without a break."""
    folder = tmp_path_factory.mktemp("whole")
    assert not [one for one in made(cells(*NAMES), folder) if one.failure]
    return folder


def test_shared_pieces_are_made_once(whole: Path) -> None:
    assert len(list((whole / "demos").iterdir())) == 4
    assert len(list((whole / "scores").glob("*.parquet"))) == 2, "scores and their steps"
    assert len(list((whole / "runs").glob("*/evaluation.json"))) == 2
    assert len(list((whole / "records").iterdir())) == 2
    assert made(cells(*NAMES), whole) == []


def test_the_report_shows_the_tables_of_a_store(whole: Path, tmp_path: Path) -> None:
    for path in (whole, whole / "records"):
        [shown] = content([path], explain=0)["reproductions"]
        assert {"mujoco-a", "cost"} <= {one["name"] for one in shown["experiments"]}
        main = next(one for one in shown["experiments"] if one["name"] == "mujoco-a")
        [place] = [one for one in main["places"] if one["rows"]]
        gail, feas = results(cells(*NAMES[:2]), whole)
        assert place["name"] == "half_cheetah-1"
        assert place["rows"].keys() == {"GAIL", "ID-Feas"}
        assert place["rows"]["GAIL"]["mean"] == gail.mean_actions.mean
        assert place["rows"]["ID-Feas"]["seeds"] == [feas.job.seed]
        assert main["missing"] == main["cells"] - 2
        assert dict(shown["provenance"])["scale"] == "0.0001"
        words = f"--seeds 1 --scale 0.0001 --protocol {whole / PROTOCOL_FILE} --out {whole}"
        assert dict(shown["provenance"])["command"] == f"imitable reproduce {NAMES[0]} {NAMES[1]} {words}"
    (tmp_path / PROTOCOL_FILE).write_bytes((whole / PROTOCOL_FILE).read_bytes())
    with pytest.raises(BadOption, match="name the folder of its --records"):
        content([tmp_path], explain=0)


def test_a_row_with_projection_says_what_it_took(tmp_path: Path) -> None:
    some = cells("mujoco-b/half_cheetah-1/gail")
    assert not [one for one in made(some, tmp_path) if one.failure]
    [record] = results(some, tmp_path)
    projection = RunFolder(workshop(tmp_path).store.run(record.job)).evaluation.projection
    assert projection is not None
    assert record.spent.projection_steps == projection.steps > 0 < record.spent.learner_steps
    assert (record.spent.pieces_kept, record.spent.pieces_dropped) == (projection.kept, projection.dropped)
    assert record.spent.steps <= record.job.steps, "a run's steps are all that it simulates"


def test_a_projection_is_made_once_for_all_that_learn_from_it(tmp_path: Path) -> None:
    [usual] = cells("mujoco-b/half_cheetah-1/gail")
    longer = replace(usual, job=replace(usual.job, steps=usual.job.steps + 512))
    together, alone = tmp_path / "together", tmp_path / "alone"
    assert not [one for one in (*made([usual, longer], together), *made([longer], alone)) if one.failure]
    [first], [second] = results([usual], together), results([longer], together)
    assert first.spent.projection_steps == second.spent.projection_steps > 0
    assert second.spent.learner_steps > first.spent.learner_steps
    assert len(list((together / "projections").glob("*/*.safetensors"))) == 1
    assert bits([longer], together) == bits([longer], alone)


def test_a_record_says_what_came_out_and_what_it_took(whole: Path) -> None:
    gail, feas, again = results(cells(*NAMES), whole)
    assert feas == again
    assert gail.spent.score_steps == 0 < feas.spent.score_steps
    assert gail.spent.learner_steps == feas.spent.learner_steps == gail.job.steps
    assert gail.spent.steps == gail.job.steps
    assert sum(feas.masses.values()) == pytest.approx(1, abs=1e-5)
    assert set(gail.masses.values()) == {0.25}
    folder = RunFolder(workshop(whole).store.run(gail.job))
    assert folder.evaluation.best is None
    assert folder.evaluation.last.mean_actions.returns == (gail.mean_actions.mean,)
    assert gail.provenance.policy == folder.policy.hash[:16]
    assert gail.demonstrations == 4


def test_what_was_lost_is_made_again_to_the_same_bits(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole, tmp_path / "copy")
    shutil.rmtree(folder / "records")
    shutil.rmtree(next((folder / "demos").iterdir()))
    for path in (folder / "runs").glob("*gaifo.unweighted*/*.json*"):
        if path.name != "setting.json":
            path.unlink()
    for path in (folder / "scores").glob("*.parquet"):
        path.unlink()
    assert not [one for one in made(cells(*NAMES), folder) if one.failure]
    assert bits(cells(*NAMES), folder) == bits(cells(*NAMES), whole)


def test_processes_make_the_same_bits(whole: Path, tmp_path: Path) -> None:
    assert not [one for one in made(cells(*NAMES), tmp_path / "local", Local(2)) if one.failure]
    assert bits(cells(*NAMES), tmp_path / "local") == bits(cells(*NAMES), whole)


def wait_for_the_end_of(group: int) -> None:
    """Wait until no process of a killed group is left, for twenty seconds at most."""
    for _ in range(2000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


@pytest.mark.parametrize("blocks", [2, 40], ids=["from the beginning", "at the first large file"])
def test_a_full_disk_is_said_and_the_command_goes_on_to_the_same_bits(whole: Path, tmp_path: Path, blocks: int) -> None:
    """The system itself refuses to write any further: here by a limit on the size of files, in blocks of 512 bytes."""
    write_record(tmp_path / "protocol.json", PROTOCOL)
    words = ["reproduce", *NAMES, "--seeds", "1", "--scale", "1e-4", "--workers", "1", "--protocol", "protocol.json"]
    command = shlex.join([sys.executable, "-m", "imitable", *words, "--out", "full"])
    done = subprocess.run(["sh", "-c", f"ulimit -f {blocks}; exec {command}"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not [one for one in made(cells(*NAMES), tmp_path / "full") if one.failure]
    assert bits(cells(*NAMES), tmp_path / "full") == bits(cells(*NAMES), whole)


def test_a_killed_command_goes_on_to_the_same_bits(whole: Path, tmp_path: Path) -> None:
    write_record(tmp_path / "protocol.json", PROTOCOL)
    words = ["reproduce", *NAMES, "--seeds", "1", "--scale", "1e-4", "--workers", "1", "--protocol", "protocol.json"]
    command = [sys.executable, "-m", "imitable", *words, "--out", "killed"]
    silent = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **silent)
    while process.poll() is None and not list((tmp_path / "killed").glob("records/*.json")):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)  # its workers, too: one that lives on would still hold the lock of its piece
    assert process.wait() == -signal.SIGKILL, "it was under way"
    wait_for_the_end_of(process.pid)
    assert not [one for one in made(cells(*NAMES), tmp_path / "killed") if one.failure]
    assert bits(cells(*NAMES), tmp_path / "killed") == bits(cells(*NAMES), whole)


def test_an_interrupted_command_says_how_to_go_on(tmp_path: Path) -> None:
    words = [*NAMES, "--seeds", "1", "--scale", "1e-4", "--workers", "1", "--out", "stopped"]
    command = [sys.executable, "-m", "imitable", "reproduce", *words]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    while process.poll() is None and not list((tmp_path / "stopped").glob("demos/*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "kept in stopped: the same command goes on" in said


def test_one_cell_that_fails_leaves_the_others_alone(tmp_path: Path) -> None:
    """Where scores count, a learner that they leave no step cannot be run."""
    protocol = replace(PROTOCOL, scores_count=(PLAIN,))
    some = cells(*NAMES, terms=replace(TINY, protocol=protocol))
    ended = made(some, tmp_path)
    [failed] = [one for one in ended if one.failure]
    assert failed.failure is not None
    assert "the scores alone take" in failed.failure.reason
    assert not failed.failure.fault
    assert read_cell(tmp_path / "records", some[0].job) is not None
    assert read_cell(tmp_path / "records", some[1].job) is None
    plenty = replace(protocol, steps=protocol.steps | {"half_cheetah": 10**12})
    job = job_of(Entry(at(CHEETAH), ID_FEAS), 0, Terms(plenty, 1, 1e-4))
    assert job.scores_count
    assert not job_of(Entry(at(CHEETAH), GAIL), 0, Terms(plenty, 1, 1e-4)).scores_count


def test_a_fault_of_one_piece_leaves_the_others_alone_and_its_traceback_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("a scorer of yours")

    monkeypatch.setattr(work, "make_scores", broken)
    some = cells(*NAMES)
    failed = [one for one in made(some, tmp_path) if one.failure]
    assert [one.piece.key.split("/")[0] for one in failed] == ["scores", "runs"]
    assert all(one.failure and one.failure.fault for one in failed)
    assert failed[0].failure is not None
    assert "ValueError: a scorer of yours" in failed[0].failure.reason
    assert "in broken" in (tmp_path / FAILED / f"{failed[0].piece.key}.txt").read_text()
    assert read_cell(tmp_path / "records", some[0].job) is not None
    assert CellsFailed(2, "a", "b", fault=True).exit_code == 1
    assert CellsFailed(2, "a", "b").exit_code == 2


def test_who_makes_the_same_piece_is_waited_for(tmp_path: Path) -> None:
    shop = workshop(tmp_path)
    first = pieces_of([cells(NAMES[0])[0].job], shop)[0]
    path = shop.store.path / first.key
    with ThreadPoolExecutor(1) as pool:
        with locked(path.with_name(f"{path.name}.piece")):
            waiting = pool.submit(make, first, shop)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.2)
            assert isinstance(first.job, Recording)
            record_demonstrations(shop.store.path, first.job)  # as the other does
            made_at = path.stat().st_mtime_ns
        waiting.result()
    assert path.stat().st_mtime_ns == made_at, "it was not made again"


def test_costs_add_up_over_sessions_and_name_all_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, clock = tmp_path / "cost.json", iter([10.0, 12.0, 20.0, 23.5, 30.0, 30.5, 40.0, 41.0])
    monkeypatch.setattr(costs.time, "process_time", lambda: next(clock))
    for code in ("one", "two", "one"):
        monkeypatch.setattr(costs, "code_hash", lambda code=code: code)
        with suppress(KeyboardInterrupt), costs.counted(path):
            raise KeyboardInterrupt
    assert costs.read_cost(path) == costs.Cost(6.0, "one+two")
    with costs.counted(tmp_path / "never begun" / "cost.json"):
        pass
    assert costs.read_cost(tmp_path / "never begun" / "cost.json") == costs.Cost()


def test_a_changed_default_makes_another_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of a job do not show it, so that its name must."""

    def names() -> list[str]:
        jobs.learner_hash.cache_clear()
        jobs.scorer_hash.cache_clear()
        return [cell.job.name for cell in cells("mujoco-a/hopper/gail", "mujoco-a/hopper/direct")]

    before = names()
    monkeypatch.setattr(jobs, "SHARPER", 1.0)
    assert [one == other for one, other in zip(before, names(), strict=True)] == [True, False]
    monkeypatch.undo()
    assert names() == before
    monkeypatch.setattr(jobs, "parse_scorer", lambda text: replace(parse_scorer(text), restart_budget=7))
    assert [one == other for one, other in zip(before, names(), strict=True)] == [True, False]
    monkeypatch.undo()
    monkeypatch.setattr(jobs, "parse_learner", lambda text: replace(parse_learner(text), averaged=0.5))
    assert not set(before) & set(names())
    monkeypatch.undo()
    names()


def piece(key: str, *needs: str) -> Piece:
    return Piece(key, needs, Recording(key, 1))


def test_pieces_wait_for_what_they_need_and_fail_with_it() -> None:
    a, b, c, d, e = piece("a"), piece("b", "a", "there"), piece("c", "b"), piece("d", "a"), piece("e")
    queue = Queue([b, a, c, d, e])
    assert queue.next_ready() == a
    assert queue.next_ready() == e
    assert queue.next_ready() is None
    assert queue.note(Made(a)) == [Made(a)]
    assert queue.next_ready() == b
    no = Failure("no")
    assert queue.note(Made(b, no)) == [Made(b, no), Made(c, no)]
    assert queue.next_ready() == d
    assert queue.next_ready() is None


def test_the_order_of_work_is_that_of_the_seeds(tmp_path: Path) -> None:
    some = cells("mujoco-a/hopper", terms=Terms(PROTOCOL, 5))
    order = [one.job.seed for one in pieces_of([cell.job for cell in some], workshop(tmp_path))]
    assert order == sorted(order)
    keys = [one.key for one in pieces_of([cell.job for cell in some], workshop(tmp_path))]
    assert len(set(keys)) == len(keys)


def test_demonstrators_may_weigh_the_same_without_scores(whole: Path) -> None:
    place = replace(at(CHEETAH), counts=(1, 1, 3, 0))
    job = job_of(Entry(place, GAIL_BALANCED), 0, Terms(PROTOCOL))
    store = Store(whole)
    made([Cell("x", "y", "z", 0, replace(job, steps=128, episodes=(1, 1)))], whole)
    demos = store.read(job.demos, job.imitator, 0)
    weights = store.weights(job, demos)
    assert weights is not None
    assert list(masses_of(demos, weights).values()) == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert list(masses_of(demos, None).values()) == pytest.approx([0.2, 0.2, 0.6], abs=1e-6)


def test_demonstrations_are_asked_for_by_score(tmp_path: Path) -> None:
    """One of each, then as many draws as the budget has, the same for every run of a seed."""
    terms = replace(TINY, scale=0.15)
    [job] = [cell.job for cell in cells("budget/swimmer-20/id-feas", terms=terms)]
    assert job.demos.acquisition is not None
    assert job.demos.acquisition.budget == 3
    small = replace(job.demos.acquisition.scoring, method="inverse-dynamics:transitions=400,passes=1,calibration=2")
    demos = replace(job.demos, acquisition=replace(job.demos.acquisition, scoring=small))
    assert job.scores is not None
    job = replace(job, steps=128, episodes=(1, 1), demos=demos, scores=replace(job.scores, demos=demos, scoring=small))
    assert not [one for one in made([Cell("x", "y", "z", 0, job)], tmp_path) if one.failure]
    store = Store(tmp_path)
    asked = store.asked_for(demos, job.imitator, job.seed)
    assert sum(asked.values()) == 3
    names = [episode.demonstrator for episode in store.read(demos, job.imitator, job.seed).episodes]
    assert {body: names.count(body) - 1 for body in names} == asked
    record = read_cell(tmp_path / "records", job)
    assert record is not None
    assert record.demonstrations == 7


def test_a_curve_has_few_points_and_the_last_one() -> None:
    rows = [{"steps": float(k), "mean_return": None if k < 3 else 2.0 * k} for k in range(1234)]
    curve = learning_curve(rows)
    assert len(curve) <= POINTS
    assert curve[-1] == (1233, 2466.0)
    assert len(np.unique(np.diff([steps for steps, _ in curve]))) == 1


def test_a_changed_protocol_is_said_for_ever(whole: Path, tmp_path: Path) -> None:
    assert protocol_changes(PROTOCOL, tmp_path) == []
    assert protocol_changes(PROTOCOL, whole) == []
    other = replace(PROTOCOL, steps=PROTOCOL.steps | {"hopper": 7})
    assert protocol_changes(other, whole) == ["steps of hopper: 7, was 1000000"]
    assert json.loads((whole / PROTOCOL_FILE).read_text())["steps"]["hopper"] == 1_000_000


def test_hours_are_counted_once_and_fall_with_what_is_done(whole: Path, tmp_path: Path) -> None:
    some = cells(*NAMES)
    empty = [one.job for one in pieces_of([cell.job for cell in some], workshop(tmp_path))]
    assert core_hours(empty) == pytest.approx(sum(map(seconds, empty)) / 3600)
    assert len(empty) == 4 + 1 + 2
    assert not pieces_of([cell.job for cell in some], workshop(whole))


def asked(*words: str) -> Reproduce:
    verb = parse(["reproduce", *words])
    assert isinstance(verb, Reproduce)
    return verb


def test_alone_it_lists_every_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(asked("--json"))
    said = json.loads(capsys.readouterr().out)
    by_name = {one["experiment"]: one for one in said["experiments"]}
    assert by_name["mujoco-a"]["cells"] == 6 * (5 * 5 + 6 * 3)
    assert by_name["mujoco-b"]["cells"] == 6 * (4 * 5 + 2 * 3)
    assert by_name["mujoco-b"]["lacking"] == ""
    assert said["first_goal"]["seeds"] == FIRST_GOAL
    assert 0 < said["first_goal"]["core_hours_left"] < said["core_hours_left"]
    assert 0 < said["core_hours_left"] < sum(one["core_hours"] for one in by_name.values()), "shared work is counted once"
    assert list(tmp_path.iterdir()) == []


def test_a_goal_that_is_reached_is_still_a_goal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    run(asked("--json", "--records", "results/cells"))
    goal = json.loads(capsys.readouterr().out)["first_goal"]
    assert (goal["seeds"], goal["core_hours_left"]) == (FIRST_GOAL, 0), "this project's own records have it whole"


def test_a_dry_run_says_what_is_done_and_runs_nothing(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(tmp_path / "protocol.json", PROTOCOL)
    words = ("--seeds", "1", "--scale", "1e-4", "--protocol", str(tmp_path / "protocol.json"), "--out", str(whole))
    before = sorted(whole.rglob("*"))
    run(asked("mujoco-a/half_cheetah-1/id-feas", "mujoco-a/half_cheetah-1/sail", *words, "--dry-run", "--json"))
    said = json.loads(capsys.readouterr().out)
    assert [(one["path"], one["done"]) for one in said["cells"]] == [
        ("mujoco-a/half_cheetah-1/sail", False),
        ("mujoco-a/half_cheetah-1/id-feas", True),
    ]
    assert sorted(whole.rglob("*")) == before
    run(asked(*NAMES, *words))
    shown = capsys.readouterr()
    assert "mujoco-a/half_cheetah-1/id-feas" in shown.out
    assert "0 pieces of work are left" in shown.err


def test_a_scorer_of_the_user_s_is_a_further_row(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_record(tmp_path / "protocol.json", PROTOCOL)
    words = ("--seeds", "1", "--scale", "1e-4", "--protocol", str(tmp_path / "protocol.json"), "--out", str(whole), "--dry-run")
    run(asked(NAMES[0], *words, "--methods", "neighbours:transitions=500", "direct", "--json"))
    paths = [one["path"] for one in json.loads(capsys.readouterr().out)["cells"]]
    prefix = "mujoco-a/half_cheetah-1/"
    assert paths == [NAMES[0], f"{prefix}neighbours-transitions=500", f"{prefix}direct"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["mujoco/swimer"], "swimmer"),
        (["mujoco", "--scale", "2"], "--scale"),
        (["mujoco", "--seeds", "0"], "--seeds"),
        (["mujoco", "--workers", "-1"], "--workers"),
        (["mujoco", "--protocol", "none.json"], "none.json"),
        (["mujoco", "--methods", "derict"], "derict"),
        (["development", "--learners", "gaif"], "gaif"),
        (["mujoco", "--address", "auto"], "--executor ray"),
        (["mujoco", "--dry-run", "--address", "auto"], "--executor ray"),
    ],
)
def test_bad_input_is_refused_and_leaves_nothing(
    words: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImitableError, match=named):
        run(asked(*words, "--out", "runs"))
    assert list(tmp_path.iterdir()) == []


def test_standing_counts_cells(whole: Path) -> None:
    [cost] = chosen(catalogue(), ["cost"])
    some, workshop = cells_of([cost], TINY), workshop_at(whole, None, TINY)
    stand = standing(cost, list(zip(some, records_of(some, workshop.records), strict=True)), TINY, workshop)
    assert (stand.cells, stand.done) == (24, 1)


def test_failed_cells_end_with_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_reproduce, "Local", lambda processes: Here())
    write_record(tmp_path / "protocol.json", replace(PROTOCOL, scores_count=(PLAIN,)))
    words = ("--seeds", "1", "--scale", "1e-4", "--protocol", str(tmp_path / "protocol.json"))
    with pytest.raises(CellsFailed, match="the scores alone take"):
        run(asked(NAMES[1], *words, "--out", str(tmp_path / "out"), "--json"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "nonsense"], "name an experiment"),
        (["mujoco-a", "--seeds", "10"], "from 1 to 5"),
        (["mujoco-a", "--seeds", "0"], "from 1 to 5"),
        (["mujoco-a", "--workers", "-1"], "at least 1"),
        (["mujoco-a", "--records", "file"], "name a folder"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    verb = parse(["reproduce", *words, "--dry-run"])
    assert isinstance(verb, Reproduce)
    with pytest.raises(BadOption, match=said):
        run(verb)


@pytest.mark.parametrize("seen", [["--dry-run"], []], ids=["after a dry run", "after failures"])
def test_the_next_command_is_under_the_same_terms(seen: list[str]) -> None:
    words = [
        "mujoco-a/*/gail",
        "--seeds",
        "1",
        "--workers",
        "1",
        "--protocol",
        "mine.json",
        "--executor",
        "ray",
        "--address",
        "a:1",
    ]
    verb = parse(["reproduce", *words, *seen])
    assert isinstance(verb, Reproduce)
    again = parse(shlex.split(cli_reproduce.next_command(verb, 1.0))[1:])
    assert again == replace(verb, dry_run=False)


def test_a_damaged_record_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "records.json").write_text('{"schema": 1, ')
    with pytest.raises(BadRecord, match=r"records\.json: it is no JSON"):
        read_record(CellRecord, tmp_path / "records.json")


def test_a_damaged_protocol_says_how_to_write_one(tmp_path: Path) -> None:
    (tmp_path / "protocol.json").write_text("{")
    with pytest.raises(BadOption, match=r"it is no JSON .* python -m imitable\.experiments\.protocol writes one") as error:
        run(asked("mujoco", "--dry-run", "--protocol", str(tmp_path / "protocol.json"), "--out", str(tmp_path / "runs")))
    assert "take the record away" not in str(error.value)
