# SPDX-License-Identifier: MIT
"""The command line: reads the arguments, carries out the verb, turns errors into exit codes.

0 done; 1 our fault; 2 bad input, said in one line; 3 a rule of --fail-on is broken; 130 interrupted.
"""

import contextlib
import io
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import cast

import tyro

from imitable import __version__
from imitable.cli.complaint import complaint
from imitable.cli.verbs import VERBS, Common, Report, Verb
from imitable.errors import BadOption, ImitableError, ScoreWarning, printable
from imitable.files import check_apart
from imitable.runtime import one_thread
from imitable.user_code import allow


def parse(arguments: Sequence[str]) -> Verb:
    """Return the verb that the arguments ask for."""
    if list(arguments) == ["--version"]:
        print(f"imitable {__version__}")
        sys.exit()
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.extras.subcommand_cli_from_dict(
                VERBS,
                prog="imitable",
                description="Which demonstrations, recorded on other bodies, can your robot imitate?",
                args=arguments,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as leave:
        if leave.code:
            _complain(complaint(arguments, said.getvalue()))
        raise


def _complain(line: str, before: str = "") -> None:
    """Print why nothing came of it; a stderr that cannot be written to changes no exit code."""
    with contextlib.suppress(OSError):
        print(f"{before}imitable: {printable(line)}", file=sys.stderr)


def _typed_names(verb: Verb) -> Iterator[str]:
    """Yield all texts of a verb that may begin with the dotted name of the user's own code."""
    for option in ("method", "methods", "learners", "reward", "driver"):
        value: str | Sequence[str] | None = getattr(verb, option, None)
        yield from [value] if isinstance(value, str) else value or ()


def _clean_up_when_interrupted() -> None:
    """Let ctrl-C and SIGTERM be exceptions, unless whoever started the process has them ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def _check_common(common: Common) -> None:
    if common.seed < 0:
        raise BadOption("--seed", common.seed, "give a whole number from 0 on")
    if common.threads < 0:
        raise BadOption("--threads", common.threads, "give a whole number from 0 on (0: all cores)")


def _check_outputs(verb: Verb) -> None:
    """Refuse an output that is one of the inputs, or lies inside one."""
    outputs, inputs = list[Path](), list[str | Path]()
    for field in fields(verb):
        value: object = getattr(verb, field.name)
        several = cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,)
        paths = [one for one in several if isinstance(one, Path)]
        (outputs if field.name in ("out", "repair", "records") else inputs).extend(paths)
        if field.name in ("imitator", "spec", "specs", "begin"):  # robots of files; one of ours may be a folder's name, too
            named = [text.partition(":")[0] for text in several if isinstance(text, str)]
            inputs.extend(text for text in named if Path(text).is_file())
    for out in outputs:  # a report may lie in the folder that it is about
        check_apart(out, (path for path in inputs if Path(path).is_file()) if isinstance(verb, Report) else inputs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    try:
        verb = parse(sys.argv[1:] if arguments is None else arguments)
        allow(*_typed_names(verb), folder=Path())
        one_thread()  # before NumPy and JAX are imported with the verb's own file
        _check_common(verb.common)
        _check_outputs(verb)
        module = import_module(f"imitable.cli.{type(verb).__name__.lower()}")
        _clean_up_when_interrupted()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreWarning)  # verbs print remarks themselves
            module.run(verb)
    except ImitableError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt as interrupt:
        remains = str(interrupt) or "Nothing was written: outputs appear when they are complete."
        _complain(f"interrupted. {remains}", before="\n")
        sys.exit(130)
