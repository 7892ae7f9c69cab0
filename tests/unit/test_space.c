/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/diag.h"
#include "formats/perf/jitdump.h"
#include "symbolize/module/space.h"

#include <string.h>

/* A table without files: images are missing, so mappings stay unplaced. */
struct world {
	struct diag diag;
	struct module_table *modules;
	struct space_table *spaces;
	uint64_t time_ns;
};

static const struct module_search nowhere = { .symfs = "/nonexistent" };

static void world_init(struct world *w, const struct recording *rec)
{
	*w = (struct world){ .time_ns = 1000 };
	w->modules = module_table_new(rec, &nowhere, &w->diag);
	w->spaces = space_table_new(w->modules);
}

static void world_deinit(struct world *w)
{
	space_table_free(w->spaces);
	module_table_free(w->modules);
	diag_deinit(&w->diag);
}

static struct event event_of(struct world *w, enum event_kind kind, uint32_t pid, uint32_t tid)
{
	return (struct event){ .kind = kind, .time_ns = w->time_ns++, .pid = pid, .tid = tid };
}

static void map_flags(struct world *w, uint32_t pid, struct event_mmap map)
{
	struct event ev = event_of(w, EVENT_MMAP, pid, pid);

	ev.mmap = map;
	space_table_apply(w->spaces, &ev);
}

static void map(struct world *w, uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	map_flags(w, pid,
		  (struct event_mmap){
			  .start = start, .end = end, .path = path, .flags = EVENT_MMAP_EXEC });
}

static void name(struct world *w, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
	struct event ev = event_of(w, EVENT_COMM, pid, tid);

	ev.comm = (struct event_comm){ comm, exec };
	space_table_apply(w->spaces, &ev);
}

static void fork_from(struct world *w, uint32_t parent, uint32_t pid, uint32_t tid)
{
	struct event ev = event_of(w, EVENT_FORK, pid, tid);

	ev.fork = (struct event_fork){ parent, parent };
	space_table_apply(w->spaces, &ev);
}

static void end(struct world *w, uint32_t pid, uint32_t tid)
{
	struct event ev = event_of(w, EVENT_EXIT, pid, tid);

	space_table_apply(w->spaces, &ev);
}

static const char *at(struct world *w, uint32_t pid, uint64_t ip)
{
	const struct space_map *m = space_find(space_table_get(w->spaces, pid), ip);

	return m ? m->module->path : NULL;
}

TEST(space_newer_mappings_replace_what_they_overlap)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x9000, "/a");
	map(&w, 1, 0x3000, 0x5000, "/b");
	CHECK_STR(at(&w, 1, 0xfff), NULL);
	CHECK_STR(at(&w, 1, 0x1000), "/a");
	CHECK_STR(at(&w, 1, 0x2fff), "/a");
	CHECK_STR(at(&w, 1, 0x3000), "/b");
	CHECK_STR(at(&w, 1, 0x4fff), "/b");
	CHECK_STR(at(&w, 1, 0x5000), "/a");
	CHECK_STR(at(&w, 1, 0x9000), NULL);

	/* The rest of a mapping that was cut keeps its place in the file. */
	const struct space_map *m = space_find(space_table_get(w.spaces, 1), 0x6000);

	CHECK_UINT(m->start, 0x5000);
	CHECK_UINT(m->file_offset, 0x4000);
	CHECK(!m->mapped);
	CHECK_UINT(0x6000 - m->bias, 0x5000); /* no image: the offset in the file */
	map(&w, 1, 0, 0x10000, "/c");
	CHECK_STR(at(&w, 1, 0x3000), "/c");
	CHECK_STR(at(&w, 2, 0x3000), NULL);
	world_deinit(&w);
}

/* The same on a row of bytes, one per page, that can hardly be wrong. */
TEST(space_finds_the_next_code_above_an_address)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x2000, "/code");
	map_flags(&w, 1, (struct event_mmap){ .start = 0x3000, .end = 0x4000, .path = "/data" });
	map(&w, 1, 0x5000, 0x6000, "/code");
	const struct space *space = space_table_get(w.spaces, 1);

	CHECK_UINT(space_next_code(space, 0), 0x1000);
	CHECK_UINT(space_next_code(space, 0x1000), 0x5000);
	CHECK_UINT(space_next_code(space, 0x4fff), 0x5000);
	CHECK(space_next_code(space, 0x5000) == UINT64_MAX);
	world_deinit(&w);
}

TEST(space_agrees_with_a_plain_model_of_memory)
{
	enum { PAGES = 64, ROUNDS = 3000 };
	static const char *const paths[] = { "/a", "/b", "/c", "//anon" };
	int model[PAGES];
	struct world w;
	uint32_t state = 1;

	world_init(&w, NULL);
	memset(model, -1, sizeof(model));
	for (int i = 0; i < ROUNDS; i++) {
		state = state * 1664525 + 1013904223;
		unsigned start = state >> 8 & (PAGES - 1), len = 1 + (state >> 16 & 15);
		unsigned which = state >> 24 & 3;

		map(&w, 7, start * 0x1000ULL, (start + len) * 0x1000ULL, paths[which]);
		for (unsigned page = start; page < start + len && page < PAGES; page++)
			model[page] = (int)which;
		for (unsigned page = 0; page < PAGES; page++) {
			const char *got = at(&w, 7, page * 0x1000ULL + (state & 0xfff));
			const char *want = model[page] < 0 ? NULL : paths[model[page]];

			if (want && *want == '/' && want[1] == '/')
				want = "[jit 7]";
			CHECK_STR(got, want);
		}
	}
	world_deinit(&w);
}

TEST(space_the_same_mapping_again_changes_nothing)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x9000, "/a");
	struct space *space = space_table_get(w.spaces, 1);
	uint64_t generation = space_generation(space);

	map(&w, 1, 0x1000, 0x9000, "/a");
	map(&w, 1, 0x5000, 0x5000, "/empty");
	map(&w, 1, 0x6000, 0x5000, "/backwards");
	CHECK_UINT(space_generation(space), generation);
	map(&w, 1, 0x1000, 0x9000, "/b");
	CHECK(space_generation(space) != generation);
	CHECK(space_generation(space_table_get(w.spaces, 2)) != space_generation(space));
	world_deinit(&w);
}

TEST(space_a_child_has_its_parents_mappings_until_either_changes)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x2000, "/a");
	fork_from(&w, 1, 2, 2);
	CHECK_STR(at(&w, 2, 0x1000), "/a");
	map(&w, 2, 0x1000, 0x2000, "/child");
	CHECK_STR(at(&w, 1, 0x1000), "/a");
	CHECK_STR(at(&w, 2, 0x1000), "/child");
	fork_from(&w, 1, 3, 3);
	map(&w, 1, 0x1000, 0x2000, "/parent");
	CHECK_STR(at(&w, 3, 0x1000), "/a");
	CHECK_STR(at(&w, 1, 0x1000), "/parent");
	name(&w, 3, 3, "other", /* exec= */ true);
	CHECK_STR(at(&w, 3, 0x1000), NULL);
	world_deinit(&w);
}

TEST(space_a_process_from_before_the_recording_inherits_nothing)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x2000, "/a");
	w.time_ns = 0;
	fork_from(&w, 1, 2, 2);
	CHECK_STR(at(&w, 2, 0x1000), NULL);
	world_deinit(&w);
}

TEST(space_deep_forks_end_in_the_same_mappings)
{
	struct world w;

	world_init(&w, NULL);
	map(&w, 1, 0x1000, 0x2000, "/a");
	for (uint32_t pid = 2; pid <= 20000; pid++)
		fork_from(&w, pid - 1, pid, pid);
	CHECK_STR(at(&w, 20000, 0x1800), "/a");
	world_deinit(&w);
}

TEST(space_mappings_outlive_the_process_a_little)
{
	struct world w;

	world_init(&w, NULL);
	fork_from(&w, 1, 2, 2);
	map(&w, 2, 0x1000, 0x2000, "/a");
	end(&w, 2, 2);
	CHECK_STR(at(&w, 2, 0x1000), "/a");
	for (uint32_t pid = 100; pid < 1000; pid++) {
		fork_from(&w, 1, pid, pid);
		map(&w, pid, 0x1000, 0x2000, "/b");
		end(&w, pid, pid);
	}
	CHECK_STR(at(&w, 2, 0x1000), NULL);
	CHECK_STR(at(&w, 999, 0x1000), "/b");
	world_deinit(&w);
}

TEST(space_mappings_stay_while_another_thread_lives)
{
	struct world w;

	world_init(&w, NULL);
	fork_from(&w, 1, 2, 2);
	map(&w, 2, 0x1000, 0x2000, "/a");
	fork_from(&w, 2, 2, 3);
	end(&w, 2, 2);
	for (uint32_t pid = 100; pid < 1000; pid++) {
		fork_from(&w, 1, pid, pid);
		end(&w, pid, pid);
	}
	CHECK_STR(at(&w, 2, 0x1000), "/a");
	world_deinit(&w);
}

TEST(space_threads_have_the_names_of_the_moment)
{
	struct world w;
	const struct space_thread *t;

	world_init(&w, NULL);
	name(&w, 5, 5, "main", /* exec= */ true);
	fork_from(&w, 5, 5, 6);
	t = space_table_thread(w.spaces, 5, 6);
	CHECK_STR(t->comm, "main");
	name(&w, 5, 6, "worker", /* exec= */ false);
	t = space_table_thread(w.spaces, 5, 6);
	CHECK_STR(t->comm, "worker");
	CHECK_STR(t->process, "main");
	name(&w, 5, 5, "renamed", /* exec= */ false);
	CHECK_STR(space_table_thread(w.spaces, 5, 6)->process, "renamed");

	/* Unknown ones have their process's name, or its number. */
	CHECK_STR(space_table_thread(w.spaces, 5, 77)->comm, "renamed");
	CHECK_STR(space_table_thread(w.spaces, 4711, 4712)->comm, "4711");
	CHECK_STR(space_table_thread(w.spaces, 4711, 4712)->process, "4711");
	CHECK_STR(space_table_thread(w.spaces, 0, 0)->comm, "swapper");
	world_deinit(&w);
}

TEST(space_samples_behind_an_exit_are_still_the_threads)
{
	struct world w;

	world_init(&w, NULL);
	name(&w, 1, 1, "prog", /* exec= */ true);
	name(&w, 1, 2, "worker", /* exec= */ false);
	const struct space_thread *worker = space_table_thread(w.spaces, 1, 2);

	for (int i = 0; i < 2; i++) { /* some files say it twice */
		end(&w, 1, 2);
		CHECK(space_table_thread(w.spaces, 1, 2) == worker);
		CHECK_STR(worker->comm, "worker");
		CHECK_STR(worker->process, "prog");
	}
	world_deinit(&w);
}

TEST(space_a_reused_thread_number_is_another_thread)
{
	struct world w;

	world_init(&w, NULL);
	fork_from(&w, 1, 5, 5);
	name(&w, 5, 5, "first", /* exec= */ true);
	uint32_t first = space_table_thread(w.spaces, 5, 5)->index;

	CHECK_UINT(space_table_thread(w.spaces, 5, 5)->index, first);
	end(&w, 5, 5);
	CHECK_UINT(space_table_thread(w.spaces, 5, 5)->index, first); /* its last samples */
	fork_from(&w, 1, 5, 5);
	CHECK(space_table_thread(w.spaces, 5, 5)->index != first);
	name(&w, 5, 5, "second", /* exec= */ true);
	CHECK_STR(space_table_thread(w.spaces, 5, 5)->comm, "second");
	end(&w, 5, 5);
	uint32_t second = space_table_thread(w.spaces, 5, 5)->index;

	name(&w, 5, 5, "third", /* exec= */ true); /* its fork was lost */
	CHECK(space_table_thread(w.spaces, 5, 5)->index != second);
	world_deinit(&w);
}

TEST(space_memory_of_a_jit_is_one_mapping_however_it_grows)
{
	struct world w;

	world_init(&w, NULL);
	for (uint64_t page = 0; page < 100; page++)
		map(&w, 9, 0x10000 + page * 0x1000, 0x11000 + page * 0x1000, "//anon");
	const struct space_map *m = space_find(space_table_get(w.spaces, 9), 0x10000);

	CHECK_UINT(m->start, 0x10000);
	CHECK_UINT(m->end, 0x10000 + 100 * 0x1000);
	CHECK(m->mapped);
	CHECK_UINT(m->bias, 0);
	CHECK(m->module->kind == MODULE_JIT);
	CHECK_UINT(m->module->pid, 9);
	map(&w, 9, 0x10000, 0x11000, "//anon");
	CHECK_UINT(space_find(space_table_get(w.spaces, 9), 0x10000)->end, 0x10000 + 100 * 0x1000);
	world_deinit(&w);
}

TEST(space_knows_what_kind_of_memory_a_path_means)
{
	static const struct {
		const char *path;
		enum module_kind kind;
		const char *name;
	} cases[] = {
		{ "//anon", MODULE_JIT, "[jit 3]" },
		{ "[heap]", MODULE_JIT, "[jit 3]" },
		{ "[anon:v8]", MODULE_JIT, "[jit 3]" },
		{ "/memfd:doublemapper (deleted)", MODULE_JIT, "[jit 3]" },
		{ "[vdso]", MODULE_VDSO, "[vdso]" },
		{ "[vsyscall]", MODULE_UNKNOWN, "[vsyscall]" },
		{ "/usr/lib/libfoo.so.1 (deleted)", MODULE_FILE, "libfoo.so.1" },
	};
	struct world w;

	world_init(&w, NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		map(&w, 3, i * 0x10000, i * 0x10000 + 0x1000, cases[i].path);
		const struct space_map *m = space_find(space_table_get(w.spaces, 3), i * 0x10000);

		CHECK(m->module->kind == cases[i].kind);
		CHECK_STR(m->module->name, cases[i].name);
		CHECK_UINT(m->module->deleted, i == 6);
	}
	/* A memfd with a build ID holds a program. */
	map_flags(&w, 3,
		  (struct event_mmap){ .start = 0x900000,
				       .end = 0x901000,
				       .flags = EVENT_MMAP_EXEC,
				       .build_id_len = 4,
				       .build_id = { 1, 2, 3, 4 },
				       .path = "/memfd:runc_cloned:/proc/self/exe (deleted)" });
	CHECK(space_find(space_table_get(w.spaces, 3), 0x900000)->module->kind == MODULE_FILE);
	world_deinit(&w);
}

TEST(space_kernel_mappings_are_everyones)
{
	struct recording rec = { .kernel_text = 0xffffffff81000000,
				 .kernel_text_end = 0xffffffff82000000 };
	struct event ev = { .kind = EVENT_KSYMBOL, .pid = UINT32_MAX, .tid = UINT32_MAX };
	struct world w;

	world_init(&w, &rec);
	CHECK_STR(space_table_find_kernel(w.spaces, 0xffffffff81000000)->module->name, "[kernel]");
	map_flags(&w, UINT32_MAX,
		  (struct event_mmap){ .start = 0xffffffffc0000000,
				       .end = 0xffffffffc0010000,
				       .flags = EVENT_MMAP_EXEC | EVENT_MMAP_KERNEL,
				       .path = "/lib/modules/6.1.0/kernel/fs/ext4/ext4.ko.xz" });
	const struct space_map *m = space_table_find_kernel(w.spaces, 0xffffffffc0000123);

	CHECK(m->module->kind == MODULE_KERNEL_MODULE);
	CHECK_STR(m->module->name, "[ext4]");
	CHECK_UINT(m->bias, 0);
	ev.ksymbol = (struct event_ksymbol){
		.addr = 0xffffffffd0000000, .len = 0x80, .type = 1, .name = "bpf_prog_1"
	};
	space_table_apply(w.spaces, &ev);
	CHECK_STR(space_table_find_kernel(w.spaces, 0xffffffffd000007f)->module->name, "[bpf]");
	CHECK(!space_table_find_kernel(w.spaces, 0xffffffffd0000080));
	ev.ksymbol.removed = true;
	space_table_apply(w.spaces, &ev);
	CHECK(!space_table_find_kernel(w.spaces, 0xffffffffd0000000));
	CHECK_STR(at(&w, 1, 0xffffffff81000000), NULL);
	world_deinit(&w);
}

TEST(space_says_how_many_mappings_have_no_room)
{
	struct world w;
	const uint64_t room = 1 << 17, more = 3;

	world_init(&w, NULL);
	for (uint64_t i = 0; i < room + more; i++)
		map(&w, 7, 0x10000 + i * 0x2000, 0x11000 + i * 0x2000, "/bin/many");
	CHECK_STR(at(&w, 7, 0x10000 + (room - 1) * 0x2000), "/bin/many");
	CHECK_STR(at(&w, 7, 0x10000 + room * 0x2000), NULL);
	CHECK(w.diag.entries && !w.diag.entries->next);
	CHECK_STR(w.diag.entries->message,
		  "process 7 has 131072 mappings: another one is left out, and code in it has no name");
	CHECK_UINT(w.diag.entries->count, more);
	map(&w, 7, 0x10000, 0x11000, "/bin/another"); /* in the place of one */
	CHECK_STR(at(&w, 7, 0x10000), "/bin/another");
	CHECK_UINT(w.diag.entries->count, more);
	world_deinit(&w);
}

/* The kernel cuts names to 15 bytes, and the process keeps its own. */
TEST(space_has_the_names_of_runtimes)
{
	struct writer dump = { 0 };
	struct world w;

	jitdump_put_header(&dump, 62, 7, 0);
	jitdump_put_thread(&dump, 8, "order-processin", "order-processing-worker-eu-1");
	jitdump_put_thread(&dump, 7, "java", "main");
	jitdump_put_thread(&dump, 7, "java", "DestroyJavaVM");
	struct recording_jit_map jit = { .pid = 7, .text = "", .dump = dump.data, .dump_len = dump.len };
	struct recording rec = { .jit_maps = &jit, .njit_maps = 1 };

	world_init(&w, &rec);
	name(&w, 7, 7, "java", true);
	fork_from(&w, 7, 7, 8);
	CHECK_STR(space_table_thread(w.spaces, 7, 7)->comm, "main");
	CHECK_STR(space_table_thread(w.spaces, 7, 8)->comm, "java");
	name(&w, 7, 8, "order-processin", false);
	CHECK_STR(space_table_thread(w.spaces, 7, 8)->comm, "order-processing-worker-eu-1");
	CHECK_STR(space_table_thread(w.spaces, 7, 8)->process, "java");
	name(&w, 7, 8, "idle", false);
	CHECK_STR(space_table_thread(w.spaces, 7, 8)->comm, "idle");
	name(&w, 9, 8, "order-processin", false); /* a thread of another process */
	CHECK_STR(space_table_thread(w.spaces, 9, 8)->comm, "order-processin");
	world_deinit(&w);
	writer_deinit(&dump);
}
