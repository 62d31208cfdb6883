# SPDX-License-Identifier: MIT
"""Warm start: GAIfO that begins from a clone of what the imitator itself can do of the demonstrations.

1. Projection: pieces of demonstrations, begun in states drawn from p_w, are re-rolled on the imitator by the tracker
   (`imitation/projecting.py`); what cannot be followed is dropped.
2. Cloning: a policy is regressed on the actions of what was kept.
3. GAIfO goes on from that policy. Its discriminator is shown the projected transitions, or the original ones by weight.

The steps of a job count what the simulator does, in projection and in GAIfO; cloning takes none.
"""

import json
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt

from imitable.evaluation.result import ProjectionCount
from imitable.files import write_bytes
from imitable.imitation.learner import LearningJob, Training
from imitable.imitation.methods.cloning import Cloning, GradientSteps
from imitable.imitation.methods.gaifo import Gaifo
from imitable.imitation.projecting import Projecting, drawn_pieces
from imitable.imitation.regression import Regression
from imitable.imitation.training import PolicyTraining, imitation_task, normaliser_of, untrained_policy
from imitable.imitation.transitions import WeightedTransitions, transitions_of
from imitable.nn.cloner import Cloner
from imitable.rl.checkpoint import checked
from imitable.rl.progress import Progress
from imitable.rl.settings import Fraction
from imitable.sim.reference_starts import ReferenceStarts
from imitable.sim.task import Task
from imitable.spec_text import OneOf, Range, check_fields
from imitable.tensors import Arrays, to_bytes
from imitable.tracking.reroll import SHORTEST
from imitable.types import Policy

SCHEMA = 2

Bytes = npt.NDArray[np.uint8]

FROM_A_CLONE = Gaifo(log_std=-1.5)
"""GAIfO with exploration enough to learn from, not so much that it forgets the clone."""

STEP_COST = 70
"""Simulated steps that a step of a piece takes, if it takes many: 11 to 69 were measured on the bodies of the paper."""

PROJECTED, CLONED = 0.1, 0.2
"""Parts of a run's work that are done when the stages before GAIfO are: of its time, about."""


@dataclass(frozen=True)
class WarmStart:
    """Settings of projection and cloning, and those of GAIfO, which goes on from the clone."""

    pieces: Annotated[int, Range(1, 10**6)] = 1500
    """Pieces of demonstrations that are drawn by weight and re-rolled."""
    piece_length: Annotated[int, Range(SHORTEST, 10**5)] = 2
    """Control steps of a piece: many short ones teach more than few long ones."""
    gradient_steps: GradientSteps = 500
    """Gradient steps of the cloning: a clone of thousands knows its few pieces by heart, and GAIfO can hardly move it."""
    demonstrated: Annotated[str, OneOf("projected", "original")] = "projected"
    """What GAIfO's discriminator is shown: projected transitions, or those of the original demonstrations by weight."""
    begin_anywhere: Fraction = 0.5
    """Part of GAIfO's episodes that begin in the middle of the movement, in a projected state."""
    fade: Fraction = 0.0
    """Part of GAIfO's steps over which such beginnings fade out, in a line; 0: they stay as many."""
    gaifo: Gaifo = FROM_A_CLONE
    """Settings of GAIfO."""

    def __post_init__(self) -> None:
        """Check every value."""
        check_fields(self)

    @property
    def cloning(self) -> Cloning:
        """The learner of the second stage."""
        return Cloning(gradient_steps=self.gradient_steps, hidden=self.gaifo.hidden)

    @property
    def reserved(self) -> int:
        """Steps that the projection leaves to GAIfO at least: one batch after those that teach only its critic."""
        return self.gaifo.critic_steps + self.gaifo.least_steps

    @property
    def least_steps(self) -> int:
        """What the projection is likely to take, and what it leaves to GAIfO."""
        return STEP_COST * self.pieces * self.piece_length + self.reserved

    def begin(self, job: LearningJob) -> "WarmTraining":
        """Read the demonstrations and draw the pieces."""
        return WarmTraining(self, job)


class WarmTraining:
    """The three stages, one after the other; each begins when it is first needed."""

    def __init__(self, method: WarmStart, job: LearningJob) -> None:
        """Read the demonstrations and draw the pieces; refuse steps that leave GAIfO no batch."""
        self._method, self._job = method, job
        self._original = transitions_of(job)
        self._task, self.reference = imitation_task(job, self._original, observe_root=method.gaifo.observe_root)
        pieces = drawn_pieces(job, method.pieces, method.piece_length)
        self._projecting = Projecting(job, pieces, job.steps - method.reserved)

    @property
    def projection(self) -> ProjectionCount:
        """What the projection took so far."""
        return self._projecting.count

    @cached_property
    def _projected(self) -> WeightedTransitions:
        """What the projection kept; every transition counts the same, for the pieces were drawn by weight."""
        return transitions_of(replace(self._job, demos=self._projecting.demos, weights=None), actions=True)

    @cached_property
    def _cloning(self) -> Regression[Cloner]:
        return self._method.cloning.begin_on(self._job, self._projected, self._task, self.reference)

    @cached_property
    def _tuning(self) -> PolicyTraining:
        """GAIfO from the cloned policy, with the steps that the projection left."""
        job = replace(self._job, steps=self._job.steps - self._projecting.steps)
        shown = self._projected if self._method.demonstrated == "projected" else self._original
        return self._method.gaifo.begin_on(job, shown, self._practice, self.reference, self._cloning.policy)

    @property
    def _practice(self) -> Task:
        """The task as GAIfO meets it: from rest alone it would see the movement only once it can do all that comes before."""
        part = self._method.begin_anywhere
        return ReferenceStarts(self._task, part, self._projected.begins) if part else self._task

    @property
    def done(self) -> bool:
        """Whether GAIfO has no room for another batch."""
        return self._projecting.done and self._cloning.done and self._tuning.done

    @property
    def progress(self) -> float:
        """Part of the work that is done."""
        if not self._projecting.done:
            return PROJECTED * self._projecting.progress
        if not self._cloning.done:
            return PROJECTED + (CLONED - PROJECTED) * self._cloning.progress
        return CLONED + (1 - CLONED) * self._tuning.progress

    @property
    def policy(self) -> Policy:
        """The policy so far; while pieces are followed, an untrained one."""
        if self._projecting.done:
            return self._tuning.policy if self._cloning.done else self._cloning.policy
        normaliser = normaliser_of(self._task, self._original)
        return untrained_policy(self._method.gaifo.rl, self._task, self._job.seed, normaliser)

    def iterate(self) -> Progress:
        """Follow a block of pieces, or take some gradient steps, or a batch of GAIfO."""
        if not self._projecting.done:
            return self._project()
        if self._cloning.done:
            self._fade()
        learned = (self._tuning if self._cloning.done else self._cloning).iterate()
        return replace(learned, steps=self._projecting.steps + learned.steps)

    def _fade(self) -> None:
        """Let fewer episodes begin inside: with several gaits to begin in, a policy learns a little of each of them."""
        trainer, over = self._tuning.trainer, self._method.fade
        if over and isinstance(trainer.task, ReferenceStarts):
            left = max(0.0, 1 - self._tuning.progress / over)
            trainer.collector.task = replace(trainer.task, fraction=left * trainer.task.fraction)

    def _project(self) -> Progress:
        """Follow a block of pieces; say what came of all of them in the end."""
        self._projecting.iterate()
        count = self.projection
        if self._projecting.done:
            self._job.say(f"projection: {count.steps:,} steps, {count.kept:,} pieces kept, {count.dropped:,} dropped")
            for remark in self._remarks(count):
                self._job.say(f"! {remark}")
        metrics = {"pieces_kept": float(count.kept), "pieces_dropped": float(count.dropped)}
        return Progress(count.steps, float("nan"), float("nan"), 0, metrics)

    def _remarks(self, count: ProjectionCount) -> Iterator[str]:
        """Say what makes a projection a weak beginning."""
        if left := self._method.pieces - count.kept - count.dropped:
            yield f"the steps had no room for {left:,} more pieces; give more steps, or fewer pieces"
        if count.kept < count.dropped:
            yield "most pieces cannot be followed, so what is left may be little of the movement; see what imitable score says"

    def save(self, path: Path) -> None:
        """Write a checkpoint: what became of the pieces, and the checkpoints of the stages that have begun."""
        arrays: Arrays = {f"pieces.{name}": array for name, array in self._projecting.snapshot().items()}
        if self._projecting.done:
            arrays["cloning"] = _packed(self._cloning, path)
            if self._cloning.done:
                arrays["gaifo"] = _packed(self._tuning, path)
        write_bytes(path, to_bytes(arrays, {"fingerprint": json.dumps(self._fingerprint)}))

    def load(self, path: Path) -> None:
        """Read a checkpoint, stage by stage: each begins from what those before it came to."""
        arrays, _ = checked(path, self._fingerprint)
        pieces = {name.removeprefix("pieces."): array for name, array in arrays.items() if name.startswith("pieces.")}
        self._projecting.restore(pieces)
        if "cloning" in arrays:
            _unpack(self._cloning, arrays["cloning"], path)
        if "gaifo" in arrays:
            _unpack(self._tuning, arrays["gaifo"], path)

    @property
    def _fingerprint(self) -> dict[str, object]:
        """What must be equal for a checkpoint to be continued."""
        return {
            "schema": SCHEMA,
            "body": self._job.imitator.hash,
            "method": json.loads(json.dumps(asdict(self._method))),
            "pieces": self._projecting.hash,
            "budget": self._job.steps,
            "seed": self._job.seed,
        }


def _packed(training: Training, path: Path) -> Bytes:
    """Return the bytes of a training's own checkpoint."""
    with _beside(path) as file:
        training.save(file)
        return np.frombuffer(file.read_bytes(), np.uint8)


def _unpack(training: Training, data: Bytes, path: Path) -> None:
    """Let a training go on from the bytes of its own checkpoint."""
    with _beside(path) as file:
        file.write_bytes(data.tobytes())
        training.load(file)


@contextmanager
def _beside(path: Path) -> Generator[Path]:
    """Give the name of a file beside `path` that vanishes again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder) / "stage"
