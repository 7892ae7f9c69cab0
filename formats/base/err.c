/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.c - errors are small heap objects; a static one stands in when the heap is exhausted.
 */
#include "formats/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct err {
	enum err_kind kind;
	int errnum;
	char *message;
	char *hint;
};

static struct err no_memory = { .kind = ERR_SYSTEM, .errnum = 12, .message = "out of memory" };

static struct err *make(enum err_kind kind, int errnum, char *message)
{
	struct err *err = message ? calloc(1, sizeof(*err)) : NULL;

	if (!err) {
		free(message);
		return &no_memory;
	}
	err->kind = kind;
	err->errnum = errnum;
	err->message = message;
	return err;
}

static char *format(const char *fmt, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

struct err *err_new(enum err_kind kind, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	char *message = format(fmt, args);
	va_end(args);
	return make(kind, 0, message);
}

struct err *err_system(int errnum, const char *fmt, ...)
{
	va_list args;
	char *whole = NULL;

	va_start(args, fmt);
	char *message = format(fmt, args);
	va_end(args);
	if (message && asprintf(&whole, "%s: %s", message, strerror(errnum)) < 0)
		whole = NULL;
	free(message);
	return make(ERR_SYSTEM, errnum, whole);
}

struct err *err_wrap(struct err *err, const char *fmt, ...)
{
	va_list args;
	char *whole = NULL;

	if (!err || err == &no_memory)
		return err;
	va_start(args, fmt);
	char *message = format(fmt, args);
	va_end(args);
	if (message && asprintf(&whole, "%s: %s", message, err->message) >= 0) {
		free(err->message);
		err->message = whole;
	}
	free(message);
	return err;
}

struct err *err_remedy(struct err *err, const char *fmt, ...)
{
	va_list args;

	if (!err || err == &no_memory || err->hint)
		return err;
	va_start(args, fmt);
	err->hint = format(fmt, args);
	va_end(args);
	return err;
}

enum err_kind err_kind(const struct err *err)
{
	return err->kind;
}

int err_errno(const struct err *err)
{
	return err->errnum;
}

const char *err_message(const struct err *err)
{
	return err->message;
}

const char *err_hint(const struct err *err)
{
	return err->hint;
}

void err_free(struct err *err)
{
	if (!err || err == &no_memory)
		return;
	free(err->message);
	free(err->hint);
	free(err);
}

void err_freep(struct err **err)
{
	err_free(*err);
}

int err_exit_status(const struct err *err)
{
	return err->kind == ERR_USAGE ? 2 : 1;
}
