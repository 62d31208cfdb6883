# SPDX-License-Identifier: MIT
"""A small protocol and a small workshop."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from imitable.experiments.catalogue import catalogue
from imitable.experiments.cells import Cell, Terms, cells_of, chosen
from imitable.experiments.executors import Executor, Here, Made
from imitable.experiments.protocol import PLAIN, PROJECTION, default_protocol
from imitable.experiments.reproduction import make_cells, workshop_at
from imitable.experiments.work import Workshop

SMALL = (
    "gaifo:environments=8,length=16,minibatch=64,hidden=8x8,discriminator_hidden=16x16,discriminator_minibatch=32,"
    "discriminator_steps=2"
)
WARM = ",".join(
    ["warm-start:pieces=16", "gradient_steps=2", "gaifo.critic_steps=0"]
    + [f"gaifo.{setting}" for setting in SMALL.removeprefix("gaifo:").split(",")]
)
PROTOCOL = replace(default_protocol(), learners={PLAIN: SMALL, PROJECTION: WARM})
TINY = Terms(PROTOCOL, seeds=1, scale=1e-4)
"""One demonstration of each, one batch, one episode."""


def cells(*names: str, terms: Terms = TINY) -> list[Cell]:
    return cells_of(chosen(catalogue(), names), terms)


def workshop(folder: Path) -> Workshop:
    return workshop_at(folder, None, TINY)


def made(some: Sequence[Cell], folder: Path, executor: Executor | None = None) -> list[Made]:
    return list(make_cells(some, workshop(folder), PROTOCOL, executor or Here()))
