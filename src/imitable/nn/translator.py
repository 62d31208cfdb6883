# SPDX-License-Identifier: MIT
"""A map between the states of two bodies by dynamics cycle-consistency (Zhang et al., 2021), learned from states alone.

x, x′ (n, E) are states of the other body one control step apart, s, s′ (n, E) own states and u (n, A) own actions in half
control ranges, all standardised. F(s, u) ≈ s′ is fitted first (L1) and then frozen. D tells own states from mapped ones, by
least squares: (D(s) − 1)² + ½ (D(Φx)² + D(ŝ)²). Against it, with u = A(Φx, Φx′) inside ±1 by tanh and ŝ = F(Φx, u),

    adversarial · [(D(Φx) − 1)² + (D(ŝ) − 1)²] + cycle · |Ψ(Φx) − x| + dynamics · |ŝ − Φx′|

is brought down by the maps Φ: x → s, Ψ: s → x and A together. |·| is a mean over rows and entries. Entries are subtracted as
they are, quaternions (of one sign) too: Φ adds to the entries of a state, so that its codomain is no tangent space.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from imitable import seeding
from imitable.nn import fitting
from imitable.nn.fitting import TrainState, falling_rates
from imitable.nn.networks import Mlp
from imitable.nn.typed_jax import array, compiled, full, gradient
from imitable.policies.perceptron import Perceptron, rowwise
from imitable.types import Floats, Ints, Singles

MAP, BRANCH, HEAD, ACTION, DISCRIMINATOR = (64, 256), (64, 128), (64,), (256, 64), (256, 64)
"""Published layer widths: of Φ and Ψ, of F's branches for state and action, of what joins them, of A, of D."""

DISCRIMINATOR_RATE = 1e-3
"""Adam's rate of D."""

CHUNK = 500
"""Gradient steps whose rows are in memory at once."""


class Scale(NamedTuple):
    """How states are standardised, (E) each."""

    mean: Floats
    std: Floats


class Balance(NamedTuple):
    """Weights of the maps' losses."""

    adversarial: float
    cycle: float
    dynamics: float


@dataclass(frozen=True, eq=False)
class Own:
    """N transitions of one's own body under random actions."""

    before: Floats
    """(N, E) states."""
    units: Floats
    """(N, A) actions in half control ranges."""
    after: Floats
    """(N, E) the states one control step later."""
    scale: Scale


@dataclass(frozen=True, eq=False)
class Theirs:
    """M transitions of the other body."""

    before: Floats
    """(M, E) states."""
    after: Floats
    """(M, E) the states one control step later."""
    scale: Scale
    draw: Callable[[np.random.Generator, tuple[int, ...]], Ints]
    """Returns row numbers of a shape."""


class Forward(eqx.Module):
    """(s, u) → (s′ − s) / deviation of such changes."""

    state: Mlp
    action: Mlp
    head: Mlp

    def __call__(self, states: Float[Array, "n e"], units: Float[Array, "n a"]) -> Float[Array, "n e"]:
        """(n, E), (n, A) → (n, E)."""
        branches = [jnp.maximum(self.state(states), 0), jnp.maximum(self.action(units), 0)]
        return self.head(jnp.concatenate(branches, axis=1))


class Maps(eqx.Module):
    """Φx = x + state(x), Ψs = s + back(s) and A: at first, entries of one name correspond."""

    state: Mlp
    back: Mlp
    action: Mlp


class Fixed(eqx.Module):
    """What is fixed while the maps learn."""

    forward: Forward
    change: Float[Array, " e"]
    """Deviation of own changes in one control step."""
    adversarial: Float[Array, ""]
    cycle: Float[Array, ""]
    dynamics: Float[Array, ""]


@dataclass(frozen=True, eq=False)
class Translator:
    """Φ in NumPy: a state's translation has the same bits wherever it stands among others."""

    change: Perceptron
    """Φx − x, standardised."""
    theirs: Scale
    own: Scale

    def __call__(self, states: Floats) -> Floats:
        """(N, E) states of the other body → (N, E) own states."""
        x, (*_, weight), (*_, bias) = _standardised(states, self.theirs), self.change.weights, self.change.biases
        # (x + h W) + b, not x + (h W + b): the last bits of what was translated before
        return self.own.mean + self.own.std * (x + rowwise(self.change.hidden(x), weight) + bias)


class Fitted(NamedTuple):
    """A translator, and how learning it went."""

    translator: Translator
    forward: Singles
    """(forward steps) error of F in deviations of one step's change."""
    dynamics: Singles
    """(map steps) |ŝ − Φx′|."""


def fit(
    own: Own,
    theirs: Theirs,
    seed: int,
    *,
    forward_steps: int,
    forward_rate: float,
    map_steps: int,
    map_rate: float,
    minibatch: int,
    balance: Balance,
) -> Fitted:
    """Fit F, then the maps. Rates fall in a line to a hundredth."""
    rng = seeding.generator(seed, "translator")
    width, actions = own.before.shape[1], own.units.shape[1]
    change = np.maximum(((own.after - own.before) / own.scale.std).std(axis=0), 1e-6)
    forward = Forward(
        state=_layers(rng, (width, *BRANCH)),
        action=_layers(rng, (actions, *BRANCH)),
        head=_layers(rng, (2 * BRANCH[-1], *HEAD, width)),
    )
    maps = Maps(
        state=_layers(rng, (width, *MAP, width), last=0.01),
        back=_layers(rng, (width, *MAP, width), last=0.01),
        action=_layers(rng, (2 * width, *ACTION, actions)),
    )
    discriminator = _layers(rng, (width, *DISCRIMINATOR, 1), last=0.01)
    forward, errors = _fit_forward(forward, own, change, rng, forward_steps, minibatch, forward_rate)
    fixed = Fixed(forward, array(change, np.float32), *(array(weight, np.float32) for weight in balance))
    maps, cycles = _fit_maps(maps, discriminator, fixed, own, theirs, rng, map_steps, minibatch, map_rate)
    return Fitted(Translator(maps.state.numpy, theirs.scale, own.scale), errors, cycles)


def _fit_forward(
    forward: Forward, own: Own, change: Floats, rng: np.random.Generator, steps: int, minibatch: int, rate: float
) -> tuple[Forward, Singles]:
    state, errors = fitting.start(forward), list[Singles]()
    for rates in _chunks(rate, steps):
        rows = rng.integers(len(own.before), size=(len(rates), minibatch))
        changes = ((own.after[rows] - own.before[rows]) / own.scale.std / change).astype(np.float32)
        batches = array(_standardised(own.before[rows], own.scale)), array(own.units[rows], np.float32), array(changes)
        state, error = _descend_forward(state, batches, array(rates, np.float32))
        errors.append(np.asarray(error))
    return state.network, np.concatenate(errors)


def _fit_maps(
    maps: Maps,
    discriminator: Mlp,
    fixed: Fixed,
    own: Own,
    theirs: Theirs,
    rng: np.random.Generator,
    steps: int,
    minibatch: int,
    rate: float,
) -> tuple[Maps, Singles]:
    state, cycles = fitting.start((maps, discriminator)), list[Singles]()
    for rates in _chunks(rate, steps):
        shape = (len(rates), minibatch)
        mine, drawn = rng.integers(len(own.before), size=shape), theirs.draw(rng, shape)
        batches = (
            array(_standardised(own.before[mine], own.scale)),
            array(_standardised(theirs.before[drawn], theirs.scale)),
            array(_standardised(theirs.after[drawn], theirs.scale)),
        )
        state, cycle = _descend_maps(state, fixed, batches, array(rates, np.float32))
        cycles.append(np.asarray(cycle))
    return state.network[0], np.concatenate(cycles)


def _standardised(states: Floats, scale: Scale) -> Singles:
    return ((states - scale.mean) / scale.std).astype(np.float32)


def _chunks(rate: float, steps: int) -> list[Floats]:
    """Return the rates of all gradient steps, chunk by chunk."""
    rates = falling_rates(rate, steps)
    return [rates[begin : begin + CHUNK] for begin in range(0, steps, CHUNK)]


def _layers(rng: np.random.Generator, sizes: Sequence[int], last: float = 1.0) -> Mlp:
    """Return He-initialised layers, the last of them `last` times as large."""
    pairs = list(pairwise(sizes))
    weights = [rng.standard_normal(pair) * np.sqrt(2 / pair[0]) for pair in pairs]
    weights[-1] *= last
    biases = tuple(array(np.zeros(outputs), np.float32) for _, outputs in pairs)
    return Mlp(tuple(array(weight, np.float32) for weight in weights), biases, "relu")


def _forward_error(
    forward: Forward, states: Float[Array, "b e"], units: Float[Array, "b a"], changes: Float[Array, "b e"]
) -> Float[Array, ""]:
    return jnp.abs(forward(states, units) - changes).mean()


@compiled
def _descend_forward(
    state: TrainState[Forward],
    batches: tuple[Float[Array, "k b e"], Float[Array, "k b a"], Float[Array, "k b e"]],
    rates: Float[Array, " k"],
) -> tuple[TrainState[Forward], Float[Array, " k"]]:
    """Take one Adam step on each of k minibatches of states, actions and changes."""
    return fitting.fit(lambda forward, rows: _forward_error(forward, *rows), state, batches, rates)


class _Mapped(NamedTuple):
    """A minibatch of the other body, mapped."""

    now: Float[Array, "b e"]
    """Φx."""
    after: Float[Array, "b e"]
    """Φx′."""
    predicted: Float[Array, "b e"]
    """ŝ = F(Φx, A(Φx, Φx′))."""


def _mapped(maps: Maps, fixed: Fixed, x: Float[Array, "b e"], x_after: Float[Array, "b e"]) -> _Mapped:
    now, after = x + maps.state(x), x_after + maps.state(x_after)
    units = jnp.tanh(maps.action(jnp.concatenate([now, (after - now) / fixed.change], axis=1)))
    return _Mapped(now, after, now + fixed.change * fixed.forward(now, units))


def _dynamics(mapped: _Mapped) -> Float[Array, ""]:
    return jnp.abs(mapped.predicted - mapped.after).mean()


def _map_loss(
    maps: Maps, discriminator: Mlp, fixed: Fixed, x: Float[Array, "b e"], x_after: Float[Array, "b e"]
) -> Float[Array, ""]:
    mapped = _mapped(maps, fixed, x, x_after)
    unlike = jnp.square(discriminator(mapped.now) - 1).mean() + jnp.square(discriminator(mapped.predicted) - 1).mean()
    lost = jnp.abs(mapped.now + maps.back(mapped.now) - x).mean()
    return fixed.adversarial * unlike + fixed.cycle * lost + fixed.dynamics * _dynamics(mapped)


def _discriminator_loss(discriminator: Mlp, own: Float[Array, "b e"], mapped: _Mapped) -> Float[Array, ""]:
    fooled = jnp.square(discriminator(mapped.now)).mean() + jnp.square(discriminator(mapped.predicted)).mean()
    return jnp.square(discriminator(own) - 1).mean() + 0.5 * fooled


@compiled
def _descend_maps(
    state: TrainState[tuple[Maps, Mlp]],
    fixed: Fixed,
    batches: tuple[Float[Array, "k b e"], Float[Array, "k b e"], Float[Array, "k b e"]],
    rates: Float[Array, " k"],
) -> tuple[TrainState[tuple[Maps, Mlp]], Float[Array, " k"]]:
    """Take one Adam step of the maps and one of D on each of k minibatches of s, x and x′; record |ŝ − Φx′|."""

    def slope(
        both: tuple[Maps, Mlp], rows: tuple[Float[Array, "b e"], Float[Array, "b e"], Float[Array, "b e"]]
    ) -> tuple[Float[Array, ""], tuple[Maps, Mlp]]:
        (maps, discriminator), (own, x, x_after) = both, rows
        mapped = _mapped(maps, fixed, x, x_after)
        slopes = (
            gradient(_map_loss)(maps, discriminator, fixed, x, x_after),
            gradient(_discriminator_loss)(discriminator, own, mapped),
        )
        return _dynamics(mapped), slopes

    return fitting.descend(slope, state, batches, (rates, full((), DISCRIMINATOR_RATE)))
