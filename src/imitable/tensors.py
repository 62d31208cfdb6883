# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Named arrays and text in one safetensors file that carries a hash of its contents. No pickle is ever written or read.

An adapter file: safetensors ships no types.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

METADATA = "imitable"
"""The one metadata key of our files."""

HASH = "content_hash"
"""Key of the hash, beside the caller's own, in the text under `METADATA`."""

Arrays = dict[str, npt.NDArray[Any]]


class DamagedFile(Exception):
    """The file does not hold what was written; callers say what was expected of it."""


def to_bytes(arrays: Arrays, metadata: dict[str, str]) -> bytes:
    """Return the contents of a file that holds the arrays and the metadata, and a hash of both."""
    # safetensors writes raw memory, so every array must be contiguous (`ascontiguousarray` would add an axis to scalars); it
    # writes several metadata keys in random order, so they go into one, and equal contents give equal bytes
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(metadata | {HASH: content_hash(contiguous, metadata)}, sort_keys=True)
    return save(contiguous, {METADATA: text})


def read(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return arrays and metadata of a file; `FileNotFoundError` and `DamagedFile` are the caller's to explain."""
    arrays, metadata = _parse(path)
    written = metadata.pop(HASH, None)
    if written is None:
        raise DamagedFile("it carries no hash of its contents")
    if written != content_hash(arrays, metadata):
        raise DamagedFile("its contents are not those that were written")
    return arrays, metadata


def seal(path: Path) -> bytes:
    """Return the file as `to_bytes` would write it: how a file from a writer without hashes is vouched for."""
    arrays, metadata = _parse(path)
    metadata.pop(HASH, None)
    return to_bytes(arrays, metadata)


def content_hash(arrays: Arrays, metadata: dict[str, str]) -> str:
    """Return a hash of names, types, shapes and bytes of all arrays, and of the metadata; their order is nothing."""
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:32]


def _parse(path: Path) -> tuple[Arrays, dict[str, str]]:
    try:
        with safe_open(str(path), framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in list(file.keys())}
            metadata = json.loads((file.metadata() or {})[METADATA])
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise DamagedFile(str(error)) from None
    if not isinstance(metadata, dict):
        raise DamagedFile("its metadata is not a table")
    return arrays, metadata
