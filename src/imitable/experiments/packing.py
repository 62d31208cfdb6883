# SPDX-License-Identifier: MIT
"""Packing: the files of a piece of work on their way between machines that share no disk."""

import hashlib
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from imitable.experiments.code_hash import code_hash
from imitable.experiments.executors import Failure, tried
from imitable.experiments.store import RECORDS, Store
from imitable.experiments.work import Piece, Workshop
from imitable.feasibility.score_files import parts_path
from imitable.files import draft, locked, write_bytes

Files = dict[str, bytes]
"""Contents by path in a store."""


def local_workshop(workshop: Workshop) -> Workshop:
    """Return a workshop of the node's own, the same for all tasks of one store, so that broken work is found again.

    Other code has another one: what an earlier version left here must not pass for its own.
    """
    text = f"{workshop.store.path.absolute()}{workshop.protocol}{code_hash()}"
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"imitable-{name}"
    return replace(workshop, store=Store(place), records=place / RECORDS)


def files_at(store: Path, key: str) -> Files:
    """Return all files of a piece: a folder's, or a score file and what lies beside it under the same name."""
    path = store / key
    if path.is_dir():
        found = [one for one in path.rglob("*") if one.is_file()]
    else:
        found = [one for one in path.parent.glob(f"{path.stem}.*") if one.is_file()]
        found += [one for folder in path.parent.glob(f"{path.name}.*") if folder.is_dir() for one in folder.rglob("*")]
    files: Files = {}
    for one in found:
        with suppress(FileNotFoundError, IsADirectoryError):
            files[one.relative_to(store).as_posix()] = one.read_bytes()
    return files


def made_and_taken(piece: Piece, here: Workshop) -> tuple[Failure | None, Files]:
    """Make a piece on a node and take its files, both before another task of this node may begin with the same piece.

    Else two commands with one store would take from each other: half a folder would come back with a whole record.
    """
    with locked(here.store.path / f"{piece.key}.task", wait=True):
        return tried(piece, here), taken(piece, here)


def taken(piece: Piece, here: Workshop) -> Files:
    """Return what a node made of a piece, the record of a cell included, and leave neither run nor record of it there.

    A record that stayed behind would make the cell pass for done on this node, though its files may be lost on their way.
    """
    records = list(here.records.glob(f"{Path(piece.key).name}.json"))
    files = files_at(here.store.path, piece.key) | {f"{RECORDS}/{path.name}": path.read_bytes() for path in records}
    for path in records:  # first: a run without a record is gone on with, which takes no time if it is complete
        path.unlink()
    shutil.rmtree(here.store.path / piece.key, ignore_errors=True)
    return files


def unpack(files: Files, store: Path, key: str) -> None:
    """Write the files of a piece, whole or not at all: a folder takes its place at once, a score file comes after its company.

    Another task of this node may have done so meanwhile; then its files stay, because somebody may be reading them.
    """
    folder = {name.removeprefix(f"{key}/"): content for name, content in files.items() if name.startswith(f"{key}/")}
    for name, content in sorted(files.items(), key=lambda item: item[0] == key):
        if not name.startswith(f"{key}/"):
            write_bytes(store / name, content)
    if folder:
        target = store / key
        with draft(target) as whole:
            for name, content in folder.items():
                write_bytes(whole / name, content)
            with suppress(OSError):  # it is there by now
                whole.rename(target)


def keep(piece: Piece, files: Files, workshop: Workshop) -> None:
    """Write what a task made into the driver's store, the record of a cell last: with it the cell is done."""
    records = {name: content for name, content in files.items() if name.startswith(f"{RECORDS}/")}
    if not files:
        return
    path = workshop.store.path / piece.key
    for begun in (path, parts_path(path)):  # here, and ended there
        shutil.rmtree(begun, ignore_errors=True)
    unpack({name: content for name, content in files.items() if name not in records}, workshop.store.path, piece.key)
    for name, content in records.items():
        write_bytes(workshop.records / Path(name).name, content)
