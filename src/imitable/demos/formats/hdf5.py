# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
"""HDF5 files, opened for reading alone; one that leads to other files is refused. The one seam to `h5py`.

An adapter file: h5py ships no types.
"""

import contextlib
import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from imitable.errors import BadDataset, MissingExtra
from imitable.types import Floats, Layout

try:
    import h5py
except ImportError:  # the extra `robomimic` or `minari` brings it
    h5py = None

OWN = "imitable"
"""Attribute, or metadata key, by which files of ours say names and period."""


def module() -> Any:
    """Return h5py, or say how to get it."""
    if h5py is None:
        raise MissingExtra("h5py", "robomimic")
    return h5py


@contextlib.contextmanager
def opened(path: Path) -> Generator[Any]:
    """Open a file for reading; whatever HDF5 says of a garbled one becomes one line."""
    h5 = module()
    try:
        with h5.File(path, "r") as file:
            yield file
    except (OSError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise BadDataset(str(path), f"it is no whole HDF5 file ({error})") from None


def check_inside(path: Path, group: Any, seen: set[int] | None = None) -> None:
    """Refuse a file with a link, or a dataset, that leads to another file; nothing of another file is read for it."""
    h5, known = module(), seen if seen is not None else set[int]()
    for name in group:
        link = group.get(name, getlink=True)
        where = f"{group.name.rstrip('/')}/{name}"
        if isinstance(link, h5.ExternalLink):
            raise BadDataset(str(path), f"its link {where} leads to another file ({link.filename}); copy the data into it")
        if not isinstance(link, h5.HardLink):
            continue  # a soft link stays in the file, in which no link leads outside
        child = group[name]
        if isinstance(child, h5.Dataset):
            if child.external or child.is_virtual:
                raise BadDataset(str(path), f"the numbers of {where} lie in another file; copy them into it")
        elif (address := h5.h5o.get_info(child.id).addr) not in known:
            known.add(address)
            check_inside(path, child, known)


def numbers(group: Any) -> dict[str, Any]:
    """Return the datasets of a group, and of groups in it, that are rows of numbers, by their paths in it."""
    found: dict[str, Any] = {}
    for name in group:
        child = group[name]
        if hasattr(child, "keys"):
            found |= {f"{name}/{inner}": held for inner, held in numbers(child).items()}
        elif child.ndim in (1, 2) and child.dtype.kind in "fiub":
            found[name] = child
    return found


def rows(dataset: Any) -> Floats:
    """Read a dataset as (n, width) float64."""
    values = np.asarray(dataset[()], np.float64)
    return values[:, None] if values.ndim == 1 else values


def plain(attributes: Any) -> dict[str, Any]:
    """Return attributes as Python's own values."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()}


def own_layout(text: object) -> Layout | None:
    """Return the layout that a file of ours tells; None of any other."""
    try:
        raw: Mapping[str, Any] = json.loads(str(text)) if text else {}
        qpos, qvel, actuators = (tuple(str(name) for name in raw[key]) for key in ("qpos", "qvel", "actuators"))
        return Layout(qpos, qvel, actuators, float(raw["period_s"]))
    except (KeyError, TypeError, ValueError):
        return None


def layout_text(layout: Layout) -> str:
    """Return a layout as `own_layout` reads it."""
    held = {"qpos": layout.qpos, "qvel": layout.qvel, "actuators": layout.actuators, "period_s": layout.period_s}
    return json.dumps({"schema": 1, **held})
