# affectlab: `make demo` shows what it does, `make test` checks that it works.
# Everything is installed into a virtual environment of its own; no root, nothing global.

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 && echo "$$p" && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests of models need torch, whose light build is for Python 3.11; elsewhere they are skipped.

.PHONY: help demo test test-long check lint quick unit fuzz coverage api golden readings docs bench package audit clean

help:
	@echo "make demo   set up, simulate a study, write demo/report.html"
	@echo "make check  set up, check style and types, run the quick tests: for everyday work"
	@echo "make test   set up, check style and types, run the tests"
	@echo "make test-long  run what takes long: docs, browsers, faults, tutorials, recipes, fuzzing"
	@echo "make coverage  run the tests of statistics and say what they leave out"
	@echo "make api    write the lists of what is public anew, after a change that is meant"
	@echo "make golden  freeze the numbers of results anew, after a change that is meant"
	@echo "make readings  freeze what is read of files anew, after a change that is meant"
	@echo "make bench  compare speed and memory with peers"
	@echo "make docs   build the documentation into docs/_build/html"
	@echo "make package  build what is published, install it in an empty environment, run the demo"
	@echo "make audit  check licences and known weaknesses of what users install, and list it"
	@echo "make clean  remove everything that make created"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "affectlab needs Python 3.11, 3.12 or 3.13; none was found." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e ".[dev,docs,explore,study,scale,vision,vlm,reactions,datasets,files$$($(BIN)/python -c 'import sys; print(",models,images" * (sys.version_info[:2] == (3, 11)))')]"
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core
	$(BIN)/affectlab demo --out demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every core has a test of its own: libraries that start a thread per core would be in each other's way.
# Neighbouring tests stay on one core, which then prepares once what they share; byte code is kept.
PYTEST = env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 \
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

# Every example of a docstring, and the rooms that everything else stands on.
QUICK := src tests/public_api tests/taxonomy tests/protocols tests/ratings

# What these marks have takes long: browsers, servers, clusters, simulations, whole stories. CI runs it last.
LONG := long or browser

quick: $(VENV)/.dev
	$(PYTEST) -m "not ($(LONG))" $(QUICK)

unit: $(VENV)/.dev
	$(PYTEST) -m "not ($(LONG))"

check: lint quick

test: lint unit

test-long: docs
	$(PYTEST) -m "$(LONG)"
	$(MAKE) fuzz

fuzz: $(VENV)/.dev
	AFFECTLAB_FUZZ=$${AFFECTLAB_FUZZ:-60} $(PYTEST) tests/ratings/test_fuzz.py

# The rooms of which numbers are cited must keep 90 % of their lines and branches under test.
# Watching every branch more than doubles the time, so no test run does it: once a week the workflow does.
WATCHED := reliability/* analysis/* evaluation/* core/estimates.py core/inference.py core/statistic.py \
	core/arrays.py core/compiled/tally.py core/compiled/correlation.py

coverage: $(VENV)/.dev
	$(PYTEST) -m "not ($(LONG))" tests/reliability tests/analysis tests/evaluation tests/oracles \
		tests/report tests/test_estimates.py tests/test_row_order.py --cov-report= \
		$(foreach room,reliability analysis evaluation core,--cov=affectlab.$(room))
	@set -f; for room in $(WATCHED); do \
		printf '%s ' "$$room"; \
		$(BIN)/coverage report --format=total --fail-under=90 --include="src/affectlab/$$room" || exit; \
	done

api: $(VENV)/.dev
	$(BIN)/python -m tests.public_api

golden: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.golden

readings: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.readings

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# Tools of a release have libraries of their own, which are not to meet those of the package.
TOOLS := .venv-release
EMPTY := .venv-empty

$(TOOLS)/.done: Makefile | $(BIN)/python
	$(BIN)/python -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check \
		"build>=1.3,<2" "twine>=7,<8" "pip-audit>=2.10,<3" "cyclonedx-bom>=7.5,<8"
	@touch $@

# The same commit gives the same bytes. The demo runs with nothing but what the wheel asks for.
package: $(TOOLS)/.done
	rm -rf dist $(EMPTY) build/empty
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 1577836800) \
		$(TOOLS)/bin/python -m build --outdir dist
	$(TOOLS)/bin/python -m twine check --strict dist/*
	$(BIN)/python -m venv $(EMPTY)
	$(EMPTY)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	mkdir -p build/empty
	cd build/empty && env -i HOME="$$PWD" PATH="$(CURDIR)/$(EMPTY)/bin:/usr/bin:/bin" \
		sh -c 'affectlab doctor && affectlab demo && test -s demo/report.html'

# Needs a network to ask about known weaknesses; without one it says so and fails.
audit: $(TOOLS)/.done $(VENV)/.dev
	@mkdir -p build
	$(BIN)/python -m release.audit --tools $(TOOLS)/bin --out build/sbom.json

clean:
	rm -rf $(VENV) $(TOOLS) $(EMPTY) build dist demo docs/_build .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
