# SPDX-License-Identifier: MIT
"""No number moves: small fixed jobs give what they gave when `golden.json` was written.

A commit that moves a number writes the file anew (python -m tests.golden.test_golden) and says why. On a processor that rounds
differently, which a probe finds out, results are compared by size only.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from imitable.tensors import to_bytes
from tests.golden.jobs import ARM, CHAINS, Result, probe, run

GOLDEN = Path(__file__).with_name("golden.json")

ROUGHLY = 0.4
"""Relative difference of sizes between kinds of processors: contact makes much of a last bit, and the step of a divergence is
one of the sizes (0.23 was seen)."""


def results(chain: str, folder: Path) -> dict[str, Result]:
    """Run the jobs of a chain."""
    if chain == "arm":
        (folder / "arm.xml").write_text(ARM)
        write_arm_policy(folder / "arm.safetensors")
    return run(chain, folder)


def write_arm_policy(path: Path) -> None:
    """Write a policy that is random, but always the same: a body without a task cannot train one."""
    rng = np.random.default_rng(0)
    sizes = (4, 8, 2)
    arrays = {f"layer{k}.weight": rng.standard_normal(sizes[k : k + 2]).astype(np.float32) for k in range(2)}
    arrays |= {f"layer{k}.bias": rng.standard_normal(sizes[k + 1]).astype(np.float32) for k in range(2)}
    arrays |= {"log_std": np.full(2, -1, np.float32), "observation_mean": np.zeros(4, np.float32)}
    arrays |= {"observation_std": np.ones(4, np.float32), "action_centre": np.zeros(2, np.float32)}
    arrays |= {"action_half_range": np.array([1, 2], np.float32)}
    metadata = {"schema": "1", "observation_limit": "10.0", "about": "{}"}
    path.write_bytes(to_bytes(arrays, metadata))


@pytest.mark.parametrize("chain", CHAINS)
def test_no_number_has_moved(chain: str, tmp_path: Path) -> None:
    golden = json.loads(GOLDEN.read_text())
    found, expected = results(chain, tmp_path), golden["chains"][chain]
    assert set(found) == set(expected)
    moved = [name for name, result in found.items() if result.digest != expected[name]["digest"]]
    if moved and probe() != golden["probe"]:
        moved = [name for name in moved if abs(found[name].size / expected[name]["size"] - 1) > ROUGHLY]
    assert not moved, f"these numbers have moved: {', '.join(moved)}"


if __name__ == "__main__":
    import tempfile

    written: dict[str, object] = {"probe": probe(), "chains": {}}
    for name in CHAINS:
        with tempfile.TemporaryDirectory() as place:
            written["chains"][name] = {job: vars(result) for job, result in results(name, Path(place)).items()}  # pyright: ignore
    GOLDEN.write_text(json.dumps(written, indent=1) + "\n")
