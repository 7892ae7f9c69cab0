/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_sight.c - /proc/PID/task/TID/schedstat, syscall and stack, and the thread's memory.
 */
#include "record/sample/thread_sight.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/perf/kallsyms.h"
#include "record/sample/syscall_argument.h"
#include "record/task/task_memory.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_LEN      8192    /* of a file in /proc */
#define VIEW_NS       5000000 /* of CPU time for an interpreter's stack: only this thread waits meanwhile */
#define FUNCTIONS_MAX 2000000 /* of the kernel and its modules */

struct thread_looker {
	struct managed_table *table;
	struct managed_view *view;
	struct map functions; /* hash of a kernel function's name -> address */
	bool has_functions;
	char stack[TEXT_LEN]; /* what the kernel says of the last thread's */
};

struct thread_looker *thread_looker_new(struct managed_table *table)
{
	struct thread_looker *l = memory_zeroed(1, sizeof(*l));

	l->table = table;
	if (table) {
		l->view = memory_zeroed(1, sizeof(*l->view));
		l->view->limit_ns = VIEW_NS;
		l->view->by_cpu_time = true;
	}
	return l;
}

void thread_looker_free(struct thread_looker *l)
{
	if (!l)
		return;
	map_deinit(&l->functions);
	free(l->view);
	free(l);
}

/* ---- the kernel's functions ---- */

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	while (*name)
		hash = (hash ^ (uint8_t)*name++) * 0x100000001b3;
	return map_hash(hash);
}

/* Any of several functions of one name will do: only the name is shown. */
static void read_functions(struct thread_looker *l)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	struct kallsyms_line line;
	char *text = NULL;
	size_t room = 0;

	l->has_functions = true;
	while (file && l->functions.len < FUNCTIONS_MAX && getline(&text, &room, file) > 0) {
		if (!kallsyms_parse(text, &line) || !line.addr || !kallsyms_is_function(&line))
			continue;
		kallsyms_cut(line.name);
		*map_put(&l->functions, hash_name(line.name), NULL) = line.addr;
	}
	free(text);
	if (file)
		fclose(file);
}

static uint64_t find_function(void *context, const char *name)
{
	const struct thread_looker *l = context;
	const uint64_t *addr = map_get(&l->functions, hash_name(name));

	return addr ? *addr : 0;
}

uint64_t thread_sight_parse_frame(const char *line, uint64_t (*lookup)(void *context, const char *name), void *context)
{
	const char *name = strchr(line, ' ');
	char copy[256];
	size_t len;
	uint64_t addr;

	if (strncmp(line, "[<", 2) != 0 || !name)
		return 0;
	name++;
	len = strcspn(name, "+ \n");
	if (!len || len >= sizeof(copy) || name[len] != '+')
		return 0;
	memcpy(copy, name, len);
	copy[len] = '\0';
	addr = lookup(context, copy);
	return addr ? addr + strtoull(name + len + 1, NULL, 16) : 0;
}

bool thread_sight_parse_syscall(const char *text, uint64_t *ret_sp, uint64_t *ret_ip)
{
	const char *ip = strrchr(text, ' '), *sp = ip;
	char *end;

	/* "35 0x7ffe.. 0x0 .. 0x7ffe(sp) 0x7f12(ip)", or "-1 sp ip", or "running" */
	if (!isdigit((unsigned char)*text) && *text != '-')
		return false;
	while (sp && sp > text && sp[-1] != ' ')
		sp--;
	if (!ip || sp == text)
		return false;
	*ret_ip = strtoull(ip + 1, &end, 16);
	*ret_sp = strtoull(sp, NULL, 16);
	return (*end == '\n' || !*end) && *ret_sp && *ret_ip;
}

static bool read_text(uint32_t pid, uint32_t tid, const char *name, char *ret, size_t room)
{
	char path[96];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, ret, room - 1);
	close(fd);
	ret[MAX(got, 0)] = '\0';
	return got > 0;
}

static void parse_kernel_stack(struct thread_looker *l, struct thread_sight *ret)
{
	char *rest = l->stack, *line;

	if (!*l->stack)
		return;
	if (!l->has_functions)
		read_functions(l);
	while ((line = strsep(&rest, "\n")) != NULL && ret->nkernel_ips < THREAD_SIGHT_IPS_MAX) {
		uint64_t ip = thread_sight_parse_frame(line, find_function, l);

		if (ip)
			ret->kernel_ips[ret->nkernel_ips++] = ip;
	}
}

static void read_user_stack(struct thread_sight *ret)
{
	struct task_memory mem;

	if (!task_memory_open(&mem, ret->pid))
		return;
	ret->stack_len = task_memory_read(&mem, ret->sp, ret->stack, sizeof(ret->stack));
	task_memory_close(&mem);
}

/* The interpreter's stack. */
static void read_managed(struct thread_looker *l, struct thread_sight *ret)
{
	struct managed_process *p = l->table ? managed_table_hold(l->table, ret->pid) : NULL;

	if (!p)
		return;
	ret->binary = managed_process_binary(p);
	ret->runtime = managed_process_runtime(p)->id;
	managed_process_read(p, ret->tid, /* regs= */ NULL, l->view, &ret->managed);
	managed_process_release(l->table, p);
}

/* The third number counts how often it was scheduled; the first two are times, which change with it. */
bool thread_runs(uint32_t pid, uint32_t tid, char ret[THREAD_SIGHT_RUNS_LEN])
{
	return read_text(pid, tid, "schedstat", ret, THREAD_SIGHT_RUNS_LEN);
}

bool thread_look(struct thread_looker *l, uint32_t pid, uint32_t tid, struct thread_sight *ret)
{
	char syscall[256] = "", after[THREAD_SIGHT_RUNS_LEN];

	ret->pid = pid;
	ret->tid = tid;
	ret->nkernel_ips = ret->stack_len = 0;
	ret->ip = ret->sp = ret->argument = 0;
	ret->binary = NULL;
	if (!thread_runs(pid, tid, ret->runs))
		return false;
	ret->time_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (read_text(pid, tid, "syscall", syscall, sizeof(syscall)) && strncmp(syscall, "running", 7) == 0)
		return false;
	ret->argument = syscall_argument_parse(syscall);
	if (thread_sight_parse_syscall(syscall, &ret->sp, &ret->ip))
		read_user_stack(ret);
	else
		ret->sp = ret->ip = 0;
	read_managed(l, ret);
	if (!read_text(pid, tid, "stack", l->stack, sizeof(l->stack)))
		*l->stack = '\0';
	if (!thread_runs(pid, tid, after) || strcmp(ret->runs, after) != 0)
		return false;
	/* Not before: where the kernel's functions are takes a tenth of a second to read, in which most threads run. */
	parse_kernel_stack(l, ret);
	return ret->nkernel_ips || ret->sp;
}

bool thread_sight_managed(const struct thread_sight *sight, uint64_t time_ns, struct event *ret)
{
	if (!sight->binary)
		return false;
	managed_event_make(ret, sight->binary, sight->runtime, &sight->managed);
	ret->time_ns = time_ns - 1;
	ret->pid = sight->pid;
	ret->tid = sight->tid;
	return true;
}
