# SPDX-License-Identifier: MIT
import errno
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from imitable.errors import BadOption, BadTrajectory, Busy, CannotWrite, OutputExists
from imitable.files import Output, append_line, check_free, check_only, locked, new_files, new_folder, write_bytes


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(handle: int) -> None:
        del handle
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)


def test_a_line_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    append_line(tmp_path / "lines", "one")
    append_line(tmp_path / "lines", "two")
    assert (tmp_path / "lines").read_text() == "one\ntwo\n"
    with pytest.raises(CannotWrite, match="No space left on device"):
        append_line(Path("/dev/full"), "three")


class TestWriteBytes:
    def test_writes_and_replaces(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "folder" / "file.bin"
        for data in (b"one", b"two"):
            write_bytes(path, data)
            assert path.read_bytes() == data
        assert names(path.parent) == ["file.bin"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o644

    @pytest.mark.usefixtures("full_disk")
    def test_a_full_disk_leaves_nothing_new(self, tmp_path: Path) -> None:
        with pytest.raises(CannotWrite, match="No space left on device; nothing was left behind"):
            write_bytes(tmp_path / "file.bin", b"data")
        assert names(tmp_path) == []

    @pytest.mark.usefixtures("full_disk")
    def test_a_full_disk_keeps_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "file.bin"
        path.write_bytes(b"old")
        with pytest.raises(CannotWrite):
            write_bytes(path, b"new")
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["file.bin"]

    def test_a_parent_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(CannotWrite, match="file/below"):
            write_bytes(tmp_path / "file" / "below", b"data")

    def test_a_target_that_is_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        with pytest.raises(CannotWrite):
            write_bytes(tmp_path / "folder", b"data")
        assert names(tmp_path) == ["folder"]


class TestNewFolder:
    def test_appears_whole(self, tmp_path: Path) -> None:
        target = tmp_path / "deep" / "run"
        with new_folder(target) as folder:
            (folder / "a.txt").write_text("a")
            assert not target.exists()
            assert folder.parent.parent == target.parent, "on the same disk, so that renaming is atomic"
        assert names(target) == ["a.txt"]
        assert names(target.parent) == ["run"]
        assert stat.S_IMODE(target.stat().st_mode) == 0o755

    def test_replaces_what_stood_there(self, tmp_path: Path) -> None:
        target = tmp_path / "run"
        target.mkdir()
        (target / "old.txt").write_text("old")
        with new_folder(target) as folder:
            (folder / "new.txt").write_text("new")
            assert names(target) == ["old.txt"]
        assert names(target) == ["new.txt"]
        assert names(tmp_path) == ["run"]

    def test_replaces_a_file(self, tmp_path: Path) -> None:
        target = tmp_path / "run"
        target.write_text("old")
        with new_folder(target) as folder:
            (folder / "new.txt").write_text("new")
        assert names(tmp_path) == ["run"]
        assert names(target) == ["new.txt"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), BadTrajectory("empty")])
    def test_vanishes_when_the_block_fails(self, tmp_path: Path, error: BaseException) -> None:
        target = tmp_path / "run"
        target.mkdir()
        (target / "old.txt").write_text("old")

        def fill() -> None:
            with new_folder(target) as folder:
                (folder / "half.txt").write_text("half")
                raise error

        with pytest.raises(type(error)):
            fill()
        assert names(tmp_path) == ["run"]
        assert names(target) == ["old.txt"]

    def test_a_disk_that_fills_up_is_told_in_our_words(self, tmp_path: Path) -> None:
        with pytest.raises(CannotWrite, match="No space left"), new_folder(tmp_path / "run"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        assert names(tmp_path) == []

    def test_a_parent_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        with pytest.raises(CannotWrite), new_folder(tmp_path / "file" / "run"):
            pass


class TestCheckFree:
    def test_refuses_what_exists(self, tmp_path: Path) -> None:
        check_free(tmp_path / "gone", overwrite=False)
        check_free(tmp_path, overwrite=True)
        with pytest.raises(OutputExists, match="--overwrite"):
            check_free(tmp_path, overwrite=False)
        with pytest.raises(OutputExists, match="--resume"):
            check_free(tmp_path, overwrite=False, resume=True)


class TestLocked:
    def test_another_process_is_refused_until_the_first_is_killed(self, tmp_path: Path) -> None:
        target = tmp_path / "runs" / "run"
        held = f"with locked(Path({str(target)!r})): print('held', flush=True); time.sleep(60)"
        code = f"from imitable.files import *; import time\n{held}"
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(Busy, match="another process is writing"), locked(target):
                pytest.fail("two held the lock")
            os.kill(holder.pid, signal.SIGKILL)
            holder.wait()
        with locked(target):
            pass

    def test_nothing_is_left_behind_and_it_can_be_taken_again(self, tmp_path: Path) -> None:
        for _ in range(2):
            with locked(tmp_path / "run"), pytest.raises(Busy), locked(tmp_path / "run"):
                pass
        assert names(tmp_path) == []

    def test_a_lock_that_cannot_be_written_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(CannotWrite), locked(tmp_path / "file" / "run"):
            pass


def test_an_output_is_a_path_with_manners() -> None:
    assert Output.of("scores.parquet") == Output(Path("scores.parquet"))
    assert Output.of(None).path is None
    assert Output.of(output := Output("run", resume=True)) is output
    with pytest.raises(BadOption, match="--resume"):
        Output("run", resume=True, overwrite=True)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


STRANGE: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "device": lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3)),
    "socket": _socket,
    "link to a file": lambda path: path.symlink_to(path.with_name("kept")),
    "link to a folder": lambda path: path.symlink_to(path.with_name("folder")),
    "link to nothing": lambda path: path.symlink_to(path.with_name("nothing")),
}
"""What is no file and no folder, and how to make it."""


@pytest.mark.parametrize("kind", STRANGE)
def test_only_files_and_folders_are_replaced(kind: str, tmp_path: Path) -> None:
    place, kept, folder = tmp_path / "place", tmp_path / "kept", tmp_path / "folder"
    kept.write_text("as it was")
    folder.mkdir()
    try:
        STRANGE[kind](place)
    except PermissionError:  # of a device: nobody but root makes one
        place.symlink_to("/dev/null")
    before = place.lstat()

    def filled() -> None:
        with new_folder(place):
            pass

    def filed() -> None:
        with new_files(place) as (draft,):
            draft.write_text("new")

    writes = (
        lambda: check_free(place, overwrite=True),
        lambda: check_free(place, overwrite=False, resume=True),
        lambda: write_bytes(place, b"new"),
        filled,
        filed,
    )
    for write in writes:
        with pytest.raises(CannotWrite, match="only files and folders are replaced"):
            write()
    after = place.lstat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert kept.read_text() == "as it was"
    assert names(tmp_path) == ["folder", "kept", "place"]


@pytest.mark.parametrize("kind", STRANGE)
def test_a_folder_with_something_strange_in_it_is_none_of_ours(kind: str, tmp_path: Path) -> None:
    (tmp_path / "ours.csv").write_text("")
    check_only(tmp_path, "*.csv")
    STRANGE[kind](tmp_path / "strange.csv")
    with pytest.raises(CannotWrite, match=r"strange\.csv stands there"):
        check_only(tmp_path, "*.csv")
