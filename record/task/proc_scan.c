/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_scan.c - reads /proc with plain read(2) into one buffer: a busy machine has thousands of files here, and this runs
 * while it is being measured. Reads that need a process's mmap lock may block for as long as its owner likes
 * (stuck_guard.h).
 */
#include "record/task/proc_scan.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/base/vec.h"
#include "formats/process/build_id_note.h"
#include "record/task/map_query.h"
#include "record/task/maps_line.h"
#include "record/task/process_stat.h"
#include "record/task/stuck_guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANONYMOUS_PATH "//anon" /* as in the kernel's mmap records */
#define KERNEL_PATH    "[kernel]"

struct buffer {
	char *items;
	size_t len, cap;
};

struct thread_list {
	uint32_t *items;
	size_t len, cap;
};

/* A mapping whose build ID the kernel gave; the same mapping in another process has the same one. */
struct known_file {
	uint64_t device, inode, offset, len;
	char *path;
	struct event_mmap answer; /* of it only what map_query_build_id() sets */
};

#define KNOWN_FILES_MAX 4096
#define READ_MAX	(32U << 20) /* bytes of a list of mappings: 32,768 with ordinary paths are 4 MiB */

/* Executable mappings read of one process, which could make new ones as fast as they are read. */
#define QUERIES_MAX (1U << 18)

struct known_files {
	struct map by_hash; /* -> index + 1 */
	VEC(struct known_file) items;
};

/* Of one process after another, by one thread. */
struct scan {
	struct buffer buffer;
	struct thread_list threads;
	struct process_info_texts texts;
	struct map_query_code code;
	struct stuck_guard *guard;
	struct known_files *files;
	const struct event_mmap *vsyscall;
};

/* All of them, in order of @pids. */
struct scan_list {
	const struct proc_visitor *visitor;
	VEC(pid_t) pids;
	struct known_files files;
	struct event_mmap vsyscall; /* no path: there is none */
	struct priority priority;   /* of the thread that scans */
	struct scan *scan;	    /* likewise; of one that got stuck it is leaked */
	struct err *err;
};

/* All that there is to read, with a NUL. Of too long a list of mappings, which its process makes, the beginning. */
static bool read_open(int fd, struct buffer *ret)
{
	ssize_t got;

	ret->len = 0;
	do {
		vec_reserve(ret, 64 * 1024);
		got = read(fd, ret->items + ret->len, ret->cap - ret->len - 1);
		if (got > 0)
			ret->len += (size_t)got;
	} while ((got > 0 && ret->len < READ_MAX) || (got < 0 && errno == EINTR));
	ret->items[ret->len] = '\0';
	return got >= 0;
}

/* The whole file at @path below @dir_fd, with a NUL; false if it cannot be read. */
static bool read_whole(int dir_fd, const char *path, struct buffer *ret)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);

	ret->len = 0;
	if (fd < 0)
		return false;
	bool whole = read_open(fd, ret);

	close(fd);
	return whole;
}

static bool is_number(const char *name, uint32_t *ret)
{
	uint64_t value;

	if (!text_parse_u64(name, &value) || value > UINT32_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* /proc writes a line feed in a path as \012. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool escaped = !strncmp(from, "\\012", 4);

		*to = escaped ? '\n' : *from;
		from += escaped ? 4 : 1;
	}
	*to = '\0';
}

/* Is it a mapping of code, or with @data, any useful one? */
static bool parse_map(char *line, bool data, struct event_mmap *ret)
{
	struct maps_line map;

	if (!maps_line_parse(line, &map) || (!map.executes && !(data && (map.reads || map.writes))))
		return false;
	ret->start = map.start;
	ret->end = map.end;
	ret->flags = map.executes ? EVENT_MMAP_EXEC : 0;
	ret->file_offset = map.offset;
	ret->device = map.device;
	ret->inode = map.inode;
	unescape(map.path);
	ret->path = *map.path ? map.path : ANONYMOUS_PATH;
	return true;
}

static uint64_t file_hash(const struct event_mmap *map)
{
	uint64_t hash = map_hash(map->device ^ map_hash(map->inode ^ map_hash(map->file_offset)));

	for (const char *c = map->path; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3ull;
	return hash;
}

static bool is_known(const struct known_file *file, const struct event_mmap *map)
{
	return file->device == map->device && file->inode == map->inode && file->offset == map->file_offset &&
	       file->len == map->end - map->start && strcmp(file->path, map->path) == 0;
}

/* The answer for @asked is @answer. */
static void remember(struct known_files *files, const struct event_mmap *asked, const struct event_mmap *answer, uint64_t *slot)
{
	struct known_file file = {
		.device = asked->device,
		.inode = asked->inode,
		.offset = asked->file_offset,
		.len = asked->end - asked->start,
		.path = memory_strdup(asked->path),
		.answer = *answer,
	};

	vec_push(&files->items, file);
	*slot = files->items.len;
}

/* With the build ID, and without what it replaces. */
static void take_answer(struct event_mmap *map, const struct event_mmap *answer)
{
	map->build_id_len = answer->build_id_len;
	memcpy(map->build_id, answer->build_id, sizeof(map->build_id));
	map->device = answer->device;
	map->inode = answer->inode;
	map->generation = answer->generation;
}

/* Thousands of processes map the same libraries: ask the kernel, which reads the file each time, only once. */
static void find_build_id(int maps_fd, struct event_mmap *map, struct scan *scan)
{
	struct known_files *files = scan->files;
	uint64_t hash = file_hash(map), *slot = map_get(&files->by_hash, hash);
	const struct known_file *file = slot ? &files->items.items[*slot - 1] : NULL;
	const struct event_mmap asked = *map;

	if (file && is_known(file, map)) {
		take_answer(map, &file->answer);
		return;
	}
	stuck_guard_enter(scan->guard);
	map_query_build_id(maps_fd, map);
	stuck_guard_leave(scan->guard);
	if (!file && map->build_id_len && files->items.len < KNOWN_FILES_MAX)
		remember(files, &asked, map, map_put(&files->by_hash, hash, NULL));
}

static struct err *tell_map(int maps_fd, uint32_t pid, const struct event_mmap *map, struct scan *scan,
			    const struct proc_visitor *visitor)
{
	struct event ev = { .kind = EVENT_MMAP, .cpu = EVENT_NO_CPU, .pid = pid, .tid = pid, .mmap = *map };

	if (map->inode)
		find_build_id(maps_fd, &ev.mmap, scan);
	return visitor->event(visitor->context, &ev);
}

/* The mappings in the buffer, which came from @maps_fd. */
static struct err *tell_lines(int maps_fd, uint32_t pid, struct scan *scan,
			      const struct proc_visitor *visitor)
{
	char *rest = NULL;
	struct err *err = NULL;

	for (char *line = strtok_r(scan->buffer.items, "\n", &rest); line && !err && !stop_time_is_over(visitor->stop);
	     line = strtok_r(NULL, "\n", &rest)) {
		struct event_mmap map = { 0 };

		if (parse_map(line, visitor->data, &map))
			err = tell_map(maps_fd, pid, &map, scan, visitor);
	}
	return err;
}

static enum map_query_result next_code(int maps_fd, uint64_t addr, struct scan *scan)
{
	stuck_guard_enter(scan->guard);
	enum map_query_result result = map_query_next_code(maps_fd, addr, &scan->code);

	stuck_guard_leave(scan->guard);
	return result;
}

/* Each executable mapping, from *@end on; *@end becomes the end of the last one that was reported, and *@ret_all: there are no more. */
static struct err *tell_code(int maps_fd, uint32_t pid, struct scan *scan, const struct proc_visitor *visitor,
			     uint64_t *end, bool *ret_all)
{
	const struct map_query_code *code = &scan->code;
	enum map_query_result result = MAP_QUERY_FOUND;
	struct err *err = NULL;

	for (uint32_t i = 0; i < QUERIES_MAX && !err && !stop_time_is_over(visitor->stop) && (result = next_code(maps_fd, *end, scan)) == MAP_QUERY_FOUND; i++) {
		const struct event_mmap map = {
			.start = code->start,
			.end = code->end,
			.flags = EVENT_MMAP_EXEC,
			.file_offset = code->offset,
			.device = code->device,
			.inode = code->inode,
			.path = *code->path ? code->path : ANONYMOUS_PATH,
		};

		*end = code->end;
		err = tell_map(maps_fd, pid, &map, scan, visitor);
	}
	*ret_all = result != MAP_QUERY_UNKNOWN;
	/* A program of 64 bits has it, and only the text tells of it. */
	if (!err && *ret_all && *end > UINT32_MAX && scan->vsyscall->path)
		err = tell_map(maps_fd, pid, scan->vsyscall, scan, visitor);
	return err;
}

static struct err *tell_text(int maps_fd, uint32_t pid, struct scan *scan, const struct proc_visitor *visitor)
{
	stuck_guard_enter(scan->guard);
	bool whole = read_open(maps_fd, &scan->buffer);

	stuck_guard_leave(scan->guard);
	return whole ? tell_lines(maps_fd, pid, scan, visitor) : NULL;
}

/* Some may be reported twice, which is harmless. */
static struct err *tell_maps(int dir_fd, uint32_t pid, struct scan *scan,
			     const struct proc_visitor *visitor)
{
	int fd = openat(dir_fd, "maps", O_RDONLY | O_CLOEXEC);
	struct err *err = NULL;
	bool all = false;
	uint64_t end = 0;

	if (fd < 0)
		return NULL;
	if (!visitor->data)
		err = tell_code(fd, pid, scan, visitor, &end, &all);
	if (!err && !all)
		err = tell_text(fd, pid, scan, visitor);
	close(fd);
	return err;
}

/* What /proc/PID/stat says: "pid (comm) state ppid", where comm may hold anything, and more (proc(5)). */
struct status {
	uint64_t parent, flags, nthreads;
	char comm[64]; /* "" if it is longer */
};

#define FLAG_KERNEL_THREAD 0x00200000u /* PF_KTHREAD of include/linux/sched.h, the same in all versions */

static struct status parse_stat(const char *stat)
{
	struct status status = { 0 };
	const char *begin = strchr(stat, '('), *end = strrchr(stat, ')');
	size_t len = begin && end > begin ? (size_t)(end - begin - 1) : 0;

	if (!len || !process_stat_field(stat, PROCESS_STAT_PARENT, &status.parent) ||
	    !process_stat_field(stat, PROCESS_STAT_FLAGS, &status.flags) ||
	    !process_stat_field(stat, PROCESS_STAT_THREADS, &status.nthreads))
		return (struct status){ 0 };
	if (len < sizeof(status.comm))
		memcpy(status.comm, begin + 1, len);
	return status;
}

static struct err *tell_named(struct event_fork parent, const struct event *thread, const char *comm,
			      const struct proc_visitor *visitor)
{
	struct event ev = *thread;

	ev.kind = EVENT_FORK;
	ev.fork = parent;
	struct err *err = visitor->event(visitor->context, &ev);

	if (err)
		return err;
	ev.kind = EVENT_COMM;
	ev.comm = (struct event_comm){ .comm = comm };
	return visitor->event(visitor->context, &ev);
}

static struct err *tell_thread(int dir_fd, struct event_fork parent, const struct event *thread,
			       struct buffer *buffer, const struct proc_visitor *visitor)
{
	char path[64];

	snprintf(path, sizeof(path), "task/%" PRIu32 "/comm", thread->tid);
	if (!read_whole(dir_fd, path, buffer) || !buffer->len)
		return NULL;
	buffer->items[buffer->len - 1] = '\0'; /* the line feed */
	return tell_named(parent, thread, buffer->items, visitor);
}

/* The numbers of all threads, the first one first. */
static void list_threads(int dir_fd, uint32_t pid, struct thread_list *ret)
{
	int fd = openat(dir_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	ret->len = 0;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	vec_push(ret, pid);
	for (struct dirent *entry; (entry = readdir(dir));) {
		uint32_t tid;

		if (is_number(entry->d_name, &tid) && tid != pid)
			vec_push(ret, tid);
	}
	closedir(dir);
}

static struct err *tell_threads(int dir_fd, uint32_t pid, const struct status *status,
				struct scan *scan, const struct proc_visitor *visitor)
{
	const struct event first = { .cpu = EVENT_NO_CPU, .pid = pid, .tid = pid };
	const struct event_fork parent = { (uint32_t)status->parent, (uint32_t)status->parent };
	struct err *err = NULL;

	/* Most processes have one thread, whose name is known. */
	if (status->nthreads == 1 && status->comm[0]) {
		visitor->process(visitor->context, pid, 1);
		return tell_named(parent, &first, status->comm, visitor);
	}
	list_threads(dir_fd, pid, &scan->threads);
	visitor->process(visitor->context, pid, (uint32_t)scan->threads.len);
	for (size_t i = 0; i < scan->threads.len && !err; i++) {
		struct event thread = first;

		thread.tid = scan->threads.items[i];
		err = tell_thread(dir_fd, i ? (struct event_fork){ pid, pid } : parent, &thread,
				  &scan->buffer, visitor);
	}
	return err;
}

static struct err *tell_process(int dir_fd, uint32_t pid, struct scan *scan,
				const struct proc_visitor *visitor)
{
	struct status status = { 0 };

	if (read_whole(dir_fd, "stat", &scan->buffer))
		status = parse_stat(scan->buffer.items);
	bool kernel = status.flags & FLAG_KERNEL_THREAD; /* it has neither arguments nor mappings */
	struct err *err = tell_threads(dir_fd, pid, &status, scan, visitor);

	if (!err && !kernel && visitor->info) {
		stuck_guard_enter(scan->guard);
		process_info_read(visitor->info, dir_fd, &scan->texts);
		stuck_guard_leave(scan->guard);
		const struct event info = process_info_event(pid, &scan->texts);

		err = visitor->event(visitor->context, &info);
	}
	return err || kernel ? err : tell_maps(dir_fd, pid, scan, visitor);
}

static struct err *scan_open(pid_t pid, struct scan *scan, const struct proc_visitor *visitor)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	struct err *err = tell_process(fd, (uint32_t)pid, scan, visitor);

	close(fd);
	return err;
}

static void scan_free(struct scan *scan)
{
	vec_deinit(&scan->buffer);
	vec_deinit(&scan->threads);
	free(scan);
}

/* On a busy machine a thread of ordinary priority waits longer for a CPU than the whole scan takes. */
static void begin_thread(void *context)
{
	struct scan_list *list = context;

	list->priority = (struct priority){ 0 };
	if (list->visitor->first)
		priority_join(&list->priority, list->visitor->first);
	list->scan = memory_zeroed(1, sizeof(*list->scan));
	list->scan->files = &list->files;
	list->scan->vsyscall = &list->vsyscall;
}

static bool scan_one(void *context, size_t index, struct stuck_guard *guard)
{
	struct scan_list *list = context;

	list->scan->guard = guard;
	if (!stop_time_leaves(list->visitor->stop, STOP_PROCESSES))
		list->err = scan_open(list->pids.items[index], list->scan, list->visitor);
	priority_check(&list->priority);
	/* Who is stuck in the last one still reads into it. */
	if (list->err || index + 1 == list->pids.len)
		scan_free(list->scan);
	return !list->err;
}

/* A page of the kernel's that is the last one in each program's list if it may be executed (vsyscall(7)). */
static void find_vsyscall(struct event_mmap *ret)
{
	static char name[] = "[vsyscall]";
	FILE *file = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 256];

	while (file && fgets(line, sizeof(line), file)) {
		struct event_mmap map = { 0 };

		if (!parse_map(line, false, &map) || strcmp(map.path, name) != 0)
			continue;
		*ret = map;
		ret->path = name;
	}
	if (file)
		fclose(file);
}

static struct err *scan_all(struct scan_list *list, size_t *stuck)
{
	const struct stuck_work work = { scan_one, begin_thread, list, list->pids.len, STUCK_PATIENCE_NS };

	find_vsyscall(&list->vsyscall);
	*stuck += stuck_guard_run(&work);
	for (size_t i = 0; i < list->files.items.len; i++)
		free(list->files.items.items[i].path);
	vec_deinit(&list->files.items);
	map_deinit(&list->files.by_hash);
	vec_deinit(&list->pids);
	return list->err;
}

struct err *proc_scan_process(pid_t pid, const struct proc_visitor *visitor, size_t *stuck)
{
	struct scan_list list = { .visitor = visitor };

	vec_push(&list.pids, pid);
	return scan_all(&list, stuck);
}

struct err *proc_scan_all(const struct proc_visitor *visitor, size_t *stuck)
{
	struct scan_list list = { .visitor = visitor };
	DIR *dir = opendir("/proc");

	if (!dir)
		return err_system(errno, "cannot read /proc");
	for (struct dirent *entry; (entry = readdir(dir));) {
		uint32_t pid;

		if (is_number(entry->d_name, &pid))
			vec_push(&list.pids, (pid_t)pid);
	}
	closedir(dir);
	return scan_all(&list, stuck);
}

/* Bytes of kernel code, as /proc/iomem has them in physical memory; 0 if it hides them. */
static uint64_t kernel_code_len(void)
{
	FILE *file = fopen("/proc/iomem", "re");
	char line[256];
	uint64_t len = 0;

	while (file && !len && fgets(line, sizeof(line), file)) {
		uint64_t start, last;

		if (strstr(line, " : Kernel code") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &last) == 2 && start)
			len = last - start + 1;
	}
	if (file)
		fclose(file);
	return len;
}

/* The address of the symbol in a line of /proc/kallsyms if it is @name, otherwise 0. */
static uint64_t symbol_address(const char *line, const char *name)
{
	size_t len = strlen(name);
	char *end;
	uint64_t addr = strtoull(line, &end, 16);

	if (end == line || strlen(end) < 3 || strncmp(end + 3, name, len) != 0 ||
	    !strchr("\n\t", end[3 + len]))
		return 0;
	return addr;
}

void proc_scan_kernel_text(uint64_t *ret_start, uint64_t *ret_end)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	/* The first symbol is near the start of the list; the last one is not, and the kernel writes the list slowly. */
	uint64_t len = file ? kernel_code_len() : 0;
	char line[512];

	*ret_start = *ret_end = 0;
	while (file && !*ret_end && fgets(line, sizeof(line), file)) {
		if (!*ret_start)
			*ret_start = symbol_address(line, "_text");
		if (!*ret_start)
			*ret_start = symbol_address(line, "_stext");
		*ret_end = *ret_start && len ? *ret_start + len : symbol_address(line, "_etext");
	}
	if (file)
		fclose(file);
	if (!*ret_start || *ret_end <= *ret_start)
		*ret_start = *ret_end = 0;
}

static void read_build_id(const char *notes, struct event_mmap *map)
{
	uint8_t bytes[256];
	int fd = open(notes, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	if (len > 0)
		build_id_note_find(bytes, (size_t)len, map->build_id, &map->build_id_len);
	if (fd >= 0)
		close(fd);
}

/* @notes: of ELF, where its build ID may be found; NULL if it is known otherwise. */
static struct err *tell_kernel_map(const char *path, const char *notes, uint64_t start,
				   uint64_t end, const struct proc_visitor *visitor)
{
	struct event ev = {
		.kind = EVENT_MMAP,
		.cpu = EVENT_NO_CPU,
		.pid = UINT32_MAX,
		.mmap = {
			.start = start,
			.end = end,
			.flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL,
			.path = path,
		},
	};

	if (notes)
		read_build_id(notes, &ev.mmap);
	return visitor->event(visitor->context, &ev);
}

/* "name size refs users state address": where on disk it is, modules themselves do not know. */
static struct err *tell_module(const char *line, const struct proc_visitor *visitor)
{
	uint64_t addr, len;
	char name[128], path[160], notes[192];

	if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &len, &addr) != 3 || !addr)
		return NULL;
	snprintf(path, sizeof(path), "[%s]", name);
	snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id", name);
	return tell_kernel_map(path, notes, addr, addr + len, visitor);
}

struct err *proc_scan_kernel(uint64_t text_start, uint64_t text_end,
			     const struct proc_visitor *visitor)
{
	struct err *err =
		text_start ? tell_kernel_map(KERNEL_PATH, NULL, text_start, text_end, visitor) : NULL;
	FILE *file = err ? NULL : fopen("/proc/modules", "re");
	char line[1024];

	while (file && !err && fgets(line, sizeof(line), file))
		err = tell_module(line, visitor);
	if (file)
		fclose(file);
	return err;
}
