/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - runs the unit tests: run [-l] [WORD...] runs those whose name or file contains a word.
 *
 * cmocka gives each test its own recovery point, also from SIGSEGV and SIGABRT, so that one broken test
 * does not hide the others. The lines and the final count are ours, in the form that every runner has.
 */
#include "tests/unit/test.h"

#include "formats/base/arena.h"
#include "formats/base/vec.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What a running test holds and gives back at its end. */
struct mapping {
	void *data;
	size_t len;
};

static struct test *tests; /* the constructors have nowhere else to put them */
static struct {
	FILE *report; /* the real stdout */
	struct arena arena;
	VEC(struct mapping) mappings;
	char *folder;
	bool skipped;
	unsigned passed, failed, nskipped;
} state;

void test_register(struct test *test)
{
	test->next = tests;
	tests = test;
}

__attribute__((noreturn)) static void fail_at(struct test_place place, const char *message)
{
	fprintf(state.report, "# %s:%d: %s\n", place.file, place.line, message);
	_fail(place.file, place.line); /* jumps to the end of the test */
	abort();
}

void test_check(struct test_place place, bool ok, const char *text)
{
	if (!ok)
		fail_at(place, arena_printf(&state.arena, "not so: %s", text));
}

void test_check_uint(struct test_place place, uint64_t value, uint64_t expected, const char *text)
{
	if (value != expected)
		fail_at(place, arena_printf(&state.arena,
					    "%s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64
					    " (0x%" PRIx64 ")",
					    text, value, value, expected, expected));
}

void test_check_int(struct test_place place, int64_t value, int64_t expected, const char *text)
{
	if (value != expected)
		fail_at(place, arena_printf(&state.arena, "%s is %" PRId64 ", not %" PRId64, text,
					    value, expected));
}

void test_check_str(struct test_place place, const char *value, const char *expected,
		    const char *text)
{
	if (value == expected || (value && expected && strcmp(value, expected) == 0))
		return;
	fail_at(place, arena_printf(&state.arena, "%s is\n#   '%s', not\n#   '%s'", text,
				    value ? value : "(null)", expected ? expected : "(null)"));
}

void test_check_mem(struct test_place place, const void *value, const void *expected, size_t len,
		    const char *text)
{
	const uint8_t *a = value, *b = expected;

	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i])
			fail_at(place, arena_printf(&state.arena, "%s[%zu] is 0x%02x, not 0x%02x",
						    text, i, a[i], b[i]));
}

void test_check_ok(struct test_place place, struct err *err, const char *text)
{
	const char *message = err ? arena_strdup(&state.arena, err_message(err)) : NULL;

	err_free(err);
	if (message)
		fail_at(place, arena_printf(&state.arena, "%s failed: %s", text, message));
}

void test_check_err(struct test_place place, struct err *err, enum err_kind kind, const char *part,
		    const char *text)
{
	if (!err)
		fail_at(place, arena_printf(&state.arena, "%s did not fail", text));

	const char *message = arena_strdup(&state.arena, err_message(err));
	enum err_kind found = err_kind(err);

	err_free(err);
	if (found != kind)
		fail_at(place, arena_printf(&state.arena, "%s failed with kind %d, not %d: %s",
					    text, (int)found, (int)kind, message));
	if (!strstr(message, part))
		fail_at(place, arena_printf(&state.arena, "%s failed without '%s': %s", text, part,
					    message));
}

void test_skip(const char *why)
{
	fprintf(state.report, "# skipped: %s\n", why);
	state.skipped = true;
	skip();
	abort(); /* not reached: skip() jumps */
}

const void *guarded(const void *data, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (len + page - 1) / page * page;
	char *base =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || mprotect(base + room, page, PROT_NONE) < 0)
		fail_at(TEST_HERE, "no memory for guarded bytes");
	vec_push(&state.mappings, ((struct mapping){ base, room + page }));
	if (len)
		memcpy(base + room - len, data, len);
	return base + room - len;
}

const char *test_printed(void (*write)(FILE *out, void *context), void *context)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	write(out, context);
	fclose(out);

	const char *copy = arena_strdup(&state.arena, text);

	free(text);
	return copy;
}

const char *test_path(const char *name)
{
	if (!state.folder) {
		const char *tmp = getenv("TMPDIR");

		state.folder = arena_printf(&state.arena, "%s/unit.XXXXXX", tmp ? tmp : "/tmp");
		if (!mkdtemp(state.folder))
			fail_at(TEST_HERE, "cannot make a folder for test files");
	}
	return arena_printf(&state.arena, "%s/%s", state.folder, name);
}

static void release(void)
{
	for (size_t i = 0; i < state.mappings.len; i++)
		munmap(state.mappings.items[i].data, state.mappings.items[i].len);
	vec_deinit(&state.mappings);
	if (state.folder) {
		char *command[] = { "rm", "-rf", state.folder, NULL };
		pid_t pid = fork();

		if (pid == 0) {
			execvp(command[0], command);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
		state.folder = NULL;
	}
	arena_deinit(&state.arena);
}

/* What was printed since the last call, if it is to be shown; forgotten otherwise. */
static void take_output(bool show)
{
	char buffer[4096];
	ssize_t len;

	fflush(stdout);
	lseek(STDOUT_FILENO, 0, SEEK_SET);
	while (show && (len = read(STDOUT_FILENO, buffer, sizeof(buffer))) > 0)
		fwrite(buffer, 1, (size_t)len, state.report);
	lseek(STDOUT_FILENO, 0, SEEK_SET);
	if (ftruncate(STDOUT_FILENO, 0) < 0)
		abort();
}

static void run_one(void **context)
{
	struct test *test = *context;

	test->run();
}

static void run(struct test *test)
{
	const struct CMUnitTest unit = { test->name, run_one, NULL, NULL, test };

	state.skipped = false;
	int failed = _cmocka_run_group_tests(test->name, &unit, 1, NULL, NULL);

	take_output(failed);
	if (failed)
		state.failed++;
	else if (state.skipped)
		state.nskipped++;
	else
		state.passed++;
	if (failed || state.skipped || getenv("UNIT_VERBOSE"))
		fprintf(state.report, "%s %s (%s)\n",
			failed          ? "FAIL"
			: state.skipped ? "skip"
					: "ok  ",
			test->name, test->file);
	release();
}

static bool wanted(const struct test *test, char **words)
{
	if (!*words)
		return true;
	for (; *words; words++)
		if (strstr(test->name, *words) || strstr(test->file, *words))
			return true;
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct test *const *left = a, *const *right = b;
	int order = strcmp((*left)->file, (*right)->file);

	return order ? order : strcmp((*left)->name, (*right)->name);
}

/* From here on, what tests and cmocka print to stdout is kept for take_output(). */
static bool divert_stdout(void)
{
	int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int memory = memfd_create("test output", MFD_CLOEXEC);

	state.report = copy < 0 ? NULL : fdopen(copy, "w");
	if (!state.report || dup2(memory, STDOUT_FILENO) < 0)
		return false;
	close(memory);
	setvbuf(state.report, NULL, _IOLBF, 0);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return true;
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && strcmp(argv[1], "-l") == 0;
	VEC(struct test *) sorted = { 0 };

	if (!divert_stdout())
		return 1;
	for (struct test *test = tests; test; test = test->next)
		if (wanted(test, argv + 1 + list))
			vec_push(&sorted, test);
	vec_sort(&sorted, compare);
	for (size_t i = 0; i < sorted.len; i++) {
		if (list)
			fprintf(state.report, "%s %s\n", sorted.items[i]->file,
				sorted.items[i]->name);
		else
			run(sorted.items[i]);
	}
	vec_deinit(&sorted);
	if (!list)
		fprintf(state.report, "%u passed, %u failed, %u skipped\n", state.passed,
			state.failed, state.nskipped);
	return state.failed ? 1 : 0;
}
