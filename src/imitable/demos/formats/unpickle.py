# SPDX-License-Identifier: MIT
"""Pickles without their danger: numbers, texts, containers and NumPy arrays are read, what could run code is refused."""

import io
import pickle
import pickletools
from importlib import import_module
from pathlib import Path
from typing import Any

from imitable.errors import BadDataset

ALLOWED = {
    (module, name): name
    for modules, names in (
        (("numpy.core.multiarray", "numpy._core.multiarray"), ("_reconstruct", "scalar")),
        (("numpy.core.numeric", "numpy._core.numeric"), ("_frombuffer",)),
        (("numpy",), ("ndarray", "dtype")),
        (("_codecs",), ("encode",)),
        (("collections",), ("OrderedDict",)),
    )
    for module in modules
    for name in names
}
"""What NumPy's own pickles name. None of these does more than make an array, a number or a mapping."""

FORBIDDEN = {"INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"}
"""Operations that plain data never need: they make objects of named classes, or ask the reader to find something."""


def read_pickle(path: Path) -> Any:
    """Return what a pickle of plain data holds; one with a forbidden operation is refused before any of it is carried out."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadDataset(str(path), error.strerror or str(error)) from None
    _check_operations(path, data)
    try:
        return _Restricted(path, io.BytesIO(data), encoding="latin1").load()
    except BadDataset:
        raise
    except Exception as error:  # a garbled pickle may raise anything
        raise BadDataset(str(path), f"it is no whole pickle ({error})") from None


def _check_operations(path: Path, data: bytes) -> None:
    try:
        for operation, _, position in pickletools.genops(data):
            if operation.name in FORBIDDEN:
                reason = f"byte {position} is the pickle operation {operation.name}, which could run code; nothing was run"
                raise BadDataset(str(path), reason)
    except BadDataset:
        raise
    except Exception as error:
        raise BadDataset(str(path), f"it is no whole pickle ({error})") from None


class _Restricted(pickle.Unpickler):
    """An unpickler that finds NumPy's own builders and nothing else."""

    def __init__(self, path: Path, file: io.BytesIO, *, encoding: str) -> None:
        super().__init__(file, encoding=encoding)
        self._path = path

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return an allowed builder."""
        if (module_name, global_name) not in ALLOWED:
            raise BadDataset(str(self._path), f"it asks for {module_name}.{global_name}, which could run code; nothing was run")
        # NumPy 2 has moved its builders; pickles of either are read by either
        new = module_name.replace("numpy.core", "numpy._core")
        return getattr(import_module(new), global_name)
