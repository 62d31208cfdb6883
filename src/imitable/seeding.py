# SPDX-License-Identifier: MIT
"""One seed becomes any number of named, independent generators.

`generator(seed, "start")` and `generator(seed, "noise")` never share a stream, and adding a third name changes neither.
States go into checkpoints as JSON, so that a resumed run draws the same numbers.
"""

import hashlib
import json

import numpy as np


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of `seed` for the path `names`.

    The names are hashed into the spawn key of NumPy's `SeedSequence`, whose children are independent by construction.
    """
    digest = hashlib.sha256(json.dumps(names).encode()).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def to_json(rng: np.random.Generator) -> str:
    """Return the generator's whole state as text."""
    return json.dumps(rng.bit_generator.state)


def from_json(text: str) -> np.random.Generator:
    """Return the generator whose state `to_json` wrote."""
    bits = np.random.PCG64()
    bits.state = json.loads(text)
    return np.random.Generator(bits)


def episode_seeds(seed: int, purpose: str, count: int) -> list[int]:
    """Return `count` seeds of single episodes: the k-th depends on seed, purpose and k alone."""
    return [int(generator(seed, purpose, k).integers(2**53)) for k in range(count)]
