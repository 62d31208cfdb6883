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


@dataclass(frozen=True)
class Way:
    """One way to make a motion impossible."""

    what: str
    magnitude: str
    """Smallest deviation of a motion that might be possible; it is divided by the tolerance."""
    causes: frozenset[str]
    """Names of causes that are right."""


_LEAST = "least largest deviation of a joint, by linear programming along the motion ÷ 0.1 rad"

WAYS: dict[str, Way] = {
    "torque": Way("arms: a burst needs 1.5–30 × the torque of a joint", _LEAST, frozenset({"torque"})),
    "strength": Way("arms: own motion; one motor of the imitator is weakened", _LEAST, frozenset({"torque"})),
    "mass": Way("arms: own motion; the imitator's last body is heavier", _LEAST, frozenset({"torque"})),
    "speed": Way(
        "arms: own motion; the imitator has a limit of speed",
        "max (Δq − v Δt) / 2 over all pairs of frames ÷ 0.1 rad",
        frozenset({"speed"}),
    ),
    "range": Way(
        "own motion; one joint range of the imitator is reduced", "excess ÷ 0.1 (floating 0.2) rad", frozenset({"range"})
    ),
    "plane": Way(
        "tool: the imitator keeps three joints of seven", "distance from their plane ÷ 5 cm", frozenset({"range", "reach"})
    ),
    "hurry": Way(
        "tool: a stretch 1.5–6 × as fast",
        "max (Δx − step Δk) / 2 over all pairs of frames ÷ 5 cm",
        frozenset({"speed", "jump"}),
    ),
    "cut": Way("tool: frames left out", "the same", frozenset({"speed", "jump"})),
    "jump": Way(
        "floating: the whole body is moved within 0.2 s",
        "half of what 1 m/s leaves ÷ ε",
        frozenset({"jump", "speed"}) | _UNBALANCED,
    ),
    "teleport": Way("floating: the same in one frame", "the same", frozenset({"jump", "speed"})),
    "spin": Way(
        "floating: turned by 0.6 rad up to a whole turn within 0.4 s",
        "half of the arc that 1 rad/s leaves, at the farthest body ÷ ε; in a plane also half of the angle ÷ 0.8 rad",
        frozenset({"jump", "speed"}) | _UNBALANCED,
    ),
    "float": Way("floating: lifted and held in the air", "min (height, g D² / 16) ÷ ε", _UNBALANCED),
    "lean": Way(
        "floating: leaned about the ground for over a second",
        "distance of the centre of mass from the box around the feet ÷ ε",
        frozenset({"torque", "penetration"}) | _UNBALANCED,
    ),
    "limit": Way("floating: one joint past its range", "excess ÷ 0.2 rad", frozenset({"range"})),
    "skate": Way(
        "floating: the posture freezes and glides at 0.3–2 m/s",
        "what a glide on friction 1 falls short of ÷ ε, if the feet do not step",
        frozenset({"skating"}) | _UNBALANCED,
    ),
    "shake": Way(
        "floating: one joint swings at 4–8 Hz",
        "amplitude that its torque cannot make ÷ 0.5 rad, or at the end of the limb ÷ ε",
        frozenset({"torque", "speed"}) | _UNBALANCED,
    ),
}


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
    """How: `own` or `recorded` for feasible motions, a key of `WAYS` for the others."""
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
