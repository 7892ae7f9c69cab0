/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c - names from the command line become numbers, and processes become their threads.
 */
#include "record/task/target.h"

#include "formats/base/text.h"
#include "record/task/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct opt target_opts[] = {
	OPT_FLAG(struct target_args, all, "all-cpus", 'a', "record the whole system"),
	OPT_STR(struct target_args, pids, "pid", 'p', "PID[,PID]", "record running processes"),
	OPT_STR(struct target_args, tids, "tid", 't', "TID[,TID]", "record single threads"),
	OPT_STR(struct target_args, cpus, "cpu", 'C', "LIST", "record only on these CPUs: 0-3,8"),
	OPT_STR(struct target_args, cgroup, "cgroup", 'G', "PATH",
		"record what runs in a cgroup (v2)"),
	OPT_STR(struct target_args, user, "user", 'u', "USER", "record the processes of a user"),
	OPT_END,
};

static bool is_number(const char *name, pid_t *ret)
{
	uint64_t value;

	if (!text_parse_u64(name, &value) || !value || value > INT32_MAX)
		return false;
	*ret = (pid_t)value;
	return true;
}

/* Add every thread of @pid. */
static struct err *add_process(struct target *t, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	DIR *dir = opendir(path);

	if (!dir)
		return err_remedy(err_system(errno == ENOENT ? ESRCH : errno, "process %d", pid),
				  "ps -e lists the processes that run");
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct target_task task = { .pid = pid };

		if (is_number(entry->d_name, &task.tid))
			vec_push(&t->tasks, task);
	}
	closedir(dir);
	return NULL;
}

/* The process that thread @tid belongs to; 0 if there is none. */
static pid_t process_of(pid_t tid)
{
	char path[64], line[256];
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	FILE *file = fopen(path, "re");

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	}
	fclose(file);
	return pid;
}

static struct err *add_thread(struct target *t, pid_t tid)
{
	struct target_task task = { process_of(tid), tid };

	if (!task.pid)
		return err_remedy(err_system(ESRCH, "thread %d", tid),
				  "ps -eL lists the threads that run");
	vec_push(&t->tasks, task);
	return NULL;
}

/* Call @visit for each number of "12,34". */
static struct err *each_id(struct target *t, const char *list, const char *what,
			   struct err *(*visit)(struct target *t, pid_t id))
{
	char *text = arena_strdup(&t->arena, list);
	char *rest = NULL;
	struct err *err = NULL;

	for (char *item = strtok_r(text, ",", &rest); item && !err;
	     item = strtok_r(NULL, ",", &rest)) {
		pid_t id;

		if (!is_number(item, &id))
			return err_new(ERR_USAGE, "'%s' is not a %s number", item, what);
		err = visit(t, id);
	}
	if (!err && !t->tasks.len)
		err = err_new(ERR_USAGE, "no %s number given", what);
	return err;
}

static struct err *user_number(const char *name, uid_t *ret)
{
	uint64_t value;

	if (text_parse_u64(name, &value) && value < UINT32_MAX) {
		*ret = (uid_t)value;
		return NULL;
	}
	errno = 0;
	const struct passwd *entry = getpwnam(name);

	if (!entry)
		return err_new(ERR_USAGE, "there is no user '%s'", name);
	*ret = entry->pw_uid;
	return NULL;
}

static bool belongs_to(pid_t pid, uid_t user)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid == user;
}

/* All processes but this one, or those of *@user. */
static struct err *add_processes(struct target *t, const uid_t *user)
{
	DIR *dir = opendir("/proc");

	if (!dir)
		return err_system(errno, "cannot read /proc");
	for (struct dirent *entry; (entry = readdir(dir));) {
		pid_t pid;

		if (is_number(entry->d_name, &pid) && pid != getpid() && (!user || belongs_to(pid, *user)))
			err_free(add_process(t, pid)); /* it may be gone by now */
	}
	closedir(dir);
	return NULL;
}

static struct err *add_user(struct target *t, const char *name)
{
	uid_t user = 0;
	struct err *err = user_number(name, &user);

	if (!err)
		err = add_processes(t, &user);
	if (err)
		return err;
	if (!t->tasks.len)
		return err_remedy(err_new(ERR_USAGE, "user '%s' runs no process", name),
				  "processes that start later are followed only if their parent "
				  "is: use -a and filter the report");
	return NULL;
}

static struct err *find_cpus(struct target *t, const char *list)
{
	struct cpu_list asked = { 0 };

	cpu_list_online(&t->arena, &t->online);
	t->cpus = t->online;
	if (!list)
		return NULL;
	struct err *err = cpu_list_parse(list, &t->arena, &asked);

	if (err)
		return err;
	t->cpus = (struct cpu_list){ ARENA_ARRAY(&t->arena, uint32_t, asked.len), 0 };
	for (size_t i = 0; i < asked.len; i++) {
		if (cpu_list_has(&t->online, asked.cpus[i]))
			t->cpus.cpus[t->cpus.len++] = asked.cpus[i];
	}
	if (t->cpus.len < asked.len)
		return err_remedy(err_new(ERR_USAGE, "not all CPUs of '%s' are on line", list),
				  "on line are %s", cpu_list_text(&t->online, &t->arena));
	return asked.len ? NULL : err_new(ERR_USAGE, "-C names no CPU");
}

static struct err *find_tasks(const struct target_args *args, pid_t command_pid, struct target *t)
{
	struct err *err = NULL;

	t->inherit = !args->no_inherit;
	if (args->cgroup) {
		t->system_wide = t->by_cpu = true;
		return cgroup_open(args->cgroup, &t->cgroup_fd);
	}
	if (args->pids)
		err = each_id(t, args->pids, "process", add_process);
	if (!err && args->tids) {
		t->inherit = args->pids != NULL && !args->no_inherit;
		err = each_id(t, args->tids, "thread", add_thread);
	}
	if (!err && args->user)
		err = add_user(t, args->user);
	if (!err && args->all && args->by_thread)
		err = add_processes(t, NULL);
	if (!err && !t->tasks.len && !args->all && command_pid)
		err = args->cpus ? NULL : add_thread(t, command_pid);
	t->system_wide = t->by_cpu = !t->tasks.len;
	return err;
}

static struct err *check_args(const struct target_args *args, pid_t command_pid)
{
	/* perf wants -a beside -G: all CPUs, which a cgroup is followed on anyway. */
	int targets = (args->all && !args->cgroup) + (args->pids || args->tids) + (args->cgroup != NULL) + (args->user != NULL);

	if (targets > 1)
		return err_remedy(err_new(ERR_USAGE, "more than one target"),
				  "give one of -a, -p with -t, -G, -u");
	if (!targets && !args->cpus && !command_pid)
		return err_remedy(
			err_new(ERR_USAGE, "nothing to record"),
			"give -a, -C, -p, -t, -G, -u or a command: precord -a -- sleep 10");
	return NULL;
}

struct err *target_find(const struct target_args *args, pid_t command_pid, struct target *ret)
{
	*ret = (struct target){ .cgroup_fd = -1 };
	struct err *err = check_args(args, command_pid);

	if (!err)
		err = find_cpus(ret, args->cpus);
	if (!err)
		err = find_tasks(args, command_pid, ret);
	if (err)
		target_deinit(ret);
	return err;
}

void target_deinit(struct target *t)
{
	if (t->cgroup_fd >= 0)
		close(t->cgroup_fd);
	t->cgroup_fd = -1;
	vec_deinit(&t->tasks);
	arena_deinit(&t->arena);
}
