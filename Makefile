# make demo   real data end to end: WAL, plan, merge, one Iceberg commit, read by DuckDB and PyIceberg;
#             in S3 with WAREHOUSE=s3://bucket/folder, in a REST catalog with CATALOG=http://host:port
# make test   set-up, build, every test that needs no server
# make test-servers   tests with PostgreSQL, S3, a REST catalog and Spark, which it installs into .deps
# make install   program, man page and completions below PREFIX; the program uses the libraries in .deps/ here
SHELL := /bin/bash
PYTHON := .deps/venv/bin/python
# Of fuzzing, for each fuzzer.
SECONDS := 10
# Of the simulation, and how many processes run them.
SEEDS := 2000
JOBS := $(shell nproc)
PREFIX ?= /usr/local
PROGRAM := build/release/src/firn/cli/firn
SHARE = $(DESTDIR)$(PREFIX)/share

.PHONY: setup setup-servers build release install test test-servers sim demo check sanitize tsan fuzz tidy tidy-changed format clean

setup:
	@tools/setup.sh

setup-servers: setup
	@tools/setup_servers.sh

build: setup
	@cmake --preset dev > build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }
	@rm -f build.log
	@cmake --build --preset dev

release: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target firn

install: release
	@install -D $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/firn
	@install -d $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
	  $(SHARE)/fish/vendor_completions.d
	@$(PROGRAM) man > $(SHARE)/man/man1/firn.1
	@$(PROGRAM) completion bash > $(SHARE)/bash-completion/completions/firn
	@$(PROGRAM) completion zsh > $(SHARE)/zsh/site-functions/_firn
	@$(PROGRAM) completion fish > $(SHARE)/fish/vendor_completions.d/firn.fish

test: build
	@ctest --test-dir build/dev --output-on-failure -j 2
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/gates tests/end_to_end

test-servers: build setup-servers
	@$(PYTHON) -m pytest -q -rs -p no:cacheprovider tests/interop

sim: setup
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target sim_test
	@seq $(JOBS) | xargs -P $(JOBS) -I{} sh -c 'FIRN_SIM_FIRST=$$(($(SEEDS) * ({} - 1) / $(JOBS) + 1)) \
	  FIRN_SIM_SEEDS=$$(($(SEEDS) * {} / $(JOBS))) build/release/tests/sim/sim_test --gtest_brief=1 \
	  --gtest_filter=SimulationTest.NothingIsLost*'

demo: release
	@$(PYTHON) tools/demo.py $(if $(WAREHOUSE),--warehouse $(WAREHOUSE)) $(if $(CATALOG),--catalog $(CATALOG))

check: setup
	@tools/check_format.sh
	@$(PYTHON) -m pyflakes tests tools bench
	@$(PYTHON) tools/check_layers.py
	@$(PYTHON) tools/check_primitives.py
	@$(PYTHON) tools/check_registered.py

sanitize: setup
	@cmake --preset sanitize > /dev/null
	@cmake --build --preset sanitize
	@ctest --preset sanitize

tsan: setup
	@cmake --preset tsan > /dev/null
	@cmake --build --preset tsan
	@ctest --preset tsan

fuzz: setup
	@cmake --preset sanitize > /dev/null
	@cmake --build --preset fuzz
	@$(PYTHON) tools/fuzz.py $(SECONDS)

tidy: setup
	@cmake --preset tidy > /dev/null
	@$(PYTHON) tools/check_tidy.py --all

tidy-changed: setup
	@cmake --preset tidy > /dev/null
	@$(PYTHON) tools/check_tidy.py

format: setup
	@.deps/venv/bin/clang-format -i $$(tools/source_files.py)

clean:
	@rm -rf build
