/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.c - sorts addresses into the files, the JIT memory and the kernel that they lie in.
 *
 * Almost every address was told before: a cache of one line per look-up in each front answers that. A new one
 * is looked up in its process's mappings when the rings have been read, so that its file is opened while it is there, and
 * once more a round later, when mappings that stood in another ring have been told as well.
 */
#include "record/embed/attach.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/perf/jitdump.h"
#include "formats/process/mapping.h"
#include "record/embed/attach_image.h"
#include "record/embed/attach_jit.h"
#include "record/embed/attach_kernel.h"
#include "record/embed/code_file.h"
#include "record/embed/code_map.h"
#include "record/sample/addr_cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define ROUNDS_KEPT  2 /* for which an ended process is kept, and an address without a mapping */
#define PENDING_MAX  (1U << 20)
#define OPEN_MAX     256
#define MEANINGS_MAX 4 /* of one address */

struct attach_process {
	uint32_t pid;
	uint32_t lineage[CODE_FILE_LINEAGE]; /* itself and its ancestors, 0 where they end */
	bool inherits; /* it has not called exec: mappings may be its parent's */
	uint32_t
		serial; /* new with each change of mappings, so that cached addresses are looked up again */
	struct code_map code;
	bool ended, queued; /* @queued: among those to forget */
	uint64_t ended_round;
};

/* An address that may mean something else once all rings have been drained. */
struct pending {
	uint64_t ip;
	uint32_t pid;
	uint8_t leaves, age;
};

/* An address that was news to its front, or a leaf, which is counted. */
struct told {
	uint64_t ip;
	uint32_t pid;
	bool news, leaf, kernel;
};

struct attach_front {
	const struct attach *attach;
	struct addr_cache seen;
	uint32_t pid; /* of the sample */
	uint64_t who; /* the process, as the cache knows it: its serial, or its number if it has none */
	VEC(struct told) told;
};

#define WHO_KERNEL  UINT64_MAX
#define WHO_NO_CODE (1ULL << 62) /* with the process's number: nothing is known of it */

struct attach {
	enum attach_bundle bundle;
	struct map processes; /* pid -> struct attach_process * */
	VEC(struct attach_process *) ended;
	uint32_t last_serial;
	uint64_t round;
	VEC(struct attach_front *) fronts;
	VEC(struct pending) pending;
	uint64_t left_out; /* addresses for which there was no room in @pending */
	struct code_files files;
	uint64_t news; /* files that were new when they were mapped */
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

struct attach *attach_new(enum attach_bundle bundle)
{
	struct attach *a = memory_zeroed(1, sizeof(*a));

	a->bundle = bundle;
	a->files.max_open = bundle == ATTACH_NONE ? 0 : open_limit();
	return a;
}

static void process_free(struct attach_process *p)
{
	code_map_deinit(&p->code);
	free(p);
}

void attach_free(struct attach *a)
{
	const struct map_slot *slot;

	if (!a)
		return;
	for (size_t pos = 0; (slot = map_next(&a->processes, &pos));)
		process_free((struct attach_process *)(uintptr_t)slot->value);
	map_deinit(&a->processes);
	attach_jit_deinit(&a->jit);
	vec_deinit(&a->ended);
	vec_deinit(&a->pending);
	code_files_deinit(&a->files);
	kernel_symbols_deinit(&a->kernel.symbols);
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

void attach_kernel_text(struct attach *a, uint64_t begin, uint64_t end)
{
	a->kernel.text = begin;
	a->kernel.text_end = end;
}

/* ---- processes ------------------------------------------------------------------------------------- */

static struct attach_process *find_process(const struct attach *a, uint32_t pid)
{
	uint64_t *slot = map_get(&a->processes, pid);

	return slot ? (struct attach_process *)(uintptr_t)*slot : NULL;
}

/* Made if it is new. */
static struct attach_process *attach_process(struct attach *a, uint32_t pid)
{
	uint64_t *slot = map_put(&a->processes, pid, NULL);

	if (!*slot) {
		struct attach_process *p = memory_zeroed(1, sizeof(*p));

		p->pid = pid;
		p->lineage[0] = pid;
		p->serial = ++a->last_serial;
		*slot = (uintptr_t)p;
	}
	return (struct attach_process *)(uintptr_t)*slot;
}

/* It lives, whatever was told before. */
static struct attach_process *living(struct attach *a, uint32_t pid)
{
	struct attach_process *p = attach_process(a, pid);

	p->ended = false;
	return p;
}

static bool is_user_code(const struct event_mmap *map)
{
	if (map->flags & EVENT_MMAP_KERNEL || !(map->flags & EVENT_MMAP_EXEC))
		return false;
	return mapping_is_anonymous(map) || mapping_is_file(map) ||
	       strcmp(map->path, "[vdso]") == 0;
}

/* Find the file of @map, its build ID if need be. NULL: it is none. */
static struct code_file *identify(struct attach *a, const struct code_place *place,
				  struct event_mmap *map, bool is_new)
{
	bool known = map->build_id_len, exec = map->flags & EVENT_MMAP_EXEC, is_news = false;
	struct code_file *file = NULL;

	if (exec && mapping_is_anonymous(map))
		code_files_query(map, place); /* a program in a memfd, perhaps */
	if (!mapping_is_anonymous(map))
		file = code_files_identify(&a->files, map, place, is_new && exec, &is_news);
	a->news += is_new && exec && is_news;
	/* As in the kernel's own records with a build ID, so that both name a file in the same way. */
	if (!known && map->build_id_len)
		map->device = map->inode = map->generation = 0;
	return file;
}

static void add_mmap(struct attach *a, uint32_t pid, struct event_mmap *map, bool is_new)
{
	struct code_range range = { map->start, map->end, map->file_offset, NULL };

	if (map->flags & EVENT_MMAP_KERNEL)
		return;
	struct attach_process *p = living(a, pid);
	struct code_place place = { p->lineage, range.start, range.end };

	range.file = identify(a, &place, map, is_new);
	if (!is_user_code(map))
		return;
	if (range.file && jitdump_is_path(map->path))
		attach_jit_dump(&a->jit, pid, &a->files, range.file, &place);
	if (code_map_insert(&p->code, &range))
		p->serial = ++a->last_serial;
}

void attach_mmap(struct attach *a, uint32_t pid, struct event_mmap *map)
{
	add_mmap(a, pid, map, /* is_new= */ false);
}

void attach_new_mmap(struct attach *a, uint32_t pid, struct event_mmap *map)
{
	add_mmap(a, pid, map, /* is_new= */ true);
}

uint64_t attach_news(const struct attach *a)
{
	return a->news;
}

void attach_fork(struct attach *a, uint32_t pid, uint32_t parent_pid)
{
	if (pid == parent_pid)
		return;
	const struct attach_process *parent = attach_process(a, parent_pid);
	struct attach_process *p = living(a, pid);

	p->inherits = true;
	memcpy(p->lineage + 1, parent->lineage, sizeof(p->lineage) - sizeof(*p->lineage));
	p->serial = ++a->last_serial;
	code_map_fork(&p->code, &parent->code);
	attach_jit_fork(&a->jit, pid, parent_pid);
}

void attach_exec(struct attach *a, uint32_t pid)
{
	struct attach_process *p = living(a, pid);

	p->inherits = false;
	p->serial = ++a->last_serial;
	code_map_exec(&p->code);
	attach_jit_exec(&a->jit, pid);
}

void attach_exit(struct attach *a, uint32_t pid)
{
	struct attach_process *p = find_process(a, pid);

	if (!p || p->ended)
		return;
	p->ended = true;
	p->ended_round = a->round;
	if (!p->queued)
		vec_push(&a->ended, p);
	p->queued = true;
}

/* ---- addresses ------------------------------------------------------------------------------------- */

/* What @ip may be: mappings of the process, or of the one it came from if it has none there. */
static size_t meanings(const struct attach *a, const struct attach_process *p, uint64_t ip,
		       const struct code_range *ret[MEANINGS_MAX])
{
	size_t count = code_map_find(&p->code, ip, ret, MEANINGS_MAX);
	const struct attach_process *parent = NULL;

	if (!count && p->inherits)
		parent = find_process(a, p->lineage[1]);
	return parent ? code_map_find(&parent->code, ip, ret, MEANINGS_MAX) : count;
}

static bool look_up(struct attach *a, const struct attach_process *p, uint64_t ip, uint64_t leaves)
{
	const struct code_range *ranges[MEANINGS_MAX];
	size_t count = meanings(a, p, ip, ranges);

	for (size_t i = 0; i < count; i++) {
		const struct code_range *range = ranges[i];
		struct code_place place = { p->lineage, range->start, range->end };

		if (range->file)
			code_files_touch(&a->files, range->file,
					 range->file_offset + (ip - range->start), leaves, &place);
		else
			attach_jit_touch(&a->jit, p->pid, ip);
	}
	return count;
}

void attach_begin(struct attach_front *f, uint32_t pid)
{
	const struct attach_process *p = find_process(f->attach, pid);

	f->pid = pid;
	f->who = (p ? p->serial : WHO_NO_CODE | pid) << 1;
}

/* Leaves are counted, so they are told each time; there is one a sample. */
void attach_address(struct attach_front *f, uint64_t ip, enum attach_use use)
{
	bool leaf = use == ATTACH_LEAF;
	bool news = addr_cache_add(&f->seen, ip, f->who | leaf);

	if (news || leaf)
		vec_push(&f->told,
			 ((struct told){ .ip = ip, .pid = f->pid, .news = news, .leaf = leaf }));
}

void attach_kernel_address(struct attach_front *f, uint64_t ip, enum attach_use use)
{
	bool leaf = use == ATTACH_LEAF;

	if (addr_cache_add(&f->seen, ip, WHO_KERNEL) || leaf)
		vec_push(&f->told, ((struct told){ .ip = ip, .leaf = leaf, .kernel = true }));
}

static void take_told(struct attach *a, const struct told *told)
{
	if (told->kernel) {
		kernel_symbols_touch(&a->kernel.symbols, told->ip, told->leaf);
		return;
	}
	bool known = look_up(a, attach_process(a, told->pid), told->ip, told->leaf);

	if (!told->news && known)
		return;
	if (a->pending.len < PENDING_MAX)
		vec_push(&a->pending,
			 ((struct pending){ told->ip, told->pid, told->leaf && !known, 0 }));
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

void attach_ksymbol(struct attach *a, const struct event_ksymbol *ev)
{
	kernel_symbols_tell(&a->kernel.symbols, ev);
}

static void look_up_pending(struct attach *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->pending.len; i++) {
		struct pending entry = a->pending.items[i];
		const struct attach_process *p = find_process(a, entry.pid);

		if (!p || look_up(a, p, entry.ip, entry.leaves) || ++entry.age >= ROUNDS_KEPT)
			continue;
		a->pending.items[kept++] = entry;
	}
	a->pending.len = kept;
}

static void forget_ended(struct attach *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->ended.len; i++) {
		struct attach_process *p = a->ended.items[i];

		p->queued = p->ended; /* its number may live again */
		if (!p->ended)
			continue;
		if (a->round - p->ended_round < ROUNDS_KEPT) {
			a->ended.items[kept++] = p;
			continue;
		}
		map_remove(&a->processes, p->pid);
		process_free(p);
	}
	a->ended.len = kept;
}

void attach_round(struct attach *a)
{
	a->round++;
	take_all_told(a);
	look_up_pending(a);
	forget_ended(a);
}

/* ---- the end --------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

void attach_forget(struct attach *a)
{
	attach_jit_forget(&a->jit);
	map_clear(&a->kernel.symbols.addresses);
	for (size_t i = 0; i < a->files.items.len; i++)
		code_file_forget(a->files.items.items[i]);
	for (size_t i = 0; i < a->fronts.len; i++)
		addr_cache_forget_all(&a->fronts.items[i]->seen);
}

struct err *attach_write(struct attach *a, struct trace_writer *w, struct diag *notes,
			 struct attach_report *ret)
{
	struct attach_report report = { 0 };
	uint64_t start_ns = now_ns();
	struct err *err;

	take_all_told(a);
	look_up_pending(a);
	if (a->left_out)
		diag_warn(notes,
			  "%" PRIu64 " addresses were sampled before their mapping was known, and more "
			  "than %u already waited for theirs: code there may have no names",
			  a->left_out, PENDING_MAX);
	a->left_out = 0;
	err = attach_kernel_write(&a->kernel, a->bundle, w, notes, &report);
	if (!err)
		err = attach_jit_write(&a->jit, &a->files, w, notes, &report);
	if (!err)
		err = attach_image_write_all(&a->files, a->bundle, w, notes, &report);
	report.time_ns = now_ns() - start_ns;
	*ret = report;
	return err;
}
