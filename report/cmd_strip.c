/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_strip.c - takes out of a trace what another reader need not have: words of stacks and registers, names, the
 * recorder's command line, the host.
 *
 * Nothing is blanked in place: a new file is written from what is to stay, so what was taken is in no part of it.
 */
#include "formats/base/arena.h"
#include "formats/base/diag.h"
#include "formats/base/strtab.h"
#include "formats/base/text.h"
#include "formats/base/vec.h"
#include "formats/event.h"
#include "formats/process/mapping.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/rewrite/trace_copy.h"
#include "symbolize/debug/line_table.h"
#include "symbolize/elf/bundle_names.h"
#include "symbolize/elf/image.h"
#include "symbolize/name/jit_map.h"
#include "symbolize/unwind/unwind.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- other names for threads, files and functions ---- */

/* A table of names for each kind, whose numbers are what the pseudonyms count by. */

enum pseudonym_kind {
	PSEUDONYM_THREAD,
	PSEUDONYM_FILE,
	PSEUDONYM_FUNCTION,
	PSEUDONYM_KERNEL_MODULE,
	PSEUDONYM_CGROUP,
	PSEUDONYM_BUILD_ID,
	PSEUDONYM_KINDS
};

/* A zeroed one is ready. */
struct pseudonyms {
	struct arena arena;
	struct strtab names[PSEUDONYM_KINDS];
	VEC(const char *) texts[PSEUDONYM_KINDS]; /* by number of the name */
};

#define PLT_SUFFIX "@plt"

static void pseudonyms_deinit(struct pseudonyms *p)
{
	for (size_t i = 0; i < PSEUDONYM_KINDS; i++) {
		strtab_deinit(&p->names[i]);
		vec_deinit(&p->texts[i]);
	}
	arena_deinit(&p->arena);
}

static uint32_t number_of(struct pseudonyms *p, enum pseudonym_kind kind, const char *name)
{
	strtab_add(&p->names[kind], ""); /* number 0 */
	return strtab_add(&p->names[kind], name);
}

/* All that is returned here lives until pseudonyms_deinit(). "" is "", NULL is NULL. */
static const char *pseudonym_of(struct pseudonyms *p, enum pseudonym_kind kind, const char *name)
{
	static const char *const words[PSEUDONYM_KINDS] = {
		[PSEUDONYM_THREAD] = "thread",	   [PSEUDONYM_FILE] = "file",
		[PSEUDONYM_FUNCTION] = "function", [PSEUDONYM_KERNEL_MODULE] = "module",
		[PSEUDONYM_CGROUP] = "cgroup",	   [PSEUDONYM_BUILD_ID] = "id",
	};

	if (!name || !*name)
		return name;
	uint32_t number = number_of(p, kind, name);

	while (p->texts[kind].len <= number) {
		const char *text = arena_printf(&p->arena, "%s%zu", words[kind], p->texts[kind].len);

		vec_push(&p->texts[kind], text);
	}
	return p->texts[kind].items[number];
}

/* The beginning of @path that is the kernel's own and says what kind of mapping it is; all of it if no name follows. */
static size_t kernel_part(const char *path)
{
	static const char *const named[] = {
		"[anon:", "[anon_shmem:", "/memfd:", "/dev/shm/", "/SYSV", "/dmabuf:",
	};

	for (size_t i = 0; i < ARRAY_LEN(named); i++) {
		if (text_begins(path, named[i]))
			return strlen(named[i]);
	}
	if (path[0] == '[' || text_begins(path, "//") || text_begins(path, "anon_inode:") ||
	    text_begins(path, "/dev/zero") || text_begins(path, "/anon_hugepage"))
		return strlen(path);
	return path[0] == '/';
}

/* Of the path of a mapping, or of a file that was mapped; " (deleted)" stays. */
static const char *pseudonym_of_path(struct pseudonyms *p, const char *path)
{
	bool deleted;
	size_t len = mapping_path_len(path, &deleted);
	size_t own = MIN(kernel_part(path), len);

	if (own == len)
		return path;
	const char *name = arena_memdup(&p->arena, path + own, len - own);

	return arena_printf(&p->arena, "%.*s%s%s%s", (int)own, path,
			    pseudonym_of(p, PSEUDONYM_FILE, name), path[0] == '[' ? "]" : "",
			    deleted ? " (deleted)" : "");
}

/* Of a kernel module: "/lib/modules/.../ext4.ko", "[ext4]" and "ext4" are one, and their forms stay. */
static const char *pseudonym_of_module(struct pseudonyms *p, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	bool bracket = *file == '[';
	const char *ko = strstr(file, ".ko");
	size_t len = bracket ? strcspn(file + 1, "]") : ko ? (size_t)(ko - file) : strlen(file);
	const char *name = arena_memdup(&p->arena, file + bracket, len);

	/* Not modules, but what the kernel calls code that it makes itself. */
	if (!*path || strcmp(name, "bpf") == 0 || text_begins(name, "__builtin__"))
		return path;
	name = pseudonym_of(p, PSEUDONYM_KERNEL_MODULE, name);
	return arena_printf(&p->arena, "%s%s%s", bracket ? "[" : slash ? "/" : "", name,
			    bracket ? "]" : ko ? ".ko" : "");
}

/* "name@plt" is that of "name" with "@plt". */
static const char *pseudonym_of_function(struct pseudonyms *p, const char *name)
{
	size_t len = name ? strlen(name) : 0, suffix = strlen(PLT_SUFFIX);

	if (name && unwind_is_start_name(name))
		return name;
	if (len <= suffix || strcmp(name + len - suffix, PLT_SUFFIX) != 0)
		return pseudonym_of(p, PSEUDONYM_FUNCTION, name);
	const char *target = arena_memdup(&p->arena, name, len - suffix);

	return arena_printf(&p->arena, "%s" PLT_SUFFIX, pseudonym_of_function(p, target));
}

/* Put another build ID in the place of the @len bytes at @id. */
static void pseudonym_build_id(struct pseudonyms *p, uint8_t *id, size_t len)
{
	char hex[2 * IMAGE_BUILD_ID_MAX + 1];

	if (!len || len > IMAGE_BUILD_ID_MAX)
		return;
	image_build_id_hex(id, len, hex);
	uint32_t number = number_of(p, PSEUDONYM_BUILD_ID, hex);

	for (size_t i = 0; i < len; i++) {
		size_t shift = 8 * (len - 1 - i);

		id[i] = shift < 32 ? (uint8_t)(number >> shift) : 0;
	}
}

/* ---- pseudonyms into everything of a recording that names a thread, a process, a file or a function ---- */

/* Each kind of block and event by what is a name in it. */

/* A zeroed one is ready. */
struct strip_names {
	struct pseudonyms pseudonyms;
	VEC(struct recording_image) images;
	VEC(struct recording_lines) lines;
	VEC(struct recording_ksym) ksyms;
	VEC(struct recording_jit_map) jit_maps;
	VEC(struct recording_note) notes;
	VEC(struct writer) bytes; /* that the above point into */
	VEC(struct event_managed_frame) frames; /* of the last event */
};

static void strip_names_deinit(struct strip_names *names)
{
	for (size_t i = 0; i < names->bytes.len; i++)
		writer_deinit(&names->bytes.items[i]);
	vec_deinit(&names->bytes);
	vec_deinit(&names->images);
	vec_deinit(&names->lines);
	vec_deinit(&names->ksyms);
	vec_deinit(&names->jit_maps);
	vec_deinit(&names->notes);
	vec_deinit(&names->frames);
	pseudonyms_deinit(&names->pseudonyms);
}

static struct writer *new_bytes(struct strip_names *names)
{
	vec_push(&names->bytes, ((struct writer){ 0 }));
	return &names->bytes.items[names->bytes.len - 1];
}

static const char *function(struct strip_names *names, const char *name)
{
	return pseudonym_of_function(&names->pseudonyms, name);
}

/* The kernel's own: everybody's, and known by its build ID. */
static bool is_kernels(const char *path)
{
	return strcmp(path, "[vdso]") == 0 || strcmp(path, "[kernel]") == 0;
}

static const char *new_symbol(void *context, const char *name)
{
	return function(context, name);
}

/* ---- what travels along ---------------------------------------------------------------------------- */

static void add_image(struct strip_names *names, struct recording_image image, struct diag *diag)
{
	if (is_kernels(image.path)) {
		vec_push(&names->images, image);
		return;
	}
	if (!image.partial)
		return;
	image.path = pseudonym_of_path(&names->pseudonyms, image.path);
	pseudonym_build_id(&names->pseudonyms, image.build_id, image.build_id_len);

	struct bundle_names as = {
		.symbol = new_symbol,
		.context = names,
		.build_id = image.build_id,
		.build_id_len = image.build_id_len,
	};
	struct writer *bytes = new_bytes(names);
	struct err *err = bundle_rename(image.elf, image.elf_len, &as, bytes);

	if (err) {
		diag_err(diag, err_wrap(err, "an embedded file is left out"));
		return;
	}
	image.elf = bytes->data;
	image.elf_len = bytes->len;
	vec_push(&names->images, image);
}

static void rename_lines(struct strip_names *names, const struct line_table *table,
			 struct writer *out)
{
	struct line_table_maker *maker = line_table_maker_new();
	struct pseudonyms *p = &names->pseudonyms;
	struct debug_frame frames[DEBUG_INFO_FRAMES_MAX];
	uint64_t begin, end;

	for (size_t i = 0; line_table_range(table, i, &begin, &end); i++) {
		size_t count = line_table_find(table, begin, frames);

		for (size_t at = 0; at < count; at++) {
			frames[at].linkage_name = function(names, frames[at].linkage_name);
			frames[at].name = function(names, frames[at].name);
			frames[at].file = pseudonym_of(p, PSEUDONYM_FILE, frames[at].file);
			frames[at].decl_file = pseudonym_of(p, PSEUDONYM_FILE, frames[at].decl_file);
		}
		line_table_maker_add(maker, begin, end, frames, count);
	}
	line_table_maker_finish(maker, out);
	line_table_maker_free(maker);
}

static void add_lines(struct strip_names *names, struct recording_lines lines, struct diag *diag)
{
	struct line_table *table;

	if (is_kernels(lines.path)) {
		vec_push(&names->lines, lines);
		return;
	}
	struct err *err = line_table_new(lines.table, lines.table_len, &table);

	if (err) {
		diag_err(diag, err_wrap(err, "a table of lines is left out"));
		return;
	}
	struct writer *bytes = new_bytes(names);

	rename_lines(names, table, bytes);
	line_table_free(table);
	lines.path = pseudonym_of_path(&names->pseudonyms, lines.path);
	pseudonym_build_id(&names->pseudonyms, lines.build_id, lines.build_id_len);
	lines.table = bytes->data;
	lines.table_len = bytes->len;
	vec_push(&names->lines, lines);
}

static void add_ksym(struct strip_names *names, struct recording_ksym sym)
{
	if (*sym.module) {
		sym.name = function(names, sym.name);
		sym.module = pseudonym_of_module(&names->pseudonyms, sym.module);
	}
	vec_push(&names->ksyms, sym);
}

/* Code that was made at run time is left out: what it holds is not known. */
static void add_jit_map(struct strip_names *names, struct recording_jit_map map)
{
	struct jit_map *old = jit_map_new_dumped(map.text, map.len, map.dump, map.dump_len);
	struct writer *bytes = new_bytes(names);
	size_t count;
	const struct jit_symbol *symbols = jit_map_symbols(old, &count);

	for (size_t i = 0; i < count; i++) {
		char numbers[40];
		const char *name = *symbols[i].name ? function(names, symbols[i].name) : NULL;

		if (!name)
			continue;
		snprintf(numbers, sizeof(numbers), "%" PRIx64 " %" PRIx64 " ", symbols[i].start,
			 symbols[i].len);
		writer_bytes(bytes, numbers, strlen(numbers));
		writer_bytes(bytes, name, strlen(name));
		writer_u8(bytes, '\n');
	}
	jit_map_free(old);
	map.text = (const char *)bytes->data;
	map.len = bytes->len;
	map.dump = NULL;
	map.dump_len = 0;
	if (map.len)
		vec_push(&names->jit_maps, map);
}

static void add_note(struct strip_names *names, const char *text)
{
	struct recording_note note = { .subject = "", .text = text };

	vec_push(&names->notes, note);
}

/* Notes put names in quotes; a path needs none. */
static void add_notes(struct strip_names *names, const struct recording *rec)
{
	struct arena *arena = &names->pseudonyms.arena;
	size_t left_out = 0;

	for (size_t i = 0; i < rec->nnotes; i++) {
		if (strpbrk(recording_note_text(&rec->notes[i], arena), "'\"/"))
			left_out++;
		else
			vec_push(&names->notes, rec->notes[i]);
	}
	add_note(names, "names were replaced by preport strip");
	if (left_out)
		add_note(names, arena_printf(arena,
					     "%zu notes of the recorder are left out, since they name something",
					     left_out));
}

/* Change @as; what it points to afterwards belongs to @names. What is malformed is left out, with a warning. */
static void strip_names_recording(struct strip_names *names, struct recording *as, struct diag *diag)
{
	for (size_t i = 0; i < as->nimages; i++)
		add_image(names, as->images[i], diag);
	for (size_t i = 0; i < as->nlines; i++)
		add_lines(names, as->lines[i], diag);
	for (size_t i = 0; i < as->nksyms; i++)
		add_ksym(names, as->ksyms[i]);
	for (size_t i = 0; i < as->njit_maps; i++)
		add_jit_map(names, as->jit_maps[i]);
	add_notes(names, as);
	as->cmdline = "";
	as->images = names->images.items;
	as->nimages = names->images.len;
	as->lines = names->lines.items;
	as->nlines = names->lines.len;
	as->ksyms = names->ksyms.items;
	as->nksyms = names->ksyms.len;
	as->jit_maps = names->jit_maps.items;
	as->njit_maps = names->jit_maps.len;
	as->notes = names->notes.items;
	as->nnotes = names->notes.len;
}

/* ---- events ---------------------------------------------------------------------------------------- */

static void rename_mapping(struct strip_names *names, struct event_mmap *map)
{
	bool kernel = map->flags & EVENT_MMAP_KERNEL;

	if (is_kernels(map->path) || (kernel && strncmp(map->path, "[kernel", 7) == 0) ||
	    (kernel && strncmp(map->path, "[guest.kernel", 13) == 0))
		return;
	map->path = kernel ? pseudonym_of_module(&names->pseudonyms, map->path) :
			     pseudonym_of_path(&names->pseudonyms, map->path);
	pseudonym_build_id(&names->pseudonyms, map->build_id, map->build_id_len);
	map->device = map->inode = map->generation = 0;
}

/* An interpreter's functions are the program's own. */
static void rename_managed(struct strip_names *names, struct event_managed *managed)
{
	struct pseudonyms *p = &names->pseudonyms;

	names->frames.len = 0;
	for (size_t i = 0; i < managed->nframes; i++) {
		struct event_managed_frame frame = managed->frames[i];

		frame.name = function(names, frame.name);
		frame.file = pseudonym_of(p, PSEUDONYM_FILE, frame.file);
		frame.locals = "";
		vec_push(&names->frames, frame);
	}
	managed->frames = names->frames.items;
	managed->module = pseudonym_of_path(p, managed->module);
	managed->nlabels = 0;
}

/* Change @ev. */
static void strip_names_event(struct strip_names *names, struct event *ev)
{
	struct pseudonyms *p = &names->pseudonyms;

	switch (ev->kind) {
	case EVENT_SAMPLE:
		ev->sample.raw_len = 0;
		break;
	case EVENT_MMAP:
		rename_mapping(names, &ev->mmap);
		break;
	case EVENT_COMM:
		ev->comm.comm = pseudonym_of(p, PSEUDONYM_THREAD, ev->comm.comm);
		break;
	case EVENT_KSYMBOL:
		ev->ksymbol.name = function(names, ev->ksymbol.name);
		break;
	case EVENT_MANAGED:
		rename_managed(names, &ev->managed);
		break;
	case EVENT_CGROUP:
		ev->cgroup.path = pseudonym_of(p, PSEUDONYM_CGROUP, ev->cgroup.path);
		break;
	case EVENT_DESCRIPTOR:
		ev->descriptor.name = "";
		break;
	case EVENT_PROCESS:
		ev->process.cmdline = "";
		if (*ev->process.cgroup)
			ev->process.cgroup = pseudonym_of(p, PSEUDONYM_CGROUP, ev->process.cgroup);
		ev->process.uid = UINT32_MAX;
		break;
	default:
		break;
	}
}

/* ---- chains in place of stacks ---- */

struct strip_args {
	struct session_args session;
	const char *output;
	bool stacks, names, command_lines, host;
};

static const struct opt strip_opts[] = {
	OPT_STR(struct strip_args, output, "output", 'o', "FILE",
		"write to FILE instead of TRACE with .stripped in its name"),
	OPT_FLAG(struct strip_args, stacks, "stacks", 0,
		 "call chains instead of registers and words of stacks"),
	OPT_FLAG(struct strip_args, names, "names", 0,
		 "numbers for names of threads, files and functions, and no command line"),
	OPT_FLAG(struct strip_args, command_lines, "command-lines", 0,
		 "no command line of the recorder"),
	OPT_FLAG(struct strip_args, host, "host", 0, "no host name, container and processor model"),
	OPT_GROUP(struct strip_args, session, session_opts),
	OPT_END,
};

/* ---- chains ---------------------------------------------------------------------------------------- */

/* The user part of every sample's chain, in the order of samples. */
struct chains {
	VEC(uint64_t) ips;
	VEC(size_t) ends; /* of each sample's: index behind its last */
	bool unwound;     /* there are snapshots; otherwise the recorder's own chains stay as they are */
	bool no_names;    /* --names: what is interpreted has none any more */
	size_t next;      /* sample that is copied next */
};

static void chains_deinit(struct chains *chains)
{
	vec_deinit(&chains->ips);
	vec_deinit(&chains->ends);
}

/* What happens to events on their way. */
struct passage {
	struct chains chains;     /* --stacks */
	struct strip_names names; /* --names */
	bool take_chains, rename, take_cmdlines;
};

static void passage_deinit(struct passage *passage)
{
	chains_deinit(&passage->chains);
	strip_names_deinit(&passage->names);
}

/* Of a frame of an interpreter, what it interprets, as a return address: only the walk over the stack finds that. */
static uint64_t address_of(const struct chains *chains, const struct unwind_frame *frame, bool leaf)
{
	uint64_t ip = frame->ip, vaddr = code_place_address(frame->vaddr);

	if (chains->no_names || frame->module->kind != MODULE_JIT || vaddr == ip || vaddr == ip - 1)
		return ip;
	return vaddr + !leaf;
}

static struct err *keep_chain(void *context, const struct walked_event *event)
{
	struct chains *chains = context;
	size_t begin = chains->ips.len;

	if (event->ev->kind != EVENT_SAMPLE)
		return NULL;
	for (size_t i = 0; i < event->chain->nframes; i++) {
		const struct unwind_frame *frame = &event->chain->frames[i];
		bool leaf = chains->ips.len == begin;

		if (!frame->kernel)
			vec_push(&chains->ips, address_of(chains, frame, leaf));
	}
	if (chains->ips.len > begin && stack_stop_is_complete(event->chain->stop))
		vec_push(&chains->ips, event->chain->stop == STACK_STOP_SKIPPED ? RECORDING_ROOT_SKIPPED : RECORDING_ROOT);
	vec_push(&chains->ends, chains->ips.len);
	return NULL;
}

/* The chain in the place of registers and stack. */
static void take_chain(struct chains *chains, struct event *ev)
{
	if (ev->kind != EVENT_SAMPLE || chains->next == chains->ends.len)
		return;
	size_t begin = chains->next ? chains->ends.items[chains->next - 1] : 0;
	size_t end = chains->ends.items[chains->next++];

	ev->sample.regs = NULL;
	ev->sample.stack = (struct event_stack){ 0 };
	ev->sample.other = NULL;
	if (!chains->unwound)
		return;
	ev->sample.user_ips = chains->ips.items + begin;
	ev->sample.nuser_ips = end - begin;
}

static bool pass(void *context, struct event *ev)
{
	struct passage *passage = context;

	if (passage->take_chains)
		take_chain(&passage->chains, ev);
	if (passage->take_cmdlines && ev->kind == EVENT_PROCESS)
		ev->process.cmdline = "";
	if (passage->rename)
		strip_names_event(&passage->names, ev);
	return true;
}

/* ---- the command ----------------------------------------------------------------------------------- */

/* "run.trace" -> "run.stripped.trace". */
static const char *default_output(struct session *s, const char *input)
{
	size_t len = strlen(input), suffix = strlen(".trace");
	bool has = len > suffix && strcmp(input + len - suffix, ".trace") == 0;

	return arena_printf(&s->arena, "%.*s.stripped%s", (int)(has ? len - suffix : len), input,
			    has ? ".trace" : "");
}

static void change_header(const struct strip_args *args, struct recording *as)
{
	if (args->command_lines)
		as->cmdline = "";
	if (args->host)
		as->hostname = as->cpu_model = as->container = as->block_devices = "";
	if (args->stacks) {
		if (as->chain == RECORDING_CHAIN_DWARF)
			as->chain = RECORDING_CHAIN_UNWOUND;
		as->stack_len = 0;
		as->raw_stacks = false;
	}
}

static struct err *strip(struct session *s, void *args_)
{
	const struct strip_args *args = args_;
	CLEANUP(passage_deinit) struct passage passage = {
		.chains.unwound = s->recording->chain == RECORDING_CHAIN_DWARF,
		.chains.no_names = args->names,
		.take_chains = args->stacks,
		.rename = args->names,
		.take_cmdlines = args->command_lines,
	};
	struct loader_listener listener = { .event = keep_chain, .context = &passage.chains };
	struct filter everything = { 0 };
	struct recording as = *s->recording;
	struct trace_copy copy = {
		.input = args->session.input,
		.output = args->output ? args->output : default_output(s, args->session.input),
		.as = &as,
		.event = pass,
		.context = &passage,
	};
	uint64_t len = 0;
	struct err *err = NULL;

	if (args->names && s->recording->raw_stacks && !args->stacks)
		return err_remedy(err_new(ERR_USAGE, "'%s' holds application data, in which names cannot be found",
					  copy.input),
				  "say --stacks as well");
	if (args->stacks)
		err = session_each(s, &everything, &listener);
	if (err)
		return err;
	change_header(args, &as);
	if (args->names)
		strip_names_recording(&passage.names, &as, &s->diag);
	err = trace_copy(&copy, &len);
	if (!err)
		fprintf(stderr, "preport: '%s': %" PRIu64 " bytes\n", copy.output, len);
	return err;
}

static struct err *strip_run(void *args_, char **operands, int noperands, int *ret_status)
{
	struct strip_args *args = args_;
	struct err *err = trace_copy_input(operands, noperands, &args->session.input);

	(void)ret_status;
	if (!err && !args->stacks && !args->names && !args->command_lines && !args->host)
		err = err_remedy(err_new(ERR_USAGE, "nothing to remove was given"),
				 "choose --stacks, --names, --command-lines or --host");
	return err ? err : session_run(&cmd_strip, &args->session, strip, args);
}

const struct command cmd_strip = {
	.name = "strip",
	.summary = "remove sensitive data from a trace before sharing it",
	.operands = "[TRACE]",
	.needs = "events",
	.examples = "  preport strip --stacks --host run.trace\n"
		    "  preport strip --names -o share.trace run.trace\n",
	.manual = "preport-strip(1)",
	.opts = strip_opts,
	.args_size = sizeof(struct strip_args),
	.run = strip_run,
};
