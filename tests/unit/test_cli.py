# SPDX-License-Identifier: MIT
"""The command line as a person meets it: real processes, real files, one clear line for bad input."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import imitable as im
from imitable.cli import collect, robots
from imitable.cli.main import parse
from imitable.cli.verbs import Collect, Robots
from imitable.policies.shipped import shipped

SMALL = "ppo:environments=8,length=16,minibatch=64,hidden=8x8"


def imitable(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "imitable", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def refused(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Run bad input; return its one line."""
    done = imitable(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("imitable: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli") / "demos"
    assert imitable("collect", "hopper", "hopper:noise=0.05", "--episodes", "2,1", "--out", folder).returncode == 0
    return folder


def test_it_says_its_version() -> None:
    assert imitable("--version").stdout == f"imitable {im.__version__}\n"


def test_robots_lists_all_and_their_demonstrators() -> None:
    document = json.loads(imitable("robots", "--json").stdout)
    assert [row["robot"] for row in document["robots"]] == ["swimmer", "walker2d", "half_cheetah", "hopper", "panda"]
    assert tuple(document["demonstrators"]) == shipped()


def test_robots_shows_every_knob_of_a_body() -> None:
    done = imitable("robots", "hopper:gravity=15")
    assert "m/s² downwards" in done.stdout
    document = json.loads(imitable("robots", "hopper:gravity=15", "--json").stdout)
    knobs = {knob["knob"]: knob for knob in document["knobs"]}
    assert knobs["gravity"]["value"] == "15"
    assert knobs["gravity"]["default"] == "9.81"
    assert document["hash"] == im.robot("hopper:gravity=15").hash


def test_robots_shows_a_model_file(slider_path: Path) -> None:
    document = json.loads(imitable("robots", f"{slider_path}:gravity=1", "--json").stdout)
    assert {"gravity", "period", "noise"} <= {knob["knob"] for knob in document["knobs"]}


def test_collected_demonstrations_are_there_and_say_whose_they_are(demos: Path) -> None:
    stored = im.read(demos)
    assert [episode.demonstrator for episode in stored.episodes] == ["hopper", "hopper", "hopper:noise=0.05"]
    assert all(episode.total_return > 1000 for episode in stored.episodes)


def test_inspect_counts_what_is_there(demos: Path) -> None:
    document = json.loads(imitable("inspect", demos, "--json").stdout)
    assert document["episodes"] == 3
    assert [row["episodes"] for row in document["demonstrators"]] == [2, 1]
    first = im.read(demos)[0]
    lowest = {row["entry"]: row["lowest"] for row in document["state"]}
    assert lowest["rootx"] <= first.states[:, 0].min() + 1e-4


def test_collect_with_the_same_seed_gives_the_same_episodes(demos: Path, tmp_path: Path) -> None:
    imitable("collect", "hopper", "--episodes", "2", "--out", tmp_path / "again", "--threads", "2")
    assert [e.hash for e in im.read(tmp_path / "again").episodes] == [e.hash for e in im.read(demos).episodes[:2]]


def test_train_writes_a_policy_that_collects(tmp_path: Path) -> None:
    out = tmp_path / "policy.safetensors"
    done = imitable("train", "hopper", "--method", SMALL, "--steps", "512", "--episodes", "2", "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 512
    assert [path.name for path in tmp_path.iterdir()] == ["policy.safetensors"]
    done = imitable("collect", "hopper", "--policy", out, "--episodes", "2", "--sampled", "--out", tmp_path / "demos")
    assert done.returncode == 0, done.stderr
    assert "exists" in refused("train", "hopper", "--method", SMALL, "--steps", "512", "--out", out)


def stopped(command: list[str], out: Path, checkpoint: Path, stop: signal.Signals) -> tuple[int, str]:
    """Run a command until its first checkpoint; return its exit code and what it said when it was stopped.

    On a busy machine it may end before it is stopped: it begins anew then.
    """
    code, said = 0, ""
    for _ in range(5):
        out.unlink(missing_ok=True)
        running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while not checkpoint.exists() and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(stop)
        _, said = running.communicate()
        code = running.returncode
        if code:
            break
    return code, said


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_training_resumes_to_the_same_policy(stop: signal.Signals, tmp_path: Path) -> None:
    arguments = ["train", "hopper", "--method", SMALL, "--steps", "40000", "--episodes", "2", "--checkpoint-every", "0.01"]
    if stop == signal.SIGKILL:
        arguments += [
            "--practice-noise",
            "0.1",
            "--practice-pushes",
            "9",
            "50",
            "--practice-length",
            "99",
            "--practice-staggered",
        ]
    whole, broken = tmp_path / "whole.safetensors", tmp_path / "broken.safetensors"
    assert imitable(*arguments, "--out", whole).returncode == 0
    command = [sys.executable, "-m", "imitable", *arguments, "--out", str(broken)]
    checkpoint = broken.with_name(broken.name + ".checkpoint")
    code, said = stopped(command, broken, checkpoint, stop)
    if stop == signal.SIGINT:
        assert code == 130
        assert "--resume" in said
    assert checkpoint.exists()
    assert not broken.exists()
    assert "--resume" in refused(*arguments, "--out", broken)
    assert imitable(*arguments, "--out", broken, "--resume").returncode == 0
    assert not checkpoint.exists()
    assert broken.read_bytes() == whole.read_bytes()


def test_method_help_lists_the_keys() -> None:
    document = json.loads(imitable("train", "hopper", "--method", "ppo:help", "--json").stdout)
    assert document["keys"]["epochs"] == "10"
    assert document["allowed"]["epochs"] == "1 to 1000"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "name a verb first: robots, train"),
        (["--seed", "1", "train", "hopper"], "name a verb first: robots, train"),
        (["robots", "--", "a", "b"], "Unrecognized options: b (imitable robots --help)"),
        (["frain"], "there is no verb 'frain': did you mean 'train'?"),
        (["train"], "imitable: train: Missing: SPEC Robot to train: ROBOT[:KEY=VALUE[,KEY=VALUE…]]. (imitable train --help)\n"),
        (["train", "hopper", "--bogus"], "imitable: train: there is no option --bogus"),
        (["train", "hopper", "--stesp=3"], "there is no option --stesp, did you mean --steps?"),
        (["train", "hopper", "--practice_nois", "3"], "did you mean --practice-noise?"),
        (
            ["train", "hopper", "--steps", "many"],
            "Error parsing --steps: invalid literal for int() with base 10: 'many' (imitable",
        ),
        (["train", "hopper", "--headings", "3"], "{FLOAT FLOAT} could be instantiated from ['3']. (imitable train --help)\n"),
        (["robots", "hopper", "walker2d"], "Unrecognized options: walker2d (imitable robots --help)"),
        (["train", "hoper"], "did you mean 'hopper'"),
        (["train", "hopper:gravitas=3"], "did you mean 'gravity'"),
        (["train", "hopper:gravity=1e9"], "between 0 and 100"),
        (["train", "hopper:gravity=nan"], "between 0 and 100"),
        (["train", "nothing.xml"], "no such file"),
        (["train", "hopper", "--steps", "0"], "at least"),
        (["train", "hopper", "--seed", "-1", "--steps", "1"], "--seed"),
        (["train", "hopper", "--method", "sac"], "Choose from: ppo, trpo"),
        (["train", "hopper", "--method", "ppo:epochs=many"], "whole number"),
        (["train", "hopper", "--begin", "hopper:gravity=3"], "no demonstrator is shipped"),
        (["train", "hopper", "--begin", "half_cheetah:front=0.05"], "another robot"),
        (["train", "walker2d", "--begin", "half_cheetah:front=0.05"], "another robot"),
        (["train", "hopper", "--begin", "hopper", "--steps", "40000"], "critic_steps"),
        (["train", "hopper", "--begin", "hopper", "--method", "ppo:hidden=8"], "hidden"),
        (["train", "hopper", "--steps", "10"], "at least"),
        (["train", "hopper", "--goal", "nan"], "--goal"),
        (["train", "hopper", "--look-every", "0"], "--look-every"),
        (["train", "hopper", "--deviation", "0"], "--deviation"),
        (["train", "hopper", "--practice-noise", "2"], "between 0 and 1"),
        (["train", "hopper", "--practice-pushes", "0", "50"], "newtons"),
        (["train", "hopper", "--practice-pace", "0"], "metres a second"),
        (["train", "hopper", "--practice-effort", "-1"], "at least 0"),
        (["train", "hopper", "--practice-length", "0"], "steps above 0"),
        (["train", "hopper", "--out", "."], "folder"),
        (["train", "hopper", "--method", "trpo:fisher_fraction=0"], "fisher_fraction"),
        (["train", "hopper", "--method", "ppo:learning_rate=nan"], "learning_rate"),
        (["train", "hopper", "--method", "ppo:epochs=inf"], "whole number"),
        (["train", "hopper", "--out", "deep/er/policy", "--begin", "nothing"], "unknown robot"),
        (["collect"], "robot"),
        (["collect", "hopper:gravity=3"], "no demonstrator is shipped"),
        (["collect", "hopper", "--episodes", "0"], "above 0"),
        (["collect", "hopper", "--episodes", "2,3"], "--episodes"),
        (["collect", "hopper", "swimmer", "--episodes", "1"], "states differ"),
        (["collect", "hopper", "--policy", "nothing.safetensors"], "no such file"),
        (["collect", "hopper", "--threads", "-1"], "--threads"),
        (["collect", "hopper", "--setting", "hoper"], "walker2d-1, walker2d-2, half_cheetah-1, half_cheetah-2, hopper"),
        (["collect", "hopper", "--setting", "development hopper"], "choose from"),
        (["collect", "hopper", "hopper:gravity=3", "--setting", "hopper"], "hopper:gravity=3 is not in it"),
        (["collect", "hopper", "--setting", "hopper", "--policy", "policy.safetensors"], "--setting"),
        (["collect", "hopper", "--set", "b", "--policy", "policy.safetensors"], "--set"),
        (["collect", "hopper", "--set", "c"], "'a', 'b'"),
        (["collect", "walker2d", "--set", "b"], "set b has no demonstrator for 'walker2d'"),
        (["inspect"], "folder"),
        (["inspect", "nothing"], "nothing"),
    ],
)
def test_bad_input_costs_one_line_and_leaves_nothing(arguments: list[str], part: str, tmp_path: Path) -> None:
    assert part in refused(*arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_model_and_an_actuator_without_range_are_refused(tmp_path: Path) -> None:
    broken, loose = tmp_path / "broken.xml", tmp_path / "loose.xml"
    broken.write_text("<mujoco><worldbody>")
    body = '<worldbody><body><joint name="j"/><geom size="1"/></body></worldbody>'
    loose.write_text(f'<mujoco>{body}<actuator><motor joint="j"/></actuator></mujoco>')
    assert "MuJoCo cannot" in refused("robots", broken)
    assert "no control range" in refused("robots", loose)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write" in refused("train", "hopper", "--out", tmp_path / "file" / "policy.safetensors")
    assert "cannot write" in refused("collect", "hopper", "--episodes", "1", "--out", tmp_path / "file" / "demos")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_damaged_dataset_is_refused(demos: Path, tmp_path: Path) -> None:
    copy = tmp_path / "demos"
    subprocess.run(["cp", "-r", demos, copy], check=True)
    data = next(copy.glob("data/**/*.parquet"))
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    assert "not a readable set" in refused("inspect", copy)


def test_names_from_outside_are_shown_as_they_are(tmp_path: Path) -> None:
    layout = im.robot("hopper").layout
    states = np.zeros((3, len(layout.state)))
    im.write(tmp_path / "demos", layout, [im.Trajectory(states, "[/arm][red]x", np.zeros((2, 3)))])
    done = imitable("inspect", tmp_path / "demos")
    assert done.returncode == 0
    assert "[/arm][red]x" in done.stdout


@pytest.mark.parametrize("asked", ["robots --json", "--help", "score --help"])
def test_a_reader_that_has_enough_is_no_error(asked: str, tmp_path: Path) -> None:
    line = f"{sys.executable} -m imitable {asked} | head -c 1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout in ("{", "u")
    assert done.stderr == ""


def test_a_terminated_recording_leaves_nothing(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "imitable",
        "collect",
        "hopper",
        "--episodes",
        "5000",
        "--out",
        str(tmp_path / "demos"),
    ]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".demos*/**/*.parquet")) and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate()
    assert running.returncode == 130
    assert "Nothing was written" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ([], "hopper"),
        (["--setting", "hopper"], "hopper:gravity=20"),
        (["--set", "b"], "hopper:gravity=5"),
        (["--set", "b", "--setting", "hopper"], "hopper:gravity=5"),
    ],
)
def test_setting_and_set_choose_who_is_recorded(options: list[str], body: str, two_hoppers: Path, tmp_path: Path) -> None:
    verb = parse(["collect", "hopper:noise=0.05", "--episodes", "1", "--out", str(tmp_path / "demos"), "--quiet", *options])
    assert isinstance(verb, Collect)
    collect.run(verb)
    task = im.Locomotion(im.robot("hopper:noise=0.05"))
    [expected] = im.collect(task, im.policy_for(im.robot(body)), 1, 0)
    [recorded] = im.read(tmp_path / "demos")
    assert recorded.hash == expected.hash


def test_robots_says_who_is_in_the_other_set_too(two_hoppers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robots.run(Robots("hopper"))
    assert "in set b, too (collect --set b): hopper\n" in capsys.readouterr().out
    robots.run(Robots("swimmer"))
    assert "set b" not in capsys.readouterr().out


LIGHT = """
import sys
from imitable.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
print([name for name in ("numpy", "mujoco", "jax", "gymnasium", "pyarrow") if name in sys.modules], file=sys.stderr)
"""


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_the_package_itself_imports_nothing_heavy() -> None:
    code = "import sys, imitable; print([n for n in ('numpy', 'mujoco', 'jax') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_collecting_needs_no_jax() -> None:
    code = (
        "import sys, imitable.cli.collect, imitable.cli.inspect, imitable.evaluation.returns, imitable.envs.gym_env;"
        "print('jax' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


def test_every_public_name_resolves_and_has_a_docstring() -> None:
    for name in im.__all__:
        assert getattr(im, name).__doc__
    with pytest.raises(AttributeError, match="it has"):
        _ = im.nonsense  # pyright: ignore[reportAttributeAccessIssue]


def test_quiet_says_nothing(tmp_path: Path) -> None:
    done = imitable("collect", "hopper", "--episodes", "1", "--out", tmp_path / "demos", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
