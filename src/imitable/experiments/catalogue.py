# SPDX-License-Identifier: MIT
"""The experiments of the paper and our own, as constants: which rows, where."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from imitable.experiments.jobs import Scoring, WeightRule
from imitable.experiments.protocol import PLAIN, PROJECTION
from imitable.experiments.rows import (
    ARM_ROWS,
    BASELINES,
    CLAIMED,
    DIRECT,
    GAIL,
    ID_FEAS,
    OURS,
    OURS_PAPER,
    OWN_EXPERT,
    PAPER_MEASURING,
    PAPER_SCORER,
    RELATED_ONLY,
    RULES,
    SAIL,
    TABLE_A,
    TABLE_B,
    Row,
)
from imitable.experiments.settings import BY_NAME, DEVELOPMENT, SETTINGS, SHELF, Setting
from imitable.feasibility.score import Measuring


@dataclass(frozen=True)
class Where:
    """A setting as an experiment has it."""

    name: str
    """In tables and on the command line."""
    setting: Setting
    counts: tuple[int, ...]
    """Demonstrations of each demonstrator."""
    imitator: str
    policies: str = "a"
    """Set of demonstrators."""
    budget: int | None = None
    """Demonstrations that are asked for beside the first one of every demonstrator; `counts` then is not used."""
    amount: float | None = None
    """What the experiment varies, as its figure has it on an axis; None: nothing of the kind."""


@dataclass(frozen=True)
class Entry:
    """One row in one place."""

    where: Where
    row: Row
    claimed: bool = False
    """Whether a claim is about it, so that it has more seeds."""
    seeds: tuple[int, ...] | None = None
    """Its seeds, if they are not the protocol's."""
    missing: str = ""
    """What must be recorded before it is known what it is; empty: nothing."""


@dataclass(frozen=True)
class Experiment:
    """Some rows in some places."""

    name: str
    about: str
    """One line for a table of experiments."""
    entries: tuple[Entry, ...]
    detail: str = ""
    """Which recipe its rows have in common, and what is not the paper's."""
    development: bool = False
    """Whether its seeds are those of the development imitators."""
    varied: str = ""
    """What the amounts of its places are, as an axis is labelled; empty: they have none."""

    @property
    def amounts(self) -> dict[str, list[tuple[float, str]]]:
        """Amounts and the names of the places that have them, by the setting that these places share, in order."""
        groups: dict[str, dict[str, float]] = {}
        for where in (entry.where for entry in self.entries):
            if where.amount is not None:
                groups.setdefault(where.setting.name, {})[where.name] = where.amount
        return {setting: [(amount, name) for name, amount in places.items()] for setting, places in groups.items()}


def at(setting: Setting, name: str = "", counts: tuple[int, ...] | None = None) -> Where:
    """Return a setting as the paper has it, or with other numbers of demonstrations."""
    return Where(name or setting.name, setting, setting.counts if counts is None else counts, setting.imitator)


def entries(places: Iterable[Where], rows: Sequence[Row], claimed: frozenset[str] = frozenset()) -> tuple[Entry, ...]:
    """Return every row in every place."""
    return tuple(Entry(place, row, row.name in claimed) for place in places for row in rows)


FIRST = tuple(BY_NAME[name] for name in ("swimmer", "walker2d-1", "half_cheetah-1", "hopper"))
"""The four first settings."""
SWIMMER, CHEETAH, HOPPER, WALKER = (BY_NAME[name] for name in ("swimmer", "half_cheetah-1", "hopper", "walker2d-1"))
COMPARED = (*BASELINES, OURS)
"""Rows of the paper's sweeps."""

UNRELATED_COUNTS = (0, 100, 500)
PERCENTAGES = {setting.name: (40, 60, 100) if setting is CHEETAH else (20, 50, 100) for setting in FIRST}
BUDGETS = (20, 40, 80)
DISTANCES = ("l2", "l1", "cosine")
DISCOUNTS = (0.8, 0.9, 0.95, 0.99, 1.0)
SIGMAS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
NOISE, ROLLOUTS = 0.1, 5
"""Actuation noise of the stochastic Hopper, in half control ranges, and rollouts of its expected distance."""
BINARY = WeightRule("score:1e9", "feasible", "demonstrator")
"""What is feasible weighs the same, all else nothing. On Hopper nothing is: there is no choice to make."""
LONG_STEPS = 20_000_000
SCORE_STEPS = {
    "swimmer": 1_900_000,
    "walker2d-1": 5_300_000,
    "walker2d-2": 5_000_000,
    "half_cheetah-1": 2_250_000,
    "half_cheetah-2": 2_250_000,
    "hopper": 4_300_000,
}
"""Simulator steps of `direct` at the paper's composition, rounded up; a test compares them with the records."""


def _unrelated(setting: Setting, count: int) -> Where:
    counts = (*setting.counts[: setting.related], *(count for _ in setting.counts[setting.related :]))
    return _varied(setting, count, counts)


def _percent(setting: Setting, percent: int) -> Where:
    return _varied(setting, percent, tuple(round(count * percent / 100) for count in setting.counts))


def _varied(setting: Setting, amount: int, counts: tuple[int, ...] | None = None) -> Where:
    """Return a setting with some amount, which is a part of its name."""
    return replace(at(setting, f"{setting.name}-{amount}", counts), amount=amount)


def _paper_like(name: str, measuring: Measuring, temperature: str = "paper") -> Row:
    return replace(OURS_PAPER, name=name, scoring=Scoring(PAPER_SCORER, measuring), rule=WeightRule(temperature))


def _budget_rows() -> tuple[Row, ...]:
    by_score = (replace(OURS, acquires=True), replace(ID_FEAS, acquires=True))
    return (*by_score, *(replace(row, name=f"{row.name}-Uniform") for row in (OURS, ID_FEAS)), SAIL, GAIL)


def _limits() -> tuple[Entry, ...]:
    """Bodies that can do all that their demonstrators do, and more: a joint of these bends less, or a leg is weaker."""
    cheetah = Setting(
        "limits half_cheetah",
        "half_cheetah:front=0.5",
        ("half_cheetah:front=0.05", "half_cheetah:front=0.01", "half_cheetah:back=0.5", "half_cheetah:back=0.05"),
        (50, 50, 0, 0),
    )
    swimmer = Setting(
        "limits swimmer",
        "swimmer:back=20",
        ("swimmer:back=10", "swimmer:back=12", "swimmer", "swimmer:front=10"),
        (50, 50, 0, 0),
    )
    places = (at(cheetah, "half_cheetah"), at(swimmer, "swimmer"))
    return entries(places, (GAIL, DIRECT, OWN_EXPERT))


def _stochastic() -> tuple[Entry, ...]:
    noisy = f"{HOPPER.imitator},noise={NOISE:g}"
    rows = [
        replace(row, scoring=replace(row.scoring, measuring=Measuring(rollouts=ROLLOUTS))) if row.scoring else row
        for row in (GAIL, ID_FEAS, OURS, DIRECT, RELATED_ONLY)
    ]
    return entries([replace(at(HOPPER), imitator=noisy)], rows)


def _words(rows: Sequence[Row]) -> tuple[Entry, ...]:
    """Return rows on the two settings where the paper's arguments are tried."""
    return entries((at(CHEETAH), at(HOPPER)), rows)


PAPER_SCORES = (
    "Scores are those of `Ours (paper)` but for what is varied, weights exp(−D / σ), not balanced; the learner is ours."
)

PAPER = (
    Experiment(
        "mujoco-a",
        "the paper's claim: the plain learner, six settings",
        entries(map(at, SETTINGS), TABLE_A, CLAIMED),
        "One learner for all rows but SAIL, which is one of its own. Rows differ in scores *and* in weight rules; the rows "
        "`ID-Feas (our weight rule)` and `GAIL (balanced)` tell the two apart.",
    ),
    Experiment(
        "mujoco-b",
        "the same with projection",
        entries(map(at, SETTINGS), TABLE_B, CLAIMED),
        "Not in the paper: pieces of demonstrations are projected onto what the imitator can do, and the learner begins there.",
    ),
    Experiment(
        "total-steps",
        "would the steps of direct's scores be better spent on learning without weights?",
        tuple(
            Entry(at(setting), replace(GAIL, name=f"GAIL, {learner}", learner=learner, more_steps=SCORE_STEPS[setting.name]))
            for setting in SETTINGS
            for learner in (PLAIN, PROJECTION)
        ),
    ),
    Experiment(
        "unrelated-count",
        "0, 100 and 500 demonstrations of each unrelated demonstrator",
        entries((_unrelated(setting, count) for setting in FIRST for count in UNRELATED_COUNTS), COMPARED),
        "Rows as in mujoco-a. Weights of `Ours` are balanced between demonstrators, so that they depend little on the very "
        "numbers that are varied; the paper's are not balanced. Of the numbers, the paper's text names 500 only.",
        varied="demonstrations of each unrelated demonstrator",
    ),
    Experiment(
        "demo-count",
        "20, 50 and 100 % of all demonstrations (HalfCheetah 40, 60, 100 %)",
        entries((_percent(setting, part) for setting in FIRST for part in PERCENTAGES[setting.name]), COMPARED),
        "Rows as in mujoco-a; the first demonstrations of each demonstrator.",
        varied="% of all demonstrations",
    ),
    Experiment(
        "budget",
        "from one demonstration of each demonstrator on, more by score or uniformly",
        entries((replace(_varied(SWIMMER, budget), budget=budget) for budget in BUDGETS), _budget_rows()),
        "By score: the scores of the first demonstrations give p_j, and so many more are drawn from it (Eqn. 4), then all are "
        "scored and weighed. Uniformly: the same number of each. Budgets are ours.",
        varied="demonstrations asked for",
    ),
    Experiment(
        "distance",
        "l2, l1 and cosine in Eqn. 3",
        entries((at(SWIMMER), at(CHEETAH)), [_paper_like(kind, Measuring(distance=kind, discount=0.9)) for kind in DISTANCES]),
        f"{PAPER_SCORES} σ is 5 for every distance: its unit changes the temperature, too. The paper shows Swimmer only.",
    ),
    Experiment(
        "mapping",
        "against demonstrations that a learned map translates",
        entries([at(SWIMMER)], (GAIL, SAIL, Row("DCC", rule=WeightRule(), learner="dcc"), ID_FEAS, OURS)),
        "Rows as in mujoco-a, and DCC, which translates all demonstrations and imitates them without weights.",
    ),
    Experiment(
        "discount",
        "the discount of Eqn. 3, appendix C.3",
        entries(
            (at(SWIMMER), at(CHEETAH)),
            [_paper_like(f"discount {value:g}", Measuring(distance="l2", discount=value)) for value in DISCOUNTS],
        ),
        f"{PAPER_SCORES} σ is 5 for all; 100 steps at most are judged, so that 0.99 and 1 see a tenth of an episode.",
    ),
    Experiment(
        "sigma",
        "σ of Eqn. 3 (its C changes no weight)",
        entries([at(CHEETAH)], [_paper_like(f"sigma {value:g}", PAPER_MEASURING, f"{value!r}") for value in SIGMAS]),
        PAPER_SCORES,
    ),
    Experiment("demo-return", "demonstrations against ours", entries(map(at, SETTINGS), (OURS_PAPER, OURS, DIRECT))),
    Experiment(
        "stochastic",
        "appendix A: Hopper with actuation noise, expected distance",
        _stochastic(),
        f"Noise of {NOISE:g} half control ranges; scores are means over {ROLLOUTS} rollouts. Rows as in mujoco-a otherwise.",
    ),
    Experiment(
        "weighting",
        "sampling by weight against weights in the loss",
        _words((DIRECT, replace(DIRECT, name="direct, in the loss", learner=f"{PLAIN}:weighting=loss"))),
        "Scores and weights of `direct`.",
    ),
    Experiment(
        "granularity",
        "scores of single steps and of trajectories; weights of whole demonstrations and of segments",
        _words(
            (
                replace(OURS, name="one-step", scoring=Scoring("one-step")),
                OURS,
                replace(DIRECT, name="direct, segments", rule=WeightRule(balance="demonstrator", segments=True)),
                DIRECT,
            )
        ),
        "`one-step` against `Ours`: both f-MDPs, one score a demonstration each, one weight rule. `direct, segments` against "
        "`direct`: the same scores, as weights of parts of a demonstration.",
    ),
    Experiment(
        "soft",
        "weights against a choice of feasible ones",
        entries((at(CHEETAH), at(WALKER)), (DIRECT, replace(DIRECT, name="direct, binary", rule=BINARY))),
        "Scores of `direct`; binary: feasible ones weigh the same, all others nothing. On Hopper nothing is feasible.",
    ),
    Experiment(
        "any-learner",
        "any imitation algorithm: SAIL, weighted",
        _words((SAIL, replace(DIRECT, name="SAIL, weighted by direct", learner="sail"))),
        "Weights of `direct`.",
    ),
    Experiment(
        "arm",
        "three joints of a Panda imitate seven: return and success before a shelf",
        entries([at(SHELF)], ARM_ROWS, frozenset(row.name for row in ARM_ROWS)),
        "Weight rules of its own, not balanced: `Ours` by the paper's rule for the arm (σ taken from the distances), `direct` "
        "by the score, not its square, ID-Feas as published.",
    ),
    Experiment(
        "limits",
        "the conclusion: demonstrators more restricted than the imitator",
        _limits(),
        "Imitators of its own: those of the six settings are the restricted ones, and Hopper's cannot do what is shown.",
    ),
    Experiment(
        "long",
        "do short runs rank like long ones?",
        tuple(Entry(at(WALKER), replace(row, steps=LONG_STEPS), seeds=(0,)) for row in (GAIL, OURS)),
    ),
    Experiment(
        "cost",
        "simulator steps of experts, scores and learner",
        entries(map(at, SETTINGS), (ID_FEAS, OURS_PAPER, OURS, DIRECT)),
    ),
    Experiment(
        "other-experts",
        "how much depends on the demonstrators: set b",
        entries((replace(at(setting), policies="b") for setting in (SWIMMER, HOPPER)), (GAIL, OURS, DIRECT)),
        "Swimmer's related demonstrators began from the imitator's own expert in set b, too. Of Hopper's set b, an unrelated "
        "one (gravity 5) has the lineage of the related ones.",
    ),
)
"""In the order of the page."""

CLOSE = tuple(BY_NAME[name] for name in ("swimmer", "walker2d-2", "hopper"))
"""Settings where the claim of the main table is close."""

FURTHER = (
    Experiment(
        "more-seeds",
        "seeds 5 to 9 of mujoco-a's rows that a claim is about, where it is close",
        tuple(Entry(at(setting), row, True, (5, 6, 7, 8, 9)) for setting in CLOSE for row in (*BASELINES, OURS, DIRECT)),
        "Rows as in mujoco-a. They were asked for after its five seeds had been seen, so they are an experiment of their own.",
    ),
)
"""Not among the paper's, nor in `all`."""

GROUPS = {
    "mujoco": ("mujoco-a", "mujoco-b"),
    "all": tuple(experiment.name for experiment in PAPER),
    "prediction": ("pairs", "added", "continuum"),
}
"""Names for several experiments."""


def development(learners: Sequence[str]) -> Experiment:
    """Return the comparison on which learner and weight rule are chosen; `learners` are names of the protocol's, or texts."""
    kinds = [replace(DIRECT, name=f"direct ({name})", rule=rule) for name, rule in RULES.items()]
    rows = [
        replace(row, name=f"{row.name}, {learner}", learner=learner)
        for learner in learners
        for row in (GAIL, *kinds, RELATED_ONLY, OWN_EXPERT)
    ]
    places = [at(_fifth(setting), setting.name.split()[1]) for setting in DEVELOPMENT]
    return Experiment("development", "learners and weight rules on other imitators", entries(places, rows), development=True)


def _fifth(setting: Setting) -> Setting:
    """Return a setting with a fifth of its demonstrations: scoring all of them takes longer than the learning compared here."""
    return replace(setting, counts=tuple(count // 5 for count in setting.counts))


def related(learners: Sequence[str]) -> Experiment:
    """Return what a learner makes of every related demonstrator alone, and of all together, on the development imitators."""
    made: list[Entry] = []
    for setting in DEVELOPMENT:
        bodies = setting.demonstrators[: setting.related]
        kinds = [*(replace(RELATED_ONLY, name=f"{body} alone", whose=body) for body in bodies), RELATED_ONLY]
        rows = [replace(row, name=f"{row.name}, {one}", learner=one) for one in learners for row in kinds]
        made += entries([at(setting, setting.name.split()[1])], rows)
    return Experiment("related", "related demonstrators alone and together", tuple(made), development=True)


def catalogue(learners: Sequence[str] = (PLAIN,)) -> tuple[Experiment, ...]:
    """Return all experiments; `learners` are compared in those of development."""
    return (*PAPER, development(learners), related(learners))
