# SPDX-License-Identifier: MIT
"""From distances to scores, verdicts and weights: pure functions, in log space, in float64. Nothing here simulates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imitable.errors import BadOption, one_of
from imitable.types import Bools, Floats, Ints

PAPER_TEMPERATURE, PAPER_CAP = 5.0, 50.0
"""The paper's σ, and the cap on its exponent."""
LEAST_NOISE, MOST_NOISE = 0.07, 0.1
"""Bounds on the noise τ: a gait that meets an impact a little differently is lost for a while, which babble does not show
(with 0.07 the own gaits of every shipped body are feasible), and a tracker that cannot follow its own body has no say."""
HARDER = 1.25
"""Gaits leave so much more than the babble that τ is measured on."""
BORDERLINE = 0.1
"""Score down to which a demonstration is called borderline; feasible is ½."""
CERTIFIED = 0.95
"""A tracker should find so many of the transitions again that the imitator made itself."""
BALANCES = ("auto", "none", "demonstrator")
"""What masses are balanced by; see `is_balanced` for `auto`."""
SEGMENTS = "feasible-segments"
"""What `keep` calls everything outside of confirmed impossible spans."""
SHARE, SCORE = "share:", "score:"
"""Begin a temperature on the share (`share:0.05`) or on the score (`score:1`); a plain number is one on the distance."""
SHARPER = 0.5
"""Temperature on the score by which `auto` weighs, of the rule `share`. Its square leaves less mass on demonstrations that
cannot be followed: where a tenth of it lay on them, policies failed with some seeds, though not with all."""
RULES = ("share", "calibrated", "sigmoid")
"""How `auto` scores: 1 / (1 + τ exp(share / τ)), τ the imitator's noise; ID-Feas's interpolation between calibration bounds;
1 − share."""


@dataclass(frozen=True)
class Measures:
    """What a scorer measured of N demonstrations, and of the imitator's own rollouts."""

    distance: Floats
    """(N)."""
    share: Floats
    """(N)."""
    length: Ints
    """(N) transitions."""
    own_distance: Floats
    """(M) of the imitator's own movements."""
    noise: float
    """τ of the rule `share`: see `noise_of`."""


def log_scores(measures: Measures, temperature: str, rule: str) -> Floats:
    """(N) ln score ≤ 0.

    auto: see `RULES`, the score of a demonstration does not depend on the others (except `calibrated`, as published). For the
    rule `share` it is P(feasible | share) if the shares of feasible demonstrations were exponential with mean τ, those of
    others uniform, and both as likely: no more than a model, so that it is called a score.
    paper: −min((D − min D) / 5, 50).  arm: −(D − min D) / σ with σ a tenth of the gap between the best and the mean of the
    middle 80 % of the sorted distances.  A number σ: the paper's formula with it, not capped.  share:T: −share / T.
    score:T: as auto, for T is a temperature of the weights, see `weight_logs`.
    """
    distance = measures.distance
    if temperature == "auto" or temperature.startswith(SCORE):
        return _auto(measures, rule)
    excess = distance - distance.min()
    if temperature == "paper":
        return -np.minimum(excess / PAPER_TEMPERATURE, PAPER_CAP)
    if temperature == "arm":
        middle = np.sort(distance)[int(0.1 * len(distance)) : max(1, int(0.9 * len(distance)))]
        return -excess / max(float(middle.mean() - distance.min()) / 10, 1e-12)
    number = parse_temperature(temperature)
    return -measures.share / number if temperature.startswith(SHARE) else -excess / number


def weight_logs(logs: Floats, temperature: str, rule: str) -> Floats:
    """(…) ln of what transitions weigh, given ln score: score^(1/T), T of `score:T`, `SHARPER` of `auto` by `share`, else 1."""
    if temperature.startswith(SCORE):
        return logs / parse_temperature(temperature)
    return logs / SHARPER if temperature == "auto" and rule == "share" else logs


def parse_temperature(text: str) -> float:
    """Return the number in a temperature: `5`, `share:0.05`, or `score:1`."""
    prefix = next((prefix for prefix in (SHARE, SCORE) if text.startswith(prefix)), "")
    try:
        value = float(text.removeprefix(prefix))
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise BadOption("temperature", text, "give auto, paper, arm, a number above 0, share:NUMBER or score:NUMBER")
    return value


def temperature_text(temperature: str | float) -> str:
    """Return a temperature as text, checked: a word, `share:NUMBER`, `score:NUMBER`, or a number, which may be given as one."""
    text = temperature if isinstance(temperature, str) else repr(float(temperature))
    if text not in ("auto", "paper", "arm"):
        parse_temperature(text)
    return text


def _auto(measures: Measures, rule: str) -> Floats:
    if rule == "share":
        return log_score(measures.share, measures.noise)
    with np.errstate(divide="ignore"):
        if rule == "sigmoid":
            return np.log(np.clip(1 - measures.share, 0, 1))
        low, high = float(measures.own_distance.min()), float(measures.own_distance.max())
        if (measures.distance > high).all():
            high = float(measures.distance.max())
        return np.log(1 - np.clip((measures.distance - low) / max(high - low, 1e-12), 0, 1))


def noise_of(own_share: Floats) -> float:
    """Return τ, within bounds: −τ ln τ, the largest feasible share, is `HARDER` times the 95th percentile of own shares."""
    if not len(own_share):
        return LEAST_NOISE
    noises = np.linspace(LEAST_NOISE, MOST_NOISE, 601)
    return float(np.interp(HARDER * np.quantile(own_share, 0.95), -noises * np.log(noises), noises))


def log_score(shares: Floats, noise: float) -> Floats:
    """(…) ln 1 / (1 + τ exp(share / τ)), strictly falling in the share."""
    return -np.logaddexp(0.0, np.log(noise) + shares / noise)


def share_logs(shares: Floats, temperature: str, noise: float) -> Floats:
    """(…) ln of what shares alone weigh: `auto` and `score:T` of the rule `share`, or `share:T`; others need the whole set."""
    if temperature.startswith(SHARE):
        return -shares / parse_temperature(temperature)
    if temperature != "auto" and not temperature.startswith(SCORE):
        expected = "segments are weighed by their shares: give auto, share:NUMBER or score:NUMBER"
        raise BadOption("temperature", temperature, expected)
    return weight_logs(log_score(shares, noise), temperature, "share")


def segment_lengths(begins: Sequence[int], length: int) -> Ints:
    """Return the transitions of segments that begin there, the last one to the end."""
    return np.diff(np.array([*begins, length], np.int64))


def mean_log(logs: Floats, lengths: Ints) -> float:
    """Return ln of the mean score over segments, each as often as it has transitions."""
    return float(np.logaddexp.reduce(logs + np.log(lengths)) - np.log(lengths.sum()))


def relative_densities(logs: Floats, lengths: Ints) -> Floats:
    """(k) score of segments ÷ their mean over the transitions, which so is one; all alike where nothing weighs anything."""
    mean = mean_log(logs, lengths)
    return np.exp(logs - mean) if np.isfinite(mean) else np.ones(len(logs))


def masses(logs: Floats, lengths: Ints, chosen: Bools | None = None) -> Floats:
    """(N) probability mass of every demonstration: e^logs · length, so that each transition weighs e^logs.

    Where every one is zero, the chosen ones weigh the same a transition.
    """
    chosen = np.ones(len(logs), bool) if chosen is None else chosen
    if not np.isfinite(logs[chosen]).any():
        logs = np.zeros_like(logs)
    logs = np.where(chosen, logs, -np.inf) + np.log(lengths)
    mass = np.exp(logs - logs.max())
    return mass / mass.sum()


def balanced(logs: Floats, lengths: Ints, demonstrators: Sequence[str], chosen: Bools | None = None) -> Floats:
    """(N) probability masses that do not depend on how many demonstrations a demonstrator gave.

    With v = e^logs, a demonstrator weighs as the mean of its transitions, p(d) ∝ Σ_i v_i length_i / Σ_i length_i (the paper's
    Eqn. 4), and a demonstration within it v · length. Those that are not chosen count as zero.
    """
    names = np.array(demonstrators)
    plain, mass = masses(logs, lengths, chosen), np.zeros(len(logs))
    for name in np.unique(names):
        rows = names == name
        mass[rows] = plain[rows] / lengths[rows].sum()
    return mass / mass.sum()


def is_balanced(balance: str, temperature: str, rule: str) -> bool:
    """Return whether masses are balanced between demonstrators; `auto` balances what we score by the share ourselves.

    The paper's rule and the published rules of other methods never are, unless that is asked for.
    """
    ours = temperature.startswith(SHARE) or (rule == "share" and (temperature == "auto" or temperature.startswith(SCORE)))
    return balance == "demonstrator" or (balance == "auto" and ours)


def thresholds(noise: float) -> tuple[float, float]:
    """Return the largest shares called feasible (score ½) and borderline (score `BORDERLINE`): −τ ln τ and τ ln(9 / τ)."""
    feasible, borderline = (noise * np.log((1 / score - 1) / noise) for score in (0.5, BORDERLINE))
    return float(feasible), float(borderline)


def verdict_of_share(share: float, feasible: float, borderline: float, *, fell: bool | None = None) -> str:
    """Return the verdict by thresholds on the share.

    An imitator that ends lying where the demonstration stands is not borderline. Feasible stays feasible: there little is left
    over all windows, and one that is lost at an impact is the tracker's luck.
    """
    if share <= feasible:
        return "feasible"
    return "borderline" if share <= borderline and not fell else "infeasible"


def chosen_rows(keep: str, verdict: Sequence[str], logs: Floats, demonstrators: Sequence[str]) -> Bools:
    """Return which rows have a weight: `all`, `feasible`, `top:K` of the highest scores, or those of one demonstrator.

    All rows, too, of `feasible-segments` and `auto`, which are about parts of demonstrations.
    """
    if keep in ("all", "auto", SEGMENTS):
        return np.ones(len(verdict), bool)
    if keep == "feasible":
        rows = np.array([word == "feasible" for word in verdict])
        if not rows.any():
            raise BadOption("keep", keep, "no demonstration is feasible; give all, feasible-segments or top:K")
        return rows
    if keep in demonstrators:
        return np.array([name == keep for name in demonstrators])
    number = keep.removeprefix("top:")
    if not keep.startswith("top:") or not number.isdigit() or int(number) < 1:
        names = one_of(keep, set(demonstrators))
        raise BadOption(
            "keep", keep, f"give auto, all, feasible, feasible-segments, top:K with K from 1 on, or a demonstrator; {names}"
        )
    best = np.argsort(-logs, kind="stable")[: int(number)]
    return np.isin(np.arange(len(logs)), best)


def remarks(weight: Floats, verdict: Sequence[str], certificate: float | None, own_share: Floats) -> list[str]:
    """Return what a user should know before using the weights, the most important first.

    `certificate` is that of a tracker that needs no demonstrations: it should follow whatever the imitator did itself.
    """
    lines: list[str] = []
    count, effective = len(weight), float(1 / np.square(weight).sum())
    if "feasible" not in verdict:
        borderline = sum(word == "borderline" for word in verdict)
        best = f"no demonstration is feasible as a whole, {borderline or 'none'} of {count} is borderline"
        lines.append(f"{best}; weights prefer those that fail least")
    if unknown := sum(word == "unknown" for word in verdict):
        lines.append(f"{unknown} of {count} verdicts are unknown; --explain EPISODE tells why")
    lines += [] if certificate is None else _doubts(certificate, own_share)
    if count > 4 and effective < max(2.0, 0.02 * count):
        lines.append(
            f"the weights rest on about {effective:.1f} of {count} demonstrations; --temperature share:0.1 would spread them"
        )
    elif count > 1 and effective > 0.98 * count:
        lines.append("the weights are nearly uniform: the scores do not tell these demonstrations apart")
    return lines


def is_doubtful(certificate: float | None, own_share: Floats) -> bool:
    """Return whether a tracker that needs no demonstrations hardly follows the imitator's own movements."""
    return certificate is not None and bool(_doubts(certificate, own_share))


def _doubts(certificate: float, own_share: Floats) -> list[str]:
    lines: list[str] = []
    if not certificate >= CERTIFIED:
        found = f"the tracker finds {certificate:.0%} of the imitator's own transitions again"
        lines.append(f"{found}: failures may be its own (effort=thorough plans more)")
    if len(own_share) and (own := float(np.quantile(own_share, 0.95))) > MOST_NOISE:
        lines.append(f"of the imitator's own movements the tracker leaves a share of {own:.2f}: verdicts say little here")
    return lines


def first_divergence(errors: Floats, steps: Ints, attempts: Ints, threshold: float) -> int:
    """Return the first demonstrated step from which on an attempt's error stays above the threshold; −1 if there is none.

    Of several attempts the earliest counts.
    """
    divergences: list[int] = []
    for attempt in np.unique(attempts):
        rows = attempts == attempt
        below = np.flatnonzero(~(errors[rows] > threshold))
        begin = int(below[-1]) + 1 if len(below) else 0
        if begin < rows.sum():
            divergences.append(int(steps[rows][begin]))
    return min(divergences, default=-1)
