/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.c - lines of "START SIZE NAME" in hexadecimal (tools/perf/Documentation/jit-interface.txt).
 *
 * Runtimes append as they compile and some never stop, so the file may be huge and memory is used anew:
 * every line that ever held an address is kept, in order, and the reader takes the last one.
 */
#include "record/embed/perf_map.h"

#include "formats/base/bisect.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/base/path_fd.h"
#include "formats/base/vec.h"
#include "record/task/inner_pid.h"
#include "record/task/process_age.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEPT_LEN_MAX (16U << 20)  /* of which this much is kept */
#define LINE_LEN_MAX 65536
#define NS           1000000000ULL

/* The first line of @text that begins with @key, behind it; NULL if there is none. */
static const char *line_of(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? line + strlen(key) : NULL;
}

/* The user as whom the process opens files is the fourth of "Uid:". */
static void read_status(struct perf_map *map, int proc_fd)
{
	int fd = openat(proc_fd, "status", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint32_t uid;

	if (fd >= 0)
		close(fd);
	text[MAX(len, 0)] = '\0';
	const char *uids = line_of(text, "\nUid:");

	map->known = uids && sscanf(uids, "%*u %*u %*u %" SCNu32, &uid) == 1;
	if (map->known)
		map->uid = uid;
	map->inner_pid = inner_pid_in(text, map->pid);
}

/*
 * When the process began, by the clock of files. Two seconds less, for file systems that count in whole ones and clocks that
 * are set a little.
 */
static uint64_t read_begin(int proc_fd)
{
	uint64_t age_ns = process_age_ns(proc_fd);

	return age_ns == UINT64_MAX ? 0 : clock_now_ns(CLOCK_REALTIME) - age_ns - 2 * NS;
}

/* The process's /tmp; links in its root do not lead out of it. */
static int open_tmp(int proc_fd)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, root, "tmp", &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		fd = openat(root, "tmp", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	close(root);
	return fd;
}

static void run_open_tmp(const void *request, void *answer, int *ret_fd)
{
	const uint32_t *pid = request;
	char path[64];

	(void)answer;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, *pid);
	int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc_fd < 0)
		return;
	*ret_fd = open_tmp(proc_fd);
	close(proc_fd);
}

static int ask_for_tmp(struct foreign_reader *reader, uint32_t pid)
{
	char name[64];
	const struct foreign_job job = {
		.run = run_open_tmp,
		.name = name,
		.request = &pid,
		.request_len = sizeof(pid),
		.answer_len = 1,
		.pid = pid,
	};
	char answer;
	int fd;

	snprintf(name, sizeof(name), "/tmp of process %" PRIu32, pid);
	return foreign_reader_ask(reader, &job, &answer, &fd) == FOREIGN_DONE ? fd : -1;
}

struct perf_map *perf_map_new(uint32_t pid, bool keep_open, struct foreign_reader *reader)
{
	struct perf_map *map = memory_zeroed(1, sizeof(*map));
	char path[64];

	map->pid = pid;
	map->inner_pid = pid;
	map->tmp_fd = -1;
	map->memory.pagemap_fd = -1;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc_fd < 0)
		return map;
	read_status(map, proc_fd);
	map->begun_ns = read_begin(proc_fd);
	map->begin_ns = process_begin_ns(proc_fd);
	if (keep_open) {
		map->tmp_fd = ask_for_tmp(reader, pid);
		task_memory_open(&map->memory, pid);
	}
	close(proc_fd);
	return map;
}

void perf_map_free(struct perf_map *map)
{
	if (!map)
		return;
	if (map->tmp_fd >= 0)
		close(map->tmp_fd);
	task_memory_close(&map->memory);
	map_deinit(&map->addresses);
	code_pages_deinit(&map->pages);
	free(map);
}

enum perf_map_news perf_map_touch(struct perf_map *map, uint64_t ip, bool executed, struct code_area area)
{
	uint64_t use = 1ULL << executed;
	bool is_new;
	uint64_t *uses = map_put(&map->addresses, ip, &is_new);
	bool is_known = !is_new && *uses & use;

	*uses = is_new ? use : *uses | use;
	if (is_new && map->memory.pagemap_fd >= 0)
		code_pages_take(&map->pages, &map->memory, ip, area);
	return is_known ? PERF_MAP_KNOWN : is_new ? PERF_MAP_NEW : PERF_MAP_NEW_USE;
}

void perf_map_replaced(struct perf_map *map, uint64_t start, uint64_t end)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&map->addresses, &pos));) {
		if (slot->key >= start && slot->key <= end) /* a return address may lie behind the last call */
			*map_get(&map->addresses, slot->key) = 0;
	}
}

/* ---- reading --------------------------------------------------------------------------------------- */

bool perf_map_hits(const uint64_t *addresses, size_t count, uint64_t start, uint64_t len)
{
	size_t low = BISECT(count, i, addresses[i] < start); /* the first address from @start on */

	return low < count && addresses[low] - start < MAX(len, 1);
}

const char *perf_map_line(const char *line, uint64_t *ret_start, uint64_t *ret_len)
{
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", ret_start, ret_len, &name) != 2 || !name ||
	    !line[name])
		return NULL;
	return line + name;
}

/*
 * The length of the next line, its end included, of which @line gets as much as there is room for;
 * 0 at the end of the file, at a byte 0 or after @left bytes. A file may hold gigabytes without an end of line.
 */
static size_t next_line(FILE *file, uint64_t left, char line[LINE_LEN_MAX + 1])
{
	size_t len = 0;
	int c = 0;

	while (c != '\n' && len < left && (c = getc_unlocked(file)) != EOF && c) {
		if (len < LINE_LEN_MAX)
			line[len] = (char)c;
		len++;
	}
	if (!c && len)
		ungetc(c, file); /* the next line is empty */
	line[MIN(len, LINE_LEN_MAX)] = '\0';
	return len;
}

bool perf_map_filter(FILE *file, const uint64_t *addresses, size_t count, uint64_t *left,
		     struct writer *out)
{
	char *line = memory_alloc(LINE_LEN_MAX + 1);
	size_t len, first_len = out->len;
	bool whole = true;

	while (whole && (len = next_line(file, *left, line)) > 0) {
		uint64_t start, size;

		*left -= len;
		if (len > LINE_LEN_MAX || line[len - 1] != '\n')
			continue; /* still being written, or no map at all */
		if (perf_map_line(line, &start, &size) &&
		    perf_map_hits(addresses, count, start, size))
			writer_bytes(out, line, len);
		whole = out->len - first_len <= KEPT_LEN_MAX;
	}
	free(line);
	return whole && *left && feof(file);
}

/* Look @name up below @dir_fd: on the same file system, through no link. Before Linux 5.6: only the last name is no link. */
static int look_up(int dir_fd, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	int fd = (int)syscall(SYS_openat2, dir_fd, name, &how, sizeof(how));

	if (fd >= 0 || errno != ENOSYS)
		return fd;
	struct stat dir, st;

	fd = openat(dir_fd, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(dir_fd, &dir) == 0 && fstat(fd, &st) == 0 && dir.st_dev == st.st_dev)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = EXDEV;
	return -1;
}

/* May its owner speak for the process, and does it speak of this one? */
static enum perf_map_result judge(const struct perf_map *map, const struct stat *st)
{
	uint64_t changed_ns = (uint64_t)st->st_mtim.tv_sec * NS + (uint64_t)st->st_mtim.tv_nsec;

	if (!S_ISREG(st->st_mode) || !map->known || st->st_uid != map->uid)
		return PERF_MAP_FOREIGN;
	return map->begun_ns > changed_ns ? PERF_MAP_STALE : PERF_MAP_READ;
}

/* Open the map @name below @dir_fd; NULL, and *@ret says why. */
static FILE *open_owned(const struct perf_map *map, int dir_fd, const char *name,
			enum perf_map_result *ret)
{
	int path_fd = look_up(dir_fd, name);
	struct stat st;
	FILE *file = NULL;

	if (path_fd < 0) {
		*ret = errno == EXDEV || errno == ELOOP ? PERF_MAP_FOREIGN : PERF_MAP_NONE;
		return NULL;
	}
	*ret = fstat(path_fd, &st) == 0 ? judge(map, &st) : PERF_MAP_NONE;
	int fd = path_fd_take_regular(path_fd, &st);

	if (fd >= 0 && *ret == PERF_MAP_READ)
		file = fdopen(fd, "r");
	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* In its own /tmp under its own number; else in ours under the number we know. */
static FILE *open_map(const struct perf_map *map, enum perf_map_result *ret)
{
	char name[64];
	FILE *file = NULL;

	*ret = PERF_MAP_NONE;
	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", map->inner_pid);
	if (map->tmp_fd >= 0)
		file = open_owned(map, map->tmp_fd, name, ret);
	if (file || *ret != PERF_MAP_NONE)
		return file;
	int tmp_fd = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", map->pid);
	if (tmp_fd >= 0) {
		file = open_owned(map, tmp_fd, name, ret);
		close(tmp_fd);
	}
	return file;
}

uint64_t *perf_map_addresses(const struct perf_map *map, size_t *ret_count)
{
	VEC(uint64_t) addresses = { 0 };
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&map->addresses, &pos));)
		vec_push(&addresses, slot->key);
	vec_sort(&addresses, vec_u64_ascending);
	*ret_count = addresses.len;
	return addresses.items;
}

enum perf_map_result perf_map_read(const struct perf_map *map, uint64_t *left, struct writer *out)
{
	enum perf_map_result result;
	size_t count;
	FILE *file = open_map(map, &result);

	if (!file)
		return result;
	uint64_t *addresses = perf_map_addresses(map, &count);

	bool whole = perf_map_filter(file, addresses, count, left, out);

	free(addresses);
	fclose(file);
	return whole ? PERF_MAP_READ : PERF_MAP_CUT;
}
