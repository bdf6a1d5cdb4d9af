# The repository's own commands. Each installs what is missing, builds, and runs.
.DEFAULT_GOAL := help
.PHONY: help setup configure build demo test wheel test-python test-page screenshots bench lint format fuzz asan tsan clean

PRESET := release
BUILD := build/$(PRESET)
PYTHON := build/venv/bin/python

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

wheel: $(PYTHON) ## the Python wheel in dist/
	@rm -f dist/fansite-*.whl
	@$(PYTHON) -m pip wheel --quiet --no-build-isolation --no-deps --config-settings=build-dir=build/wheel --wheel-dir dist .

test-python: wheel ## the Python tests, with the wheel in the virtual environment build/venv
	@$(PYTHON) -m pip install --quiet --force-reinstall --no-deps dist/fansite-*.whl
	@$(PYTHON) -m pip install --quiet "fansite[test]"
	@$(PYTHON) -m pytest

test-page: build $(PYTHON) ## the page of `fansite report` in headless Chromium
	@tools/setup.sh page
	@$(PYTHON) -m pip install --quiet selenium pillow pytest
	@FANSITE_PROGRAM=$(BUILD)/fansite $(PYTHON) -m pytest tests/page

screenshots: demo $(PYTHON) ## the README's pictures of that page
	@tools/setup.sh page
	@$(PYTHON) -m pip install --quiet selenium pillow
	@$(PYTHON) tests/page/screenshots.py $(BUILD)/demo/curved/report.html docs/images

$(PYTHON):
	@tools/setup.sh python
	@test -x $@ || python3 -m venv build/venv
	@$@ -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.9"

bench: configure ## the benchmarks of bench/, each figure beside its target
	@cmake --build --preset $(PRESET) --target benchmarks fansite_cli
	@tools/bench.sh $(BUILD)/bench

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

clean:     ## remove build/
	@rm -rf build
