# SPDX-License-Identifier: MIT
"""Records of one scorer on one setting, and what they say of it: nothing is simulated here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from imitable.experiments.records import read_record
from imitable.experiments.settings import Setting
from imitable.experiments.statistics import auroc, rank_correlation
from imitable.feasibility.weighting import Measures, balanced, is_balanced, log_scores, masses, noise_of, weight_logs
from imitable.types import Floats

Measure = Literal["distance", "share"]


@dataclass(frozen=True)
class DemonstratorScores:
    """Scores of one demonstrator's demonstrations."""

    distance: tuple[float, ...]
    share: tuple[float, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class RecordedCertificate:
    """Part of the imitator's own recorded transitions that the solver finds again."""

    mean: float
    """Played with mean actions."""
    sampled: float
    """Played with sampled actions."""


@dataclass(frozen=True)
class FeasibilityRecord:
    """What one method measured on one setting."""

    setting: str
    case: str
    method: str
    about: dict[str, Any]
    """Metadata of the score file, as they are written there."""
    demonstrators: dict[str, DemonstratorScores]
    seconds: float
    """Of scoring, on one thread."""
    one_pass_s: float
    """Seconds that the simulator needs to replay the demonstrations once on the imitator."""
    recorded_certificate: RecordedCertificate | None = None
    """Of `direct` alone."""

    @property
    def certificate(self) -> float:
        """Part of the imitator's own random transitions that the solver finds again; NaN without a solver."""
        return float(self.about.get("certificate", np.nan))

    @property
    def simulator_steps(self) -> int:
        """Control steps of the whole job: learning, calibration and certificate included."""
        return int(self.about["simulator_steps"])

    def measured(self, setting: Setting, measure: Measure) -> list[Floats]:
        """Return one array a demonstrator, in the setting's order."""
        return [np.array(getattr(self.demonstrators[body], measure)) for body in setting.demonstrators]

    def log_scores(self, setting: Setting, temperature: str) -> Floats:
        """(N) ln score of all demonstrations, in the setting's order.

        The whole set at once: a calibrated score depends on the worst of all.
        """
        own = np.array(self.about.get("calibration", self.about["own_distance"]))
        distance, share = (np.concatenate(self.measured(setting, measure)) for measure in ("distance", "share"))
        measures = Measures(distance, share, np.ones(1, int), own, noise_of(np.array(self.about["own_share"])))
        return log_scores(measures, temperature, self.about["rule"])


def record_name(setting: str, case: str) -> str:
    """Return what the files of a setting and a case are called, without their suffix."""
    return f"{setting}.{case}".replace(", ", "-").replace(" ", "_")


def record_path(results: Path, setting: str, case: str) -> Path:
    """Return where the record of a setting and a case lies."""
    return results / "feasibility" / f"{record_name(setting, case)}.json"


def read_records(results: Path) -> dict[tuple[str, str], FeasibilityRecord]:
    """Return all records by setting and case."""
    paths = sorted((results / "feasibility").glob("*.*.json"))
    records = [read_record(FeasibilityRecord, path) for path in paths]
    return {(record.setting, record.case): record for record in records}


def related_auroc(record: FeasibilityRecord, setting: Setting, measure: Measure) -> float:
    """Return the probability that a related demonstration measures less than an unrelated one."""
    arrays = record.measured(setting, measure)
    return auroc(np.concatenate(arrays[: setting.related]), np.concatenate(arrays[setting.related :]))


def related_mass(
    record: FeasibilityRecord,
    setting: Setting,
    temperature: str = "auto",
    counts: tuple[int, ...] | None = None,
    balance: str = "auto",
) -> float:
    """Return the mass on related demonstrators when each has as many demonstrations as in the paper, or as `counts` says."""
    copies, weights = composed_weights(record, setting, temperature, counts, balance)
    related = sum(len(array) for array in record.measured(setting, "distance")[: setting.related])
    return float((copies * weights)[:related].sum())


def composed_weights(
    record: FeasibilityRecord,
    setting: Setting,
    temperature: str = "auto",
    counts: tuple[int, ...] | None = None,
    balance: str = "auto",
) -> tuple[Floats, Floats]:
    """(N), (N) how many demonstrations of a composition each recorded one stands for, and the weight of one.

    The composition is the paper's, or as `counts` says; weights are as `weigh` would make them, see `weighting.is_balanced`.
    """
    counts = setting.counts if counts is None else counts
    recorded = [len(array) for array in record.measured(setting, "distance")]
    copies = np.concatenate([np.full(size, count / size) for size, count in zip(recorded, counts, strict=True)])
    present = copies > 0
    rule, repeats = str(record.about["rule"]), np.where(present, copies, 1)
    logs = weight_logs(record.log_scores(setting, temperature), temperature, rule)
    if is_balanced(balance, temperature, rule):
        mass = balanced(logs, repeats, np.repeat(setting.demonstrators, recorded).tolist(), present)
    else:
        mass = masses(logs, repeats, present)
    return copies, mass / repeats


def effective_size(record: FeasibilityRecord, setting: Setting) -> float:
    """Return 1 / Σ weight² under the paper's composition."""
    copies, weights = composed_weights(record, setting)
    return float(1 / (copies * np.square(weights)).sum())


def total_variation(record: FeasibilityRecord, other: FeasibilityRecord, setting: Setting) -> float:
    """Return ½ Σ |w − w′| over the paper's composition, w and w′ the weights of two scorings of the same demonstrations."""
    (copies, first), (_, second) = (composed_weights(one, setting) for one in (record, other))
    return float((copies * np.abs(first - second)).sum() / 2)


def share_correlation(record: FeasibilityRecord, other: FeasibilityRecord, setting: Setting) -> float:
    """Return Spearman's rank correlation of the shares of all demonstrations by two methods."""
    return rank_correlation(*(np.concatenate(one.measured(setting, "share")) for one in (record, other)))


def mean_scores(record: FeasibilityRecord, setting: Setting) -> list[float]:
    """Return the mean score of each demonstrator, temperature auto."""
    scores = np.exp(record.log_scores(setting, "auto"))
    ends = np.cumsum([len(array) for array in record.measured(setting, "distance")])
    return [float(part.mean()) for part in np.split(scores, ends[:-1])]
