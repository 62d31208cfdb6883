# SPDX-License-Identifier: MIT
"""Gymnasium environments of the built-in robots, their knobs as arguments: one body, or many in one native batch.

Importing this module registers them: `gymnasium.make("imitable/Hopper-v0", gravity=15)`. Gymnasium 1 loads no plug-ins of its
own accord, but imports what an id names: `gymnasium.make("imitable.envs.gym_env:imitable/Hopper-v0")` needs no import.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from imitable.envs.camera import Camera, Frame
from imitable.envs.episodes import Episodes
from imitable.errors import BadOption, UnknownKnob, one_of
from imitable.robots.parse import parse_robot, with_knobs
from imitable.sim import task as tasks
from imitable.sim.own_task import own_task
from imitable.sim.reach import Reach
from imitable.sim.task import Task
from imitable.types import Bools, Floats, Singles

ENVIRONMENTS = {
    "Swimmer": "swimmer",
    "Walker2d": "walker2d",
    "HalfCheetah": "half_cheetah",
    "Hopper": "hopper",
    "Panda": "panda",
}
"""Names in Gymnasium's registry, and the families behind them."""

RULES = ("paper", "gymnasium")
"""The paper's reward (clipped control cost, alive bonus on the falling step too), or that of Gymnasium's v5 environments."""

_OPTIONS = ("rules", "observe_root", "render_mode", "max_episode_steps")


def register() -> None:
    """Enter the environments into Gymnasium's registry, once.

    No `max_episode_steps` is given: the environments truncate by themselves, and a second clock could only disagree.
    """
    for name, robot in ENVIRONMENTS.items():
        if (id_ := f"imitable/{name}-v0") not in gymnasium.registry:
            gymnasium.register(  # pyright: ignore[reportUnknownMemberType]
                id_,
                entry_point=f"{__name__}:LocomotionEnv",
                vector_entry_point=f"{__name__}:LocomotionVectorEnv",
                kwargs={"robot": robot},
            )


class LocomotionEnv(gymnasium.Env[Floats, Singles]):
    """Run forward on one body, or reach the goal with an arm, whose `info` also names the `contact` if it hit something.

    `info` holds the full `state` (S), and keeps two things apart from terminated and truncated: `absorbing` (the task ended in
    a state it would stay in for ever) and `unstable` (the simulation failed: truncated, the last good state observed).
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(
        self,
        robot: str,
        rules: str = "paper",
        observe_root: bool = False,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **knobs: float | str,
    ) -> None:
        """Build a body and its task.

        Args:
            robot: Name of a built-in family, such as `hopper`.
            rules: `paper` or `gymnasium`; either leaves the body alone (Walker2d needs `friction=1.9` to be Gymnasium's).
            observe_root: Whether the root position is observed.
            render_mode: None, or `rgb_array`.
            max_episode_steps: Truncates episodes earlier than the task's own horizon.
            **knobs: The robot's knobs, such as `gravity=15` or `noise=0.1`.
        """
        self.task = _task(robot, rules, observe_root, knobs)
        self.render_mode = _checked_mode(render_mode)
        self.metadata = _with_frame_rate(type(self).metadata, self.task)
        self.observation_space, self.action_space = _spaces(self.task)
        self._episodes = Episodes(self.task, 1, _limit(self.task, max_episode_steps))
        self._camera = Camera(self.task.robot)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Start an episode; with `options={"state": (S)}` in a state of your own."""
        super().reset(seed=seed)
        states = _start_states(self.task, 1, options, ("state",))
        self._episodes.restart(np.arange(1), [self.np_random], states)
        return self._episodes.observations[0], self._info(False, False)

    def step(self, action: Singles | Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Apply an action for one control period."""
        rewards, outcome = self._episodes.advance(np.arange(1), np.asarray(action, np.float64)[None], [self.np_random])
        info = self._info(bool(outcome.absorbing[0]), bool(outcome.unstable[0]))
        ends = bool(outcome.terminated[0]), bool(outcome.truncated[0])
        return self._episodes.observations[0], float(rewards[0]), *ends, info

    def _info(self, absorbing: bool, unstable: bool) -> dict[str, Any]:
        info = {"state": self._episodes.states[0].copy(), "absorbing": absorbing, "unstable": unstable}
        if not isinstance(self.task, Reach):
            return info
        contact = self.task.hit_pair(self._episodes.states[0]) if absorbing else None
        return info | {"contact": "" if contact is None else str(contact)}

    def render(self) -> Any:
        """Draw the body, (480, 480, 3); None without a render mode."""
        return self._camera.frame(self._episodes.states[0]) if self.render_mode else None

    def close(self) -> None:
        """Release the drawing context."""
        self._camera.close()


class LocomotionVectorEnv(VectorEnv[Floats, Singles, Any]):
    """Run forward on `num_envs` bodies that one native batch steps; equal, bit for bit, to as many `LocomotionEnv`s.

    Autoreset is Gymnasium's NEXT_STEP: the step that ends an episode returns its last observation; the step after it ignores
    the action, pays 0 and returns the first observation of the next episode. So no `final_obs` is needed.
    """

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int,
        robot: str,
        rules: str = "paper",
        observe_root: bool = False,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        threads: int = 1,
        **knobs: float | str,
    ) -> None:
        """Build the bodies; arguments as for `LocomotionEnv`, and the batch's number of threads (0: all cores)."""
        if num_envs < 1:
            raise BadOption("num_envs", num_envs, "give at least 1")
        self.task = _task(robot, rules, observe_root, knobs)
        self.num_envs = num_envs
        self.render_mode = _checked_mode(render_mode)
        self.metadata = _with_frame_rate(type(self).metadata, self.task)
        self.single_observation_space, self.single_action_space = _spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(self.task, num_envs, _limit(self.task, max_episode_steps), threads)
        self._camera = Camera(self.task.robot)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]
        self._ended = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Start all episodes, or those of `options["reset_mask"]` (N); environment i draws from `seed + i`, or from `seed[i]`.

        `options["state"]`, (S) or (N, S), starts them in states of your own.
        """
        states = _start_states(self.task, self.num_envs, options, ("state", "reset_mask"))
        chosen = _reset_mask(options, self.num_envs)
        for i, new in enumerate(_seeds(seed, self.num_envs)):
            if new is not None and chosen[i]:
                self._generators[i] = seeding.np_random(new)[0]
        self._episodes.restart(np.flatnonzero(chosen), self._generators, states)
        self._ended &= ~chosen
        nothing = np.zeros(self.num_envs, bool)
        return self._episodes.observations, self._infos(chosen, nothing, nothing.copy())

    def step(self, actions: Singles | Floats) -> tuple[Floats, Floats, Bools, Bools, dict[str, Any]]:
        """Apply an action to every running episode, and restart those that ended in the step before."""
        running, over = np.flatnonzero(~self._ended), np.flatnonzero(self._ended)
        rewards, outcome = self._episodes.advance(running, np.asarray(actions, np.float64), self._generators)
        self._episodes.restart(over, self._generators)
        self._ended = outcome.ended
        infos = self._infos(np.ones(self.num_envs, bool), outcome.absorbing, outcome.unstable)
        return self._episodes.observations, rewards, outcome.terminated, outcome.truncated, infos

    def _infos(self, known: Bools, absorbing: Bools, unstable: Bools) -> dict[str, Any]:
        """Return one array a key, and as `_key` which environments the key is known of: Gymnasium's form."""
        states = np.where(known[:, None], self._episodes.states, 0.0)
        values = {"state": states, "absorbing": absorbing, "unstable": unstable}
        return values | {f"_{name}": known.copy() for name in values}

    def render(self) -> tuple[Frame, ...] | None:
        """Draw every body, each (480, 480, 3); None without a render mode."""
        return tuple(self._camera.frame(state) for state in self._episodes.states) if self.render_mode else None

    def close_extras(self) -> None:
        """Release the drawing context."""
        self._camera.close()


def _task(robot: str, rules: str, observe_root: bool, knobs: dict[str, float | str]) -> Task:
    if rules not in RULES:
        raise BadOption("rules", rules, one_of(str(rules), RULES))
    family = parse_robot(robot).family
    for name in knobs:
        if family.knob(name) is None:
            raise UnknownKnob(robot, name, (*(knob.name for knob in family.knobs), *_OPTIONS))
    values = {knob.name: knob.parse(robot, str(knobs[knob.name])) for knob in family.knobs if knob.name in knobs}
    body = with_knobs(family, values)
    if rules == "paper":
        return own_task(body, observe_root=observe_root)
    if family.rules is None:
        raise BadOption("rules", rules, f"Gymnasium has no task for {family.name}; leave it out")
    return replace(tasks.gymnasium(body), observe_root=observe_root)


def _checked_mode(mode: str | None) -> str | None:
    if mode not in (None, "rgb_array"):
        raise BadOption("render_mode", mode, "choose from: rgb_array, None")
    return mode


def _with_frame_rate(metadata: dict[str, Any], task: Task) -> dict[str, Any]:
    return {**metadata, "render_fps": round(1 / task.robot.layout.period_s)}


def _limit(task: Task, max_episode_steps: int | None) -> int:
    """Return the length at which episodes are truncated; −1 is Gymnasium's word for no limit but the environment's own."""
    if max_episode_steps is None or max_episode_steps == -1:
        return task.horizon
    if max_episode_steps < 1:
        raise BadOption("max_episode_steps", max_episode_steps, f"give a number from 1 to {task.horizon}")
    return min(max_episode_steps, task.horizon)


def _spaces(task: Task) -> "tuple[Box[np.float64], Box[np.float32]]":
    """Return what is observed and what is acted, typed as in Gymnasium's own MuJoCo environments."""
    low, high = task.robot.control_range.astype(np.float32)
    return Box(-np.inf, np.inf, (task.observation_size,), np.float64), Box(low, high, dtype=np.float32)


def _seeds(seed: int | Sequence[int | None] | None, size: int) -> Sequence[int | None]:
    seeds = [None] * size if seed is None else [seed + i for i in range(size)] if isinstance(seed, int) else seed
    if len(seeds) != size:
        raise BadOption("seed", seeds, f"give one number, or {size}")
    return seeds


def _reset_mask(options: dict[str, Any] | None, size: int) -> Bools:
    mask = np.asarray((options or {}).get("reset_mask", np.ones(size, bool)))
    if mask.shape != (size,) or mask.dtype != np.bool_ or not mask.any():
        raise BadOption("reset option reset_mask", f"{mask.dtype} array{mask.shape}", f"give {size} booleans, one True or more")
    return mask


def _start_states(task: Task, size: int, options: dict[str, Any] | None, allowed: Sequence[str]) -> Floats | None:
    """(N, S) the states that the reset options ask for, if they do."""
    for name in options or {}:
        if name not in allowed:
            raise BadOption("reset option", name, one_of(name, allowed))
    if not options or "state" not in options:
        return None
    names = task.robot.layout.state
    given = np.asarray(options["state"], np.float64)
    if given.shape not in ((len(names),), (size, len(names))) or not np.isfinite(given).all():
        raise BadOption("reset option state", f"array{given.shape}", f"give finite numbers for {', '.join(names)}")
    return np.broadcast_to(given, (size, len(names)))


register()
