/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - uname(2), /proc and sysfs.
 */
#include "record/machine.h"

#include "formats/process/build_id_note.h"
#include "record/cpu_list.h"
#include "record/task/proc_scan.h"
#include "record/embed/text_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_TRIES 5 /* the pair that was read with least delay between wins */

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Read both clocks at the same moment into @rec, as near as can be. */
static void read_clocks(struct recording *rec)
{
	uint64_t least = UINT64_MAX;

	rec->clock = CLOCK_MONOTONIC;
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = now_ns(CLOCK_MONOTONIC);
		uint64_t wall = now_ns(CLOCK_REALTIME);
		uint64_t delay = now_ns(CLOCK_MONOTONIC) - before;

		if (delay >= least)
			continue;
		least = delay;
		rec->clock_ns = before + delay / 2;
		rec->wall_ns = wall;
	}
}

static void find_kernel(struct recording *rec)
{
	uint8_t notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? 0 : read(fd, notes, sizeof(notes));

	if (fd >= 0)
		close(fd);
	if (len > 0)
		build_id_note_find(notes, (size_t)len, rec->kernel_build_id,
				   &rec->kernel_build_id_len);
	proc_scan_kernel_text(&rec->kernel_text, &rec->kernel_text_end);
}

static const char *file_or_empty(const char *path, struct arena *arena)
{
	const char *text = "";
	struct err *err = text_file_read(path, arena, &text);

	err_free(err);
	return text;
}

/* What kind of container this is, if it is one; systemd and the common engines leave a sign. */
static const char *container(struct arena *arena)
{
	const char *name = file_or_empty("/run/systemd/container", arena);

	if (*name)
		return name;
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (!access("/.dockerenv", F_OK))
		return "docker";
	return "";
}

static const char *cpu_model(struct arena *arena)
{
	static const char *const keys[] = { "model name\t", "CPU part\t", "Model\t\t" };
	const char *model = NULL;

	for (size_t i = 0; i < ARRAY_LEN(keys) && !model; i++)
		model = text_file_field("/proc/cpuinfo", keys[i], arena);
	return model ? model : "";
}

/* Of the time zone that this process has, at the moment of its clocks. */
static void find_zone(struct recording *rec)
{
	time_t seconds = (time_t)(rec->wall_ns / 1000000000);
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		rec->utc_offset = (uint32_t)(RECORDING_UTC_OFFSET_ZERO + tm.tm_gmtoff);
}

void machine_describe(struct recording *rec)
{
	struct utsname names;
	struct cpu_list online;

	rec->hostname = rec->os_release = "";
	if (uname(&names) == 0) {
		rec->hostname = arena_strdup(&rec->arena, names.nodename);
		rec->os_release = arena_strdup(&rec->arena, names.release);
	}
	rec->cpu_model = cpu_model(&rec->arena);
	rec->container = container(&rec->arena);
	rec->arch = arch_native();
	cpu_list_online(&rec->arena, &online);
	rec->ncpus_online = (uint32_t)online.len;
	rec->ncpus_possible = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	rec->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	rec->memory_len = (uint64_t)sysconf(_SC_PHYS_PAGES) * rec->page_size;
	find_kernel(rec);
	read_clocks(rec);
	find_zone(rec);
}
