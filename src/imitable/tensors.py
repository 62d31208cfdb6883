# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Named arrays and text in one safetensors file. No pickle is ever written or read.

An adapter file: safetensors ships no types.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

METADATA = "imitable"
"""The one metadata key of our files."""

Arrays = dict[str, npt.NDArray[Any]]


class DamagedFile(Exception):
    """The file is not a whole safetensors file; callers say what was expected of it."""


def to_bytes(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    """Return the contents of a file that holds the arrays and the metadata."""
    # safetensors writes raw memory, so every array must be contiguous (`ascontiguousarray` would add an axis to scalars); it
    # writes several metadata keys in random order, so they go into one, and equal contents give equal bytes
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(contiguous, {METADATA: json.dumps(metadata, sort_keys=True)})


def read(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return arrays and metadata of a file; `FileNotFoundError` and `DamagedFile` are the caller's to explain."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in list(file.keys())}
            return arrays, json.loads((file.metadata() or {})[METADATA])
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise DamagedFile(str(error)) from None
