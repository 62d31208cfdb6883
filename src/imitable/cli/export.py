# SPDX-License-Identifier: MIT
"""`imitable export`: scores and weights in the form that a trainer opens."""

from imitable.cli.console import document, say, table
from imitable.cli.demonstrations import demonstrations
from imitable.cli.verbs import Export
from imitable.exporters.export import export


def run(verb: Export) -> None:
    """Carry out the verb."""
    demos = demonstrations([verb.demos], verb.leave_out)
    done = export(
        demos,
        verb.scores,
        verb.to,
        verb.out,
        dataset=verb.dataset,
        floor=verb.floor,
        chunk_size=verb.chunk_size,
        bins=verb.bins,
        overwrite=verb.overwrite,
    )
    sizes = [(str(path), f"{path.stat().st_size:,} bytes" if path.is_file() else "folder") for path in done.files]
    shown = sizes if len(sizes) <= 4 else [*sizes[:3], (f"and {len(sizes) - 3} more", "")]
    table(verb.common, f"{verb.to}: {len(done.kept):,} of {len(demos):,} demonstrations have a weight", ("file", "size"), shown)
    for line in done.lines:
        say(verb.common, line)
    document(
        verb.common,
        {
            "out": str(done.out),
            "to": verb.to,
            "files": [str(path) for path in done.files],
            "kept": done.kept,
            "lines": done.lines,
        },
    )
