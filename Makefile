# One command per habit. Everything happens inside .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PYTEST := $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

MINUTES ?= 10
# Commands in processes of their own start twice as fast from compiled files.
export PYTHONDONTWRITEBYTECODE =

.PHONY: setup setup-browser check test test-full demo bench campaign docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

setup-browser:  # for the tests of the report and the explorer, which drive a real browser (Debian)
	apt-get update --quiet && apt-get install --yes --quiet chromium

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTEST) tests/contracts

test: setup  # what `make check` runs is not run again
	$(PYTEST) tests/unit tests/e2e -m "not full"

test-full: setup
	$(PYTEST)

demo: setup
	$(BIN)/python examples/02_find_where_models_break.py

bench: setup
	$(BIN)/python -m benchmarks.run

campaign: setup  # attacks, by turns: make campaign MINUTES=60; goes on where it stopped
	$(BIN)/python -m campaign --minutes $(MINUTES)

docs: setup
	$(BIN)/python -m tools.docs

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache src/*.egg-info
