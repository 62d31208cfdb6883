#!/bin/sh
# Run the tests on the oldest and newest supported Python and MuJoCo. PYTHONS overrides which interpreters are tried.
set -eu
root="$(cd "$(dirname "$0")/.." && pwd)"
cd "$root"
missing=0
# jax of constraints.txt may not exist for every Python: the matrix lets pip choose what fits
for pair in ${MATRIX:-3.11:3.17.0 3.11:4.0.0 3.13:3.17.0 3.13:4.0.0}; do
    version="${pair%%:*}"
    mujoco="${pair##*:}"
    python="$(command -v "python$version" || true)"
    if [ -z "$python" ] || ! "$python" -c '' 2>/dev/null; then
        python="$(ls -d "$HOME"/.pyenv/versions/"$version".*/bin/python 2>/dev/null | tail -n 1 || true)"
    fi
    if [ -z "$python" ]; then
        echo "== Python $version is not on this machine: not tested"
        missing=1
        continue
    fi
    venv=".venv-$version-$mujoco"
    echo "== Python $version, MuJoCo $mujoco"
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --editable '.[dev]' "mujoco==$mujoco"
    "$venv/bin/python" -m pytest -n 2 --dist loadgroup -q
done
exit "$missing"
