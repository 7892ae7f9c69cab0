/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - what a HotSpot virtual machine knows of addresses in its code: whose they are, how large their frames are, which
 * methods were inlined there and at which lines. Read from outside, by the tables that it carries for debuggers.
 *
 *	pc ─► heap ─► segment ─► code blob ─► method, frame
 *	                              └─────► PcDesc ─► scopes ─► inlined methods, bytecodes ─► lines
 *
 * It runs meanwhile, compiles, and frees code. So an address is looked up soon after it was seen, and what does not fit
 * together is left out. Nothing that its memory says is believed: a pointer leads to a bounded read, a length is
 * checked, a chain is followed downwards only and for so many steps.
 */
#ifndef RUNTIME_HOTSPOT_H
#define RUNTIME_HOTSPOT_H

#include "formats/base/writer.h"
#include "record/runtime/hotspot_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct hotspot;

/* A process with the tables at these addresses. @inner_pid goes into the dump. */
struct hotspot *hotspot_new(const struct hotspot_layout *layout, uint32_t inner_pid);
void hotspot_free(struct hotspot *h);

/* Bytes of memory that what is known of it takes, about. */
size_t hotspot_held(const struct hotspot *h);

enum hotspot_use {
	HOTSPOT_CALLER, /* a return address, or looks like one */
	HOTSPOT_LEAF,	/* was executed */
};

/*
 * Append to @out, the records of a dump (formats/perf/jitdump.h), what is known of address @ip, and what that needs and is not there
 * yet. False if it lies in no code that could be read.
 */
bool hotspot_look(struct hotspot *h, struct managed_view *view, uint64_t ip, enum hotspot_use use,
		  struct writer *out);

/* Classes were unloaded since @time_ns: what was interpreted then may be gone, though it still looks as if it were there. */
bool hotspot_is_late(const struct hotspot *h, uint64_t time_ns);

/* The same for address @bytecode of the method at @method, which was interpreted. */
bool hotspot_look_bytecode(struct hotspot *h, struct managed_view *view, uint64_t bytecode, uint64_t method,
			   struct writer *out);

/* Where the interpreter's code is; false if it is not there yet. */
bool hotspot_interpreter(struct hotspot *h, struct managed_view *view, uint64_t *ret_start, uint64_t *ret_len);

/*
 * Compare all code that is known with what is there now, as far as @view lets it; code that is gone goes into @out. True if it has come to
 * the end: what is left was there when the first of these calls began. Cheap where nothing was allocated or freed since the last time.
 */
bool hotspot_compare(struct hotspot *h, struct managed_view *view, struct writer *out);

/* Only see whether something may have been freed, for a comparison later: looks are to be close to each other. Very cheap. */
void hotspot_watch(struct hotspot *h, struct managed_view *view);

/* Until when all code that was written, and is not gone, was seen to be there. */
uint64_t hotspot_checked_ns(const struct hotspot *h);

#endif
