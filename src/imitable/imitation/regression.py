# SPDX-License-Identifier: MIT
"""Regression of actions on weighted transitions by gradient steps: the training of learners that simulate nothing.

Minibatches are drawn from p_w, Adam's rate falls along a cosine to zero, actions are in half control ranges. The policy's
deviation is the maximum-likelihood one, the root mean square of what the regression leaves over. What is regressed, and by
which loss, is the `Regressor`'s.
"""

import hashlib
import json
from dataclasses import Field, asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from jaxtyping import Array, Float, Int

from imitable import seeding
from imitable.evaluation.reference import Reference
from imitable.files import write_bytes
from imitable.imitation.learner import LearningJob
from imitable.imitation.training import normaliser_of, observations
from imitable.imitation.transitions import Sampler, WeightedTransitions
from imitable.nn.fitting import cosine_rates
from imitable.nn.networks import Mlp, policy_of
from imitable.nn.typed_jax import array, leaves, replaced
from imitable.policies.acting import mean, normalised
from imitable.rl.checkpoint import checked
from imitable.rl.progress import Progress
from imitable.sim.task import Task
from imitable.tensors import Arrays, to_bytes
from imitable.types import Floats, Policy

SCHEMA = 1

PART = 500
"""Gradient steps of one iteration."""

LOG_STD = (-5.0, 0.0)
"""Bounds of the logarithm of the policy's deviation, in half control ranges."""

Model = TypeVar("Model")


@dataclass(frozen=True, eq=False)
class Minibatches:
    """Rows, and those of each gradient step."""

    inputs: Float[Array, "n o"]
    """Standardised observations."""
    units: Float[Array, "n a"]
    """Actions in half control ranges."""
    order: Int[Array, "k b"]
    """Rows of the k steps."""
    rates: Float[Array, " k"]
    """Adam's."""


class Regressor(Protocol[Model]):
    """What is regressed."""

    @property
    def name(self) -> str:
        """How its random draws are named."""
        ...

    @property
    def part(self) -> str:
        """How its arrays are called in a checkpoint."""
        ...

    @property
    def residuals(self) -> int:
        """Transitions, drawn by weight, that the policy's deviation is measured on."""
        ...

    def fresh(self, seed: int, observed: int, actions: int) -> Model:
        """Return a model (O → A) before its first step."""
        ...

    def fit(self, model: Model, batches: Minibatches, rng: np.random.Generator) -> tuple[Model, Float[Array, ""]]:
        """Take the gradient steps; return the mean loss, too."""
        ...

    def network(self, model: Model) -> Mlp:
        """Return what a policy does on average."""
        ...


class RegressionSettings(Protocol):
    """What all settings of such learners say; they are dataclasses."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def gradient_steps(self) -> int:
        """Of the whole regression."""
        ...

    @property
    def minibatch(self) -> int:
        """Transitions of one gradient step."""
        ...

    @property
    def learning_rate(self) -> float:
        """Adam's, at first."""
        ...


class Regression(Generic[Model]):
    """A regression under way."""

    def __init__(
        self,
        method: RegressionSettings,
        regressor: Regressor[Model],
        job: LearningJob,
        transitions: WeightedTransitions,
        units: npt.NDArray[np.floating[Any]],
        place: tuple[Task, Reference | None],
    ) -> None:
        """Start on transitions; (n, A) units are the actions in those that are not absorbing."""
        task, self.reference = place
        self._method, self._regressor, self._job = method, regressor, job
        self._normaliser = normaliser_of(task, transitions)
        self._rng = seeding.generator(job.seed, regressor.name)
        self._actions = len(job.imitator.control_centre)
        self._model = regressor.fresh(int(self._rng.integers(2**32)), task.observation_size, self._actions)
        self._steps_taken = 0
        real = ~transitions.absorbing
        inputs = normalised(self._policy_with(np.zeros(self._actions)), observations(task, transitions.before[real]))
        self._sampler = Sampler(transitions.density[real])
        drawn = self._sampler.draw(seeding.generator(job.seed, "residuals"), (regressor.residuals,))
        self._residual_rows = inputs[drawn], units[drawn]
        self._inputs, self._units = array(inputs), array(units, np.float32)

    @property
    def done(self) -> bool:
        """Whether all gradient steps are taken."""
        return self._steps_taken == self._method.gradient_steps

    @property
    def progress(self) -> float:
        """Part of the gradient steps that are taken."""
        return self._steps_taken / self._method.gradient_steps

    @property
    def policy(self) -> Policy:
        """The policy so far."""
        inputs, units = self._residual_rows
        predicted = mean(self._policy_with(np.zeros(self._actions)), inputs).astype(np.float64)
        residual = np.sqrt(np.square(predicted - units).mean(axis=0))
        return self._policy_with(np.clip(np.log(np.maximum(residual, np.exp(LOG_STD[0]))), *LOG_STD))

    def iterate(self) -> Progress:
        """Take some gradient steps."""
        method, taken = self._method, self._steps_taken
        count = min(PART, method.gradient_steps - taken)
        order = array(self._sampler.draw(self._rng, (count, method.minibatch)), np.int32)
        rates = array(cosine_rates(method.learning_rate, taken, count, method.gradient_steps), np.float32)
        batches = Minibatches(self._inputs, self._units, order, rates)
        self._model, loss = self._regressor.fit(self._model, batches, self._rng)
        self._steps_taken += count
        metrics = {"gradient_steps": float(self._steps_taken), "loss": float(loss)}
        return Progress(0, float("nan"), float("nan"), 0, metrics)

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        part = self._regressor.part
        arrays: Arrays = {f"{part}.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(self._model))}
        metadata = {
            "fingerprint": json.dumps(self._fingerprint),
            "rng": seeding.to_json(self._rng),
            "taken": str(self._steps_taken),
        }
        write_bytes(path, to_bytes(arrays, metadata))

    def load(self, path: Path) -> None:
        """Read a checkpoint."""
        arrays, metadata = checked(path, self._fingerprint)
        count = len(leaves(self._model))
        self._model = replaced(self._model, [array(arrays[f"{self._regressor.part}.{index}"]) for index in range(count)])
        self._rng, self._steps_taken = seeding.from_json(metadata["rng"]), int(metadata["taken"])

    @property
    def _fingerprint(self) -> dict[str, object]:
        """What must be equal for a checkpoint to be continued."""
        rows = np.asarray(self._inputs).tobytes() + np.asarray(self._units).tobytes()
        return {
            "schema": SCHEMA,
            "body": self._job.imitator.hash,
            "method": json.loads(json.dumps(asdict(self._method))),
            "transitions": hashlib.sha256(rows).hexdigest()[:32],
            "seed": self._job.seed,
        }

    def _policy_with(self, log_std: Floats) -> Policy:
        return policy_of(self._regressor.network(self._model), log_std, self._normaliser, self._job.imitator)
