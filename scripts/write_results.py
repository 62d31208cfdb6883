# SPDX-License-Identifier: MIT
"""Write results/*.md from the records beside them: python scripts/write_results.py."""

import argparse
from collections.abc import Callable
from pathlib import Path

from arm_real_page import page as arm_real
from development_page import figure as development_curves
from development_page import page as development
from feasibility_page import page as feasibility
from g1_page import page as g1
from imitation_page import page as imitation
from own_movements_page import page as own_movements
from own_movements_page import reliability

from imitable.experiments.arm_real_records import read_arm_real
from imitable.experiments.g1 import read_g1
from imitable.experiments.own_movements import read_bodies
from imitable.experiments.training_records import ExpertRecord, ThroughputRecord, read_experts, read_throughput

RESULTS = Path(__file__).resolve().parents[1] / "results"


def learning(record: ExpertRecord) -> str:
    """Return the page of `make slow`."""
    rows = [
        f"| {case.split()[0]} | {case.split()[1]} | {row.steps:,} | {', '.join(f'{r:,.0f}' for r in row.returns)} "
        f"| **{row.mean:,.0f}** | {row.goal:,.0f} | {'yes' if row.mean >= row.goal else '**no**'} |"
        for case, row in record.rows.items()
    ]
    return "\n".join(
        [
            "# TRPO and PPO learn",
            "",
            f"Default settings, mean actions over {record.episodes} episodes, seeds {', '.join(map(str, record.seeds))}; "
            "the final policy of each run. Command: `make slow`.",
            "",
            "| robot | method | steps | return of each seed | mean | goal | reached |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def throughput(record: ThroughputRecord) -> str:
    """Return the page of `make bench`."""
    rows: list[str] = []
    for row in record.rows:
        peer = f"{row.multiple_of_peer:.1f}×" if row.multiple_of_peer else ""
        rows.append(
            f"| {row.robot} | {row.method} | **{row.limit_fraction:.0%}** | {row.target:.0%} "
            f"| {row.steps_per_s:,.0f} | {row.limit_per_s:,.0f} | {peer} |"
        )
    peers = [
        f"{row.robot}: " + ", ".join(f"{kind} {rate:,.0f}" for kind, rate in row.peer_steps_per_s.items())
        for row in record.rows
        if row.peer_steps_per_s and row.method == "trpo"
    ]
    return "\n".join(
        [
            "# Training throughput",
            "",
            "Default settings, two processes of one thread at once. The limit is the simulator replaying the same controls",
            "from the same states in the same two processes, nothing else in the loop. The peer is sb3-contrib's TRPO on 8",
            "environments of Gymnasium's own robot, the faster of its two kinds of vector environment, with both cores to",
            f"itself. {record.rounds} rounds. Command: `make bench`.",
            "",
            "| robot | method | part of the limit | target | steps/s | limit steps/s | × peer |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            f"Peer steps/s — {'; '.join(peers)}." if peers else "",
            "",
            "`gaifo` (simulation, discriminator and PPO) imitates the imitator's own expert on the bodies of",
            "`results/imitation.md`; its rows were measured in a run of their own, six rounds. On HalfCheetah, whose",
            "simulator is the fastest, it misses its target of 70 %: of an iteration's 91 ms the simulator takes 61, PPO 14,",
            "the discriminator 8, NumPy of the rollout 5, the rest 3.",
            "",
            "`control` is a batch of 256 arms in one thread: inverse kinematics, observation, goal and hits, against the same",
            "angles replayed; three rounds in a run of its own on a busy machine, of which only the ratio means anything.",
            "",
        ]
    )


def pages() -> dict[str, str]:
    """Return every page whose records are there, by file name."""
    written: dict[str, str] = {}
    if experts := read_experts(RESULTS):
        written["learning.md"] = learning(experts)
    if measured := read_throughput(RESULTS):
        written["throughput.md"] = throughput(measured)
    if tried := read_arm_real(RESULTS):
        written["arm_real.md"] = arm_real(tried)
    if humanoid := read_g1(RESULTS):
        written["g1.md"] = g1(humanoid)
    sets: dict[str, Callable[[Path], str]] = {
        "development": development,
        "feasibility": feasibility,
        "imitation": imitation,
        "own_movements": own_movements,
    }
    return written | {f"{name}.md": page(RESULTS) for name, page in sets.items() if (RESULTS / name).is_dir()}


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the pages")
    out = parser.parse_args().out
    for name, page in pages().items():
        (out / name).write_text(page)
    if (RESULTS / "development").is_dir():
        (out / "development.svg").write_bytes(development_curves(RESULTS))
    if bodies := read_bodies(RESULTS):
        (out / "own_movements.svg").write_bytes(reliability(bodies))


if __name__ == "__main__":
    main()
