/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python_task.c - Modules/_asynciomodule.c: FutureObj, which TaskObj begins with, TaskStepMethWrapper, TaskWakeupMethWrapper.
 *
 * A task has in a row what it waits for, its coroutine and its name. Where that is differs from version to version; the coroutine
 * is recognised by its type and then tells where all three are. Slots of a Python class, as Handle's, lie in alphabetical
 * order behind the object's head.
 */
#include "record/managed/python_task.h"

#include "formats/base/compiler.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HANDLE_CALLBACK	 8  /* behind the head: _args, _callback */
#define WRAPPER_TASK	 0  /* of a step's or wake-up's object */
#define METHOD_SELF	 8  /* of a function of C with an object */
#define FUTURE_AWAITED	 80 /* from 3.14 on: the future or set of futures that await it */
#define FUTURE_FLAGS	 92 /* is it a task, is that a set: a byte each */
#define TASK_FIRST	 8  /* words behind the head from which on the coroutine is looked for */
#define TASK_WORDS	 28
#define LONG_TAG	 0  /* of an int from 3.12 on: sign and number of digits; the digits behind it */
#define LONG_DIGIT	 8
#define AWAITERS_MAX	 16
#define TEXT_LEN	 256
#define SEARCHES_MAX	 256
#define FIRST_NUMBERED	 12 /* version in which a task that was given no name has a number */
#define FIRST_WITH_AWAITERS 14

/* What each call needs; @head: bytes of an object's head. */
struct context {
	struct python_tasks *tasks;
	const struct python_layout *l;
	struct managed_names *names;
	struct managed_view *view;
	unsigned minor;
	uint16_t head;
};

bool python_task_is_run(const char *name, const char *file)
{
	static const char end[] = "asyncio/events.py";
	size_t len = strlen(file);

	/* Qualified names come with 3.11. */
	return (strcmp(name, "Handle._run") == 0 || strcmp(name, "_run") == 0) && len >= sizeof(end) - 1 &&
	       strcmp(file + len - (sizeof(end) - 1), end) == 0;
}

static bool read_word(const struct context *c, uint64_t addr, uint64_t *ret)
{
	return managed_view_try(c->view, addr, ret, sizeof(*ret));
}

static const char *type_of(const struct context *c, uint64_t object)
{
	return object && object % 8 == 0 ? python_type(c->l, c->names, c->view, object) : "";
}

/* "_asyncio.Task", or "Task" before 3.12. */
static bool ends_with(const char *type, const char *name)
{
	const char *dot = strrchr(type, '.');

	return strcmp(dot ? dot + 1 : type, name) == 0;
}

/* The task that calling @callback goes on with; 0 if it is something else. */
static uint64_t task_of_callback(const struct context *c, uint64_t callback)
{
	const char *type = type_of(c, callback);
	uint64_t task, at = callback + c->head;

	if (ends_with(type, "TaskStepMethWrapper") || ends_with(type, "TaskWakeupMethWrapper"))
		at += WRAPPER_TASK;
	else if (strcmp(type, "builtin_function_or_method") == 0)
		at += METHOD_SELF;
	else
		return 0;
	return read_word(c, at, &task) && ends_with(type_of(c, task), "Task") ? task : 0;
}

static bool is_coroutine(const struct context *c, uint64_t object)
{
	uint64_t type;

	if (!object || object % 8 || !read_word(c, object + c->l->object_type, &type))
		return false;
	if (c->tasks->coroutine_type)
		return type == c->tasks->coroutine_type;
	if (strcmp(type_of(c, object), "coroutine") != 0)
		return false;
	c->tasks->coroutine_type = type;
	return true;
}

/* Find out where tasks have their coroutines, by the one at @task. */
static bool learn(const struct context *c, uint64_t task)
{
	uint64_t words[TASK_WORDS];

	if (c->tasks->searches++ >= SEARCHES_MAX || !managed_view_try(c->view, task + c->head, words, sizeof(words)))
		return false;
	for (uint16_t i = TASK_FIRST; i + 1 < TASK_WORDS; i++) {
		if (is_coroutine(c, words[i]) && (strcmp(type_of(c, words[i + 1]), "str") == 0 ||
						  strcmp(type_of(c, words[i + 1]), "int") == 0)) {
			c->tasks->coroutine = (uint16_t)(c->head + i * 8);
			return true;
		}
	}
	return false;
}

/* "Task-7" of a task that was given no name: the number of one digit of 30 bits, or its text. */
static const char *name_of_number(const struct context *c, uint64_t number)
{
	char text[24];
	uint64_t tag;
	uint32_t digit;

	if (!read_word(c, number + c->head + LONG_TAG, &tag) || tag >> 3 != 1 ||
	    !managed_view_try(c->view, number + c->head + LONG_DIGIT, &digit, sizeof(digit)))
		return "";
	int len = snprintf(text, sizeof(text), "Task-%" PRIu32, digit);

	return managed_names_keep(c->names, text, (size_t)len);
}

static const char *name_of(const struct context *c, uint64_t task)
{
	uint64_t pair[2];

	if (!c->tasks->coroutine && !learn(c, task))
		return "";
	/* A task that has ended has no coroutine any more. */
	if (!managed_view_try(c->view, task + c->tasks->coroutine, pair, sizeof(pair)) || !is_coroutine(c, pair[0]))
		return "";
	if (c->minor >= FIRST_NUMBERED && strcmp(type_of(c, pair[1]), "int") == 0)
		return name_of_number(c, pair[1]);
	return strcmp(type_of(c, pair[1]), "str") == 0 ? python_text(c->l, c->names, c->view, pair[1]) : "";
}

/* The one future that awaits @future; 0 if there is none, or several. */
static uint64_t awaiter_of(const struct context *c, uint64_t future)
{
	uint64_t awaiter;
	uint8_t flags[2];

	if (!managed_view_try(c->view, future + c->head + FUTURE_FLAGS, flags, sizeof(flags)) || flags[1] ||
	    !read_word(c, future + c->head + FUTURE_AWAITED, &awaiter))
		return 0;
	return awaiter;
}

/* Futures between tasks, as of gather(), have no name and are passed over. */
static const char *awaiters_of(const struct context *c, uint64_t task)
{
	char text[TEXT_LEN];
	size_t len = 0;

	if (c->minor < FIRST_WITH_AWAITERS)
		return NULL;
	for (unsigned i = 0; i < AWAITERS_MAX && (task = awaiter_of(c, task)) != 0; i++) {
		const char *type = type_of(c, task);
		const char *name = ends_with(type, "Task") ? name_of(c, task) : "";
		int put = *name ? snprintf(text + len, sizeof(text) - len, "%s%s", len ? " < " : "", name) : 0;

		if (!*type || put < 0 || (size_t)put >= sizeof(text) - len)
			break;
		len += (size_t)put;
	}
	return len ? managed_names_keep(c->names, text, len) : NULL;
}

bool python_task_of(struct python_tasks *tasks, const struct python_layout *l, unsigned minor,
		    struct managed_names *names, struct managed_view *view, uint64_t handle,
		    struct python_task_names *ret)
{
	const struct context c = { tasks, l, names, view, minor, (uint16_t)(l->object_type + 8) };
	uint64_t callback, task;
	const char *name;

	if (!handle || !read_word(&c, handle + c.head + HANDLE_CALLBACK, &callback))
		return false;
	task = task_of_callback(&c, callback);
	name = task ? name_of(&c, task) : "";
	if (!*name)
		return false;
	*ret = (struct python_task_names){ name, awaiters_of(&c, task) };
	return true;
}
