.PHONY: install
VENV := .venv
BIN := $(VENV)/bin

$(BIN)/midfill: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install -q -c constraints.txt torch==2.13.0
	$(BIN)/pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

install: $(BIN)/midfill
