/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot.h - finds the methods, inlined methods, lines and frame sizes of addresses in HotSpot's code, by reading its memory with
 * the tables that it has for debuggers.
 *
 *	pc ─► heap ─► segment ─► code blob ─► method, frame
 *	                              └─────► PcDesc ─► scopes ─► inlined methods, bytecodes ─► lines
 *
 * The JVM runs meanwhile, compiles, and frees code. So an address is looked up soon after it was sampled, and inconsistent
 * data is dropped. The memory is untrusted: reads are bounded, lengths are checked, chains are followed for a limited
 * number of steps.
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

/* Approximate memory use in bytes. */
size_t hotspot_held(const struct hotspot *h);

enum hotspot_use {
	HOTSPOT_CALLER, /* a return address, or looks like one */
	HOTSPOT_LEAF,	/* was executed */
};

/*
 * Append the code at @ip, with the records that it needs, to @out, a jitdump (formats/perf/jitdump.h). False if no readable code
 * contains it.
 */
bool hotspot_look(struct hotspot *h, struct managed_view *view, uint64_t ip, enum hotspot_use use,
		  struct writer *out);

/* Were classes unloaded since @time_ns? Then bytecode interpreted before may be gone although its memory looks unchanged. */
bool hotspot_is_late(const struct hotspot *h, uint64_t time_ns);

/* The same for address @bytecode of the method at @method, which was interpreted. */
bool hotspot_look_bytecode(struct hotspot *h, struct managed_view *view, uint64_t bytecode, uint64_t method,
			   struct writer *out);

/* Where the interpreter's code is; false if it is not there yet. */
bool hotspot_interpreter(struct hotspot *h, struct managed_view *view, uint64_t *ret_start, uint64_t *ret_len);

/*
 * Compare all known code with memory, within the limits of @view; code that is gone is written to @out. True when complete: the remaining
 * code was there when the first of these calls began. Cheap if nothing was allocated or freed since.
 */
bool hotspot_compare(struct hotspot *h, struct managed_view *view, struct writer *out);

/* Only check whether something may have been freed. Very cheap: call it often, so that changes are noticed. */
void hotspot_watch(struct hotspot *h, struct managed_view *view);

/* The time of the last complete comparison: all code that was not reported as gone was there then. */
uint64_t hotspot_checked_ns(const struct hotspot *h);

#endif
