# SPDX-License-Identifier: MIT
"""Robots and methods as text: `NAME[:KEY=VALUE[,KEY=VALUE…]]`."""

import dataclasses
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from numbers import Real
from operator import attrgetter
from pathlib import Path
from types import GenericAlias
from typing import Any, TypeVar, cast, get_type_hints

from imitable.errors import BadOption, BadSpec, one_of
from imitable.user_code import imported

Bound = TypeVar("Bound", "Range", "OneOf")

MODEL_SUFFIXES = (".xml", ".urdf", ".mjcf")
"""A path ends here, so that it may hold colons and commas of its own."""


def split(text: str) -> tuple[str, dict[str, str]]:
    """Split `NAME:KEY=VALUE,…` into the name and its settings; a path is split after its suffix, unless it is a value."""
    suffix = "|".join(map(re.escape, MODEL_SUFFIXES))
    valued = re.match(r"\w+:([\w.]+=[\w.]+,)*model=", text)
    path = None if valued else re.match(rf".*?({suffix})(?=:|$)", text) or re.match(rf".*?({suffix})", text)
    cut = path.end() if path else text.find(":")
    name, rest = (text, "") if cut < 0 else (text[:cut], text[cut:])
    if not name or (rest and not rest.startswith(":")):
        raise BadSpec(text, "it has no name" if not name else f"unexpected {rest!r} after the file name")
    settings: dict[str, str] = {}
    for part in filter(None, rest.removeprefix(":").split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not key or not equals or not value:
            raise BadSpec(text, f"{part!r} is not KEY=VALUE")
        if key in settings:
            raise BadSpec(text, f"{key!r} is given twice")
        settings[key] = value
    return name, settings


def find_method(text: str, homes: Mapping[str, str], needs: Sequence[str] = ()) -> type[Any]:
    """Return the class that `text` names: a built-in one (`homes`: name → module:class), or one whose dotted name was typed.

    `needs` names what such a class must have.
    """
    name, _ = split(text)
    if name in homes:
        module, attribute = homes[name].split(":")
        kind: Any = getattr(import_module(module), attribute)
    elif "." in name:
        kind = imported("method", name)
    else:
        raise BadOption("method", name, f"{one_of(name, homes)}, or the dotted name of a class of yours")
    lacking = [needed for needed in needs if not hasattr(kind, needed)]
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind) or lacking:
        wanted = f"dataclass with {' and '.join(needs)}" if needs else "dataclass"
        raise BadOption("method", name, f"it is no such method; give a {wanted}, or one of {', '.join(homes)}")
    return kind


def parse_method(text: str, methods: Mapping[str, type[Any]]) -> Any:
    """Return the dataclass that `text` names, with its fields set: `ppo:epochs=5,hidden=64x64`.

    A class with a table `presets` may be asked for one of them by the key `preset`; other keys then differ from it. Settings of
    a method that is a field of another are named by both: `warm-start:gaifo.discount=0.995`.
    """
    name, settings = split(text)
    if name not in methods:
        raise BadOption("method", name, one_of(name, methods))
    presets: Mapping[str, Mapping[str, object]] = getattr(methods[name], "presets", {})
    preset = settings.pop("preset", "default") if presets else "default"
    if presets and preset not in presets:
        raise BadOption(f"{name}:preset", preset, one_of(preset, presets))
    defaults = {field.name: _default(field) for field in dataclasses.fields(methods[name])}
    known, tables = keys_of(methods[name]), {"": dict(presets.get(preset, {}))}
    for key, value in settings.items():
        if key not in known:
            raise BadOption(f"{name}:{key}", value, one_of(key, known))
        table, _, field = key.rpartition(".")
        kind = get_type_hints(known[key].owner)[field]
        tables.setdefault(table, {})[field] = _read(f"{name}:{key}", value, kind)
    values = tables.pop("")
    values |= {table: dataclasses.replace(cast(Any, defaults[table]), **changed) for table, changed in tables.items()}
    return methods[name](**values)


@dataclasses.dataclass(frozen=True)
class Key:
    """One thing that a method's text can set."""

    owner: type[Any]
    """The dataclass that it is a field of."""
    field: str
    """Its name there."""
    default: object


def keys_of(method: type[Any]) -> dict[str, Key]:
    """Return what text can set of a method, by name: its fields, and those of a method that is one of them, as FIELD.KEY."""
    keys: dict[str, Key] = {}
    for field in dataclasses.fields(method):
        default = _default(field)
        if dataclasses.is_dataclass(default) and not isinstance(default, type):
            inner = [one.name for one in dataclasses.fields(default)]
            keys |= {f"{field.name}.{name}": Key(type(default), name, getattr(default, name)) for name in inner}
        else:
            keys[field.name] = Key(method, field.name, default)
    return keys


def method_text(name: str, method: Any) -> str:
    """Return the text of a method, naming only what differs from its defaults."""
    keys = keys_of(cast(type[Any], type(method)))
    return _text(name, method, [name for name, key in keys.items() if attrgetter(name)(method) != key.default])


def _text(name: str, method: Any, keys: Iterable[str]) -> str:
    """Return a text that names these settings."""
    settings = ",".join(f"{key}={method_value(attrgetter(key)(method))}" for key in keys)
    return ":".join(filter(None, (name, settings)))


def settings_hash(method: Any) -> str:
    """Return a hash of all settings of a method, defaults included: its text names only what differs from them.

    A class of a user's adds its source file, so that results of an edited one are not taken for its own.
    """
    kind = cast(type[Any], type(method))
    try:
        text = json.dumps(dataclasses.asdict(method), sort_keys=True)
    except TypeError as error:
        reason = f"its settings must be numbers, words or tuples of them, so that a run can be told from others ({error})"
        raise BadOption("method", kind.__qualname__, reason) from None
    return hashlib.sha256(text.encode() + _foreign_source(kind)).hexdigest()[:32]


def _foreign_source(kind: type[Any]) -> bytes:
    """Return the file that defines a class that is not ours; nothing if there is none, as in a notebook."""
    if kind.__module__.partition(".")[0] == __name__.partition(".")[0]:
        return b""
    try:
        return Path(inspect.getfile(kind)).read_bytes()
    except (OSError, TypeError):
        return b""


def _default(field: dataclasses.Field[Any]) -> object:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()


def text_of(method: Any, homes: Mapping[str, str]) -> str:
    """Return the text that makes a method again (`homes`: see `find_method`).

    Of a class that is not ours it names all settings, for their defaults may change without our knowing.
    """
    kind = cast(type[Any], type(method))
    name = next((name for name, home in homes.items() if home == f"{kind.__module__}:{kind.__qualname__}"), None)
    if name is not None:
        return method_text(name, method)
    return _text(f"{kind.__module__}.{kind.__qualname__}", method, keys_of(kind))


@dataclasses.dataclass(frozen=True)
class Range:
    """Lowest and highest value of a field, of every number in it if it is a tuple: `Annotated[int, Range(1, 100)]`."""

    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class OneOf:
    """Words that a field may be: `Annotated[str, OneOf("ppo", "trpo")]`."""

    choices: tuple[str, ...]

    def __init__(self, *choices: str) -> None:
        object.__setattr__(self, "choices", choices)


def bound(method: type[Any], field: str, kind: type[Bound]) -> Bound | None:
    """Return the `Range` or `OneOf` that stands at a field, if one does."""
    notes: tuple[object, ...] = getattr(_hints(method)[field], "__metadata__", ())
    return next((note for note in notes if isinstance(note, kind)), None)


def check_fields(method: Any) -> None:
    """Refuse a method with a value outside what stands at its field; NaN is outside of all ranges."""
    kind = cast(type[Any], type(method))
    for field in dataclasses.fields(method):
        value: Any = getattr(method, field.name)
        choices, limits = bound(kind, field.name, OneOf), bound(kind, field.name, Range)
        if choices is not None and value not in choices.choices:
            raise BadOption(field.name, value, one_of(str(value), choices.choices))
        if limits is not None:
            _check_range(field.name, value, limits)


def _check_range(name: str, value: object, limits: Range) -> None:
    numbers = cast(tuple[object, ...], value) if isinstance(value, tuple) else (value,)
    inside = (isinstance(number, Real) and limits.low <= float(number) <= limits.high for number in numbers)
    if isinstance(value, list):
        raise BadOption(name, cast(list[object], value), "give a tuple: lists can change")
    if not numbers or not all(inside):
        raise BadOption(name, cast(object, value), f"give a number from {limits.low:g} to {limits.high:g}")


@cache
def _hints(method: type[Any]) -> dict[str, Any]:
    return get_type_hints(method, include_extras=True)


_FORMS: dict[object, tuple[str, Callable[[str], object]]] = {
    bool: ("1 or 0", lambda text: _BOOLS[text.lower()]),
    int: ("a whole number", lambda text: _whole(text)),
    float: ("a number", float),
    str: ("a word", str),
    tuple[int, ...]: ("whole numbers joined by x, such as 64x64", lambda text: tuple(int(part) for part in text.split("x"))),
}
"""How a field of each type is read from text."""

_BOOLS = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}


def _whole(text: str) -> int:
    """Read 300 or 3e2; digits alone are read exactly, however many there are."""
    if text.removeprefix("-").isdecimal():
        return int(text)
    number = float(text)
    if number != int(number):
        raise ValueError
    return int(number)


def _read(name: str, text: str, kind: Any) -> object:
    if kind not in _FORMS:
        readable = ", ".join(map(_type_text, _FORMS))
        raise BadOption(
            name, text, f"a field of type {_type_text(kind)} cannot be read from text; give it a type of {readable}"
        )
    form, read = _FORMS[kind]
    try:
        return read(text)
    except (KeyError, ValueError, OverflowError):
        raise BadOption(name, text, f"give {form}") from None


def _type_text(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) and not isinstance(kind, GenericAlias) else str(kind)


def method_value(value: object) -> str:
    """Return a hyper-parameter as text that reads back to it."""
    if isinstance(value, bool):
        return str(int(value))
    return "x".join(map(str, cast(tuple[object, ...], value))) if isinstance(value, tuple) else str(value)
