# SPDX-License-Identifier: MIT
"""A green run with `CI` set means that every test ran."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TESTS = {
    "mark": "import pytest\n@pytest.mark.skipif(True, reason='no fish')\ndef test_a(): pass",
    "call": "import pytest\ndef test_a(): pytest.skip('no fish')",
    "fixture": "import pytest\n@pytest.fixture\ndef b(): pytest.skip('no fish')\ndef test_a(b): pass",
    "module": "import pytest\npytest.importorskip('no_such_package', reason='no fish')\ndef test_a(): pass",
}


def run(folder: Path, text: str, ci: str, *options: str) -> tuple[int, str]:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.no_skips", "-p", "no:cacheprovider", "-rs", *options, folder]
    places = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env=os.environ | {"CI": ci, "PYTHONPATH": places}
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("kind", TESTS)
def test_a_skip_fails_with_ci_set_and_says_what_is_missing(kind: str, tmp_path: Path) -> None:
    code, shown = run(tmp_path, TESTS[kind], "true")
    assert code in (1, 2), shown
    assert "cannot run here" in shown
    assert "no fish" in shown


@pytest.mark.parametrize("kind", TESTS)
def test_a_skip_is_a_skip_on_a_machine_of_yours(kind: str, tmp_path: Path) -> None:
    code, shown = run(tmp_path, TESTS[kind], "")
    assert code in (0, 5), shown
    assert "1 skipped" in shown


def test_what_is_left_out_by_a_marker_or_fails_as_expected_is_no_skip(tmp_path: Path) -> None:
    text = (
        "import pytest\n@pytest.mark.slow\ndef test_a(): assert False\n"
        "@pytest.mark.xfail\ndef test_b(): assert False\ndef test_c(): pass"
    )
    code, shown = run(tmp_path, text, "true", "-m", "not slow")
    assert code == 0, shown
    assert "1 passed, 1 deselected, 1 xfailed" in shown


def test_what_tests_need_is_installed_once_before_they_start() -> None:
    """Two workers that install fight for apt's lock: one lost it, and its tests were skipped."""
    plan = subprocess.run(["make", "--dry-run", "test"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert plan.index("scripts/install_test_parts.sh") < plan.index("-m pytest")
    others = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    assert not [path for path in others if "install_test_parts" in path.read_text()]
    assert "export CI=true" in (ROOT / ".ci" / "run").read_text()
