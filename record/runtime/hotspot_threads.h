/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_threads.h - the Java names of one HotSpot virtual machine's threads: the kernel cuts names to 15 bytes, and does not know those of
 * threads that Java did not start, such as "main".
 *
 *	list ─► JavaThread ─► java.lang.Thread ─► String ─► array of bytes
 *	            └─► number of the thread
 *
 * Objects move while they are read. So classes are checked, and a name counts when two looks at different times agree. Nothing else is read
 * from the heap. The view bounds each look.
 */
#ifndef RUNTIME_HOTSPOT_THREADS_H
#define RUNTIME_HOTSPOT_THREADS_H

#include "record/runtime/hotspot_layout.h"

#define HOTSPOT_THREADS_MAX	4096 /* of one machine */
#define HOTSPOT_THREAD_NAME_MAX 256  /* bytes, with a NUL; what is longer is cut */

struct hotspot_threads;

/* @layout must outlive it. */
struct hotspot_threads *hotspot_threads_new(const struct hotspot_layout *layout);
void hotspot_threads_free(struct hotspot_threads *threads);

size_t hotspot_threads_held(const struct hotspot_threads *threads);

/* Look at some threads: those without a name, and one of the others, which may have another one by now. */
void hotspot_threads_look(struct hotspot_threads *threads, struct managed_view *view);

/* The next new name, in UTF-8, and the thread's number in its own namespace in @ret_tid; NULL if there is no more. */
const char *hotspot_threads_next(struct hotspot_threads *threads, uint32_t *ret_tid);

#endif
