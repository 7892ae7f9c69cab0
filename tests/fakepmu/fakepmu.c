/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fakepmu.c - the library functions that a profiler reaches the kernel by. A descriptor is an eventfd, so
 * that it can be polled, closed and inherited; its ring is memory of our own with the kernel's head page.
 */
#include "tests/fakepmu/fakepmu.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYSFS       "/sys/bus/event_source/devices"
#define WATCHDOG    "/proc/sys/kernel/nmi_watchdog"
#define CPUINFO     "/proc/cpuinfo"
#define SAMPLES     200
#define WORDS_MAX   1024
#define FIRST_ID    1000000
#define PATH_LEN    4096
#define PAGE_LEN    4096

/* One process, one table: a preloaded library has nowhere else to keep it. */
static struct fake_table table;

long syscall(long number, ...);
int ioctl(int fd, unsigned long request, ...);
int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **));

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static struct fake_table *the_table(void)
{
	const char *samples = getenv("FAKEPMU_SAMPLES"), *taken = getenv("FAKEPMU_TAKEN");
	const char *deaf = getenv("FAKEPMU_DEAF");

	if (!table.machine) {
		table.machine = fake_machine_find(getenv("FAKEPMU"));
		table.taken = (taken ? atoi(taken) : 0) + (getenv("FAKEPMU_WATCHDOG") != NULL);
		table.deaf = deaf ? strtoull(deaf, NULL, 10) : 0;
		table.nsamples = samples ? strtoull(samples, NULL, 10) : SAMPLES;
	}
	return table.machine ? &table : NULL;
}

static int find(int fd)
{
	for (int i = 0; fd >= 0 && i < table.len; i++)
		if (table.events[i].fd == fd)
			return i;
	return -1;
}

/* ---- perf_event_open ---- */

static long fail(int errnum)
{
	errno = errnum;
	return -1;
}

static long open_event(struct fake_table *t, const struct perf_event_attr *attr, pid_t pid, int cpu,
		       int group_fd)
{
	struct fake_event event = { .attr = *attr, .pid = pid, .cpu = cpu };
	int leader = find(group_fd), errnum = fake_judge(t, &event, leader);

	if (errnum)
		return fail(errnum);
	if (t->len == FAKE_EVENTS_MAX)
		return fail(EMFILE);
	event.fd = eventfd(0, EFD_CLOEXEC);
	if (event.fd < 0)
		return -1;
	event.leader = leader < 0 ? t->len : leader;
	event.output = t->len;
	event.id = FIRST_ID + (uint64_t)t->len;
	event.enabled = !attr->disabled || attr->enable_on_exec;
	t->events[t->len++] = event;
	return event.fd;
}

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))real("syscall");
	struct fake_table *t = the_table();
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open && t) {
		const struct perf_event_attr *attr =
			(const struct perf_event_attr *)(uintptr_t)a[0];

		if (fake_is_ours(t, attr))
			return open_event(t, attr, (pid_t)a[1], (int)a[2], (int)a[3]);
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- what is done with a descriptor ---- */

/*
 * Does one like @e, but for when it wakes a reader and how much it copies, have begun? Of such twins one is to be on at a time, so that
 * together they give and count what one of them would.
 */
static bool has_begun(const struct fake_table *t, const struct fake_event *e)
{
	for (int i = 0; i < t->len; i++) {
		if (t->events[i].enabled && fake_is_twin(&t->events[i], e))
			return true;
	}
	return false;
}

static int enable(struct fake_table *t, int index, bool on)
{
	for (int i = 0; i < t->len; i++) {
		struct fake_event *e = &t->events[i];

		if (e->fd < 0 || (i != index && !(e->leader == index && index == t->events[index].leader)))
			continue;
		e->enabled = e->enabled || (on && !has_begun(t, e)); /* counts stay readable when it stops */
		if (on)
			fake_emit(t, i);
	}
	return 0;
}

static int control(struct fake_table *t, int index, unsigned long request, void *arg)
{
	struct fake_event *e = &t->events[index];

	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		return enable(t, index, true);
	case PERF_EVENT_IOC_DISABLE:
		return enable(t, index, false);
	case PERF_EVENT_IOC_RESET:
		return 0;
	case PERF_EVENT_IOC_ID:
		*(uint64_t *)arg = e->id;
		return 0;
	case PERF_EVENT_IOC_SET_OUTPUT: {
		int to = find((int)(intptr_t)arg);

		if (to < 0 || t->events[to].cpu != e->cpu)
			return (int)fail(EINVAL);
		e->output = to;
		if (e->attr.enable_on_exec)
			fake_emit(t, index);
		return 0;
	}
	default:
		return (int)fail(ENOTTY);
	}
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))real("ioctl");
	int index = find(fd);
	va_list list;

	va_start(list, request);
	void *arg = va_arg(list, void *);

	va_end(list);
	return index < 0 ? next(fd, request, arg) : control(&table, index, request, arg);
}

ssize_t read(int fd, void *buf, size_t len)
{
	ssize_t (*next)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))real("read");
	int index = find(fd);
	uint64_t words[WORDS_MAX];

	if (index < 0)
		return next(fd, buf, len);

	size_t got = fake_read(&table, index, words, WORDS_MAX) * sizeof(*words);

	if (got > len)
		return fail(ENOSPC);
	memcpy(buf, words, got);
	return (ssize_t)got;
}

int close(int fd)
{
	int (*next)(int) = (int (*)(int))real("close");
	int index = find(fd);

	if (index >= 0)
		table.events[index].fd = -1;
	while (table.len && table.events[table.len - 1].fd < 0)
		table.len--;
	return next(fd);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *(*next)(void *, size_t, int, int, int, off_t) =
		(void *(*)(void *, size_t, int, int, int, off_t))real("mmap");
	int index = find(fd);

	if (index < 0)
		return next(addr, len, prot, flags, fd, offset);

	struct fake_event *e = &table.events[index];
	uint8_t *map = next(addr, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return map;
	e->page = (struct perf_event_mmap_page *)map;
	e->data = map + PAGE_LEN;
	e->data_len = len - PAGE_LEN;
	e->page->data_offset = PAGE_LEN;
	e->page->data_size = e->data_len;
	if (e->attr.enable_on_exec)
		fake_emit(&table, index);
	return map;
}

/* ---- files that describe the machine ---- */

static const char *redirect(const char *path, char *buffer)
{
	const char *root = getenv("FAKEPMU_SYSFS");

	if (!root || !path)
		return path;
	if (strncmp(path, SYSFS, strlen(SYSFS)) == 0)
		snprintf(buffer, PATH_LEN, "%s%s", root, path + strlen(SYSFS));
	else if (strcmp(path, WATCHDOG) == 0)
		snprintf(buffer, PATH_LEN, "%s/../nmi_watchdog", root);
	else if (strcmp(path, CPUINFO) == 0)
		snprintf(buffer, PATH_LEN, "%s/../cpuinfo", root);
	else
		return path;
	return buffer;
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))real("open");
	char buffer[PATH_LEN];
	va_list list;

	va_start(list, flags);
	int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, int) : 0;

	va_end(list);
	return next(redirect(path, buffer), flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	FILE *(*next)(const char *, const char *) =
		(FILE * (*)(const char *, const char *)) real("fopen");
	char buffer[PATH_LEN];

	return next(redirect(path, buffer), mode);
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	int (*next)(const char *, struct dirent ***, int (*)(const struct dirent *),
		    int (*)(const struct dirent **, const struct dirent **)) =
		(int (*)(const char *, struct dirent ***, int (*)(const struct dirent *),
			 int (*)(const struct dirent **, const struct dirent **)))real("scandir");
	char buffer[PATH_LEN];

	return next(redirect(path, buffer), list, filter, compare);
}
