#!/bin/sh
# Build wheel and sdist, install each into an empty environment, and run it outside the clone.
set -eu
python="$1"
root="$(cd "$(dirname "$0")/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$python" -m build --outdir "$work/dist" "$root"
for artefact in "$work"/dist/*.whl "$work"/dist/*.tar.gz; do
    echo "== $(basename "$artefact")"
    rm -rf "$work/venv"
    "$python" -m venv "$work/venv"
    "$work/venv/bin/python" -m pip install --quiet --constraint "$root/constraints.txt" "$artefact"
    cd "$work"
    rm -rf demos
    "$work/venv/bin/imitable" robots half_cheetah:front=0.05
    "$work/venv/bin/imitable" collect half_cheetah:front=0.05 --episodes 2 --out demos
    "$work/venv/bin/imitable" inspect demos --json > inspect.json
    "$work/venv/bin/python" - "$root/src/imitable/policies/demonstrators" <<'END'
import json
import sys
from pathlib import Path
import imitable as im
assert json.load(open("inspect.json"))["episodes"] == 2
assert "site-packages" in im.__file__, im.__file__
source, installed = (Path(sys.argv[1]), Path(im.__file__).parent / "policies" / "demonstrators")
names = [{path.relative_to(home) for path in home.rglob("*.*")} for home in (source, installed)]
assert names[0] == names[1], f"demonstrators that were not packed: {names[0] ^ names[1]}"
print("installed copy works:", im.read("demos")[0].states.shape)
END
    cd "$root"
done
