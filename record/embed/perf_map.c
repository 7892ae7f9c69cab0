/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_map.c - lines of "START SIZE NAME" in hexadecimal (tools/perf/Documentation/jit-interface.txt).
 *
 * Runtimes append as they compile and some never stop, so the file may be huge and memory is used anew:
 * every line that ever held an address is kept, in order, and the reader takes the last one.
 */
#include "record/embed/perf_map.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LEN_MAX (512U << 20) /* read of one file */
#define KEPT_LEN_MAX (16U << 20)  /* of which this much is kept */
#define LINE_LEN_MAX 65536

/* The last number after "NSpid:" is the one in the innermost namespace. */
static uint32_t read_inner_pid(int proc_fd, uint32_t pid)
{
	int fd = openat(proc_fd, "status", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return pid;
	text[len] = '\0';
	const char *line = strstr(text, "\nNSpid:");
	const char *end = line ? strchr(line + 1, '\n') : NULL;

	if (!end)
		return pid;
	const char *number = end;

	while (number > line && isdigit((unsigned char)number[-1]))
		number--;
	return (uint32_t)strtoul(number, NULL, 10);
}

struct perf_map *perf_map_new(uint32_t pid, bool keep_open)
{
	struct perf_map *map = memory_zeroed(1, sizeof(*map));
	char path[64];
	struct stat st;

	map->pid = pid;
	map->inner_pid = pid;
	map->tmp_fd = -1;
	map->memory.pagemap_fd = -1;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc_fd < 0)
		return map;
	if (fstat(proc_fd, &st) == 0) {
		map->uid = st.st_uid;
		map->known = true;
	}
	map->inner_pid = read_inner_pid(proc_fd, pid);
	if (keep_open) {
		map->tmp_fd = openat(proc_fd, "root/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
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

bool perf_map_touch(struct perf_map *map, uint64_t ip)
{
	bool is_new;

	map_put(&map->addresses, ip, &is_new);
	if (is_new && map->memory.pagemap_fd >= 0)
		code_pages_take(&map->pages, &map->memory, ip);
	return is_new;
}

/* ---- reading --------------------------------------------------------------------------------------- */

bool perf_map_hits(const uint64_t *addresses, size_t count, uint64_t start, uint64_t len)
{
	size_t low = 0, high = count;

	while (low < high) { /* the first address from @start on */
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
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
 * 0 at the end of the file. A file may hold gigabytes without an end of line.
 */
static size_t next_line(FILE *file, char line[LINE_LEN_MAX + 1])
{
	size_t len = 0;
	int c = 0;

	while (c != '\n' && len <= FILE_LEN_MAX && (c = getc_unlocked(file)) != EOF) {
		if (len < LINE_LEN_MAX)
			line[len] = (char)c;
		len++;
	}
	line[MIN(len, LINE_LEN_MAX)] = '\0';
	return len;
}

bool perf_map_filter(FILE *file, const uint64_t *addresses, size_t count, struct writer *out)
{
	char *line = memory_alloc(LINE_LEN_MAX + 1);
	size_t len, total = 0, first_len = out->len;
	bool whole = true;

	while ((len = next_line(file, line)) > 0) {
		uint64_t start, size;

		total += len;
		whole = total <= FILE_LEN_MAX && out->len - first_len <= KEPT_LEN_MAX;
		if (!whole)
			break;
		if (len > LINE_LEN_MAX || line[len - 1] != '\n')
			continue; /* still being written, or no map at all */
		if (perf_map_line(line, &start, &size) &&
		    perf_map_hits(addresses, count, start, size))
			writer_bytes(out, line, len);
	}
	free(line);
	return whole;
}

/* Open the map @name below @dir_fd if its owner may speak for the process. */
static FILE *open_owned(const struct perf_map *map, int dir_fd, const char *name, bool *foreign)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return NULL;
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

	if (regular && (st.st_uid == 0 || (map->known && st.st_uid == map->uid))) {
		FILE *file = fdopen(fd, "r");

		if (file)
			return file;
	} else {
		*foreign |= regular;
	}
	close(fd);
	return NULL;
}

/* In its own /tmp under its own number; else in ours under the number we know. */
static FILE *open_map(const struct perf_map *map, bool *foreign)
{
	char name[64];
	FILE *file = NULL;

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", map->inner_pid);
	if (map->tmp_fd >= 0)
		file = open_owned(map, map->tmp_fd, name, foreign);
	if (file)
		return file;
	snprintf(name, sizeof(name), "/tmp/perf-%" PRIu32 ".map", map->pid);
	return open_owned(map, AT_FDCWD, name, foreign);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t *perf_map_addresses(const struct perf_map *map, size_t *ret_count)
{
	VEC(uint64_t) addresses = { 0 };
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&map->addresses, &pos));)
		vec_push(&addresses, slot->key);
	vec_sort(&addresses, by_value);
	*ret_count = addresses.len;
	return addresses.items;
}

enum perf_map_result perf_map_read(const struct perf_map *map, struct writer *out)
{
	bool foreign = false;
	size_t count;
	FILE *file = open_map(map, &foreign);

	if (!file)
		return foreign ? PERF_MAP_FOREIGN : PERF_MAP_NONE;
	uint64_t *addresses = perf_map_addresses(map, &count);

	bool whole = perf_map_filter(file, addresses, count, out);

	free(addresses);
	fclose(file);
	return whole ? PERF_MAP_READ : PERF_MAP_CUT;
}
