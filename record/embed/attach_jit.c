/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_jit.c - dumps are opened when they are mapped, since they may be deleted or in a container; read at the end.
 */
#include "record/embed/attach_jit.h"

#include "formats/base/clock.h"
#include "formats/base/vec.h"
#include "record/embed/jit_code.h"
#include "record/embed/jvm_perfmap.h"
#include "record/embed/perf_map.h"
#include "record/task/process_age.h"
#include "record/task/process_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define JVM_FILE "/libjvm.so"
#define AWAIT_NS 200000000ULL	     /* that samples are held back, */
#define AWAIT_AGAIN_NS 1000000000ULL /* so often at most */
#define UNANSWERED_MIN 3 /* reported from so many on: one may have ended, or be an unknown virtual machine */
#define OPEN_MAX 64 /* processes whose /tmp, memory and dump are held by descriptors */

static struct perf_map *map_of(const struct map_slot *slot)
{
	return (struct perf_map *)(uintptr_t)slot->value;
}

void attach_jit_touch(struct attach_jit *jit, uint32_t pid, uint64_t ip, bool executed, struct code_area area)
{
	uint64_t *slot = map_get(&jit->maps, pid);

	if (jit->naddresses >= ATTACH_JIT_ADDRESSES_MAX ||
	    (!slot && jit->maps.len >= ATTACH_JIT_PROCESSES_MAX)) {
		jit->left_out++;
		return;
	}
	if (!slot) {
		slot = map_put(&jit->maps, pid, NULL);
		*slot = (uintptr_t)perf_map_new(pid, jit->maps.len <= OPEN_MAX, jit->reader);
	}
	enum perf_map_news news = perf_map_touch((struct perf_map *)(uintptr_t)*slot, ip, executed, area);

	jit->naddresses += news == PERF_MAP_NEW;
	jit->news += news == PERF_MAP_NEW;
	if (news == PERF_MAP_KNOWN)
		return;
	if (!jit->runtimes)
		jit->runtimes = runtime_reader_new(jit->first);
	runtime_reader_tell(jit->runtimes, pid, ip, executed);
}

void attach_jit_file(struct attach_jit *jit, uint32_t pid, const char *path)
{
	if (!runtime_reader_wants_file(path))
		return;
	if (!jit->runtimes)
		jit->runtimes = runtime_reader_new(jit->first);
	runtime_reader_tell_file(jit->runtimes, pid, path);
}

/* Stop holding samples back for the last process asked. */
static void stop_waiting(struct attach_jit *jit, uint64_t now_ns)
{
	if (!jit->awaited || now_ns - jit->asked_ns < AWAIT_NS)
		return;
	jit->awaited = false;
	if (!jit->unanswered++)
		jit->unanswered_pid = jit->awaited_pid;
}

void attach_jit_map(struct attach_jit *jit, uint32_t pid, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	jit->news += !path;
	if (slash && strcmp(slash, JVM_FILE) == 0 && jit->jvms.len < ATTACH_JIT_PROCESSES_MAX)
		map_put(&jit->jvms, pid, NULL);
	if (path || !map_get(&jit->jvms, pid))
		return;
	map_remove(&jit->jvms, pid);
	if (!jit->runtimes)
		jit->runtimes = runtime_reader_new(jit->first);
	runtime_reader_tell_code(jit->runtimes, pid);

	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (now_ns - jit->asked_ns < AWAIT_AGAIN_NS)
		return;
	stop_waiting(jit, now_ns);
	jit->asked_ns = now_ns;
	jit->awaited = true;
	jit->awaited_pid = pid;
}

bool attach_jit_awaits(const struct attach_jit *jit)
{
	return jit->awaited && clock_now_ns(CLOCK_MONOTONIC) - jit->asked_ns < AWAIT_NS;
}

void attach_jit_bytecode(struct attach_jit *jit, uint32_t pid, struct runtime_bytecode bytecode)
{
	if (jit->runtimes)
		runtime_reader_tell_bytecode(jit->runtimes, pid, bytecode);
}

bool attach_jit_interpreter(struct attach_jit *jit, struct runtime_interpreter *ret)
{
	bool found = jit->runtimes && runtime_reader_interpreter(jit->runtimes, ret);

	jit->awaited = jit->awaited && !found;
	return found;
}

void attach_jit_round(struct attach_jit *jit, struct process_table *processes)
{
	struct runtime_gone gone;

	if (!jit->runtimes)
		return;
	runtime_reader_check(jit->runtimes);
	while (runtime_reader_gone(jit->runtimes, &gone)) {
		const uint64_t *slot = map_get(&jit->maps, gone.pid);

		if (slot)
			perf_map_replaced((struct perf_map *)(uintptr_t)*slot, gone.start, gone.end);
		process_table_changed(processes, gone.pid);
	}
}

static struct code_file *file_at(const uint64_t *slot)
{
	return slot ? (struct code_file *)(uintptr_t)*slot : NULL;
}

static void set_dump(struct attach_jit *jit, uint32_t pid, struct code_file *file)
{
	uint64_t *slot = map_put(&jit->dumps, pid, NULL);
	struct code_file *old = file_at(slot);

	mapped_file_ref(&file->mapped);
	*slot = (uintptr_t)file;
	if (old)
		mapped_file_unref(&old->mapped);
}

static void drop_dump(struct attach_jit *jit, uint32_t pid)
{
	struct code_file *old = file_at(map_get(&jit->dumps, pid));

	if (!old)
		return;
	map_remove(&jit->dumps, pid);
	mapped_file_unref(&old->mapped);
}

void attach_jit_dump(struct attach_jit *jit, uint32_t pid, struct code_files *files,
		     struct code_file *file, const struct code_place *place)
{
	set_dump(jit, pid, file);
	if (jit->dumps.len <= OPEN_MAX)
		code_files_hold(files, file, place);
}

void attach_jit_fork(struct attach_jit *jit, uint32_t pid, uint32_t parent_pid)
{
	struct code_file *file = file_at(map_get(&jit->dumps, parent_pid));

	if (file)
		set_dump(jit, pid, file);
}

void attach_jit_exec(struct attach_jit *jit, uint32_t pid)
{
	drop_dump(jit, pid);
	map_remove(&jit->jvms, pid);
	if (jit->runtimes)
		runtime_reader_end(jit->runtimes, pid);
}

void attach_jit_exit(struct attach_jit *jit, uint32_t pid)
{
	map_remove(&jit->jvms, pid);
	if (jit->runtimes)
		runtime_reader_end(jit->runtimes, pid);
	if (!map_get(&jit->maps, pid))
		drop_dump(jit, pid);
}

static void gather_names(const struct perf_map *map, struct embed_child *child,
			 struct diag *notes, struct writer *out)
{
	static const char *const why[] = {
		[PERF_MAP_FOREIGN] = "is not a regular file of its user in /tmp: not used",
		[PERF_MAP_STALE] = "is older than the process: not used",
		[PERF_MAP_CUT] = "is too large, or no text: read in part only",
	};
	uint64_t left = embed_child_left(child), before = left;
	enum perf_map_result result = perf_map_read(map, &left, out);

	embed_child_charge(child, before - left);
	if (result < ARRAY_LEN(why) && why[result])
		diag_warn(notes, "the perf map of process %" PRIu32 " %s", map->pid, why[result]);
}

/* A dump is mapped; its holes cost nothing. */
static uint64_t dump_len(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? MIN((uint64_t)st.st_size, (uint64_t)st.st_blocks * 512) : 0;
}

static bool begin_process(struct embed_child *child, const struct perf_map *map)
{
	char name[64];

	embed_child_owner(child, process_owner(map->pid));
	snprintf(name, sizeof(name), "code that process %" PRIu32 " made", map->pid);
	return embed_child_step(child, EMBED_WRITE, name) && embed_child_has_share(child);
}

/*
 * Code from the JIT's own dump, else from its runtime's data, else from memory where the perf map says that code is, else the plain
 * memory.
 */
static void gather_code(const struct attach_jit *jit, const struct perf_map *map,
			const struct writer *text, struct embed_child *child, struct diag *notes,
			struct writer *out)
{
	const struct code_file *file = file_at(map_get(&jit->dumps, map->pid));
	int fd = file ? code_file_open(file) : -1;
	bool whole = true;

	if (file && fd < 0)
		diag_warn(notes, "the dump of a JIT's code, '%s', cannot be opened",
			  file->mapped.path);
	if (fd >= 0 && embed_child_charge(child, dump_len(fd)))
		whole = jit_code_from_dump(fd, map, out);
	if (fd >= 0)
		close(fd);
	if (!out->len && jit->runtimes_read) {
		size_t len;
		const void *read = runtime_reader_dump(jit->runtimes, map->pid, &len);

		writer_bytes(out, read, len);
	}
	if (!out->len && text->len)
		whole = jit_code_from_memory(map, arch_native()->elf_machine,
					     (const char *)text->data, text->len, out);
	if (!out->len && !text->len)
		jit_code_from_pages(map, arch_native()->elf_machine, out);
	if (!whole)
		diag_warn(notes,
			  "of the code that process %" PRIu32 " made at run time only the first %u "
			  "MiB that were sampled are kept",
			  map->pid, JIT_CODE_MAX >> 20);
}

/* A pidfd of the sampled process; -1: it has ended, and its number may be reused. */
static int open_process(const struct perf_map *map)
{
	int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)map->pid, 0);
	char path[64];

	if (pidfd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, map->pid);
	int proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc_fd < 0 || process_begin_ns(proc_fd) != map->begin_ns) {
		close(pidfd);
		pidfd = -1;
	}
	if (proc_fd >= 0)
		close(proc_fd);
	return pidfd;
}

static void ask_jvm(const struct perf_map *map, struct diag *notes)
{
	uint32_t pid = map->pid;
	int pidfd = open_process(map);

	if (pidfd < 0) {
		diag_warn(notes, "process %" PRIu32 ", which made code at run time, has ended: a perf map cannot be requested from it", pid);
		return;
	}
	struct err *err = jvm_perfmap_is_jvm(pid) ? jvm_perfmap_write(pid, pidfd) : NULL;

	close(pidfd);
	if (err)
		diag_warn(notes, "the Java virtual machine of process %" PRIu32 " wrote no perf map: %s", pid,
			  err_message(err));
	err_free(err);
}

static struct err *write_process(const struct attach_jit *jit, const struct perf_map *map,
				 struct embed_child *child, struct trace_writer *w,
				 struct diag *notes, struct attach_report *report)
{
	struct writer text = { 0 }, dump = { 0 };
	struct err *err = NULL;

	if (jit->ask_jvms)
		ask_jvm(map, notes);
	gather_names(map, child, notes, &text);
	gather_code(jit, map, &text, child, notes, &dump);
	if (text.len || dump.len) {
		struct recording_jit_map found = { map->pid, (const char *)text.data, text.len,
						   dump.data, dump.len };

		err = trace_writer_jit_map(w, &found);
		report->jit_maps++;
	}
	writer_deinit(&text);
	writer_deinit(&dump);
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct perf_map *x = *(struct perf_map *const *)a, *y = *(struct perf_map *const *)b;

	return COMPARE(x->pid, y->pid);
}

void attach_jit_fds(const struct attach_jit *jit, struct embed_fds *fds)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&jit->maps, &pos));) {
		vec_push(fds, map_of(slot)->tmp_fd);
		vec_push(fds, map_of(slot)->memory.pagemap_fd);
	}
	for (size_t pos = 0; (slot = map_next(&jit->dumps, &pos));) {
		if (file_at(&slot->value))
			vec_push(fds, code_file_fd(file_at(&slot->value)));
	}
}

struct err *attach_jit_write(struct attach_jit *jit, struct embed_child *child,
			     struct trace_writer *w, struct diag *notes,
			     struct attach_report *report)
{
	VEC(struct perf_map *) maps = { 0 };
	const struct map_slot *slot;
	struct err *err = NULL;

	for (size_t pos = 0; (slot = map_next(&jit->maps, &pos));)
		vec_push(&maps, map_of(slot));
	vec_sort(&maps, by_pid);
	if (jit->left_out)
		diag_warn(notes,
			  "%" PRIu64 " samples of code made at run time are of more than %u processes or "
			  "%u addresses: they may have no names",
			  jit->left_out, ATTACH_JIT_PROCESSES_MAX, ATTACH_JIT_ADDRESSES_MAX);
	jit->left_out = 0;
	for (size_t i = 0; i < maps.len && !err; i++)
		if (begin_process(child, maps.items[i]))
			err = write_process(jit, maps.items[i], child, w, notes, report);
	vec_deinit(&maps);
	return err;
}

/* Any program may map a file of that name. */
static void note_unanswered(struct attach_jit *jit, struct diag *notes)
{
	stop_waiting(jit, clock_now_ns(CLOCK_MONOTONIC));
	if (jit->unanswered >= UNANSWERED_MIN)
		diag_warn(notes,
			  "samples stayed in the ring buffers for 0.2 s, %" PRIu64 " times, while the interpreter of a process "
			  "that maps a libjvm.so and memory for code was looked for and not found (process %" PRIu32 " first)",
			  jit->unanswered, jit->unanswered_pid);
	jit->unanswered = 0;
}

void attach_jit_gather(struct attach_jit *jit, uint64_t end_ns, struct diag *notes)
{
	note_unanswered(jit, notes);
	jit->runtimes_read = jit->runtimes && runtime_reader_pause(jit->runtimes, end_ns, notes);
}

void attach_jit_go_on(struct attach_jit *jit)
{
	if (jit->runtimes_read)
		runtime_reader_resume(jit->runtimes);
	jit->runtimes_read = false;
}

static void free_maps(struct attach_jit *jit)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&jit->maps, &pos));)
		perf_map_free(map_of(slot));
	map_clear(&jit->maps);
	jit->naddresses = 0;
}

void attach_jit_forget(struct attach_jit *jit)
{
	if (jit->runtimes)
		runtime_reader_forget(jit->runtimes);
	free_maps(jit);
}

/* What the thread of the runtimes is at is of no interest any more: nobody waits until it rests. */
void attach_jit_deinit(struct attach_jit *jit)
{
	const struct map_slot *slot;

	free_maps(jit);
	runtime_reader_free(jit->runtimes);
	map_deinit(&jit->maps);
	map_deinit(&jit->jvms);
	for (size_t pos = 0; (slot = map_next(&jit->dumps, &pos));)
		mapped_file_unref(&file_at(&slot->value)->mapped);
	map_deinit(&jit->dumps);
}
