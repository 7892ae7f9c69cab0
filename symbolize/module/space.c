/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space.c - processes and threads over time.
 *
 * A fork shares its parent's mappings until either side changes them, so that a thousand short-lived
 * children of a large process cost nothing. Which image a mapping shows, and so its bias, is found out when
 * an address in it is first asked for: most mappings never are.
 *
 * A process that has ended keeps its mappings for a while: its last samples may come after its exit.
 */
#include "symbolize/module/space.h"

#include "formats/base/bisect.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/strtab.h"
#include "formats/base/text.h"
#include "formats/perf/jitdump.h"
#include "formats/process/addr_map.h"
#include "formats/process/mapping.h"
#include "symbolize/module/module.h"
#include "symbolize/module/thread_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many ended processes keep their mappings. */
#define ENDED_KEPT 64

/*
 * Twice the kernel's default vm.max_map_count. Each that comes between others moves those behind it, so that without
 * a limit a trace made for it would take hours.
 */
#define SPACE_MAPS_MAX (1U << 17)

/* Types of EVENT_KSYMBOL (linux/perf_event.h). */
#define KSYMBOL_BPF 1

struct space {
	struct space_table *table;
	uint32_t pid;
	struct addr_map *maps;
	uint64_t generation;
	uint32_t nthreads; /* known and not ended */
	bool queued;       /* among the ended */
	size_t jit_changes;
	bool jit_known;
	size_t jit; /* if so: the first mapping of a JIT's code, or how many mappings there are */
};

struct thread {
	struct space_thread shown; /* first, so that what is handed out is a thread */
	const char *comm;	   /* the kernel's name, if it is named; its runtime may have another one */
	bool named;
	bool ended;
};

struct space_table {
	struct module_table *modules;
	struct arena arena;
	struct strtab names;
	struct thread_names *runtime_names;
	struct map spaces;  /* pid -> struct space * */
	struct map threads; /* pid, tid -> struct thread * */
	uint32_t nthreads;
	struct addr_map_pool pool;
	struct addr_map *none; /* of processes without mappings */
	struct addr_map *kernel;
	struct space *ended[ENDED_KEPT]; /* a ring */
	size_t ended_pos;
	uint64_t generation;
};

/* ---- address spaces -------------------------------------------------------------------------------- */

static bool same_module(const void *a, const void *b)
{
	const struct space_map *x = a, *y = b;

	return x->module == y->module && x->exec == y->exec;
}

/* A JIT maps page after page, and where in its memory they lie is of no meaning. */
static bool is_jit(const void *item)
{
	const struct space_map *map = item;

	return map->module->kind == MODULE_JIT;
}

static const struct addr_map_type space_map_type = {
	.item_len = sizeof(struct space_map),
	.same = same_module,
	.merges = is_jit,
};

static const struct space_map *map_at(const struct addr_map *maps, size_t index)
{
	return addr_map_item(maps, index);
}

static void changed(struct space *space)
{
	space->generation = ++space->table->generation;
	space->jit_known = false;
}

static void set_maps(struct space *space, struct addr_map *maps)
{
	addr_map_unref(space->maps);
	space->maps = maps;
	changed(space);
}

struct space *space_table_get(struct space_table *table, uint32_t pid)
{
	uint64_t *slot = map_put(&table->spaces, pid, NULL);

	if (!*slot) {
		struct space *space = ARENA_NEW(&table->arena, struct space);

		space->table = table;
		space->pid = pid;
		set_maps(space, addr_map_ref(table->none));
		*slot = (uintptr_t)space;
	}
	return (struct space *)(uintptr_t)*slot;
}

/* Let go of the mappings of the process that ended longest ago, unless its number lives again. */
static void retire(struct space_table *table, struct space *space)
{
	struct space **slot = &table->ended[table->ended_pos++ % ENDED_KEPT];
	struct space *oldest = *slot;

	if (oldest) {
		oldest->queued = false;
		if (!oldest->nthreads)
			set_maps(oldest, addr_map_ref(table->none));
	}
	*slot = space;
	space->queued = true;
}

/* ---- threads --------------------------------------------------------------------------------------- */

static uint64_t thread_key(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static struct thread *find_thread(const struct space_table *table, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = map_get(&table->threads, thread_key(pid, tid));

	return slot ? (struct thread *)(uintptr_t)*slot : NULL;
}

static struct thread *begin_thread(struct space_table *table, uint32_t pid, uint32_t tid)
{
	uint64_t *slot = map_put(&table->threads, thread_key(pid, tid), NULL);
	struct thread *old = (struct thread *)(uintptr_t)*slot;
	struct thread *t = ARENA_NEW(&table->arena, struct thread);

	t->shown = (struct space_thread){ .index = table->nthreads++, .pid = pid, .tid = tid };
	*slot = (uintptr_t)t;
	if (!old || old->ended)
		space_table_get(table, pid)->nthreads++;
	return t;
}

/* The thread that lives under these numbers; a dead one only if nothing says that it is another now. */
static struct thread *living_thread(struct space_table *table, uint32_t pid, uint32_t tid)
{
	struct thread *t = find_thread(table, pid, tid);

	return t && !t->ended ? t : begin_thread(table, pid, tid);
}

static const char *name_text(struct space_table *table, const char *text)
{
	return strtab_get(&table->names, strtab_add(&table->names, text));
}

static const char *number_text(struct space_table *table, uint32_t pid)
{
	char text[16];

	if (pid == 0)
		return "swapper";
	snprintf(text, sizeof(text), "%" PRIu32, pid);
	return pid == UINT32_MAX ? "[unknown]" : name_text(table, text);
}

static void set_name(struct space_table *table, struct thread *t, const char *comm)
{
	t->comm = name_text(table, comm);
	t->shown.comm = name_text(table, thread_names_find(table->runtime_names, t->shown.pid, t->shown.tid, t->comm));
	t->named = true;
}

const struct space_thread *space_table_thread(struct space_table *table, uint32_t pid, uint32_t tid)
{
	struct thread *t = find_thread(table, pid, tid);
	const struct thread *leader = pid == tid ? t : find_thread(table, pid, pid);

	if (!t)
		t = begin_thread(table, pid, tid);
	if (leader && leader->named)
		t->shown.process = leader->comm;
	else
		t->shown.process = t->named && pid == tid ? t->comm : number_text(table, pid);
	if (!t->named)
		t->shown.comm = t->shown.process;
	return &t->shown;
}

/* ---- mappings -------------------------------------------------------------------------------------- */

static struct module *user_module(struct space_table *table, uint32_t pid,
				  const struct event_mmap *map)
{
	enum module_kind kind = MODULE_FILE;

	if (mapping_is_anonymous(map) && !(map->flags & EVENT_MMAP_EXEC))
		return module_table_file(table->modules, MODULE_UNKNOWN,
					 map->path[0] == '[' ? map->path : "[anonymous]", NULL, 0);
	if (mapping_is_anonymous(map))
		return module_table_jit(table->modules, pid);
	if (jitdump_is_path(map->path))
		module_table_jit_dump(table->modules, pid, map->path);
	if (strcmp(map->path, "[vdso]") == 0)
		kind = MODULE_VDSO;
	else if (map->path[0] == '[')
		kind = MODULE_UNKNOWN; /* [vsyscall], [uprobes] */
	return module_table_file(table->modules, kind, map->path, map->build_id, map->build_id_len);
}

static bool is_kernel_proper(const char *path)
{
	return text_begins(path, "[kernel");
}

static void insert_kernel(struct space_table *table, const struct space_map *entry)
{
	if (addr_map_insert(&table->kernel, entry) == ADDR_MAP_FULL)
		diag_warn(module_table_diag(table->modules),
			  "the kernel has %u pieces of code: another one is left out, and has no name",
			  SPACE_MAPS_MAX);
}

static void map_kernel(struct space_table *table, const struct event_mmap *map)
{
	enum module_kind kind = is_kernel_proper(map->path) ? MODULE_KERNEL : MODULE_KERNEL_MODULE;
	struct space_map entry = {
		.start = map->start,
		.end = map->end,
		.module = module_table_file(table->modules, kind, map->path, map->build_id,
					    map->build_id_len),
		.mapped = true,
		.exec = true,
		.looked_up = true,
	};

	insert_kernel(table, &entry);
}

static void apply_mmap(struct space_table *table, const struct event *ev)
{
	const struct event_mmap *map = &ev->mmap;

	if (map->flags & EVENT_MMAP_KERNEL) {
		map_kernel(table, map);
		return;
	}
	struct space *space = space_table_get(table, ev->pid);
	struct space_map entry = {
		.start = map->start,
		.end = map->end,
		.file_offset = map->file_offset,
		.module = user_module(table, ev->pid, map),
		.exec = map->flags & EVENT_MMAP_EXEC,
	};

	entry.module->has_code |= entry.exec;
	entry.module->has_data |= !entry.exec;
	if (entry.module->kind == MODULE_JIT || entry.module->kind == MODULE_UNKNOWN) {
		entry.mapped = true;
		entry.looked_up = true;
	}
	enum addr_map_change change = addr_map_insert(&space->maps, &entry);

	if (change == ADDR_MAP_CHANGED)
		changed(space);
	else if (change == ADDR_MAP_FULL)
		diag_warn(module_table_diag(table->modules),
			  "process %" PRIu32 " has %u mappings: another one is left out, and code in it has no name",
			  ev->pid, SPACE_MAPS_MAX);
}

static void apply_ksymbol(struct space_table *table, const struct event_ksymbol *symbol)
{
	uint64_t end = symbol->addr + symbol->len;
	const char *path = symbol->type == KSYMBOL_BPF ? "[bpf]" : "[kernel code]";
	struct space_map entry = {
		.start = symbol->addr, .end = end, .mapped = true, .exec = true, .looked_up = true
	};

	if (end < symbol->addr)
		return;
	if (symbol->removed) {
		addr_map_remove(&table->kernel, symbol->addr, end);
		return;
	}
	entry.module = module_table_file(table->modules, MODULE_KERNEL_MODULE, path, NULL, 0);
	insert_kernel(table, &entry);
}

/* ---- the other events ------------------------------------------------------------------------------ */

static void apply_comm(struct space_table *table, const struct event *ev)
{
	struct thread *t = living_thread(table, ev->pid, ev->tid);

	set_name(table, t, ev->comm.comm);
	if (ev->comm.exec)
		set_maps(space_table_get(table, ev->pid), addr_map_ref(table->none));
}

/*
 * What ran before the recording is listed at time 0, with mappings of its own; perf does the same. Its
 * parent's mappings are those of another program by now.
 */
static struct addr_map *maps_at_fork(struct space_table *table, const struct event *ev)
{
	if (ev->time_ns == 0)
		return addr_map_ref(table->none);
	return addr_map_ref(space_table_get(table, ev->fork.parent_pid)->maps);
}

static void apply_fork(struct space_table *table, const struct event *ev)
{
	const struct thread *parent = find_thread(table, ev->fork.parent_pid, ev->fork.parent_tid);
	struct space *space = space_table_get(table, ev->pid);
	bool is_process = ev->pid != ev->fork.parent_pid;

	if (is_process)
		set_maps(space, maps_at_fork(table, ev));
	struct thread *t = begin_thread(table, ev->pid, ev->tid);

	if (is_process)
		space->nthreads = 1; /* the process that had this number is gone */
	if (parent && parent->named)
		set_name(table, t, parent->comm);
}

static void apply_exit(struct space_table *table, const struct event *ev)
{
	struct thread *t = find_thread(table, ev->pid, ev->tid);
	struct space *space = space_table_get(table, ev->pid);

	if (t && t->ended)
		return; /* files that say it once for each event: samples behind the first are still this thread's */
	t = living_thread(table, ev->pid, ev->tid);
	t->ended = true;
	if (space->nthreads)
		space->nthreads--;
	if (!space->nthreads && !space->queued)
		retire(table, space);
}

void space_table_apply(struct space_table *table, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_MMAP:
		apply_mmap(table, ev);
		break;
	case EVENT_COMM:
		apply_comm(table, ev);
		break;
	case EVENT_FORK:
		apply_fork(table, ev);
		break;
	case EVENT_EXIT:
		apply_exit(table, ev);
		break;
	case EVENT_KSYMBOL:
		apply_ksymbol(table, &ev->ksymbol);
		break;
	default:
		break;
	}
}

/* ---- asking ---------------------------------------------------------------------------------------- */

/* Without an image the offset in the file stands in for the address: the same wherever it is mapped. */
static void look_up(struct space_table *table, struct space_map *map)
{
	struct image *img = module_image(table->modules, map->module);

	map->looked_up = true;
	map->bias = map->start - map->file_offset;
	if (img)
		map->mapped = (map->exec ? image_bias : image_data_bias)(
			img, map->start, map->file_offset, &map->bias);
}

const struct space_map *space_find(struct space *space, uint64_t ip)
{
	struct space_map *map = addr_map_find(space->maps, ip);

	if (map && !map->looked_up)
		look_up(space->table, map);
	return map;
}

const struct space_map *space_at_or_below(const struct space *space, uint64_t addr)
{
	const struct addr_map *maps = space->maps;
	size_t count = BISECT(maps->len, i, map_at(maps, i)->start <= addr);

	while (count && map_at(maps, count - 1)->module->kind != MODULE_FILE)
		count--;
	return count ? map_at(maps, count - 1) : NULL;
}

const struct space_map *space_table_find_kernel(struct space_table *table, uint64_t ip)
{
	return addr_map_find(table->kernel, ip);
}

uint64_t space_next_code(const struct space *space, uint64_t addr)
{
	const struct addr_map *maps = space->maps;
	size_t low = BISECT(maps->len, i, map_at(maps, i)->start <= addr);

	while (low < maps->len && !map_at(maps, low)->exec)
		low++;
	return low < maps->len ? map_at(maps, low)->start : UINT64_MAX;
}

uint64_t space_end(const struct space *space)
{
	const struct addr_map *maps = space->maps;

	return maps->len ? map_at(maps, maps->len - 1)->end : 0;
}

/* Looked for once, until the mappings change: there may be many. */
const struct space_map *space_find_jit(struct space *space)
{
	const struct addr_map *maps = space->maps;

	if (!space->jit_known)
		for (space->jit = 0; space->jit < maps->len && map_at(maps, space->jit)->module->kind != MODULE_JIT;)
			space->jit++;
	space->jit_known = true;
	return space->jit < maps->len ? map_at(maps, space->jit) : NULL;
}

uint64_t space_generation(const struct space *space)
{
	return space->generation;
}

void space_set_changes(struct space *space, size_t changes)
{
	if (space->jit_changes != changes)
		changed(space);
	space->jit_changes = changes;
}

/* ---- the table ------------------------------------------------------------------------------------- */

/* Recordings without a mapping of the kernel still say where its text was. */
static void map_kernel_text(struct space_table *table)
{
	const struct recording *rec = module_table_recording(table->modules);
	struct event_mmap map = {
		.start = rec->kernel_text,
		.end = rec->kernel_text_end,
		.path = "[kernel]",
	};

	if (map.start && map.end > map.start)
		map_kernel(table, &map);
}

struct space_table *space_table_new(struct module_table *modules)
{
	struct space_table *table = memory_zeroed(1, sizeof(*table));

	table->modules = modules;
	table->pool = (struct addr_map_pool){ .type = &space_map_type, .max_each = SPACE_MAPS_MAX, .max_all = SIZE_MAX };
	table->none = addr_map_new(&table->pool);
	table->kernel = addr_map_new(&table->pool);
	table->runtime_names = thread_names_new(module_table_recording(modules));
	map_kernel_text(table);
	return table;
}

void space_table_free(struct space_table *table)
{
	const struct map_slot *slot;
	size_t pos = 0;

	if (!table)
		return;
	while ((slot = map_next(&table->spaces, &pos)))
		addr_map_unref(((struct space *)(uintptr_t)slot->value)->maps);
	addr_map_unref(table->kernel);
	addr_map_unref(table->none);
	map_deinit(&table->spaces);
	map_deinit(&table->threads);
	strtab_deinit(&table->names);
	thread_names_free(table->runtime_names);
	arena_deinit(&table->arena);
	free(table);
}
