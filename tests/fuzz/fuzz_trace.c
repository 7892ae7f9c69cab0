/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_trace.c - trace files, and the contents of their blocks without the checksums around them.
 *
 * An input that begins with a letter of "EHIJKLN" is the content of a block of events, the header,
 * images, a JIT map, kernel symbols, lines or the end. Everything else is a file.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/trace_attached.h"
#include "formats/trace_decoder.h"
#include "formats/trace_field.h"
#include "formats/trace_reader.h"
#include "formats/trace_recording.h"
#include "symbolize/debug/line_table.h"

#include <string.h>

static void check_string(const char *text)
{
	CHECK(text && strlen(text) < SIZE_MAX);
}

static void check_stack(const struct event_stack *stack)
{
	uint64_t nslots = (stack->end - stack->base) / 8;

	CHECK(stack->base <= stack->end && stack->base % 8 == 0 && stack->end % 8 == 0);
	for (size_t i = 0; i < stack->nwords; i++) {
		CHECK(stack->slots[i] < nslots);
		CHECK(!i || stack->slots[i] > stack->slots[i - 1]);
	}
}

/* Every byte that an event promises can be read. */
static void check_sample(const struct event_sample *s, const struct recording *rec)
{
	uint64_t sum = 0;

	CHECK(s->event < rec->nevents && s->mode <= EVENT_MODE_GUEST_USER);
	CHECK(!s->regs || s->regs->mask >> rec->arch->nregs == 0);
	check_stack(&s->stack);
	for (size_t i = 0; i < s->nkernel_ips; i++)
		sum += s->kernel_ips[i];
	for (size_t i = 0; i < s->nuser_ips; i++)
		sum += s->user_ips[i];
	for (size_t i = 0; i < s->raw_len; i++)
		sum += s->raw[i];
	for (size_t i = 0; i < s->nbranches; i++)
		sum += s->branches[i].from + s->branches[i].flags;
	for (size_t i = 0; i < s->ncounts; i++)
		CHECK(s->counts[i].event < rec->nevents);
	for (size_t i = 0; i < s->stack.nwords; i++)
		sum += s->stack.words[i];
	CHECK(sum != 0x123456789abcdef1);
}

static void check_event(const struct event *ev, const struct recording *rec)
{
	CHECK(ev->kind < EVENT_KINDS);
	switch (ev->kind) {
	case EVENT_SAMPLE:
		check_sample(&ev->sample, rec);
		break;
	case EVENT_MMAP:
		check_string(ev->mmap.path);
		CHECK(ev->mmap.start <= ev->mmap.end && ev->mmap.build_id_len <= 20);
		break;
	case EVENT_COMM:
		check_string(ev->comm.comm);
		break;
	case EVENT_KSYMBOL:
		check_string(ev->ksymbol.name);
		break;
	case EVENT_CGROUP:
		check_string(ev->cgroup.path);
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		CHECK(ev->lost.event < rec->nevents || ev->lost.event == RECORDING_NO_EVENT);
		break;
	default:
		break;
	}
}

static void check_recording(const struct recording *rec)
{
	check_string(rec->tool);
	check_string(rec->cmdline);
	for (size_t i = 0; i < rec->nevents; i++) {
		check_string(rec->events[i].name);
		CHECK(rec->events[i].leader < rec->nevents);
	}
	for (size_t i = 0; i < rec->ncounts; i++)
		CHECK(rec->counts[i].event < rec->nevents);
	for (size_t i = 0; i < rec->nimages; i++)
		CHECK(rec->images[i].build_id_len <= 20);
	for (size_t i = 0; i < rec->nksyms; i++) {
		check_string(rec->ksyms[i].name);
		check_string(rec->ksyms[i].module);
		CHECK(!i || rec->ksyms[i].addr >= rec->ksyms[i - 1].addr);
	}
	for (size_t i = 0; i < rec->nnotes; i++)
		check_string(rec->notes[i]);
}

static void fuzz_file(const uint8_t *data, size_t len)
{
	struct event_source *source;
	struct event ev;
	uint64_t last_ns = 0, late = 0;
	struct err *err = trace_reader_open_memory(data, len, &source);

	if (err) {
		CHECK(err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
		err_free(err);
		return;
	}
	check_recording(event_source_recording(source));
	while (event_source_next(source, &ev)) {
		check_event(&ev, event_source_recording(source));
		late += ev.time_ns < last_ns;
		last_ns = ev.time_ns > last_ns ? ev.time_ns : last_ns;
	}
	CHECK(late == event_source_recording(source)->late_events);
	err = event_source_finish(source);
	CHECK(!err); /* memory cannot refuse to be read */
	event_source_close(source);
}

static void fuzz_events(const uint8_t *data, size_t len, const struct recording *rec)
{
	struct trace_events events = { 0 };
	struct err *err = trace_events_decode(data, len, rec, /* number= */ 0, &events);

	CHECK(!err || (err_kind(err) == ERR_CORRUPT && events.count == 0));
	for (size_t i = 0; i < events.count; i++)
		check_event(&events.events[i], rec);
	err_free(err);
	trace_events_deinit(&events);
}

static struct err *load_images(struct reader *r, struct recording *rec)
{
	struct recording_image image;
	struct reader value;
	uint64_t tag;

	while (trace_field_next(r, &tag, &value)) {
		struct err *err = trace_image_load(&value, rec, &image);

		if (err)
			return err;
		check_string(image.path);
		CHECK(image.build_id_len <= 20);
	}
	return reader_check(r);
}

static struct err *load_lines(struct reader *r, struct recording *rec)
{
	struct debug_frame found[DEBUG_INFO_FRAMES_MAX];
	struct recording_lines lines;
	struct line_table *table;
	struct err *err = trace_lines_load(r, rec, &lines);

	if (!err)
		err = line_table_new(lines.table, lines.table_len, &table);
	if (err)
		return err;
	for (uint64_t vaddr = 0; vaddr < 4096; vaddr++) {
		size_t count = line_table_find(table, vaddr, found);

		CHECK(count <= DEBUG_INFO_FRAMES_MAX);
		for (size_t i = 0; i < count; i++)
			CHECK(!found[i].name || strlen(found[i].name) < SIZE_MAX);
	}
	line_table_free(table);
	return NULL;
}

static struct err *load_content(char kind, struct reader *r, struct recording *rec)
{
	struct recording_jit_map map;
	uint32_t nstreams;

	switch (kind) {
	case 'H':
		return trace_header_load(r, rec, &nstreams);
	case 'I':
		return load_images(r, rec);
	case 'J':
		return trace_jit_map_load(r, rec, &map);
	case 'C':
		return trace_kernel_code_load(r, rec);
	case 'L':
		return load_lines(r, rec);
	case 'K':
		return trace_ksyms_load(r, rec);
	default:
		return trace_end_load(r, rec);
	}
}

static void fuzz_content(char kind, const uint8_t *data, size_t len)
{
	struct recording_event events[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
	struct recording rec = { .arch = &arch_x86_64, .events = events, .nevents = 3 };
	struct reader r;

	if (kind == 'E') {
		fuzz_events(data, len, &rec);
		return;
	}
	if (kind == 'H')
		rec.nevents = 0;
	rec.tool = rec.cmdline = "";
	reader_init(&r, data, len, /* big_endian= */ false);

	struct err *err = load_content(kind, &r, &rec);

	CHECK(!err || err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
	if (!err)
		check_recording(&rec);
	err_free(err);
	arena_deinit(&rec.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len && memchr("EHIJKLN", data[0], 7))
		fuzz_content((char)data[0], data + 1, len - 1);
	else
		fuzz_file(data, len);
	return 0;
}
