/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_threads.h - what the threads of one HotSpot virtual machine are called in Java: the kernel cuts names to 15 bytes, and knows none
 * of threads that Java did not start, as "main".
 *
 *	list ─► JavaThread ─► java.lang.Thread ─► String ─► array of bytes
 *	            └─► number of the thread
 *
 * Objects move while they are read. So what is read has to be of the right classes, and a name counts when two looks, some time apart, have
 * found the same. Of the heap nothing but those names is read. Bounded by what the view lets one look read.
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

/* A name that has become known since the last call, in UTF-8, of the thread that its process numbers @ret_tid; NULL if there is no more. */
const char *hotspot_threads_next(struct hotspot_threads *threads, uint32_t *ret_tid);

#endif
