# SPDX-License-Identifier: MIT
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false
"""The few functions of JAX, Equinox and lineax whose own annotations a strict type checker cannot follow, with types.

An adapter file: unknown types end here.
"""

import os
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx
import optax
from jaxtyping import Array

Tree = TypeVar("Tree")
Carry = TypeVar("Carry")
Row = TypeVar("Row")
Out = TypeVar("Out")
Rest = ParamSpec("Rest")
Function = TypeVar("Function", bound=Callable[..., Any])


def start_jax() -> None:
    """Let JAX have one thread, unless it has started already or the user set NPROC: more of them split sums, so bits differ.

    XLA reads the variable once, when it starts; other libraries never see it.
    """
    if "NPROC" in os.environ:
        return
    os.environ["NPROC"] = "1"
    try:
        jax.devices()
    finally:
        del os.environ["NPROC"]


def gradient(function: Callable[Concatenate[Tree, Rest], Array]) -> Callable[Concatenate[Tree, Rest], Tree]:
    """Return the gradient of a scalar function by its first argument."""
    return jax.grad(function)


def value_and_gradient(
    function: Callable[Concatenate[Tree, Rest], Array],
) -> Callable[Concatenate[Tree, Rest], tuple[Array, Tree]]:
    """Return the value of a scalar function and its gradient by its first argument."""
    return jax.value_and_grad(function)


def compiled(function: Function) -> Function:
    """Compile a function; arguments that are not arrays (methods' settings) are constants."""
    return eqx.filter_jit(function)  # pyright: ignore[reportReturnType]


def leaves(tree: object) -> list[Array]:
    """Return the arrays of a tree in order."""
    return jax.tree.leaves(tree)


def replaced(tree: Tree, arrays: list[Array]) -> Tree:
    """Return the tree with other arrays in the order of `leaves`."""
    return jax.tree.unflatten(jax.tree.structure(tree), arrays)


def chosen(condition: Array, tree: Tree, other: Tree) -> Tree:
    """Return `tree` where the condition holds, else `other`."""
    return jax.tree.map(lambda x, y: jnp.where(condition, x, y), tree, other)


def rows_of(tree: Tree, rows: Array) -> Tree:
    """Return the tree with only these rows of every array."""
    return jax.tree.map(lambda x: x[rows], tree)


def scaled(tree: Tree, factor: Array | float) -> Tree:
    """Return factor · tree."""
    return jax.tree.map(lambda x: factor * x, tree)


def blended(tree: Tree, other: Tree, part: float) -> Tree:
    """Return tree + part · (other − tree)."""
    return jax.tree.map(lambda x, y: x + part * (y - x), tree, other)


def start_optimiser(optimiser: optax.GradientTransformation, tree: object) -> optax.OptState:
    """Return an optimiser's state before its first step."""
    return optimiser.init(tree)  # pyright: ignore[reportArgumentType]


def descended(
    optimiser: optax.GradientTransformation,
    tree: Tree,
    slope: Tree,
    state: optax.OptState,
    rate: Array | tuple[Array, ...],
) -> tuple[Tree, optax.OptState]:
    """Take one step of an optimiser down the slope; return the new tree and the new state.

    `rate` is one for the whole tree, or, if that is a tuple, a tuple with one for each of its parts.
    """
    change, state = optimiser.update(slope, state)  # pyright: ignore[reportArgumentType]
    change = jax.tree.map(lambda part_rate, part: scaled(part, -part_rate), rate, change)
    return optax.apply_updates(tree, change), state  # pyright: ignore[reportArgumentType, reportReturnType]


def stepped(tree: Tree, change: Any, scale: Array | float) -> Tree:
    """Return tree + scale · change."""
    return jax.tree.map(lambda x, c: x + scale * c, tree, change)


def scan(
    body: Callable[[Carry, Row], tuple[Carry, Out]], start: Carry, rows: Row, *, reverse: bool = False
) -> tuple[Carry, Out]:
    """Fold `body` over the leading axis of `rows`."""
    return jax.lax.scan(body, start, rows, reverse=reverse)  # pyright: ignore[reportReturnType]


def repeat_while(more: Callable[[Carry], Array], body: Callable[[Carry], Carry], start: Carry) -> Carry:
    """Apply `body` while `more` says so."""
    return jax.lax.while_loop(more, body, start)


def linearised(function: Callable[[Tree], Array], at: Tree) -> tuple[Callable[[Tree], Array], Callable[[Array], Tree]]:
    """Return v ↦ J v and u ↦ Jᵀ u of a function at a point."""
    _, push = jax.linearize(function, at)
    transposed = jax.linear_transpose(push, at)
    return push, lambda u: transposed(u)[0]


def positive_solve(product: Callable[[Tree], Tree], b: Tree, steps: int) -> Tree:
    """Return x with A x ≈ b after at most `steps` steps of lineax's conjugate gradient from zero; A is positive definite."""
    operator = lx.FunctionLinearOperator(product, jax.eval_shape(lambda: b), lx.positive_semidefinite_tag)
    return lx.linear_solve(operator, b, lx.CG(rtol=1e-10, atol=1e-10, max_steps=steps), throw=False).value


def array(values: Any, dtype: Any = None) -> Array:
    """Return values as a JAX array of their own memory, so that later writes to a NumPy array do not reach it."""
    return jnp.array(values, dtype, copy=True)


def full(shape: Any, value: float) -> Array:
    """Return a float32 array of one value."""
    return jnp.full(shape, value, jnp.float32)
