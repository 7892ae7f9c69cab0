/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotplug.c - one small sysfs file stays open; it is read at most ten times a second and compared as text.
 */
#include "record/sample/hotplug.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define ONLINE_PATH "/sys/devices/system/cpu/online"
#define LOOK_EVERY_NS 100000000

/* Read the list of online CPUs; true if it changed. */
static bool text_changed(struct hotplug *h)
{
	char text[HOTPLUG_TEXT_MAX] = "";
	ssize_t len = h->fd < 0 ? -1 : pread(h->fd, text, sizeof(text) - 1, 0);

	if (len <= 0 || !strcmp(text, h->text))
		return false;
	memcpy(h->text, text, sizeof(text));
	return true;
}

void hotplug_init(struct hotplug *h, struct perf_fds *perf_fds, const struct target *target,
		  struct watch *watch, struct mmap_wakeup *bell, struct diag *diag)
{
	*h = (struct hotplug){
		.perf_fds = perf_fds,
		.target = target,
		.watch = watch,
		.bell = bell,
		.diag = diag,
		.online = target->online,
		/* Per-task events move between CPUs by themselves. */
		.fd = target->by_cpu ? open(ONLINE_PATH, O_RDONLY | O_CLOEXEC) : -1,
	};
	text_changed(h);
}

void hotplug_deinit(struct hotplug *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
	arena_deinit(&h->arena);
}

static void reopen(struct hotplug *h, uint32_t cpu, bool enabled)
{
	size_t first = h->perf_fds->items.len;
	struct err *err = perf_fds_reopen(h->perf_fds, h->target, cpu, enabled);

	if (!err)
		err = watch_more(h->watch, h->perf_fds, first);
	if (!err)
		err = mmap_wakeup_reopen(h->bell, cpu);
	if (err)
		diag_err(h->diag, err);
	else
		diag_warn(h->diag, "CPU %" PRIu32 " was off line for a while and not recorded then",
			  cpu);
}

void hotplug_check(struct hotplug *h, uint64_t now_ns, bool enabled)
{
	const struct cpu_list *known = &h->target->online;
	struct cpu_list now;

	if (now_ns - h->looked_ns < LOOK_EVERY_NS)
		return;
	h->looked_ns = now_ns;
	if (!text_changed(h))
		return;
	cpu_list_online(&h->arena, &now);
	for (size_t i = 0; i < known->len; i++) {
		uint32_t cpu = known->cpus[i];

		if (cpu_list_has(&now, cpu) && !cpu_list_has(&h->online, cpu))
			reopen(h, cpu, enabled);
		else if (!cpu_list_has(&now, cpu) && cpu_list_has(&h->online, cpu))
			diag_warn(h->diag,
				  "CPU %" PRIu32 " went off line and was not recorded then", cpu);
	}
	for (size_t i = 0; i < now.len; i++) {
		if (!cpu_list_has(known, now.cpus[i]))
			diag_warn(h->diag, "CPU %" PRIu32 " came on line and is not recorded",
				  now.cpus[i]);
	}
	h->online = now;
}
