/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_open.c - perf_event_open(2) says little when it refuses; the rest is found in /proc.
 *
 * Rights, as kernel/events/core.c checks them: CAP_PERFMON or CAP_SYS_ADMIN in the first user namespace
 * allow all. Without, kernel.perf_event_paranoid forbids: raw tracepoints from 0 up, every task on a CPU
 * from 1 up, kernel code from 2 up; on Debian, Ubuntu and Android everything from 3 up.
 */
#include "record/event/event_open.h"

#include "formats/base/arena.h"
#include "record/event/event_attr.h"
#include "record/system/text_file.h"
#include "record/event/probe_event.h"
#include "record/event/tracepoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"
#define STATUS_FILE   "/proc/self/status"
#define CAP_SYS_ADMIN 21
#define CAP_PERFMON   38

enum { PARANOID_TRACEPOINT = -1, PARANOID_CPU = 0, PARANOID_KERNEL = 1, PARANOID_TASK = 2 };

static int real_open(void *context, const struct perf_event_attr *attr,
		     const struct event_target *target, int group_fd)
{
	bool cgroup = target->cgroup_fd >= 0;
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (cgroup ? PERF_FLAG_PID_CGROUP : 0);
	long fd = syscall(SYS_perf_event_open, attr, cgroup ? target->cgroup_fd : target->pid,
			  target->cpu, group_fd, flags);

	(void)context;
	return fd < 0 ? -errno : (int)fd;
}

const struct event_kernel event_kernel_real = { .open = real_open };

static bool in_user_namespace(struct arena *arena)
{
	const char *map = "";
	CLEANUP(err_freep) struct err *err = text_file_read("/proc/self/uid_map", arena, &map);
	unsigned long long inside = 0, outside = 0, count = 0;

	if (err || sscanf(map, "%llu %llu %llu", &inside, &outside, &count) != 3)
		return false;
	return inside != 0 || outside != 0 || count != UINT32_MAX;
}

void event_rights_read(struct event_rights *ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *paranoid = "0";
	CLEANUP(err_freep) struct err *err = text_file_read(PARANOID_FILE, &arena, &paranoid);
	const char *caps = text_file_field(STATUS_FILE, "CapEff", &arena);
	const char *seccomp = text_file_field(STATUS_FILE, "Seccomp", &arena);
	uint64_t bits = caps ? strtoull(caps, NULL, 16) : 0;

	ret->has_perf_events = !err;
	ret->paranoid = strtoll(paranoid, NULL, 10);
	ret->in_user_namespace = in_user_namespace(&arena);
	ret->privileged =
		!ret->in_user_namespace && (bits >> CAP_SYS_ADMIN & 1 || bits >> CAP_PERFMON & 1);
	ret->seccomp = seccomp && *seccomp == '2';
}

/* Raise RLIMIT_NOFILE to its hard limit; false if it is there already. */
static bool raise_nofile(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* ---- permission ---- */

/* The highest level at which what was asked for needs no privilege. */
static int64_t allowed_up_to(const struct event_refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;
	bool every_task = refusal->target->pid < 0 || refusal->target->cgroup_fd >= 0;

	if (attr->type == PERF_TYPE_TRACEPOINT && attr->sample_type & PERF_SAMPLE_RAW)
		return PARANOID_TRACEPOINT;
	if (every_task)
		return PARANOID_CPU;
	return attr->exclude_kernel ? PARANOID_TASK : PARANOID_KERNEL;
}

static const char *what_needs(int64_t level)
{
	switch (level) {
	case PARANOID_TRACEPOINT:
		return "tracepoints need";
	case PARANOID_CPU:
		return "recording every task needs";
	case PARANOID_KERNEL:
		return "kernel code needs";
	default:
		return "recording needs";
	}
}

static struct err *system_refusal(const struct event_refusal *refusal, const char *why)
{
	return err_system(refusal->errnum, "event '%s': %s", refusal->name, why);
}

static struct err *by_paranoia(const struct event_refusal *refusal,
			       const struct event_rights *rights, int64_t level)
{
	struct err *err = err_system(refusal->errnum,
				     "event '%s': %s kernel.perf_event_paranoid to be %" PRId64
				     " or less, and it is %" PRId64,
				     refusal->name, what_needs(level), level, rights->paranoid);

	if (rights->in_user_namespace)
		return err_remedy(err,
				  "capabilities do not count inside a user namespace or rootless "
				  "container: ask on the host for sysctl "
				  "kernel.perf_event_paranoid=%" PRId64,
				  level);
	return err_remedy(err,
			  "run as root, or: setcap cap_perfmon=ep $(command -v precord), or: "
			  "sysctl kernel.perf_event_paranoid=%" PRId64,
			  level);
}

static struct err *not_permitted(const struct event_refusal *refusal,
				 const struct event_rights *rights)
{
	int64_t level = allowed_up_to(refusal);

	if (!rights->has_perf_events)
		return err_new(ERR_UNSUPPORTED, "this kernel was built without performance events");
	if (!rights->privileged && rights->paranoid > level && !probe_event_is(refusal->name))
		return by_paranoia(refusal, rights, level);
	if (rights->seccomp)
		return err_remedy(
			system_refusal(refusal, "a seccomp filter is in the way"),
			"allow perf_event_open to this container (docker run --cap-add PERFMON "
			"or --security-opt seccomp=unconfined), or record on the host");
	if (!rights->privileged && probe_event_is(refusal->name))
		return err_remedy(err_system(refusal->errnum, "event '%s': probes need CAP_PERFMON", refusal->name),
				  "run as root, or: setcap cap_perfmon=ep $(command -v precord)");
	if (!rights->privileged && refusal->target->pid > 0)
		return err_remedy(
			err_system(refusal->errnum, "task %d is not ours to look into",
				   (int)refusal->target->pid),
			"run as its user or as root, or: setcap cap_perfmon,cap_sys_ptrace=ep "
			"$(command -v precord)");
	return err_remedy(system_refusal(refusal, "the system forbids it"),
			  "a security module or lockdown may be the cause: see the kernel's log");
}

/* ---- what this machine lacks ---- */

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

static struct err *unsupported(const struct event_refusal *refusal, const char *why,
			       const char *remedy)
{
	struct err *err = err_new(ERR_UNSUPPORTED, "event '%s': %s", refusal->name, why);

	return remedy ? err_remedy(err, "%s", remedy) : err;
}

static struct err *not_there(const struct event_refusal *refusal)
{
	if (is_hardware(refusal->attr))
		return unsupported(
			refusal, "this machine has no hardware counter for it",
			"virtual machines often have no PMU; cpu-clock works everywhere, "
			"'precord list' shows what else does");
	return unsupported(refusal, "this kernel does not have it",
			   "'precord list' shows what this machine can sample");
}

static struct err *invalid(const struct event_refusal *refusal)
{
	const struct perf_event_attr *attr = refusal->attr;

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && !attr->precise_ip)
		return unsupported(refusal, "the PMU records no branches of this kind here",
				   "drop -b and -j; virtual machines seldom have branch stacks");
	if (refusal->less_precise)
		return err_remedy(unsupported(refusal, "that precision is not supported here", NULL),
				  "the PMU supports level %u, not %u; modifier P takes the highest",
				  refusal->less_precise - 1, (unsigned)attr->precise_ip);
	if (refusal->counts)
		return err_remedy(
			unsupported(refusal, "it can be counted here, but not sampled", NULL),
			"read it with the samples of another: -e '{cpu-clock,%s}:S'",
			refusal->name);
	if (attr->type == PERF_TYPE_BREAKPOINT)
		return unsupported(
			refusal, "the processor does not support such a breakpoint",
			"x86 supports w, rw and x (x with 8 bytes), aligned to their length");
	if (attr->precise_ip)
		return unsupported(refusal, "that precision is not supported here",
				   "drop the modifier p, or use P for the highest precision available");
	if (refusal->target->pid >= 0 && attr->type > PERF_TYPE_BREAKPOINT)
		return unsupported(refusal, "it counts for the whole machine, not for a task",
				   "record with -a");
	return unsupported(refusal, "the kernel refuses this combination",
			   "try it without modifiers and outside a group");
}

static struct err *no_device(const struct event_refusal *refusal)
{
	if (is_hardware(refusal->attr) || refusal->target->cpu < 0)
		return not_there(refusal);
	return err_system(ENODEV, "event '%s': CPU %d is off line", refusal->name,
			  refusal->target->cpu);
}

static struct err *no_descriptors(const struct event_refusal *refusal)
{
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	return err_remedy(
		err_system(refusal->errnum,
			   "event '%s': each event takes a descriptor on each CPU or thread, "
			   "and %llu are allowed",
			   refusal->name, (unsigned long long)limit.rlim_cur),
		"raise the limit with: ulimit -Hn 1048576; ulimit -n 1048576");
}

struct err *event_refusal_explain(const struct event_refusal *refusal,
				  const struct event_rights *rights)
{
	switch (refusal->errnum) {
	case EACCES:
	case EPERM:
		return not_permitted(refusal, rights);
	case ENOSYS:
		if (!rights->has_perf_events)
			return not_permitted(refusal, rights);
		return err_remedy(system_refusal(refusal, "a sandbox is in the way"),
				  "record outside the container or sandbox");
	case ENOENT:
	case ENXIO:
		return not_there(refusal);
	case ENODEV:
		return no_device(refusal);
	case EINVAL:
	case EOPNOTSUPP:
		return invalid(refusal);
	case ENODATA:
		return unsupported(refusal, "on this CPU it counts only after its helper event",
				   "open both as a group: -e '{mem-loads-aux,mem-loads}:P'");
	case EMFILE:
	case ENFILE:
		return no_descriptors(refusal);
	case EBUSY:
		return err_remedy(
			system_refusal(refusal, "its counter is taken"),
			"another profiler, a hypervisor or the NMI watchdog uses it; stop the watchdog with: sysctl kernel.nmi_watchdog=0");
	case ENOSPC:
		return err_remedy(system_refusal(refusal, "all hardware breakpoints are in use"),
				  "x86 has four for each thread: use fewer");
	case ESRCH:
		return err_system(ESRCH, "event '%s': task %d", refusal->name,
				  (int)refusal->target->pid);
	default:
		return err_system(refusal->errnum, "cannot open event '%s'", refusal->name);
	}
}

int event_open_try(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		   const struct event_target *target, int group_fd)
{
	int fd = kernel->open(kernel->context, attr, target, group_fd);

	if (fd == -EMFILE && raise_nofile())
		fd = kernel->open(kernel->context, attr, target, group_fd);
	return fd;
}

int event_open_check(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		     const struct event_target *target)
{
	int fd = event_open_try(kernel, attr, target, -1);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* Would it open if it only counted? */
static bool counts(const struct event_kernel *kernel, const struct perf_event_attr *attr,
		   const struct event_target *target)
{
	struct perf_event_attr counting = *attr;

	if (!attr->sample_period)
		return false;
	counting.sample_period = 0;
	counting.freq = 0;
	counting.sample_type = 0;
	counting.precise_ip = 0;
	counting.read_format = 0;
	return event_open_check(kernel, &counting, target) == 0;
}

/* The most precise level below @attr's at which it opens, plus 1; 0 if there is none, or precision is not the cause. */
static unsigned less_precise(const struct event_kernel *kernel, const struct perf_event_attr *attr,
			     const struct event_target *target)
{
	struct perf_event_attr lower = *attr;

	for (unsigned level = attr->precise_ip; level-- > 0;) {
		lower.precise_ip = level & 3;
		if (event_open_check(kernel, &lower, target) == 0)
			return level + 1;
	}
	return 0;
}

/* A filter sees the call, not whose task it is for: what needs the least, for ourselves, tells if it lets calls pass. */
static bool opens_nothing(const struct event_kernel *kernel)
{
	static const struct event_target self = { .pid = 0, .cpu = -1, .cgroup_fd = -1 };
	struct perf_event_attr dummy;

	event_attr_dummy(&dummy);
	return event_open_check(kernel, &dummy, &self) != 0;
}

struct err *event_open_explain(const struct event_kernel *kernel, const char *name,
			       const struct perf_event_attr *attr,
			       const struct event_target *target, int errnum)
{
	struct event_refusal refusal = {
		.name = name,
		.attr = attr,
		.target = target,
		.errnum = errnum,
		.counts =
			(errnum == EINVAL || errnum == EOPNOTSUPP) && counts(kernel, attr, target),
		.less_precise = less_precise(kernel, attr, target),
	};
	struct event_rights rights;

	event_rights_read(&rights);
	rights.seccomp = rights.seccomp && opens_nothing(kernel);
	return event_refusal_explain(&refusal, &rights);
}

struct err *event_open_filter(const struct event_desc *desc, int fd)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	if (!desc->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, desc->filter) == 0)
		return NULL;
	if (errno != EINVAL)
		return err_system(errno, "cannot set the filter of '%s'", desc->name);
	return err_remedy(
		err_new(ERR_USAGE, "'%s' is not a filter for '%s'", desc->filter, desc->name),
		"its fields are: %s", tracepoint_fields(&arena, desc->format));
}

bool event_open_lower_rate(struct perf_event_attr *attr)
{
	uint64_t limit = event_rate_limit();

	if (!attr->freq || attr->sample_freq <= limit)
		return false;
	attr->sample_freq = limit;
	return true;
}
