/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_python_task.c - tasks of asyncio that a test made up, as in CPython 3.14: what runs, who waits for it.
 */
#include "record/managed/python_task.h"

#include "tests/unit/managed_fake.h"
#include "tests/unit/test.h"

#include <string.h>

#define HANDLE	  0x1000
#define WRAPPER	  0x1100
#define TASKS	  0x2000 /* 512 bytes each */
#define TASK(n)	  (TASKS + (n) * 512)
#define COROUTINE 0x4000
#define TYPES	  0x5000 /* 256 bytes each */
#define TEXTS	  0x8000 /* 256 bytes each */
#define NUMBER	  0xa000

enum type { TYPE_TASK, TYPE_FUTURE, TYPE_STEP, TYPE_METHOD, TYPE_COROUTINE, TYPE_STR, TYPE_INT, TYPE_OTHER };

static const struct python_layout layout = {
	.object_type = 8, .type_name = 24, .text_len = 16, .text_state = 32, .ascii_len = 48, .compact_len = 64,
};

struct fixture {
	struct managed_fake fake;
	struct python_tasks tasks;
};

static void put_object(struct fixture *f, size_t at, enum type type)
{
	managed_fake_put(&f->fake, at + 8, FAKE_BASE + TYPES + (size_t)type * 256);
}

static uint64_t put_text(struct fixture *f, size_t n, const char *text)
{
	size_t at = TEXTS + n * 256;

	put_object(f, at, TYPE_STR);
	managed_fake_put(&f->fake, at + 16, strlen(text));
	managed_fake_put32(&f->fake, at + 32, 1u << 2 | 1u << 5 | 1u << 6);
	memcpy(f->fake.bytes + at + 48, text, strlen(text));
	return FAKE_BASE + at;
}

/* A task or another future that the one number @awaiter awaits, SIZE_MAX: none. Its coroutine is at 160. */
static void put_task(struct fixture *f, size_t n, enum type type, const char *name, size_t awaiter)
{
	put_object(f, TASK(n), type);
	managed_fake_put(&f->fake, TASK(n) + 96, awaiter == SIZE_MAX ? 0 : FAKE_BASE + TASK(awaiter));
	managed_fake_put(&f->fake, TASK(n) + 144, FAKE_BASE + COROUTINE + 64); /* another object */
	managed_fake_put(&f->fake, TASK(n) + 160, FAKE_BASE + COROUTINE);
	managed_fake_put(&f->fake, TASK(n) + 168, put_text(f, n, name));
}

/* The handle goes on with "light", which a gather() awaits, which "boss" awaits, which "main" awaits. */
static void fixture_init(struct fixture *f)
{
	static const char *const names[] = {
		[TYPE_TASK] = "_asyncio.Task",		[TYPE_FUTURE] = "_GatheringFuture",
		[TYPE_STEP] = "_asyncio.TaskStepMethWrapper",	[TYPE_METHOD] = "builtin_function_or_method",
		[TYPE_COROUTINE] = "coroutine",		[TYPE_STR] = "str",
		[TYPE_INT] = "int",			[TYPE_OTHER] = "dict",
	};
	const struct managed_binary binary = { .name = "python3.11",
					       .symbols = { { .vaddr = 8, .found = true } } };

	f->tasks = (struct python_tasks){ 0 };
	managed_fake_init(&f->fake, &managed_python, &binary);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		managed_fake_put(&f->fake, TYPES + i * 256 + 24, FAKE_BASE + TYPES + i * 256 + 64);
		memcpy(f->fake.bytes + TYPES + i * 256 + 64, names[i], strlen(names[i]));
	}
	managed_fake_put(&f->fake, HANDLE + 24, FAKE_BASE + WRAPPER);
	put_object(f, WRAPPER, TYPE_STEP);
	managed_fake_put(&f->fake, WRAPPER + 16, FAKE_BASE + TASK(0));
	put_object(f, COROUTINE, TYPE_COROUTINE);
	put_object(f, COROUTINE + 64, TYPE_OTHER);
	put_task(f, 0, TYPE_TASK, "light", 1);
	put_task(f, 1, TYPE_FUTURE, "", 2);
	put_task(f, 2, TYPE_TASK, "boss", 3);
	put_task(f, 3, TYPE_TASK, "main", SIZE_MAX);
}

static void fixture_deinit(struct fixture *f)
{
	managed_fake_deinit(&f->fake);
}

static bool find(struct fixture *f, unsigned minor, struct python_task_names *ret)
{
	managed_view_begin(f->fake.view, managed_fake_read, &f->fake, 1000000000000ull);
	return python_task_of(&f->tasks, &layout, minor, &f->fake.names, f->fake.view, FAKE_BASE + HANDLE, ret);
}

TEST(python_task_has_its_name_and_those_that_await_it)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	CHECK(find(&f, 14, &names));
	CHECK_STR(names.name, "light");
	CHECK_STR(names.awaiters, "boss < main");
	CHECK(find(&f, 13, &names));
	CHECK(!names.awaiters); /* before 3.14 nothing says it */
}

TEST(python_task_wakes_up_by_a_function_of_c)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	put_object(&f, WRAPPER, TYPE_METHOD);
	managed_fake_put(&f.fake, WRAPPER + 24, FAKE_BASE + TASK(2));
	CHECK(find(&f, 12, &names));
	CHECK_STR(names.name, "boss");
	managed_fake_put(&f.fake, WRAPPER + 24, FAKE_BASE + COROUTINE); /* of another object */
	CHECK(!find(&f, 12, &names));
}

TEST(python_task_without_a_name_has_its_number)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	managed_fake_put(&f.fake, TASK(0) + 168, FAKE_BASE + NUMBER);
	put_object(&f, NUMBER, TYPE_INT);
	managed_fake_put(&f.fake, NUMBER + 16, 1 << 3);
	managed_fake_put32(&f.fake, NUMBER + 24, 12);
	CHECK(find(&f, 13, &names));
	CHECK_STR(names.name, "Task-12");
	managed_fake_put(&f.fake, NUMBER + 16, 2 << 3); /* too large for one digit */
	CHECK(!find(&f, 13, &names));
}

TEST(python_task_is_not_guessed)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	put_object(&f, TASK(0), TYPE_OTHER);
	CHECK(!find(&f, 14, &names));
	put_object(&f, TASK(0), TYPE_TASK);
	put_object(&f, WRAPPER, TYPE_OTHER);
	CHECK(!find(&f, 14, &names));
	put_object(&f, WRAPPER, TYPE_STEP);
	CHECK(find(&f, 14, &names));
	managed_fake_put(&f.fake, TASK(0) + 160, 0); /* it has ended */
	CHECK(!find(&f, 14, &names));
}

TEST(python_task_that_awaits_itself_comes_to_an_end)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	put_task(&f, 3, TYPE_TASK, "main", 2);
	CHECK(find(&f, 14, &names));
	CHECK(strlen(names.awaiters) < 256);
	f.fake.bytes[TASK(0) + 109] = 1; /* several: a set */
	CHECK(find(&f, 14, &names));
	CHECK(!names.awaiters);
}

TEST(python_task_survives_memory_that_changes)
{
	CLEANUP(fixture_deinit) struct fixture f;
	struct python_task_names names;

	fixture_init(&f);
	f.fake.changes = true;
	for (int i = 0; i < 300; i++)
		find(&f, 14, &names);
}

TEST(python_task_runs_above_the_method_of_a_handle)
{
	CHECK(python_task_is_run("Handle._run", "/usr/lib/python3.14/asyncio/events.py"));
	CHECK(python_task_is_run("_run", "/usr/lib/python3.8/asyncio/events.py"));
	CHECK(!python_task_is_run("Handle._run", "/srv/events.py"));
	CHECK(!python_task_is_run("run", "/usr/lib/python3.8/asyncio/events.py"));
	CHECK(!python_task_is_run("_run", ""));
}
