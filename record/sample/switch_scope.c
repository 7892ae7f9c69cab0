/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_scope.c - threads are listed until no new one is found: a thread started meanwhile inherited events if its parent had them;
 * otherwise the next list has it. A thread with both has each record twice.
 */
#include "record/sample/switch_scope.h"

#include "formats/base/compiler.h"
#include "formats/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#define LOOK_NS	   50000000ULL
#define MUCH_MORE  2 /* others' records, as a multiple of our own */
#define ROUNDS_MAX 8

void switch_scope_begin(struct switch_scope *scope, bool wanted, bool inherit, uint64_t now_ns)
{
	*scope = (struct switch_scope){ .wanted = wanted, .inherit = inherit, .since_ns = now_ns };
}

void switch_scope_deinit(struct switch_scope *scope)
{
	map_deinit(&scope->tids);
	map_deinit(&scope->last);
}

bool switch_scope_count(struct switch_scope *scope, const struct event *ev, bool own)
{
	uint64_t now = ev->time_ns << 1 | ev->cpu_switch.in;

	scope->own += own;
	scope->foreign += !own;
	if (!own || !scope->tids.len)
		return own;

	uint64_t *last = map_put(&scope->last, ev->tid, NULL);
	bool again = *last == now;

	*last = now;
	return !again;
}

bool switch_scope_wants_narrow(struct switch_scope *scope, uint64_t now_ns)
{
	uint64_t own = scope->own, foreign = scope->foreign, elapsed_ns = now_ns - MIN(scope->since_ns, now_ns);

	if (!scope->wanted || scope->narrow || scope->settled || elapsed_ns < LOOK_NS)
		return false;
	scope->own = scope->foreign = 0;
	scope->since_ns = now_ns;
	return foreign > MUCH_MORE * own && (double)foreign * 1e9 / (double)elapsed_ns > SWITCH_SCOPE_FOREIGN;
}

/* *@ret_fresh is true if there are new ones. */
static struct err *add_process(struct switch_scope *scope, struct perf_fds *perf_fds, const struct task_filter *tasks,
			       uint32_t pid, bool *ret_fresh)
{
	uint64_t each = perf_fds->side.len + perf_fds->samples.len;
	struct err *err = NULL;
	char path[40];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", pid);
	dir = opendir(path);
	for (struct dirent *entry; dir && !err && (entry = readdir(dir));) {
		uint64_t tid;

		if (!text_parse_u64(entry->d_name, &tid) || tid > INT32_MAX || map_get(&scope->tids, tid) ||
		    !task_filter_has(tasks, pid, (uint32_t)tid))
			continue;
		*map_put(&scope->tids, tid, NULL) = *ret_fresh = true;
		if (scope->tids.len * each > SWITCH_SCOPE_FDS)
			err = err_new(ERR_UNSUPPORTED, "too many threads");
		else
			err = perf_fds_add_task(perf_fds, (pid_t)tid, scope->inherit);
		if (err && err_errno(err) == ESRCH) {
			err_free(err);
			err = NULL;
		}
	}
	if (dir)
		closedir(dir);
	return err;
}

static bool owner_of(uint32_t pid, uint32_t *ret)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (stat(path, &st) < 0)
		return false;
	*ret = st.st_uid;
	return true;
}

bool switch_scope_add_all(struct switch_scope *scope, struct perf_fds *perf_fds, const struct task_filter *tasks)
{
	bool fresh = true, owned = false;
	struct err *err = NULL;

	scope->settled = true; /* not tried again, whatever the result */
	for (int round = 0; fresh && !err && round < ROUNDS_MAX; round++) {
		const struct map_slot *slot;

		fresh = false;
		for (size_t at = 0; !err && (slot = map_next(&tasks->processes, &at));) {
			if (!slot->value)
				continue;
			owned = owned || owner_of((uint32_t)slot->key, &scope->owner);
			err = add_process(scope, perf_fds, tasks, (uint32_t)slot->key, &fresh);
		}
	}
	bool whole = !fresh && !err && scope->tids.len;

	err_free(err);
	return whole;
}

bool switch_scope_lost(const struct switch_scope *scope, uint32_t pid)
{
	uint32_t owner;

	return scope->narrow && owner_of(pid, &owner) && owner != scope->owner;
}
