# SPDX-License-Identifier: Apache-2.0
# precord and preport. "make help" says what there is to ask for.
#
# Every list names its files; what is not listed is not built. SAN=... and FUZZ=1 build in folders of
# their own below $(BUILD), so that they live side by side.

# ---- what it is made of ---------------------------------------------------------------------------

FORMATS = formats/arch.c formats/base/arena.c formats/base/command.c formats/base/completion.c \
	formats/base/diag.c formats/base/err.c formats/base/file_bytes.c formats/base/gzip.c \
	formats/base/map.c formats/base/memory.c formats/base/opt.c formats/base/page_guard.c \
	formats/base/pool.c formats/base/reader.c formats/base/sha256.c formats/base/strtab.c \
	formats/base/text.c formats/base/writer.c formats/base/xz.c formats/base/zframe.c \
	formats/build_id_note.c formats/event_missed.c formats/event_turns.c formats/folded.c \
	formats/folded_read.c formats/jitdump.c formats/kallsyms.c formats/mapping.c \
	formats/perf_data.c formats/perf_data_attrs.c formats/perf_data_build_ids.c \
	formats/perf_data_features.c formats/perf_data_head.c formats/perf_data_order.c \
	formats/perf_data_side.c formats/perf_data_stack.c formats/perf_data_stream.c \
	formats/perf_record.c formats/perf_record_place.c formats/perf_record_sample.c formats/pprof.c \
	formats/pprof_read.c formats/profile.c formats/profile_source.c formats/stack_codec.c \
	formats/topdown.c formats/trace_attached.c formats/trace_block.c formats/trace_chunk.c \
	formats/trace_decoder.c formats/trace_encoder.c formats/trace_field.c formats/trace_file.c \
	formats/trace_loader.c formats/trace_reader.c formats/trace_recording.c formats/trace_rewrite.c \
	formats/trace_scan.c formats/trace_side_band.c formats/trace_sizes.c formats/trace_window.c \
	formats/trace_writer.c formats/value_codec.c
SYMBOLIZE = symbolize/cache_folder.c symbolize/cfi_program.c symbolize/cfi_rule.c \
	symbolize/chain_trie.c symbolize/debug/abbrev.c symbolize/debug/form.c symbolize/debug/info.c \
	symbolize/debug/inlines.c symbolize/debug/line_header.c symbolize/debug/line_table.c \
	symbolize/debug/lines.c symbolize/debug/package.c symbolize/debug/ranges.c \
	symbolize/debug/source.c symbolize/debug/split.c symbolize/debug/supplement.c \
	symbolize/debug/unit.c symbolize/debugfile.c symbolize/demangle.c symbolize/disasm.c \
	symbolize/elf/bundle.c symbolize/elf/bundle_calls.c symbolize/elf/bundle_names.c \
	symbolize/elf/cfi_pointer.c symbolize/elf/cfi_record.c symbolize/elf/cfi_section.c \
	symbolize/elf/frame_writer.c symbolize/elf/image.c symbolize/elf/image_packed.c \
	symbolize/elf/image_relocate.c symbolize/elf/image_section.c symbolize/elf/image_stripped.c \
	symbolize/elf/mini_elf.c symbolize/elf/minidebug.c symbolize/elf/object_table.c \
	symbolize/elf/plt.c symbolize/elf/symbol_version.c symbolize/elf/symtab.c symbolize/elf/vdso.c \
	symbolize/expr.c symbolize/jit_files.c symbolize/jit_map.c symbolize/kernel_entry.c \
	symbolize/kernel_module.c symbolize/ksyms.c symbolize/layers.c symbolize/line_cache.c \
	symbolize/line_source.c symbolize/module.c symbolize/module_files.c symbolize/name_ahead.c \
	symbolize/naming.c symbolize/own_kernel.c symbolize/space.c symbolize/space_maps.c \
	symbolize/symbolizer.c symbolize/unwind.c symbolize/unwind_fallback.c symbolize/unwind_hidden.c \
	symbolize/unwind_kernel_chain.c symbolize/unwind_memo.c symbolize/unwind_sigframe.c \
	symbolize/unwind_splice.c symbolize/unwind_stack.c symbolize/unwind_step.c \
	symbolize/unwind_tables.c symbolize/unwind_trace.c symbolize/unwind_words.c symbolize/walkers.c
# With record/main.c (report/main.c) in its list, the program is built.
RECORD = record/affinity.c record/approach.c record/attach.c record/attach_image.c \
	record/attach_jit.c record/attach_kernel.c record/budget.c record/cgroup.c record/cmd_list.c \
	record/cmd_record.c record/cmd_stat.c record/code_file.c record/code_map.c record/control.c \
	record/counter_set.c record/cpu_list.c record/delay.c record/description.c record/doorbell.c \
	record/drain.c record/event_attr.c record/event_catalog.c record/event_group.c \
	record/event_lookup.c record/event_names.c record/event_open.c record/event_plan.c \
	record/event_probe.c record/event_rate.c record/event_spec.c record/event_terms.c \
	record/extras_probe.c record/family.c record/flight_log.c record/group_counts.c \
	record/hotplug.c record/jit_code.c record/journal.c record/kcore.c record/kernel_code.c \
	record/kernel_symbols.c record/landscape.c record/ledger.c record/machine.c record/main.c \
	record/map_query.c record/perf_map.c record/pmu.c record/priority.c record/proc_scan.c \
	record/process.c record/prune.c record/record_args.c record/recorder.c record/ring.c \
	record/ring_reader.c record/sample_extras.c record/sample_trial.c record/seen.c \
	record/sensors.c record/side_record.c record/stat_report.c record/stat_table.c \
	record/status_line.c record/steering.c record/summary.c record/target.c record/text_file.c \
	record/topdown_events.c record/trace_output.c record/tracepoint.c record/tract.c record/turns.c \
	record/vendor_event.c record/volumes.c record/watch.c record/workload.c
REPORT = report/annotate.c report/annotate_branches.c report/annotate_list.c \
	report/branch_table.c report/branches.c report/browser.c report/bundle_parts.c \
	report/call_tree.c report/cmd_annotate.c report/cmd_bundle.c report/cmd_cache.c \
	report/cmd_debug_unwind.c report/cmd_diff.c report/cmd_export.c report/cmd_flamegraph.c \
	report/cmd_folded.c report/cmd_html.c report/cmd_info.c report/cmd_pprof.c report/cmd_report.c \
	report/cmd_script.c report/cmd_strip.c report/cmd_topdown.c report/cmd_tui.c \
	report/code_origin.c report/commands.c report/counting.c report/cut.c report/data_places.c \
	report/diff.c report/diff_groups.c report/diff_head.c report/diff_merge.c report/diff_page.c \
	report/diff_power.c report/diff_stats.c report/diff_table.c report/diff_threads.c \
	report/export.c report/export_callgrind.c report/export_chrome.c report/export_firefox.c \
	report/export_perf_script.c report/export_speedscope.c report/extras_text.c report/fact_sheet.c \
	report/filter.c report/firefox_tables.c report/flame.c report/flame_data.c report/flame_page.c \
	report/flame_tree.c report/flow.c report/flow_loops.c report/frame_list.c report/group_deltas.c \
	report/info.c report/info_sizes.c report/info_stacks.c report/json.c report/latency.c \
	report/listing.c report/listing_arrows.c report/listing_page.c report/listing_rows.c \
	report/listing_text.c report/lookup.c report/main.c report/main_module.c report/markup.c \
	report/match.c report/measures.c report/memory_source.c report/metric_expr.c \
	report/metric_set.c report/metrics.c report/moment.c report/number.c report/output.c \
	report/page.c report/pager.c report/payload.c report/progress.c report/pseudonyms.c \
	report/report_page.c report/rule_text.c report/screen.c report/script.c report/session.c \
	report/session_facts.c report/session_import.c report/session_input.c report/session_names.c \
	report/session_places.c report/session_run.c report/session_walk.c report/short_name.c \
	report/source_text.c report/stats.c report/strip_names.c report/summary.c report/svg.c \
	report/table.c report/table_page.c report/tables.c report/tally.c report/terminal.c \
	report/topdown_page.c report/topdown_text.c report/topdown_tree.c report/topics.c \
	report/trace_copy.c report/track.c report/tree_table.c report/trust.c report/tui.c \
	report/tui_listing.c report/tui_text.c report/turns_text.c report/view.c report/view_keys.c \
	report/view_levels.c report/view_path.c report/view_table.c report/walk_text.c

# Definitions for protoc-c, and files (scripts, style sheets) that become arrays of bytes: see .ci/embed.
PROTOS = formats/pprof.proto
ASSETS = report/help/filters.txt report/help/outputs.txt report/help/shares.txt \
	report/help/stacks.txt report/help/steps.txt report/help/symbols.txt report/help/terminal.txt \
	report/help/trust.txt report/metrics.txt report/web/app.js report/web/block.js \
	report/web/boxes.js report/web/callers.js report/web/code.css report/web/code.js \
	report/web/colours.js report/web/draw.js report/web/flame.css report/web/flame.html \
	report/web/functions.js report/web/keys.js report/web/loader.js report/web/names.js \
	report/web/noise.js report/web/picture.js report/web/profile.js report/web/report.css \
	report/web/report.html report/web/search.js report/web/state.js report/web/stats.js \
	report/web/strip.js report/web/time.js report/web/tree.js report/web/view.js

# The unit tests, with what helps them, make one program.
UNIT_TESTS = tests/unit/main.c tests/unit/cfi_writer.c tests/unit/elf_file.c \
	tests/unit/event_check.c tests/unit/event_list.c tests/unit/event_maker.c \
	tests/unit/fake_sysfs.c tests/unit/perf_data_maker.c tests/unit/synthetic.c \
	tests/unit/test_affinity.c tests/unit/test_arch.c tests/unit/test_arena.c \
	tests/unit/test_attach.c tests/unit/test_bombs.c tests/unit/test_branches.c \
	tests/unit/test_browser.c tests/unit/test_budget.c tests/unit/test_bundle.c \
	tests/unit/test_bundle_names.c tests/unit/test_call_tree.c tests/unit/test_cfi_program.c \
	tests/unit/test_cfi_section.c tests/unit/test_chain_trie.c tests/unit/test_command.c \
	tests/unit/test_cpu_list.c tests/unit/test_data_places.c tests/unit/test_debug_info.c \
	tests/unit/test_debugfile.c tests/unit/test_delay.c tests/unit/test_demangle.c \
	tests/unit/test_diag.c tests/unit/test_diff_stats.c tests/unit/test_diff_threads.c \
	tests/unit/test_disasm.c tests/unit/test_doorbell.c tests/unit/test_err.c \
	tests/unit/test_event_names.c tests/unit/test_event_plan.c tests/unit/test_event_rate.c \
	tests/unit/test_event_spec.c tests/unit/test_event_turns.c tests/unit/test_exports.c \
	tests/unit/test_expr.c tests/unit/test_family.c tests/unit/test_file_bytes.c \
	tests/unit/test_filter.c tests/unit/test_flight_log.c tests/unit/test_flow.c \
	tests/unit/test_folded_read.c tests/unit/test_image.c tests/unit/test_jit_map.c \
	tests/unit/test_jitdump.c tests/unit/test_kernel_code.c tests/unit/test_kernel_symbols.c \
	tests/unit/test_landscape.c tests/unit/test_layers.c tests/unit/test_line_cache.c \
	tests/unit/test_line_table.c tests/unit/test_lookup.c tests/unit/test_map.c \
	tests/unit/test_map_query.c tests/unit/test_match.c tests/unit/test_memory_source.c \
	tests/unit/test_metric.c tests/unit/test_module.c tests/unit/test_moment.c \
	tests/unit/test_number.c tests/unit/test_opt.c tests/unit/test_page.c \
	tests/unit/test_page_guard.c tests/unit/test_perf_data.c tests/unit/test_perf_map.c \
	tests/unit/test_perf_record.c tests/unit/test_pmu.c tests/unit/test_pool.c \
	tests/unit/test_pprof_read.c tests/unit/test_proc_scan.c tests/unit/test_process.c \
	tests/unit/test_profile.c tests/unit/test_progress.c tests/unit/test_prune.c \
	tests/unit/test_reader.c tests/unit/test_ring.c tests/unit/test_seen.c \
	tests/unit/test_session.c tests/unit/test_sha256.c tests/unit/test_short_name.c \
	tests/unit/test_side_record.c tests/unit/test_source_text.c tests/unit/test_space.c \
	tests/unit/test_stack_codec.c tests/unit/test_stats.c tests/unit/test_strtab.c \
	tests/unit/test_symbolizer.c tests/unit/test_symtab.c tests/unit/test_table.c \
	tests/unit/test_target.c tests/unit/test_text.c tests/unit/test_text_file.c \
	tests/unit/test_topdown.c tests/unit/test_trace_block.c tests/unit/test_trace_chunk.c \
	tests/unit/test_trace_loader.c tests/unit/test_trace_page.c tests/unit/test_trace_reader.c \
	tests/unit/test_trace_recording.c tests/unit/test_trace_rewrite.c \
	tests/unit/test_trace_writer.c tests/unit/test_tracepoint.c tests/unit/test_unwind.c \
	tests/unit/test_unwind_fallback.c tests/unit/test_unwind_hidden.c \
	tests/unit/test_unwind_kernel_chain.c tests/unit/test_unwind_splice.c \
	tests/unit/test_unwind_stack.c tests/unit/test_vec.c tests/unit/test_view.c \
	tests/unit/test_walkers.c tests/unit/test_workload.c tests/unit/test_writer.c \
	tests/unit/test_xz.c tests/unit/test_zframe.c tests/unit/trace_maker.c \
	tests/unit/unwind_world.c tests/unit/test_main_module.c
# One program each: libFuzzer's under "make fuzz", a replayer of tests/data/fuzz/ under "make check".
FUZZERS = tests/fuzz/fuzz_bundle.c tests/fuzz/fuzz_control.c tests/fuzz/fuzz_debug_info.c \
	tests/fuzz/fuzz_demangle.c tests/fuzz/fuzz_eh_frame.c tests/fuzz/fuzz_expr.c \
	tests/fuzz/fuzz_jitdump.c tests/fuzz/fuzz_line_cache.c tests/fuzz/fuzz_lines.c \
	tests/fuzz/fuzz_metrics.c tests/fuzz/fuzz_package.c tests/fuzz/fuzz_perf_data.c \
	tests/fuzz/fuzz_perf_map.c tests/fuzz/fuzz_profile.c tests/fuzz/fuzz_session.c \
	tests/fuzz/fuzz_text.c tests/fuzz/fuzz_trace.c
# Programs that make and take apart traces, or unwind, for tests: linked with formats/ and symbolize/.
TEST_TOOLS = tests/tools/cfi_rows.c tests/tools/disasm_probe.c tests/tools/dump_kcore.c \
	tests/tools/dump_trace.c tests/tools/multiply_trace.c tests/tools/prune_trace.c \
	tests/tools/symbol_probe.c tests/tools/trace_corpus.c tests/tools/unwind_bench.c \
	tests/tools/unwind_probe.c tests/tools/write_trace.c
# A stand-in for perf_event_open() of machines that nobody here has, preloaded by tests.
FAKEPMU = tests/fakepmu/fakepmu.c tests/fakepmu/rules.c tests/fakepmu/samples.c
# Programs and (*_plugin.c) shared objects that tests and measurements run, built by $(CC) -O2 -g alone.
TEST_PROGRAMS = tests/programs/shares.c tests/programs/shares_plugin.c
MAN_PAGES = Documentation/man/precord-stat.1 Documentation/man/precord-trace.5 \
	Documentation/man/precord.1 Documentation/man/preport-annotate.1 \
	Documentation/man/preport-bundle.1 Documentation/man/preport-cache.1 \
	Documentation/man/preport-debug-unwind.1 Documentation/man/preport-diff.1 \
	Documentation/man/preport-export.1 Documentation/man/preport-flamegraph.1 \
	Documentation/man/preport-html.1 Documentation/man/preport-strip.1 \
	Documentation/man/preport-topdown.1 Documentation/man/preport-tui.1 Documentation/man/preport.1

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
PC_NAMES = libdw libelf capstone libzstd zlib liblzma libprotobuf-c libtraceevent jansson ncursesw
PC_CFLAGS := $(shell pkg-config --cflags $(PC_NAMES) 2>/dev/null)
PC_LIBS := $(shell pkg-config --libs $(PC_NAMES) 2>/dev/null)
SAN_FLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DVERSION='"$(VERSION)"' $(WARN) $(CFLAGS) $(SAN_FLAGS) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link -DFUZZ) -I. -I$(GEN) $(PC_CFLAGS) $(CPPFLAGS)
ALL_LDFLAGS = $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS)
TEST_CFLAGS = -std=gnu17 -D_GNU_SOURCE -O2 -g -Wall -Wextra
LIBS = -Wl,--as-needed $(PC_LIBS) -liberty -lpfm -lpthread -lm

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

PROGRAMS = $(if $(filter record/main.c,$(RECORD)),$(B)/precord) \
	$(if $(filter report/main.c,$(REPORT)),$(B)/preport)
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
#: make lint            layering, headers, symbol names, banned calls, sizes, man pages
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

lint: all
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
	$(call say,AR)rm -f $@; $(AR) rcs $@ $(filter %.o,$^)

link = $(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(B)/precord: $(B)/record/main.o $(LIB_RECORD) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(link)
$(B)/preport: $(B)/report/main.o $(LIB_REPORT) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(link)
$(UNIT): $(call objects,$(UNIT_TESTS)) $(LIB_RECORD) $(LIB_REPORT) $(LIB_SYMBOLIZE) $(LIB_FORMATS)
	$(call say,LD)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS) -lcmocka
$(B)/tests/tools/trace_corpus: $(B)/tests/unit/event_maker.o
$(B)/tests/tools/prune_trace: $(LIB_RECORD)
$(TOOLS): %: %.o $(LIB_SYMBOLIZE) $(LIB_FORMATS)
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
