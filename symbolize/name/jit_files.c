/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_files.c - perf does not embed dumps, and a recording of its own kind may be cut off before what it embeds.
 */
#include "symbolize/name/jit_files.h"

#include "formats/base/file_bytes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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
		return "it is not a JIT dump";
	}
	if (rec->arch && dump.machine != rec->arch->elf_machine)
		return "it is of another architecture";
	if (dump.pid != number_in_path(path))
		return "it is of another process";
	if (rec->clock == CLOCK_MONOTONIC && rec->end_ns && dump.time_ns > rec->end_ns)
		return "it is newer than the recording";
	return NULL;
}

/*
 * With the times of the dump's records, if they are of the recording's clock as those of runtimes are that write on the monotonic one.
 */
static struct jit_map *make(const struct recording *rec, const struct recording_jit_map *recorded, const void *dump, size_t len)
{
	const char *text = recorded ? recorded->text : "";
	size_t text_len = recorded ? recorded->len : 0;

	if (rec->clock == CLOCK_MONOTONIC)
		return jit_map_new_timed(text, text_len, dump, len);
	return jit_map_new_dumped(text, text_len, dump, len);
}

static struct jit_map *open_dump(struct module_table *modules, const struct module *mod,
				 const struct recording_jit_map *recorded)
{
	CLEANUP(writer_deinit) struct writer dump = { 0 };
	const char *path = module_dump_file(modules, mod);

	if (!path || access(path, F_OK))
		return NULL;

	struct diag *diag = module_table_diag(modules);
	CLEANUP(err_freep)
	struct err *err = file_bytes_read_regular(path, JIT_FILES_DUMP_MAX, &dump);

	if (err) {
		diag_warn(diag, "the dump of process %" PRIu32 "'s code is not used: %s", mod->pid,
			  err_message(err));
		return NULL;
	}
	const char *reason =
		why_not(module_table_recording(modules), mod->dump_path, dump.data, dump.len);

	if (reason) {
		diag_warn(diag, "'%s' is not used for process %" PRIu32 ": %s", path, mod->pid, reason);
		return NULL;
	}
	return make(module_table_recording(modules), recorded, dump.data, dump.len);
}

struct jit_map *jit_files_open(struct module_table *modules, const struct module *mod)
{
	const struct recording_jit_map *recorded =
		find_recorded(module_table_recording(modules), mod->pid);
	struct jit_map *map = NULL;

	if (!recorded || !recorded->dump)
		map = open_dump(modules, mod, recorded);
	if (!map && recorded)
		map = make(module_table_recording(modules), recorded, recorded->dump, recorded->dump_len);
	return map;
}
