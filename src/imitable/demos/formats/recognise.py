# SPDX-License-Identifier: MIT
"""Which format a path is of, seen from names and first bytes."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from imitable.demos.formats.csv_table import header, numbers
from imitable.demos.formats.lafan1 import looks_right
from imitable.demos.formats.npz import load_npz
from imitable.demos.formats.unpickle import read_pickle
from imitable.errors import BadDataset

MINARI_ID = re.compile(r"(?:[\w-]+/)*[\w-]+-v\d+")


def recognise(path: Path, wanted: str | None = None) -> tuple[Path, str]:
    """Return where the data are, and the name of their format; `wanted` goes first."""
    if not path.exists() and (local := _local_minari(path)) is not None:
        return local, wanted or "minari"
    if not path.exists():
        raise BadDataset(str(path), "there is no such file or folder")
    if wanted is not None:
        return path, wanted
    if (path / "meta" / "info.json").is_file():
        return path, "lerobot"
    if any((path / place).is_file() for place in ("data/metadata.json", "metadata.json")):
        return path, "minari"
    first = _typical(path)
    return path, _BY_SUFFIX[first.suffix.lower()](first)


def _local_minari(path: Path) -> Path | None:
    """Return the folder of a Minari id, `(namespace/)name-vN`, if it is there."""
    if not MINARI_ID.fullmatch(str(path)):
        return None
    root = Path(os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets")
    return root / path if (root / path).is_dir() else None


def _typical(path: Path) -> Path:
    """Return the file, or the first of the folder's most frequent kind."""
    files = [path] if path.is_file() else sorted((*path.glob("*.*"), *path.glob("*/*.pkl")))
    known = [file for file in files if file.suffix.lower() in _BY_SUFFIX and file.is_file()]
    if not known:
        raise BadDataset(
            str(path), f"there is no file of a known format in it ({', '.join(sorted(_BY_SUFFIX))}, LeRobot, Minari)"
        )
    counts = Counter(file.suffix.lower() for file in known)
    return next(file for file in known if file.suffix.lower() == counts.most_common(1)[0][0])


def _npz(path: Path) -> str:
    keys = load_npz(path).keys()
    if not {"joint_pos", "body_pos_w"} <= keys:
        return "npz"
    return "holosoma" if "joint_names" in keys else "beyondmimic"


def _csv(path: Path) -> str:
    return "csv" if header(path) or not looks_right(numbers(path, skip=0)) else "lafan1"


def _pickle(path: Path) -> str:
    content = read_pickle(path)
    keys = cast(Mapping[str, Any], content).keys() if isinstance(content, Mapping) else ()
    if "root_pos" in keys:
        return "gmr"
    if "obs" in keys:
        return "paper"
    raise BadDataset(str(path), "it is a pickle neither of GMR (root_pos, root_rot, dof_pos) nor of the paper (obs, next_obs)")


_BY_SUFFIX: Mapping[str, Callable[[Path], str]] = {
    ".npz": _npz,
    ".csv": _csv,
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".parquet": lambda _: "parquet",
    ".hdf5": lambda _: "robomimic",
    ".h5": lambda _: "robomimic",
}
