# Two commands from a bare clone: `make demo` and `make test`. Each builds the environment it needs.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench clean

demo: $(STAMP)
	$(BIN)/scorehouse demo

test: $(STAMP)
	$(BIN)/pytest -n 3 --dist loadfile

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m tests.benchmarks

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "scorehouse needs Python 3.11 or newer; name one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) .scorehouse build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
