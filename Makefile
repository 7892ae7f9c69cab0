# SPDX-License-Identifier: Apache-2.0
# precord and preport. "make help" says what there is to ask for.
#
# SAN=... and FUZZ=1 build in folders of their own below $(BUILD), so that they live side by side.

# ---- what it is made of ---------------------------------------------------------------------------

# Every source file of a folder is built; a folder below it is a part of it.
sources = $(sort $(wildcard $(foreach depth,$(1) $(1)/* $(1)/*/*,$(depth)/*.c)))
FORMATS = $(call sources,formats)
SYMBOLIZE = $(call sources,symbolize)
RECORD = $(call sources,record)
REPORT = $(call sources,report)

# Definitions for protoc-c, and files (scripts, style sheets) that become arrays of bytes: see .ci/embed.
PROTOS = $(sort $(wildcard formats/*/*.proto))
ASSETS = $(sort $(wildcard report/help/*.txt report/metric/metrics.txt report/page/web/*))

# The unit tests, with what helps them, make one program.
UNIT_TESTS = $(sort $(wildcard tests/unit/*.c))
# One program each: libFuzzer's under "make fuzz", a replayer of tests/data/fuzz/ under "make check".
FUZZERS = $(sort $(wildcard tests/fuzz/fuzz_*.c))
# Programs that make and take apart traces, or unwind, for tests: linked with formats/ and symbolize/.
TEST_TOOLS = $(sort $(wildcard tests/tools/*.c))
# A stand-in for perf_event_open() of machines that nobody here has, preloaded by tests.
FAKEPMU = tests/fakepmu/fakepmu.c tests/fakepmu/rules.c tests/fakepmu/samples.c
# Programs and (*_plugin.c) shared objects that tests and measurements run, built by $(CC) -O2 -g alone.
TEST_PROGRAMS = tests/programs/shares.c tests/programs/shares_plugin.c
MAN_PAGES = $(sort $(wildcard Documentation/man/*.[1-8]))

# ---- how it is built ------------------------------------------------------------------------------

ifeq ($(origin CC),default)
CC := $(notdir $(firstword $(shell command -v gcc || command -v clang || command -v cc)))
endif
BUILD ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
SAN ?=
FUZZ ?=
FUZZ_SECONDS ?= 20
VERSION = 0.1

comma := ,
B := $(BUILD)$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))$(if $(FUZZ),-fuzz)
GEN := $(B)/gen

WARN = -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla $(if $(WERROR),-Werror)
# Unpacks debug sections about twice as fast as zlib, which is there for where it is not.
DEFLATE := $(shell pkg-config --exists libdeflate 2>/dev/null && echo libdeflate)
PC_NAMES = libdw libelf capstone libzstd zlib liblzma libprotobuf-c libtraceevent ncursesw $(DEFLATE)
PC_CFLAGS := $(shell pkg-config --cflags $(PC_NAMES) 2>/dev/null)
PC_LIBS := $(shell pkg-config --libs $(PC_NAMES) 2>/dev/null)
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Programs that run as root and read what others made are built to stop at an overrun; sanitizers do that by themselves.
accepts = $(shell $(CC) -Werror $(1) -E -x c /dev/null >/dev/null 2>&1 && echo $(1))
ifeq ($(SAN)$(FUZZ),)
fortify = $(shell echo '\#include <stdio.h>' | $(CC) -Werror -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -E -x c - >/dev/null 2>&1 \
	&& echo 3 || echo 2)
HARDENING := $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(fortify)) -fstack-protector-strong \
	$(call accepts,-fcf-protection) $(call accepts,-mbranch-protection=standard)
HARDENING_LD := -Wl,-z,relro,-z,now
endif
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' $(WARN) $(HARDENING) $(CFLAGS) $(SAN_FLAGS) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link -DFUZZ) -I. -I$(GEN) $(PC_CFLAGS) $(if $(DEFLATE),-DHAVE_LIBDEFLATE) $(CPPFLAGS)
ALL_LDFLAGS = $(HARDENING_LD) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS)
TEST_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra
LIBS = -Wl,--as-needed $(PC_LIBS) -liberty -ldl -lpthread -lm

ifeq ($(V),)
say = @printf '  %-4s %s\n' '$(1)' '$(patsubst $(B)/%,%,$@)';
else
say =
endif

objects = $(patsubst %.c,$(B)/%.o,$(1))
PROTO_SRC = $(patsubst %.proto,$(GEN)/%.pb-c.c,$(PROTOS))
ASSET_SRC = $(patsubst %,$(GEN)/%.c,$(ASSETS))
GEN_OBJ = $(patsubst %.c,%.o,$(PROTO_SRC) $(ASSET_SRC))
PROTO_OBJ = $(patsubst %.c,%.o,$(PROTO_SRC))
ASSET_OBJ = $(patsubst %.c,%.o,$(ASSET_SRC))

PROGRAMS = $(B)/precord $(B)/preport
UNIT = $(B)/tests/unit/run
FUZZ_PROGRAMS = $(patsubst %.c,$(B)/%,$(FUZZERS))
TEST_BINARIES = $(patsubst %_plugin,%_plugin.so,$(patsubst %.c,$(B)/%,$(TEST_PROGRAMS)))
TOOLS = $(patsubst %.c,$(B)/%,$(TEST_TOOLS))
LIB_FORMATS = $(B)/libformats.a
LIB_SYMBOLIZE = $(B)/libsymbolize.a
LIB_RECORD = $(B)/librecord.a
LIB_REPORT = $(B)/libreport.a

# ---- targets --------------------------------------------------------------------------------------

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all tests check check-here check-fresh check-guest check-oracles cross unit cli e2e fuzz fuzz-programs lint bench gallery demo demo-here install uninstall \
	clean help packages FORCE

all: $(LIB_FORMATS) $(LIB_SYMBOLIZE) $(PROGRAMS)

tests: all $(UNIT) $(if $(FUZZ),,$(FUZZ_PROGRAMS)) $(TEST_BINARIES) $(TOOLS) $(B)/libfakepmu.so

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

#: make                 build precord and preport in build/
#: make check           install missing packages if allowed, build, run every test
#: make check SAN=address,undefined   the same under sanitizers, in a build folder of its own
#: make unit T=words    only the unit tests whose names contain a word
#: make cli T='[--update] words'      only these command lines; --update takes what they print as right
#: make e2e T=names     only these scripts of tests/e2e/
#: make check-oracles   T=names: every comparison with other tools, as one table: 15 minutes, 600 MB to fetch
#: make cross ARCH=aarch64   build for it, and run its unit tests under emulation
#: make check-guest     machines in QEMU, aarch64 with a PMU and x86-64: T=names, only these scripts of tests/guest/
#: make check-fresh DIST=noble PMU=no CPU=no-avx   .ci/run in another distribution without those (root); T='make check'
#: make lint            layering, includes, headers, symbol names, banned calls, sizes, man pages
#: make fuzz            fuzz every format for FUZZ_SECONDS=20 each (needs clang)
#: make bench           measure against perf on this machine
#: make gallery         pictures of the pages for Documentation/gallery/ (needs node, npm and chromium)
#: make demo            record what this machine does for some seconds and show the reports
#: make install         into DESTDIR=/PREFIX=/usr/local: programs, man pages, completions
#: make uninstall       remove what install put there
#: make clean           remove build/
#: Variables: CC CFLAGS LDFLAGS WERROR=1 SAN= BUILD= V=1

packages:
	@.ci/packages build test

check: packages
	@$(MAKE) --no-print-directory check-here

check-here: tests
	@BUILD='$(B)' CC='$(CC)' SAN='$(SAN)' tests/run

unit: $(UNIT)
	@$(UNIT) $(T)

cli: tests
	@BUILD='$(B)' tests/run-cli $(T)

e2e: tests
	@BUILD='$(B)' CC='$(CC)' SAN='$(SAN)' tests/run-scripts \
		$(if $(T),$(patsubst %,tests/e2e/%.sh,$(T)),$(sort $(wildcard tests/e2e/*.sh tests/e2e/*/*.sh)))

check-oracles: tests
	@BUILD='$(B)' CC='$(CC)' SAN='$(SAN)' tests/oracles/run $(T)

cross:
	@BUILD='$(BUILD)' .ci/cross $(ARCH)

check-fresh:
	@BUILD='$(BUILD)' DIST='$(DIST)' PMU='$(PMU)' CPU='$(CPU)' tests/fresh/run $(T)

check-guest: tests
	@BUILD='$(B)' CC='$(CC)' SAN='$(SAN)' tests/guest/run $(T)

lint: tests
	@BUILD='$(B)' tests/lint/run

fuzz:
	@$(MAKE) --no-print-directory CC=clang SAN=address,undefined FUZZ=1 fuzz-programs
	@BUILD='$(BUILD)/san-address-undefined-fuzz' tests/fuzz/run $(FUZZ_SECONDS)

fuzz-programs: $(FUZZ_PROGRAMS)

bench: all $(TEST_BINARIES)
	@BUILD="$(abspath $(B))" CC="$(CC)" tests/bench/run
	@BUILD="$(abspath $(B))" tests/bench/pictures

gallery: all
	@BUILD="$(abspath $(B))" tests/web/gallery

demo: packages
	@$(MAKE) --no-print-directory demo-here

demo-here: all
	@BUILD='$(B)' examples/demo

install uninstall: all
	@BUILD='$(B)' DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' .ci/install $@ $(MAN_PAGES)

clean:
	rm -rf $(BUILD)

# ---- rules ----------------------------------------------------------------------------------------

# Stamps: rewritten only when what they hold changes, so that a changed flag or list rebuilds.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(1))' >$@

$(B)/flags: FORCE
	@test -e $@ || .ci/packages --check build
	$(call stamp,$(CC) $(ALL_CFLAGS) | $(ALL_LDFLAGS) $(LIBS))
$(B)/lists: FORCE
	$(call stamp,$(FORMATS) | $(SYMBOLIZE) | $(RECORD) | $(REPORT) | $(UNIT_TESTS) | $(PROTOS) $(ASSETS))

$(B)/%.o: %.c $(B)/flags | $(PROTO_SRC)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(GEN)/%.o: $(GEN)/%.c $(B)/flags
	$(call say,CC)$(CC) $(ALL_CFLAGS) -w -MMD -MP -c -o $@ $<
$(GEN)/%.pb-c.c: %.proto | $(B)/flags
	@mkdir -p $(@D)
	$(call say,GEN)protoc-c --proto_path=. --c_out=$(GEN) $< 2>$(@D)/log || { cat $(@D)/log >&2; false; }
$(patsubst %,$(GEN)/%.c,$(ASSETS)): $(GEN)/%.c: % .ci/embed | $(B)/flags
	@mkdir -p $(@D)
	$(call say,GEN).ci/embed $< >$@

$(LIB_FORMATS): $(call objects,$(FORMATS)) $(PROTO_OBJ)
$(LIB_SYMBOLIZE): $(call objects,$(SYMBOLIZE))
$(LIB_RECORD): $(call objects,$(filter-out record/main.c,$(RECORD)))
$(LIB_REPORT): $(call objects,$(filter-out report/main.c,$(REPORT))) $(ASSET_OBJ)
%.a: $(B)/lists
	@mkdir -p $(@D)
	$(call say,AR)rm -f $@; $(AR) qcs $@ $(filter %.o,$^)

link = $(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(B)/precord: $(B)/record/main.o $(LIB_RECORD) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(link)
$(B)/preport: $(B)/report/main.o $(LIB_REPORT) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(link)
$(UNIT): $(call objects,$(UNIT_TESTS)) $(LIB_RECORD) $(LIB_REPORT) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) -lcmocka
$(B)/tests/tools/trace_corpus: $(B)/tests/unit/event_maker.o
$(TOOLS): %: %.o $(LIB_RECORD) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(link)
$(FUZZ_PROGRAMS): %: %.o $(if $(FUZZ),,$(B)/tests/fuzz/replay.o) $(LIB_RECORD) $(LIB_REPORT) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) -o $@ $(filter %.o %.a,$^) $(LIBS)
$(filter-out %.so,$(TEST_BINARIES)): $(B)/%: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(TEST_CFLAGS) -o $@ $< -ldl -lpthread -lm
$(filter %.so,$(TEST_BINARIES)): $(B)/%.so: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(TEST_CFLAGS) -fPIC -shared -o $@ $<
$(B)/libfakepmu.so: $(FAKEPMU) tests/fakepmu/fakepmu.h $(B)/flags
	$(call say,CC)$(CC) $(TEST_CFLAGS) -I. -fPIC -shared -o $@ $(FAKEPMU) -ldl

-include $(patsubst %.o,%.d,$(call objects,$(FORMATS) $(SYMBOLIZE) $(RECORD) $(REPORT) $(UNIT_TESTS) \
	$(FUZZERS) $(TEST_TOOLS) tests/fuzz/replay.c) $(GEN_OBJ))
