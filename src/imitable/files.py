# SPDX-License-Identifier: MIT
"""Files that are whole or not there: write beside, then rename."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from imitable.errors import BadOption, Busy, CannotWrite, OutputExists
from imitable.observer import SILENT, Observer

try:
    import fcntl
except ImportError:  # Windows has no flock: nothing is locked there
    fcntl = None

DRAFT, NEW, OLD = ".imitable", "new", "old"
"""How the names of hidden folders end, and what is in one: what is being written, and for a moment what it replaces."""


@dataclass(frozen=True, init=False)
class Output:
    """Where the results of a job go, and who is told on the way."""

    path: Path | None
    """File or folder; None: results stay in memory."""
    resume: bool
    """Go on with what is there, if its settings are the same."""
    overwrite: bool
    """Replace what is there."""
    observer: Observer
    """Told how far the job is."""

    def __init__(
        self, path: str | Path | None = None, resume: bool = False, overwrite: bool = False, observer: Observer = SILENT
    ) -> None:
        check_modes(resume=resume, overwrite=overwrite)
        values = {"path": None if path is None else Path(path), "resume": resume, "overwrite": overwrite, "observer": observer}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, out: "str | Path | Output | None") -> "Output":
        """Return what a caller gave, as an output: a bare path is neither resumed nor overwritten."""
        return out if isinstance(out, Output) else cls(out)


def content_hash(path: str | Path) -> str:
    """Return a hash of a file's contents, whatever its name and date."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:32]


def check_free(path: Path, *, overwrite: bool, resume: bool = False) -> None:
    """Refuse an output that exists, unless it may be replaced."""
    check_kind(path)
    if path.exists() and not overwrite:
        raise OutputExists(str(path), resume=resume)


def check_kind(path: Path) -> None:
    """Refuse to replace what is neither a file nor a folder, whatever the user allows: a device, a pipe, a socket, a link."""
    if not os.path.lexists(path):
        return
    mode = path.lstat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = "a symbolic link" if stat.S_ISLNK(mode) else "a device, a pipe or a socket"
        raise CannotWrite(str(path), f"it is {kind}, and only files and folders are replaced; name another place")


def check_only(folder: Path, *patterns: str) -> None:
    """Refuse to replace a folder that holds anything but files of these names: it is not one that we wrote."""
    for file in folder.rglob("*") if folder.is_dir() else ():
        plain = not file.is_symlink()
        ours = plain and file.is_file() and any(file.relative_to(folder).match(pattern) for pattern in patterns)
        if not ours and not (plain and file.is_dir()):
            raise CannotWrite(str(folder), f"{file.name} stands there, which is none of ours: it is not replaced")


def check_apart(out: Path, inputs: Iterable[str | Path]) -> None:
    """Refuse an output that is one of the inputs, or lies inside one: what is read is never written to."""
    place = out.resolve()
    for given in map(Path, sorted(set(map(str, inputs)) - {""})):  # demonstrations in memory have no source
        if given.exists() and given.resolve() in (place, *place.parents):
            where = f"it {'is' if given.resolve() == place else 'lies inside'} {given}"
            raise BadOption("out", out, f"{where}, which is only read; name a place outside")


def check_modes(*, resume: bool, overwrite: bool) -> None:
    """Refuse to go on with an output and to replace it at once."""
    if resume and overwrite:
        raise BadOption("--resume", "with --overwrite", "give --resume to continue, or --overwrite to begin anew")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically; a full disk leaves neither a new file nor a damaged old one."""
    with new_files(path) as (file,):
        file.write_bytes(data)


def append_line(path: Path, line: str) -> None:
    """Add a line to a text file."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None


@contextmanager
def keeping(*paths: Path, then: str = "give --resume to continue") -> Generator[None]:
    """Let an error of writing in the block name those of `paths` that stand on the disk all the same, and how to go on."""
    try:
        yield
    except CannotWrite as error:
        if not (left := [str(path) for path in paths if path.exists()]):
            raise
        raise CannotWrite(error.path, error.reason, f"kept: {', '.join(left)}; make room, then {then}") from None


@contextmanager
def new_files(*paths: Path) -> Generator[list[Path]]:
    """Give paths of drafts to write; they take the places of `paths` when the block ends well, else all vanish.

    All are in one folder. The first is the one that makes the others complete: it takes its place last.
    """
    for path in paths:
        check_kind(path)
    with draft(paths[0]) as folder:
        drafts = [folder / path.name for path in paths]
        yield drafts
        written = [(new, path) for new, path in zip(drafts, paths, strict=True) if new.exists()]
        for new, _ in written:
            with new.open("rb+") as file:
                os.fsync(file.fileno())
        for new, path in reversed(written):
            new.replace(path)


@contextmanager
def new_folder(path: Path) -> Generator[Path]:
    """Give a draft to fill; it takes the place of `path` when the block ends well, and vanishes otherwise."""
    check_kind(path)
    with draft(path) as folder:
        yield folder
        if path.exists():  # what stood there is removed with the draft, when the new one stands
            path.rename(folder.with_name(OLD))
        folder.rename(path)


@contextmanager
def draft(path: Path) -> Generator[Path]:
    """Give an empty folder inside a hidden one beside `path`, which vanishes at the end of the block.

    The hidden folder is locked as long as its process lives: what a killed one left is removed by whoever writes there next.
    """
    with _parents(path):
        try:
            sweep(path.parent)
            hidden, handle = _new_hidden(path)
            try:
                (new := hidden / NEW).mkdir()
                yield new
            except CannotWrite as error:  # of a draft within the draft, which nobody outside can name
                raise CannotWrite(str(path), error.reason) if hidden in Path(error.path).parents else error from None
            finally:
                _clear(hidden)
                if handle is not None:
                    os.close(handle)
        except OSError as error:
            raise CannotWrite(str(path), error.strerror or str(error)) from None


def _new_hidden(path: Path) -> tuple[Path, int | None]:
    """Make a hidden folder and lock it; another process may have swept it away in between."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            hidden = Path(tempfile.mkdtemp(DRAFT, f".{path.name}.", path.parent))
        except FileNotFoundError:  # another job that ended has just removed the empty folder that it made
            continue
        handle = _hold(hidden, wait=True)
        if hidden.exists():
            return hidden, handle
        if handle is not None:
            os.close(handle)


@contextmanager
def _parents(path: Path) -> Generator[None]:
    """Remove the folders above `path` that the block makes, if they are empty at its end."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        yield
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()


def sweep(folder: Path) -> None:
    """Remove the drafts that dead processes left in a folder."""
    for hidden in folder.glob(f".*{DRAFT}"):
        if (handle := _hold(hidden)) is not None:
            _clear(hidden)
            os.close(handle)


def _clear(hidden: Path) -> None:
    """Remove a draft; if its process ended just when it replaced what stood at the path, that goes back there first."""
    old, place = hidden / OLD, hidden.with_name(hidden.name[1:].removesuffix(DRAFT).rpartition(".")[0])
    with suppress(OSError):
        if os.path.lexists(old) and not os.path.lexists(place):
            old.rename(place)
        shutil.rmtree(hidden, ignore_errors=True)


def _hold(hidden: Path, *, wait: bool = False) -> int | None:
    """Return an open and locked draft; None if it is gone, another process has it, or the file system has no locks."""
    if fcntl is None:
        return None
    handle = None
    try:
        handle = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if handle is not None:
            os.close(handle)
        return None
    return handle


def check_writable(path: Path) -> None:
    """Refuse an output file that cannot be written, before hours of work rather than after; leave nothing behind."""
    if not path.name or path.is_dir():
        raise CannotWrite(str(path), "it is a folder; name a file")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    with draft(parent / path.name):
        pass


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Generator[None]:
    """Keep other processes from writing `path` (a file or folder) in the block; if one does already, refuse, or wait for it.

    The lock is the system's (`flock` on a file beside `path`): it ends with the process that holds it, however that ends.
    """
    lock = path.absolute().with_name(f".{path.name}.lock")
    with _parents(lock):
        try:
            handle = _locked(lock, wait=wait)
        except BlockingIOError:
            raise Busy(str(path)) from None
        except OSError as error:
            raise CannotWrite(str(path), error.strerror or str(error)) from None
        try:
            sweep(lock.parent)
            yield
        finally:
            lock.unlink(missing_ok=True)
            os.close(handle)


def _locked(lock: Path, *, wait: bool) -> int:
    """Return an open file that is locked and still stands at its name: its last holder may have removed it meanwhile."""
    while True:
        lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o644)
        except FileNotFoundError:  # another job that ended has just removed the empty folder that it made
            continue
        try:
            if fcntl is None:
                return handle
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.fstat(handle).st_ino == lock.stat().st_ino:
                    return handle
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
