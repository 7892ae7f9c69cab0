/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_files.c - perf does not embed dumps, and a recording of its own kind may be cut off before what it embeds.
 */
#include "symbolize/jit_files.h"

#include "formats/base/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct recording_jit_map *find_recorded(const struct recording *rec, uint32_t pid)
{
	for (size_t i = 0; i < rec->njit_maps; i++) {
		if (rec->jit_maps[i].pid == pid)
			return &rec->jit_maps[i];
	}
	return NULL;
}

/* A number after the last '-' of ".../jit-4711.dump": the process as it knows itself. */
static uint64_t number_in_path(const char *path)
{
	return strtoull(strrchr(path, '-') + 1, NULL, 10);
}

/* Numbers of processes come again: is it the dump of the one that was recorded? */
static const char *why_not(const struct recording *rec, const char *path, const void *data, size_t len)
{
	struct jitdump dump;
	struct err *err = jitdump_open(&dump, data, len);

	if (err) {
		err_free(err);
		return "it is no such dump";
	}
	if (rec->arch && dump.machine != rec->arch->elf_machine)
		return "it is of another architecture";
	if (dump.pid != number_in_path(path))
		return "it is of another process";
	if (rec->clock == CLOCK_MONOTONIC && rec->end_ns && dump.time_ns > rec->end_ns)
		return "it was begun after the recording ended";
	return NULL;
}

/* The whole file; NULL if it cannot be had. Its length is that at this moment, the program may go on writing. */
static uint8_t *read_file(const char *path, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	uint8_t *data = NULL;
	size_t len = 0;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		data = memory_alloc((size_t)st.st_size);
		for (ssize_t got; len < (size_t)st.st_size; len += (size_t)got) {
			got = read(fd, data + len, (size_t)st.st_size - len);
			if (got <= 0)
				break;
		}
	}
	close(fd);
	*ret_len = len;
	return data;
}

static struct jit_map *open_dump(struct module_table *modules, const struct module *mod,
				 const struct recording_jit_map *recorded)
{
	const struct recording *rec = module_table_recording(modules);
	const char *path = module_dump_file(modules, mod);
	size_t len = 0;
	uint8_t *data = path ? read_file(path, &len) : NULL;
	struct jit_map *map = NULL;

	if (!data)
		return NULL;
	const char *reason = why_not(rec, mod->dump_path, data, len);

	if (reason)
		diag_warn(module_table_diag(modules), "'%s' is not used for process %" PRIu32 ": %s",
			  path, mod->pid, reason);
	else
		map = jit_map_new_dumped(recorded ? recorded->text : "",
					 recorded ? recorded->len : 0, data, len);
	free(data);
	return map;
}

struct jit_map *jit_files_open(struct module_table *modules, const struct module *mod)
{
	const struct recording_jit_map *recorded =
		find_recorded(module_table_recording(modules), mod->pid);
	struct jit_map *map = NULL;

	if (!recorded || !recorded->dump)
		map = open_dump(modules, mod, recorded);
	if (!map && recorded)
		map = jit_map_new_dumped(recorded->text, recorded->len, recorded->dump,
					 recorded->dump_len);
	return map;
}
