/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_script.c - one event after another in time order, for eyes and for other programs.
 */
#include "formats/base/json_writer.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/event.h"
#include "formats/tracepoint_format.h"
#include "report/commands.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/session.h"
#include "report/perf_options.h"
#include "report/print/terminal.h"
#include "report/load/branches.h"
#include "report/view/extras_text.h"
#include "report/view/memory_source.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

/* ---- what a tracepoint's raw bytes say, by the format that was recorded with it ---- */

/* Libtraceevent trusts formats and records, so every field is checked against the bytes first. */

struct payload_printer;

#define SYSTEM_MAX 64 /* bytes of "sched" in "sched:sched_switch" */

struct payload_printer {
	struct tep_handle *tep;
	struct tep_event **by_event; /* by index in recording.events; NULL: not known */
	size_t nevents;
	struct trace_seq text;
};

/* "ID: 372", which stands in the payload too. A probe's is made up: the library would not find it again. */
static bool has_own_id(const struct recording_event *event)
{
	const char *line = strstr(event->format, "ID:");
	uint64_t id;

	return line && sscanf(line, "ID: %" SCNu64, &id) == 1 && id == event->config;
}

static void parse_format(struct payload_printer *printer, size_t index,
			 const struct recording_event *event)
{
	char system[SYSTEM_MAX];
	const char *colon = strchr(event->name, ':');
	size_t len = colon ? (size_t)(colon - event->name) : 0;

	if (!*event->format || !has_own_id(event) || !len || len >= sizeof(system))
		return;
	memcpy(system, event->name, len);
	system[len] = 0;
	if (tep_parse_event(printer->tep, event->format, strlen(event->format), system) ==
	    TEP_ERRNO__SUCCESS)
		printer->by_event[index] = tep_find_event(printer->tep, (int)event->config);
}

/* Read the formats of @rec's tracepoints, which must outlive the printer. */
static struct payload_printer *payload_printer_new(const struct recording *rec)
{
	struct payload_printer *printer = memory_zeroed(1, sizeof(*printer));

	tep_set_loglevel(TEP_LOG_NONE); /* what it cannot read is left out */
	printer->tep = tep_alloc();
	if (!printer->tep)
		memory_exhausted(sizeof(*printer));
	tep_set_long_size(printer->tep, sizeof(uint64_t));
	tep_set_page_size(printer->tep, (int)rec->page_size);
	tep_set_file_bigendian(printer->tep, TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(printer->tep, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	printer->nevents = rec->nevents;
	printer->by_event = memory_zeroed(rec->nevents, sizeof(struct tep_event *));
	for (size_t i = 0; i < rec->nevents; i++)
		parse_format(printer, i, &rec->events[i]);
	trace_seq_init(&printer->text);
	return printer;
}

static void payload_printer_free(struct payload_printer *printer)
{
	if (!printer)
		return;
	trace_seq_destroy(&printer->text);
	tep_free(printer->tep);
	free(printer->by_event);
	free(printer);
}

/* Do the bytes that @field stands for lie within the record? */
static bool field_fits(const struct tep_format_field *field, const struct event_sample *sample)
{
	uint32_t where;

	if (field->offset < 0 || field->size < 0 ||
	    (size_t)field->offset + (size_t)field->size > sample->raw_len)
		return false;
	if (!(field->flags & TEP_FIELD_IS_DYNAMIC) || field->size != sizeof(where))
		return true;
	/* __data_loc: where in the record, and how much, in 16 bits each (trace_events.txt) */
	memcpy(&where, sample->raw + field->offset, sizeof(where));
	return (size_t)(where & 0xffff) + (where >> 16) <= sample->raw_len;
}

static bool fields_fit(const struct tep_event *event, const struct event_sample *sample)
{
	const struct tep_format_field *field;

	for (field = event->format.common_fields; field; field = field->next)
		if (!field_fits(field, sample))
			return false;
	for (field = event->format.fields; field; field = field->next)
		if (!field_fits(field, sample))
			return false;
	return true;
}

/*
 * The payload of @sample as the kernel would print it ("prev_comm=sh prev_pid=7 …"), unescaped; "" if there is none or
 * its format is not known or asks for bytes that are not there. Valid until the next call.
 */
static const char *payload_text(struct payload_printer *printer, const struct event *ev)
{
	const struct event_sample *sample = &ev->sample;
	struct tep_event *event =
		sample->event < printer->nevents ? printer->by_event[sample->event] : NULL;

	if (!event || !sample->raw_len || !fields_fit(event, sample))
		return "";

	struct tep_record record = { .ts = ev->time_ns,
				     .data = (void *)sample->raw,
				     .size = (int)sample->raw_len,
				     .cpu = (int)ev->cpu };

	trace_seq_reset(&printer->text);
	tep_print_event(printer->tep, &printer->text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&printer->text);
	return printer->text.buffer;
}

/* ---- prints events one by one ---- */

/*
 * a sample in text looks like this; functions that were inlined have no address of their own:
 *
 *	clang 4711/4712 [001] 12345.678901234: 10101010 cpu-clock:
 *	        55d0c0ffee10 parse (/usr/bin/clang) parse.c:17
 *	                     scan (inlined) scan.c:3
 *	        [snapshot ended]
 *
 * In JSON each event is one object with the same facts; keys that a kind does not have are left out.
 */

struct script_options {
	bool json;
	bool relative; /* time since the start of the recording */
	bool no_chain; /* only the leaf */
};

struct script;

struct script {
	struct session *s;
	const struct script_options *options;
	FILE *out;
	struct payload_printer *payload;
	struct arena arena;
	struct tracepoint_format *formats; /* by event */
	struct json json;
};

/* @s and @options must outlive the result. */
static struct script *script_new(struct session *s, const struct script_options *options, FILE *out)
{
	struct script *script = memory_zeroed(1, sizeof(*script));

	script->s = s;
	script->options = options;
	script->out = out;
	script->payload = payload_printer_new(s->recording);
	script->formats = ARENA_ARRAY(&script->arena, struct tracepoint_format, s->recording->nevents + 1);
	for (size_t i = 0; i < s->recording->nevents; i++)
		script->formats[i] =
			tracepoint_format_read(&script->arena, s->recording->events[i].format);
	return script;
}

static void script_free(struct script *script)
{
	if (!script)
		return;
	payload_printer_free(script->payload);
	arena_deinit(&script->arena);
	free(script);
}

/* Signed: synthesised events may stand before the start. */
static int64_t shown_time(const struct script *script, const struct event *ev)
{
	return (int64_t)(ev->time_ns -
			 (script->options->relative ? script->s->recording->start_ns : 0));
}

static const char *event_name(const struct script *script, uint32_t event)
{
	const struct recording *rec = script->s->recording;

	return event < rec->nevents ? rec->events[event].name : "unknown";
}

/* ---- text ------------------------------------------------------------------------------------------ */

static void put_head(const struct script *script, const struct walked_event *event)
{
	const struct event *ev = event->ev;
	int64_t time_ns = shown_time(script, ev);
	uint64_t size = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;

	text_put_escaped(script->out, event->thread->comm);
	fprintf(script->out, " %" PRId32 "/%" PRId32 " ", (int32_t)ev->pid, (int32_t)ev->tid);
	if (ev->cpu != EVENT_NO_CPU)
		fprintf(script->out, "[%03" PRIu32 "] ", ev->cpu);
	fprintf(script->out, "%s%" PRIu64 ".%09" PRIu64 ": ", time_ns < 0 ? "-" : "",
		size / 1000000000, size % 1000000000);
}

static void put_line_text(const struct script *script, const struct profile_location *location,
			  uint32_t i)
{
	const struct profile *p = script->s->profile;
	const struct profile_line *line = &p->lines.items[location->first_line + i];
	bool inlined = i + 1 < location->nlines;

	text_put_escaped(script->out, profile_text(p, p->functions.items[line->function].name));
	fputs(" (", script->out);
	if (inlined)
		fputs("inlined", script->out);
	else
		text_put_escaped(script->out,
				 profile_text(p, profile_module(p, location->module)->path));
	fputc(')', script->out);
	if (*profile_text(p, line->file)) {
		fputc(' ', script->out);
		text_put_escaped(script->out, profile_text(p, line->file));
		if (line->line)
			fprintf(script->out, ":%" PRIu32, line->line);
	}
}

/* The location of the frame behind @stack, named. */
static const struct profile_location *named(const struct script *script, uint32_t stack)
{
	uint32_t location = script->s->profile->stacks.items[stack].location;

	loader_name(script->s->loader, location);
	return &script->s->profile->locations.items[location];
}

/*
 * The frame of @chain that @stack stands for: the next from *@at on of the same address, since frames of interpreters have
 * taken the place of some. NULL: it is one of those.
 */
static const struct unwind_frame *frame_of(const struct script *script, const struct unwind_chain *chain,
					   uint32_t stack, size_t *at)
{
	const struct profile *p = script->s->profile;
	const struct profile_location *location = &p->locations.items[p->stacks.items[stack].location];

	for (size_t i = *at; location->kind != PROFILE_FRAME_INTERPRETED && i < chain->nframes; i++) {
		if (chain->frames[i].vaddr != location->vaddr)
			continue;
		*at = i + 1;
		return &chain->frames[i];
	}
	return NULL;
}

static void put_frame_text(const struct script *script, const struct unwind_frame *frame,
			   uint32_t stack)
{
	const struct profile_location *location = named(script, stack);

	for (uint32_t i = 0; i < location->nlines; i++) {
		if (i + 1 == location->nlines && frame)
			fprintf(script->out, "\t%16" PRIx64 " ", frame->ip);
		else
			fprintf(script->out, "\t%16s ", "");
		put_line_text(script, location, i);
		if (frame && !frame->kernel &&
		    (frame->how == UNWIND_FP_UNCHECKED || frame->how == UNWIND_KERNEL_CHAIN))
			fprintf(script->out, " [%s]", unwind_how_name(frame->how));
		fputc('\n', script->out);
	}
}

/* The payload in the kernel's words or, where it has none for it, as of probes, field by field. */
static void put_payload_text(struct script *script, const struct event *ev)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_sample *sample = &ev->sample;
	const char *payload = payload_text(script->payload, ev);
	const struct tracepoint_format *format = NULL;

	text_put_escaped(script->out, payload);
	if (sample->event < script->s->recording->nevents && !*payload && sample->raw_len)
		format = &script->formats[sample->event];
	for (size_t i = 0; format && i < format->len; i++) {
		const struct tracepoint_field *field = &format->fields[i];
		struct tracepoint_value value;

		if (field->common || strncmp(field->name, "__probe_", 8) == 0 ||
		    !tracepoint_field_value(field, sample->raw, sample->raw_len, &arena, &value))
			continue;
		fputc(' ', script->out);
		text_put_escaped(script->out, field->name);
		fputc('=', script->out);
		text_put_escaped(script->out, tracepoint_value_text(&value, &arena));
	}
}

/* The stack of a wait has an argument of a system call where others have a data address. */
static bool is_wait(const struct script *script, const struct event_sample *sample)
{
	return derive_is_off_cpu(script->s->recording, sample->event);
}

static void put_sample_text(struct script *script, const struct walked_event *event)
{
	const struct event_sample *sample = &event->ev->sample;
	const struct unwind_chain *chain = event->chain;
	const struct profile_stack *stacks = script->s->profile->stacks.items;
	size_t shown = script->options->no_chain ? 1 : SIZE_MAX;
	uint32_t stack = event->stack;

	fprintf(script->out, "%" PRIu64 " ", sample->period);
	text_put_escaped(script->out, event_name(script, sample->event));
	fputs(": ", script->out);
	put_payload_text(script, event->ev);
	if (is_wait(script, sample) && sample->addr)
		fprintf(script->out, "argument 0x%" PRIx64, sample->addr - 1);
	else
		extras_put_data(script->out, sample);
	fputc('\n', script->out);
	for (size_t i = 0, at = 0; i < shown && stack; i++) {
		put_frame_text(script, frame_of(script, chain, stack, &at), stack);
		stack = stacks[stack].parent;
	}
	if (!stack_stop_is_complete(chain->stop) && !script->options->no_chain)
		fprintf(script->out, "\t[%s]\n", stack_stop_name(chain->stop));
	if (sample->nbranches) {
		fputs("\tbrstack", script->out);
		extras_put_branches(script->out, sample->branches, sample->nbranches);
		fputc('\n', script->out);
	}
	fputc('\n', script->out);
}

static void put_build_id(FILE *out, const struct event_mmap *map)
{
	char hex[2 * sizeof(map->build_id) + 1];

	image_build_id_hex(map->build_id, map->build_id_len, hex);
	fprintf(out, " %s", map->build_id_len ? hex : "-");
}

static const char *const managed_states[EVENT_MANAGED_STATES] = {
	[EVENT_MANAGED_WHOLE] = "whole", [EVENT_MANAGED_NO_FRAMES] = "no frames",
	[EVENT_MANAGED_CUT] = "cut",	 [EVENT_MANAGED_TORN] = "torn",
	[EVENT_MANAGED_LATE] = "late",	 [EVENT_MANAGED_FAILED] = "failed",
};

/* What an interpreter's stack held, a frame a line, as under samples. */
static void put_managed_text(struct script *script, const struct event *ev)
{
	const struct event_managed *managed = &ev->managed;
	FILE *out = script->out;

	fprintf(out, "%s, %zu frames", managed_states[managed->state], managed->nframes);
	for (size_t i = 0; i < managed->nframes; i++) {
		const struct event_managed_frame *frame = &managed->frames[i];

		fputs("\n\t", out);
		text_put_escaped(out, frame->name);
		fputs(" (", out);
		text_put_escaped(out, frame->file);
		fprintf(out, ":%" PRIu32 ")%s", frame->line, frame->entry ? " entry" : "");
		if (frame->locals && *frame->locals) {
			fputs(" {", out);
			text_put_escaped(out, frame->locals);
			fputc('}', out);
		}
	}
	for (size_t i = 0; i < managed->nlabels; i++) {
		const struct event_managed_label *label = &managed->labels[i];

		fputs(i ? " " : "\n\t", out);
		text_put_escaped(out, label->key);
		fputc('=', out);
		if (label->text)
			text_put_escaped(out, label->text);
		else
			fprintf(out, "%" PRIu64, label->number);
	}
}

static void put_mmap_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	fprintf(out, "%" PRIx64 "-%" PRIx64 " %s offset %" PRIx64, ev->mmap.start,
		ev->mmap.end, ev->mmap.flags & EVENT_MMAP_EXEC ? "x" : "-",
		ev->mmap.file_offset);
	put_build_id(out, &ev->mmap);
	fputc(' ', out);
	text_put_escaped(out, ev->mmap.path);
}

static void put_comm_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	text_put_escaped(out, ev->comm.comm);
	fputs(ev->comm.exec ? " (exec)" : "", out);
}

static void put_fork_text(struct script *script, const struct event *ev)
{
	fprintf(script->out, "by %" PRIu32 "/%" PRIu32, ev->fork.parent_pid, ev->fork.parent_tid);
}

static void put_switch_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	fputs(ev->cpu_switch.in          ? "in"
	      : ev->cpu_switch.preempted ? "out, preempted"
					 : "out",
	      out);
}

static void put_lost_text(struct script *script, const struct event *ev)
{
	fprintf(script->out, "%" PRIu64 " by the %s", ev->lost.count,
		ev->lost.by_recorder ? "recorder" : "kernel");
}

static void put_throttle_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	text_put_escaped(out, event_name(script, ev->throttle.event));
	fputs(ev->throttle.stopped ? " stopped" : " resumed", out);
	fputs(ev->throttle.by_recorder ? " with records of switches by the recorder" : "", out);
}

static void put_ksymbol_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	fprintf(out, "%" PRIx64 "+%" PRIx64 "%s ", ev->ksymbol.addr, ev->ksymbol.len,
		ev->ksymbol.removed ? " removed" : "");
	text_put_escaped(out, ev->ksymbol.name);
}

static void put_bpf_text(struct script *script, const struct event *ev)
{
	fprintf(script->out, "program %" PRIu32 " type %" PRIu32, ev->bpf.id, ev->bpf.type);
}

static void put_cgroup_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	fprintf(out, "%" PRIu64 " ", ev->cgroup.id);
	text_put_escaped(out, ev->cgroup.path);
}

static void put_text_poke_text(struct script *script, const struct event *ev)
{
	fprintf(script->out, "%" PRIx64 " %zu -> %zu bytes", ev->text_poke.addr,
		ev->text_poke.old_len, ev->text_poke.new_len);
}

static void put_process_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	text_put_escaped(out, ev->process.cmdline);
	fputs(" cgroup=", out);
	text_put_escaped(out, ev->process.cgroup);
	if (ev->process.uid != UINT32_MAX)
		fprintf(out, " uid=%" PRIu32, ev->process.uid);
}

static void put_task_times_text(struct script *script, const struct event *ev)
{
	fprintf(script->out, "run=%" PRIu64 " wait=%" PRIu64 " turns=%" PRIu64, ev->task_times.run_ns,
		ev->task_times.wait_ns, ev->task_times.turns);
}

static void put_descriptor_text(struct script *script, const struct event *ev)
{
	FILE *out = script->out;

	fprintf(out, "%" PRIu32 " ", ev->descriptor.number);
	text_put_escaped(out, ev->descriptor.name);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

/* Addresses are strings: JSON's numbers lose bits beyond 2^53. */
static void put_address(struct json *json, const char *key, uint64_t address)
{
	char hex[19];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, address);
	json_string(json, key, hex);
}

static void put_frame_json(struct script *script, const struct unwind_frame *frame, uint32_t stack)
{
	const struct profile *p = script->s->profile;
	const struct profile_location *location = named(script, stack);
	struct json *json = &script->json;

	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		json_open(json, NULL, '{');
		if (frame) {
			put_address(json, "ip", frame->ip);
			put_address(json, "vaddr", code_place_address(frame->vaddr));
		}
		json_string(json, "function",
			    profile_text(p, p->functions.items[line->function].name));
		json_string(json, "module",
			    profile_text(p, profile_module(p, location->module)->path));
		if (*profile_text(p, line->file))
			json_string(json, "file", profile_text(p, line->file));
		if (line->line)
			json_uint(json, "line", line->line);
		json_bool(json, "inlined", i + 1 < location->nlines);
		json_bool(json, "kernel", frame && frame->kernel);
		json_string(json, "how", frame ? unwind_how_name(frame->how) : "interpreter");
		json_close(json, '}');
	}
}

/* As it was recorded, and in words as far as these tell anything. */
static void put_source(struct json *json, uint64_t source)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	put_address(json, "data_src", source);
	if (!memory_source_known(source))
		return;
	json_string(json, "data_source", memory_source_level(&arena, source));
	json_string(json, "tlb", memory_source_tlb(&arena, source));
	json_string(json, "snoop", memory_source_rest(&arena, source));
}

/* The branches before the sample, newest first; flags as in struct perf_branch_entry. */
static void put_branches_json(struct json *json, const struct event_sample *sample)
{
	if (!sample->nbranches)
		return;
	json_open(json, "branches", '[');
	for (size_t i = 0; i < sample->nbranches; i++) {
		const struct event_branch *branch = &sample->branches[i];
		struct event_branch_facts facts = event_branch_facts(branch);

		json_open(json, NULL, '{');
		put_address(json, "from", branch->from);
		put_address(json, "to", branch->to);
		json_bool(json, "mispredicted", facts.mispredicted);
		json_uint(json, "cycles", facts.cycles);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* What the counters of the group said, as in struct event_count. */
static void put_counts_json(struct script *script, const struct event_sample *sample)
{
	struct json *json = &script->json;

	if (!sample->ncounts)
		return;
	json_open(json, "counts", '[');
	for (size_t i = 0; i < sample->ncounts; i++) {
		const struct event_count *count = &sample->counts[i];

		json_open(json, NULL, '{');
		json_string(json, "event", event_name(script, count->event));
		json_uint(json, "value", count->value);
		json_uint(json, "enabled_ns", count->enabled_ns);
		json_uint(json, "running_ns", count->running_ns);
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* The fields of a tracepoint, as numbers and texts; addresses as elsewhere. What every tracepoint has stands outside. */
static void put_fields_json(struct script *script, const struct event_sample *sample)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct tracepoint_format *format;
	struct json *json = &script->json;

	if (sample->event >= script->s->recording->nevents || !sample->raw_len ||
	    !script->formats[sample->event].len)
		return;
	format = &script->formats[sample->event];
	json_open(json, "fields", '{');
	for (size_t i = 0; i < format->len; i++) {
		const struct tracepoint_field *field = &format->fields[i];
		struct tracepoint_value value;

		if (field->common ||
		    !tracepoint_field_value(field, sample->raw, sample->raw_len, &arena, &value))
			continue;
		if (value.kind == TRACEPOINT_NUMBER || value.kind == TRACEPOINT_SIGNED)
			json_number(json, field->name, tracepoint_value_text(&value, &arena));
		else
			json_string(json, field->name, tracepoint_value_text(&value, &arena));
	}
	json_close(json, '}');
}

static void put_sample_json(struct script *script, const struct walked_event *event)
{
	const struct event_sample *sample = &event->ev->sample;
	const struct unwind_chain *chain = event->chain;
	const char *payload = payload_text(script->payload, event->ev);
	size_t shown = script->options->no_chain ? 1 : SIZE_MAX;
	uint32_t stack = event->stack;

	json_string(&script->json, "event", event_name(script, sample->event));
	json_uint(&script->json, "period", sample->period);
	if (sample->addr && is_wait(script, sample))
		put_address(&script->json, "argument", sample->addr - 1);
	else if (sample->addr)
		put_address(&script->json, "addr", sample->addr);
	if (sample->weight)
		json_uint(&script->json, "weight", sample->weight);
	if (sample->data_src)
		put_source(&script->json, sample->data_src);
	put_branches_json(&script->json, sample);
	put_counts_json(script, sample);
	if (*payload)
		json_string(&script->json, "payload", payload);
	put_fields_json(script, sample);
	json_string(&script->json, "stop", stack_stop_name(chain->stop));
	json_open(&script->json, "frames", '[');
	for (size_t i = 0, at = 0; i < shown && stack; i++) {
		put_frame_json(script, frame_of(script, chain, stack, &at), stack);
		stack = script->s->profile->stacks.items[stack].parent;
	}
	json_close(&script->json, ']');
}

static void put_mmap_json(struct script *script, const struct event *ev)
{
	const struct event_mmap *map = &ev->mmap;
	struct json *json = &script->json;
	char hex[2 * sizeof(map->build_id) + 1];

	put_address(json, "start", map->start);
	put_address(json, "end", map->end);
	put_address(json, "file_offset", map->file_offset);
	json_bool(json, "exec", map->flags & EVENT_MMAP_EXEC);
	image_build_id_hex(map->build_id, map->build_id_len, hex);
	json_string(json, "build_id", hex);
	json_string(json, "path", map->path);
}

static void put_labels_json(struct json *json, const struct event_managed *managed)
{
	if (!managed->nlabels)
		return;
	json_open(json, "labels", '{');
	for (size_t i = 0; i < managed->nlabels; i++) {
		if (managed->labels[i].text)
			json_string(json, managed->labels[i].key, managed->labels[i].text);
		else
			json_uint(json, managed->labels[i].key, managed->labels[i].number);
	}
	json_close(json, '}');
}

static void put_managed_json(struct script *script, const struct event *ev)
{
	const struct event_managed *managed = &ev->managed;
	struct json *json = &script->json;

	json_string(json, "state", managed_states[managed->state]);
	put_labels_json(json, managed);
	json_open(json, "frames", '[');
	for (size_t i = 0; i < managed->nframes; i++) {
		const struct event_managed_frame *frame = &managed->frames[i];

		json_open(json, NULL, '{');
		json_string(json, "function", frame->name);
		json_string(json, "file", frame->file);
		json_uint(json, "line", frame->line);
		json_bool(json, "entry", frame->entry);
		if (frame->locals && *frame->locals)
			json_string(json, "locals", frame->locals);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_comm_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_string(json, "comm", ev->comm.comm);
	json_bool(json, "exec", ev->comm.exec);
}

static void put_fork_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "parent_pid", ev->fork.parent_pid);
	json_uint(json, "parent_tid", ev->fork.parent_tid);
}

static void put_switch_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_bool(json, "in", ev->cpu_switch.in);
	json_bool(json, "preempted", ev->cpu_switch.preempted);
}

static void put_lost_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "count", ev->lost.count);
	json_bool(json, "by_recorder", ev->lost.by_recorder);
}

static void put_throttle_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_string(json, "event", event_name(script, ev->throttle.event));
	json_bool(json, "stopped", ev->throttle.stopped);
	if (ev->throttle.by_recorder)
		json_bool(json, "by_recorder", true);
}

static void put_ksymbol_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	put_address(json, "addr", ev->ksymbol.addr);
	json_uint(json, "len", ev->ksymbol.len);
	json_bool(json, "removed", ev->ksymbol.removed);
	json_string(json, "name", ev->ksymbol.name);
}

static void put_bpf_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "id", ev->bpf.id);
	json_uint(json, "type", ev->bpf.type);
}

static void put_cgroup_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "id", ev->cgroup.id);
	json_string(json, "path", ev->cgroup.path);
}

static void put_text_poke_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	put_address(json, "addr", ev->text_poke.addr);
	json_uint(json, "old_len", ev->text_poke.old_len);
	json_uint(json, "new_len", ev->text_poke.new_len);
}

static void put_process_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_string(json, "cmdline", ev->process.cmdline);
	json_string(json, "cgroup", ev->process.cgroup);
	if (ev->process.uid != UINT32_MAX)
		json_uint(json, "uid", ev->process.uid);
}

static void put_task_times_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "run_ns", ev->task_times.run_ns);
	json_uint(json, "wait_ns", ev->task_times.wait_ns);
	json_uint(json, "turns", ev->task_times.turns);
}

static void put_descriptor_json(struct script *script, const struct event *ev)
{
	struct json *json = &script->json;

	json_uint(json, "number", ev->descriptor.number);
	json_string(json, "name", ev->descriptor.name);
}

/* ---- kinds ------------------------------------------------------------------------------------------ */

/* How the facts of each kind are printed; NULL: the head says it all. Samples are printed apart: they have a stack. */
static const struct {
	const char *name;
	void (*put_text)(struct script *script, const struct event *ev);
	void (*put_json)(struct script *script, const struct event *ev);
} kinds[EVENT_KINDS] = {
	[EVENT_SAMPLE] = { "sample", NULL, NULL },
	[EVENT_MMAP] = { "mmap", put_mmap_text, put_mmap_json },
	[EVENT_COMM] = { "comm", put_comm_text, put_comm_json },
	[EVENT_FORK] = { "fork", put_fork_text, put_fork_json },
	[EVENT_EXIT] = { "exit", NULL, NULL },
	[EVENT_SWITCH] = { "switch", put_switch_text, put_switch_json },
	[EVENT_LOST] = { "lost", put_lost_text, put_lost_json },
	[EVENT_LOST_SAMPLES] = { "lost-samples", put_lost_text, put_lost_json },
	[EVENT_THROTTLE] = { "throttle", put_throttle_text, put_throttle_json },
	[EVENT_KSYMBOL] = { "ksymbol", put_ksymbol_text, put_ksymbol_json },
	[EVENT_BPF] = { "bpf", put_bpf_text, put_bpf_json },
	[EVENT_CGROUP] = { "cgroup", put_cgroup_text, put_cgroup_json },
	[EVENT_TEXT_POKE] = { "text-poke", put_text_poke_text, put_text_poke_json },
	[EVENT_MANAGED] = { "managed", put_managed_text, put_managed_json },
	[EVENT_PROCESS] = { "process", put_process_text, put_process_json },
	[EVENT_TASK_TIMES] = { "task-times", put_task_times_text, put_task_times_json },
	[EVENT_DESCRIPTOR] = { "descriptor", put_descriptor_text, put_descriptor_json },
};

static void put_text(struct script *script, const struct walked_event *event)
{
	put_head(script, event);
	if (event->ev->kind == EVENT_SAMPLE) {
		put_sample_text(script, event);
		return;
	}
	fprintf(script->out, "%s: ", kinds[event->ev->kind].name);
	if (kinds[event->ev->kind].put_text)
		kinds[event->ev->kind].put_text(script, event->ev);
	fputc('\n', script->out);
}

static void put_json(struct script *script, const struct walked_event *event)
{
	const struct event *ev = event->ev;
	struct json *json = &script->json;
	char number[24];

	json_init(json, script->out);
	json_open(json, NULL, '{');
	json_string(json, "kind", kinds[ev->kind].name);
	snprintf(number, sizeof(number), "%" PRId64, shown_time(script, ev));
	json_number(json, "time_ns", number);
	if (ev->cpu != EVENT_NO_CPU)
		json_uint(json, "cpu", ev->cpu);
	json_uint(json, "pid", ev->pid);
	json_uint(json, "tid", ev->tid);
	json_string(json, "thread", event->thread->comm);
	json_string(json, "process", event->thread->process);
	if (ev->kind == EVENT_SAMPLE)
		put_sample_json(script, event);
	else if (kinds[ev->kind].put_json)
		kinds[ev->kind].put_json(script, ev);
	json_close(json, '}');
}

static void script_print(struct script *script, const struct walked_event *event)
{
	if (script->options->json)
		put_json(script, event);
	else
		put_text(script, event);
}

/* ---- the command ---- */

struct script_args {
	struct session_args session;
	struct filter filter;
	struct terminal_args terminal;
	struct script_options print;
	const char *format;
	bool all;
};

static const char *const formats[] = { "text", "json", NULL };

static const struct opt script_opts[] = {
	OPT_FLAG(struct script_args, all, "all", 'a',
		 "show all records: mappings, forks, losses, ..., not only samples"),
	OPT_FLAG(struct script_args, print.relative, "relative", 0,
		 "count time from the start of the recording"),
	OPT_FLAG(struct script_args, print.no_chain, "no-chain", 0,
		 "show the leaf of each stack only"),
	OPT_CHOICE(struct script_args, format, "format", 0, "FORMAT",
		   "text, or json: one object a line", formats),
	OPT_GROUP(struct script_args, terminal, terminal_opts),
	OPT_GROUP(struct script_args, filter, filter_opts),
	OPT_GROUP(struct script_args, session, session_opts),
	OPT_FOREIGN(perf_script_options),
	OPT_END,
};

struct walk {
	const struct script_args *args;
	struct script *script;
};

static struct err *visit(void *context, const struct walked_event *event)
{
	const struct walk *walk = context;

	if (event->ev->kind == EVENT_SAMPLE || walk->args->all)
		script_print(walk->script, event);
	return NULL;
}

static struct err *print(struct session *s, void *args_)
{
	struct script_args *args = args_;
	struct terminal term = terminal_open(&args->terminal);
	struct walk walk = { args, script_new(s, &args->print, stdout) };
	struct loader_listener listener = { .event = visit, .context = &walk, .prints = true };
	struct err *err = session_each(s, &args->filter, &listener);

	script_free(walk.script);
	return terminal_close(&term, err);
}

static struct err *script_run(void *args, char **operands, int noperands, int *ret_status)
{
	struct script_args *script = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	script->print.json = script->format && strcmp(script->format, "json") == 0;
	return session_run(&cmd_script, &script->session, print, script);
}

const struct command cmd_script = {
	.name = "script",
	.summary = "print every event, as text or JSON lines",
	.operands = "",
	.needs = "events",
	.examples = "  preport script --comm nginx                what nginx did, in order\n"
		    "  preport script --format json >events.json  an object for each event\n",
	.manual = "preport(1)",
	.opts = script_opts,
	.args_size = sizeof(struct script_args),
	.run = script_run,
};
