/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c - assigns addresses to the file, the JIT memory or the kernel that they are in.
 *
 * Almost every address was seen before: each front has a cache for that. A new one is looked up in its process's mappings
 * when the rings have been read, so that its file is opened while it exists, and once more a round later, when the mappings
 * of all rings have been read.
 */
#include "record/embed/attach.h"

#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/perf/jitdump.h"
#include "formats/process/mapping.h"
#include "record/system/confine.h"
#include "record/embed/attach_image.h"
#include "record/embed/attach_jit.h"
#include "record/embed/attach_kernel.h"
#include "record/embed/code_file.h"
#include "record/embed/embed_child.h"
#include "record/embed/addr_cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define PENDING_MAX  (1U << 20)
#define OPEN_MAX     256
#define MEANINGS_MAX 4 /* of one address */

/* An address to be looked up again once all rings have been drained. */
struct pending {
	uint64_t ip;
	uint32_t pid;
	uint8_t leaves, age;
	bool executed;
};

/* An address that is new to its front, or a leaf, which is counted. */
struct told {
	uint64_t ip;
	uint64_t function; /* of bytecode at @ip; 0: it is no bytecode */
	uint64_t feedback; /* of the same, if known */
	uint64_t time_ns;  /* of the same */
	uint32_t pid, offset;
	bool news, leaf, executed, kernel;
};

struct attach_front {
	const struct attach *attach;
	struct addr_cache seen;
	uint64_t forgotten; /* so often */
	uint32_t pid; /* of the sample */
	uint64_t who; /* the process, as the cache knows it: its serial, or its number if it has none */
	VEC(struct told) told;
};

#define WHO_KERNEL  UINT64_MAX
#define WHO_NO_CODE (1ULL << 62) /* with the number of an unknown process */

struct attach {
	enum attach_bundle bundle;
	struct embed_limits limits;
	struct process_table processes;
	VEC(struct attach_front *) fronts;
	VEC(struct pending) pending;
	uint64_t left_out; /* addresses for which there was no room in @pending */
	struct code_files files;
	uint64_t news; /* new files, at their mapping */
	struct attach_jit jit;
	struct attach_kernel kernel;
};

/* Leave most descriptors to the rings. */
static size_t open_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return OPEN_MAX;
	return MIN((size_t)limit.rlim_cur / 4, OPEN_MAX);
}

static void forget_process(void *context, uint32_t pid)
{
	struct attach *a = context;

	attach_jit_exit(&a->jit, pid);
}

struct attach *attach_new(enum attach_bundle bundle)
{
	struct attach *a = memory_zeroed(1, sizeof(*a));

	a->bundle = bundle;
	a->limits = (struct embed_limits){ .time_ns = EMBED_TIME_NS, .len = EMBED_LEN };
	process_table_init(&a->processes);
	a->processes.forget = forget_process;
	a->processes.context = a;
	code_files_init(&a->files, bundle == ATTACH_NONE ? 0 : open_limit());
	return a;
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	process_table_deinit(&a->processes);
	attach_jit_deinit(&a->jit);
	vec_deinit(&a->pending);
	code_files_deinit(&a->files);
	attach_kernel_deinit(&a->kernel);
	for (size_t i = 0; i < a->fronts.len; i++) {
		vec_deinit(&a->fronts.items[i]->told);
		addr_cache_deinit(&a->fronts.items[i]->seen);
		free(a->fronts.items[i]);
	}
	vec_deinit(&a->fronts);
	free(a);
}

struct attach_front *attach_front(struct attach *a, size_t number)
{
	while (a->fronts.len <= number) {
		struct attach_front *f = memory_zeroed(1, sizeof(*f));

		f->attach = a;
		addr_cache_init(&f->seen);
		vec_push(&a->fronts, f);
	}
	return a->fronts.items[number];
}

void attach_read_by(struct attach *a, struct foreign_reader *reader)
{
	a->files.reader = reader;
	a->jit.reader = reader;
}

void attach_run_as(struct attach *a, const struct priority *first)
{
	a->jit.first = first;
}

void attach_limit(struct attach *a, const struct embed_limits *limits)
{
	a->limits = *limits;
}

void attach_end_by(struct attach *a, uint64_t end_ns)
{
	a->limits.end_ns = end_ns;
}

void attach_kernel_text(struct attach *a, uint64_t begin, uint64_t end)
{
	a->kernel.text = begin;
	a->kernel.text_end = end;
}

/* ---- the side-band --------------------------------------------------------------------------------- */

const struct process_table *attach_processes(const struct attach *a)
{
	return &a->processes;
}

void attach_existing_process(struct attach *a, uint32_t pid, uint32_t nthreads)
{
	process_table_add_existing(&a->processes, pid, nthreads);
}

uint64_t attach_news(const struct attach *a)
{
	return a->news;
}

void attach_ask_jvms(struct attach *a)
{
	a->jit.ask_jvms = true;
}

uint64_t attach_jit_news(const struct attach *a)
{
	return a->jit.news;
}

/* Read its build ID if it has none yet. Files mapped before the recording began are not urgent. */
static struct code_file *identify(struct attach *a, const struct code_place *place,
				  struct event_mmap *map, bool is_new)
{
	bool known = map->build_id_len, exec = map->flags & EVENT_MMAP_EXEC, is_news;

	if (exec && mapping_is_anonymous(map))
		code_files_query(&a->files, map, place); /* a program in a memfd, perhaps */
	struct code_file *file =
		code_files_identify(&a->files, map, place, is_new && exec, &is_news);

	a->news += is_new && exec && is_news && file->mapped.kind == MAPPED_FILE;
	/* As in the kernel's own records with a build ID, so that both name a file in the same way. */
	if (!known && map->build_id_len)
		map->device = map->inode = map->generation = 0;
	return file;
}

static void follow_mmap(struct attach *a, struct event *ev)
{
	struct event_mmap *map = &ev->mmap;

	if (map->flags & EVENT_MMAP_KERNEL)
		return;
	const struct process *proc = process_table_get(&a->processes, ev->pid);
	struct code_place place = { proc->lineage, map->start, map->end, map->file_offset };
	struct code_file *file = identify(a, &place, map, ev->time_ns);

	if (!(map->flags & EVENT_MMAP_EXEC))
		return;
	if (file->mapped.kind == MAPPED_ANONYMOUS)
		attach_jit_map(&a->jit, ev->pid, NULL);
	else if (file->mapped.kind == MAPPED_FILE)
		attach_jit_map(&a->jit, ev->pid, map->path);
	if (file->mapped.kind == MAPPED_FILE && jitdump_is_path(map->path))
		attach_jit_dump(&a->jit, ev->pid, &a->files, file, &place);
	process_table_map(&a->processes, ev->pid, map, &file->mapped);
}

bool attach_event(struct attach *a, struct event *ev)
{
	if (ev->kind == EVENT_MMAP)
		follow_mmap(a, ev);
	else if (ev->kind == EVENT_FORK && ev->pid != ev->fork.parent_pid)
		attach_jit_fork(&a->jit, ev->pid, ev->fork.parent_pid);
	else if (ev->kind == EVENT_COMM && ev->comm.exec)
		attach_jit_exec(&a->jit, ev->pid);
	else if (ev->kind == EVENT_KSYMBOL)
		kernel_symbols_tell(&a->kernel.symbols, &ev->ksymbol);
	return process_table_event(&a->processes, ev);
}

/* ---- addresses ------------------------------------------------------------------------------------- */

static bool look_up(struct attach *a, const struct process *p, uint64_t ip, bool executed, uint64_t leaves)
{
	const struct process_map *maps[MEANINGS_MAX];
	size_t count = process_table_meanings(&a->processes, p, ip, maps, MEANINGS_MAX);

	for (size_t i = 0; i < count; i++) {
		const struct process_map *map = maps[i];
		struct code_place place = { p->lineage, map->start, map->end, map->offset };

		if (map->file->kind == MAPPED_ANONYMOUS)
			attach_jit_touch(&a->jit, p->pid, ip, executed, (struct code_area){ map->start, map->end });
		if (map->file->kind == MAPPED_FILE)
			attach_jit_file(&a->jit, p->pid, map->file->path);
		if (map->file->kind != MAPPED_OTHER && map->file->kind != MAPPED_ANONYMOUS)
			code_files_touch(&a->files, (struct code_file *)map->file,
					 map->offset + (ip - map->start), leaves, &place);
	}
	return count;
}

void attach_begin(struct attach_front *f, uint32_t pid)
{
	const struct process *p = process_table_find(&f->attach->processes, pid);

	f->pid = pid;
	f->who = (p ? p->serial : WHO_NO_CODE | pid) << 1;
}

uint64_t attach_forgotten(const struct attach_front *f)
{
	return f->forgotten;
}

static void forget_addresses(struct attach_front *f)
{
	addr_cache_forget_all(&f->seen);
	f->forgotten++;
}

/* Leaves, one for each sample, are always passed on, to be counted. */
void attach_address(struct attach_front *f, uint64_t ip, enum attach_use use)
{
	bool leaf = use == ATTACH_LEAF, executed = use != ATTACH_CALLER;
	bool news = addr_cache_add(&f->seen, ip, f->who | executed);

	if (news || leaf)
		vec_push(&f->told, ((struct told){
					   .ip = ip, .pid = f->pid, .news = news, .leaf = leaf, .executed = executed }));
}

/* V8 moves functions, so bytecode may have to be passed on again. */
void attach_bytecode(struct attach_front *f, struct runtime_bytecode b)
{
	uint64_t key = b.bytecode + b.offset;

	if (b.bytecode & 1)
		key ^= map_hash(b.function);
	if (addr_cache_add(&f->seen, key, f->who))
		vec_push(&f->told, ((struct told){ .ip = b.bytecode,
						   .function = b.function,
						   .feedback = b.feedback,
						   .time_ns = b.time_ns,
						   .pid = f->pid,
						   .offset = b.offset }));
}

void attach_kernel_address(struct attach_front *f, uint64_t ip, enum attach_use use)
{
	bool leaf = use == ATTACH_LEAF;

	if (addr_cache_add(&f->seen, ip, WHO_KERNEL) || leaf)
		vec_push(&f->told, ((struct told){ .ip = ip, .leaf = leaf, .kernel = true }));
}

static void forget_all_addresses(struct attach *a)
{
	for (size_t i = 0; i < a->fronts.len; i++)
		forget_addresses(a->fronts.items[i]);
}

static void take_told(struct attach *a, const struct told *told)
{
	if (told->kernel) {
		/* Those that are still seen must be told of again, or they would be dropped. */
		if (kernel_symbols_touch(&a->kernel.symbols, told->ip, told->leaf))
			forget_all_addresses(a);
		return;
	}
	if (told->function) {
		attach_jit_bytecode(&a->jit, told->pid,
				    (struct runtime_bytecode){ told->ip, told->function, told->offset, told->feedback, told->time_ns });
		return;
	}
	const struct process *p = process_table_find(&a->processes, told->pid);
	bool known = p && look_up(a, p, told->ip, told->executed, told->leaf);

	if (!told->news && known)
		return;
	if (a->pending.len < PENDING_MAX)
		vec_push(&a->pending,
			 ((struct pending){ told->ip, told->pid, told->leaf && !known, 0, told->executed }));
	else
		a->left_out += !known;
}

static void take_all_told(struct attach *a)
{
	for (size_t i = 0; i < a->fronts.len; i++) {
		struct attach_front *f = a->fronts.items[i];

		for (size_t j = 0; j < f->told.len; j++)
			take_told(a, &f->told.items[j]);
		f->told.len = 0;
	}
}

static void look_up_pending(struct attach *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->pending.len; i++) {
		struct pending entry = a->pending.items[i];
		const struct process *p = process_table_find(&a->processes, entry.pid);

		if ((p && look_up(a, p, entry.ip, entry.executed, entry.leaves)) ||
		    ++entry.age >= PROCESS_ROUNDS_KEPT)
			continue;
		a->pending.items[kept++] = entry;
	}
	a->pending.len = kept;
}

bool attach_begin_samples(struct attach *a)
{
	struct runtime_interpreter found;

	while (attach_jit_interpreter(&a->jit, &found)) {
		struct process *p = process_table_get(&a->processes, found.pid);

		p->interpreter = found.start;
		p->interpreter_len = found.len;
		p->runs_v8 = found.is_v8;
	}
	return attach_jit_awaits(&a->jit);
}

void attach_round(struct attach *a)
{
	attach_jit_round(&a->jit, &a->processes);
	take_all_told(a);
	look_up_pending(a);
	process_table_round(&a->processes);
	code_files_round(&a->files);
}

/* ---- the end --------------------------------------------------------------------------------------- */

void attach_forget(struct attach *a)
{
	attach_jit_forget(&a->jit);
	kernel_symbols_forget(&a->kernel.symbols);
	code_files_forget(&a->files);
	forget_all_addresses(a);
}

/* What the child does with its copy of @context. */
static struct err *write_foreign(void *context, struct embed_child *child, struct trace_writer *w,
				 struct diag *notes, struct attach_report *report)
{
	struct attach *a = context;
	struct err *err = attach_jit_write(&a->jit, child, w, notes, report);

	confine_file_reader();
	return err ? err : attach_image_write_all(&a->files, a->bundle, child, w, notes, report);
}

static struct err *write_in_child(struct attach *a, struct trace_writer *w, struct diag *notes,
				  struct attach_report *report)
{
	struct embed_job job = { .run = write_foreign, .context = a };
	struct err *err;

	for (size_t i = 0; i < a->files.wanted.len; i++)
		vec_push(&job.fds, code_file_fd(a->files.wanted.items[i]));
	attach_jit_fds(&a->jit, &job.fds);
	attach_jit_gather(&a->jit, a->limits.end_ns ? a->limits.end_ns : UINT64_MAX, notes);
	err = embed_child_run(&job, &a->limits, w, notes, report);
	attach_jit_go_on(&a->jit);
	a->jit.left_out = 0; /* the child has reported them */
	vec_deinit(&job.fds);
	return err;
}

/* What was dropped for lack of room since the last file. */
static void note_limits(struct attach *a, struct diag *notes)
{
	if (a->processes.left_out)
		diag_warn(notes,
			  "%" PRIu64 " mappings of code were left out: a process had more than %u, or all "
			  "together more than %u; code there has no names",
			  a->processes.left_out, PROCESS_MAPS_MAX, PROCESS_MAPS_ALL_MAX);
	if (a->files.dropped || a->files.dropped_addresses)
		diag_warn(notes,
			  "%" PRIu64 " addresses, in part of %" PRIu64 " files that no process maps any more, "
			  "are not embedded: more than %u files or %u addresses were seen",
			  a->files.dropped_addresses, a->files.dropped, CODE_FILES_WANTED_MAX,
			  CODE_FILES_ADDRESSES_MAX);
	a->processes.left_out = a->files.dropped = a->files.dropped_addresses = 0;
}

struct err *attach_write(struct attach *a, struct trace_writer *w, struct diag *notes,
			 struct attach_report *ret)
{
	struct attach_report report = { 0 };
	uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct err *err;

	take_all_told(a);
	look_up_pending(a);
	if (a->left_out)
		diag_warn(notes,
			  "%" PRIu64 " addresses were sampled before their mapping was known, and more "
			  "than %u already waited for theirs: code there may have no names",
			  a->left_out, PENDING_MAX);
	a->left_out = 0;
	note_limits(a, notes);
	err = attach_kernel_write(&a->kernel, a->bundle, w, notes, &report);
	if (!err)
		err = write_in_child(a, w, notes, &report);
	report.time_ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
	*ret = report;
	return err;
}
