# SPDX-License-Identifier: MIT
"""Which joint of the robot does a name in the data mean?"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

FILLERS = frozenset(
    [
        "joint",
        "joints",
        "pos",
        "position",
        "positions",
        "qpos",
        "main",
        "follower",
        "motor",
        "motors",
        "rad",
        "deg",
        "angle",
        "angles",
        "state",
        "observation",
    ]
)
"""Words that say nothing about which joint is meant."""
SPEEDS = frozenset(("vel", "velocity", "velocities", "qvel", "speed"))

Words = tuple[str, ...]


def words(name: str) -> Words:
    """Split a name into lower-case words and numbers, fillers left out: `fr3_joint2.pos` → (fr, 3, 2)."""
    parts = re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    return tuple(part for part in parts if part not in FILLERS and part not in SPEEDS)


def is_speed(name: str) -> bool:
    """Return whether a name in the data means a velocity."""
    return bool(SPEEDS & set(re.findall(r"[a-z]+", name.lower())))


def match(data: Sequence[str], joints: Sequence[str], given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return a joint for each name of the data that means exactly one, and no joint twice.

    First those that were given, then equal names, equal words, one the ending of the other (`joint2` and `fr3_joint2`), the
    words of one among the other's. A name that could mean two joints means none.
    """
    known = dict(given or {})
    rules: tuple[Callable[[str, str], bool], ...] = (
        lambda a, b: a == b,
        lambda a, b: words(a) == words(b) != (),
        lambda a, b: _ends(words(a), words(b)) or _ends(words(b), words(a)),
        lambda a, b: _among(words(a), words(b)) or _among(words(b), words(a)),
    )
    for rule in rules:
        left = [joint for joint in joints if joint not in known.values()]
        free = [name for name in data if name not in known]
        pairs = [(name, joint) for name in free for joint in left if rule(name, joint)]
        known |= dict(_unique(pairs))
    return known


def _ends(whole: Words, ending: Words) -> bool:
    return bool(ending) and whole[-len(ending) :] == ending


def _among(few: Words, many: Words) -> bool:
    return bool(few) and set(few) <= set(many)


def _unique(pairs: Sequence[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    names, joints = [name for name, _ in pairs], [joint for _, joint in pairs]
    return ((name, joint) for name, joint in pairs if names.count(name) == 1 and joints.count(joint) == 1)
