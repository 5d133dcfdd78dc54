# The front door. `make` builds build/release/bin/streamsan; everything it needs is installed on the way.
#
#   make            build the tool (release)
#   make demo       build, then check a two-stream program with and without its wait
#   make demo-dflash  train a small model in three ways: right, with the fault, and on the pipeline library
#   make check      all tests, the fixed subset that CI runs
#   make check-all  the full matrix: every schedule, more seeds, all sanitizers, fuzzers
#   make fuzz       the fuzzers alone, 60 s each
#   make coverage   lines that the tests run, by folder
#   make bench      speed, printed and in build/bench.json
#   make capture    what a run on a GPU needs beside: the device code, by nvcc; fetches what is missing
#   make carry      a folder, build/carry/streamsan, to copy to machines on which nothing can be installed
#   make install    into PREFIX (default /usr/local), under DESTDIR if set
#   make format     lay the sources out as .clang-format says
#   make lint       layout, spelling, layers, headers, exports
#   make help       this list

PREFIX ?= /usr/local
BUILD := build/release

all: build

needed:
	@scripts/install-needed build

needed-check:
	@scripts/install-needed check

$(BUILD)/build.ninja: CMakePresets.json
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

configure:
	@mkdir -p build
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja

build: needed configure
	@cmake --build $(BUILD) --target product

build-tests: needed-check configure
	@cmake --build $(BUILD)

demo: build
	@scripts/demo

demo-dflash: build
	@scripts/demo-dflash

check: build-tests
	@scripts/check

check-all: build-tests
	@scripts/check --all

fuzz: needed-check
	@scripts/fuzz

coverage: needed-check
	@scripts/coverage

bench: build-tests
	@scripts/bench

capture: build
	@scripts/build-capture $(BUILD)

carry: build
	@scripts/carry-build

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

format:
	@git ls-files '*.c' '*.h' | grep -v '^src/cc/include/' | xargs clang-format -i

lint: build-tests
	@tests/lint/run

clean:
	rm -rf build

help:
	@sed -n 's/^#   make/make/p' Makefile

.PHONY: all needed needed-check configure build build-tests demo demo-dflash check check-all fuzz coverage bench capture carry install format lint clean help
