/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod.c - libdebuginfod, resolved at run time, since few need it. It calls back about once a second while it waits and
 * while bytes come; that is where it is stopped.
 */
#include "symbolize/module/debuginfod.h"

#include "formats/base/clock.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* <elfutils/debuginfod.h> */
struct library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find)(void *client, const unsigned char *build_id, int len, char **path);
	void (*set_progress)(void *client, int (*progress)(void *client, long got, long len));
};

/* One request. */
struct request {
	struct debuginfod *d;
	const struct library *library;
	uint64_t began_ns;
	bool late, too_large;
};

/* POSIX lets dlsym() results become function pointers; ISO C has no cast for it. */
static bool open_library(struct library *l, enum debuginfod_kind kind)
{
	/* What it loads (curl, a TLS library) keeps state of the process, and is not made to go away. */
	l->handle = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!l->handle)
		return false;
	*(void **)&l->begin = dlsym(l->handle, "debuginfod_begin");
	*(void **)&l->end = dlsym(l->handle, "debuginfod_end");
	*(void **)&l->find = dlsym(l->handle, kind == DEBUGINFOD_EXECUTABLE ? "debuginfod_find_executable" :
									      "debuginfod_find_debuginfo");
	*(void **)&l->set_progress = dlsym(l->handle, "debuginfod_set_progressfn");
	return l->begin && l->end && l->find && l->set_progress;
}

/*
 * A callback gets the client and nothing else, and to ask that for its data takes a function of the library whose address is in
 * the request: so the request is where the thread finds it. Only while it is in ask().
 */
static _Thread_local struct request *current;

static int on_progress(void *client, long got, long len)
{
	struct request *request = current;
	struct debuginfod *d = request->d;

	(void)client;
	if (d->progress)
		d->progress(d->context, got > 0 ? (uint64_t)got : 0, len > 0 ? (uint64_t)len : 0);
	request->late = atomic_load(&d->spent_ns) + (clock_now_ns(CLOCK_MONOTONIC) - request->began_ns) > d->time_ns;
	request->too_large = got > 0 && (uint64_t)got > DEBUGINFOD_LEN_MAX;
	return request->late || request->too_large;
}

static char *ask(struct request *request, const uint8_t *build_id, size_t len)
{
	const struct library *l = request->library;
	void *client = l->begin();
	char *path = NULL;
	int fd;

	if (!client)
		return NULL;
	current = request;
	l->set_progress(client, on_progress);
	fd = l->find(client, build_id, (int)len, &path);
	current = NULL;
	if (fd >= 0) {
		close(fd);
	} else {
		free(path);
		path = NULL;
	}
	l->end(client);
	return path;
}

static void settle(const struct request *request, bool found)
{
	struct debuginfod *d = request->d;

	atomic_fetch_add(&d->spent_ns, clock_now_ns(CLOCK_MONOTONIC) - request->began_ns);
	if (found)
		atomic_fetch_add(&d->found, 1);
	else if (request->late)
		atomic_fetch_add(&d->late, 1);
	else if (request->too_large)
		atomic_fetch_add(&d->refused, 1);
}

char *debuginfod_find(struct debuginfod *d, enum debuginfod_kind kind, const uint8_t *build_id, size_t len)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct debuginfod unwatched = { .time_ns = DEBUGINFOD_TIME_NS };
	struct library library = { 0 };
	struct request request = { .d = d ? d : &unwatched, .library = &library, .began_ns = clock_now_ns(CLOCK_MONOTONIC) };
	char *path = NULL;

	if (!urls || !*urls || !len)
		return NULL;
	if (atomic_load(&request.d->spent_ns) >= request.d->time_ns) {
		atomic_fetch_add(&request.d->late, 1);
		return NULL;
	}
	if (open_library(&library, kind)) {
		path = ask(&request, build_id, len);
		settle(&request, path != NULL);
	}
	if (library.handle)
		dlclose(library.handle);
	return path;
}
