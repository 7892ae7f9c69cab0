/* SPDX-License-Identifier: Apache-2.0 */
/*
 * php_globals.h - where the variables of the PHP that a thread runs are.
 *
 * Builds without thread safety (NTS) have them once, for the main thread. Those with it (ZTS, from 7.4 on) have them once
 * for each thread, in a block behind an entry of the table tsrm_tls_table:
 *
 *	tsrm_tls_table ─► entry of a thread (its pthread_t, the next entry) | executor_globals | sapi_globals | …
 *
 * Not thread-safe.
 */
#ifndef RECORD_PHP_GLOBALS_H
#define RECORD_PHP_GLOBALS_H

#include "record/managed/managed_root.h"

/* The symbols that managed_php asks for, in the order of enum php_symbol. */
extern const char *const php_globals_symbols[];

/* Addresses in the process; 0: not known. */
struct php_globals {
	uint64_t executor, request, memory;
};

/* Holds memory: php_places_deinit(). */
struct php_places {
	struct php_globals fixed; /* NTS */
	uint32_t pid;		  /* NTS: the thread that they are those of */
	bool zts;
	uint64_t bias;
	uint64_t table_addr, count_addr; /* of the variables; 0: no symbol. The first is searched for */
	uint64_t offset_addrs[3];	 /* of the variables that have the offsets of struct php_globals in a block; 0 if there is none */
	struct managed_root root;
	uint16_t pthread_tid; /* where a pthread_t has the number of its thread; 0: not known yet */
	struct map entries;   /* tid -> address of its entry */
};

/* NULL, or why they cannot be found: then there is nothing to release. */
const char *php_places_init(struct php_places *places, const struct managed_host *host);
void php_places_deinit(struct php_places *places);

/* Those of thread @tid; false if it has none. The view has failed where that is not known. */
bool php_places_find(struct php_places *places, struct managed_view *view, uint32_t tid, struct php_globals *ret);

#endif
