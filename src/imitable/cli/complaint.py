# SPDX-License-Identifier: MIT
"""What is wrong with a command line, in one line; the argument parser says it in a box of many."""

import difflib
import re
from collections.abc import Sequence
from itertools import takewhile

from imitable.cli.flags import flags
from imitable.cli.verbs import VERBS
from imitable.errors import one_of

NEEDLESS = re.compile(r" from imitable \w+| \(required\)| (Argument helptext:|Got errors:|For full helptext).*")
"""What a line need not say: the verb and a default that is none, and from some words on all, which repeats the help."""


def complaint(arguments: Sequence[str], boxed: str) -> str:
    """Return why arguments cannot be read; `boxed` is what the parser says of them."""
    verb, *rest = arguments or ("-",)
    if verb.startswith("-"):
        return f"name a verb first: {', '.join(VERBS)}"
    if verb not in VERBS:
        return f"there is no verb {verb!r}: {one_of(verb, VERBS)}"
    options = takewhile(lambda one: one != "--", rest)  # what comes after it are no options
    known, typed = flags(VERBS[verb]), [one.partition("=")[0] for one in options if one.startswith("--")]
    unknown = [one for one in typed if one.replace("_", "-") not in known]
    words = _no_such(unknown[0], known) if unknown else _sentence(boxed)
    return f"{verb}: {words} (imitable {verb} --help)"


def _no_such(flag: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(flag.lstrip("-"), [one.lstrip("-") for one in known], n=1)
    return f"there is no option {flag}{f', did you mean --{close[0]}?' if close else ''}"


def _sentence(boxed: str) -> str:
    """Return what is inside a box, without its title and what repeats the help."""
    lines = (line.strip("│─ ") for line in boxed.splitlines() if not line.startswith(("╭", "╰")))
    return NEEDLESS.sub("", " ".join(line for line in lines if line))
