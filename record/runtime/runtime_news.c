/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_news.c - lists behind a lock.
 */
#include "record/runtime/runtime_news.h"

#include "record/runtime/dotnet.h"
#include "record/runtime/hotspot.h"
#include "record/runtime/v8.h"

#include <inttypes.h>
#include <string.h>

#define GONE_MAX 65536

void runtime_news_init(struct runtime_news *news)
{
	*news = (struct runtime_news){ 0 };
	pthread_mutex_init(&news->lock, NULL);
}

void runtime_news_deinit(struct runtime_news *news)
{
	vec_deinit(&news->interpreters);
	vec_deinit(&news->gone);
	pthread_mutex_destroy(&news->lock);
}

void runtime_news_put_interpreter(struct runtime_news *news, const struct runtime_interpreter *found)
{
	pthread_mutex_lock(&news->lock);
	vec_push(&news->interpreters, *found);
	news->ninterpreters = news->interpreters.len;
	pthread_mutex_unlock(&news->lock);
}

void runtime_news_put_gone(struct runtime_news *news, const struct runtime_gone *gone)
{
	pthread_mutex_lock(&news->lock);
	if (news->gone.len < GONE_MAX)
		vec_push(&news->gone, *gone);
	news->ngone = news->gone.len;
	pthread_mutex_unlock(&news->lock);
}

void runtime_news_put_unread(struct runtime_news *news, enum runtime_kind kind, struct runtime_unread version)
{
	pthread_mutex_lock(&news->lock);
	version.count = news->unread[kind].count + 1;
	news->unread[kind] = version;
	pthread_mutex_unlock(&news->lock);
}

bool runtime_news_take_interpreter(struct runtime_news *news, struct runtime_interpreter *ret)
{
	bool any;

	if (!news->ninterpreters)
		return false;
	pthread_mutex_lock(&news->lock);
	any = news->interpreters.len;
	if (any)
		*ret = news->interpreters.items[--news->interpreters.len];
	news->ninterpreters = news->interpreters.len;
	pthread_mutex_unlock(&news->lock);
	return any;
}

bool runtime_news_take_gone(struct runtime_news *news, struct runtime_gone *ret)
{
	bool any;

	if (!news->ngone)
		return false;
	pthread_mutex_lock(&news->lock);
	any = news->gone.len;
	if (any)
		*ret = news->gone.items[--news->gone.len];
	news->ngone = news->gone.len;
	pthread_mutex_unlock(&news->lock);
	return any;
}

static void say_java(const struct runtime_unread *java, struct diag *notes)
{
	if (java->count && java->newer)
		diag_warn(notes, "JDK %u is newer than this precord knows; %u to %u are read", java->major, HOTSPOT_JDK_MIN,
			  HOTSPOT_JDK_MAX);
	else if (java->count)
		diag_warn(notes, "the tables of %" PRIu64 " Java virtual machines could not be read: their code has no names",
			  java->count);
}

static void say_v8(const struct runtime_unread *v8, struct diag *notes)
{
	if (v8->count && v8->newer)
		diag_warn(notes, "V8 %u.%u is newer than this precord knows; " V8_VERSIONS " are read", v8->major, v8->minor);
	else if (v8->count && v8->major)
		diag_warn(notes, "V8 %u.%u is not among those that this precord reads, " V8_VERSIONS ": its code has no names",
			  v8->major, v8->minor);
	else if (v8->count && v8->stripped)
		diag_warn(notes, "processes whose V8 is stripped of the symbols that describe its data: %" PRIu64
			  "; their code has the names of /tmp/perf-PID.map (chromium --no-sandbox --js-flags=--perf-basic-prof), or none", v8->count);
	else if (v8->count)
		diag_warn(notes, "processes with V8 that could not be read: %" PRIu64 "; their code has no names", v8->count);
}

static void say_dotnet(const struct runtime_unread *dotnet, struct diag *notes)
{
	if (dotnet->count && dotnet->newer)
		diag_warn(notes, ".NET %u.%u is newer than this precord knows; " DOTNET_VERSIONS " are read", dotnet->major, dotnet->minor);
	else if (dotnet->count && dotnet->major)
		diag_warn(notes, ".NET %u.%u is not among those that this precord reads, " DOTNET_VERSIONS ": its code has no names",
			  dotnet->major, dotnet->minor);
	else if (dotnet->count)
		diag_warn(notes, "processes with .NET that could not be read: %" PRIu64 "; their code has no names", dotnet->count);
}

void runtime_news_report(struct runtime_news *news, struct diag *notes)
{
	pthread_mutex_lock(&news->lock);
	say_java(&news->unread[RUNTIME_JAVA], notes);
	say_v8(&news->unread[RUNTIME_V8], notes);
	say_dotnet(&news->unread[RUNTIME_DOTNET], notes);
	for (size_t i = 0; i < RUNTIME_KINDS; i++)
		news->unread[i].count = 0;
	pthread_mutex_unlock(&news->lock);
}
