/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording.h - what was recorded, how, and on which machine; and what travels along to make sense of it.
 *
 * Plain data in one arena; strings are never NULL but may be empty when a thing is not known.
 */
#ifndef FORMATS_RECORDING_H
#define FORMATS_RECORDING_H

#include "formats/arch.h"
#include "formats/base/arena.h"
#include "formats/recording_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_NO_EVENT UINT32_MAX
#define RECORDING_UTC_OFFSET_ZERO 86400

/* In place of the address of a caller of a root. */
#define RECORDING_ROOT	       0
#define RECORDING_ROOT_SKIPPED 1

enum recording_chain {
	RECORDING_CHAIN_NONE,  /* only the instruction pointer */
	RECORDING_CHAIN_FP,    /* the kernel's frame-pointer walk */
	RECORDING_CHAIN_DWARF, /* registers and a stack snapshot, and the kernel's walk beside them */
	/*
	 * What was unwound from those before they were taken out: a chain whose root was reached ends with RECORDING_ROOT, or with
	 * RECORDING_ROOT_SKIPPED if callers on a stack of the program's own were left out, and a frame of
	 * HotSpot's interpreter is the address of its bytecode (a place of the JIT's dump), as a return address unless it is the leaf.
	 */
	RECORDING_CHAIN_UNWOUND,
};

/* One event that was opened: a column of counts, or the source of samples. */
struct recording_event {
	const char *name;  /* as asked for: "cycles:u", "sched:sched_switch" */
	const char *unit;  /* of the period: "ns" for clocks, "events" otherwise */
	uint32_t type;	   /* PERF_TYPE_* or the PMU's number */
	uint64_t config, config1, config2;
	bool is_freq;	   /* @rate is samples a second, otherwise a period */
	uint64_t rate;
	uint8_t precise;   /* what the kernel granted */
	bool exclude_user, exclude_kernel, exclude_hv;
	bool samples;	   /* false: only read with its leader */
	uint32_t leader;   /* index of the group's leader, its own if it stands alone */
	const char *format; /* tracepoint format as tracefs shows it, "" for others */
};

/* What one event gave on one CPU (EVENT_NO_CPU: on all of them together). */
struct recording_count {
	uint32_t event, cpu;
	uint64_t samples;	    /* written to the file */
	uint64_t lost_kernel;	    /* found no room in the ring */
	uint64_t lost_recorder;	    /* dropped by the recorder */
	uint64_t stacks_shortened;  /* by the recorder, under pressure */
	uint64_t stacks_cut;	    /* by the snapshot's size limit */
	uint64_t throttled;	    /* times the kernel stopped the event */
	uint64_t missed;	    /* samples that its count implies and that never came: the counter did not interrupt */
	uint64_t enabled_ns, running_ns; /* running less than enabled: counters were shared */
	uint64_t value;		    /* the counter at the end; where only some tasks were kept, what their samples say */
};

/* A file's content, or the part of it that matters, embedded in the trace as a small ELF file. */
struct recording_image {
	const char *path;	/* where it was found, as in the mappings */
	uint8_t build_id_len;
	uint8_t build_id[20];
	bool partial;		/* only what lies near recorded addresses */
	const uint8_t *elf;	/* ELF bytes */
	size_t elf_len;
};

/* Source positions and inlined calls of one module, which preport bundle added. */
struct recording_lines {
	const char *path;      /* of the module, as reports name it: in the mappings, or "[kernel]" */
	uint8_t build_id_len;
	uint8_t build_id[20];
	const uint8_t *table;  /* see symbolize/debug/line_table.h */
	size_t table_len;
};

/* Does the code of kernel functions travel along, and if not, why. A number keeps its meaning: it is in files. */
enum recording_code {
	RECORDING_CODE_UNKNOWN,    /* not recorded: an older recorder, one that was killed, or no sample in the kernel */
	RECORDING_CODE_EMBEDDED,
	RECORDING_CODE_LEFT_OUT,   /* --bundle=none */
	RECORDING_CODE_ABSENT,     /* the kernel has no /proc/kcore */
	RECORDING_CODE_COVERED,    /* something else stands in its place, as in containers */
	RECORDING_CODE_DENIED,     /* it takes root and CAP_SYS_RAWIO */
	RECORDING_CODE_LOCKED,     /* lockdown=confidentiality */
	RECORDING_CODE_HIDDEN,     /* kptr_restrict hides where functions begin and end */
	RECORDING_CODE_UNREADABLE, /* /proc/kcore has nothing of what was asked for */
};

/*
 * Code of kernel functions as it ran: what lay in the kernel's memory when the recording ended, its own, its modules'
 * and BPF programs', as one ELF file whose sections lie at their addresses in the running kernel.
 */
struct recording_kernel_code {
	enum recording_code status;
	uint64_t time_ns;    /* that reading it took */
	uint32_t functions;  /* in @elf */
	uint32_t unread;     /* of those asked for: their memory cannot be read, or the limit was reached */
	const uint8_t *elf;
	size_t elf_len;
};

/* A kernel symbol near an address that was recorded. */
struct recording_ksym {
	uint64_t addr;
	uint64_t len;		/* to the next symbol; 0 if not known */
	const char *name;
	const char *module;	/* "" for the kernel itself */
};

/* What a process's JIT said of its code near addresses that were recorded. */
struct recording_jit_map {
	uint32_t pid;
	const char *text;	/* of /tmp/perf-PID.map, lines of "START SIZE NAME" in hexadecimal */
	size_t len;
	const uint8_t *dump;	/* see formats/perf/jitdump.h; NULL if there is none */
	size_t dump_len;
};

struct recording {
	struct arena arena; /* everything below lives here */

	const char *tool;    /* "precord 0.1.0", "perf 6.1.187" */
	const char *cmdline; /* of the recorder; "" if it was left out */
	const char *hostname, *os_release, *cpu_model, *container;
	const char *block_devices; /* "254:0 /dev/vda\n" for each, if requests to them were recorded; NULL or "": not known */
	const struct arch *arch;
	uint32_t ncpus_online, ncpus_possible;
	uint32_t page_size;
	uint64_t code_mask;  /* bits of a code address that are not authentication, see arch_code_mask(); 0: not known, or there is none */
	uint64_t memory_len; /* of the machine, in bytes */

	/*
	 * Two clocks at the same moment. Events are stamped with @clock (CLOCK_MONOTONIC unless an importer
	 * says otherwise); wall time of an event is event.time_ns - clock_ns + wall_ns.
	 */
	uint32_t clock;
	uint64_t clock_ns, wall_ns;
	uint32_t utc_offset; /* of the recorder's time zone: seconds east of UTC + RECORDING_UTC_OFFSET_ZERO; 0: not known */
	uint64_t start_ns, end_ns; /* enabled from, until; end 0 if the recorder was killed */

	enum recording_chain chain;
	uint32_t stack_len;  /* asked for, in bytes */
	bool raw_stacks;     /* application data was kept */
	bool system_wide;
	bool by_cgroup; /* what a cgroup holds was recorded: of others that are listed nothing is known */
	bool by_cpu; /* counters belong to CPUs, even if only some tasks are recorded */
	uint32_t recorder_pid; /* 0 if not known */
	int32_t exit_status; /* of the command, as from wait(2); -1 if there was none */

	/* Kernel: where its text was and which build it is, so that debug information can be matched. */
	uint64_t kernel_text;	 /* address of _text; 0 if not known */
	uint64_t kernel_text_end; /* of _etext */
	uint8_t kernel_build_id_len;
	uint8_t kernel_build_id[20];

	struct recording_event *events;
	size_t nevents;
	struct recording_count *counts;
	size_t ncounts;
	struct recording_image *images;
	size_t nimages;
	struct recording_lines *lines;
	size_t nlines;
	struct recording_ksym *ksyms; /* ascending by address */
	size_t nksyms;
	/*
	 * Kernel code that was loaded at some time, as known from the events so far (perf.data; BPF programs for example): ascending
	 * by address, without overlaps.
	 */
	struct recording_ksym *loaded;
	size_t nloaded;
	const char *ksyms_remedy; /* why there are none, and what would help; NULL: they were hidden from the recorder */
	struct recording_kernel_code kernel_code;
	struct recording_jit_map *jit_maps;
	size_t njit_maps;

	/* What the recorder wants the reader to know: fallbacks taken, privileges that were missing. */
	struct recording_note *notes;
	size_t nnotes;

	bool complete; /* the file has its end; false after a crash of the recorder or a cut copy */
	/*
	 * Offset of the first block that could not be read, 0 if none. Events are unpacked as they are
	 * asked for, so this is final only after the last one.
	 */
	uint64_t damaged_at;
	uint64_t bad_records; /* of perf.data: that could not be read, the first at @damaged_at; what stands around them was read */
	/*
	 * Events that were handed out after a younger one, so far: 0, unless the file's promises are wrong or it needs more
	 * memory to sort than a reader gives it.
	 */
	uint64_t late_events;
};

#endif
