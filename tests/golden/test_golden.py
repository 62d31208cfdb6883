# SPDX-License-Identifier: MIT
"""No number moves: small fixed jobs give what they gave when `golden.json` was written.

A commit that moves a number writes the file anew (python -m tests.golden.test_golden) and says why. Processors round
differently, which a probe finds out: the file has digests of every kind that it was written on (--add: one more kind, while
nothing has moved on the others). On a kind that it does not know, results are compared by size only.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from imitable.tensors import to_bytes
from tests.golden.jobs import ARM, CHAINS, Result, probe, run

GOLDEN = Path(__file__).with_name("golden.json")

ROUGHLY = 0.4
"""Relative difference of sizes between kinds of processors: contact makes much of a last bit (0.07 was seen)."""


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
    golden, found = json.loads(GOLDEN.read_text()), results(chain, tmp_path)
    sizes, digests = golden["sizes"][chain], golden["digests"].get(probe())
    assert set(found) == set(sizes)
    if digests is None:
        moved = [name for name, result in found.items() if abs(result.size / sizes[name] - 1) > ROUGHLY]
    else:
        moved = [name for name, result in found.items() if result.digest != digests[chain][name]]
    assert not moved, f"these numbers have moved: {', '.join(moved)}"


def write(*, add: bool) -> None:
    """Write what this processor gives; what others gave is kept if this one is only added, and is of other numbers else."""
    known: dict[str, dict[str, dict[str, str]]] = json.loads(GOLDEN.read_text())["digests"] if add else {}
    found: dict[str, dict[str, Result]] = {}
    for chain in CHAINS:
        with tempfile.TemporaryDirectory() as place:
            found[chain] = results(chain, Path(place))
    known[probe()] = {chain: {name: one.digest for name, one in jobs.items()} for chain, jobs in found.items()}
    sizes = {chain: {name: one.size for name, one in jobs.items()} for chain, jobs in found.items()}
    GOLDEN.write_text(json.dumps({"digests": known, "sizes": sizes}, indent=1) + "\n")


if __name__ == "__main__":
    write(add="--add" in sys.argv[1:])
