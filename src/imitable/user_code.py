# SPDX-License-Identifier: MIT
"""The user's own code: classes and functions that a dotted name finds, imported only if the user typed that name.

A name that stands in a file (a protocol, a record, a run folder) never becomes code: only the command line and the functions
that a user calls (`score`, `imitate`, `evaluate`, `play`) pass names to `allow`, and no other foreign name is imported.

The working folder is not on `sys.path`, because libraries try optional modules (pandas, zstandard, jax_plugins), and a folder
of data must not provide them. Of a typed name `my_lab.scorers.Mine` the folder provides `my_lab` and what is inside it,
nothing else, and an installed package of that name comes first.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

from imitable.errors import BadOption

_typed: dict[str, str | None] = {}
"""Dotted names that the user typed, and the folder that may provide their top-level modules, if one may."""


class _TypedModules(MetaPathFinder):
    """Finds the top-level modules of typed names in their folders; submodules are found through their package."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> ModuleSpec | None:
        """Return the module of a typed name; None for all others."""
        if path is not None:
            return None
        folders = {folder for name, folder in _typed.items() if folder and name.partition(".")[0] == fullname}
        return PathFinder.find_spec(fullname, sorted(folders), target) if folders else None


def allow(*typed: object, folder: Path | None = None) -> None:
    """Let the dotted names that texts begin with (`my_lab.Mine:k=3`) be imported, also from a folder: the user typed them."""
    for text in typed:
        name = text.partition(":")[0] if isinstance(text, str) else ""
        if "." in name and all(part.isidentifier() for part in name.split(".")):
            _typed[name] = _typed.get(name) if folder is None else str(folder.absolute())
    if any(_typed.values()) and not any(isinstance(finder, _TypedModules) for finder in sys.meta_path):
        sys.meta_path.append(_TypedModules())


def allowed() -> Mapping[str, str | None]:
    """Return all typed names, for another process of the same job."""
    return dict(_typed)


def allow_same(names: Mapping[str, str | None]) -> None:
    """Allow what another process of the same job does."""
    for name, folder in names.items():
        allow(name, folder=None if folder is None else Path(folder))


def imported(option: str, name: str) -> object:
    """Import what a dotted name of ours finds, or one that the user typed; `option` is what the user calls it."""
    if name not in _typed and name.partition(".")[0] != __name__.partition(".")[0]:
        raise BadOption(option, name, "a file names it, and only what you type yourself is imported; give it if you trust it")
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except Exception as error:  # a user's file may fail in any way when it is imported
        reason = f"it cannot be imported ({type(error).__name__}: {error})"
        raise BadOption(option, name, f"{reason}; {_remedy(module, error)}") from None


def _remedy(module: str, error: Exception) -> str:
    """Return what would be right."""
    top, missing = module.partition(".")[0], (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    if missing.partition(".")[0] in ("", top):
        return "give a dotted name that Python can import"
    return f"install {missing}; modules of yours that import each other belong into one package: my_lab.{top}, my_lab.{missing}"


def leave_working_folder() -> None:
    """Take the working folder off `sys.path`, unless PYTHONPATH names it in words.

    `python -m` puts it there, and so does an empty entry of PYTHONPATH (a colon at its end).
    """
    ours, here = str(Path(__file__).parents[1]), ""
    with suppress(FileNotFoundError):  # somebody has removed it
        here = os.getcwd()
    named = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if here not in (ours, *named):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
