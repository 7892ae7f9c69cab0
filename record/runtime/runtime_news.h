/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_news.h - results that the runtime reader's thread passes to the recorder: places of interpreters, code that is gone, unsupported
 * versions of runtimes.
 *
 * One thread puts, another takes; each call takes the lock briefly.
 */
#ifndef RUNTIME_NEWS_H
#define RUNTIME_NEWS_H

#include "formats/base/diag.h"
#include "formats/base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the code of a process's bytecode interpreter is (struct process). */
struct runtime_interpreter {
	uint64_t start, len;
	uint32_t pid;
	bool is_v8;
};

/* Code of a process that was looked up and has been freed since. */
struct runtime_gone {
	uint64_t start, end;
	uint32_t pid;
};

enum runtime_kind { RUNTIME_JAVA, RUNTIME_V8, RUNTIME_DOTNET, RUNTIME_KINDS };

/* A version of a runtime that is not read. */
struct runtime_unread {
	uint64_t count;	       /* of processes */
	unsigned major, minor; /* of the last one; 0: not known */
	bool newer;	       /* than all that are known */
	bool stripped;	       /* of the symbols that tell the version, and where things are */
};

struct runtime_news {
	pthread_mutex_t lock; /* of what follows */
	VEC(struct runtime_interpreter) interpreters;
	VEC(struct runtime_gone) gone;
	atomic_size_t ninterpreters, ngone; /* of them, to be asked without the lock */
	struct runtime_unread unread[RUNTIME_KINDS];
};

void runtime_news_init(struct runtime_news *news);
void runtime_news_deinit(struct runtime_news *news);

void runtime_news_put_interpreter(struct runtime_news *news, const struct runtime_interpreter *found);
void runtime_news_put_gone(struct runtime_news *news, const struct runtime_gone *gone);
/* One process more has @version of @kind. Its count is not looked at. */
void runtime_news_put_unread(struct runtime_news *news, enum runtime_kind kind, struct runtime_unread version);

/* One that was put and not taken yet; false if there are no more. Cheap. */
bool runtime_news_take_interpreter(struct runtime_news *news, struct runtime_interpreter *ret);
bool runtime_news_take_gone(struct runtime_news *news, struct runtime_gone *ret);

/* Versions that were not read, which are counted anew from then on. */
void runtime_news_report(struct runtime_news *news, struct diag *notes);

#endif
