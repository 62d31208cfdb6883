# SPDX-License-Identifier: MIT
"""With `CI` set, a test that cannot run because something is missing fails: a green run then means that every test ran."""

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def _judged(report: Report) -> Report:
    """Turn a skip into a failure; an expected failure is none."""
    wanted = os.environ.get("CI", "").lower() not in ("", "0", "false")
    if wanted and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} cannot run here, and with CI set every test must: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge what a test reports."""
    return _judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judge what a file reports that leaves out all its tests."""
    return _judged((yield))
