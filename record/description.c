/* SPDX-License-Identifier: Apache-2.0 */
/*
 * description.c - collects facts about the machine, the command line and the plan.
 */
#include "record/description.h"

#include "formats/base/clock.h"
#include "formats/base/text.h"
#include "formats/process/build_id_note.h"
#include "formats/recording.h"
#include "record/system/block_devices.h"
#include "record/system/cpu_list.h"
#include "record/system/text_file.h"
#include "record/task/proc_scan.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the machine ---- */

#define CLOCK_TRIES 5 /* the pair that was read with least delay between wins */

/* Read both clocks at the same moment into @rec, as near as can be. */
static void read_clocks(struct recording *rec)
{
	uint64_t least = UINT64_MAX;

	rec->clock = CLOCK_MONOTONIC;
	for (int i = 0; i < CLOCK_TRIES; i++) {
		uint64_t before = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t wall = clock_now_ns(CLOCK_REALTIME);
		uint64_t delay = clock_now_ns(CLOCK_MONOTONIC) - before;

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

/* The kind of container that this runs in, as systemd and the common engines mark it; NULL: none. */
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

/* A traced child that stops at once. */
static pid_t stopped_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			raise(SIGSTOP);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, __WALL) < 0)
		return -1;
	return WIFSTOPPED(status) ? pid : -1;
}

/*
 * The number of bits of a return address that are its authentication code; the kernel reports it for a traced process.
 * 0: no pointer authentication, or ptrace is not permitted.
 */
static uint64_t code_mask(const struct arch *arch)
{
	struct {
		uint64_t data, code;
	} pac = { 0 };
	struct iovec where = { &pac, sizeof(pac) };
	pid_t pid = arch->lr >= 0 ? stopped_child() : -1;

	if (pid < 0)
		return 0;
	if (ptrace(PTRACE_GETREGSET, pid, (void *)(uintptr_t)NT_ARM_PAC_MASK, &where) != 0)
		pac.code = 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, __WALL);
	return arch_code_mask_of_pac(pac.code);
}

/* The local time zone's offset when the clocks were read. */
static void find_zone(struct recording *rec)
{
	time_t seconds = (time_t)(rec->wall_ns / 1000000000);
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		rec->utc_offset = (uint32_t)(RECORDING_UTC_OFFSET_ZERO + tm.tm_gmtoff);
}

/*
 * Fill in facts about the machine: names, kernel, CPUs, memory, address of the kernel's text, the pair of clocks.
 * Unknown ones stay empty or 0. Strings go to rec->arena.
 */
static void machine_describe(struct recording *rec)
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
	rec->code_mask = code_mask(rec->arch);
	rec->ncpus_online = (uint32_t)online.len;
	rec->ncpus_possible = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	rec->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	rec->memory_len = (uint64_t)sysconf(_SC_PHYS_PAGES) * rec->page_size;
	find_kernel(rec);
	read_clocks(rec);
	find_zone(rec);
}

/* The command line of this process, to be typed again. */
static const char *command_line(struct arena *arena)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char words[4096 + 1] = "";
	size_t len = file ? fread(words, 1, sizeof(words) - 1, file) : 0;

	if (file)
		fclose(file);
	return text_shell_line(arena, words, len, len == sizeof(words) - 1);
}

static bool has_block_events(const struct recording *rec)
{
	for (size_t i = 0; i < rec->nevents; i++)
		if (strncmp(rec->events[i].name, "block:", 6) == 0)
			return true;
	return false;
}

void description_begin(struct recording *rec, const struct record_args *args,
		       const struct target *target, const struct event_plan *plan)
{
	machine_describe(rec);
	rec->tool = "precord " VERSION;
	rec->cmdline = args->no_cmdline ? "" : command_line(&rec->arena);
	rec->chain = plan->stack_len                              ? RECORDING_CHAIN_DWARF
		     : args->chain.kind == RECORDING_CHAIN_DWARF ? RECORDING_CHAIN_FP
								    : args->chain.kind;
	rec->stack_len = plan->stack_len;
	rec->raw_stacks = args->raw_stacks;
	rec->by_cgroup = target->cgroup_fd >= 0;
	rec->system_wide = target->system_wide && !rec->by_cgroup;
	rec->by_cpu = target->by_cpu;
	rec->recorder_pid = (uint32_t)getpid();
	rec->exit_status = -1;
	rec->events = event_plan_describe(plan, &rec->arena);
	rec->nevents = plan->nevents;
	rec->block_devices = has_block_events(rec) ? block_devices_list("/proc/partitions", &rec->arena) : "";
	rec->start_ns = rec->clock_ns;
}
