# SPDX-License-Identifier: MIT
"""Gains of servos from a JSON file: `servo=gains.json` in a robot's text stands for the settings that the file holds.

    {"kp": {"*hip*": 100, "*": 40}, "kd": 2, "force": 80, "speed": 20}

A number is for all, a table is by name, with wildcards. The robot's own text then names the gains, not the file.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from imitable.errors import BadOption, one_of

SERVO = "servo"
"""The key of a robot's text that names such a file."""

GROUPS = ("kp", "kd", "force", "speed")
"""What the file may set."""


def with_servo_file(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with those of the file in the place of `servo`; what follows wins over it."""
    unfolded: dict[str, str] = {}
    for key, text in settings.items():
        pairs = _settings(text) if key == SERVO else iter([(key, text)])
        for name, value in pairs:
            unfolded.pop(name, None)
            unfolded[name] = value
    return unfolded


def _settings(path: str) -> Iterator[tuple[str, str]]:
    try:
        content: object = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadOption(SERVO, path, f'it cannot be read ({error}); give a file such as {{"kp": 100, "kd": 2}}') from None
    if not isinstance(content, dict) or not content:
        raise BadOption(SERVO, path, 'give a table of kp, kd, force and speed: {"kp": {"*hip*": 100}, "kd": 2}')
    for group, values in cast(dict[str, object], content).items():
        if group not in GROUPS:
            raise BadOption(SERVO, path, f"it sets {group!r}; {one_of(group, GROUPS)}")
        table = cast(dict[str, object], values) if isinstance(values, dict) else {"*": values}
        for name, value in sorted(table.items(), key=lambda pair: "*" not in pair[0]):
            if isinstance(value, bool) or not isinstance(value, int | float | str):
                raise BadOption(SERVO, path, f"{group} of {name!r} is {json.dumps(value)}; give a number")
            yield f"{group}.{name}", str(value)
