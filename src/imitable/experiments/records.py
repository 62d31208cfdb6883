# SPDX-License-Identifier: MIT
"""Records: frozen dataclasses and the JSON files that they are read from and written to, whole or not at all.

A field is a key of the file. `field(metadata={"key": …})` names a key that is no Python name; the keys of a dataclass in a
field with `metadata=FLAT` stand among those of the record. Reading is strict: a key that the class does not have, a key that
is missing and a value of another type are refused, with the place in the file.
"""

import json
import re
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from imitable.errors import BadRecord
from imitable.files import write_bytes

Record = TypeVar("Record")

JSON = dict[str, Any]
"""An object of a JSON file."""

_NUMBERS = re.compile(r"\[\n[-+.eE\d\s,\[\]]*\]")
"""Lists of numbers, and lists of these. Strings have no line break of their own in JSON, so that they are never found."""

FLAT = {"flat": True}
"""Metadata of a field whose keys stand among those of the record."""


@dataclass(frozen=True)
class Places:
    """Where an experiment keeps things."""

    results: Path
    """Records, small and committed."""
    runs: Path
    """Demonstrations, score files and run folders, large and made again if they are missing."""


def read_record(kind: type[Record], path: Path) -> Record:
    """Return the record of a file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadRecord(str(path), f"it is no JSON ({error})") from None
    return from_json(kind, content, path.name)


def read_if_there(kind: type[Record], path: Path) -> Record | None:
    """Return the record of a file, if there is one."""
    return read_record(kind, path) if path.exists() else None


def write_record(path: Path, record: Any, indent: int | None = None) -> None:
    """Write a record as a whole file; with an indent, one value a line, and lists of numbers a line each."""
    text = json.dumps(to_json(record), indent=indent)
    write_bytes(path, (text if indent is None else _NUMBERS.sub(_in_one_line, text) + "\n").encode())


def _in_one_line(found: re.Match[str]) -> str:
    return re.sub(r",(?=\S)", ", ", re.sub(r"\s+", "", found[0]))


def record_or_skip(path: Path, make: Callable[[], Any], indent: int | None = None) -> None:
    """Make a record and write it, unless it is there."""
    if not path.exists():
        write_record(path, make(), indent)


def to_json(value: Any) -> Any:
    """Return a record as JSON's own types; fields that are None by default and None are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        content: JSON = {}
        for field in fields(value):
            each = getattr(value, field.name)
            if _is_flat(field):
                content |= to_json(each)
            elif not (each is None and field.default is None):
                content[_key(field)] = to_json(each)
        return content
    if isinstance(value, tuple | list):
        return [to_json(each) for each in cast("tuple[Any, ...] | list[Any]", value)]
    if isinstance(value, dict):
        return {name: to_json(each) for name, each in cast(JSON, value).items()}
    return value


def from_json(kind: type[Record], content: Any, where: str = "record") -> Record:
    """Return a dataclass from what `to_json` makes of it."""
    if not isinstance(content, dict):
        raise BadRecord(where, f"expected an object, there is {content!r:.40}")
    given, types = dict(cast(JSON, content)), get_type_hints(kind)
    values: JSON = {}
    for field in fields(cast(Any, kind)):
        key, each = _key(field), types[field.name]
        if _is_flat(field):
            inner = {_key(one) for one in fields(each)}
            values[field.name] = from_json(each, {name: given.pop(name) for name in inner & given.keys()}, where)
        elif key in given:
            values[field.name] = _value(each, given.pop(key), f"{where}: {key}")
        elif field.default is MISSING:
            raise BadRecord(where, f"there is no {key!r}")
    if given:
        raise BadRecord(where, f"unknown key {min(given)!r}")
    return kind(**values)


def _is_flat(field: Field[Any]) -> bool:
    return bool(field.metadata.get("flat"))


def _key(field: Field[Any]) -> str:
    return field.metadata.get("key", field.name)


def _value(kind: Any, value: Any, where: str) -> Any:
    """Return a value of a file as the type that the dataclass names."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        return _one_of(parts, value, where)
    if origin is tuple and isinstance(value, list):
        return _items(parts, cast(list[Any], value), where)
    if origin is dict and isinstance(value, dict):
        return {name: _value(parts[1], each, f"{where}: {name}") for name, each in cast(JSON, value).items()}
    if is_dataclass(kind):
        return from_json(cast(type[Any], kind), value, where)
    # JSON writes 3.0 as 3 where Python did; a bool is an int to Python, and nothing else here
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(kind, type) and type(value) is kind:
        return value
    raise BadRecord(where, f"expected {getattr(kind, '__name__', kind)}, there is {value!r:.40}")


def _items(parts: tuple[Any, ...], values: list[Any], where: str) -> tuple[Any, ...]:
    if parts[1:] == (...,) and all(type(each) is parts[0] for each in values):
        return tuple(values)  # nothing to convert: most values of most records
    kinds = [parts[0]] * len(values) if parts[1:] == (...,) else list(parts)
    if len(kinds) != len(values):
        raise BadRecord(where, f"expected {len(kinds)} values, there are {len(values)}")
    return tuple(_value(kind, each, f"{where}: {place}") for place, (kind, each) in enumerate(zip(kinds, values, strict=True)))


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """Return the value as the first of several types that fits."""
    if value is None and NoneType in kinds:
        return None
    refused = BadRecord(where, f"no type of {', '.join(str(kind) for kind in kinds)} fits")
    for kind in kinds:
        if kind is not NoneType:
            try:
                return _value(kind, value, where)
            except BadRecord as error:
                refused = error
    raise refused
