# affectlab: `make demo` shows what it does, `make test` checks that it works.
# Everything is installed into a virtual environment of its own; no root, nothing global.

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 && echo "$$p" && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests of models need torch, whose light build is for Python 3.11; elsewhere they are skipped.

.PHONY: help demo test check unit coverage docs bench clean

help:
	@echo "make demo   set up, simulate a study, write demo/report.html"
	@echo "make test   set up, check style and types, run all tests, build the docs"
	@echo "make coverage  run all tests and say what they leave out"
	@echo "make bench  compare speed and memory with peers"
	@echo "make docs   build the documentation into docs/_build/html"
	@echo "make clean  remove everything that make created"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "affectlab needs Python 3.11, 3.12 or 3.13; none was found." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[dev,docs,explore,study,scale,vision,vlm,reactions$$($(BIN)/python -c 'import sys; print(",models,images" * (sys.version_info[:2] == (3, 11)))')]"
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core
	$(BIN)/affectlab demo --out demo

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every core has a test of its own: libraries that start a thread per core would be in each other's way.
# Neighbouring tests stay on one core, which then prepares once what they share; byte code is kept.
unit: $(VENV)/.dev
	env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 \
		$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Watching every branch more than doubles the time, so it is not part of `make test`.
coverage: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --cov --cov-report term

test: check docs unit

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo docs/_build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
