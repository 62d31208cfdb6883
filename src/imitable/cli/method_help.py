# SPDX-License-Identifier: MIT
"""`--method NAME:help`: every key of a method, its default, what it may be and what it does."""

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

from imitable.cli.console import document, say, table
from imitable.cli.verbs import Common
from imitable.spec_text import OneOf, Range, bound, keys_of, method_value


def helped(common: Common, text: str, parse: Callable[[str], Any]) -> bool:
    """Show the keys of a method's dataclass if its text asks for them; return whether it did."""
    name = text.removesuffix(":help")
    if name == text:
        return False
    method = parse(name)
    kind = cast(type[Any], type(method))
    keys = keys_of(kind)
    defaults = {name: method_value(attrgetter(name)(method)) for name in keys}
    allowed = {name: _allowed(key.owner, key.field) for name, key in keys.items()}
    rows = [(name, defaults[name], allowed[name], _about(key.owner, key.field)) for name, key in keys.items()]
    table(common, f"{name}: keys and defaults", ("key", "default", "allowed", "about"), rows)
    presets = list(getattr(kind, "presets", {}))
    if presets:
        say(common, f"presets: {', '.join(presets)} ({name}:preset=NAME, further keys differ from it)")
    document(common, {"method": name, "keys": defaults, "allowed": allowed, "presets": presets})
    return True


def _allowed(kind: type[Any], key: str) -> str:
    """Return the numbers or words that a field may be, as far as its annotation says."""
    if (limits := bound(kind, key, Range)) is not None:
        return f"{limits.low:g} to {limits.high:g}"
    choices = bound(kind, key, OneOf)
    return "" if choices is None else ", ".join(choices.choices)


def _about(kind: type[Any], key: str) -> str:
    """Return the line under a field, which dataclasses do not keep, from the source of the class that names it last."""
    owner = next(base for base in kind.__mro__ if key in inspect.get_annotations(base))
    source = inspect.getsource(owner).splitlines()
    place = next(i for i, line in enumerate(source) if line.strip().startswith(f"{key}:"))
    following = source[place + 1].strip() if place + 1 < len(source) else ""
    return following.strip('"') if following.startswith('"""') else ""
