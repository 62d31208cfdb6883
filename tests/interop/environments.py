# SPDX-License-Identifier: MIT
"""Environments of other packages, each made on the first run in `.venv-NAME`, or where IMITABLE_NAME_VENV says."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def environment(name: str, *packages: str, options: tuple[str, ...] = ()) -> Path:
    """Return the Python of an environment that has these packages."""
    folder = Path(os.environ.get(f"IMITABLE_{name.upper()}_VENV") or ROOT / f".venv-{name}")
    python, mark = folder / "bin" / "python", folder / "installed"
    digest = hashlib.sha256(repr((packages, options)).encode()).hexdigest()
    if not mark.is_file() or mark.read_text() != digest:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *options, *packages], check=True)
        mark.write_text(digest)
    return python


def run(python: Path, script: str, *arguments: object, **variables: str) -> str:
    """Run a script of this folder there and return what it prints; imitable's own sources are on its path."""
    command = [str(python), str(HERE / script), *map(str, arguments)]
    held = os.environ | {"PYTHONPATH": str(ROOT / "src")} | variables
    result = subprocess.run(command, env=held, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout
