# SPDX-License-Identifier: MIT
"""The options of a verb as they are typed."""

import dataclasses
from typing import Any, get_type_hints

import tyro

from imitable.cli.verbs import Common, Verb


def flags(verb: type[Verb]) -> list[str]:
    """Return the options of a verb, the common ones last."""
    hints: dict[str, Any] = get_type_hints(verb, include_extras=True)
    own = [
        field.name
        for field in dataclasses.fields(verb)
        if field.name != "common" and tyro.conf.Positional not in getattr(hints[field.name], "__metadata__", ())
    ]
    names = [*own, *(field.name for field in dataclasses.fields(Common)), "help"]
    return [f"--{name.replace('_', '-')}" for name in names]
