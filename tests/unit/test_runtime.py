# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from imitable.runtime import THREAD_VARIABLES, cache_folder, one_thread


def test_asks_for_one_thread() -> None:
    environment: dict[str, str] = {}
    one_thread(environment)
    assert environment.items() >= THREAD_VARIABLES.items()


def test_what_the_user_set_stays() -> None:
    environment = {"OMP_NUM_THREADS": "4", "JAX_PLATFORMS": "cuda"}
    one_thread(environment)
    assert (environment["OMP_NUM_THREADS"], environment["JAX_PLATFORMS"]) == ("4", "cuda")


def test_the_cache_goes_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "imitable"
