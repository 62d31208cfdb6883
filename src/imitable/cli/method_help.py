# SPDX-License-Identifier: MIT
"""`--method NAME:help`: every key of a method, its default and what it does."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, cast

from imitable.cli.console import document, say, table
from imitable.cli.verbs import Common
from imitable.spec_text import method_value


def helped(common: Common, text: str, parse: Callable[[str], Any]) -> bool:
    """Show the keys of a method's dataclass if its text asks for them; return whether it did."""
    name = text.removesuffix(":help")
    if name == text:
        return False
    method = parse(name)
    kind = cast(type[Any], type(method))
    rows = [(field.name, method_value(getattr(method, field.name)), _about(kind, field.name)) for field in fields(method)]
    table(common, f"{name}: keys and defaults", ("key", "default", "about"), rows)
    presets = list(getattr(kind, "presets", {}))
    if presets:
        say(common, f"presets: {', '.join(presets)} ({name}:preset=NAME, further keys differ from it)")
    document(common, {"method": name, "keys": {key: default for key, default, _ in rows}, "presets": presets})
    return True


def _about(kind: type[Any], key: str) -> str:
    """Return the line under a field, which dataclasses do not keep, from the source of the class that names it last."""
    owner = next(base for base in kind.__mro__ if key in inspect.get_annotations(base))
    source = inspect.getsource(owner).splitlines()
    place = next(i for i, line in enumerate(source) if line.strip().startswith(f"{key}:"))
    following = source[place + 1].strip() if place + 1 < len(source) else ""
    return following.strip('"') if following.startswith('"""') else ""
