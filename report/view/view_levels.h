/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_levels.h - what samples are grouped by, level inside level, and which part of their stacks counts.
 */
#ifndef REPORT_VIEW_LEVELS_H
#define REPORT_VIEW_LEVELS_H

#include "formats/base/err.h"
#include "formats/profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum view_by {
	VIEW_LEAF,   /* the function that ran */
	VIEW_CALLER, /* the function that ran with the one that called it */
	VIEW_TOTAL,  /* every function on the stack */
	VIEW_MODULE, /* of the leaf */
	VIEW_THREAD,
	VIEW_PROCESS,
	VIEW_PROGRAM, /* all processes of one name */
	VIEW_COMM,    /* all threads of one name */
	VIEW_CMDLINE,   /* all processes of one command line */
	VIEW_EXEC,      /* of one program file */
	VIEW_CGROUP,
	VIEW_CONTAINER, /* docker, containerd, podman, ... by the cgroup's path */
	VIEW_POD,       /* of Kubernetes */
	VIEW_UNIT,      /* of systemd */
	VIEW_USER,
	VIEW_CPU,
	VIEW_LINE,    /* source line of the leaf */
	VIEW_ADDRESS, /* instruction of the leaf */
	VIEW_DEPTH,   /* the function at depth N from the root, which is 1 */
	VIEW_DATA_SYMBOL,  /* memory that was accessed, see data_places.h: variable, heap, stack, ... */
	VIEW_DATA_ADDRESS,
	VIEW_DATA_LINE,    /* cache line */
	VIEW_DATA_SOURCE,  /* which cache or memory it came from */
	VIEW_DATA_TYPE,	   /* of what the instruction accesses, see data_types.h */
	VIEW_DATA_FIELD,   /* its type and member */
	VIEW_STATE,	   /* of threads: on a CPU, waiting for one, blocked */
	VIEW_WAIT,	   /* what they wait for: lock, disk, ... (wait_frames.h) */
	VIEW_SYSCALL,	   /* that they wait in */
	VIEW_LOCK,	   /* the lock that they wait for (wait_labels.h) */
	VIEW_FILE,	   /* the file, pipe or socket's peer that they wait for */
	VIEW_WAKER,	   /* the thread that ended the wait */
	VIEW_ERROR,	   /* of a system call that failed */
	VIEW_ENTRY,	   /* which way it came there: entry.h */
	VIEW_RUNTIME,	   /* what it did for a runtime: runtime_work.h */
	VIEW_MINE,	   /* the innermost function that is neither kernel, C library nor runtime: own_code.h */
	VIEW_SCRIPT,	   /* the innermost function of a script: of one's own, if there is one */
	VIEW_SCRIPT_LINE,  /* the line that it is at */
	VIEW_FIELD,	   /* of tracepoints and probes, and labels of imported profiles: by its name */
	VIEW_BYS
};

#define VIEW_ADDRESS_UNIT "address" /* of a label whose number is one */
#define VIEW_LEVELS_MAX 8
#define VIEW_FIELDS_MAX 3
#define VIEW_NAME_MAX	48 /* bytes of a field's name, with its NUL */

struct view_level {
	enum view_by by;
	uint32_t depth; /* for VIEW_DEPTH; of VIEW_FIELD, which of the names */
};

struct view_levels {
	struct view_level items[VIEW_LEVELS_MAX];
	unsigned len;
	char names[VIEW_LEVELS_MAX][VIEW_NAME_MAX]; /* of fields */
};

/* "process,leaf" or "depth=2", for OPT_PARSE: @field is a struct view_levels, which is replaced. ERR_USAGE. */
MUST_USE struct err *view_parse_levels(void *field, const char *value);

/* What --by takes, NULL-terminated, for completion. */
extern const char *const view_level_names[];

/* What names a group of a level: function and module, comm and pid, ... */
struct view_field {
	const char *title; /* "function" */
	const char *key;   /* in CSV and JSON */
	bool number;
	bool is_path; /* the end says more than the beginning */
};

const struct view_field *view_fields(enum view_by by, unsigned *ret_count);
const char *view_by_name(enum view_by by);

/* What level number @index is called: of a field, its name, which lives as long as @levels. */
const char *view_level_name(const struct view_levels *levels, unsigned index);

/* The title and key of the first field of level number @index. */
struct view_field view_level_field(const struct view_levels *levels, unsigned index);

/* Which part of each stack is looked at. */
enum view_cut {
	VIEW_WHOLE,
	VIEW_CALLERS, /* of the stacks with such a function, what lies towards the root of the outermost one */
	VIEW_CALLEES, /* ... what lies towards the leaf of the innermost one */
};

/* One group's name; fields that the level does not have are NULL. */
struct view_key {
	const char *fields[VIEW_FIELDS_MAX];
	bool unnamed;
	bool idle; /* threads that wait for work (view_spec.idle), at levels of frames */
};

#endif
