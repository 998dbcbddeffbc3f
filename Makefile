# `make demo` and `make test` set up everything they need in .venv and build/.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A build folder of its own: one that pip has built a wheel in refers to tools that are gone by then.
EDITABLE := --no-build-isolation --config-settings=build-dir=build/editable --editable
BUILD_TOOLS := "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.20" "ninja>=1.10"
DEMO_EXTRAS := ".[plot]"
TEST_EXTRAS := ".[plot,test]"
# The requirements of the extra docs, without the package, which stays as it was installed.
DOCS_NEEDS := $(BIN)/python -c 'from importlib.metadata import requires; \
  print(*(need.partition(";")[0] for need in requires("hardmargin") if "docs" in need.partition(";")[2]), sep="\n")'
CPP_FOLDERS := src/hardmargin/core/* tests/cpp tests/cpp/*
CPP_SOURCES := $(wildcard $(addsuffix /*.cpp,$(CPP_FOLDERS)) $(addsuffix /*.h,$(CPP_FOLDERS)))
CORE_SOURCES := $(filter src/%,$(CPP_SOURCES))
CMAKE_TESTS := $(BIN)/cmake -G Ninja -S . -DHARDMARGIN_PYTHON=OFF -DHARDMARGIN_TESTS=ON -DHARDMARGIN_WERROR=ON
# For tests the core is compiled once, with its contracts checked and warnings as errors, for Python and for C++.
TEST_BUILD := $(addprefix --config-settings=cmake.define.HARDMARGIN_,TESTS=ON ASSERTS=ON WERROR=ON)
# Tests run side by side; `make test PYTEST_ARGUMENTS="-n 0 -x"` runs them one by one and stops at the first failure.
PYTEST_ARGUMENTS ?= -n auto --dist worksteal
STRESS ?=
# Beside the compiler: "llvm-cov gcov" for Clang.
GCOV ?= gcov
# The tests of an installed wheel: every method, the estimator, files, the command line, and all kernels of this CPU.
WHEEL := build/wheel
WHEEL_TESTS := $(addsuffix .py,$(addprefix test_,package kernels solver estimator packing directions blocks mip \
  verification data_files cli cli_solve cli_verify cli_predict))

# $(call quietly,what it does,command): says what it does, and shows the command's output only if it fails.
quietly = @echo "$(1) ..."; mkdir -p build; \
  { $(2); } > build/$(notdir $@).log 2>&1 || { cat build/$(notdir $@).log >&2; exit 1; }

.PHONY: help build demo test lint format types test-cpp test-sanitized test-python test-stress test-wheel coverage
.PHONY: docs docs-links benchmark clean

help:
	@echo "make demo            train on a small data set with outliers and draw the result"
	@echo "make build           install, or compile the core again after a change"
	@echo "make test            lint, types, C++ tests, Python tests"
	@echo "make test-sanitized  C++ tests under the address, undefined and thread sanitizers"
	@echo "make test-stress     the tests ten times, most of them on a machine that is kept busy (an hour or two)"
	@echo "make test-wheel      the source distribution, a wheel from it, and tests of the installed wheel"
	@echo "make coverage        the lines that the Python and C++ tests reach"
	@echo "make docs            the documentation, in build/docs/html"
	@echo "make docs-links      the same, with links to other sites checked"
	@echo "make benchmark       parts of the solver on the benchmark data, if HARDMARGIN_DATA names them (half an hour)"
	@echo "make format          rewrite the sources in the project's style"
	@echo "make clean           remove .venv, build and demo"

# One environment serves all targets: an editable install, which is repeated when the sources of the core change.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "hardmargin needs Python >= 3.10; name one with 'make PYTHON=python3.12 ...'" >&2; exit 1; }
	$(call quietly,creating a virtual environment in $(VENV),$(PYTHON) -m venv $(VENV))

$(VENV)/build-tools: $(VENV)/bin/python pyproject.toml
	$(call quietly,installing the build tools,$(PIP) install $(BUILD_TOOLS))
	@touch $@

# Once the tests are installed, the core stays as they need it.
$(VENV)/installed: $(VENV)/build-tools pyproject.toml CMakeLists.txt $(CORE_SOURCES)
	$(call quietly,installing hardmargin and what it needs: the C++ core takes a minute or two to compile,\
	  $(PIP) install $(if $(wildcard $(VENV)/installed-test),\
	    $(TEST_BUILD) $(EDITABLE) $(TEST_EXTRAS),$(EDITABLE) $(DEMO_EXTRAS)))
	@touch $@ $(wildcard $(VENV)/installed-test)

# It serves for everything else too, so that a demo after it installs nothing.
$(VENV)/installed-test: $(VENV)/build-tools pyproject.toml CMakeLists.txt $(CORE_SOURCES)
	$(call quietly,installing hardmargin and what the tests need: the C++ core takes a minute or two to compile,\
	  $(PIP) install $(TEST_BUILD) $(EDITABLE) $(TEST_EXTRAS))
	@touch $(VENV)/installed $@

$(VENV)/installed-docs: $(VENV)/installed
	$(call quietly,installing what the documentation needs,\
	  $(DOCS_NEEDS) > build/docs-requirements.txt && $(PIP) install -r build/docs-requirements.txt)
	@touch $@

$(VENV)/installed-compare: $(VENV)/installed
	$(call quietly,installing what the benchmarks compare with,$(PIP) install "daqp>=0.7")
	@touch $@

build: $(VENV)/installed

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py
	@echo "The command line is $(BIN)/hardmargin; '. $(BIN)/activate' makes it 'hardmargin'."

test: lint types test-cpp test-python

lint: $(VENV)/installed-test
	@echo "checking the style of the sources ..."
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/clang-format --dry-run --Werror $(CPP_SOURCES)

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP_SOURCES)

types: $(VENV)/installed-test
	@echo "checking types ..."
	@$(BIN)/mypy

test-cpp: $(VENV)/installed-test
	$(call quietly,compiling the C++ tests; warnings are errors,$(BIN)/cmake --build build/editable --target core_tests)
	@echo "running the C++ tests ..."
	@$(BIN)/ctest --test-dir build/editable --output-on-failure --parallel 2

test-sanitized: $(VENV)/build-tools
	for sanitizers in address,undefined thread; do \
	  $(CMAKE_TESTS) -B build/cpp-$$sanitizers -DHARDMARGIN_SANITIZE=$$sanitizers && \
	  $(BIN)/cmake --build build/cpp-$$sanitizers --target core_tests && \
	  $(BIN)/ctest --test-dir build/cpp-$$sanitizers --output-on-failure || exit 1; \
	done

test-python: $(VENV)/installed-test
	@echo "running the Python tests ..."
	@$(BIN)/pytest $(PYTEST_ARGUMENTS)

# The wheel is built from the source distribution, so that both are tested, and installed where no compiler is found. Its
# tests are copied to a folder without the sources: what they import is the wheel.
test-wheel: $(VENV)/build-tools
	@rm -rf $(WHEEL)
	$(call quietly,building the source distribution and the wheel,$(PIP) install "build>=1.2" && \
	  $(BIN)/python -m build --outdir $(WHEEL)/dist .)
	$(call quietly,installing the wheel in an empty environment,$(BIN)/python -m venv $(WHEEL)/venv && \
	  CC=/none CXX=/none $(WHEEL)/venv/bin/python -m pip install --only-binary :all: \
	    $(WHEEL)/dist/*.whl pytest hypothesis pandas matplotlib)
	@mkdir -p $(WHEEL)/run && cp -r pyproject.toml tests $(WHEEL)/run
	@echo "running tests against the installed wheel ..."
	@cd $(WHEEL)/run && ../venv/bin/hardmargin show-versions && \
	  ../venv/bin/python -m pytest -q -p no:cacheprovider $(addprefix tests/,$(WHEEL_TESTS))

test-stress: $(VENV)/installed-test test-cpp
	@PATH="$(CURDIR)/$(BIN):$$PATH" PYTEST_ARGUMENTS="$(PYTEST_ARGUMENTS)" $(BIN)/python tests/stress.py $(STRESS)

$(VENV)/installed-coverage: $(VENV)/installed-test
	$(call quietly,installing what measures coverage,$(PIP) install "coverage>=7.10" "pytest-cov>=6" "gcovr>=8")
	@touch $@

# The C++ tests alone count for the core: they must reach it without Python.
coverage: $(VENV)/installed-coverage
	@mkdir -p build/coverage/cpp
	$(call quietly,compiling the C++ tests for coverage,$(CMAKE_TESTS) -B build/cpp-coverage \
	  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="--coverage -O1" && \
	  $(BIN)/cmake --build build/cpp-coverage --target core_tests)
	@find build/cpp-coverage -name '*.gcda' -delete
	@$(BIN)/ctest --test-dir build/cpp-coverage --output-on-failure --parallel 2
	@$(BIN)/gcovr --root . --filter src/hardmargin/core/ --gcov-executable "$(GCOV)" \
	  --exclude-throw-branches --txt build/coverage/cpp.txt --txt-summary \
	  --html-details build/coverage/cpp/index.html build/cpp-coverage
	@COVERAGE_FILE=$(CURDIR)/build/coverage/data $(BIN)/pytest $(PYTEST_ARGUMENTS) --cov \
	  --cov-report=term --cov-report=html:build/coverage/python --cov-report=xml:build/coverage/python.xml
	@echo "build/coverage/python/index.html and build/coverage/cpp/index.html"

# Warnings are errors: among others a link that leads nowhere, a page in no menu, or a program of the gallery that fails.
docs: $(VENV)/installed-docs
	@$(BIN)/python docs/site/stage.py build/docs/source
	@echo "building the documentation, with the programs of the gallery: a few minutes the first time ..."
	@MPLBACKEND=agg $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet \
	  -d build/docs/doctrees build/docs/source build/docs/html
	@if grep -rnoE '<(script|link|img)[^>]+(src|href)="https?:[^"]*"' build/docs/html --include='*.html'; \
	  then echo "these pages load something from other sites" >&2; exit 1; fi
	@echo "build/docs/html/index.html"

# Links to other sites, which needs the network.
docs-links: docs
	@$(BIN)/python -m sphinx --quiet -b linkcheck -D plot_gallery=0 -d build/docs/doctrees-links \
	  build/docs/source build/docs/links

benchmark: $(VENV)/installed-compare
	$(BIN)/python benchmarks/max_margin.py
	$(BIN)/python benchmarks/primal_search.py --seconds 2 --jobs 2

clean:
	rm -rf $(VENV) build demo
