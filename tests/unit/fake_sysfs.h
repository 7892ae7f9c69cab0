/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_sysfs.h - trees of small files as sysfs and tracefs show them, for machines that nobody here has.
 */
#ifndef UNIT_FAKE_SYSFS_H
#define UNIT_FAKE_SYSFS_H

struct fake_file {
	const char *path; /* below the root */
	const char *text; /* a line feed is added */
};

/* Make the files up to one without a path; returns their root, which is removed when the test ends. */
const char *fake_sysfs(const char *name, const struct fake_file *files);

/* PMUs of a hybrid x86 machine, and of one with a plain "cpu", an odd one and two of the uncore. */
const char *fake_sysfs_hybrid(void);
const char *fake_sysfs_plain(void);

/* A tracefs with sched:sched_switch (id 316), sched:sched_wakeup (317) and irq:irq_handler_entry (99). */
const char *fake_tracefs(void);

#endif
