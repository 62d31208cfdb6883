# SPDX-License-Identifier: MIT
import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_arrays

from imitable import tensors
from imitable.errors import BadPolicy
from imitable.policies.acting import act, controls, mean, normalised
from imitable.policies.files import load_policy, save_policy, to_bytes
from imitable.policies.perceptron import rowwise
from imitable.policies.shipped import policy_for
from imitable.robots.parse import parse_robot
from imitable.types import Policy

SIZES = (4, 8, 6, 2)


def make_policy(seed: int = 0, **changes: Any) -> Policy:
    rng = np.random.default_rng(seed)
    fields = {
        "weights": tuple(rng.normal(size=shape) for shape in pairwise(SIZES)),
        "biases": tuple(rng.normal(size=size) for size in SIZES[1:]),
        "log_std": rng.normal(size=2) - 1,
        "observation_mean": rng.normal(size=4),
        "observation_std": rng.uniform(0.5, 2, 4),
        "action_centre": np.array([0.0, 3.0]),
        "action_half_range": np.array([1.0, 0.5]),
        "observation_limit": 1.5,
        "about": {"robot": "hopper:gravity=15", "note": "naïve"},
    }
    return Policy(**{**fields, **changes})


def rewrite(path: Path, drop: str = "", **metadata: str) -> None:
    """Write a policy's file without one array, or with other metadata."""
    save_policy(make_policy(), path)
    arrays, found = tensors.read(path)
    path.write_bytes(tensors.to_bytes({name: array for name, array in arrays.items() if name != drop}, found | metadata))


class TestForward:
    def test_equals_one_written_by_hand(self) -> None:
        policy = make_policy()
        observations = np.random.default_rng(1).normal(size=(7, 4)) * 3
        expected = np.empty((7, 2))
        for row, observation in enumerate(observations):
            hidden = [
                min(max((observation[i] - float(policy.observation_mean[i])) / float(policy.observation_std[i]), -1.5), 1.5)
                for i in range(4)
            ]
            for layer, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
                sums = [
                    sum(hidden[i] * float(weight[i, j]) for i in range(len(hidden))) + float(bias[j]) for j in range(len(bias))
                ]
                hidden = sums if layer == 2 else [float(np.tanh(s)) for s in sums]
            expected[row] = [0.0 + 1.0 * hidden[0], 3.0 + 0.5 * hidden[1]]
        np.testing.assert_allclose(act(policy, observations), expected, rtol=1e-5, atol=1e-5)

    def test_observations_are_clipped_after_normalising(self) -> None:
        policy = make_policy()
        inputs = normalised(policy, np.array([[1e9, -1e9, 0.0, 0.0]]))
        assert inputs.dtype == np.float32
        assert inputs[0, :2].tolist() == [1.5, -1.5]

    def test_actions_are_half_ranges_about_the_centre(self) -> None:
        np.testing.assert_allclose(controls(make_policy(), np.array([[1, -1], [0, 0]], np.float32)), [[1, 2.5], [0, 3]])

    def test_sampled_actions_have_the_policy_s_noise(self) -> None:
        policy = make_policy()
        observations = np.tile(policy.observation_mean.astype(np.float64), (20000, 1))
        noise = act(policy, observations, np.random.default_rng(0)) - act(policy, observations)
        np.testing.assert_allclose(noise.mean(axis=0), 0, atol=0.02)
        np.testing.assert_allclose(noise.std(axis=0), policy.action_half_range * np.exp(policy.log_std), rtol=0.03)
        again = act(policy, observations, np.random.default_rng(0))
        np.testing.assert_array_equal(again, act(policy, observations, np.random.default_rng(0)))

    def test_mean_and_controls_make_act(self) -> None:
        policy, observations = make_policy(), np.random.default_rng(2).normal(size=(3, 4))
        inputs = normalised(policy, observations)
        np.testing.assert_array_equal(act(policy, observations), controls(policy, mean(policy, inputs, rowwise)))
        np.testing.assert_allclose(mean(policy, inputs, rowwise), mean(policy, inputs), rtol=1e-5, atol=1e-6)

    def test_an_action_depends_on_its_own_row_alone(self) -> None:
        policy, observations = policy_for(parse_robot("hopper")), np.random.default_rng(3).normal(size=(64, 11))
        together = act(policy, observations)
        for begin, end in ((6, 7), (6, 12), (1, 64)):
            np.testing.assert_array_equal(act(policy, observations[begin:end]), together[begin:end])


class TestFile:
    def test_reads_back_what_was_written(self, tmp_path: Path) -> None:
        policy = make_policy()
        save_policy(policy, tmp_path / "new" / "policy.safetensors")
        again = load_policy(tmp_path / "new" / "policy.safetensors")
        for field in dataclasses.fields(Policy):
            written, read = getattr(policy, field.name), getattr(again, field.name)
            if field.name in ("weights", "biases"):
                assert len(written) == len(read)
                assert all(np.array_equal(a, b) for a, b in zip(written, read, strict=True))
            else:
                assert np.array_equal(written, read) if isinstance(written, np.ndarray) else written == read
        assert to_bytes(again) == to_bytes(policy)
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["policy.safetensors"]

    def test_ten_layers_keep_their_order(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)
        many = make_policy(
            weights=tuple(rng.normal(size=(2 if i else 4, 2)) for i in range(12)),
            biases=tuple(rng.normal(size=2) for _ in range(12)),
        )
        save_policy(many, tmp_path / "policy")
        observations = rng.normal(size=(5, 4))
        np.testing.assert_array_equal(act(load_policy(tmp_path / "policy"), observations), act(many, observations))

    def test_a_file_is_read_and_acts_without_jax(self, tmp_path: Path) -> None:
        save_policy(make_policy(), tmp_path / "policy.safetensors")
        code = (
            "import sys, numpy as np, imitable as im\n"
            "from imitable.policies.acting import act\n"
            "print(act(im.load_policy(sys.argv[1]), np.ones((1, 4))).tolist(), 'jax' in sys.modules)"
        )
        command = [sys.executable, "-c", code, str(tmp_path / "policy.safetensors")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == f"{act(make_policy(), np.ones((1, 4))).tolist()} False"

    def refused(self, path: Path) -> str:
        with pytest.raises(BadPolicy) as caught:
            load_policy(path)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    def test_missing(self, tmp_path: Path) -> None:
        assert "no such file" in self.refused(tmp_path / "gone.safetensors")

    def test_a_folder(self, tmp_path: Path) -> None:
        assert "not a policy file" in self.refused(tmp_path)

    @pytest.mark.parametrize("keep", [0, 4, 100, 600, -1])
    def test_cut_short(self, tmp_path: Path, keep: int) -> None:
        path = tmp_path / "policy.safetensors"
        path.write_bytes(to_bytes(make_policy())[:keep])
        assert "not a policy file" in self.refused(path)

    def test_something_else(self, tmp_path: Path) -> None:
        path = tmp_path / "policy.safetensors"
        path.write_bytes(b"PK\x03\x04" * 100)
        assert "not a policy file" in self.refused(path)
        path.write_bytes(save_arrays({"x": np.zeros(3)}))
        assert "not a policy file" in self.refused(path)

    def test_a_newer_schema(self, tmp_path: Path) -> None:
        path = tmp_path / "policy.safetensors"
        rewrite(path, schema="2")
        assert "newer imitable (schema 2" in self.refused(path)

    @pytest.mark.parametrize("missing", ["log_std", "layer1.bias", "layer0.weight", "action_centre"])
    def test_a_missing_array(self, tmp_path: Path, missing: str) -> None:
        path = tmp_path / "policy.safetensors"
        rewrite(path, drop=missing)
        self.refused(path)

    @pytest.mark.parametrize("changes", [{"schema": "one"}, {"about": "{"}, {"observation_limit": "wide"}])
    def test_damaged_metadata(self, tmp_path: Path, changes: dict[str, str]) -> None:
        path = tmp_path / "policy.safetensors"
        rewrite(path, **changes)
        assert "not a policy file" in self.refused(path)


def flipped(data: bytes, places: Iterable[int]) -> bytes:
    """Return the data with the bits at `places` turned over."""
    changed = bytearray(data)
    for place in places:
        changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


class TestDamage:
    def test_a_flipped_bit_is_noticed_or_changes_nothing(self, tmp_path: Path) -> None:
        path, rng = tmp_path / "policy.safetensors", np.random.default_rng(0)
        data = to_bytes(make_policy())
        header = 8 * (8 + int.from_bytes(data[:8], "little"))
        places = [*rng.integers(header, size=400), *rng.integers(8 * len(data), size=400)]
        for place in places:
            path.write_bytes(flipped(data, [int(place)]))
            try:
                policy = load_policy(path)
            except BadPolicy:
                continue
            assert to_bytes(policy) == data, f"bit {place}"

    @pytest.mark.parametrize("count", [2, 8, 64])
    def test_many_flipped_bits_are_noticed(self, tmp_path: Path, count: int) -> None:
        path, rng = tmp_path / "policy.safetensors", np.random.default_rng(count)
        data = to_bytes(make_policy())
        for _ in range(100):
            path.write_bytes(flipped(data, rng.choice(8 * len(data), count, replace=False).tolist()))
            with pytest.raises(BadPolicy):
                load_policy(path)

    def test_a_file_without_a_hash_is_refused_until_it_is_sealed(self, tmp_path: Path) -> None:
        path = tmp_path / "policy.safetensors"
        save_policy(make_policy(), path)
        arrays, metadata = tensors.read(path)
        path.write_bytes(save_arrays(arrays, {tensors.METADATA: json.dumps(metadata)}))
        with pytest.raises(BadPolicy, match="no hash of its contents"):
            load_policy(path)
        path.write_bytes(tensors.seal(path))
        assert path.read_bytes() == to_bytes(make_policy())

    def test_a_hash_covers_names_types_shapes_bytes_and_text(self) -> None:
        array = np.arange(6, dtype=np.float32)
        others = [
            ({"a": array}, {"key": "other"}),
            ({"b": array}, {"key": "value"}),
            ({"a": array.view(np.int32)}, {"key": "value"}),
            ({"a": array.reshape(2, 3)}, {"key": "value"}),
            ({"a": array + 1}, {"key": "value"}),
        ]
        hashes = {tensors.content_hash(*contents) for contents in [({"a": array}, {"key": "value"}), *others]}
        assert len(hashes) == 6
