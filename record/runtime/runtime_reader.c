/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_reader.c - a queue, and one thread that empties it.
 *
 * Memory is read where it is present (task_memory.h). Names in the tables of libjvm.so are in pages that the process itself never
 * touches: those come from the file. The file is another user's, so a process that may be left behind reads the tables
 * (foreign_reader.h); what this thread reads afterwards is memory alone, and does not wait.
 */
#include "record/runtime/runtime_reader.h"

#include "formats/arch.h"
#include "formats/base/budget.h"
#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"
#include "record/managed/managed_binary.h"
#include "record/runtime/dotnet.h"
#include "record/runtime/gdb_jit.h"
#include "record/runtime/hotspot.h"
#include "record/runtime/runtime_file.h"
#include "record/runtime/v8.h"
#include "record/sample/priority.h"
#include "record/task/process_age.h"
#include "record/task/task_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_MAX     (1U << 16)
#define PROCESSES_MAX 256
#define TOLD_MAX      4096
#define LOOK_NS	      1000000ULL    /* for one address */
#define DUMP_LEN_MAX  (16U << 20)   /* of one process */
#define HELD_MAX      (128U << 20)  /* of all, with what is known of their code */
#define WAIT_NS	      1000000000ULL /* for the thread */

#define GDB_JITS_MAX  4		    /* descriptors of one process */
#define FILES_MAX     512	    /* that were looked into for one, or for .NET's runtime */
#define GDB_VIEWS_MAX 16	    /* that one look may take to read a list */
#define CHECK_NS      25000000ULL   /* at least, between comparisons of what is known of a process with what is there, */
#define CHECK_RATE    20	    /* and so many times as long as one takes */
#define CHECK_VIEWS   64	    /* that one may take */
#define TICK_NS	      25000000ULL /* between looks at what has changed, so long as a process's code */
#define TICKED_NS     10000000000ULL /* was asked for in this time */
#define UNCHECKED_NS  20000000ULL /* before the end, in which no code is freed and its memory filled and sampled again */
#define GONE_MAX      65536
#define LOOK_AGAIN_NS 1000000000ULL /* whether a runtime has been loaded meanwhile, */
#define LOOKS_MAX     8		    /* so often */
#define MISSES_MAX    512	    /* looked for again, of one process */

enum ask { ASK_PROCESS, ASK_CALLER, ASK_LEAF, ASK_BYTECODE, ASK_CHECK, ASK_END };

struct question {
	uint64_t ip, function, feedback, time_ns;
	uint32_t pid, offset;
	enum ask ask;
	bool at_once; /* a check */
};

struct process {
	uint32_t pid;
	uint64_t interpreter, interpreter_len; /* as the recorder was told */
	unsigned looks;
	uint64_t looked_ns;
	struct task_memory memory;
	struct hotspot *hotspot;
	struct v8 *v8;
	struct dotnet *dotnet;
	struct gdb_jit *gdb_jits[GDB_JITS_MAX];
	size_t ngdb_jits;
	struct writer dump;
	uint64_t checked_ns; /* when the last comparison began: all that was known then, and is not said to be gone, was there */
	uint64_t check_ns;   /* when the one that goes on began; 0: none does */
	uint64_t next_ns;    /* when to compare again */
	uint64_t asked_ns;   /* when its code was asked for, the last time */
	unsigned misses;     /* looks that found nothing where something had been executed */
	size_t held; /* bytes of it, as counted in the reader's */
};

/* What a file says of V8; shared by all processes that run it. */
struct v8_file {
	uint64_t device, inode;
	struct v8_layout layout;
	bool usable;
};

/* A file as mapped from one offset on. */
struct mapped_runtime {
	uint64_t device, inode, offset;
	struct runtime_variables has;
};

/* Versions of a runtime that are not known. */
struct unread {
	uint64_t count;
	unsigned major, minor; /* of the last one */
	bool newer;	       /* than all that are known */
};

struct runtime_reader {
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, idle;
	VEC(struct question) queue;
	bool ending, pausing, busy, has_thread;
	struct map told_files; /* pid -> whether its interpreter was asked for; the recorder's */
	pthread_t thread;
	uint64_t left_out;
	struct unread unread_java, unread_v8, unread_dotnet;
	VEC(struct runtime_interpreter) interpreters;
	VEC(struct runtime_gone) gone;
	atomic_size_t ngone;   /* of them */
	atomic_bool has_runtimes;
	uint64_t asked_ns;     /* the recorder's: for a check */
	atomic_size_t ninterpreters; /* of them */
	atomic_bool hurry; /* what is asked is only counted */
	const struct priority *first; /* NULL: the thread is an ordinary one */
	/* The thread's, or the recorder's while it pauses. */
	struct priority priority;
	struct map by_pid;
	struct managed_files files;
	VEC(struct v8_file *) v8_files;
	VEC(struct mapped_runtime) mapped;
	struct managed_view *view;
	struct budget budget;
	uint64_t spent_ns;
	uint64_t ticks_until_ns; /* without being asked */
	size_t held; /* bytes, of all processes */
};

struct runtime_reader *runtime_reader_new(const struct priority *first)
{
	struct runtime_reader *r = memory_zeroed(1, sizeof(*r));

	r->first = first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	pthread_cond_init(&r->idle, NULL);
	budget_init(&r->budget, clock_now_ns(CLOCK_MONOTONIC), 0);
	r->files.reader = foreign_reader_new(FOREIGN_THREAD);
	return r;
}

/* ---- processes ------------------------------------------------------------------------------------- */

static struct process *process_of(const struct map_slot *slot)
{
	return (struct process *)(uintptr_t)slot->value;
}

static struct process *find(const struct runtime_reader *r, uint32_t pid)
{
	const uint64_t *slot = map_get(&r->by_pid, pid);

	return slot ? (struct process *)(uintptr_t)*slot : NULL;
}

static void count_held(struct runtime_reader *r, struct process *p)
{
	size_t now = p->dump.cap + (p->hotspot ? hotspot_held(p->hotspot) : 0) + (p->v8 ? v8_held(p->v8) : 0) +
		     (p->dotnet ? dotnet_held(p->dotnet) : 0);

	for (size_t i = 0; i < p->ngdb_jits; i++)
		now += gdb_jit_held(p->gdb_jits[i]);
	r->held += now - p->held;
	p->held = now;
}

/* What is known of it was there until then; as long as it can be read that is looked at before. */
static void put_checked(struct process *p)
{
	if (p->hotspot && p->dump.len)
		jitdump_put_checked(&p->dump, hotspot_checked_ns(p->hotspot) + UNCHECKED_NS);
	if (p->v8 && p->dump.len)
		jitdump_put_checked(&p->dump, v8_checked_ns(p->v8) + UNCHECKED_NS);
}

/* The program that it was is gone. */
static void close_process(struct process *p)
{
	if (p->v8)
		v8_end(p->v8, UNCHECKED_NS, &p->dump);
	put_checked(p);
	hotspot_free(p->hotspot);
	v8_free(p->v8);
	dotnet_free(p->dotnet);
	for (size_t i = 0; i < p->ngdb_jits; i++)
		gdb_jit_free(p->gdb_jits[i]);
	p->hotspot = NULL;
	p->v8 = NULL;
	p->dotnet = NULL;
	p->ngdb_jits = 0;
	task_memory_close(&p->memory);
	p->interpreter_len = 0;
	p->looks = 0;
}

static void free_process(struct process *p)
{
	close_process(p);
	writer_deinit(&p->dump);
	free(p);
}

/* What was read of it stays; others get its place if that is nothing. @p may be NULL. */
static void end_process(struct runtime_reader *r, struct process *p)
{
	if (!p)
		return;
	close_process(p);
	count_held(r, p);
	if (p->dump.len)
		return;
	map_remove(&r->by_pid, p->pid);
	free_process(p);
}

static struct process *get(struct runtime_reader *r, uint32_t pid)
{
	struct process *p = find(r, pid);

	if (p || r->by_pid.len >= PROCESSES_MAX)
		return p;
	p = memory_zeroed(1, sizeof(*p));
	p->pid = pid;
	p->memory.pagemap_fd = -1;
	*map_put(&r->by_pid, pid, NULL) = (uintptr_t)p;
	return p;
}

static void read_memory(void *context, struct task_memory_piece *pieces, size_t count)
{
	const struct process *p = context;

	if (count == 1)
		pieces[0].got = task_memory_read(&p->memory, pieces[0].addr, pieces[0].to, pieces[0].len);
	else
		task_memory_read_pieces(&p->memory, pieces, count);
}

/* ---- finding the runtime --------------------------------------------------------------------------- */

static bool is_libjvm(const char *name)
{
	return strcmp(name, "libjvm.so") == 0;
}

static const char *const no_loops[] = { NULL };

/* Only what managed_files_get() asks for: two groups of symbols of one file. */
static const struct managed_runtime structs_in_file = { .symbols = hotspot_structs_symbols,
							.loops = no_loops,
							.is_file = is_libjvm };
static const struct managed_runtime types_in_file = { .symbols = hotspot_types_symbols,
						      .loops = no_loops,
						      .is_file = is_libjvm };

static bool find_symbols(struct runtime_reader *r, const struct managed_runtime *which, const struct managed_place *place,
			 size_t count, uint64_t *ret)
{
	uint64_t bias;
	const struct managed_binary *binary = managed_files_get(&r->files, which, place, &bias, NULL);

	for (size_t i = 0; i < count; i++) {
		if (!binary || !binary->symbols[i].found)
			return false;
		ret[i] = binary->symbols[i].vaddr + bias;
	}
	return true;
}

static void note_version(struct runtime_reader *r, struct unread *of, struct unread version)
{
	pthread_mutex_lock(&r->lock);
	version.count = of->count + 1;
	*of = version;
	pthread_mutex_unlock(&r->lock);
}

/* The recorder keeps what its frames execute from then on. */
static void tell_interpreter(struct runtime_reader *r, struct process *p, uint64_t start, uint64_t len)
{
	struct runtime_interpreter found = { .start = start, .len = len, .pid = p->pid, .is_v8 = p->v8 };

	if (!len || (p->interpreter == start && p->interpreter_len == len))
		return;
	p->interpreter = start;
	p->interpreter_len = len;
	pthread_mutex_lock(&r->lock);
	vec_push(&r->interpreters, found);
	r->ninterpreters = r->interpreters.len;
	pthread_mutex_unlock(&r->lock);
}

/* @starts: it has just begun, and nothing of it was executed yet. */
static void open_hotspot(struct runtime_reader *r, struct process *p, const struct managed_place *place, bool starts)
{
	uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], types[HOTSPOT_TYPE_SYMBOLS];
	struct hotspot_layout layout;

	if (!find_symbols(r, &types_in_file, place, HOTSPOT_TYPE_SYMBOLS, types) ||
	    !find_symbols(r, &structs_in_file, place, HOTSPOT_STRUCT_SYMBOLS, structs))
		return;
	bool usable = runtime_file_hotspot(r->files.reader, place, structs, types, &layout) && task_memory_open(&p->memory, p->pid);

	if (!usable && starts)
		p->looks = 0; /* what the tables lead to may not be there yet */
	else if (!usable)
		note_version(r, &r->unread_java, (struct unread){ .major = layout.jdk, .newer = layout.jdk > HOTSPOT_JDK_MAX });
	else
		p->hotspot = hotspot_new(&layout, p->pid);
}

/* NULL if it did not answer. The layout is not believed: a hostile file may have had the reader write it. */
static const struct v8_file *get_v8_file(struct runtime_reader *r, const struct managed_place *place)
{
	struct v8_layout layout;
	bool usable;

	for (size_t i = 0; i < r->v8_files.len; i++) {
		struct v8_file *known = r->v8_files.items[i];

		if (known->device == place->device && known->inode == place->inode)
			return known;
	}
	if (r->v8_files.len >= MANAGED_FILES_MAX || !runtime_file_v8(r->files.reader, place, &layout, &usable))
		return NULL;
	struct v8_file *file = memory_zeroed(1, sizeof(*file));

	*file = (struct v8_file){ place->device, place->inode, layout, false };
	file->usable = usable && v8_layout_check(&file->layout);
	vec_push(&r->v8_files, file);
	return file;
}

/* How long a process has been there, in nanoseconds; 0: it cannot be told. */
static uint64_t age_of(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	uint64_t age_ns = proc_fd < 0 ? UINT64_MAX : process_age_ns(proc_fd);

	if (proc_fd >= 0)
		close(proc_fd);
	return age_ns == UINT64_MAX ? 0 : age_ns;
}

static void open_v8(struct runtime_reader *r, struct process *p, const struct managed_place *place)
{
	const struct v8_file *file = get_v8_file(r, place);

	if (!file || !file->usable || !task_memory_open(&p->memory, p->pid)) {
		note_version(r, &r->unread_v8,
			     (struct unread){ .major = file ? file->layout.major : 0, .minor = file ? file->layout.minor : 0,
					      .newer = file && v8_layout_is_newer(&file->layout) });
		return;
	}
	p->v8 = v8_new(&file->layout, p->pid, age_of(p->pid));
	tell_interpreter(r, p, file->layout.entry, file->layout.entry_len);
}

/* ---- GDB's JIT interface, and .NET ------------------------------------------------------------------ */

/* NULL if it did not answer, or there is no room for it. */
static const struct mapped_runtime *get_mapped(struct runtime_reader *r, const struct managed_place *place)
{
	struct mapped_runtime found = { place->device, place->inode, place->offset, { 0 } };

	for (size_t i = 0; i < r->mapped.len; i++) {
		struct mapped_runtime *known = &r->mapped.items[i];

		if (known->device == place->device && known->inode == place->inode && known->offset == place->offset)
			return known;
	}
	if (r->mapped.len >= FILES_MAX || !runtime_file_variables(r->files.reader, place, &found.has))
		return NULL;
	vec_push(&r->mapped, found);
	return &r->mapped.items[r->mapped.len - 1];
}

/* .NET's runtime is a library, or part of a program that has all in one file. */
static void open_dotnet(struct runtime_reader *r, struct process *p, uint64_t start, const struct runtime_variables *has)
{
	p->looks = LOOKS_MAX;
	if (arch_native() == &arch_x86_64 && task_memory_open(&p->memory, p->pid))
		p->dotnet = dotnet_new(has->dotnet_major, start + has->dac_table, p->pid);
	if (!p->dotnet)
		note_version(r, &r->unread_dotnet,
			     (struct unread){ .major = has->dotnet_major, .minor = has->dotnet_minor,
					      .newer = has->dotnet_major > DOTNET_VERSION_MAX });
}

struct place_search {
	struct runtime_reader *reader;
	struct process *process;
};

static bool take_place(void *context, const struct managed_place *place)
{
	struct place_search *search = context;
	struct process *p = search->process;
	const struct mapped_runtime *file = get_mapped(search->reader, place);

	if (file && file->has.dac_table && !p->ngdb_jits) {
		open_dotnet(search->reader, p, place->start, &file->has);
		return false;
	}
	if (file && file->has.jit_descriptor && (p->ngdb_jits || task_memory_open(&p->memory, p->pid)))
		p->gdb_jits[p->ngdb_jits++] = gdb_jit_new(place->start + file->has.jit_descriptor, p->pid);
	return p->ngdb_jits < GDB_JITS_MAX;
}

/* ---- looking at a process -------------------------------------------------------------------------- */

static bool has_runtime(const struct process *p)
{
	return p->hotspot || p->v8 || p->dotnet || p->ngdb_jits;
}

/* Others may have to be waited for meanwhile, which counts like work. */
static void look_at(struct runtime_reader *r, struct process *p, bool has_jit)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	char *path = memory_alloc(PATH_MAX);
	struct managed_place place;

	p->looks++;
	if (managed_place_find(p->pid, &structs_in_file, path, &place)) {
		p->looks = LOOKS_MAX;
		open_hotspot(r, p, &place, !has_jit);
	} else if (managed_place_find(p->pid, &v8_in_file, path, &place)) {
		p->looks = LOOKS_MAX;
		open_v8(r, p, &place);
	} else if (has_jit) {
		managed_place_each(p->pid, take_place, &(struct place_search){ r, p });
	}
	free(path);
	p->looked_ns = clock_now_ns(CLOCK_MONOTONIC);
	r->spent_ns += p->looked_ns - begin_ns;
}

/* A library with a compiler may be loaded when the program runs for long. */
static bool wants_look(const struct process *p)
{
	if (has_runtime(p) || p->looks >= LOOKS_MAX)
		return false;
	return !p->looks || clock_now_ns(CLOCK_MONOTONIC) - p->looked_ns >= LOOK_AGAIN_NS;
}

/* ---- the thread ------------------------------------------------------------------------------------ */

static void add_gone(struct runtime_reader *r, const struct runtime_gone *gone)
{
	pthread_mutex_lock(&r->lock);
	if (r->gone.len < GONE_MAX)
		vec_push(&r->gone, *gone);
	r->ngone = r->gone.len;
	pthread_mutex_unlock(&r->lock);
}

/* While it is being made it is longer. */
static void look_for_interpreter(struct runtime_reader *r, struct process *p)
{
	uint64_t start, len;

	if (hotspot_interpreter(p->hotspot, r->view, &start, &len))
		tell_interpreter(r, p, start, len);
}

static void ask_hotspot(struct runtime_reader *r, struct process *p, const struct question *q)
{
	if (q->ask == ASK_BYTECODE && hotspot_is_late(p->hotspot, q->time_ns))
		add_gone(r, &(struct runtime_gone){ q->ip, q->ip + 1, p->pid });
	else if (q->ask == ASK_BYTECODE)
		hotspot_look_bytecode(p->hotspot, r->view, q->ip, q->function, &p->dump);
	else
		hotspot_look(p->hotspot, r->view, q->ip, q->ask == ASK_LEAF ? HOTSPOT_LEAF : HOTSPOT_CALLER, &p->dump);
	look_for_interpreter(r, p);
}

static void ask_v8(struct runtime_reader *r, struct process *p, const struct question *q)
{
	if (q->ask == ASK_BYTECODE)
		v8_look_bytecode(p->v8, r->view, &(struct v8_bytecode_at){ q->ip, q->function, q->feedback, q->offset }, &p->dump);
	else if (!v8_look(p->v8, r->view, q->ip, q->ask == ASK_LEAF ? V8_LEAF : V8_CALLER, &p->dump) && q->ask == ASK_LEAF &&
		 p->misses++ < MISSES_MAX)
		add_gone(r, &(struct runtime_gone){ q->ip, q->ip + 1, p->pid }); /* it was executed, but was freed before this look */
}

static bool read_gdb_list(struct runtime_reader *r, struct process *p, struct gdb_jit *jit)
{
	bool more = true;

	for (unsigned views = 0; views < GDB_VIEWS_MAX && more; views++) {
		managed_view_begin(r->view, read_memory, p, LOOK_NS);
		more = gdb_jit_read_list(jit, r->view, &p->dump);
	}
	return !more;
}

static void ask_gdb_jits(struct runtime_reader *r, struct process *p, const struct question *q)
{
	for (size_t i = 0; i < p->ngdb_jits; i++) {
		read_gdb_list(r, p, p->gdb_jits[i]);
		managed_view_begin(r->view, read_memory, p, LOOK_NS);
		if (gdb_jit_look(p->gdb_jits[i], r->view, q->ip, q->ask == ASK_LEAF, &p->dump))
			return;
	}
}

/*
 * The dump's records from @begin on are new. What is gone was last known to be there at @checked_ns. The recorder is told which addresses may have other code from now on.
 */
static void stamp(struct runtime_reader *r, struct process *p, size_t begin)
{
	struct jitdump_record rec;
	struct jitdump dump = { 0 };

	if (p->dump.len == begin)
		return;
	jitdump_set_times(&p->dump, begin, clock_now_ns(CLOCK_MONOTONIC), p->checked_ns);
	reader_init(&dump.reader, p->dump.data + begin, p->dump.len - begin, /* big_endian= */ false);
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_GONE)
			add_gone(r, &(struct runtime_gone){ rec.ip, rec.ip + rec.len, p->pid });
	}
}

static bool compare(struct runtime_reader *r, struct process *p)
{
	bool done = true;

	managed_view_begin(r->view, read_memory, p, LOOK_NS);
	if (p->hotspot)
		return hotspot_compare(p->hotspot, r->view, &p->dump);
	if (p->v8)
		return v8_compare(p->v8, r->view, &p->dump);
	if (p->dotnet)
		return dotnet_compare(p->dotnet, r->view, &p->dump);
	for (size_t i = 0; i < p->ngdb_jits; i++)
		done = read_gdb_list(r, p, p->gdb_jits[i]) && done;
	return done;
}

/* Is what is known of the process's code still true? Code that is gone holds until it was last seen to be there. */
static void check(struct runtime_reader *r, struct process *p, bool at_once)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t begin = p->dump.len;
	bool done = false;

	managed_view_begin(r->view, read_memory, p, LOOK_NS);
	if (now_ns < p->next_ns && !at_once) {
		if (p->hotspot)
			hotspot_watch(p->hotspot, r->view);
		if (p->v8)
			v8_watch(p->v8, r->view);
		return;
	}
	if (!p->check_ns)
		p->check_ns = now_ns;
	for (unsigned views = 0; views < CHECK_VIEWS && !done; views++)
		done = compare(r, p);
	stamp(r, p, begin);
	p->next_ns = now_ns + MAX(CHECK_NS, CHECK_RATE * (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns));
	if (!done)
		return;
	p->checked_ns = p->check_ns;
	p->check_ns = 0;
}

/* Those whose code was asked for since @since_ns. */
static void check_all(struct runtime_reader *r, uint64_t since_ns, bool at_once)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));) {
		struct process *p = process_of(slot);

		if (!has_runtime(p) || !p->dump.len || p->dump.len > DUMP_LEN_MAX || p->asked_ns < since_ns)
			continue;
		check(r, p, at_once);
		count_held(r, p);
	}
}

static bool answer(struct runtime_reader *r, const struct question *q)
{
	if (q->ask == ASK_CHECK) {
		check_all(r, 0, q->at_once);
		return true;
	}
	struct process *p = q->ask == ASK_END ? find(r, q->pid) : get(r, q->pid);

	if (q->ask == ASK_END) {
		end_process(r, p);
		return true;
	}
	if (!p)
		return false;
	if (wants_look(p))
		look_at(r, p, q->ask != ASK_PROCESS);
	if (p->hotspot && q->ask == ASK_PROCESS) {
		managed_view_begin(r->view, read_memory, p, LOOK_NS);
		look_for_interpreter(r, p);
		p->asked_ns = clock_now_ns(CLOCK_MONOTONIC);
		r->ticks_until_ns = p->asked_ns + TICKED_NS;
	}
	if (!has_runtime(p) || q->ask == ASK_PROCESS)
		return true;
	if (p->dump.len > DUMP_LEN_MAX || r->held > HELD_MAX)
		return false;
	if (!p->dump.len)
		jitdump_put_header(&p->dump, arch_native()->elf_machine, p->pid, 0);
	r->has_runtimes = true;
	p->asked_ns = clock_now_ns(CLOCK_MONOTONIC);
	r->ticks_until_ns = p->asked_ns + TICKED_NS;
	check(r, p, /* at_once= */ false);
	size_t begin = p->dump.len;

	managed_view_begin(r->view, read_memory, p, LOOK_NS);
	if (p->hotspot)
		ask_hotspot(r, p, q);
	else if (p->v8)
		ask_v8(r, p, q);
	else if (p->dotnet)
		dotnet_look(p->dotnet, r->view, q->ip, q->ask == ASK_LEAF, &p->dump);
	else
		ask_gdb_jits(r, p, q);
	stamp(r, p, begin);
	count_held(r, p);
	return true;
}

static bool within_budget(struct runtime_reader *r)
{
	return budget_charge(&r->budget, clock_now_ns(CLOCK_MONOTONIC), r->spent_ns);
}

static void answer_all(struct runtime_reader *r, const struct question *questions, size_t count, uint64_t *ret_left_out)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t i = 0; i < count; i++) {
		bool paid = !r->hurry && (i % 16 || within_budget(r));
		uint64_t end_ns;

		*ret_left_out += (!paid && questions[i].ask < ASK_CHECK) || !answer(r, &questions[i]);
		end_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
		r->spent_ns += end_ns - begin_ns;
		begin_ns = end_ns;
	}
}

/* Of machines that have just begun, and had none yet when they were asked. */
static void look_for_interpreters(struct runtime_reader *r, uint64_t since_ns)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));) {
		struct process *p = process_of(slot);

		if (!p->hotspot || p->interpreter_len || p->asked_ns < since_ns)
			continue;
		managed_view_begin(r->view, read_memory, p, LOOK_NS);
		look_for_interpreter(r, p);
	}
}

static void tick(struct runtime_reader *r)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	look_for_interpreters(r, clock_now_ns(CLOCK_MONOTONIC) - TICKED_NS);
	check_all(r, clock_now_ns(CLOCK_MONOTONIC) - TICKED_NS, /* at_once= */ false);
	r->spent_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* By the clock that pthread_cond_timedwait() goes by. */
static struct timespec in_a_while(uint64_t wait_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	wait_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(wait_ns / 1000000000ULL);
	until.tv_nsec = (long)(wait_ns % 1000000000ULL);
	return until;
}

/* Wait for questions; without any, for the next look at what has changed, if there is one to be taken. */
static bool wait_for_tick(struct runtime_reader *r)
{
	if (r->pausing || clock_now_ns(CLOCK_MONOTONIC) >= r->ticks_until_ns) {
		pthread_cond_wait(&r->more, &r->lock);
		return false;
	}
	struct timespec until = in_a_while(TICK_NS);

	return pthread_cond_timedwait(&r->more, &r->lock, &until) == ETIMEDOUT && !r->ending && !r->pausing && !r->queue.len;
}

static void *run(void *context)
{
	struct runtime_reader *r = context;
	VEC(struct question) taken = { 0 };

	if (r->first)
		priority_join(&r->priority, r->first);
	pthread_mutex_lock(&r->lock);
	while (!r->ending) {
		uint64_t left_out = 0;

		if ((!r->queue.len || r->pausing) && !wait_for_tick(r))
			continue;
		taken.len = 0;
		vec_append(&taken, r->queue.items, r->queue.len);
		r->queue.len = 0;
		r->busy = true;
		pthread_mutex_unlock(&r->lock);
		answer_all(r, taken.items, taken.len, &left_out);
		if (!taken.len && within_budget(r))
			tick(r);
		priority_check(&r->priority);
		pthread_mutex_lock(&r->lock);
		r->left_out += left_out;
		r->busy = false;
		pthread_cond_signal(&r->idle);
	}
	pthread_mutex_unlock(&r->lock);
	vec_deinit(&taken);
	return NULL;
}

void runtime_reader_free(struct runtime_reader *r)
{
	const struct map_slot *slot;
	struct timespec until = in_a_while(WAIT_NS);

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->ending = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	if (r->has_thread && pthread_timedjoin_np(r->thread, NULL, &until) != 0)
		return;
	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));)
		free_process(process_of(slot));
	map_deinit(&r->by_pid);
	map_deinit(&r->told_files);
	for (size_t i = 0; i < r->v8_files.len; i++)
		free(r->v8_files.items[i]);
	vec_deinit(&r->v8_files);
	vec_deinit(&r->mapped);
	managed_files_deinit(&r->files);
	vec_deinit(&r->queue);
	vec_deinit(&r->interpreters);
	vec_deinit(&r->gone);
	free(r->view);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->idle);
	free(r);
}

/* ---- what the recorder tells ----------------------------------------------------------------------- */

static void ask(struct runtime_reader *r, struct question q)
{
	pthread_mutex_lock(&r->lock);
	if (!r->has_thread) {
		r->view = memory_zeroed(1, sizeof(*r->view));
		r->view->by_cpu_time = true; /* on a busy machine it waits for a CPU longer than it reads */
		r->has_thread = pthread_create(&r->thread, NULL, run, r) == 0;
	}
	if (r->queue.len < QUEUE_MAX && r->has_thread)
		vec_push(&r->queue, q);
	else
		r->left_out++;
	if (!r->pausing)
		pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

void runtime_reader_tell_file(struct runtime_reader *r, uint32_t pid, const char *path)
{
	const char *slash = strrchr(path, '/');
	bool is_new = false;

	if (!slash || !v8_in_file.is_file(slash + 1) || r->told_files.len >= TOLD_MAX)
		return;
	map_put(&r->told_files, pid, &is_new);
	if (is_new)
		ask(r, (struct question){ .pid = pid, .ask = ASK_PROCESS });
}

void runtime_reader_tell_code(struct runtime_reader *r, uint32_t pid)
{
	ask(r, (struct question){ .pid = pid, .ask = ASK_PROCESS });
}

void runtime_reader_tell(struct runtime_reader *r, uint32_t pid, uint64_t ip, bool leaf)
{
	ask(r, (struct question){ .ip = ip, .pid = pid, .ask = leaf ? ASK_LEAF : ASK_CALLER });
}

void runtime_reader_tell_bytecode(struct runtime_reader *r, uint32_t pid, struct runtime_bytecode bytecode)
{
	ask(r, (struct question){ .ip = bytecode.bytecode,
				 .function = bytecode.function,
				 .feedback = bytecode.feedback,
				 .time_ns = bytecode.time_ns,
				 .pid = pid,
				 .offset = bytecode.offset,
				 .ask = ASK_BYTECODE });
}

bool runtime_reader_interpreter(struct runtime_reader *r, struct runtime_interpreter *ret)
{
	bool any;

	if (!r->ninterpreters)
		return false;
	pthread_mutex_lock(&r->lock);
	any = r->interpreters.len;
	if (any)
		*ret = r->interpreters.items[--r->interpreters.len];
	r->ninterpreters = r->interpreters.len;
	pthread_mutex_unlock(&r->lock);
	return any;
}

bool runtime_reader_gone(struct runtime_reader *r, struct runtime_gone *ret)
{
	bool any;

	if (!r->ngone)
		return false;
	pthread_mutex_lock(&r->lock);
	any = r->gone.len;
	if (any)
		*ret = r->gone.items[--r->gone.len];
	r->ngone = r->gone.len;
	pthread_mutex_unlock(&r->lock);
	return any;
}

void runtime_reader_check(struct runtime_reader *r)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (!r->has_runtimes || now_ns - r->asked_ns < CHECK_NS)
		return;
	r->asked_ns = now_ns;
	ask(r, (struct question){ .ask = ASK_CHECK });
}

void runtime_reader_end(struct runtime_reader *r, uint32_t pid)
{
	map_remove(&r->told_files, pid);
	if (r->has_thread)
		ask(r, (struct question){ .pid = pid, .ask = ASK_END });
}

static void say_java(const struct unread *java, struct diag *notes)
{
	if (java->count && java->newer)
		diag_warn(notes, "JDK %u is newer than this precord knows; %u to %u are read", java->major, HOTSPOT_JDK_MIN,
			  HOTSPOT_JDK_MAX);
	else if (java->count)
		diag_warn(notes, "the tables of %" PRIu64 " Java virtual machines could not be read: their code has no names",
			  java->count);
}

static void say_v8(const struct unread *v8, struct diag *notes)
{
	if (v8->count && v8->newer)
		diag_warn(notes, "V8 %u.%u is newer than this precord knows; " V8_VERSIONS " are read", v8->major, v8->minor);
	else if (v8->count && v8->major)
		diag_warn(notes, "V8 %u.%u is not among those that this precord reads, " V8_VERSIONS ": its code has no names",
			  v8->major, v8->minor);
	else if (v8->count)
		diag_warn(notes, "%" PRIu64 " processes with V8 could not be read: their code has no names", v8->count);
}

static void say_dotnet(const struct unread *dotnet, struct diag *notes)
{
	if (dotnet->count && dotnet->newer)
		diag_warn(notes, ".NET %u.%u is newer than this precord knows; " DOTNET_VERSIONS " are read", dotnet->major, dotnet->minor);
	else if (dotnet->count && dotnet->major)
		diag_warn(notes, ".NET %u.%u is not among those that this precord reads, " DOTNET_VERSIONS ": its code has no names",
			  dotnet->major, dotnet->minor);
	else if (dotnet->count)
		diag_warn(notes, "%" PRIu64 " processes with .NET could not be read: their code has no names", dotnet->count);
}

static void say(struct runtime_reader *r, struct diag *notes)
{
	if (r->left_out)
		diag_warn(notes,
			  "%" PRIu64 " addresses of code that a runtime made were not looked up: there was no time or room for more",
			  r->left_out);
	say_java(&r->unread_java, notes);
	say_v8(&r->unread_v8, notes);
	say_dotnet(&r->unread_dotnet, notes);
	r->left_out = r->unread_java.count = r->unread_v8.count = r->unread_dotnet.count = 0;
}

/* The thread rests: all is answered, or a second has passed. False if it does not even come back from what it is at. */
static bool rest(struct runtime_reader *r, struct diag *notes)
{
	struct timespec until = in_a_while(WAIT_NS);
	bool idle;

	pthread_mutex_lock(&r->lock);
	while ((r->busy || r->queue.len) && pthread_cond_timedwait(&r->idle, &r->lock, &until) == 0)
		;
	r->left_out += r->queue.len;
	r->queue.len = 0;
	r->pausing = true;
	r->hurry = true;
	until = in_a_while(WAIT_NS);
	while (r->busy && pthread_cond_timedwait(&r->idle, &r->lock, &until) == 0)
		;
	idle = !r->busy;
	if (notes)
		say(r, notes);
	pthread_mutex_unlock(&r->lock);
	return idle;
}

bool runtime_reader_pause(struct runtime_reader *r, struct diag *notes)
{
	const struct map_slot *slot;

	if (r->has_runtimes)
		ask(r, (struct question){ .ask = ASK_CHECK, .at_once = true });
	bool idle = rest(r, notes);

	for (size_t pos = 0; idle && (slot = map_next(&r->by_pid, &pos));)
		put_checked(process_of(slot));
	if (!idle)
		diag_warn(notes, "reading what a runtime knows of its code hangs: that code has no names");
	return idle;
}

void runtime_reader_resume(struct runtime_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->pausing = false;
	r->hurry = false;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

const void *runtime_reader_dump(const struct runtime_reader *r, uint32_t pid, size_t *ret_len)
{
	const struct process *p = find(r, pid);

	*ret_len = p ? p->dump.len : 0;
	return *ret_len ? p->dump.data : NULL;
}

void runtime_reader_forget(struct runtime_reader *r)
{
	const struct map_slot *slot;

	if (!rest(r, NULL))
		return;
	for (size_t pos = 0; (slot = map_next(&r->by_pid, &pos));)
		free_process(process_of(slot));
	map_clear(&r->by_pid);
	r->held = 0;
	runtime_reader_resume(r);
}
