# Everything a fresh machine with Python >= 3.11 and make needs: each target installs what it uses, once.

PYTHON ?= python3.11 python3
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PINNED := -c constraints.txt

# The tests start more than a hundred interpreters, and each would compile all it imports: bytecode is kept, in the
# environment, even where the shell asks for none.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

# One thread per process: results and timings then do not depend on the number of cores.
check test bounds bounds-kernels fuzz bench bench-scale: export OPENBLAS_NUM_THREADS := 1
check test bounds bounds-kernels fuzz bench bench-scale: export OMP_NUM_THREADS := 1
check test bounds bounds-kernels fuzz bench bench-scale: export MKL_NUM_THREADS := 1
check test bounds bounds-kernels fuzz bench bench-scale: export NUMBA_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help demo check test bounds fuzz docs paper paper-quick bench bench-scale lint format types dist clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.runtime ## fit real data (flights from New York) and write the page out/demo/report.html
	@mkdir -p out
	$(BIN)/tparafac2 demo --out out/demo --overwrite

test: $(VENV)/.dev ## lint, type check and run all tests (PYTEST_ARGS="-k name" for some)
	@$(MAKE) --no-print-directory --jobs 3 lint types kernels
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

check: $(VENV)/.dev ## for every save: lint, type check and run the fast tests
	@$(MAKE) --no-print-directory --jobs 3 lint types kernels
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow" tests $(PYTEST_ARGS)

# Both precisions at once, and beside style and types: compilation takes a minute of computing, on an empty cache.
.PHONY: kernels kernels-float64 kernels-float32
kernels: kernels-float64 kernels-float32
kernels-float64 kernels-float32: kernels-%: $(VENV)/.dev
	@$(BIN)/python tests/compile_kernels.py $*

fuzz: $(VENV)/.dev ## thousands of inputs at the Python door, and hypothesis at random (FUZZ="--seed 1 --count 99" for others)
	$(BIN)/python tests/fuzz/door.py $(FUZZ)
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n auto --dist loadfile -m hypothesis

# A write out of bounds is invisible otherwise. Such kernels are others, and have a cache of their own.
KERNEL_TESTS := tests/solver tests/contract/test_answers.py tests/data/test_incomplete.py tests/data/test_sparse.py \
  tests/data/test_holed_sparse.py tests/penalties/test_along_columns.py
bounds bounds-kernels: export NUMBA_BOUNDSCHECK := 1
bounds bounds-kernels: export NUMBA_CACHE_DIR := $(CURDIR)/$(VENV)/bounds
.PHONY: bounds-kernels
bounds: bounds-kernels ## run the tests of the kernels and 3,000 inputs with bounds checked (FUZZ as in make fuzz)
	$(BIN)/python tests/fuzz/door.py $(or $(FUZZ),--seed 1 --count 3000)

bounds-kernels: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow" $(KERNEL_TESTS) $(PYTEST_ARGS)

docs: $(VENV)/.dev ## build the site out/docs/index.html, running all its examples, and check its links
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs out/docs
	$(BIN)/python docs/check_site.py out/docs

paper: $(VENV)/.runtime ## run the paper's experiments into out/paper (about half an hour; run it again to resume)
	$(BIN)/python paper/run.py --out out/paper

paper-quick: $(VENV)/.runtime ## run them into out/paper-quick, smaller and from the beginning (about a minute)
	@rm -rf out/paper-quick
	$(BIN)/python paper/run.py --quick --out out/paper-quick

bench: $(VENV)/.dev ## measure speed, one thread
	$(BIN)/python benchmarks/run.py

bench-scale: $(VENV)/.dev ## 40 GB on disk within 8 GB, 1e8 sparse numbers, Dask (half an hour; SCALE="--gigabytes 10" for less)
	$(BIN)/python benchmarks/scale.py dense $(SCALE)
	$(BIN)/python benchmarks/sparse_scale.py --numbers 1e8
	$(BIN)/python benchmarks/cluster.py

lint: $(VENV)/.dev ## check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## repair style and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## check types
	$(BIN)/mypy

dist: $(VENV)/.dev ## build the wheel and the sdist into dist, and prove each in an empty environment
	@rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python tests/prove_dist.py dist constraints.txt

clean: ## remove the virtual environment, caches and output
	rm -rf $(VENV) out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks docs paper -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@for python in $(PYTHON); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "Making $(VENV) with $$($$python --version)"; \
	    $$python -m venv $(VENV) && exit 0; \
	    rm -rf $(VENV); exit 1; \
	  fi; \
	done; \
	echo "tparafac2 needs Python 3.11 or newer, but none of these is: $(PYTHON)." >&2; \
	echo "Install one, or name one: make PYTHON=/path/to/python3.11" >&2; \
	exit 1

# pip comes first: the one that a new environment has may be too old for dependency groups.
# What is never imported need not be compiled: that would be half of the time. Build backends come first and from the same pins: isolated builds would fetch whatever version is newest.
$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing tparafac2 into $(VENV)"
	@$(PIP) install $(PINNED) --no-compile pip
	@$(PIP) install $(PINNED) --no-compile hatchling editables
	@$(PIP) install $(PINNED) --no-compile --no-build-isolation --editable .
	@touch $@

# Of the last one the tests of the pages read one file, axe-core: what it drives a browser with is not needed.
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/.runtime
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP) install $(PINNED) --no-compile setuptools
	@$(PIP) install $(PINNED) --no-compile --no-build-isolation --editable '.[cluster,forecast,parquet,zarr]' --group dev
	@$(PIP) install $(PINNED) --no-compile --no-deps axe-playwright-python
	@touch $@
