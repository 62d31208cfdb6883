# SPDX-License-Identifier: MIT
"""The commands of a page of the docs, run in a folder as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block and its language: found one after the other, so that the end of one never begins the next."""


def page_blocks(page: Path, language: str) -> list[str]:
    """Return the page's blocks of a language, in order."""
    return [code for kind, code in BLOCK.findall(page.read_text()) if kind == language]


def run_commands(blocks: list[str], folder: Path, *, wide: int = 120) -> str:
    """Carry out blocks of commands in one shell, with `imitable` on the path; return what they print."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = os.environ | {"PATH": path, "COLUMNS": str(wide), "PYTHONUNBUFFERED": "1"}
    command = ["bash", "-euxc", "\n".join(blocks)]
    done = subprocess.run(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    return done.stdout
