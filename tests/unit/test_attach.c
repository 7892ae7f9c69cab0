/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/trace/trace_reader.h"
#include "record/embed/attach.h"
#include "record/embed/code_file.h"
#include "symbolize/elf/bundle_calls.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/module/module.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- events ---------------------------------------------------------------------------------------- */

static void put_event(struct attach *a, enum event_kind kind, uint32_t pid, uint32_t parent_pid)
{
	struct event ev = { .kind = kind, .time_ns = 5, .pid = pid, .tid = pid };

	if (kind == EVENT_FORK)
		ev.fork = (struct event_fork){ parent_pid, parent_pid };
	else if (kind == EVENT_COMM)
		ev.comm = (struct event_comm){ .comm = "new", .exec = true };
	attach_event(a, &ev);
}

static void attach_fork(struct attach *a, uint32_t pid, uint32_t parent_pid)
{
	put_event(a, EVENT_FORK, pid, parent_pid);
}

static void attach_exec(struct attach *a, uint32_t pid)
{
	put_event(a, EVENT_COMM, pid, 0);
}

static void attach_exit(struct attach *a, uint32_t pid)
{
	put_event(a, EVENT_EXIT, pid, 0);
}

/* The event gets its build ID, and so does @map. */
static void put_mmap(struct attach *a, uint64_t time_ns, uint32_t pid, struct event_mmap *map)
{
	struct event ev = { .kind = EVENT_MMAP, .time_ns = time_ns, .pid = pid, .tid = pid };

	ev.mmap = *map;
	attach_event(a, &ev);
	*map = ev.mmap;
}

static void attach_mmap(struct attach *a, uint32_t pid, struct event_mmap *map)
{
	put_mmap(a, 0, pid, map);
}

static void attach_new_mmap(struct attach *a, uint32_t pid, struct event_mmap *map)
{
	put_mmap(a, 5, pid, map);
}

/* ---- from addresses to a trace --------------------------------------------------------------------- */

/* What was attached, read back. */
struct attached {
	char path[4096];
	struct event_source *source;
	const struct recording *rec;
	struct attach_report report;
	struct diag notes;
};

static void write_trace(struct attach *a, struct attached *ret)
{
	static const struct recording empty = { .tool = "",
						.cmdline = "",
						.hostname = "",
						.os_release = "",
						.cpu_model = "",
						.container = "",
						.arch = &arch_x86_64,
						.exit_status = -1 };

	snprintf(ret->path, sizeof(ret->path), "%s", test_path("trace"));
	int fd = open(ret->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct trace_writer *w = trace_writer_new(fd);

	CHECK_OK(trace_writer_begin(w, &empty));
	CHECK_OK(attach_write(a, w, &ret->notes, &ret->report));
	CHECK_OK(trace_writer_end(w, &empty));
	trace_writer_free(w);
	close(fd);
	CHECK_OK(trace_reader_open(ret->path, &ret->source));
	ret->rec = event_source_recording(ret->source);
}

static void attached_deinit(struct attached *t)
{
	event_source_close(t->source);
	diag_deinit(&t->notes);
}

static const struct recording_image *find_image(const struct attached *t, const char *part)
{
	for (size_t i = 0; i < t->rec->nimages; i++) {
		if (strstr(t->rec->images[i].path, part))
			return &t->rec->images[i];
	}
	return NULL;
}

/* Tell @a of the executable mappings of @pid, as /proc shows them; the one that holds @ip is returned. */
static struct event_mmap tell_mappings(struct attach *a, uint32_t pid, uint64_t ip)
{
	static char path[4096], found_path[4096];
	struct event_mmap found = { 0 };
	char maps[64], line[5000];

	snprintf(maps, sizeof(maps), "/proc/%" PRIu32 "/maps", pid);
	FILE *file = fopen(maps, "r");

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		struct event_mmap map = { .flags = EVENT_MMAP_EXEC, .path = path };
		char perms[5];

		path[0] = '\0';
		sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %4095[^\n]",
		       &map.start, &map.end, perms, &map.file_offset, &map.inode, path);
		if (perms[2] != 'x')
			continue;
		struct event_mmap told = map;

		attach_mmap(a, pid, &told);
		if (ip < map.start || ip >= map.end)
			continue;
		found = map;
		found.path = strcpy(found_path, path);
	}
	fclose(file);
	return found;
}

/* Processes that are gone have numbers from 5000001 on, which is more than Linux gives (PID_MAX_LIMIT). */
static void tell(struct attach *a, uint32_t pid, uint64_t ip, enum attach_use use)
{
	struct attach_front *f = attach_front(a, ip % 2);

	attach_begin(f, pid);
	attach_address(f, ip, use);
}

__attribute__((noinline)) static uint64_t code_here(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* Link-time address of @ip by the embedded image's own segments. */
static uint64_t vaddr_in(const struct image *img, const struct event_mmap *map, uint64_t ip)
{
	uint64_t bias;

	CHECK(image_bias(img, map->start, map->file_offset, &bias));
	return ip - bias;
}

TEST(attach_embeds_what_covers_an_address)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, pid, ip);
	struct cfi_fde fde;
	struct image *img;

	for (int i = 0; i < 3; i++)
		tell(a, pid, ip, ATTACH_CALLER);
	attach_round(a);
	write_trace(a, &t);
	CHECK_UINT(t.report.files, 1);
	CHECK_UINT(t.report.addresses, 1);
	CHECK_UINT(t.rec->nimages, 1);
	CHECK(t.rec->images[0].partial);
	CHECK_OK(image_open_memory(t.rec->images[0].elf, t.rec->images[0].elf_len, "self", &img));
	uint64_t vaddr = vaddr_in(img, &map, ip);
	struct symtab *symbols = symtab_new(img);
	const struct symtab_entry *symbol = symtab_find(symbols, vaddr - 1);
	struct cfi_section *cfi = cfi_section_new(img);
	struct bundle_calls *calls = bundle_calls_new(img);

	CHECK_STR(symbol ? symbol->name : NULL, __func__);
	CHECK(cfi && cfi_section_find(cfi, vaddr - 1, &fde));
	CHECK(bundle_calls_find(calls, vaddr, NULL) == BUNDLE_CALL_YES);
	bundle_calls_free(calls);
	cfi_section_free(cfi);
	symtab_free(symbols);
	image_close(img);
	attach_free(a);
	attached_deinit(&t);
}

/* The time after a signal is over: the file is complete, and says what it lacks. */
TEST(attach_reads_nothing_of_others_beyond_its_end)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();
	bool said = false;

	tell_mappings(a, pid, ip);
	tell(a, pid, ip, ATTACH_CALLER);
	attach_round(a);
	attach_end_by(a, 1);
	write_trace(a, &t);
	CHECK_UINT(t.rec->nimages, 0);
	for (const struct diag_entry *note = t.notes.entries; note; note = note->next)
		said |= strstr(note->message, "not embedded: a signal ended the recording") != NULL;
	CHECK(said);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_finds_mappings_that_are_told_later)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();

	tell(a, pid, ip, ATTACH_LEAF);
	tell_mappings(a, pid, ip);
	attach_round(a);
	write_trace(a, &t);
	CHECK_UINT(t.rec->nimages, 1);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_says_how_many_addresses_could_not_wait)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };

	for (uint64_t i = 0; i < (1 << 20) + 5; i++)
		tell(a, 12345, 0x10000 + 16 * i, ATTACH_CALLER);
	attach_round(a);
	write_trace(a, &t);
	CHECK(t.notes.entries && strstr(t.notes.entries->message, "5 addresses were sampled before"));
	attached_deinit(&t);
	t = (struct attached){ 0 };
	write_trace(a, &t); /* the next file of the recording */
	CHECK(!t.notes.entries);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_follows_fork_exec_and_exit)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();

	/* The child was forked before its parent's mappings were told. */
	attach_fork(a, 5000001, pid);
	tell_mappings(a, pid, ip);
	attach_exit(a, 5000001);
	tell(a, 5000001, ip, ATTACH_CALLER);
	for (int i = 0; i < 5; i++)
		attach_round(a);
	attach_exec(a, pid);
	attach_fork(a, 5000001, pid); /* the number again */
	attach_exit(a, 5000001);
	attach_exit(a, 5000001);
	for (int i = 0; i < 5; i++)
		attach_round(a);
	write_trace(a, &t);
	CHECK_UINT(t.rec->nimages, 1);
	attach_free(a);
	attached_deinit(&t);
}

/* Writes this program to a file that may be deleted, and its name to @path; its inode. */
static ino_t copy_this_program(char *path, size_t room)
{
	char command[8500];
	struct stat st;

	snprintf(path, room, "%s", test_path("copy"));
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", (int)getpid(), path);
	CHECK_INT(system(command), 0);
	CHECK_INT(stat(path, &st), 0);
	return st.st_ino;
}

TEST(attach_embeds_a_file_that_is_deleted_after_the_round_of_its_first_sample)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	char copy[4096];
	ino_t inode = copy_this_program(copy, sizeof(copy));
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, (uint32_t)getpid(), ip);

	/* A process that is gone: only the path is left, and the inode tells that it is right. */
	map.path = copy;
	map.inode = inode;
	attach_mmap(a, 5000002, &map);
	tell(a, 5000002, ip, ATTACH_CALLER);
	attach_round(a);
	unlink(copy);
	write_trace(a, &t);
	CHECK(find_image(&t, "/copy"));
	CHECK_UINT(t.report.missing, 0);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_embeds_a_file_that_was_gone_before_its_first_sample_was_seen)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	char copy[4096];
	ino_t inode = copy_this_program(copy, sizeof(copy));
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, (uint32_t)getpid(), ip);

	map.path = copy;
	map.inode = inode;
	for (int i = 0; i < 2; i++) {
		struct event_mmap told = map;

		attach_new_mmap(a, 5000006, &told);
		CHECK_UINT(attach_news(a), 1);
		CHECK(told.build_id_len && !told.inode);
	}
	unlink(copy);
	tell(a, 5000006, ip, ATTACH_CALLER);
	attach_round(a);
	write_trace(a, &t);
	CHECK(find_image(&t, "/copy"));
	CHECK_UINT(t.report.missing, 0);
	attach_free(a);
	attached_deinit(&t);
}

TEST(code_files_hold_the_latest_that_may_be_wanted_and_all_that_are)
{
	enum { ROOM = CODE_FILES_FORESEEN + 8, COUNT = ROOM + 2 };
	struct code_files files;
	const uint32_t nobody[PROCESS_LINEAGE] = { 5000007 };
	const struct code_place place = { nobody, 0x1000, 0x2000, 0 };
	struct code_file *each[COUNT];
	char path[4096];

	code_files_init(&files, ROOM);
	for (int i = 0; i < COUNT; i++) {
		char name[32];
		struct stat st;
		bool is_new;

		snprintf(name, sizeof(name), "file%d", i);
		snprintf(path, sizeof(path), "%s", test_path(name));
		int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

		CHECK_INT(fstat(fd, &st), 0);
		close(fd);
		struct event_mmap map = { .flags = EVENT_MMAP_EXEC, .path = path, .inode = st.st_ino };

		each[i] = code_files_identify(&files, &map, &place, /* keep= */ true, &is_new);
		CHECK(is_new);
		mapped_file_ref(&each[i]->mapped);
		CHECK(code_file_fd(each[i]) >= 0);
		if (i == 1)
			code_files_touch(&files, each[i], 64, 1, &place);
	}
	CHECK(code_file_fd(each[0]) < 0);  /* there were later ones */
	CHECK(code_file_fd(each[1]) >= 0); /* it is wanted */
	CHECK(code_file_fd(each[COUNT - 1]) >= 0);
	CHECK_UINT(files.nopen, CODE_FILES_FORESEEN + 1);
	/* All that is wanted finds room. */
	for (int i = 0; i < ROOM; i++) {
		code_files_touch(&files, each[i], 128, 1, &place);
		CHECK(code_file_fd(each[i]) >= 0);
	}
	CHECK_UINT(files.nopen, ROOM);
	code_files_touch(&files, each[ROOM], 128, 1, &place);
	CHECK(code_file_fd(each[ROOM]) < 0);
	code_files_deinit(&files);
}

/* A reader that had too much to do comes to it in a later round; one address may be all that a loop has. */
TEST(code_files_try_again_at_an_address_that_is_known)
{
	struct code_files files;
	const uint32_t nobody[PROCESS_LINEAGE] = { 5000008 };
	const struct code_place place = { nobody, 0x1000, 0x2000, 0 };
	char path[4096], away[4096];
	bool is_new;

	snprintf(away, sizeof(away), "%s", test_path("away"));
	snprintf(path, sizeof(path), "%s", test_path("late"));
	struct event_mmap map = { .flags = EVENT_MMAP_EXEC, .path = path };
	struct stat st;
	int fd = open(away, O_RDWR | O_CREAT | O_TRUNC, 0600);

	CHECK_INT(fstat(fd, &st), 0);
	close(fd);
	map.inode = st.st_ino;
	code_files_init(&files, 8);
	struct code_file *file = code_files_identify(&files, &map, &place, /* keep= */ true, &is_new);

	mapped_file_ref(&file->mapped);
	CHECK(code_files_touch(&files, file, 64, 1, &place));
	CHECK_INT(rename(away, path), 0);
	code_files_touch(&files, file, 64, 1, &place);
	CHECK(code_file_fd(file) < 0); /* once in a round */
	code_files_round(&files);
	CHECK(!code_files_touch(&files, file, 64, 1, &place));
	CHECK(code_file_fd(file) >= 0);
	code_files_deinit(&files);
}

/* What a long recording of a build machine does: each process a file of its own, in which something is seen. */
TEST(code_files_drop_the_oldest_that_no_one_maps)
{
	enum { COUNT = 3 * CODE_FILES_WANTED_MAX };
	struct code_files files;
	const uint32_t nobody[PROCESS_LINEAGE] = { 5000007 };
	const struct code_place place = { nobody, 0x1000, 0x2000, 0 };
	struct code_file *lasting = NULL;

	code_files_init(&files, 0);
	for (uint64_t i = 0; i < COUNT; i++) {
		char path[64];
		bool is_new;

		snprintf(path, sizeof(path), "/nonexistent/%u", (unsigned)i);
		struct event_mmap map = { .flags = EVENT_MMAP_EXEC, .path = path, .inode = i + 1 };
		struct code_file *file = code_files_identify(&files, &map, &place, true, &is_new);

		mapped_file_ref(&file->mapped);
		code_files_touch(&files, file, 64, 1, &place);
		if (i == 0)
			lasting = file;
		else
			mapped_file_unref(&file->mapped);
		code_files_round(&files);
		CHECK(files.wanted.len <= CODE_FILES_WANTED_MAX);
		CHECK(files.mapped.nfiles <= CODE_FILES_WANTED_MAX + MAPPED_FILES_IDLE_MAX + 1);
	}
	CHECK(lasting->wanted && lasting->offsets.len == 1); /* a process maps it */
	CHECK_UINT(files.naddresses, files.wanted.len);
	CHECK_UINT(files.dropped + files.wanted.len, COUNT);
	code_files_forget(&files);
	CHECK_UINT(files.naddresses, 0);
	code_files_deinit(&files);
}

TEST(attach_says_what_vanished_and_never_takes_another_file)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, (uint32_t)getpid(), ip);

	map.path = "/nonexistent/app";
	attach_mmap(a, 5000003, &map);
	tell(a, 5000003, ip, ATTACH_CALLER);
	map.path = "/bin/sh";
	map.inode = 1;
	attach_mmap(a, 5000004, &map);
	tell(a, 5000004, ip, ATTACH_CALLER);
	write_trace(a, &t);
	CHECK_UINT(t.rec->nimages, 0);
	CHECK_UINT(t.report.missing, 2);
	CHECK(t.notes.entries && strstr(t.notes.entries->message, "'/nonexistent/app'"));
	CHECK(strstr(t.notes.entries->message, "'/bin/sh'"));
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_reads_the_build_id_again_when_a_file_was_rewritten)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	char copy[4096];
	ino_t inode = copy_this_program(copy, sizeof(copy));
	const struct event_mmap map = {
		.start = 0x10000,
		.end = 0x20000,
		.flags = EVENT_MMAP_EXEC,
		.inode = inode,
		.path = copy,
	};
	struct event_mmap first = map, second = map, third = map;

	attach_new_mmap(a, 5000008, &first);
	CHECK(first.build_id_len);
	attach_new_mmap(a, 5000008, &second);
	CHECK_MEM(second.build_id, first.build_id, first.build_id_len);
	CHECK_UINT(attach_news(a), 1);

	/* The same inode, another program: one without a build ID. A change time may be as coarse as a tick. */
	int fd = open(copy, O_WRONLY);
	const struct timespec times[] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };

	for (int i = 0; i < 50 && third.build_id_len == 0; i++) {
		CHECK_INT(pwrite(fd, "none", 4, 0), 4);
		CHECK_INT(futimens(fd, times), 0);
		usleep(10000);
		/* One look a round: what a round tells of was mapped before it began. */
		second = map;
		attach_new_mmap(a, 5000008, &second);
		CHECK_UINT(second.build_id_len, first.build_id_len);
		attach_round(a);
		third = map;
		attach_new_mmap(a, 5000008, &third);
		if (!third.build_id_len)
			break;
		third.build_id_len = 0;
	}
	close(fd);
	CHECK_UINT(third.build_id_len, 0);
	CHECK_UINT(attach_news(a), 2);
	attach_free(a);
}

TEST(attach_writes_one_image_per_build_id)
{
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, pid, ip);

	tell(a, pid, ip, ATTACH_CALLER);
	map.generation = 99; /* the same file as another one */
	attach_mmap(a, pid, &map);
	tell(a, pid, ip + 64, ATTACH_CALLER);
	write_trace(a, &t);
	CHECK_UINT(t.report.files, 2);
	CHECK_UINT(t.rec->nimages, 1);
	CHECK_UINT(t.report.addresses, 2);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_gives_a_second_path_of_an_image_its_build_id)
{
	if (getenv("EMULATOR"))
		SKIP("to others this process is the emulator");
	struct attach *a = attach_new(ATTACH_SYMBOLS);
	struct attached t = { 0 };
	char copy[4096], away[4096 + 8];
	ino_t inode = copy_this_program(copy, sizeof(copy));
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();
	struct event_mmap map = tell_mappings(a, pid, ip);

	tell(a, pid, ip, ATTACH_CALLER);
	map.path = copy;
	map.inode = inode;
	/* Nothing can be read when it is mapped, so that the trace's mapping has no build ID. */
	snprintf(away, sizeof(away), "%s.away", copy);
	CHECK_INT(rename(copy, away), 0);
	attach_mmap(a, 5000005, &map);
	CHECK_UINT(map.build_id_len, 0);
	CHECK_INT(rename(away, copy), 0);
	tell(a, 5000005, ip + 64, ATTACH_CALLER);
	write_trace(a, &t);
	CHECK_UINT(t.report.addresses, 2);
	struct module_table *table = module_table_new(t.rec, NULL, &t.notes);
	struct module *modules[] = {
		module_table_file(table, MODULE_FILE, copy, NULL, 0),
		module_table_file(table, MODULE_FILE, "/elsewhere", t.rec->images[0].build_id,
				  t.rec->images[0].build_id_len),
	};

	/* By its path, and for the mapping that had a build ID, by that. */
	CHECK(t.rec->images[0].build_id_len);
	for (int i = 0; i < 2; i++) {
		struct module *mod = modules[i];
		struct bundle_calls *calls = bundle_calls_new(module_image(table, mod));
		uint64_t vaddr = vaddr_in(module_image(table, mod), &map, ip);

		CHECK(bundle_calls_find(calls, vaddr, NULL) == BUNDLE_CALL_YES);
		CHECK(bundle_calls_find(calls, vaddr + 64, NULL) != BUNDLE_CALL_UNKNOWN);
		bundle_calls_free(calls);
	}
	module_table_free(table);
	attach_free(a);
	attached_deinit(&t);
}

TEST(attach_without_bundle_keeps_what_cannot_be_had_later)
{
	struct attach *a = attach_new(ATTACH_NONE);
	struct attached t = { 0 };
	uint32_t pid = (uint32_t)getpid();
	uint64_t ip = code_here();

	tell_mappings(a, pid, ip);
	tell(a, pid, ip, ATTACH_LEAF);
	write_trace(a, &t);
	CHECK_UINT(t.rec->nimages, 0);
	CHECK(!t.notes.entries);
	attach_free(a);
	attached_deinit(&t);
}
