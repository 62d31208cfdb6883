# SPDX-License-Identifier: MIT
"""`imitable convert`: other people's data as demonstrations of a robot."""

from collections.abc import Sequence
from dataclasses import replace

from imitable.cli.console import Watched, bar, document, say, table
from imitable.cli.summary import demonstrator_table
from imitable.cli.verbs import Convert
from imitable.command_text import command
from imitable.demos.conversion.base import HERE, base_of
from imitable.demos.conversion.convert import Conversion, convert
from imitable.demos.conversion.mapping import FILE, FOLLOWED, Entry
from imitable.demos.conversion.other_arm import OtherArm
from imitable.demos.conversion.parts import parts_path
from imitable.demos.conversion.proposal import MappingOptions
from imitable.demos.store import read
from imitable.errors import BadOption
from imitable.files import Output
from imitable.robots.parse import parse_robot

WHOLE = 1000
"""Steps of the bar: how many recordings there are is known only when the source is open."""
SHOWN = 24
"""Entries of a mapping that are shown one by one; of a larger one, runs of neighbours."""


class _Watched(Watched):
    """An observer that moves the bar by parts of the whole."""

    def progress(self, done: int, total: int, note: str = "") -> None:
        """Move the bar."""
        super().progress(round(WHOLE * done / total), WHOLE, f"{done:,} of {total:,} {note}")


def run(verb: Convert) -> None:
    """Carry out the verb."""
    with bar(verb.common, WHOLE, "converting") as shown:
        try:
            done = convert(
                verb.source,
                Output(verb.out, verb.resume, verb.overwrite, _Watched(verb.common, shown)),
                verb.imitator,
                format_name=verb.format,
                options=_options(verb),
                label=verb.label,
                other=_other(verb),
            )
        except KeyboardInterrupt:
            kept = f"What is done is kept in {parts_path(verb.out)}: the same command with --resume goes on from there."
            raise KeyboardInterrupt(kept if parts_path(verb.out).exists() else "") from None
    _report(verb, done)


def _options(verb: Convert) -> MappingOptions:
    return MappingOptions(
        state=verb.state,
        qpos=verb.qpos,
        qvel=verb.qvel,
        action=verb.action,
        names=_pairs(verb.names),
        fixed=tuple(filter(None, (name.strip() for name in verb.fixed.split(",")))),
        unit=verb.unit,
        quaternion=verb.quaternion,
        angular=verb.angular,
        differentiate=verb.differentiate,
        fps=verb.fps,
        pose=verb.pose,
        site=(verb.demonstrator is None and verb.site) or "",
        base=base_of(verb.base) if verb.demonstrator is None else HERE,
        beyond_range=verb.beyond_range,
        kept=verb.map,
    )


def _other(verb: Convert) -> OtherArm | None:
    if verb.demonstrator is None:
        return None
    if verb.site is None:
        raise BadOption("--demonstrator", verb.demonstrator, "say which site of it and of the imitator is the hand (--site)")
    return OtherArm(parse_robot(verb.demonstrator), verb.site, base_of(verb.base))


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        theirs, equals, ours = (piece.strip() for piece in part.rpartition("="))
        if not theirs or not equals or not ours:
            raise BadOption("--names", part, "give THEIRS=OURS,…")
        pairs[theirs] = ours
    return pairs


def _report(verb: Convert, done: Conversion) -> None:
    mapping = done.mapping
    if mapping is not None:
        entries = (*(mapping.pose.entries if mapping.pose else ()), *mapping.positions, *mapping.velocities)
        rows = [_row(run) for run in _runs(entries, together=len(entries) > SHOWN)]
        title = f"{verb.out / FILE}: {done.format} data on {verb.imitator}"
        table(verb.common, title, ("entry", "from", "unit"), rows)
        if not mapping.velocities:
            say(verb.common, "velocities: differentiated")
    columns, rows = demonstrator_table(read(verb.out).episodes)
    table(verb.common, f"{verb.out}: {done.episodes:,} demonstrations", columns, rows)
    if done.resampled:
        say(verb.common, f"{done.resampled:,} of {done.episodes:,} were resampled to the robot's control period")
    for remark in done.remarks:
        say(verb.common, f"! {remark}")
    say(verb.common, f"next: {_next(verb)}")
    document(
        verb.common,
        {
            "out": str(verb.out),
            "format": done.format,
            "episodes": done.episodes,
            "frames": done.frames,
            "resampled": done.resampled,
            "mapping": None if mapping is None else str(verb.out / FILE),
            "remarks": done.remarks,
            "demonstrators": [dict(zip(columns, row, strict=True)) for row in rows],
        },
    )


def _runs(entries: Sequence[Entry], *, together: bool) -> list[list[Entry]]:
    """Return entries one by one, or `together`: neighbours that come from neighbours in the same column are one run."""
    runs: list[list[Entry]] = []
    for entry in entries:
        last = runs[-1][-1] if runs else None
        if together and last is not None and last.column and entry == replace(last, entry=entry.entry, index=last.index + 1):
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _row(run: Sequence[Entry]) -> tuple[str, str, str]:
    """Return what the table says of a run of entries: first and last one, where they come from, and the unit."""
    first, last = run[0], run[-1]
    if first.unit == FOLLOWED:
        return first.entry, first.unit, "–"
    if not first.column:
        return first.entry, f"at rest, {first.offset:.4g}", "–"
    if len(run) == 1:
        return first.entry, str(first), first.unit
    return f"{first.entry} … {last.entry}", f"{first.column}[{first.index}:{last.index + 1}]", first.unit


def _next(verb: Convert) -> str:
    if verb.imitator is None:
        return command("inspect", [verb.out])
    return command("score", [verb.out], {"imitator": verb.imitator})
