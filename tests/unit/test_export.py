# SPDX-License-Identifier: MIT
"""Exports keep the demonstrations and tell the weights, as each trainer's documented rules read them."""

import csv
import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imitable import errors
from imitable.demos.conversion.convert import convert
from imitable.demos.formats import gmr, open_source
from imitable.demos.store import read, write
from imitable.exporters.export import export
from imitable.files import content_hash
from imitable.robots.robot import Robot
from imitable.types import Demonstrations, Floats, InMemory, Trajectory
from tests.unit.biped import biped, walk
from tests.unit.datasets import LAYOUT, same, trajectory
from tests.unit.old_lerobot import write_v2
from tests.unit.scored import scores_of

WEIGHTS = [4.0, 1.0, 0.0, 2.0, 0.001]


@pytest.fixture
def demos(tmp_path: Path) -> Demonstrations:
    """Five demonstrations on disk; the third is state-only, the fourth ended by itself."""
    lengths = (20, 7, 30, 12, 9)
    made = [
        trajectory(
            length, k, actions=k != 2, terminated=k == 3, seed=k if k else None, demonstrator=f"d{k % 2}", total_return=k
        )
        for k, length in enumerate(lengths)
    ]
    write(tmp_path / "demos", LAYOUT, made)
    return read(tmp_path / "demos")


def hashes(folder: Path) -> dict[str, str]:
    return {str(path): content_hash(path) for path in sorted(folder.rglob("*")) if path.is_file()}


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lengths=st.lists(st.integers(2, 30), min_size=1, max_size=5), draw=st.integers(0, 2**32))
@pytest.mark.parametrize(("to", "name"), [("minari", "set-v0"), ("robomimic", "set.hdf5"), ("lerobot", "set")])
def test_demonstrations_come_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, to: str, name: str, lengths: list[int], draw: int
) -> None:
    rng, folder = np.random.default_rng(draw), tmp_path_factory.mktemp("round")
    made = [
        trajectory(
            length,
            draw + k,
            actions=bool(rng.random() < 0.7),
            terminated=bool(rng.random() < 0.5),
            seed=int(rng.integers(2**53)) if rng.random() < 0.5 else None,
            total_return=float(rng.standard_normal()) if rng.random() < 0.5 else float("nan"),
            demonstrator=f"räder {k}",
        )
        for k, length in enumerate(lengths)
    ]
    demos = InMemory(LAYOUT, made)
    export(demos, scores_of(demos, rng.uniform(0.1, 1, len(made)).tolist()), to, folder / name)
    again = read(folder / name)
    assert again.layout == LAYOUT
    assert all(same(a, b) for a, b in zip(made, again, strict=True))


@pytest.mark.parametrize("to", ["csv", "lerobot", "lerobot-weights", "minari", "robomimic"])
def test_the_source_is_never_changed_and_outputs_are_whole_or_not_there(to: str, demos: Demonstrations, tmp_path: Path) -> None:
    before, scores = hashes(tmp_path / "demos"), scores_of(demos, WEIGHTS)
    out = tmp_path / {"minari": "set-v0", "robomimic": "set.hdf5"}.get(to, "out")
    export(demos, scores, to, out)
    assert hashes(tmp_path / "demos") == before
    with pytest.raises(errors.OutputExists):
        export(demos, scores, to, out)
    export(demos, scores, to, out, overwrite=True)
    others = InMemory(LAYOUT, [trajectory(5, 77)])
    with pytest.raises(errors.BadWeights, match="other demonstrations"):
        export(others, scores, to, out.with_name(f"never-{out.name}"))
    assert {path.name for path in tmp_path.iterdir()} <= {"demos", out.name, "set.hdf5.config.json"}


@pytest.mark.parametrize("to", ["lerobot", "lerobot-weights", "minari", "gmr"])
def test_nothing_but_an_export_is_replaced(to: str, robot: Robot, tmp_path: Path) -> None:
    demos = InMemory(robot.layout, strolls(robot))
    write(tmp_path / "demos", demos.layout, demos)
    demos = read(tmp_path / "demos")
    (tmp_path / "home-v0").mkdir()
    (tmp_path / "home-v0" / "thesis.txt").write_text("years")
    with pytest.raises(errors.CannotWrite, match="not replaced"):
        export(demos, scores_of(demos, [1, 1, 1], str(robot)), to, tmp_path / "home-v0", overwrite=True)
    assert (tmp_path / "home-v0" / "thesis.txt").read_text() == "years"


def test_lerobot_rows_have_feasibility_and_weight(demos: Demonstrations, tmp_path: Path) -> None:
    done = export(demos, scores_of(demos, WEIGHTS), "lerobot", tmp_path / "out")
    rows = pq.read_table(tmp_path / "out/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [row["weight"] > 0 for row in rows] == [True, True, False, True, False], "below the floor is exactly zero"
    assert sum(row["weight"] for row in rows) == pytest.approx(1)
    assert [row["feasibility"] for row in rows] == pytest.approx([1, 0.25, 0, 0.5, 0.00025])
    assert rows[3]["verdict"] == "feasible"
    assert done.lines == ("--dataset.episodes=[0,1,3]",)
    assert json.loads((tmp_path / "out/meta/feasibility.json").read_text())["episodes"] == [0, 1, 3]
    assert [one.row_hash for one in read(tmp_path / "out").episodes] == [one.row_hash for one in demos.episodes]


def rabc_weights(path: Path, chunk: int, kappa: float = 1e9) -> dict[int, float]:
    """The documented rules of LeRobot's `rabc` weighter, before it normalises a batch."""
    rows = pq.read_table(path).to_pylist()
    progress = {row["index"]: row["progress_sparse"] for row in rows}
    owner = {row["index"]: row["episode_index"] for row in rows}
    end: dict[int, int] = {}
    for index, episode in owner.items():
        end[episode] = max(end.get(episode, 0), index)
    deltas = {index: progress[min(index + chunk, end[owner[index]])] - progress[index] for index in progress}
    mean, std = max(float(np.mean(list(deltas.values()))), 0.0), float(np.std(list(deltas.values())))
    soft = {index: float(np.clip((delta - (mean - 2 * std)) / (4 * std + 1e-6), 0, 1)) for index, delta in deltas.items()}
    return {index: 1.0 if deltas[index] > kappa else soft[index] if deltas[index] >= -1e-9 else 0.0 for index in deltas}


@pytest.mark.parametrize("chunk", [1, 5, 50])
def test_both_forms_of_lerobots_sample_weights_say_the_same(demos: Demonstrations, tmp_path: Path, chunk: int) -> None:
    done = export(demos, scores_of(demos, WEIGHTS), "lerobot-weights", tmp_path / "out", chunk_size=chunk)
    table = pq.read_table(tmp_path / "out/weights.parquet").to_pydict()
    frames = sum(episode.length + 1 for episode in demos.episodes)
    assert table["index"] == list(range(frames)), "a row for every frame: what is absent would weigh 1"
    weights = np.array(table["weight"])
    assert weights.mean() == pytest.approx(1)
    ends = np.cumsum([episode.length + 1 for episode in demos.episodes])
    masses = np.array([part.sum() for part in np.split(weights, ends[:-1])]) / weights.sum()
    np.testing.assert_allclose(masses, np.array([4, 1, 0, 2, 0]) / 7, atol=1e-12)
    seen = rabc_weights(tmp_path / "out/rabc.parquet", chunk)
    inner = np.setdiff1d(np.arange(frames), ends - 1)
    np.testing.assert_allclose([seen[int(k)] for k in inner], weights[inner] / weights.max(), atol=1e-5)
    np.testing.assert_allclose([seen[int(k)] for k in ends - 1], 0, atol=1e-6)
    assert done.lines[0] == "--dataset.episodes=[0,1,3]"
    assert (tmp_path / "out/arguments.txt").read_text().splitlines() == list(done.lines)


def test_weights_of_a_converted_set_are_for_the_original(servo_arm_path: Path, tmp_path: Path) -> None:
    angles = np.array([0.2, -1.2, 1.3]) + 0.3 * np.sin(np.arange(30)[:, None] / 10 + np.arange(3))
    episodes = [{"observation.state": angles[: 20 + k]} for k in range(4)]
    original = write_v2(tmp_path / "original", episodes, {"observation.state": ["rotation", "pitch", "elbow"]})
    convert(original, tmp_path / "demos", str(servo_arm_path))
    demos = read(tmp_path / "demos")
    scores = scores_of(demos, [1, 0, 2, 0])
    done = export(demos, scores, "lerobot-weights", tmp_path / "out", dataset=original)
    weights = np.array(pq.read_table(tmp_path / "out/weights.parquet")["weight"])
    assert len(weights) == 20 + 21 + 22 + 23
    masses = [part.sum() / weights.sum() for part in np.split(weights, np.cumsum([20, 21, 22]))]
    assert masses == pytest.approx([1 / 3, 0, 2 / 3, 0])
    assert done.lines[0] == "--dataset.episodes=[0,2]"
    with pytest.raises(errors.BadOption, match="lerobot-weights"):
        export(demos, scores, "lerobot", tmp_path / "no", dataset=original)
    with pytest.raises(errors.BadOption, match="not converted from it"):
        export(demos, scores, "lerobot-weights", tmp_path / "no", dataset=tmp_path / "demos")


def test_segments_weigh_their_own(demos: Demonstrations, tmp_path: Path) -> None:
    scores = scores_of(
        demos,
        [1, 1, 1, 1, 1],
        segments=True,
        segment_begin=((0, 10), *((0,),) * 4),
        segment_share=((0.0, 5.0), *((0.0,),) * 4),
    )
    export(demos, scores, "lerobot-weights", tmp_path / "out")
    weights = np.array(pq.read_table(tmp_path / "out/weights.parquet")["weight"])[:21]
    assert weights[:10].min() > 10 * weights[11:].max()
    each = scores.weights.of_transitions(demos)
    assert each.sum() == pytest.approx(1)
    assert each[:10].min() > 10 * each[10:20].max()


def test_minari_episodes_carry_their_weights(demos: Demonstrations, tmp_path: Path) -> None:
    export(demos, scores_of(demos, WEIGHTS), "minari", tmp_path / "arm-v0")
    with h5py.File(tmp_path / "arm-v0/data/main_data.hdf5") as file:
        weights = [file[f"episode_{k}"].attrs["weight"] for k in range(5)]
        assert file["episode_3/terminations"][-1]
        assert file["episode_2/actions"].shape == (30, 3), "zeros: Minari has no episode without actions"
    assert weights == pytest.approx([4 / 7, 1 / 7, 0, 2 / 7, 0])
    with pytest.raises(errors.BadOption, match="NAME-vN"):
        export(demos, scores_of(demos, WEIGHTS), "minari", tmp_path / "arm")


@pytest.mark.parametrize("bins", [1, 2, 10])
def test_robomimic_draws_by_weight(demos: Demonstrations, tmp_path: Path, bins: int) -> None:
    """robomimic draws a dataset by its weight, if that is normalised by size, and a frame of it uniformly."""
    export(demos, scores_of(demos, WEIGHTS), "robomimic", tmp_path / "a.hdf5", bins=bins)
    config = json.loads((tmp_path / "a.hdf5.config.json").read_text())["train"]
    assert config["normalize_weights_by_ds_size"] is True
    drawn = np.zeros(5)
    with h5py.File(tmp_path / "a.hdf5") as file:
        for part in config["data"]:
            names = [name.decode() for name in file[f"mask/{part['filter_key']}"]]
            sizes = np.array([file[f"data/{name}"].attrs["num_samples"] for name in names])
            for name, size in zip(names, sizes, strict=True):
                drawn[int(name[5:])] += part["weight"] * size / sizes.sum()
    assert drawn.sum() == pytest.approx(1)
    assert list(np.flatnonzero(drawn)) == [0, 1, 3]
    if bins == 10:
        np.testing.assert_allclose(drawn, np.array([4, 1, 0, 2, 0]) / 7)


def test_the_table_reads_back(demos: Demonstrations, tmp_path: Path) -> None:
    scores = scores_of(demos, WEIGHTS)
    export(demos, scores, "csv", tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    assert [float(row["weight"]) for row in rows] == scores.weight.tolist()
    assert [row["demonstrator"] for row in rows] == ["d0", "d1", "d0", "d1", "d0"]


def yaml_motions(path: Path) -> list[dict[str, Any]]:
    """Read the few lines of YAML that the list of motions is made of."""
    lines = path.read_text().splitlines()
    assert lines[1] == "motions:"
    motions: list[dict[str, Any]] = []
    for line in lines[2:]:
        key, _, value = line.removeprefix("  - ").strip().partition(": ")
        if line.startswith("  - "):
            motions.append({})
        motions[-1][key] = json.loads(value)
    return [{"root_path": json.loads(lines[0].partition(": ")[2]), **motion} for motion in motions]


@pytest.fixture
def robot(tmp_path: Path) -> Robot:
    return biped(tmp_path)


def strolls(robot: Robot) -> list[Trajectory]:
    return [Trajectory(np.concatenate(walk(30 + k, 50, k / 5), axis=1), "walker") for k in range(3)]


def test_motions_name_the_clips_that_were_converted(robot: Robot, tmp_path: Path) -> None:
    """TWIST joins root_path and file, ProtoMotions the YAML's folder and file; all draw clips in proportion to weight."""
    (tmp_path / "clips").mkdir()
    for k, one in enumerate(strolls(robot)):
        qpos: Floats = one.states[:, :11]
        (tmp_path / "clips" / f"walk {k}.pkl").write_bytes(gmr.clip_bytes(qpos[:, :3], qpos[:, 3:7], qpos[:, 7:], 0.02))
    convert(tmp_path / "clips", tmp_path / "demos", robot, label="file")
    demos = read(tmp_path / "demos")
    done = export(demos, scores_of(demos, [3, 0, 1], str(robot)), "motions-yaml", tmp_path / "lists.yaml")
    motions = yaml_motions(tmp_path / "lists.yaml")
    assert [motion["weight"] for motion in motions] == pytest.approx([0.75, 0.25])
    for motion, name in zip(motions, ("walk 0.pkl", "walk 2.pkl"), strict=True):
        for home in (Path(motion["root_path"]), (tmp_path / "lists.yaml").parent):
            assert (home / motion["file"]).resolve() == (tmp_path / "clips" / name).resolve()
    assert done.lines == ("1 of 3 motions weigh nothing and are left out",)


@pytest.mark.parametrize(
    ("to", "suffix"), [("gmr", ".pkl"), ("holosoma", ".npz"), ("lafan1", ".csv"), ("motions-yaml", ".pkl")]
)
def test_movements_go_back_to_clips(robot: Robot, tmp_path: Path, to: str, suffix: str) -> None:
    made = strolls(robot)
    demos = InMemory(robot.layout, made)
    done = export(demos, scores_of(demos, [1, 1, 1], str(robot)), to, tmp_path / "out")
    files = [path for path in done.files if path.suffix == suffix]
    assert len(files) == 3
    source = files[0].parent
    assert open_source(source).format == ("gmr" if to == "motions-yaml" else to)
    convert(source, tmp_path / "again", robot)
    for one, got in zip(made, read(tmp_path / "again"), strict=True):
        if to == "lafan1":
            np.testing.assert_allclose(got.states[:, :11], one.states[: len(got.states), :11], atol=5e-3)
            continue
        np.testing.assert_array_equal(got.states[:, :11], one.states[:, :11])
        if to == "holosoma":
            np.testing.assert_allclose(got.states, one.states, atol=1e-12)


def test_only_bodies_that_move_freely_become_clips(demos: Demonstrations, slider_path: Path, tmp_path: Path) -> None:
    with pytest.raises(errors.BadOption, match="not of the imitator's joints"):
        export(demos, scores_of(demos, WEIGHTS, str(slider_path)), "gmr", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options", [{"floor": 1.0}, {"floor": -0.1}, {"chunk_size": 0}, {"bins": 0}, {"to": "lerbot"}], ids=str
)
def test_wrong_options_are_refused(demos: Demonstrations, tmp_path: Path, options: dict[str, Any]) -> None:
    to = options.pop("to", "robomimic" if "bins" in options else "lerobot-weights")
    with pytest.raises(errors.BadOption):
        export(demos, scores_of(demos, WEIGHTS), to, tmp_path / "a.hdf5", **options)
    assert not (tmp_path / "a.hdf5").exists()


def test_draws_have_the_frequencies_of_the_weights(demos: Demonstrations) -> None:
    weights = scores_of(demos, WEIGHTS).weights
    sampler = weights.sampler(demos, samples=70_000, seed=3)
    ends = np.cumsum([episode.length for episode in demos.episodes])
    owners = np.searchsorted(ends, list(sampler), "right")
    masses = np.bincount(owners, minlength=5) / len(sampler)
    np.testing.assert_allclose(masses, np.array(WEIGHTS) / sum(WEIGHTS), atol=5 * np.sqrt(0.25 / 70_000))
    assert masses[2] == 0
    first, second = list(sampler), list(sampler)
    assert first != second, "every epoch draws anew"
    assert list(weights.sampler(demos, seed=3)) == list(weights.sampler(demos, seed=3))
    assert len(weights.sampler(demos)) == 78


def test_batches_are_transitions(demos: Demonstrations) -> None:
    batches = scores_of(demos, [1, 0, 0, 1, 0]).weights.batches(demos, size=64)
    steps = {one.states[k].tobytes(): (one, k) for one in (demos[0], demos[3]) for k in range(len(one))}
    for batch, _ in zip(batches, range(3), strict=False):
        assert batch["obs"].shape == batch["next_obs"].shape == (64, 4)
        for row in range(64):
            one, k = steps[batch["obs"][row].tobytes()]
            np.testing.assert_array_equal(batch["next_obs"][row], one.states[k + 1])
            assert one.actions is not None
            np.testing.assert_array_equal(batch["acts"][row], one.actions[k])
            assert batch["dones"][row] == (one.terminated and k == len(one) - 1)
    assert "acts" not in next(scores_of(demos, [0, 0, 1, 0, 0]).weights.batches(demos, size=4))
