/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_trace.c - a trace file from a few lines of text, for tests of what preport prints.
 *
 * Usage: write_trace FILE <<'EOF', with lines of
 *
 *	event NAME UNIT RATE		the next event of the recording; all before the first process
 *	tasks				not the whole system was recorded; before the first process, too
 *	process PID NAME		a process and its main thread
 *	thread PID TID NAME		another thread
 *	at SECONDS			when the next samples begin
 *	sample EVENT PID TID CPU PERIOD COUNT ROOT;...;LEAF
 *	lost CPU COUNT			samples that the kernel had no room for
 *	throttle CPU			the kernel stopped event 0
 *	counted ENABLED RUNNING		event 0 had a counter for so many of so many nanoseconds
 *	cpu NUMBER			event 0 was sampled on this CPU, and no other
 *	missed COUNT			event 0 counted enough for so many samples more
 *	module NAME BUILD-ID START LEN	a kernel module; addresses and lengths of these three are hexadecimal
 *	ksym MODULE ADDRESS LEN NAME	a function of it, by ascending address
 *	ksample EVENT PID TID CPU PERIOD COUNT ADDRESS	in the kernel, without a stack
 *	round				what follows goes into another block and may be older
 *	unfinished			leave the end of the file out
 *
 * Functions are code of a JIT, named by a perf map, so that no binary is needed. In names \xNN is a byte.
 */
#include "formats/base/map.h"
#include "formats/base/strtab.h"
#include "formats/base/text.h"
#include "formats/trace/trace_writer.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE_START   0x100000u
#define CODE_LEN     0x1000000u
#define FUNCTION_LEN 0x100u
#define START_NS     1000000000u
#define DEPTH_MAX    256
#define EVENTS_MAX   8
#define PIDS_MAX     64
#define KSYMS_MAX    16

struct maker {
	struct trace_writer *writer;
	struct recording rec;
	struct recording_event events[EVENTS_MAX];
	struct recording_count counts[EVENTS_MAX];
	struct strtab words;
	struct strtab functions; /* number * FUNCTION_LEN is where it lies */
	struct recording_ksym ksyms[KSYMS_MAX];
	uint32_t pids[PIDS_MAX];
	unsigned npids;
	uint64_t time_ns;
	bool begun, unfinished;
};

static void must(struct err *error)
{
	if (error)
		errx(1, "%s", err_message(error));
}

static uint64_t number(char **rest)
{
	const char *word = strsep(rest, " ");
	uint64_t value = 0;

	if (!word || !text_parse_u64(word, &value))
		errx(1, "'%s' is not a number", word ? word : "");
	return value;
}

static uint64_t hex_number(char **rest)
{
	const char *word = strsep(rest, " ");

	return word ? strtoull(word, NULL, 16) : 0;
}

/* "\x1b" to the byte, in place. */
static char *unescape(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		if (from[0] == '\\' && from[1] == 'x' && from[2] && from[3]) {
			char digits[] = { from[2], from[3], 0 };

			*to++ = (char)strtoul(digits, NULL, 16);
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
	return text;
}

static void put(struct maker *m, const struct event *ev)
{
	if (!m->begun)
		must(trace_writer_begin(m->writer, &m->rec));
	m->begun = true;
	must(trace_writer_event(m->writer, ev));
}

static void put_comm(struct maker *m, uint32_t pid, uint32_t tid, char *name)
{
	struct event ev = { .kind = EVENT_COMM, .cpu = EVENT_NO_CPU, .pid = pid, .tid = tid };

	ev.comm.comm = unescape(name);
	put(m, &ev);
}

static const char *keep(struct maker *m, const char *word)
{
	return strtab_get(&m->words, strtab_add(&m->words, word ? word : ""));
}

static void add_event(struct maker *m, char *rest)
{
	struct recording_event *event = &m->events[m->rec.nevents];

	if (m->rec.nevents == EVENTS_MAX)
		errx(1, "too many events");
	m->counts[m->rec.nevents] =
		(struct recording_count){ .event = (uint32_t)m->rec.nevents, .cpu = EVENT_NO_CPU };
	event->leader = (uint32_t)m->rec.nevents++;
	event->name = keep(m, strsep(&rest, " "));
	event->unit = keep(m, strsep(&rest, " "));
	event->rate = number(&rest);
	event->is_freq = true;
	event->samples = true;
	event->format = "";
}

static void add_process(struct maker *m, char *rest)
{
	uint32_t pid = (uint32_t)number(&rest);
	struct event ev = { .kind = EVENT_MMAP, .cpu = EVENT_NO_CPU, .pid = pid, .tid = pid };

	if (m->npids == PIDS_MAX)
		errx(1, "too many processes");
	m->pids[m->npids++] = pid;
	put_comm(m, pid, pid, rest);
	ev.mmap = (struct event_mmap){ .start = CODE_START,
				       .end = CODE_START + CODE_LEN,
				       .flags = EVENT_MMAP_EXEC,
				       .path = "//anon" };
	put(m, &ev);
}

static void add_thread(struct maker *m, char *rest)
{
	uint32_t pid = (uint32_t)number(&rest), tid = (uint32_t)number(&rest);
	struct event ev = { .kind = EVENT_FORK, .cpu = EVENT_NO_CPU, .pid = pid, .tid = tid };

	ev.fork.parent_pid = pid;
	ev.fork.parent_tid = pid;
	put(m, &ev);
	put_comm(m, pid, tid, rest);
}

/* Leaf first; behind the root the 0 of a frame pointer that ends the chain. */
static size_t read_stack(struct maker *m, char *rest, uint64_t ips[DEPTH_MAX + 1])
{
	size_t count = 0;

	while (rest) {
		uint64_t number = strtab_add(&m->functions, unescape(strsep(&rest, ";")));

		if (count == DEPTH_MAX)
			errx(1, "too deep");
		ips[count++] = CODE_START + number * FUNCTION_LEN + 16;
	}
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t ip = ips[i];

		ips[i] = ips[count - 1 - i];
		ips[count - 1 - i] = ip;
	}
	if (count > 1)
		ips[count++] = 0;
	return count;
}

static void add_samples(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_SAMPLE };
	uint64_t ips[DEPTH_MAX + 1], count;

	ev.sample.event = (uint32_t)number(&rest);
	ev.sample.mode = EVENT_MODE_USER;
	ev.pid = (uint32_t)number(&rest);
	ev.tid = (uint32_t)number(&rest);
	ev.cpu = (uint32_t)number(&rest);
	ev.sample.period = number(&rest);
	count = number(&rest);
	ev.sample.nuser_ips = read_stack(m, rest, ips);
	ev.sample.user_ips = ips;
	ev.sample.ip = ips[0];
	m->counts[ev.sample.event].samples += count;
	for (; count; count--) {
		ev.time_ns = m->time_ns;
		m->time_ns += 1000000;
		put(m, &ev);
	}
}

static void add_module(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_MMAP, .cpu = EVENT_NO_CPU, .pid = UINT32_MAX };

	ev.mmap.flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL;
	ev.mmap.path = keep(m, strsep(&rest, " "));
	for (const char *id = strsep(&rest, " "); id && id[0] && id[1] && ev.mmap.build_id_len < 20; id += 2) {
		char digits[] = { id[0], id[1], 0 };

		ev.mmap.build_id[ev.mmap.build_id_len++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	ev.mmap.start = hex_number(&rest);
	ev.mmap.end = ev.mmap.start + hex_number(&rest);
	put(m, &ev);
}

static void add_ksym(struct maker *m, char *rest)
{
	struct recording_ksym *sym = &m->ksyms[m->rec.nksyms];

	if (m->rec.nksyms++ == KSYMS_MAX)
		errx(1, "too many kernel symbols");
	sym->module = keep(m, strsep(&rest, " "));
	sym->addr = hex_number(&rest);
	sym->len = hex_number(&rest);
	sym->name = keep(m, rest);
}

static void add_kernel_samples(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_SAMPLE, .sample.mode = EVENT_MODE_KERNEL };
	uint64_t count;

	ev.sample.event = (uint32_t)number(&rest);
	ev.pid = (uint32_t)number(&rest);
	ev.tid = (uint32_t)number(&rest);
	ev.cpu = (uint32_t)number(&rest);
	ev.sample.period = number(&rest);
	count = number(&rest);
	ev.sample.ip = hex_number(&rest);
	ev.sample.kernel_ips = &ev.sample.ip;
	ev.sample.nkernel_ips = 1;
	m->counts[ev.sample.event].samples += count;
	for (; count; count--) {
		ev.time_ns = m->time_ns;
		m->time_ns += 1000000;
		put(m, &ev);
	}
}

static void add_loss(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_LOST_SAMPLES, .time_ns = m->time_ns };

	ev.cpu = (uint32_t)number(&rest);
	ev.lost.count = number(&rest);
	m->counts[0].lost_kernel += ev.lost.count;
	put(m, &ev);
}

static void add_throttle(struct maker *m, char *rest)
{
	struct event ev = { .kind = EVENT_THROTTLE, .time_ns = m->time_ns };

	ev.cpu = (uint32_t)number(&rest);
	ev.throttle.stopped = true;
	m->counts[0].throttled++;
	put(m, &ev);
}

static void set_counted(struct maker *m, char *rest)
{
	m->counts[0].enabled_ns = number(&rest);
	m->counts[0].running_ns = number(&rest);
}

static void set_cpu(struct maker *m, char *rest)
{
	m->counts[0].cpu = (uint32_t)number(&rest);
}

static void set_missed(struct maker *m, char *rest)
{
	m->counts[0].missed = number(&rest);
}

static void set_time(struct maker *m, char *rest)
{
	m->time_ns = START_NS + (uint64_t)(strtod(rest, NULL) * 1e9);
}

static void end_round(struct maker *m, char *rest)
{
	(void)rest;
	must(trace_writer_round(m->writer, 0, 0));
}

static void leave_unfinished(struct maker *m, char *rest)
{
	(void)rest;
	m->unfinished = true;
}

static void record_tasks(struct maker *m, char *rest)
{
	(void)rest;
	m->rec.system_wide = false;
}

static void read_line(struct maker *m, char *line)
{
	static const struct {
		const char *word;
		void (*read)(struct maker *m, char *rest);
	} kinds[] = {
		{ "event", add_event },       { "process", add_process },
		{ "thread", add_thread },     { "at", set_time },
		{ "sample", add_samples },    { "lost", add_loss },
		{ "throttle", add_throttle }, { "unfinished", leave_unfinished },
		{ "counted", set_counted },   { "module", add_module },
		{ "missed", set_missed },     { "cpu", set_cpu },
		{ "ksym", add_ksym },	      { "ksample", add_kernel_samples },
		{ "round", end_round },	      { "tasks", record_tasks },
	};
	const char *word = strsep(&line, " ");

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			kinds[i].read(m, line);
			return;
		}
	}
	if (*word && *word != '#')
		errx(1, "unknown word '%s'", word);
}

static void put_names(struct maker *m)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 1; i < m->functions.len; i++)
		fprintf(out, "%x %x %s\n", CODE_START + i * FUNCTION_LEN, FUNCTION_LEN,
			strtab_get(&m->functions, i));
	fclose(out);
	for (unsigned i = 0; i < m->npids; i++) {
		struct recording_jit_map map = { .pid = m->pids[i], .text = text, .len = len };

		must(trace_writer_jit_map(m->writer, &map));
	}
	free(text);
}

static void end(struct maker *m)
{
	if (m->unfinished) {
		must(trace_writer_round(m->writer, m->time_ns, 0));
		return;
	}
	m->rec.end_ns = MAX(m->time_ns, START_NS + 1);
	m->rec.counts = m->counts;
	m->rec.ncounts = m->rec.nevents;
	put_names(m);
	if (m->rec.nksyms)
		must(trace_writer_ksyms(m->writer, m->ksyms, m->rec.nksyms));
	must(trace_writer_end(m->writer, &m->rec));
}

int main(int argc, char **argv)
{
	struct maker m = { .time_ns = START_NS };
	char *line = NULL;
	size_t cap = 0;
	int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0)
		err(2, "usage: write_trace FILE");
	m.rec = (struct recording){ .tool = "write_trace",
				    .cmdline = "write_trace",
				    .hostname = "host",
				    .os_release = "6.1.0",
				    .cpu_model = "",
				    .container = "",
				    .arch = &arch_x86_64,
				    .ncpus_online = 4,
				    .page_size = 4096,
				    .clock = 1,
				    .clock_ns = START_NS,
				    .wall_ns = 1700000000000000000u,
				    .start_ns = START_NS,
				    .chain = RECORDING_CHAIN_FP,
				    .system_wide = true,
				    .exit_status = -1,
				    .events = m.events };
	strtab_add(&m.functions, "");
	m.writer = trace_writer_new(fd);
	while (getline(&line, &cap, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		read_line(&m, line);
	}
	if (!m.begun)
		must(trace_writer_begin(m.writer, &m.rec));
	end(&m);
	trace_writer_free(m.writer);
	strtab_deinit(&m.words);
	strtab_deinit(&m.functions);
	free(line);
	return close(fd) ? 1 : 0;
}
