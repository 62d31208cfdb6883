# SPDX-License-Identifier: MIT
"""`imitable report`: one page of scores and runs."""

from dataclasses import asdict

from imitable.cli.console import aloud, bar, document, say
from imitable.cli.verbs import Report
from imitable.command_text import command
from imitable.report.page import write_report


def run(verb: Report) -> None:
    """Carry out the verb."""
    with bar(verb.common, 1000, "looking") as shown:
        written = write_report(
            verb.paths,
            verb.out,
            explain=verb.explain,
            threads=verb.common.threads,
            overwrite=verb.overwrite,
            command=command("report", verb.paths, {"out": verb.out, "explain": verb.explain}),
            on_progress=lambda done, total: shown.move_to(1000 * done // max(total, 1), f"{done} of {total} demonstrations"),
        )
    for remark in written.remarks:
        aloud(f"! {remark}")  # what is damaged is missing on the page: that is told even to whoever wants no tables
    shows = {"demonstrations": written.demonstrations, "runs": written.runs}
    counts = ", ".join(f"{count:,} {what}" for what, count in shows.items() if count)
    say(verb.common, f"{verb.out}: {counts}, {written.bytes / 1e6:.1f} MB; open it in any browser")
    document(verb.common, {**asdict(written), "out": str(written.out)})
