# SPDX-License-Identifier: MIT
"""Commands as text that a person can copy into a shell."""

import shlex
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import cast

NO_DEFAULTS: Mapping[str, object] = MappingProxyType({})


def command(
    verb: str,
    positionals: Iterable[object] = (),
    options: Mapping[str, object] = NO_DEFAULTS,
    defaults: Mapping[str, object] = NO_DEFAULTS,
) -> str:
    """Return `imitable VERB POSITIONAL… --option value …`, quoted for a shell, naming only what differs from the defaults.

    Args:
        verb: such as `score`.
        positionals: written in their order.
        options: values by name, in the spelling of Python (`leave_out` becomes `--leave-out`), in their order. An option that
            is None, False or empty is left out; True stands as a bare flag, a tuple as several values.
        defaults: an option that equals its default is left out too.
    """
    words = ["imitable", verb, *map(str, positionals)]
    for name, value in options.items():
        if value is None or value is False or value in ("", ()) or (name in defaults and defaults[name] == value):
            continue
        words.append(f"--{name.replace('_', '-')}")
        words += (
            [] if value is True else map(str, cast(tuple[object, ...], value)) if isinstance(value, tuple) else [str(value)]
        )
    return shlex.join(words)
