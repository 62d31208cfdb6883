# A fresh machine needs Python 3.11 or newer and make. `make quickstart` and `make test` set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
.DEFAULT_GOAL := help
.PHONY: help setup quickstart parts test check format slow bench interop truth feasibility imitation reproduction build matrix demonstrators pages pictures docs constraints clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "imitable needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

setup: $(VENV)/.ready  ## Create .venv and install

quickstart: setup  ## The main job end to end, on a small scale
	$(BIN)/imitable quickstart --overwrite

parts:  ## What tests need from the system (Chromium, fish, zsh), where apt-get can install it
	sh scripts/install_test_parts.sh

test: setup check parts  ## Everything that a change must pass
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: setup  ## Lint, types, layers, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache
	$(BIN)/codespell

format: setup  ## Format and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

slow: setup  ## Learning tests of minutes: learners reach what they should
	$(BIN)/python -m pytest -m slow tests/learning -s; status=$$?; $(BIN)/python scripts/write_results.py; exit $$status

interop: setup  ## Files opened by the real programs of the field, each in its own environment
	$(BIN)/python -m pytest -m interop tests/interop -s

truth: setup  ## Motions whose feasibility is known, on robots of the package index: scored (hours), and their page
	$(BIN)/python -m studies.truth install
	$(BIN)/python -m studies.truth make
	$(BIN)/python -m studies.truth score --name now
	$(BIN)/python -m studies.truth page --names now

bench: setup  ## Throughput against the simulator's limit and against peers
	$(BIN)/python bench/throughput.py --out results/throughput.json; status=$$?; $(BIN)/python scripts/write_results.py; exit $$status

feasibility: setup  ## Records of every scorer on the paper's settings that are missing (hours), and their page
	$(BIN)/python -m imitable.experiments.feasibility
	$(BIN)/python -m imitable.experiments.ladders
	$(BIN)/python -m imitable.experiments.large_sets
	$(BIN)/python scripts/write_results.py

imitation: setup  ## Records of every learner on the paper's settings that are missing (hours), and their page
	$(BIN)/python -m imitable.experiments.imitation
	$(BIN)/python -m imitable.experiments.cloning
	$(BIN)/python -m imitable.experiments.noise
	$(BIN)/python scripts/write_results.py

reproduction: setup  ## Cells of the paper's experiments that are missing (days), and their page
	$(PYTHON) -m venv $(VENV)-reproduction
	$(VENV)-reproduction/bin/python -m pip install --quiet --constraint constraints.txt '.[arm]'
	$(VENV)-reproduction/bin/imitable reproduce all --records results/cells --out runs
	$(BIN)/python scripts/reproduction_page.py

build: setup  ## Wheel and sdist, each installed into an empty environment and run outside the clone
	sh scripts/test_build.sh $(abspath $(BIN)/python)

matrix: setup  ## Oldest and newest Python, MuJoCo 3.17 and 4.0
	sh scripts/test_matrix.sh

demonstrators: setup  ## Train the demonstrators that are missing from the package
	$(BIN)/python scripts/train_demonstrators.py

pages: setup  ## Write docs/errors.md and docs/reference.md from the code
	$(BIN)/python scripts/write_pages.py

pictures: setup  ## Draw the pictures of the README, of the demonstrators' page and of the reproduction
	$(BIN)/python scripts/draw_demonstrators.py
	$(BIN)/python scripts/animate_demonstrators.py
	$(BIN)/python scripts/draw_parting.py
	$(BIN)/python scripts/draw_illustrations.py
	$(BIN)/python scripts/draw_g1.py
	$(BIN)/python scripts/draw_fr3.py

docs: pages  ## The site of the documentation, warnings are errors
	$(BIN)/mkdocs build --strict

constraints: setup  ## Write constraints.txt anew from what is installed
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '@ file' > constraints.txt

clean:  ## Remove environments, caches and outputs
	rm -rf .venv .venv-* build dist site quickstart .pytest_cache .ruff_cache .hypothesis
