# SPDX-License-Identifier: MIT
"""The page results/g1.md from its record."""

from imitable.experiments.g1 import BOX, FAST, LIFTED, WEAK, G1Record, Judged
from imitable.feasibility.episode_score import COLUMNS


def page(record: G1Record) -> str:
    """Return the page."""
    strong, weak = record.bodies
    own = [row for row in strong.rows if row.movement.startswith("own: ")]
    box = record.row(BOX)
    held = {
        "own balanced movements are feasible": all(row.verdict == "feasible" for row in own),
        "the clip scores better than at twice the speed": box.score > record.row(FAST).score,
        "and than on a G1 of 30 % strength": box.score > record.row(BOX, WEAK).score,
        "lifted by 0.3 m it is infeasible: nothing supports it": _floats(record.row(LIFTED)),
    }
    return "\n".join(
        [
            "# Verdicts on a Unitree G1",
            "",
            f"The G1 and the clips of {record.package}, servos of `examples/robots/g1_servos.json`, "
            f"`--method {record.method}`, seed {record.seed}.",
            "Own movements are made by the servos and a few lines of control (`experiments/balanced.py`), without a tracker.",
            "",
            "| must hold | holds |",
            "|---|---|",
            *(f"| {law} | {'yes' if holds else '**no**'} |" for law, holds in held.items()),
            "",
            "| body | movement | share | score | verdict | followed | ruled out by its states |",
            "|---|---|---|---|---|---|---|",
            *(_line(body.knobs or "G1", row) for body in record.bodies for row in body.rows),
            "",
            f"**Time**, processor seconds of one core that other jobs kept busy: {record.clip_s:.0f} for the clip of the box "
            f"({record.clip_frames} frames) once the body is calibrated, its certificate included; "
            f"{strong.job_s:.0f} for the job of {len(strong.rows)} movements, {weak.job_s:.0f} for the one of the weak body, "
            f"calibration included. Simulated control steps: {strong.simulator_steps:,} and {weak.simulator_steps:,}.",
            "",
            f"**What is weak.** The tracker's certificate is {strong.certificate:.0%} (weak body: {weak.certificate:.0%}): of "
            "single steps that this body can do, the solver finds so many again to 1 %. "
            f"τ is {strong.noise:g}, its upper bound. So a low score may be the tracker's fault, and `imitable score` says so; "
            "a high one stands. Only `quick` was measured: no plans, two windows of 0.8 s.",
            "",
            "`OPENBLAS_NUM_THREADS=1 python -m imitable.experiments.g1 HOLOSOMA_DATA`, then `python scripts/write_results.py`",
            "",
        ]
    )


def _floats(row: Judged) -> bool:
    return row.verdict == "infeasible" and any("nothing supports it" in reason for reason in row.reasons)


def _line(body: str, row: Judged) -> str:
    cells = (
        f"{row.share:.3f}",
        f"{row.score:.2f}",
        COLUMNS["verdict"].read(row.verdict),
        f"{row.followed:.0%}",
        "; ".join(row.reasons) or "–",
    )
    return f"| {body} | {row.movement} | {' | '.join(cells)} |"
