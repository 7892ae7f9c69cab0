/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_name.h - what the path of a cgroup says: which container, pod and systemd unit its processes belong to.
 */
#ifndef FORMATS_CGROUP_NAME_H
#define FORMATS_CGROUP_NAME_H

#include "formats/base/arena.h"

/* All are "" if the path does not have them. */
struct cgroup_name {
	const char *container; /* "docker:1f3c5a7b9d02", with the first 12 digits of its ID; "lxc:NAME" */
	const char *pod;       /* of Kubernetes, its UID: "8c1e3f0a-..." */
	const char *unit;      /* of systemd: "cron.service", "session-3.scope" */
};

/* The texts live in @arena. */
struct cgroup_name cgroup_name_of(const char *path, struct arena *arena);

#endif
