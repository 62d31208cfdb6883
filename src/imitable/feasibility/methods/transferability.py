# SPDX-License-Identifier: MIT
"""Transferability (OOD-IL: Qiu, Wu, Cao, Long, CoRL 2022): can a discriminator tell a demonstration from the imitator?

Demonstrations are split into modes. For each mode a policy of the imitator learns to look like its demonstrations to a
discriminator, which learns to tell the two apart at the same time (as in GAIfO): the policy is paid −logit, and a logit above
zero means that a transition looks like the imitator's own. Of a demonstration with H judged transitions:

distance = −(1/H) Σ_t logit(s_t, s_{t+1}),   score = sigmoid(mean logit) = 1 − share.

A fall leads into an absorbing state that the discriminator sees, as in imitation by GAIfO: paid ln(1 + e^{−logit}) ≥ 0 and
nothing after a fall, a policy would be paid for staying up, whatever was demonstrated.

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

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import numpy as np
from scipy.cluster.vq import kmeans2  # pyright: ignore[reportUnknownVariableType]

from imitable import seeding
from imitable.feasibility.features import Features, features
from imitable.feasibility.model_cache import cached
from imitable.feasibility.scorer import Measured, ScoringJob
from imitable.nn import discriminator
from imitable.nn.networks import Mlp
from imitable.nn.typed_jax import array
from imitable.rl.reward_model import Rewards, absorbing_steps
from imitable.rl.settings import Trpo
from imitable.rl.train import Trainer
from imitable.robots.robot import Robot
from imitable.sim.kinematics import own_starts
from imitable.sim.own_task import own_task
from imitable.sim.rollout import Segment
from imitable.sim.task import End, Moment, Task, moment_of
from imitable.spec_text import Range, check_fields
from imitable.tensors import Arrays
from imitable.tracking.attempts import trace_without_rollout
from imitable.types import Floats, Ints, Singles, Trajectory

LEARNER = Trpo(length=32, gae_lambda=0.95, log_std=-0.5, epochs=8, max_kl=0.05, fisher_fraction=0.5)
"""How policies learn: many small batches, as the trackers do."""

LIMIT = 10.0
"""Features are clipped to ± this."""

COMPONENTS, ROUNDS = 8, 100
"""Principal components that k-means looks at, and its rounds."""

SCHEMA = 2
"""Of cached models."""


@dataclass(frozen=True)
class Transferability:
    """Settings of the discriminator's score."""

    rule: ClassVar[str] = "sigmoid"
    measure: ClassVar[str] = "logit of a discriminator between it and the imitator"
    clusters: Annotated[int, Range(0, 10**4)] = 0
    """Modes that k-means looks for; 0 takes each demonstrator's demonstrations as one mode."""
    steps: Annotated[int, Range(LEARNER.batch, 10**10)] = 100_000
    """Control steps that the policy of one mode learns from."""
    trained: Annotated[int, Range(1, 10**6)] = 50
    """Demonstrations of each mode that the discriminator learns from."""
    hidden: Annotated[tuple[int, ...], Range(1, 65536)] = (64, 64)
    """Layer widths of the discriminator."""
    discriminator_steps: Annotated[int, Range(1, 10**4)] = 10
    """Gradient steps of the discriminator after each step of the policy."""
    minibatch: Annotated[int, Range(1, 10**6)] = 256
    """Rows of each side in one gradient step."""
    learning_rate: Annotated[float, Range(1e-12, 1)] = 1e-3
    """Adam's rate."""
    penalty: Annotated[float, Range(0, 10**6)] = 1.0
    """Weight of the gradient penalty."""
    horizon: Annotated[int, Range(1, 10**6)] = 100
    """Steps of a demonstration that count, at most; fewer if the discount forgets sooner."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    def prepared(self, job: ScoringJob) -> "_Discriminators":
        """Learn one discriminator a mode, or take those that an earlier job left."""
        phi, horizon = features(job.imitator), job.ruler.horizon(self.horizon)
        if self.clusters:
            modes = _Modes(cached(job, _key(self, horizon, "modes"), lambda: _clustered(job, phi, self.clusters, horizon)))
            names = [str(k) for k in range(len(modes.centres))]
        else:
            modes, names = None, sorted({episode.demonstrator for episode in job.demos.episodes})
        return _Discriminators(job, phi, horizon, modes, [_of_mode(job, self, phi, horizon, modes, name) for name in names])


def _key(method: Transferability, horizon: int, *names: str) -> object:
    """Return everything that what is learned depends on, but the body and the seed."""
    return ("transferability", SCHEMA, asdict(method) | {"horizon": horizon}, LEARNER, names)


def _logits_imitated_is_high(network: Mlp, rows: Floats | Singles) -> Floats:
    """(n, F) → (n) ln P(imitated) − ln P(demonstrated)."""
    return np.asarray(discriminator.logits_imitated_is_high(network, array(rows, np.float32)), np.float64)


@dataclass(frozen=True, eq=False)
class _Discriminator:
    """The discriminator of one mode."""

    mode: str
    network: Mlp
    spent: int


class _Discriminators:
    """All discriminators at work."""

    def __init__(
        self, job: ScoringJob, phi: Features, horizon: int, modes: "_Modes | None", discriminators: Sequence[_Discriminator]
    ) -> None:
        self._job, self._phi, self._modes, self._all, self.horizon = job, phi, modes, discriminators, horizon
        self.spent = sum(one.spent for one in discriminators)
        self.about: dict[str, object] = {"modes": [one.mode for one in discriminators]}

    def __call__(self, trajectories: Sequence[Trajectory]) -> list[Measured]:
        """Measure demonstrations one by one."""
        return [self._measured(trajectory) for trajectory in trajectories]

    def _measured(self, trajectory: Trajectory) -> Measured:
        """Ask the discriminator of its mode; a demonstration of an unknown mode is what the kindest of all says."""
        answers = [self._logits_of(one, trajectory) for one in self._asked(trajectory)]
        logits = max(answers, key=lambda row: float(row.mean()))
        mean = float(logits.mean())
        trace = trace_without_rollout(trajectory, np.arange(1, len(logits) + 1), -logits, self._job.imitator)
        return Measured(-mean, float(1 / (1 + np.exp(mean))), trace)

    def _asked(self, trajectory: Trajectory) -> Sequence[_Discriminator]:
        mode = trajectory.demonstrator
        if self._modes is not None:
            mode = str(int(self._modes.nearest(_summary(self._phi, _cut(trajectory, self.horizon))[None])[0]))
        return [one for one in self._all if one.mode == mode] or self._all

    def _logits_of(self, one: _Discriminator, trajectory: Trajectory) -> Floats:
        seen = _seen(self._phi, *_pairs(_cut(trajectory, self.horizon)))
        # a fixed number of rows: one compiled function, and the bits of a row do not depend on how many there are
        rows = np.zeros((self.horizon, seen.shape[1]), np.float32)
        rows[: len(seen)] = seen
        return _logits_imitated_is_high(one.network, rows)[: len(seen)]


def _cut(trajectory: Trajectory, horizon: int) -> Floats:
    """(≤ horizon + 1, S) the states that are judged."""
    return trajectory.states[: horizon + 1]


def _pairs(states: Floats) -> tuple[Floats, Floats]:
    return states[:-1], states[1:]


def _seen(phi: Features, states: Floats, next_states: Floats) -> Floats:
    """(n, F) what a discriminator sees of transitions; the last entry, 0, says that they are no absorbing pair."""
    return np.pad(np.clip(phi(states, next_states), -LIMIT, LIMIT), ((0, 0), (0, 1)))


def _absorbing(size: int) -> Floats:
    """(F) what it sees of an absorbing pair: nothing but the flag."""
    return np.append(np.zeros(size - 1), LIMIT)


class Beginning:
    """The first H steps from the demonstrations' first states, on the imitator's body; others pay for them."""

    def __init__(self, imitator: Robot, phi: Features, starts: Floats, horizon: int) -> None:
        self._base: Task = own_task(imitator)
        # the policy sees whole states: those of the simulator go on with the sign that their start has
        self._starts = own_starts(imitator, phi.space.one_sign(starts))
        self.horizon, self.robot, self.observation_size = horizon, imitator, self._base.observation_size

    @property
    def settings(self) -> str:
        """Never compared: these runs are not resumed."""
        return type(self).__name__

    def start(self, rng: np.random.Generator, n: int) -> Moment:
        """Draw first states of demonstrations."""
        chosen = rng.integers(len(self._starts), size=n)
        return moment_of(self._starts[chosen])

    def observe(self, moment: Moment) -> Floats:
        """(N, O) as the body's own task."""
        return self._base.observe(moment)

    def reward(self, moment: Moment, actions: Floats, after: Moment) -> Floats:
        """(N) nothing: the discriminator pays."""
        del actions, after
        return np.zeros(len(moment.states))

    def end(self, after: Moment) -> End:
        """As the body's own task: at a fall."""
        return self._base.end(after)


class LooksReward:
    """Pays −logit, so that adding a constant to every reward changes nothing: the future of a fall is r_abs / (1 − γ)."""

    def __init__(self, method: Transferability, phi: Features, demonstrated: Floats, rng: np.random.Generator) -> None:
        self._phi, self._demonstrated, self._rng = phi, demonstrated, rng
        self._shape = (method.discriminator_steps, method.minibatch)
        self._rate, self._penalty = (array(value, np.float32) for value in (method.learning_rate, method.penalty))
        self.learner = discriminator.fresh(int(rng.integers(2**32)), demonstrated.shape[1], method.hidden)

    def __call__(self, segment: Segment) -> Rewards:
        """Return rewards by the discriminator as it stands, then let it learn from the segment."""
        own = _seen(self._phi, segment.moments.states, segment.after.states)
        rows = np.concatenate([own, _absorbing(own.shape[1])[None]])
        rewards = -_logits_imitated_is_high(self.learner.network, rows)
        self._learn(rows, absorbing_steps(segment, LEARNER.discount))
        mean = float(rewards[:-1].mean())
        return Rewards((rewards[:-1] - mean).reshape(segment.rewards.shape), float(rewards[-1]) - mean)

    def _learn(self, rows: Floats, falls: int) -> None:
        """Take the gradient steps of one batch; the last of the rows stands for every step after a fall."""
        own = np.minimum(self._rng.integers(len(rows) - 1 + falls, size=self._shape), len(rows) - 1)
        theirs = self._rng.integers(len(self._demonstrated), size=self._shape)
        self.learner = discriminator.fit_imitated_is_high(
            self.learner,
            imitated=array(rows[own], np.float32),
            demonstrated=array(self._demonstrated[theirs], np.float32),
            learning_rate=self._rate,
            penalty=self._penalty,
        )

    def snapshot(self) -> tuple[Arrays, dict[str, str]]:
        """Nothing is remembered: these runs are not resumed."""
        return {}, {}

    def restore(self, arrays: Arrays, generators: dict[str, str]) -> None:
        """Nothing is remembered."""


def _of_mode(
    job: ScoringJob, method: Transferability, phi: Features, horizon: int, modes: "_Modes | None", mode: str
) -> _Discriminator:
    """Return the discriminator of a mode: learned before, or now."""

    def learn() -> Arrays:
        return _learned(job, method, phi, horizon, _training_set(job, method, phi, horizon, modes, mode), mode)

    arrays = cached(job, _key(method, horizon, "discriminator", mode), learn)
    depth = len(method.hidden) + 1
    weights, biases = (tuple(array(arrays[f"{kind}{k}"]) for k in range(depth)) for kind in ("weight", "bias"))
    return _Discriminator(mode, Mlp(weights, biases), int(arrays["spent"]))


def _learned(
    job: ScoringJob, method: Transferability, phi: Features, horizon: int, demonstrations: Sequence[Trajectory], mode: str
) -> Arrays:
    """Let policy and discriminator learn in turns; return the last discriminator."""
    rng = seeding.generator(job.seed, "transferability", mode)
    reward = LooksReward(method, phi, demonstrated(phi, demonstrations, horizon), rng)
    task = Beginning(job.imitator, phi, np.stack([one.states[0] for one in demonstrations]), horizon)
    trainer = Trainer(task, LEARNER, method.steps, int(rng.integers(2**53)), reward_model=reward, threads=job.threads)
    while not trainer.done:
        trainer.iterate()
    job.observer.say(f"{mode}: discriminator learned against {trainer.steps:,} steps of the imitator")
    named: Arrays = {"spent": np.array(trainer.steps)}
    network = reward.learner.network
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        named |= {f"weight{k}": np.asarray(weight), f"bias{k}": np.asarray(bias)}
    return named


def demonstrated(phi: Features, demonstrations: Sequence[Trajectory], horizon: int) -> Floats:
    """(M, F) what a discriminator sees of the judged transitions; of a fall among them, 1 / (1 − γ) absorbing pairs."""
    rows: list[Floats] = []
    for one in demonstrations:
        rows.append(_seen(phi, *_pairs(_cut(one, horizon))))
        if one.terminated and len(one) <= horizon:
            rows.append(np.tile(_absorbing(rows[-1].shape[1]), (round(1 / (1 - LEARNER.discount)), 1)))
    return np.concatenate(rows)


def _training_set(
    job: ScoringJob, method: Transferability, phi: Features, horizon: int, modes: "_Modes | None", mode: str
) -> list[Trajectory]:
    """Return the demonstrations to learn from: those with the smallest hashes, whatever their order."""
    places = {row.hash: place for place, row in enumerate(job.demos.episodes) if modes is not None or row.demonstrator == mode}
    chosen: list[Trajectory] = []
    for key in sorted(places):
        one = job.demos[places[key]]
        if modes is None or str(int(modes.nearest(_summary(phi, _cut(one, horizon))[None])[0])) == mode:
            chosen.append(one)
        if len(chosen) == method.trained:
            break
    return chosen


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


def _clustered(job: ScoringJob, phi: Features, clusters: int, horizon: int) -> Arrays:
    """Find the modes of all demonstrations."""
    summaries = {one.hash: _summary(phi, _cut(one, horizon)) for one in job.demos}
    rows = np.stack([summaries[key] for key in sorted(summaries)])
    mean = rows.mean(axis=0)
    axes = np.linalg.svd(rows - mean, full_matrices=False)[2][:COMPONENTS].T
    centres = cluster_centres((rows - mean) @ axes, clusters, seeding.generator(job.seed, "modes"))
    arrays: Arrays = {"mean": mean, "axes": axes, "centres": centres}
    # a centre without demonstrations has nothing to teach
    return arrays | {"centres": centres[np.unique(_Modes(arrays).nearest(rows))]}


def cluster_centres(points: Floats, count: int, rng: np.random.Generator) -> Floats:
    """(N, E) → (K, E) centres of k-means, from k-means++ seeds; K is `count`, or the number of different points if less."""
    count = min(count, len(np.unique(points, axis=0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a centre that loses all its points stays where it is
        return kmeans2(points, count, ROUNDS, minit="++", rng=rng)[0]
