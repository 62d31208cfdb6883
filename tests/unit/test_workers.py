# SPDX-License-Identifier: MIT
"""The pool: real processes of one thread each, that stay, and give the bits that a process of its own would."""

import os
import sys
import time

import pytest

from imitable.errors import UnknownRobot
from imitable.rl.settings import Ppo
from imitable.rl.train import Trainer
from imitable.robots.parse import parse_robot
from imitable.runtime import THREAD_VARIABLES
from imitable.sim.task import Locomotion
from imitable.workers import Workers

PRELOAD = ("imitable.rl.expert",)


def environment(_: int) -> tuple[int, str | None, bool]:
    time.sleep(0.05)
    return os.getpid(), os.environ.get("NPROC"), "jax" in sys.modules


def first_iterations(seed: int) -> tuple[int, str, float]:
    started = time.perf_counter()
    trainer = Trainer(
        Locomotion(parse_robot("hopper")), Ppo(environments=8, length=16, minibatch=64, hidden=(8, 8)), 2**20, seed
    )
    for _ in range(2):
        trainer.iterate()
    return os.getpid(), trainer.policy.hash, time.perf_counter() - started


def test_workers_have_one_thread_are_warm_and_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    before = dict(os.environ)
    with Workers(2, PRELOAD) as workers:
        first = dict(workers.run(environment, [(i,) for i in range(8)]))
        second = dict(workers.run(environment, [(i,) for i in range(8)]))
    assert sorted(first) == list(range(8))
    assert dict(os.environ) == before
    assert all(threads == "1" and warm for _, threads, warm in first.values())
    assert os.getpid() not in {pid for pid, _, _ in first.values()}
    # one worker may have done all of the first calls before the other was warm; but none is started anew
    assert len({pid for pid, _, _ in (*first.values(), *second.values())}) <= 2


def failing(name: str) -> str:
    return str(parse_robot(name))


def test_an_error_of_a_job_comes_back_as_itself_and_the_pool_lives() -> None:
    with Workers(1, preload=()) as workers:
        with pytest.raises(UnknownRobot, match="did you mean 'hopper'"):
            dict(workers.run(failing, [("hoper",)]))
        assert dict(workers.run(failing, [("hopper",)])) == {0: "hopper"}


def test_a_worker_gives_the_bits_of_a_run_on_its_own_and_is_faster_the_second_time() -> None:
    with Workers(1, PRELOAD) as workers:
        results = dict(workers.run(first_iterations, [(seed,) for seed in (3, 4, 3)]))
    assert results[0][1] == results[2][1] != results[1][1]
    assert results[0][1] == first_iterations(3)[1]
    assert results[2][2] < results[0][2], "compiled functions stay with the worker"
