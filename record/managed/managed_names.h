/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_names.h - names of functions and files of interpreters, each kept once until the recorder ends.
 *
 * So names pass between threads without copies. Hostile processes may make up any number of names: beyond
 * MANAGED_NAMES_MAX bytes new ones are dropped. Thread-safe.
 *
 * Memory of other caches of interpreters' functions is counted here too, for all processes together: when the limit is reached, a caller
 * drops its own cache before it adds to it, so at most one function for each process exceeds the limit.
 */
#ifndef RECORD_MANAGED_NAMES_H
#define RECORD_MANAGED_NAMES_H

#include "formats/base/arena.h"
#include "formats/base/map.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define MANAGED_NAMES_MAX (64u << 20)
#define MANAGED_ROOM_MAX  (128u << 20)
#define MANAGED_SLOT_LEN  (4 * sizeof(struct map_slot)) /* what an entry of a map takes of it, at most */

struct managed_names {
	pthread_mutex_t lock;
	struct arena arena;
	struct map by_hash; /* to const char * */
	uint64_t left_out;  /* for lack of room */
	_Atomic size_t taken; /* bytes of what else is remembered */
};

void managed_names_init(struct managed_names *names);
void managed_names_deinit(struct managed_names *names);

/* The @len bytes at @text as a string, without what follows a NUL in it; "" if there is no room any more. */
const char *managed_names_keep(struct managed_names *names, const char *text, size_t len);

/* Count @len more, or fewer, bytes of caches. */
void managed_names_take(struct managed_names *names, size_t len);
void managed_names_give(struct managed_names *names, size_t len);
bool managed_names_full(const struct managed_names *names);

/* How many times there was no room. */
uint64_t managed_names_left_out(struct managed_names *names);

#endif
