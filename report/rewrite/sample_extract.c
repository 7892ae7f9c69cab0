/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_extract.c - every address of the sample leads to a mapping, mappings to files, files to bundles (bundle.h).
 *
 * Files are named "/N/NAME", N by first mention, so that two of one name stay two.
 */
#include "report/rewrite/sample_extract.h"

#include "formats/trace/trace_writer.h"
#include "report/print/output.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/module/module.h"
#include "symbolize/module/space.h"

#include <stdlib.h>
#include <string.h>

#define CUT_PID 1

/* What counts as the own stack beyond the end of a snapshot, as in the recorder (record/sample/prune.c). */
#define STACK_BEYOND_CUT (8ULL << 20)

struct cut_file {
	struct module *module;
	const char *path; /* the new one */
	VEC(struct bundle_address) addresses;
};

struct cut {
	struct session *s;
	struct arena arena;
	struct space *space;
	const struct arch *arch;
	uint64_t own_start, own_len; /* the thread's stack */
	struct event_stack other;    /* the one it had before, as it is written */
	VEC(uint32_t) other_slots;
	VEC(uint64_t) other_words;
	struct event ev;             /* the sample as it is written */
	struct event_regs regs;
	VEC(uint32_t) slots;
	VEC(uint64_t) words;
	VEC(uint64_t) ips;
	VEC(struct space_map) maps;
	VEC(struct cut_file) files;
};

static struct cut_file *file_of(struct cut *c, struct module *mod)
{
	struct cut_file fresh = { .module = mod };

	for (size_t i = 0; i < c->files.len; i++)
		if (c->files.items[i].module == mod)
			return &c->files.items[i];
	if (mod->kind == MODULE_FILE)
		fresh.path = arena_printf(&c->arena, "/%zu/%s", c->files.len, mod->name);
	else
		fresh.path = mod->kind == MODULE_VDSO ? "[vdso]" : "//anon";
	vec_push(&c->files, fresh);
	return &c->files.items[c->files.len - 1];
}

static void add_map(struct cut *c, const struct space_map *map)
{
	for (size_t i = 0; i < c->maps.len; i++)
		if (c->maps.items[i].start == map->start)
			return;
	vec_push(&c->maps, *map);
}

/* Take in what lies at @ip, if that is code. */
static bool add_code(struct cut *c, uint64_t ip, uint64_t leaves)
{
	const struct space_map *map = space_find(c->space, ip);
	struct cut_file *file;

	if (!map || !map->exec)
		return false;
	add_map(c, map);
	file = file_of(c, map->module);
	if (map->mapped) {
		struct bundle_address address = { ip - map->bias, leaves };

		vec_push(&file->addresses, address);
	}
	return true;
}

/* May the word stay? What it points to comes along. */
static bool keep(struct cut *c, uint64_t word)
{
	uint64_t mask = arch_code_mask(c->arch, c->s->recording->code_mask, space_end(c->space));

	return word - c->own_start < c->own_len || word - c->other.base < c->other.end - c->other.base ||
	       add_code(c, word & mask, /* leaves= */ 0);
}

static void cut_other_stack(struct cut *c, const struct event_stack *from)
{
	for (size_t i = 0; i < from->nwords; i++) {
		if (!keep(c, from->words[i]))
			continue;
		vec_push(&c->other_slots, from->slots[i]);
		vec_push(&c->other_words, from->words[i]);
	}
	c->other.slots = c->other_slots.items;
	c->other.words = c->other_words.items;
	c->other.nwords = c->other_words.len;
	c->ev.sample.other = &c->other;
}

static void cut_stack(struct cut *c, const struct event_stack *from)
{
	struct event_stack *to = &c->ev.sample.stack;

	for (size_t i = 0; i < from->nwords; i++) {
		if (!keep(c, from->words[i]))
			continue;
		vec_push(&c->slots, from->slots[i]);
		vec_push(&c->words, from->words[i]);
	}
	*to = *from;
	to->slots = c->slots.items;
	to->words = c->words.items;
	to->nwords = c->words.len;
	to->previous = NULL; /* that one has words that this lost */
	to->same_from = to->number = 0;
}

static void cut_regs(struct cut *c, const struct event_regs *from)
{
	c->regs.mask = from->mask;
	for (unsigned reg = 0; reg < c->arch->nregs; reg++)
		if (from->mask >> reg & 1 && (reg == c->arch->sp || reg == c->arch->ip || keep(c, from->values[reg])))
			c->regs.values[reg] = from->values[reg];
	c->ev.sample.regs = &c->regs;
}

static void cut_chain(struct cut *c, const struct event_sample *from)
{
	for (size_t i = 0; i < from->nuser_ips; i++) {
		uint64_t ip = from->user_ips[i];

		if (ip && !add_code(c, ip, /* leaves= */ 0))
			ip = EVENT_IP_ASTRAY;
		vec_push(&c->ips, ip);
		if (ip == EVENT_IP_ASTRAY)
			break;
	}
	c->ev.sample.user_ips = c->ips.items;
	c->ev.sample.nuser_ips = c->ips.len;
}

static void cut_sample(struct cut *c, const struct event *ev)
{
	const struct event_sample *from = &ev->sample;
	struct event_sample *to = &c->ev.sample;

	c->ev = (struct event){ .kind = EVENT_SAMPLE, .time_ns = 2, .pid = CUT_PID, .tid = CUT_PID };
	c->own_start = from->regs ? from->regs->values[c->arch->sp] : 0;
	c->own_len = from->stack.end > c->own_start ? from->stack.end - c->own_start : 0;
	if (from->stack.cut)
		c->own_len += STACK_BEYOND_CUT;
	if (from->other)
		c->other = *from->other;
	to->mode = EVENT_MODE_USER;
	to->period = 1;
	to->ip = from->regs ? from->regs->values[c->arch->ip] : from->nuser_ips ? from->user_ips[0] : from->ip;
	add_code(c, to->ip, /* leaves= */ 1);
	if (from->regs)
		cut_regs(c, from->regs);
	cut_stack(c, &from->stack);
	if (from->other)
		cut_other_stack(c, from->other);
	cut_chain(c, from);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static struct err *write_maps(struct cut *c, struct trace_writer *w)
{
	struct err *err = NULL;

	for (size_t i = 0; i < c->maps.len && !err; i++) {
		const struct space_map *map = &c->maps.items[i];
		struct event ev = { .kind = EVENT_MMAP, .time_ns = 1, .cpu = EVENT_NO_CPU,
				    .pid = CUT_PID, .tid = CUT_PID };

		ev.mmap = (struct event_mmap){
			.start = map->start,
			.end = map->end,
			.file_offset = map->file_offset,
			.flags = EVENT_MMAP_EXEC,
			.build_id_len = map->module->build_id_len,
			.path = file_of(c, map->module)->path,
		};
		memcpy(ev.mmap.build_id, map->module->build_id, sizeof(ev.mmap.build_id));
		err = trace_writer_event(w, &ev);
	}
	return err;
}

static struct err *write_image(struct cut *c, struct cut_file *file, struct trace_writer *w)
{
	struct image *img = file->addresses.len ? module_image(c->s->binaries.modules, file->module) : NULL;
	struct bundle_counts counts;
	struct writer elf = { 0 };

	if (!img)
		return NULL;
	vec_sort(&file->addresses, bundle_address_ascending);

	struct cfi_section *cfi = cfi_section_new(img);
	struct symtab *symbols = symtab_new(img);
	struct bundle_source source = {
		.image = img,
		.cfi = cfi,
		.symbols = symbols,
		.addresses = file->addresses.items,
		.naddresses = file->addresses.len,
		.hot = UINT64_MAX,
	};
	struct recording_image image = {
		.path = file->path,
		.build_id_len = file->module->build_id_len,
		.partial = true,
	};

	bundle_write(&source, &elf, &counts);
	memcpy(image.build_id, file->module->build_id, sizeof(image.build_id));
	image.elf = elf.data;
	image.elf_len = elf.len;

	struct err *err = trace_writer_image(w, &image);

	writer_deinit(&elf);
	symtab_free(symbols);
	cfi_section_free(cfi);
	return err;
}

/* What a reader has to know of the recording, and no more. */
static struct recording describe(const struct recording *from, struct recording_event *event)
{
	*event = (struct recording_event){ .name = "cut", .unit = "events", .samples = true, .format = "" };
	return (struct recording){
		.tool = from->tool,
		.cmdline = "",
		.hostname = "",
		.os_release = "",
		.cpu_model = "",
		.container = "",
		.arch = from->arch,
		.page_size = from->page_size,
		.code_mask = from->code_mask,
		.clock = from->clock,
		.start_ns = 1,
		.end_ns = 3,
		.chain = from->chain,
		.stack_len = from->stack_len,
		.exit_status = -1,
		.events = event,
		.nevents = 1,
		.complete = true,
	};
}

static struct err *write_all(struct cut *c, struct trace_writer *w)
{
	struct recording_event event;
	struct recording rec = describe(c->s->recording, &event);
	struct err *err = trace_writer_begin(w, &rec);

	if (!err)
		err = write_maps(c, w);
	if (!err)
		err = trace_writer_event(w, &c->ev);
	if (!err)
		err = trace_writer_round(w, c->ev.time_ns, 0);
	for (size_t i = 0; i < c->files.len && !err; i++)
		err = write_image(c, &c->files.items[i], w);
	return err ? err : trace_writer_end(w, &rec);
}

static void cut_deinit(struct cut *c)
{
	for (size_t i = 0; i < c->files.len; i++)
		vec_deinit(&c->files.items[i].addresses);
	vec_deinit(&c->files);
	vec_deinit(&c->maps);
	vec_deinit(&c->slots);
	vec_deinit(&c->words);
	vec_deinit(&c->other_slots);
	vec_deinit(&c->other_words);
	vec_deinit(&c->ips);
	arena_deinit(&c->arena);
}

struct err *sample_extract_write(struct session *s, const struct event *ev, const char *path)
{
	CLEANUP(cut_deinit) struct cut c = {
		.s = s,
		.space = space_table_get(s->binaries.spaces, ev->pid),
		.arch = s->recording->arch ? s->recording->arch : arch_native(),
	};
	CLEANUP(output_close) struct output out = { 0 };
	struct trace_writer *w;
	struct err *err = output_open(&out, path);

	if (err)
		return err;
	cut_sample(&c, ev);
	w = trace_writer_new(fileno(out.stream));
	err = write_all(&c, w);
	trace_writer_free(w);
	return err ? err : output_commit(&out);
}
