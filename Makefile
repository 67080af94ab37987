.PHONY: install try test test-real check
.DELETE_ON_ERROR: # half an installation must not pass for a whole one
VENV := .venv
BIN := $(VENV)/bin
PYTHON := python3
PIP := $(BIN)/pip --disable-pip-version-check install -c constraints.txt
SMALL := qwen2.5-coder-0.5b
TRY := build/try
FILL := $(BIN)/midfill fill $(TRY)/shop.py

$(BIN)/midfill: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo "== Installing into $(VENV): torch (1 of 3), a few hundred MB at least"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --progress-bar on torch==2.13.0
	@echo "== Installing into $(VENV): midfill and what it needs (2 of 3), up to a few minutes"
	@$(PIP) -q -e .
	@echo "== Installing into $(VENV): what its tests need (3 of 3), up to a minute"
	@$(PIP) -q -e '.[dev]'
	@touch $@

install: $(BIN)/midfill

try: install
	@echo "== The small model (0.5 GB, once)"
	@$(BIN)/midfill model pull $(SMALL) || echo "== The small model is not to be had: going on with the bundled model, whose text is noise"
	@mkdir -p $(TRY) && cp docs/shop.py.txt $(TRY)/shop.py
	@$(BIN)/midfill engine --stop >/dev/null
	@echo "== Three holes of $(TRY)/shop.py, from the last to the first; bold is settled, italic is tentative"
	$(FILL):25 --max-lines 2 --apply
	$(FILL):20 --max-lines 1 --apply
	$(FILL):15 --max-lines 1 --apply
	@echo "== What was written"
	@diff -U1 docs/shop.py.txt $(TRY)/shop.py || true
	@echo "== Yours: $(BIN)/midfill fill FILE:LINE:COL; and $(BIN)/midfill doctor"

test: install
	$(BIN)/pytest -m "not real"

test-real: install
	$(BIN)/midfill model pull $(SMALL)
	$(BIN)/pytest -m real

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
