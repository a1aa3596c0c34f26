# `make demo` and `make test` are all a newcomer needs; both set up what they use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-torch test-distributed test-export test-studio studio-environment export-environment test-browser browser pictures lint format docs site site-environment dist bench fuzz constraints clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# constraints.txt has exact versions for one version of Python, which it names; another one takes what pip finds.
PYTHON_VERSION = $$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PINNED = $$(grep -qw "Python $(PYTHON_VERSION)" constraints.txt && echo --constraint=constraints.txt)

# Stamps remember which set of dependencies an environment has, so that a second `make` starts at once.
$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet $(PINNED) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet $(PINNED) --editable '.[dev]'
	@touch $@

# Any CPU build will do; TORCH can name another one.
TORCH ?= torch==2.13.0
$(VENV)/.installed-torch: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet '$(TORCH)' 'triton; sys_platform == "linux"'
	@touch $@

$(VENV)/.installed-distributed: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,distributed]'
	@touch $@

# pgmpy, DoWhy and causal-learn want versions of their own.
EXPORT ?= .venv-export
$(EXPORT)/.installed: pyproject.toml
	$(PYTHON) -m venv $(EXPORT)
	$(EXPORT)/bin/python -m pip install --quiet --editable '.[test-export]'
	@touch $@

$(VENV)/.installed-browser: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,browser]'
	@touch $@

$(VENV)/.installed-studio: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,test-studio]'
	@touch $@

demo: $(VENV)/.installed  ## Learn a graph from the bundled Sachs protein data
	$(BIN)/golem demo -o demo-output

test: $(VENV)/.installed-dev  ## Run the tests (slow and GPU tests apart)
	$(BIN)/python -m pytest -n $(WORKERS)

SECONDS ?= 600
SIGNALS ?= 100
fuzz: $(VENV)/.installed-dev  ## Try random and damaged inputs for SECONDS=600, and SIGNALS=100; benchmarks/reliability.md tells more
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) --workers $(WORKERS)
	GOLEM_FAULT_RUNS=$(SIGNALS) GOLEM_FAULT_SEED=$$(date +%s) $(BIN)/python -m pytest -n $(WORKERS) -m '' tests/cli/test_faults.py

test-slow: $(VENV)/.installed-dev  ## Run the tests that take minutes
	$(BIN)/python -m pytest -m slow

test-torch: $(VENV)/.installed-torch  ## Run the tests that need torch (CPU tensors)
	$(BIN)/python -m pytest -m 'torch and not slow and not gpu'

test-distributed: $(VENV)/.installed-distributed  ## Run the tests that need Dask (clusters of this machine)
	$(BIN)/python -m pytest -m 'distributed and not slow and not gpu'

test-export: $(EXPORT)/.installed  ## Run the tests of graphs in pgmpy, DoWhy, causal-learn and pydot
	$(EXPORT)/bin/python -m pytest -m export

export-environment: $(EXPORT)/.installed

test-studio: $(VENV)/.installed-studio  ## Run the tests of the server of `golem studio`
	$(BIN)/python -m pytest -m studio -n 0 tests/studio

studio-environment: $(VENV)/.installed-studio

# Playwright drives the Chromium of the system; Debian's is installed where there is none and we may.
browser: $(VENV)/.installed-browser
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium; } || \
		{ echo "There is no Chromium; install it, or run this as root on Debian."; exit 1; }

test-browser: browser  ## Run the tests of report and studio in headless Chromium
	$(BIN)/python -m pytest -m browser -n 0

pictures: browser  ## Make all pictures of docs and README from the present code
	$(BIN)/python docs/make_screenshots.py

lint: $(VENV)/.installed-dev  ## ruff, mypy and import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev  ## Format the code and sort the imports
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed-dev  ## Regenerate the references of commands and findings, what the pages print, and the summary of results
	$(BIN)/python docs/generate_cli_reference.py
	$(BIN)/python docs/generate_findings.py
	$(BIN)/python docs/run_pages.py
	$(BIN)/python docs/summarize_results.py

# Sphinx, its extensions, and the packages that the gallery hands graphs to.
SITE ?= .venv-site
$(SITE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --editable '.[docs]'
	@touch $@

site-environment: $(SITE)/.installed

site: $(SITE)/.installed  ## Build the documentation site in build/site, and check its links and examples
	$(SITE)/bin/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	$(SITE)/bin/python -m pytest -m site tests/site

bench: $(VENV)/.installed  ## Time Adam and L-BFGS (a quick run; see benchmarks/README.md)
	$(BIN)/python benchmarks/adam_speed.py --quick

# The versions of Python to try; those that are not installed are skipped.
PYTHONS ?= python3.11 python3.12 python3.13
RELEASE ?= .venv-release
$(RELEASE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet build twine cffconvert
	@touch $@

dist: $(RELEASE)/.installed  ## Build wheel and sdist in dist/, check them, and run the demo from them in fresh environments
	rm -rf dist
	$(RELEASE)/bin/python -m build --outdir dist .
	$(RELEASE)/bin/python -m twine check --strict dist/*
	$(RELEASE)/bin/cffconvert --validate --infile CITATION.cff
	.ci/check-wheel $(PYTHON) dist/*.tar.gz
	@for python in $(PYTHONS); do \
		if $$python --version >/dev/null 2>&1; then .ci/check-wheel $$python dist/*.whl || exit 1; \
		else echo "SKIPPED: there is no $$python"; fi; \
	done

constraints:  ## Refresh constraints.txt: the newest versions, in an environment of its own
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/python -m pip install --quiet '.[dev]'
	{ echo "# Versions that \`make demo\` and \`make test\` install; \`make constraints\` writes this file."; \
	  .venv-constraints/bin/python -c 'import sys; print("# Python %d.%d" % sys.version_info[:2])'; \
	  .venv-constraints/bin/python -m pip list --format=freeze --exclude golem-dag --exclude pip --exclude setuptools; \
	} > .venv-constraints/constraints.txt
	mv .venv-constraints/constraints.txt constraints.txt
	rm -rf .venv-constraints

clean:  ## Remove the environment and what the tools left behind
	rm -rf $(VENV) $(EXPORT) $(SITE) $(RELEASE) .venv-constraints build docs/api docs/gallery docs/project docs/benchmarks docs/results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis demo-output dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
