# SPDX-License-Identifier: MIT
"""The entry point: reads the arguments, carries out the verb, turns errors into exit codes.

0 done; 1 our fault; 2 bad input, said in one line; 3 a rule of --fail-on is broken; 130 interrupted.
"""

import contextlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import tyro

from imitable import __version__
from imitable.cli.complaint import complaint
from imitable.cli.verbs import VERBS, Common, Verb
from imitable.errors import BadOption, ImitableError
from imitable.runtime import one_thread


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
            print(f"imitable: {complaint(arguments, said.getvalue())}", file=sys.stderr)
        raise


def _show_what_can_be_shown() -> None:
    """Let a terminal without Unicode show ? for what it lacks."""
    if (reconfigure := getattr(sys.stdout, "reconfigure", None)) is not None:  # a stream of a test has none
        reconfigure(errors="replace")


def _check_common(common: Common) -> None:
    if common.seed < 0:
        raise BadOption("--seed", common.seed, "give a whole number from 0 on")
    if common.threads < 0:
        raise BadOption("--threads", common.threads, "give a whole number from 0 on (0: all cores)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    try:
        verb = parse(sys.argv[1:] if arguments is None else arguments)
        _show_what_can_be_shown()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up as for ctrl-C
        sys.path.append(str(Path.cwd()))  # a method or reward of yours is found by its dotted name in the folder you stand in
        one_thread()  # before NumPy and JAX are imported with the verb's own file
        _check_common(verb.common)
        import_module(f"imitable.cli.{type(verb).__name__.lower()}").run(verb)
    except ImitableError as error:
        print(f"imitable: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt as interrupt:
        remains = str(interrupt) or "Nothing was written: outputs appear when they are complete."
        print(f"\nimitable: interrupted. {remains}", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has enough: flush no more into its pipe


if __name__ == "__main__":
    main()
