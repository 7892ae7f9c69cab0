/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_process.c - a process has one of the runtimes that are known by their tables, or registered code with GDB's interface.
 *
 * Only present memory is read (task_memory.h). Names in the tables of libjvm.so are in pages that the process never touches, so they are
 * read from the file, by a foreign_reader because the file may be another user's; everything after that is read from memory
 * and does not block.
 */
#include "record/runtime/runtime_process.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/dotnet.h"
#include "record/runtime/gdb_jit.h"
#include "record/runtime/hotspot.h"
#include "record/runtime/hotspot_threads.h"
#include "record/runtime/runtime_tids.h"
#include "record/runtime/v8.h"
#include "record/task/process_age.h"
#include "record/task/task_memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS	      1000000ULL    /* for one address */
#define GDB_JITS_MAX  4		    /* descriptors of one process */
#define FILES_MAX     512	    /* that were looked into for one, or for .NET's runtime */
#define GDB_VIEWS_MAX 16	    /* that one look may take to read a list */
#define CHECK_RATE    20	    /* between comparisons at least so many times as long as one takes */
#define CHECK_RATE_V8 100	    /* where what is used is compared more often */
#define CHECK_VIEWS   64	    /* that one may take */
#define AGAIN_NS      250000000ULL  /* what is used is asked for again, so that it is known to be used, and to be there */
#define RECENT_ONCE_NS 10000000ULL  /* of CPU time, for comparing what is used */
#define UNCHECKED_NS  20000000ULL /* before the end, in which no code is freed and its memory filled and sampled again */
#define LOOK_AGAIN_NS 1000000000ULL /* whether a runtime has been loaded meanwhile, */
#define LOOKS_MAX     8		    /* so often */
#define MISSES_MAX    512	    /* looked for again, of one process */
#define LATER_MAX     256	    /* looks that wait to be taken again, of one process, */
#define LATER_TRIES   8		    /* so often, */
#define LATER_NS      25000000ULL   /* so long after the first time and each time LATER_RATE times as long */
#define LATER_RATE    2
#define LATER_ONCE    32	    /* with one call */

/* A look that is to be taken again. */
struct later {
	struct runtime_look look;
	uint64_t due_ns, wait_ns;
	unsigned tries;
};

struct runtime_process {
	uint32_t pid;
	struct runtime_files *files;
	struct managed_view *view;
	struct runtime_news *news;
	uint64_t interpreter, interpreter_len; /* as the recorder knows it */
	unsigned looks;
	uint64_t looked_ns;
	struct task_memory memory;
	struct hotspot *hotspot;
	struct hotspot_threads *threads; /* if it has a hotspot */
	struct hotspot_layout layout;	 /* theirs */
	struct runtime_tids tids;
	struct v8 *v8;
	struct managed_place v8_place; /* its file; the path is its own */
	char *v8_path;
	struct dotnet *dotnet;
	struct gdb_jit *gdb_jits[GDB_JITS_MAX];
	size_t ngdb_jits;
	struct writer dump;
	uint64_t checked_ns; /* when the last comparison began: all that was known then, and is not said to be gone, was there */
	uint64_t check_ns;   /* when the one that goes on began; 0: none does */
	uint64_t next_ns;    /* when to compare again, */
	uint64_t recent_ns;  /* what is used, */
	uint64_t again_ns;   /* and to have it asked for again */
	bool asked;	     /* since then */
	unsigned misses;     /* looks that found nothing where something had been executed */
	bool missed;	     /* what the look that goes on needs is not in memory, or there was no time to read it */
	VEC(struct later) later;
};

struct runtime_process *runtime_process_new(uint32_t pid, struct runtime_files *files, struct managed_view *view,
					    struct runtime_news *news)
{
	struct runtime_process *p = memory_zeroed(1, sizeof(*p));

	p->pid = pid;
	p->files = files;
	p->view = view;
	p->news = news;
	p->memory.pagemap_fd = -1;
	return p;
}

void runtime_process_put_checked(struct runtime_process *p)
{
	if (p->hotspot && p->dump.len)
		jitdump_put_checked(&p->dump, hotspot_checked_ns(p->hotspot) + UNCHECKED_NS);
	if (p->v8 && p->dump.len)
		jitdump_put_checked(&p->dump, v8_checked_ns(p->v8) + UNCHECKED_NS);
}

void runtime_process_close(struct runtime_process *p)
{
	if (p->v8)
		v8_end(p->v8, UNCHECKED_NS, &p->dump);
	runtime_process_put_checked(p);
	hotspot_free(p->hotspot);
	hotspot_threads_free(p->threads);
	runtime_tids_deinit(&p->tids);
	v8_free(p->v8);
	dotnet_free(p->dotnet);
	for (size_t i = 0; i < p->ngdb_jits; i++)
		gdb_jit_free(p->gdb_jits[i]);
	free(p->v8_path);
	p->v8_path = NULL;
	p->hotspot = NULL;
	p->threads = NULL;
	p->v8 = NULL;
	p->dotnet = NULL;
	p->ngdb_jits = 0;
	vec_deinit(&p->later);
	task_memory_close(&p->memory);
	p->interpreter_len = 0;
	p->looks = 0;
}

void runtime_process_free(struct runtime_process *p)
{
	runtime_process_close(p);
	writer_deinit(&p->dump);
	free(p);
}

const struct writer *runtime_process_dump(const struct runtime_process *p)
{
	return &p->dump;
}

size_t runtime_process_held(const struct runtime_process *p)
{
	size_t held = p->dump.cap + p->later.cap * sizeof(*p->later.items) + (p->hotspot ? hotspot_held(p->hotspot) : 0) + hotspot_threads_held(p->threads) +
		      (p->v8 ? v8_held(p->v8) : 0) +
		      (p->dotnet ? dotnet_held(p->dotnet) : 0);

	for (size_t i = 0; i < p->ngdb_jits; i++)
		held += gdb_jit_held(p->gdb_jits[i]);
	return held;
}

void runtime_files_deinit(struct runtime_files *files)
{
	for (size_t i = 0; i < files->v8.len; i++)
		free(files->v8.items[i]);
	vec_deinit(&files->v8);
	vec_deinit(&files->mapped);
	managed_files_deinit(&files->files);
}

static void read_memory(void *context, struct task_memory_piece *pieces, size_t count)
{
	const struct runtime_process *p = context;

	if (count == 1)
		pieces[0].got = task_memory_read(&p->memory, pieces[0].addr, pieces[0].to, pieces[0].len);
	else
		task_memory_read_pieces(&p->memory, pieces, count);
}

/* Of the file that has V8: text that is built in. */
static void read_file(void *context, struct task_memory_piece *pieces, size_t count)
{
	const struct runtime_process *p = context;

	for (size_t i = 0; i < count && p->v8_path; i++)
		pieces[i].got = runtime_file_bytes(p->files->files.reader, &p->v8_place, pieces[i].addr, pieces[i].to, pieces[i].len);
}

/* ---- Java and V8 ---- */

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

static bool find_symbols(struct runtime_files *files, const struct managed_runtime *which, const struct managed_place *place,
			 size_t count, uint64_t *ret)
{
	uint64_t bias;
	const struct managed_binary *binary = managed_files_get(&files->files, which, place, &bias, NULL);

	for (size_t i = 0; i < count; i++) {
		if (!binary || !binary->symbols[i].found)
			return false;
		ret[i] = binary->symbols[i].vaddr + bias;
	}
	return true;
}

/* The recorder keeps what its frames execute from then on. */
static void tell_interpreter(struct runtime_process *p, uint64_t start, uint64_t len)
{
	struct runtime_interpreter found = { .start = start, .len = len, .pid = p->pid, .is_v8 = p->v8 };

	if (!len || (p->interpreter == start && p->interpreter_len == len))
		return;
	p->interpreter = start;
	p->interpreter_len = len;
	runtime_news_put_interpreter(p->news, &found);
}

static void keep_hotspot(struct runtime_process *p, const struct hotspot_layout *layout)
{
	p->layout = *layout;
	p->hotspot = hotspot_new(layout, p->pid);
	p->threads = hotspot_threads_new(&p->layout);
}

/* @starts: it has just begun, and nothing of it was executed yet. */
static void open_hotspot(struct runtime_process *p, const struct managed_place *place, bool starts)
{
	uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], types[HOTSPOT_TYPE_SYMBOLS];
	struct hotspot_layout layout;

	if (!find_symbols(p->files, &types_in_file, place, HOTSPOT_TYPE_SYMBOLS, types) ||
	    !find_symbols(p->files, &structs_in_file, place, HOTSPOT_STRUCT_SYMBOLS, structs))
		return;
	bool usable = runtime_file_hotspot(p->files->files.reader, place, structs, types, &layout) && task_memory_open(&p->memory, p->pid);

	if (!usable && starts)
		p->looks = 0; /* what the tables lead to may not be there yet */
	else if (!usable)
		runtime_news_put_unread(p->news, RUNTIME_JAVA, (struct runtime_unread){ .major = layout.jdk, .newer = layout.jdk > HOTSPOT_JDK_MAX });
	else
		keep_hotspot(p, &layout);
}

/* Forget the oldest file that is none of V8's that can be read: nobody refers to it, and any user can begin others with such a name. */
static bool make_room(struct runtime_files *files)
{
	size_t i = 0;

	while (i < files->v8.len && files->v8.items[i]->usable)
		i++;
	if (i == files->v8.len)
		return false;
	free(files->v8.items[i]);
	vec_remove(&files->v8, i, 1);
	return true;
}

/* NULL if it did not answer. The layout is not believed: a hostile file may have had the reader write it. */
static const struct v8_file *get_v8_file(struct runtime_files *files, const struct managed_place *place)
{
	struct v8_layout layout;
	bool usable;

	for (size_t i = 0; i < files->v8.len; i++) {
		struct v8_file *known = files->v8.items[i];

		if (known->device == place->device && known->inode == place->inode)
			return known;
	}
	if ((files->v8.len >= MANAGED_FILES_MAX && !make_room(files)) || !runtime_file_v8(files->files.reader, place, &layout, &usable))
		return NULL;
	struct v8_file *file = memory_zeroed(1, sizeof(*file));

	*file = (struct v8_file){ place->device, place->inode, layout, false };
	file->usable = usable && v8_layout_check(&file->layout);
	vec_push(&files->v8, file);
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

static void open_v8(struct runtime_process *p, const struct managed_place *place)
{
	const struct v8_file *file = get_v8_file(p->files, place);

	if (!file || !file->usable || !task_memory_open(&p->memory, p->pid)) {
		runtime_news_put_unread(p->news, RUNTIME_V8,
			     (struct runtime_unread){ .major = file ? file->layout.major : 0, .minor = file ? file->layout.minor : 0,
					      .newer = file && v8_layout_is_newer(&file->layout),
					      .stripped = file && !file->layout.major });
		return;
	}
	p->v8 = v8_new(&file->layout, p->pid, age_of(p->pid));
	p->view->read_file = read_file;
	p->v8_place = *place;
	p->v8_place.path = p->v8_path = memory_strdup(place->path);
	tell_interpreter(p, file->layout.entry, file->layout.entry_len);
}

/* ---- GDB's JIT interface, and .NET ---- */

/* NULL if it did not answer, or there is no room for it. */
static const struct mapped_runtime *get_mapped(struct runtime_files *files, const struct managed_place *place)
{
	struct mapped_runtime found = { place->device, place->inode, place->offset, { 0 } };

	for (size_t i = 0; i < files->mapped.len; i++) {
		struct mapped_runtime *known = &files->mapped.items[i];

		if (known->device == place->device && known->inode == place->inode && known->offset == place->offset)
			return known;
	}
	if (files->mapped.len >= FILES_MAX || !runtime_file_variables(files->files.reader, place, &found.has))
		return NULL;
	vec_push(&files->mapped, found);
	return &files->mapped.items[files->mapped.len - 1];
}

/* .NET's runtime is a library, or part of a program that has all in one file. */
static void open_dotnet(struct runtime_process *p, uint64_t start, const struct runtime_variables *has)
{
	p->looks = LOOKS_MAX;
	if (arch_native() == &arch_x86_64 && task_memory_open(&p->memory, p->pid))
		p->dotnet = dotnet_new(has->dotnet_major, start + has->dac_table, p->pid);
	if (!p->dotnet)
		runtime_news_put_unread(p->news, RUNTIME_DOTNET,
			     (struct runtime_unread){ .major = has->dotnet_major, .minor = has->dotnet_minor,
					      .newer = has->dotnet_major > DOTNET_VERSION_MAX });
}

static bool take_place(void *context, const struct managed_place *place)
{
	struct runtime_process *p = context;
	const struct mapped_runtime *file = get_mapped(p->files, place);

	if (file && file->has.dac_table && !p->ngdb_jits) {
		open_dotnet(p, place->start, &file->has);
		return false;
	}
	if (file && file->has.jit_descriptor && (p->ngdb_jits || task_memory_open(&p->memory, p->pid)))
		p->gdb_jits[p->ngdb_jits++] = gdb_jit_new(place->start + file->has.jit_descriptor, p->pid);
	return p->ngdb_jits < GDB_JITS_MAX;
}

/* ---- looking for them ---- */

bool runtime_process_has_any(const struct runtime_process *p)
{
	return p->hotspot || p->v8 || p->dotnet || p->ngdb_jits;
}

static uint64_t look_at(struct runtime_process *p, bool has_jit)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_MONOTONIC);
	char *path = memory_alloc(PATH_MAX);
	struct managed_place place;

	p->looks++;
	if (managed_place_find(p->pid, &structs_in_file, path, &place)) {
		p->looks = LOOKS_MAX;
		open_hotspot(p, &place, !has_jit);
	} else if (managed_place_find(p->pid, &v8_in_file, path, &place)) {
		p->looks = LOOKS_MAX;
		open_v8(p, &place);
	} else if (has_jit) {
		managed_place_each(p->pid, take_place, p);
	}
	free(path);
	p->looked_ns = clock_now_ns(CLOCK_MONOTONIC);
	return p->looked_ns - begin_ns;
}

/* A library with a compiler may be loaded when the program runs for long. */
static bool wants_look(const struct runtime_process *p)
{
	if (runtime_process_has_any(p) || p->looks >= LOOKS_MAX)
		return false;
	return !p->looks || clock_now_ns(CLOCK_MONOTONIC) - p->looked_ns >= LOOK_AGAIN_NS;
}

uint64_t runtime_process_find(struct runtime_process *p, bool has_jit)
{
	return wants_look(p) ? look_at(p, has_jit) : 0;
}

/* ---- asking them ---- */

/* What the view before this one could not read is remembered. */
static void begin_view(struct runtime_process *p)
{
	p->missed = p->missed || p->view->failed || p->view->missed;
	managed_view_begin(p->view, read_memory, p, LOOK_NS);
}

/* While it is being made it is longer. */
static void look_for_interpreter(struct runtime_process *p)
{
	uint64_t start, len;

	if (hotspot_interpreter(p->hotspot, p->view, &start, &len))
		tell_interpreter(p, start, len);
}

bool runtime_process_find_interpreter(struct runtime_process *p)
{
	if (!p->hotspot)
		return false;
	managed_view_begin(p->view, read_memory, p, LOOK_NS);
	look_for_interpreter(p);
	return true;
}

bool runtime_process_lacks_interpreter(const struct runtime_process *p)
{
	return p->hotspot && !p->interpreter_len;
}

static bool read_gdb_list(struct runtime_process *p, struct gdb_jit *jit)
{
	bool more = true;

	for (unsigned views = 0; views < GDB_VIEWS_MAX && more; views++) {
		begin_view(p);
		more = gdb_jit_read_list(jit, p->view, &p->dump);
	}
	return !more;
}

static bool ask_gdb_jits(struct runtime_process *p, uint64_t ip, bool leaf)
{
	for (size_t i = 0; i < p->ngdb_jits; i++) {
		read_gdb_list(p, p->gdb_jits[i]);
		begin_view(p);
		if (gdb_jit_look(p->gdb_jits[i], p->view, ip, leaf, &p->dump))
			return true;
	}
	return false;
}

/*
 * The dump's records from @begin on are new. What is gone was last known to be there at @checked_ns, and becomes news: its addresses
 * may have other code from now on.
 */
static void stamp(struct runtime_process *p, size_t begin)
{
	struct jitdump_record rec;
	struct jitdump dump = { 0 };

	if (p->dump.len == begin)
		return;
	jitdump_set_times(&p->dump, begin, clock_now_ns(CLOCK_MONOTONIC), p->checked_ns);
	reader_init(&dump.reader, p->dump.data + begin, p->dump.len - begin, /* big_endian= */ false);
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_GONE)
			runtime_news_put_gone(p->news, &(struct runtime_gone){ rec.ip, rec.ip + rec.len, p->pid });
	}
}

static void begin_dump(struct runtime_process *p)
{
	if (!p->dump.len)
		jitdump_put_header(&p->dump, arch_native()->elf_machine, p->pid, 0);
}

static bool compare(struct runtime_process *p)
{
	bool done = true;

	managed_view_begin(p->view, read_memory, p, LOOK_NS);
	if (p->hotspot)
		return hotspot_compare(p->hotspot, p->view, &p->dump);
	if (p->v8)
		return v8_compare(p->v8, p->view, &p->dump);
	if (p->dotnet)
		return dotnet_compare(p->dotnet, p->view, &p->dump);
	for (size_t i = 0; i < p->ngdb_jits; i++) {
		done = read_gdb_list(p, p->gdb_jits[i]) && done;
		begin_view(p);
		done = gdb_jit_compare(p->gdb_jits[i], p->view, &p->dump) && done;
	}
	return done;
}

/* Names count when two looks have found the same: the last time both are taken at once. */
static void look_at_threads(struct runtime_process *p, unsigned times)
{
	char comm[RUNTIME_COMM_LEN];
	const char *name;
	uint32_t tid;

	for (unsigned i = 0; i < times && p->threads; i++) {
		managed_view_begin(p->view, read_memory, p, LOOK_NS);
		hotspot_threads_look(p->threads, p->view);
	}
	while (p->threads && (name = hotspot_threads_next(p->threads, &tid))) {
		if (runtime_tids_find(&p->tids, p->pid, &tid, comm) && strcmp(comm, name) != 0)
			jitdump_put_thread(&p->dump, tid, comm, name);
	}
}

/*
 * What samples touch is compared more often, as far as that does not take long: where code dies before the next comparison, nothing is
 * known of it since the last one.
 */
static void check_recent(struct runtime_process *p, uint64_t now_ns)
{
	uint64_t begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	bool done = false;

	if (p->asked && now_ns >= p->again_ns) {
		runtime_news_put_gone(p->news, &(struct runtime_gone){ 0, UINT64_MAX, p->pid });
		p->asked = false;
		p->again_ns = now_ns + AGAIN_NS;
	}
	if (now_ns < p->recent_ns)
		return;
	while (!done && clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < RECENT_ONCE_NS) {
		managed_view_begin(p->view, read_memory, p, LOOK_NS);
		done = v8_compare_recent(p->v8, p->view, &p->dump);
	}
	p->recent_ns = now_ns + MAX(RUNTIME_CHECK_NS, CHECK_RATE * (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns));
}

void runtime_process_check(struct runtime_process *p, bool at_once)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), begin_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t begin;
	bool done = false;

	begin_dump(p);
	begin = p->dump.len;
	managed_view_begin(p->view, read_memory, p, LOOK_NS);
	if (now_ns < p->next_ns && !at_once) {
		if (p->hotspot)
			hotspot_watch(p->hotspot, p->view);
		if (p->v8) {
			v8_watch(p->v8, p->view);
			check_recent(p, now_ns);
			stamp(p, begin);
		}
		return;
	}
	if (!p->check_ns)
		p->check_ns = now_ns;
	for (unsigned views = 0; views < CHECK_VIEWS && !done; views++)
		done = compare(p);
	look_at_threads(p, at_once ? 2 : 1);
	stamp(p, begin);
	p->next_ns = now_ns + MAX(RUNTIME_CHECK_NS, (p->v8 ? CHECK_RATE_V8 : CHECK_RATE) * (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns));
	if (!done)
		return;
	p->checked_ns = p->check_ns;
	p->check_ns = 0;
}

static void put_gone(struct runtime_process *p, uint64_t ip)
{
	runtime_news_put_gone(p->news, &(struct runtime_gone){ ip, ip + 1, p->pid });
}

static bool look_v8(struct runtime_process *p, uint64_t ip, bool leaf)
{
	p->asked = true;

	bool found = v8_look(p->v8, p->view, ip, leaf ? V8_LEAF : V8_CALLER, &p->dump);

	/* What was executed and is not found was freed before this look. */
	if (!found && leaf && p->misses++ < MISSES_MAX)
		put_gone(p, ip);
	return found;
}

static bool look_at_code(struct runtime_process *p, uint64_t ip, bool leaf)
{
	if (p->hotspot)
		return hotspot_look(p->hotspot, p->view, ip, leaf ? HOTSPOT_LEAF : HOTSPOT_CALLER, &p->dump);
	if (p->v8)
		return look_v8(p, ip, leaf);
	if (p->dotnet)
		return dotnet_look(p->dotnet, p->view, ip, leaf, &p->dump);
	return ask_gdb_jits(p, ip, leaf);
}

static bool look_at_bytecode(struct runtime_process *p, const struct runtime_bytecode *code)
{
	const struct v8_bytecode_at at = { code->bytecode, code->function, code->feedback, code->offset };

	if (p->v8)
		return v8_look_bytecode(p->v8, p->view, &at, &p->dump);
	if (!p->hotspot)
		return true;
	if (!hotspot_is_late(p->hotspot, code->time_ns))
		return hotspot_look_bytecode(p->hotspot, p->view, code->bytecode, code->function, &p->dump);
	put_gone(p, code->bytecode);
	return true;
}

/*
 * False if it may be of use to look again. V8's code is searched for backwards from the address, for up to a millisecond: where
 * it was not found it is gone, and the next search would take as long.
 */
static bool look(struct runtime_process *p, const struct runtime_look *look)
{
	bool found;
	size_t begin;

	begin_dump(p);
	begin = p->dump.len;
	begin_view(p);
	p->missed = false;
	found = look->bytecode.function ? look_at_bytecode(p, &look->bytecode) : look_at_code(p, look->ip, look->leaf);
	p->missed = p->missed || p->view->failed || p->view->missed;
	if (p->hotspot)
		look_for_interpreter(p);
	stamp(p, begin);
	if (p->v8 && !look->bytecode.function && !found)
		return true;
	return !p->missed && (found || !look->leaf);
}

bool runtime_process_look_later(struct runtime_process *p, const struct runtime_look *look)
{
	if (p->later.len >= LATER_MAX)
		return false;
	vec_push(&p->later, ((struct later){ .look = *look }));
	return true;
}

void runtime_process_look(struct runtime_process *p, const struct runtime_look *what)
{
	if (!look(p, what) && p->later.len < LATER_MAX)
		vec_push(&p->later, ((struct later){ *what, clock_now_ns(CLOCK_MONOTONIC) + LATER_NS, LATER_NS, 1 }));
}

void runtime_process_look_again(struct runtime_process *p, bool at_once)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	size_t kept = 0, done = 0;

	for (size_t i = 0; i < p->later.len; i++) {
		struct later later = p->later.items[i];

		if (done < LATER_ONCE && (at_once || now_ns >= later.due_ns)) {
			done++;
			if (look(p, &later.look) || ++later.tries >= LATER_TRIES)
				continue;
			later.wait_ns = MAX(LATER_NS, later.wait_ns * LATER_RATE);
			later.due_ns = now_ns + later.wait_ns;
		}
		p->later.items[kept++] = later;
	}
	p->later.len = kept;
}

uint64_t runtime_process_unasked(const struct runtime_process *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->later.len; i++)
		count += !p->later.items[i].tries;
	return count;
}
