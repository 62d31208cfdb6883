# SPDX-License-Identifier: MIT
"""A trainer as one file, and back to the same bits: networks, optimiser, normalisers, generators, all simulations."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from imitable import seeding
from imitable.errors import CannotResume
from imitable.files import write_bytes
from imitable.nn.normaliser import Normaliser
from imitable.nn.typed_jax import Tree, array, leaves, replaced
from imitable.rl.scaling import RewardScale
from imitable.rl.train import Trainer
from imitable.tensors import Arrays, DamagedFile, read, to_bytes

SCHEMA = 3


def fingerprint(trainer: Trainer) -> dict[str, object]:
    """Return what must be equal for a checkpoint to be continued."""
    method = trainer.method
    practice = {} if trainer.pushes is None else {"pushes": asdict(trainer.pushes)}
    practice |= {"staggered": True} if trainer.staggered else {}
    return {
        "schema": SCHEMA,
        "body": trainer.task.robot.hash,
        "task": trainer.task.settings,
        "method": {"name": type(method).__name__, **json.loads(json.dumps(asdict(method)))},
        "budget": trainer.budget,
        "seed": trainer.seed,
        "begin": trainer.begin_hash,
        "quiet_fraction": trainer.quiet_fraction,
        **practice,
    }


def save_checkpoint(trainer: Trainer, path: Path) -> None:
    """Write the trainer's whole state beside `path`, then rename."""
    arrays, generators = trainer.collector.snapshot()
    model_arrays, model_generators = trainer.reward_model.snapshot()
    tensors: Arrays = {f"collector.{name}": array for name, array in arrays.items()}
    tensors |= {f"reward_model.{name}": array for name, array in model_arrays.items()}
    tensors |= {f"agent.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(trainer.agent))}
    tensors |= {f"mean_actor.{index}": np.asarray(leaf) for index, leaf in enumerate(leaves(trainer.mean_actor))}
    tensors |= {
        "observed.mean": trainer.observed.mean,
        "observed.variance": trainer.observed.variance,
        "scale.returns": trainer.scale.returns,
        "scale.mean": trainer.scale.seen.mean,
        "scale.variance": trainer.scale.seen.variance,
        "recent": np.array(trainer.recent, np.float64).reshape(-1, 2),
    }
    metadata = {
        "fingerprint": json.dumps(fingerprint(trainer)),
        "generators": json.dumps(generators | {"order": seeding.to_json(trainer.order)}),
        "reward_model": json.dumps(model_generators),
        "counts": json.dumps([trainer.observed.count, trainer.scale.seen.count, trainer.steps, trainer.averaged]),
    }
    write_bytes(path, to_bytes(tensors, metadata))


def load_checkpoint(trainer: Trainer, path: Path) -> None:
    """Put a fresh trainer of the same settings into the state that was saved."""
    tensors, metadata = checked(path, fingerprint(trainer))
    trainer.agent = _restored(trainer.agent, tensors, "agent")
    trainer.mean_actor = _restored(trainer.mean_actor, tensors, "mean_actor")
    seen, scaled, trainer.steps, trainer.averaged = json.loads(metadata["counts"])
    trainer.observed = Normaliser(tensors["observed.mean"], tensors["observed.variance"], seen)
    scale = Normaliser(tensors["scale.mean"], tensors["scale.variance"], scaled)
    trainer.scale = RewardScale(tensors["scale.returns"], scale)
    trainer.recent.extend((float(r), int(n)) for r, n in tensors["recent"])
    generators: dict[str, str] = json.loads(metadata["generators"])
    trainer.order = seeding.from_json(generators.pop("order"))
    trainer.collector.restore(_part(tensors, "collector."), generators)
    trainer.reward_model.restore(_part(tensors, "reward_model."), json.loads(metadata["reward_model"]))


def checked(path: Path, here: dict[str, object]) -> tuple[Arrays, dict[str, str]]:
    """Read a checkpoint; refuse one whose fingerprint is not this one."""
    try:
        tensors, metadata = read(path)
    except FileNotFoundError:
        raise CannotResume(str(path), "there is no checkpoint") from None
    except DamagedFile as error:
        raise CannotResume(str(path), f"the checkpoint is damaged ({error})") from None
    saved = json.loads(metadata.get("fingerprint", "{}"))
    if saved != here:
        names = ", ".join(name for name in here if saved.get(name) != here[name])
        raise CannotResume(str(path), f"it was made with other settings ({names})")
    return tensors, metadata


def _restored(tree: Tree, tensors: Arrays, name: str) -> Tree:
    return replaced(tree, [array(tensors[f"{name}.{index}"]) for index in range(len(leaves(tree)))])


def _part(tensors: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
