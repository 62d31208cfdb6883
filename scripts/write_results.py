# SPDX-License-Identifier: MIT
"""Write results/*.md from the records beside them: python scripts/write_results.py."""

import json
from pathlib import Path
from typing import Any

from feasibility_page import page as feasibility
from imitation_page import page as imitation

RESULTS = Path(__file__).resolve().parents[1] / "results"


def learning(record: dict[str, Any]) -> str:
    """Return the page of `make slow`."""
    rows = [
        f"| {case.split()[0]} | {case.split()[1]} | {row['steps']:,} | {', '.join(f'{r:,.0f}' for r in row['returns'])} "
        f"| **{row['mean']:,.0f}** | {row['goal']:,.0f} | {'yes' if row['mean'] >= row['goal'] else '**no**'} |"
        for case, row in record["rows"].items()
    ]
    return "\n".join(
        [
            "# TRPO and PPO learn",
            "",
            f"Default settings, mean actions over {record['episodes']} episodes, seeds {', '.join(map(str, record['seeds']))}; "
            "the last policy of each run. Command: `make slow`.",
            "",
            "| robot | method | steps | return of each seed | mean | goal | reached |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def throughput(record: dict[str, Any]) -> str:
    """Return the page of `make bench`."""
    rows = []
    for row in record["rows"]:
        peer = f"{row['multiple_of_peer']:.1f}×" if row["multiple_of_peer"] else ""
        rows.append(
            f"| {row['robot']} | {row['method']} | **{row['share']:.0%}** | {row['target']:.0%} "
            f"| {row['steps_per_s']:,.0f} | {row['limit_per_s']:,.0f} | {peer} |"
        )
    peers = [
        f"{row['robot']}: " + ", ".join(f"{kind} {rate:,.0f}" for kind, rate in row["peer_steps_per_s"].items())
        for row in record["rows"]
        if row["peer_steps_per_s"] and row["method"] == "trpo"
    ]
    return "\n".join(
        [
            "# Training throughput",
            "",
            "Default settings, two processes of one thread at once. The limit is the simulator replaying the same controls",
            "from the same states in the same two processes, nothing else in the loop. The peer is sb3-contrib's TRPO on 8",
            "environments of Gymnasium's own robot, the faster of its two kinds of vector environment, with both cores to",
            f"itself. {record['rounds']} rounds. Command: `make bench`.",
            "",
            "| robot | method | share of the limit | target | steps/s | limit steps/s | × peer |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"Peer steps/s — {'; '.join(peers)}." if peers else "",
            "",
            "`gaifo` (simulation, discriminator and PPO) imitates the imitator's own expert on the bodies of",
            "`results/imitation.md`; its rows were measured in a run of their own, two rounds.",
            "",
        ]
    )


def main() -> None:
    """Write every page whose record is there."""
    for name, page in (("learning", learning), ("throughput", throughput)):
        record = RESULTS / f"{name}.json"
        if record.exists():
            (RESULTS / f"{name}.md").write_text(page(json.loads(record.read_text())))
    if (RESULTS / "feasibility").is_dir():
        (RESULTS / "feasibility.md").write_text(feasibility(RESULTS / "feasibility"))
    if (RESULTS / "imitation").is_dir():
        (RESULTS / "imitation.md").write_text(imitation(RESULTS / "imitation"))


if __name__ == "__main__":
    main()
