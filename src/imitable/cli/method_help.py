# SPDX-License-Identifier: MIT
"""`--method NAME:help`: every key of a method, its default and what it does."""

import inspect
from dataclasses import fields
from typing import Any, cast

from imitable.cli.console import document, say, table
from imitable.cli.verbs import Common
from imitable.spec_text import method_value


def show_keys(common: Common, name: str, method: Any) -> None:
    """Show the keys of a method's dataclass."""
    kind = cast(type[Any], type(method))
    rows = [(field.name, method_value(getattr(method, field.name)), _about(kind, field.name)) for field in fields(method)]
    table(common, f"{name}: keys and defaults", ("key", "default", "about"), rows)
    presets = list(getattr(kind, "presets", {}))
    if presets:
        say(common, f"presets: {', '.join(presets)} ({name}:preset=NAME, further keys differ from it)")
    document(common, {"method": name, "keys": {key: default for key, default, _ in rows}, "presets": presets})


def _about(kind: type[Any], key: str) -> str:
    """Return the line under a field, which dataclasses do not keep, from the source."""
    source = inspect.getsource(kind).splitlines()
    places = [i for i, line in enumerate(source) if line.strip().startswith(f"{key}:")]
    following = source[places[0] + 1].strip() if places and places[0] + 1 < len(source) else ""
    return following.strip('"') if following.startswith('"""') else ""
