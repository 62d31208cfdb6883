# SPDX-License-Identifier: MIT
"""What is known of a motion of the suite, and the sidecar that keeps it."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from imitable.types import Floats

Label = Literal["feasible", "impossible", "weak"]
"""weak: impossible by less than the tolerance, shown in the detection curve but in neither class."""

_UNBALANCED = frozenset({"support", "force"})

CAUSES: dict[str, frozenset[str]] = {
    "torque": frozenset({"torque"}),
    "strength": frozenset({"torque"}),
    "mass": frozenset({"torque"}),
    "range": frozenset({"range"}),
    "speed": frozenset({"speed"}),
    "plane": frozenset({"range", "reach"}),
    "hurry": frozenset({"speed", "jump"}),
    "cut": frozenset({"speed", "jump"}),
    "jump": frozenset({"jump", "speed"}) | _UNBALANCED,
    "teleport": frozenset({"jump", "speed"}),
    "spin": frozenset({"jump", "speed"}) | _UNBALANCED,
    "float": _UNBALANCED,
    "lean": frozenset({"torque", "penetration"}) | _UNBALANCED,
    "limit": frozenset({"range"}),
    "skate": frozenset({"skating"}) | _UNBALANCED,
    "shake": frozenset({"torque", "speed"}) | _UNBALANCED,
}
"""Which named causes are right for each way a motion was made impossible."""


@dataclass(frozen=True)
class Truth:
    """What is known of one motion by construction."""

    name: str
    """Unique, and the demonstrator's name in its dataset: ROBOT/MADE/NUMBER."""
    robot: str
    group: str
    """Folder of its dataset: all motions of a group have one imitator."""
    knob: str
    """Knob settings of the imitator beyond the entry's, for example `range.elbow=-90..30`; empty: none."""
    index: int
    """Place in the group's dataset."""
    label: Label
    made: str
    """How: `own` or `recorded` for feasible motions, a key of `CAUSES` for the others."""
    part: str = ""
    """Joint, actuator or body that the impossibility concerns."""
    span: tuple[float, float] | None = None
    """Seconds between which the motion is impossible."""
    magnitude: float = 0.0
    """How impossible: smallest known deviation of a possible motion, or departure from one, in times the tolerance."""
    amount: float = 0.0
    """The same in the unit of its kind: torque ratio, radians, metres, hertz."""
    unit: str = ""
    recorder: str = ""
    """How a feasible motion was recorded; empty: full states."""
    use: float = 0.0
    """Largest part of a torque or joint range that the body used, as far as it is known."""


@dataclass(frozen=True, eq=False)
class Motion:
    """States and what is known of them."""

    truth: Truth
    states: Floats
    """(T + 1, S) qpos and qvel at the control period."""


def write_truths(path: Path, truths: list[Truth], notes: list[str]) -> None:
    """Write the sidecar of a robot."""
    text = json.dumps({"notes": notes, "motions": [asdict(truth) for truth in truths]}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read_truths(path: Path) -> tuple[list[Truth], list[str]]:
    """Read the sidecar of a robot: its motions, and what could not be made."""
    content = json.loads(path.read_text(encoding="utf-8"))
    motions = [Truth(**(row | {"span": tuple(row["span"]) if row["span"] else None})) for row in content["motions"]]
    return motions, list(content["notes"])
