# SPDX-License-Identifier: MIT
"""Files that are whole or not there: write beside, then rename."""

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from imitable.errors import BadOption, Busy, CannotWrite, OutputExists
from imitable.observer import SILENT, Observer

try:
    import fcntl
except ImportError:  # Windows has no flock: nothing is locked there
    fcntl = None


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


def check_modes(*, resume: bool, overwrite: bool) -> None:
    """Refuse to go on with an output and to replace it at once."""
    if resume and overwrite:
        raise BadOption("--resume", "with --overwrite", "give --resume to continue, or --overwrite to begin anew")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically; a full disk leaves neither a new file nor a damaged old one."""
    check_kind(path)
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def append_line(path: Path, line: str) -> None:
    """Add a line to a text file."""
    try:
        with path.open("a") as file:
            file.write(line + "\n")
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None


@contextmanager
def new_file(path: Path) -> Generator[Path]:
    """Give the path of a temporary file to write; it takes the place of `path` when the block ends well, else it vanishes."""
    check_kind(path)
    with new_folder(path.with_name(f"{path.name}.draft")) as folder:
        yield folder / path.name
        os.replace(folder / path.name, path)
    path.with_name(f"{path.name}.draft").rmdir()


@contextmanager
def new_folder(path: Path) -> Generator[Path]:
    """Give a temporary folder to fill; it takes the place of `path` when the block ends well, and vanishes otherwise."""
    check_kind(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    try:
        yield temporary
        temporary.chmod(0o755)
        _take_place(temporary, path)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _take_place(temporary: Path, path: Path) -> None:
    """Rename `temporary` to `path`; what stood there is removed only when the new one stands."""
    if not path.exists():
        temporary.rename(path)
        return
    old = temporary.with_name(f"{temporary.name}.old")
    path.rename(old)
    try:
        temporary.rename(path)
    except OSError:
        old.rename(path)
        raise
    if old.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink()


def check_writable(path: Path) -> None:
    """Refuse an output file that cannot be written, before hours of work rather than after; leave nothing behind."""
    if not path.name or path.is_dir():
        raise CannotWrite(str(path), "it is a folder; name a file")
    parent = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=parent):
            pass
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None


@contextmanager
def locked(path: Path, *, wait: bool = False) -> Generator[None]:
    """Keep other processes from writing `path` (a file or folder) in the block; if one does already, refuse, or wait for it.

    The lock is the system's (`flock` on a file beside `path`): it ends with the process that holds it, however that ends.
    """
    lock = path.absolute().with_name(f".{path.name}.lock")
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = _locked(lock, wait=wait)
    except BlockingIOError:
        raise Busy(str(path)) from None
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(handle)


def _locked(lock: Path, *, wait: bool) -> int:
    """Return an open file that is locked and still stands at its name: its last holder may have removed it meanwhile."""
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o644)
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
