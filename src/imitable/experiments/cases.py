# SPDX-License-Identifier: MIT
"""Cases: who scores or imitates whom, with what. Names are those of the records and of the tables' rows."""

from dataclasses import dataclass

from imitable.experiments.settings import BY_NAME, SETTINGS, Setting, home_of
from imitable.feasibility.score import Measuring
from imitable.robots.parse import parse_robot

DEMO_SEED, EACH = 1, 50
"""Seed of all recorded demonstrations, and how many of each demonstrator if a case does not say it."""

SCORED, REPEATED = 25, 12
"""Those of a scoring case, and of one that only repeats another with a new seed."""

MILLION = 1_000_000
WEIGHTED_STEPS, SHORT_STEPS = 600_000, 300_000
"""Steps of imitating a setting's whole composition, and of the other learners."""

ALONE_STEPS = {"half_cheetah": 200_000, "hopper": 300_000, "swimmer": MILLION, "walker2d": 300_000}
"""Steps of imitating one demonstrator alone: enough to tell good demonstrations from bad ones, not to learn all there is."""

OWN_STEPS = {
    "half_cheetah:front=0.01": MILLION,
    "hopper:gravity=15": MILLION,
    "swimmer:back=10": 3 * MILLION,
    "walker2d:friction=24.9": 2 * MILLION,
}
"""Steps of imitating the imitator's own expert."""


STANDARD = Measuring()


@dataclass(frozen=True, order=True)
class Recording:
    """Demonstrations of one body's shipped demonstrator."""

    body: str
    count: int
    setting: str = ""
    """The setting they are for: its own demonstrator of the body, if there is one, else the one for all settings."""
    seed: int = DEMO_SEED
    policies: str = "a"
    """Set of demonstrators."""


@dataclass(frozen=True)
class ScoringCase:
    """One row of the feasibility tables: a method, and how it measures."""

    name: str
    method: str
    measuring: Measuring = STANDARD
    each: int = SCORED
    """Demonstrations of each demonstrator."""
    seed: int = DEMO_SEED
    """Of demonstrations and scorer."""
    everywhere: bool = False
    """Whether the other imitators are scored, too."""

    def recordings(self, setting: Setting) -> list[Recording]:
        """Return the demonstrations of a setting's demonstrators."""
        return [Recording(body, self.each, setting.name, self.seed) for body in setting.demonstrators]


SCORING_CASES = (
    ScoringCase("direct", "direct", everywhere=True),
    ScoringCase("direct, seed 2", "direct", each=REPEATED, seed=2, everywhere=True),
    ScoringCase("direct, seed 3", "direct", each=REPEATED, seed=3, everywhere=True),
    ScoringCase("direct, seed 2, shaken", "direct:jitter=0.001", each=REPEATED, seed=2, everywhere=True),
    ScoringCase("direct, quick", "direct:effort=quick", each=REPEATED, seed=2, everywhere=True),
    ScoringCase("direct, restart", "direct:form=restart"),
    ScoringCase("direct, l2", "direct", Measuring(distance="l2")),
    ScoringCase("direct, discount 0.9", "direct", Measuring(discount=0.9)),
    ScoringCase("trajectory", "trajectory"),
    ScoringCase("trajectory, discount 0.9", "trajectory", Measuring(discount=0.9)),
    ScoringCase("trajectory, initial-state", "trajectory:tracker_input=initial-state", Measuring(discount=0.9, distance="l2")),
    ScoringCase(
        "trajectory, initial-state, 4 times the budget",
        "trajectory:tracker_input=initial-state,steps=2000000,patience=10000",
        Measuring(discount=0.9, distance="l2"),
    ),
    ScoringCase("one-step", "one-step"),
    ScoringCase("inverse-dynamics", "inverse-dynamics"),
    ScoringCase("transferability", "transferability"),
    ScoringCase("neighbours", "neighbours"),
)
"""In the order of the tables."""


@dataclass(frozen=True)
class LearningCase:
    """One row of the imitation tables: who imitates whom, how, for how long."""

    group: str
    """own, weighted, utility or learners: the table."""
    name: str
    imitator: str
    demonstrators: tuple[str, ...]
    counts: tuple[int, ...]
    """Demonstrations of each."""
    steps: int
    method: str = "gaifo"
    weighted: bool = False
    """Whether `direct` scores weigh the demonstrations."""
    seeds: tuple[int, ...] = (0, 1, 2)
    episodes: int = 100
    """Episodes of the evaluation."""
    setting: str = ""
    """The setting whose demonstrators are imitated."""

    @property
    def record(self) -> str:
        """Name of its record."""
        return f"{self.group}.{self.name}.json"

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """The demonstrations of each demonstrator."""
        return tuple(Recording(*pair, self.setting) for pair in zip(self.demonstrators, self.counts, strict=True))


def own_cases() -> list[LearningCase]:
    """Return, for each robot, 50 demonstrations of the imitator's own expert."""
    return [
        LearningCase("own", parse_robot(body).family.name, body, (body,), (EACH,), steps, setting=home_of(body))
        for body, steps in OWN_STEPS.items()
    ]


def weighted_cases(setting: Setting) -> list[LearningCase]:
    """Return a setting weighted and unweighted, and its ceilings: related demonstrators only, the imitator's own expert."""
    whole = (setting.imitator, setting.demonstrators, setting.counts, WEIGHTED_STEPS)
    related, counts = setting.demonstrators[: setting.related], setting.counts[: setting.related]
    own, name = (setting.imitator,), setting.name
    return [
        LearningCase("weighted", f"{name}.weighted", *whole, weighted=True, setting=name),
        LearningCase("weighted", f"{name}.unweighted", *whole, setting=name),
        LearningCase("weighted", f"{name}.related", setting.imitator, related, counts, WEIGHTED_STEPS, setting=name),
        LearningCase("weighted", f"{name}.own", setting.imitator, own, (EACH,), WEIGHTED_STEPS, setting=name),
    ]


def utility_cases() -> list[LearningCase]:
    """Return one demonstrator alone, for every imitator and demonstrator of the settings."""
    first = {(setting.imitator, body): setting.name for setting in reversed(SETTINGS) for body in setting.demonstrators}
    return [
        LearningCase(
            "utility",
            f"{imitator}.{body}".replace(":", "_"),
            imitator,
            (body,),
            (EACH,),
            ALONE_STEPS[body.split(":")[0]],
            seeds=(0,),
            episodes=25,
            setting=first[imitator, body],
        )
        for imitator, body in sorted(first)
    ]


def learner_cases() -> list[LearningCase]:
    """Return the other learners and presets, weighting in the loss, and three ways of Swimmer's exploration."""
    body, setting = "half_cheetah:front=0.01", BY_NAME["half_cheetah-1"]
    texts = {"gaifo": "gaifo", "trpo": "gaifo:preset=trpo", "paper": "gaifo:preset=paper", "sail": "sail", "dcc": "dcc"}
    learners = [
        LearningCase(
            "learners", f"half_cheetah.{name}", body, (body,), (EACH,), SHORT_STEPS, text, seeds=(0,), setting=setting.name
        )
        for name, text in texts.items()
    ]
    whole = (body, setting.demonstrators, setting.counts, WEIGHTED_STEPS, "gaifo:weighting=loss")
    by_loss = LearningCase("learners", "half_cheetah-1.loss", *whole, weighted=True, seeds=(0,), setting=setting.name)
    swimmer = ("swimmer:back=10", ("swimmer:back=10",), (EACH,), MILLION)
    explorations = {"short": "gaifo", "quiet": "gaifo:quiet_fraction=0.25", "calm": "gaifo:log_std_end=-3"}
    swimmers = [
        LearningCase("learners", f"swimmer.{name}", *swimmer, text, setting="swimmer") for name, text in explorations.items()
    ]
    return [*learners, by_loss, *swimmers]


LEARNING_CASES = (
    *own_cases(),
    *(case for name in ("half_cheetah-1", "hopper", "swimmer") for case in weighted_cases(BY_NAME[name])),
    *utility_cases(),
    *learner_cases(),
)
"""In the order in which they are run."""
