# Needs Python 3.11 or newer, make and git. Everything else arrives from PyPI into .baton/, pinned with hashes.
.DEFAULT_GOAL := help
.PHONY: help setup install uninstall run ports stack stop test unit coverage soak conformance judges vendor console-setup console-test pictures frameworks fuzz simulate day planted paths check bench openapi fmt lock deploy remove adopt package wheels smoke clean

PYTHON ?= python3

# Environments are kept per Python version, so that changing the interpreter is just another `make`.
version := $(shell $(PYTHON) -c 'import sys; print("%d.%d %d" % (sys.version_info[0], sys.version_info[1], sys.version_info >= (3, 11)))' 2>/dev/null)
ifneq ($(lastword $(version)),1)
  $(error Baton needs Python 3.11 or newer, and $(PYTHON) is $(or $(firstword $(version)),missing). Name another one: make PYTHON=python3.13 ...)
endif
env := .baton/env/$(firstword $(version))
bin := $(env)/dev/bin
uv := UV_PYTHON_DOWNLOADS=never $(env)/uv/bin/uv
sam := SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR="$(CURDIR)/.baton/sam" $(env)/sam/bin/sam

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

# ---- environments ----------------------------------------------------------------------------------------------------

setup: $(env)/baton.stamp $(env)/sam.stamp $(env)/stack.stamp ## bring every tool into .baton/ (the others do it when needed)

$(env)/uv.stamp: requirements/uv.txt
	@echo "setup: uv, for Python $(firstword $(version))"
	@mkdir -p .baton && chmod 700 .baton
	@rm -rf $(env)/uv && $(PYTHON) -m venv $(env)/uv
	@$(env)/uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements/uv.txt
	@touch $@

# One environment per lock. $(1): its name, $(2): further options
define environment
	@echo "setup: $(1)"
	@rm -rf $(env)/$(1)
	@$(uv) venv --quiet --no-project --python $(env)/uv/bin/python $(env)/$(1)
	@$(uv) pip install --quiet --require-hashes --only-binary :all: $(2) --python $(env)/$(1) -r requirements/$(1).txt
endef

$(env)/dev.stamp: requirements/dev.txt requirements/overrides.txt $(env)/uv.stamp
	$(call environment,dev,--overrides requirements/overrides.txt)
	@touch $@

# Our own packages, editable: apart, because pyproject.toml changes more often than the lock.
$(env)/baton.stamp: pyproject.toml layers/baton/pyproject.toml packages/baton-client/pyproject.toml packages/baton-mcp/pyproject.toml cli/pyproject.toml $(env)/dev.stamp
	@$(uv) pip install --quiet --no-deps --no-build-isolation --python $(env)/dev --editable . --editable layers/baton \
	  --editable packages/baton-client --editable packages/baton-mcp --editable cli
	@touch $@

$(env)/sam.stamp: requirements/sam.txt $(env)/uv.stamp
	$(call environment,sam)
	@touch $@

$(env)/stack.stamp: requirements/stack.txt $(env)/uv.stamp
	$(call environment,stack)
	@touch $@

$(env)/node.stamp: requirements/node.txt $(env)/uv.stamp
	$(call environment,node)
	@touch $@

$(env)/types.stamp: requirements/types.txt $(env)/uv.stamp
	$(call environment,types)
	@touch $@

$(env)/console.stamp: requirements/console.txt $(env)/uv.stamp
	$(call environment,console)
	@touch $@

frameworks := openai-agents langgraph strands pydantic-ai

$(frameworks:%=$(env)/%.stamp): $(env)/%.stamp: requirements/%.txt $(env)/uv.stamp
	$(call environment,$*)
	@touch $@

# In an environment of their own, which `make clean` leaves. pip can't do it: a bare Debian has none, and the system's refuses.
install: $(env)/uv.stamp ## put the commands baton and baton-mcp where your shell finds them (~/.local/bin; COMMAND=baton-cli: beside another program called baton)
	@COMMAND=$(COMMAND) UV_PYTHON_DOWNLOADS=never $(env)/uv/bin/python -m tools.admin.commands install $(env)/uv/bin/uv

uninstall: $(env)/uv.stamp ## remove the commands that make install has put there
	@UV_PYTHON_DOWNLOADS=never $(env)/uv/bin/python -m tools.admin.commands uninstall $(env)/uv/bin/uv

# $(1): the names of requirement files, $(2): further options
define compiled
	@for name in $(1); do \
	  echo "lock: $$name.txt"; \
	  $(uv) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-emit-find-links --custom-compile-command "make lock" $(2) --output-file $$name.txt $$name.in || exit 1; \
	done
endef

lock: $(env)/uv.stamp ## compile the hash-pinned requirement files again, with the newest versions allowed
	$(call compiled,layers/dependencies/requirements $(addprefix requirements/,stack sam node types console uv) $(frameworks:%=requirements/%))
	$(call compiled,requirements/dev,--overrides requirements/overrides.txt)

# ---- the local stack (BATON_PORT, 4566 by default; BATON_SCRIPT, what the scripted model answers; ---------------------
# BATON_FRONT_DOOR=FunctionUrl, for a Function URL in place of the gateway)

run: ports setup ## start the local stack and play the main job for you; Ctrl-C ends it, state is kept
	@$(bin)/python -m tools.demo

stack: ports setup ## start or update the local stack in the background; writes .baton/stack.json
	@$(bin)/python -m tools.stack up

ports:
	@$(PYTHON) -m tools.stack.ports

stop: setup ## stop the local stack, and keep its state
	@$(bin)/python -m tools.stack down

bench: setup ## measure: imports, capacity per verb, throughput, hot keys, rounds, CPU, the worst that a request can do, the search, the console's pages, and as a desk all day (after console-setup; OF=desk, OF=stay alone; MINUTES=30 for its memory), an open console, the command
	@PYTHONPATH=tests:$$(echo $(env)/console/lib/python*/site-packages) $(bin)/python -m tools.bench $(OF)

# ---- quality ---------------------------------------------------------------------------------------------------------

# Compiling each test, and what it asserts, takes longer than most tests do: what is compiled is kept.
unexport PYTHONDONTWRITEBYTECODE
pytest := $(bin)/python -m pytest
covered := tests/unit tests/functions tests/contract
with_sizes := $(covered) tests/faults tests/fuzz tests/golden tests/infra tests/simulation tests/stack

# Three workers more than cores: tests of the stack wait for its answers most of their time, and three workers have these.
test: setup ## every test, the deployed stack's included
	@$(pytest) -n 5 --dist loadgroup $(PYTEST_ARGS)

unit: setup ## rules and use cases, in less than a minute
	@$(pytest) tests/unit -m 'not slow' -n 2 --dist loadgroup $(PYTEST_ARGS)

coverage: setup ## the gate: branches that unit, contract and function tests take
	@$(pytest) $(covered) -m 'not slow' -n 2 --dist loadgroup --cov --cov-report=term $(PYTEST_ARGS)

soak: setup ## the largest tests at their full size, and all of what `make test` plays a part of
	@SOAK=1 $(pytest) $(with_sizes) -m soak -n 2 --dist loadgroup --timeout=3600 $(PYTEST_ARGS)

# Not part of `make test`: the judges come from npm at their first run.
conformance: setup $(env)/node.stamp ## have POST /mcp and baton-mcp judged by the protocol's public suite and Inspector, on a stack of their own
	@PYTHONPATH=tests $(bin)/python -m conformance $(env)/node/bin/python .baton/conformance

judges: setup $(env)/node.stamp $(frameworks:%=$(env)/%.stamp) ## have docs/openapi.json judged by Spectral and Redocly, packaging/ by the CDK and Terraform's parser, the plugin by Claude Code, the client's and the adapters' types by Pyright; they come from npm
	@PYTHONPATH=tests $(bin)/python -m conformance.openapi $(env)/node/bin/python .baton/judges
	@PYTHONPATH=tests $(bin)/python -m conformance.modules $(env)/node/bin/python .baton/judged-modules
	@PYTHONPATH=tests $(bin)/python -m conformance.plugin $(env)/node/bin/python .baton/judged-plugin
	@PYTHONPATH=tests $(bin)/python -m conformance.types $(env) .baton/judged-types

console-setup: setup $(env)/console.stamp ## Playwright and axe, for the tests of the console; the browser is the system's own Chromium
	@command -v "$${BATON_CHROMIUM:-chromium}" >/dev/null || echo "no Chromium here: apt-get install chromium, or BATON_CHROMIUM=…"

# Never in CI. Playwright is in an environment of its own: nobody else needs its 40 MB.
console-test: console-setup ## a real browser on the console's pages
	@PYTHONPATH=$$(echo $(env)/console/lib/python*/site-packages) $(pytest) tests/console --no-cov $(PYTEST_ARGS)

pictures: console-setup ## take the pictures of the console in docs/ anew, of every page in both schemes
	@WRITE_SCREENS=1 PYTHONPATH=$$(echo $(env)/console/lib/python*/site-packages) $(pytest) tests/console/test_everybody.py tests/console/test_tracker.py -k axe --no-cov $(PYTEST_ARGS)
	@$(bin)/python -m tools.docs.pictures

# Never in CI: each framework comes from PyPI, in an environment of its own.
frameworks: setup $(frameworks:%=$(env)/%.stamp) ## play each cell of docs/frameworks.md: every framework, and all pairs (OF=langgraph, SCENE=approval, KILLS=1000; WRITE=1)
	@for name in $(frameworks); do $(bin)/mypy --follow-imports silent --python-executable $(env)/$$name/bin/python packages/baton-$$name/src \
	  tests/frameworks/scenes/$$(echo $$name | tr - _)*.py || exit 1; done
	@PYTHONPATH=tests $(bin)/python -m frameworks $(env) --of '$(OF)' --scene '$(SCENE)' --kills $(or $(KILLS),0) $(if $(WRITE),--write)

vendor: setup $(env)/node.stamp ## write the console's libraries and the table of confusable characters again, and compare hashes
	@$(bin)/python -m tools.docs.vendor
	@$(bin)/python -m tools.docs.confusables

FUZZ_CASES ?= 1000
FUZZ_SEED ?= $(shell $(PYTHON) -c 'import random; print(random.randrange(2**32))')
FUZZ_MINUTES ?= 60

fuzz: setup ## try every operation of docs/openapi.json with 1,000 requests (FUZZ_CASES, FUZZ_SEED, FUZZ_MINUTES)
	@FUZZ_CASES=$(FUZZ_CASES) FUZZ_SEED=$(FUZZ_SEED) FUZZ_MINUTES=$(FUZZ_MINUTES) $(bin)/python -m pytest tests/fuzz/test_fuzz.py \
	  -n 2 -v --no-cov --timeout=$$((60 * $(FUZZ_MINUTES))) --session-timeout=$$((60 * $(FUZZ_MINUTES))) $(PYTEST_ARGS)

# In one thread, by a clock of its own: a seed is a schedule. REPLAY and SHRINK take the seed that broke a rule.
MINUTES ?= 10
SEED ?= $(shell $(PYTHON) -c 'import random; print(random.randrange(10**6) * 1000)')
TRACE ?=
PROCESSES ?= 1

simulate: setup ## play schedules and faults by seeds (MINUTES, STEPS, SEED, PROCESSES; REPLAY=seed TRACE=word; SHRINK=seed)
	@PYTHONPATH=tests $(bin)/python -m simulation $(if $(REPLAY),replay $(REPLAY) --trace '$(TRACE)',$(if \
	  $(SHRINK),shrink $(SHRINK) --trace '$(TRACE)',run --seed $(SEED) --minutes $(MINUTES) \
	  --processes $(PROCESSES) $(if $(STEPS),--steps $(STEPS))))

# Never in CI, but for a part that is a test: each framework comes from PyPI, in an environment of its own.
TASKS ?= 10000
ADAPTED ?= 250

day: setup $(frameworks:%=$(env)/%.stamp) ## run 10,000 tasks through a faulty network, and 250 by each framework (SEED, TASKS, ADAPTED; FAULTS=3: three times as many)
	@PYTHONPATH=tests PYTHONHASHSEED=0 $(bin)/python -W ignore -m simulation.day --seed $(SEED) --tasks $(TASKS) --faults $(or $(FAULTS),1) \
	  --environments $(env) --adapted $(ADAPTED)

planted: setup ## plant known bugs, one after the other: the simulation must find each (PLANTED=12, 12-20 or a word; STEPS, PROCESSES)
	@PYTHONPATH=tests $(bin)/python -m simulation.planted $(PLANTED)

paths: setup ## how many functions, files, frames and lines a marker, a claim, a completion and a tool call pass (OF=name: which)
	@PYTHONPATH=tests $(bin)/python -m paths $(OF)

check: setup $(env)/node.stamp $(env)/types.stamp ## lint, types (the console's too, where npm can be reached), import contracts, template, drift of what make openapi writes, the English of every text
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@! git grep -n '\.splitlines(' -- 'cli/*.py' 'packages/*.py' 'layers/*.py' 'functions/*.py' || \
	  { echo 'use split("\n"): splitlines splits at U+2028 and others too, which JSON has within a line' >&2; exit 1; }
	@$(bin)/mypy
	@$(bin)/lint-imports
	@$(bin)/cfn-lint --include-checks I3011 --regions us-east-1 eu-north-1 eu-central-2 cn-northwest-1 us-gov-west-1 --template template.yaml
	@$(bin)/cfn-lint edge.yaml
	@AWS_DEFAULT_REGION=us-east-1 $(sam) validate --lint
	@$(bin)/python -m tools.docs.openapi --check
	@$(bin)/python -m tools.docs.client_types --check
	@$(bin)/python -m tools.docs.cli_reference --check
	@$(bin)/python -m tools.docs.event_types --check
	@$(bin)/python -m tools.docs.route_table --check
	@$(bin)/python -m tools.docs.pictures --check
	@$(bin)/python -m tools.docs.english --check
	@$(bin)/python -m tools.docs.check_console

fmt: setup ## format the code and mend what ruff can mend
	@$(bin)/ruff check --fix-only --quiet .
	@$(bin)/ruff format .

openapi: setup $(env)/types.stamp ## write docs/openapi.json, baton-client's types, docs/cli.md, the table of routes and the lists of event types from the code
	@$(bin)/python -m tools.docs.openapi
	@$(bin)/python -m tools.docs.client_types
	@$(bin)/python -m tools.docs.cli_reference
	@$(bin)/python -m tools.docs.event_types
	@$(bin)/python -m tools.docs.route_table

# ---- the cloud -------------------------------------------------------------------------------------------------------

# STACK, REGION, PARAMS='Name=value …', TAGS, YES, RUNTIME, ARCHITECTURE, BATON_SCRIPT and BUILT reach it as they are.
deploy: setup ## build for the cloud and deploy, with what the stack was given before (STACK, REGION, PARAMS, YES=1)
	@$(bin)/python -m tools.admin.deploy

# STACK, REGION and YES reach it as they are.
remove: setup ## remove a stack from the cloud: says first what is in the way, and what stays (STACK, REGION, YES=1)
	@$(bin)/python -m tools.admin.remove

# TABLE, KMS_KEY and REGION reach it as they are.
adopt: setup ## give a restored table what AWS leaves out, so that a stack can work on it (TABLE, KMS_KEY, REGION)
	@$(bin)/python -m tools.admin.existing_table

# RUNTIME and ARCHITECTURE reach it as they are.
package: setup ## write all of a deployment as one archive, for plain CloudFormation, Terraform and the CDK (RUNTIME, ARCHITECTURE)
	@$(bin)/python -m tools.admin.package

wheels: setup ## build the packages for Python into .baton/wheels, each with a requirements file that has the hashes of all it needs
	@$(bin)/python -m tools.admin.wheels

# API, TOKEN, SLOW and SHORT reach it as they are.
smoke: $(env)/baton.stamp ## try a deployment through its API alone: API=… TOKEN=… (a human's; SLOW=1 waits for the sweeper, SHORT=1 is a canary)
	@$(bin)/python -m tools.admin.smoke

clean: ## stop the local stack; remove the environments, builds and the local state
	@test ! -x $(bin)/python || $(bin)/python -m tools.stack forget
	@test ! -d .baton || find .baton -mindepth 1 -maxdepth 1 -exec rm -rf {} +
