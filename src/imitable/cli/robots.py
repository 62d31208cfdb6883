# SPDX-License-Identifier: MIT
"""`imitable robots`: the robots, or every knob of one."""

from imitable.cli.console import document, say, table
from imitable.cli.verbs import Robots
from imitable.demonstrators.shipped import has_policy, shipped
from imitable.dynamics.parse import ROBOTS, robot
from imitable.dynamics.variant import Variant, value_text


def run(verb: Robots) -> None:
    """Carry out the verb."""
    if verb.spec is None:
        _list(verb)
    else:
        _show(verb, robot(verb.spec))


def _list(verb: Robots) -> None:
    variants = [robot(name) for name in ROBOTS]
    rows = [
        (
            variant.robot.name,
            len(variant.start),
            len(variant.layout.actuators),
            variant.layout.period_s,
            ", ".join(f"{knob.name}={value_text(knob.default)}" for knob in variant.robot.knobs),
            sum(text.partition(":")[0] == variant.robot.name for text in shipped()),
        )
        for variant in variants
    ]
    columns = ("robot", "state", "actions", "period_s", "knobs", "demonstrators")
    table(verb.common, "Robots", columns, rows)
    say(verb.common, "next: imitable robots hopper:gravity=15, or a path of an MJCF file instead of a name")
    document(verb.common, {"robots": [dict(zip(columns, row, strict=True)) for row in rows], "demonstrators": shipped()})


def _show(verb: Robots, variant: Variant) -> None:
    columns = ("knob", "value", "default", "unit", "low", "high", "about")
    rows = [
        (knob.name, value_text(variant.value(knob.name)), value_text(knob.default), knob.unit, knob.low, knob.high, knob.about)
        for knob in variant.robot.knobs
    ]
    table(verb.common, str(variant), columns, rows)
    layout = variant.layout
    say(verb.common, f"state ({len(layout.state)}): {', '.join(layout.state)}")
    say(verb.common, f"actions ({len(layout.actuators)}): {', '.join(layout.actuators)}; period {layout.period_s:g} s")
    mine = [text for text in shipped() if text.partition(":")[0] == variant.robot.name]
    say(verb.common, f"shipped demonstrators: {', '.join(mine) or 'none'}")
    say(verb.common, f"next: {_next(variant)}")
    document(
        verb.common,
        {
            "robot": str(variant),
            "hash": variant.hash,
            "knobs": [dict(zip(columns, row, strict=True)) for row in rows],
            "state": layout.state,
            "actions": layout.actuators,
            "period_s": layout.period_s,
            "demonstrators": mine,
        },
    )


def _next(variant: Variant) -> str:
    if has_policy(variant):
        return f"imitable collect {variant}"
    if variant.robot.rules is not None:
        return f"imitable train {variant}"
    return f"imitable collect {variant} --policy FILE"
