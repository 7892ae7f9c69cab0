/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_request.h - how the events of a list are to be opened, and where; and which features of the kernel that takes.
 */
#ifndef RECORD_EVENT_REQUEST_H
#define RECORD_EVENT_REQUEST_H

#include "formats/recording.h"
#include "record/event/event_list.h"
#include "record/event/sample_extras.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where an event is opened: as the arguments of perf_event_open(2). */
struct event_target {
	pid_t pid;     /* -1: every task */
	int cpu;       /* -1: every CPU; then the ring can't be shared by inherited events */
	int cgroup_fd; /* of a cgroup directory, or -1; needs a CPU, and @pid is ignored */
	bool inherit;  /* of a task: its children, too, whatever the plan says */
};

/* What is wanted of all events. */
struct event_request {
	struct event_rate rate;
	enum recording_chain chain;
	uint32_t stack_len; /* snapshot in bytes, 0: the largest that the kernel takes */
	struct event_target
		probe;       /* a target like those to come; pid 0 (ourselves) stands for a task */
	const struct cpu_list *cpus; /* on which else what @probe's CPU has no room for may be tried; NULL: on none */
	bool inherit;        /* follow children */
	bool enable_on_exec; /* start when the task calls exec; otherwise disabled until the ioctl */
	bool context_switch; /* side-band: a record for each switch */
	const struct sample_extras *extras; /* branches and the like; NULL: none */
	bool build_ids;      /* side-band: the kernel reads them, and then tells every recorder on the machine */
	bool sample_cgroup;  /* each sample names its cgroup */
	uint32_t wakeup_len; /* wake the reader when so many bytes are in the ring; 0: half of it */
};

/* Attributes beyond what every kernel that we can run on has. */
enum event_feature {
	EVENT_FEATURE_MMAP2,
	EVENT_FEATURE_BUILD_ID, /* in mmap2 records */
	EVENT_FEATURE_COMM_EXEC,
	EVENT_FEATURE_CLOCKID,
	EVENT_FEATURE_KSYMBOL,
	EVENT_FEATURE_BPF_EVENT,
	EVENT_FEATURE_CGROUP, /* path records, and the id in samples */
	EVENT_FEATURE_TEXT_POKE,
	EVENT_FEATURE_CONTEXT_SWITCH,
	EVENT_FEATURE_FORMAT_LOST,  /* exact losses for each event */
	EVENT_FEATURE_STACK_USER,   /* snapshots */
	EVENT_FEATURE_READ_INHERIT, /* :S groups that follow children */
	EVENT_FEATURE_WEIGHT_STRUCT, /* weights in parts, Linux 5.12 */
	EVENT_FEATURES
};

#endif
