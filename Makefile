# `make demo` and `make test` set up everything they need in .venv and build/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# A build folder of its own: one that pip has built a wheel in refers to tools that are gone by then.
EDITABLE := --no-build-isolation --config-settings=build-dir=build/editable --editable
CPP_SOURCES := $(wildcard src/hardmargin/core/*.cpp src/hardmargin/core/*.h tests/cpp/*.cpp tests/cpp/*.h)
CMAKE_TESTS := $(BIN)/cmake -G Ninja -S . -DHARDMARGIN_PYTHON=OFF -DHARDMARGIN_TESTS=ON -DHARDMARGIN_WERROR=ON

.PHONY: help demo test lint format types test-cpp test-sanitized test-python benchmark clean

help:
	@echo "make demo            train on a small data set with outliers and draw the result"
	@echo "make test            lint, types, C++ tests, Python tests"
	@echo "make test-sanitized  C++ tests under the address, undefined and thread sanitizers"
	@echo "make benchmark       parts of the solver on the benchmark data, if HARDMARGIN_DATA names them (half an hour)"
	@echo "make format          rewrite the sources in the project's style"
	@echo "make clean           remove .venv, build and demo"

# One environment serves all targets: an editable install that rebuilds the core when its sources change.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "hardmargin needs Python >= 3.10; name one with 'make PYTHON=python3.12 ...'" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/build-tools: $(VENV)/bin/python pyproject.toml
	$(PIP) install "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.20" "ninja>=1.10"
	@touch $@

$(VENV)/installed: $(VENV)/build-tools pyproject.toml CMakeLists.txt
	@echo "compiling hardmargin, which takes a minute or two ..."
	$(PIP) install $(EDITABLE) ".[plot]"
	@touch $@

$(VENV)/installed-test: $(VENV)/installed
	$(PIP) install $(EDITABLE) ".[plot,test]"
	@touch $@

$(VENV)/installed-compare: $(VENV)/installed
	$(PIP) install "daqp>=0.7"
	@touch $@

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py
	@echo "The command line is $(BIN)/hardmargin; '. $(BIN)/activate' makes it 'hardmargin'."

test: lint types test-cpp test-python

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP_SOURCES)

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_SOURCES)

types: $(VENV)/installed-test
	$(BIN)/mypy

test-cpp: $(VENV)/build-tools
	$(CMAKE_TESTS) -B build/cpp
	$(BIN)/cmake --build build/cpp
	$(BIN)/ctest --test-dir build/cpp --output-on-failure

test-sanitized: $(VENV)/build-tools
	for sanitizers in address,undefined thread; do \
	  $(CMAKE_TESTS) -B build/cpp-$$sanitizers -DHARDMARGIN_SANITIZE=$$sanitizers && \
	  $(BIN)/cmake --build build/cpp-$$sanitizers && \
	  $(BIN)/ctest --test-dir build/cpp-$$sanitizers --output-on-failure || exit 1; \
	done

test-python: $(VENV)/installed-test
	$(BIN)/pytest

benchmark: $(VENV)/installed-compare
	$(BIN)/python benchmarks/max_margin.py
	$(BIN)/python benchmarks/primal_search.py --seconds 2 --jobs 2

clean:
	rm -rf $(VENV) build demo
