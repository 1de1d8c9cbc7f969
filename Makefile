# Needs only `make` and Python 3.11 or newer. Everything else goes into .venv.
# Another interpreter: make run PYTHON=python3.12

PYTHON ?= python3
BIN := .venv/bin
# Stamps remember what is installed, so a second run of any target installs nothing.
RUN_STAMP := .venv/.installed
TEST_STAMP := .venv/.installed-test
BENCH_STAMP := .venv/.installed-bench
DOCS_STAMP := .venv/.installed-docs
PEERS_STAMP := .venv/.installed-peers
FUZZ_STAMP := .venv/.installed-fuzz
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow test-random lint format docs docs-serve notebooks bench-engine bench-ftg bench-lsp bench-gp bench-hybrid bench-simplify bench-coverage bench-ablation bench-scaling bench-limits bench-kills bench-jobs bench-profile bench-choice bench-cold bench-real bench-collinear bench-wide bench-laws bench-peers soak clean fuzz

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

install: $(RUN_STAMP) ## create .venv with the command `fouriertree`

run: install ## fit the built-in example, print the table of equations, plot the fit
	@$(BIN)/fouriertree demo

# The kernels are compiled on one core while the other one checks style and types.
test: $(TEST_STAMP) ## check everything: style, types, layers, tests, doctests
	@$(BIN)/python tools/kernels.py 2>/dev/null & $(MAKE) --no-print-directory lint; status=$$?; wait; exit $$status
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=10

test-slow: $(TEST_STAMP) $(DOCS_STAMP) ## run the tests marked slow
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=10 -m slow

test-random: $(TEST_STAMP) ## run the tests with other random examples than `make test`
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --hypothesis-profile=random

lint: $(TEST_STAMP) ## check style, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(TEST_STAMP) ## rewrite the source in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(DOCS_STAMP) ## build the documentation site, site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "open site/index.html"

docs-serve: $(DOCS_STAMP) ## serve the documentation, rebuilt on every change
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

notebooks: $(DOCS_STAMP) ## execute the notebooks in docs/examples again, in place
	@$(BIN)/python tools/notebooks.py

fuzz: $(FUZZ_STAMP) ## fuzz the readers of files, formulas and tables (about ten minutes)
	@$(BIN)/python -m fuzz

bench-engine: $(BENCH_STAMP) ## measure node evaluations per second against other systems
	@$(BIN)/python benchmarks/engine.py

bench-ftg: $(RUN_STAMP) ## compare FTG with the published runs, problem by problem
	@$(BIN)/python benchmarks/ftg.py

bench-lsp: $(RUN_STAMP) ## measure FTG on large-scale polynomials
	@$(BIN)/python benchmarks/lsp.py

bench-gp: $(BENCH_STAMP) ## measure GP evaluations per second against other systems
	@$(BIN)/python benchmarks/gp.py

bench-hybrid: $(BENCH_STAMP) ## measure the hybrid search on the paper's problems, and its screening
	@$(BIN)/python benchmarks/hybrid.py

bench-simplify: $(RUN_STAMP) ## measure simplification against SymPy
	@$(BIN)/python benchmarks/simplify.py

bench-coverage: $(RUN_STAMP) ## measure the coverage of prediction intervals
	@$(BIN)/python benchmarks/interval_coverage.py

bench-ablation: $(RUN_STAMP) ## ablation study of the hybrid search
	@$(BIN)/python benchmarks/ablation.py

bench-scaling: $(RUN_STAMP) ## measure time and memory of fits against numbers of rows and features
	@$(BIN)/python benchmarks/scaling.py

bench-limits: $(RUN_STAMP) ## measure how far fits overshoot their time limit
	@$(BIN)/python benchmarks/limits.py

bench-kills: $(RUN_STAMP) ## kill runs and workers at random times, and compare with uninterrupted runs
	@$(BIN)/python benchmarks/kills.py

bench-jobs: $(RUN_STAMP) ## measure how much faster fits are with two jobs than with one
	@$(BIN)/python benchmarks/jobs.py

bench-profile: $(RUN_STAMP) ## measure the share of compiled code in noisy fits
	@$(BIN)/python benchmarks/profile.py

bench-choice: $(RUN_STAMP) ## compare chosen equations with linear models on test sets
	@$(BIN)/python benchmarks/choice.py

bench-cold: $(RUN_STAMP) ## time a cold `make run` and a warm `fouriertree fit`
	@$(BIN)/python benchmarks/cold.py

bench-real: $(RUN_STAMP) ## compare equations of measured sets with their textbook law
	@$(BIN)/python benchmarks/real.py

bench-collinear: $(RUN_STAMP) ## recover laws that nearly collinear terms approximate
	@$(BIN)/python benchmarks/collinear.py

bench-wide: $(RUN_STAMP) ## recover laws of three variables among up to 1,000 columns
	@$(BIN)/python benchmarks/wide.py

bench-laws: $(RUN_STAMP) ## recover the laws of all suites with goals (hours; resumable; JOBS=1)
	@$(BIN)/python benchmarks/laws.py

bench-peers: $(PEERS_STAMP) ## recover laws and predict tables, against other systems (hours; resumable)
	@$(BIN)/fouriertree bench --system all --noise 0 --noise 0.01 --report docs/benchmarks.md

soak: $(RUN_STAMP) ## fit 500 random problems in one process, and check for leaks
	@$(BIN)/python benchmarks/soak.py

clean: ## remove .venv, caches and built files
	rm -rf .venv build dist site fuzz-results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks fuzz -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "fouriertree needs Python 3.11 or newer; '$(PYTHON)' is missing or older." >&2; \
	  echo "Name another one: make $(or $(MAKECMDGOALS),install) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  echo "'$(PYTHON) -m venv' failed; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(RUN_STAMP): pyproject.toml | $(BIN)/python
	@echo "installing fouriertree into .venv (about a minute)"
	@$(PIP_INSTALL) -e .
	@touch $@

# The test extra contains the plain installation: one call of pip serves both stamps.
$(TEST_STAMP): pyproject.toml | $(BIN)/python
	@echo "installing fouriertree and its test tools into .venv (about a minute)"
	@$(PIP_INSTALL) -e '.[test]'
	@touch $(RUN_STAMP) $@

$(BENCH_STAMP): pyproject.toml | $(BIN)/python
	@echo "installing fouriertree and the systems to compare with into .venv (about two minutes)"
	@$(PIP_INSTALL) -e '.[bench]'
	@touch $(RUN_STAMP) $@

$(DOCS_STAMP): pyproject.toml | $(BIN)/python
	@echo "installing fouriertree and what builds its documentation into .venv (about a minute)"
	@$(PIP_INSTALL) -e '.[docs]'
	@touch $(RUN_STAMP) $@

# Without Atheris for this interpreter or system, a built-in loop is used.
$(FUZZ_STAMP): $(RUN_STAMP)
	@$(PIP_INSTALL) -e '.[fuzz]' || echo "Atheris cannot be installed here; the built-in loop is used" >&2
	@touch $@

# RILS-ROLS is built with installed packages that it does not declare; it is left out if that fails.
$(PEERS_STAMP): $(BENCH_STAMP)
	@$(PIP_INSTALL) pybind11 setuptools wheel
	@$(PIP_INSTALL) --no-build-isolation rils-rols || echo "RILS-ROLS needs a C++ compiler; it is left out" >&2
	@touch $@
