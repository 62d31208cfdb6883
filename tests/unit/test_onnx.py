# SPDX-License-Identifier: MIT
"""An ONNX runtime gives the same actions as the NumPy runner."""

import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import imitable as im
from imitable.errors import CannotWrite, MissingExtra
from imitable.policies.acting import act, normalised
from imitable.policies.onnx import save_onnx, to_bytes
from imitable.policies.shipped import policy_for, shipped
from imitable.rl.settings import Ppo
from imitable.rl.train import Trainer
from imitable.robots.parse import parse_robot
from imitable.sim.task import Locomotion
from imitable.types import Policy, Singles
from tests.unit.test_policy import make_policy


def session(policy: Policy) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(to_bytes(policy), options, providers=["CPUExecutionProvider"])


def observations(policy: Policy) -> Singles:
    """Usual ones, ones at the clip, ones far beyond it, and the largest that a float32 can hold."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((400, policy.observation_size)) * np.repeat([1.0, policy.observation_limit, 1e3, 1e6], 100)[:, None]
    largest = np.finfo(np.float32).max * rng.choice([-1.0, 1.0], (4, policy.observation_size))
    rows = np.concatenate([policy.observation_mean + policy.observation_std * z, largest])
    return rows.clip(-np.finfo(np.float32).max, np.finfo(np.float32).max).astype(np.float32)


def error(policy: Policy, runtime: onnxruntime.InferenceSession) -> float:
    """Return the largest difference from the NumPy runner, in half control ranges."""
    seen = observations(policy)
    (actions,) = runtime.run(["action"], {"observation": seen})
    assert actions.dtype == np.float32
    return float(np.abs((actions - act(policy, seen.astype(np.float64))) / policy.action_half_range).max())


def untrained() -> Policy:
    task = Locomotion(parse_robot("half_cheetah"))
    return Trainer(task, Ppo(environments=2, length=4, minibatch=8), budget=100, seed=0).policy


@pytest.mark.parametrize("text", shipped())
def test_shipped_demonstrators_act_the_same(text: str) -> None:
    policy = policy_for(parse_robot(text))
    assert error(policy, session(policy)) < 1e-5


def test_an_untrained_policy_acts_the_same() -> None:
    policy = untrained()
    assert error(policy, session(policy)) < 1e-5


def test_centre_range_and_a_narrow_clip_are_in_the_graph() -> None:
    policy = make_policy()
    assert (np.abs(normalised(policy, observations(policy).astype(np.float64))) == 1.5).any()
    assert error(policy, session(policy)) < 1e-5


@pytest.mark.parametrize("depth", [1, 12])
def test_any_number_of_layers(depth: int) -> None:
    rng = np.random.default_rng(depth)
    policy = make_policy(
        weights=tuple(rng.normal(size=(2 if i else 4, 2)) for i in range(depth)),
        biases=tuple(rng.normal(size=2) for _ in range(depth)),
    )
    assert error(policy, session(policy)) < 1e-5


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_any_number_of_observations(rows: int) -> None:
    policy = make_policy()
    (actions,) = session(policy).run(None, {"observation": np.zeros((rows, 4), np.float32)})
    assert actions.shape == (rows, 2)


def test_a_file_is_a_valid_model_that_says_whose_it_is(tmp_path: Path) -> None:
    im.save_onnx(make_policy(), tmp_path / "new" / "policy.onnx")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["policy.onnx"]
    model = onnx.load(tmp_path / "new" / "policy.onnx")
    onnx.checker.check_model(model, full_check=True)
    found = {entry.key: entry.value for entry in model.metadata_props}
    assert found == {"robot": "hopper:gravity=15", "imitable": version("imitable")}
    runtime = session(make_policy())
    assert [(i.name, i.shape, i.type) for i in runtime.get_inputs()] == [("observation", ["N", 4], "tensor(float)")]
    assert [(o.name, o.shape, o.type) for o in runtime.get_outputs()] == [("action", ["N", 2], "tensor(float)")]


def test_equal_policies_give_equal_bytes() -> None:
    assert to_bytes(make_policy()) == to_bytes(make_policy())
    assert to_bytes(make_policy()) != to_bytes(make_policy(seed=1))


def test_without_the_package_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'imitable\[onnx\]'"):
        save_onnx(make_policy(), tmp_path / "policy.onnx")
    assert not list(tmp_path.iterdir())


def test_a_folder_in_its_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite):
        save_onnx(make_policy(), tmp_path)
