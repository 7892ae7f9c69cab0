/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_trace.c - everything that a trace holds, decoded, as raw bytes: tests look for what must not be in there.
 *
 * Usage: dump_trace FILE >BYTES. Numbers are 8 bytes, little endian; strings and contents are as they are.
 */
#include "formats/trace/trace_reader.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

static void put_word(uint64_t word)
{
	for (unsigned i = 0; i < 8; i++)
		putchar((int)(word >> (8 * i) & 0xff));
}

static void put_words(const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_word(words[i]);
}

static void put_bytes(const void *bytes, size_t len)
{
	if (len)
		fwrite(bytes, 1, len, stdout);
}

static void put_text(const char *text)
{
	if (text)
		puts(text);
}

static void put_sample(const struct event_sample *s)
{
	const uint64_t numbers[] = { s->ip, s->period, s->addr, s->weight, s->data_src, s->cgroup };

	put_words(numbers, sizeof(numbers) / sizeof(numbers[0]));
	put_words(s->kernel_ips, s->nkernel_ips);
	put_words(s->user_ips, s->nuser_ips);
	for (uint64_t left = s->regs ? s->regs->mask : 0; left; left &= left - 1)
		put_word(s->regs->values[__builtin_ctzll(left)]);
	put_words(s->stack.words, s->stack.nwords);
	put_bytes(s->raw, s->raw_len);
	for (size_t i = 0; i < s->nbranches; i++) {
		put_word(s->branches[i].from);
		put_word(s->branches[i].to);
		put_word(s->branches[i].flags);
	}
	for (size_t i = 0; i < s->ncounts; i++)
		put_word(s->counts[i].value);
}

static void put_event(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SAMPLE:
		put_sample(&ev->sample);
		break;
	case EVENT_MMAP:
		put_word(ev->mmap.start);
		put_word(ev->mmap.end);
		put_text(ev->mmap.path);
		break;
	case EVENT_COMM:
		put_text(ev->comm.comm);
		break;
	case EVENT_KSYMBOL:
		put_text(ev->ksymbol.name);
		break;
	case EVENT_CGROUP:
		put_text(ev->cgroup.path);
		break;
	case EVENT_PROCESS:
		put_text(ev->process.cmdline);
		put_text(ev->process.cgroup);
		break;
	case EVENT_TASK_TIMES:
		put_word(ev->task_times.run_ns);
		put_word(ev->task_times.wait_ns);
		put_word(ev->task_times.turns);
		break;
	case EVENT_DESCRIPTOR:
		put_word(ev->descriptor.number);
		put_text(ev->descriptor.name);
		break;
	case EVENT_TEXT_POKE:
		put_bytes(ev->text_poke.old_code, ev->text_poke.old_len);
		put_bytes(ev->text_poke.new_code, ev->text_poke.new_len);
		break;
	default:
		break;
	}
}

static void put_recording(const struct recording *rec)
{
	const char *const texts[] = { rec->tool,       rec->cmdline,   rec->hostname,
				      rec->os_release, rec->cpu_model, rec->container };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_text(texts[i]);
	for (size_t i = 0; i < rec->nnotes; i++) {
		put_text(rec->notes[i].subject);
		put_text(rec->notes[i].text);
	}
	for (size_t i = 0; i < rec->nimages; i++) {
		put_text(rec->images[i].path);
		put_bytes(rec->images[i].elf, rec->images[i].elf_len);
	}
	for (size_t i = 0; i < rec->nksyms; i++)
		put_text(rec->ksyms[i].name);
	for (size_t i = 0; i < rec->njit_maps; i++)
		put_bytes(rec->jit_maps[i].text, rec->jit_maps[i].len);
}

int main(int argc, char **argv)
{
	struct event_source *source;
	struct event ev;

	if (argc != 2)
		errx(2, "usage: dump_trace FILE");
	struct err *error = trace_reader_open(argv[1], &source);

	if (error)
		errx(1, "%s", err_message(error));
	put_recording(event_source_recording(source));
	while (event_source_next(source, &ev))
		put_event(&ev);
	error = event_source_finish(source);
	if (error)
		errx(1, "%s", err_message(error));
	event_source_close(source);
	return fflush(stdout) ? 1 : 0;
}
