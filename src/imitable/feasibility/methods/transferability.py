# SPDX-License-Identifier: MIT
"""Transferability (OOD-IL: Qiu, Wu, Cao, Long, CoRL 2022): can a discriminator tell a demonstration from the imitator?

Demonstrations are split into modes. For each mode a policy of the imitator learns to look like its demonstrations to a
discriminator, which learns to tell the two apart at the same time (as in GAIfO): the policy is paid ln(1 + e^{−logit}), and a
logit above zero means that a transition looks like the imitator's own. Of a demonstration with H judged transitions:

distance = −(1/H) Σ_t logit(s_t, s_{t+1}),   score = sigmoid(mean logit) = 1 − share.

It follows the published description and is simpler:
* Modes are the demonstrators' names, or k-means on the leading principal components of a trajectory's means and deviations;
  OOD-IL trains a recurrent contrastive encoder together with its clusters.
* The policy starts in the first states of its demonstrations and both sides are judged on the same first H steps; OOD-IL
  uses whole episodes and, on MuJoCo's bodies, the simulator's own starts.
* Transitions are seen without root position and in the imitator's own scales, and a gradient penalty keeps the
  discriminator from being sure of what a short budget leaves apart. The default budget is a three-hundredth of theirs.

What is hard to learn soon looks foreign: at the default budget the score ranks Swimmer's and HalfCheetah's demonstrators by
relation, but Hopper's by calmness (AUROC 0.95, 0.92 and 0.04, measured).
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from imitable import seeding
from imitable.feasibility.features import Features, features
from imitable.feasibility.model_cache import learned
from imitable.feasibility.scorer import Job, Measured, trace_without_rollout
from imitable.rl.settings import Trpo
from imitable.robots.robot import Robot
from imitable.sim.task import End, Free, Locomotion, Moment, Task
from imitable.spec_text import check_ranges
from imitable.tensors import Arrays
from imitable.types import Floats, Ints, Trajectory

if TYPE_CHECKING:
    from imitable.nn.networks import Mlp

LEARNER = Trpo(length=32, gae_lambda=0.95, log_std=-0.5, epochs=8, max_kl=0.05, fisher_share=0.5)
"""How policies learn: many small batches, as the trackers do."""

LIMIT = 10.0
"""Features are clipped to ± this."""

COMPONENTS, ROUNDS = 8, 100
"""Principal components that k-means looks at, and its rounds at most."""

SCHEMA = 1
"""Of what is kept."""


RANGES = {
    "clusters": (0, 10**4),
    "steps": (LEARNER.batch, 10**10),
    "trained": (1, 10**6),
    "hidden": (1, 65536),
    "discriminator_steps": (1, 10**4),
    "minibatch": (1, 10**6),
    "learning_rate": (1e-12, 1),
    "penalty": (0, 10**6),
    "horizon": (1, 10**6),
}
"""Lowest and highest value of every number."""


@dataclass(frozen=True)
class Transferability:
    """Settings of the discriminator's score."""

    rule: ClassVar[str] = "sigmoid"
    measure: ClassVar[str] = "logit of a discriminator between it and the imitator"
    clusters: int = 0
    """Modes that k-means looks for; 0 takes each demonstrator's demonstrations as one mode."""
    steps: int = 100_000
    """Control steps that the policy of one mode learns from."""
    trained: int = 50
    """Demonstrations of each mode that the discriminator learns from."""
    hidden: tuple[int, ...] = (64, 64)
    """Layer widths of the discriminator."""
    discriminator_steps: int = 10
    """Gradient steps of the discriminator after each step of the policy."""
    minibatch: int = 256
    """Rows of each side in one gradient step."""
    learning_rate: float = 1e-3
    """Adam's rate."""
    penalty: float = 1.0
    """Weight of the gradient penalty."""
    horizon: int = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self, RANGES)

    def prepared(self, job: Job) -> "_Judges":
        """Learn one discriminator a mode, or take those that an earlier job left."""
        phi, horizon = features(job.imitator), job.ruler.horizon(self.horizon)
        if self.clusters:
            modes = _Modes(learned(job, _told(self, horizon, "modes"), lambda: _modes(job, phi, self.clusters, horizon)))
            names = [str(k) for k in range(len(modes.centres))]
        else:
            modes, names = None, sorted({episode.demonstrator for episode in job.demos.episodes})
        return _Judges(job, phi, horizon, modes, [_judge(job, self, phi, horizon, modes, name) for name in names])


def _told(method: Transferability, horizon: int, *names: str) -> object:
    """Return everything that what is learned depends on, but the body and the seed."""
    return ("transferability", SCHEMA, asdict(method) | {"horizon": horizon}, LEARNER, names)


@dataclass(frozen=True, eq=False)
class _Judge:
    """The discriminator of one mode."""

    name: str
    network: "Mlp"
    spent: int


class _Judges:
    """All discriminators at work."""

    def __init__(self, job: Job, phi: Features, horizon: int, modes: "_Modes | None", judges: Sequence[_Judge]) -> None:
        self._job, self._phi, self._modes, self._judges, self.horizon = job, phi, modes, judges, horizon
        self.spent = sum(judge.spent for judge in judges)
        self.about: dict[str, object] = {"modes": [judge.name for judge in judges]}

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure demonstrations one by one."""
        return [self._measured(trajectory) for trajectory in trajectories]

    def _measured(self, trajectory: Trajectory) -> Measured:
        """Ask the discriminator of its mode; a demonstration of no known mode is what the kindest of all says."""
        found = [self._logits(judge, trajectory) for judge in self._asked(trajectory)]
        logits = max(found, key=lambda row: float(row.mean()))
        mean = float(logits.mean())
        trace = trace_without_rollout(trajectory, np.arange(1, len(logits) + 1), -logits, self._job.imitator)
        return Measured(-mean, float(1 / (1 + np.exp(mean))), trace)

    def _asked(self, trajectory: Trajectory) -> Sequence[_Judge]:
        name = trajectory.demonstrator
        if self._modes is not None:
            name = str(int(self._modes.nearest(_summary(self._phi, _cut(trajectory, self.horizon))[None])[0]))
        return [judge for judge in self._judges if judge.name == name] or self._judges

    def _logits(self, judge: _Judge, trajectory: Trajectory) -> Floats:
        from imitable.nn.discriminator import logits_imitated_is_high
        from imitable.nn.typed_jax import array

        seen = _seen(self._phi, *_pairs(_cut(trajectory, self.horizon)))
        # a fixed number of rows: one compiled function, and the bits of a row do not depend on how many there are
        rows = np.zeros((self.horizon, seen.shape[1]), np.float32)
        rows[: len(seen)] = seen
        return np.asarray(logits_imitated_is_high(judge.network, array(rows)), np.float64)[: len(seen)]


def _cut(trajectory: Trajectory, horizon: int) -> Floats:
    """(≤ horizon + 1, S) the states that are judged."""
    return trajectory.states[: horizon + 1]


def _pairs(states: Floats) -> tuple[Floats, Floats]:
    return states[:-1], states[1:]


def _seen(phi: Features, states: Floats, next_states: Floats) -> Floats:
    """(n, F) what a discriminator sees of transitions."""
    return np.clip(phi(states, next_states), -LIMIT, LIMIT)


class _Looks:
    """Look like the demonstrations to a discriminator: the first H steps from their first states, paid ln(1 + e^{−logit})."""

    def __init__(self, imitator: Robot, phi: Features, starts: Floats, horizon: int, network: "Mlp") -> None:
        self._base: Task = Locomotion(imitator) if imitator.family.rules else Free(imitator)
        # the policy sees whole states: those of the simulator go on with the sign that their start has
        self._starts = phi.space.one_sign(starts)
        self._phi, self.horizon, self.network = phi, horizon, network
        self.robot, self.observation_size = imitator, self._base.observation_size
        self.paid = np.zeros((0, 0))
        """(n, F) what was seen of the transitions paid last."""

    @property
    def settings(self) -> str:
        """Never compared: these runs are not resumed."""
        return type(self).__name__

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw first states of demonstrations."""
        chosen = rng.integers(len(self._starts), size=n)
        return Moment(self._starts[chosen], np.zeros(n, np.int64), np.zeros((n, 0), np.int64))

    def observe(self, moment: Moment) -> Floats:
        """(N, O) as the body's own task."""
        return self._base.observe(moment)

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) how little a transition looks like the imitator's own."""
        from imitable.nn.discriminator import logits_imitated_is_high
        from imitable.nn.typed_jax import array

        del actions
        self.paid = _seen(self._phi, moment.states, after.states)
        logits = logits_imitated_is_high(self.network, array(self.paid, np.float32))
        return np.logaddexp(0, -np.asarray(logits, np.float64))

    def end(self, after: Moment) -> End:
        """As the body's own task: at a fall."""
        return self._base.end(after)


def _judge(job: Job, method: Transferability, phi: Features, horizon: int, modes: "_Modes | None", name: str) -> _Judge:
    """Return the discriminator of a mode: learned before, or now."""
    from imitable.nn.networks import Mlp
    from imitable.nn.typed_jax import array

    arrays = learned(job, _told(method, horizon, "judge", name), lambda: _learned(job, method, phi, horizon, modes, name))
    depth = len(method.hidden) + 1
    weights, biases = (tuple(array(arrays[f"{kind}{k}"]) for k in range(depth)) for kind in ("weight", "bias"))
    return _Judge(name, Mlp(weights, biases), int(arrays["spent"]))


def _learned(job: Job, method: Transferability, phi: Features, horizon: int, modes: "_Modes | None", name: str) -> Arrays:
    """Let policy and discriminator learn in turns; return the last discriminator."""
    from imitable.nn.discriminator import fit_imitated_is_high, fresh
    from imitable.nn.typed_jax import array
    from imitable.rl.train import Trainer

    lessons = _lessons(job, phi, horizon, modes, name, method.trained)
    shown = np.concatenate([_seen(phi, *_pairs(states)) for states in lessons])
    rng = seeding.generator(job.seed, "transferability", name)
    judge = fresh(int(rng.integers(2**32)), shown.shape[1], method.hidden)
    task = _Looks(job.imitator, phi, np.stack([states[0] for states in lessons]), horizon, judge.network)
    trainer = Trainer(task, LEARNER, method.steps, int(rng.integers(2**53)), threads=job.threads)
    rate, penalty = (array(value, np.float32) for value in (method.learning_rate, method.penalty))
    shape = (method.discriminator_steps, method.minibatch)
    while not trainer.done:
        trainer.iterate()
        ours, theirs = (array(rows[rng.integers(len(rows), size=shape)], np.float32) for rows in (task.paid, shown))
        judge = fit_imitated_is_high(judge, imitated=ours, demonstrated=theirs, learning_rate=rate, penalty=penalty)
        task.network = judge.network
    job.say(f"{name}: discriminator learned against {trainer.steps:,} steps of the imitator")
    named: Arrays = {"spent": np.array(trainer.steps)}
    for k, (weight, bias) in enumerate(zip(judge.network.weights, judge.network.biases, strict=True)):
        named |= {f"weight{k}": np.asarray(weight), f"bias{k}": np.asarray(bias)}
    return named


def _lessons(job: Job, phi: Features, horizon: int, modes: "_Modes | None", name: str, most: int) -> list[Floats]:
    """Return the judged states of the demonstrations to learn from: those with the smallest hashes, whatever their order."""
    places = {row.hash: place for place, row in enumerate(job.demos.episodes) if modes is not None or row.demonstrator == name}
    found: list[Floats] = []
    for key in sorted(places):
        states = _cut(job.demos[places[key]], horizon)
        if modes is None or str(int(modes.nearest(_summary(phi, states)[None])[0])) == name:
            found.append(states)
        if len(found) == most:
            break
    return found


class _Modes:
    """Modes of demonstrations: the nearest of K centres among the principal components of summaries."""

    def __init__(self, arrays: Arrays) -> None:
        self.mean: Floats = arrays["mean"]
        self.axes: Floats = arrays["axes"]
        self.centres: Floats = arrays["centres"]

    def nearest(self, summaries: Floats) -> Ints:
        """(N, E) → (N) the mode of each."""
        # sums row by row: the bits of one row do not depend on the others
        places = ((summaries - self.mean)[:, :, None] * self.axes).sum(axis=1)
        return np.square(places[:, None] - self.centres).sum(axis=2).argmin(axis=1)


def _summary(phi: Features, states: Floats) -> Floats:
    """(E) mean and deviation of a demonstration's features."""
    seen = _seen(phi, *_pairs(states))
    return np.concatenate([seen.mean(axis=0), seen.std(axis=0)])


def _modes(job: Job, phi: Features, clusters: int, horizon: int) -> Arrays:
    """Find the modes of all demonstrations."""
    summaries = {one.hash: _summary(phi, _cut(one, horizon)) for one in job.demos}
    rows = np.stack([summaries[key] for key in sorted(summaries)])
    mean = rows.mean(axis=0)
    axes = np.linalg.svd(rows - mean, full_matrices=False)[2][:COMPONENTS].T
    centres = k_means((rows - mean) @ axes, min(clusters, len(rows)), seeding.generator(job.seed, "modes"))
    found: Arrays = {"mean": mean, "axes": axes, "centres": centres}
    # a centre without demonstrations has nothing to teach
    return found | {"centres": centres[np.unique(_Modes(found).nearest(rows))]}


def k_means(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """(N, E) → (count, E) centres by Lloyd's rounds from k-means++ seeds; a centre that loses all its points stays."""
    centres = points[rng.integers(len(points))][None]
    while len(centres) < count:
        gaps = np.square(points[:, None] - centres).sum(axis=2).min(axis=1)
        chances = gaps / gaps.sum() if gaps.sum() > 0 else np.full(len(points), 1 / len(points))
        centres = np.concatenate([centres, points[rng.choice(len(points), p=chances)][None]])
    for _ in range(ROUNDS):
        owners = np.square(points[:, None] - centres).sum(axis=2).argmin(axis=1)
        moved = np.stack([points[owners == k].mean(axis=0) if (owners == k).any() else centres[k] for k in range(count)])
        if (moved == centres).all():
            break
        centres = moved
    return centres
