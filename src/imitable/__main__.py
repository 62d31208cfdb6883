# SPDX-License-Identifier: MIT
"""The program `imitable`, also as `python -m imitable`: signals, streams and `sys.path`, before anything heavy is imported."""

import io
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from shutil import get_terminal_size
from traceback import format_exc
from types import FrameType
from typing import TYPE_CHECKING

from imitable.errors import printable
from imitable.user_code import leave_working_folder

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

NARROWEST = 40
"""Characters per line below which help cannot be laid out; a narrower terminal wraps its lines."""


def start() -> None:
    """Run the command line, and end the process with its exit code."""
    _leave_when_interrupted()
    leave_working_folder()
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # nor do processes import from it that we or a library start
    code = _carried_out(_prepared_stdout())
    _leave_when_interrupted()
    sys.exit(code)


def _leave_when_interrupted() -> None:
    """Let ctrl-C and SIGTERM end the process at once, unless whoever started it has them ignored, as nohup does."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    """Leave: a library that is being imported, and an interpreter that is ending, would make something else of an exception."""
    del number, frame
    with suppress(OSError):
        os.write(2, b"\nimitable: interrupted.\n")
    os._exit(130)


class _Stdout(io.FileIO):
    """File descriptor 1, which remembers why it could not be written to."""

    failure: OSError | None = None

    def write(self, data: "Buffer", /) -> int | None:
        """Write; a failure is remembered."""
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            raise


def _prepared_stdout() -> _Stdout:
    """Give the process streams that take any text, whatever it was started with; return the standard output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the process
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False))
        getattr(sys, name).reconfigure(errors="replace")  # a terminal without Unicode shows ? for what it lacks
    before, stdout = sys.stdout, _Stdout(sys.stdout.fileno(), "w", closefd=False)
    if os.name == "posix":  # a console of Windows is no file
        buffer = io.BufferedWriter(stdout)
        sys.stdout = io.TextIOWrapper(buffer, before.encoding, "replace", line_buffering=sys.stdout.isatty())
    if get_terminal_size().columns < NARROWEST:
        os.environ["COLUMNS"] = str(NARROWEST)
    return stdout


def _carried_out(stdout: _Stdout) -> int:
    """Carry out the verb and empty all buffers; return the exit code."""
    code = 0
    try:
        import_module("imitable.cli.main").main()
        sys.stdout.flush()
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
        with suppress(OSError):
            sys.stdout.flush()
    except Exception:
        if stdout.failure is None:
            _complain("\n".join(map(printable, format_exc().splitlines())))
            code = 1
    if stdout.failure is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())  # what could not be written is not tried again
    if stdout.failure is None or isinstance(stdout.failure, BrokenPipeError):  # a reader that has enough is no error
        return code
    _complain(f"imitable: cannot write to the standard output: {stdout.failure.strerror}")
    return code or 2


def _complain(text: str) -> None:
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    start()
