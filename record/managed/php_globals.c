/* SPDX-License-Identifier: Apache-2.0 */
/*
 * php_globals.c - of PHP with thread safety, TSRM/TSRM.c: a table of lists of entries, by pthread_t modulo its length; behind each entry
 * the thread's globals, each at an offset that a variable of the program has.
 */
#include "record/managed/php_globals.h"

#include "formats/base/compiler.h"
#include "record/managed/pthread_tid.h"

#define ENTRY_LEN    32
#define ENTRY_THREAD 16
#define ENTRY_NEXT   24
#define SLOTS_MAX    1024  /* of a table */
#define SLOTS_UNKNOWN 128  /* of one whose length is not known */
#define THREADS_MAX  4096
#define OFFSET_MAX   (64u << 10) /* a block has some kilobytes */

enum php_symbol {
	SYMBOL_EXECUTOR,
	SYMBOL_REQUEST, /* of the web server's module or FPM: what it answers */
	SYMBOL_MEMORY,	/* as the next but three, known to builds with a table of all symbols only */
	SYMBOL_EXECUTOR_OFFSET,
	SYMBOL_REQUEST_OFFSET,
	SYMBOL_MEMORY_OFFSET,
	SYMBOL_TABLE,
	SYMBOL_TABLE_LEN,
	SYMBOL_ID, /* ZTS of all versions */
};

const char *const php_globals_symbols[] = {
	"executor_globals",	"sapi_globals",	       "alloc_globals",	 "executor_globals_offset", "sapi_globals_offset",
	"alloc_globals_offset", "tsrm_tls_table", "tsrm_tls_table_size", "executor_globals_id",	    NULL,
};

static uint64_t addr_of(const struct managed_host *host, enum php_symbol symbol)
{
	const struct managed_symbol *found = &host->binary->symbols[symbol];

	return found->found ? found->vaddr + host->bias : 0;
}

const char *php_places_init(struct php_places *places, const struct managed_host *host)
{
	*places = (struct php_places){
		.fixed = { addr_of(host, SYMBOL_EXECUTOR), addr_of(host, SYMBOL_REQUEST),
			   addr_of(host, SYMBOL_MEMORY) },
		.pid = host->pid,
		.zts = addr_of(host, SYMBOL_ID),
		.table_addr = addr_of(host, SYMBOL_TABLE),
		.count_addr = addr_of(host, SYMBOL_TABLE_LEN),
		.offset_addrs = { addr_of(host, SYMBOL_EXECUTOR_OFFSET), addr_of(host, SYMBOL_REQUEST_OFFSET),
				  addr_of(host, SYMBOL_MEMORY_OFFSET) },
	};
	managed_root_init(&places->root, host);
	if (places->zts && !places->offset_addrs[0])
		return "PHP with thread safety (ZTS) is read from 7.4 on";
	if (!places->zts && !places->fixed.executor)
		return "its symbols do not say where PHP keeps its state";
	return NULL;
}

void php_places_deinit(struct php_places *places)
{
	map_deinit(&places->entries);
}

/* ---- entries of threads ---------------------------------------------------------------------------- */

static bool is_aligned(uint64_t value)
{
	return value >= MANAGED_PAGE_LEN && value % 8 == 0;
}

/* Is the entry at @entry that of thread @tid? */
static bool entry_is(struct php_places *places, struct managed_view *view, uint64_t entry, uint32_t tid)
{
	uint64_t pthread;
	uint32_t found;

	if (!managed_view_try(view, entry + ENTRY_THREAD, &pthread, sizeof(pthread)) || !is_aligned(pthread))
		return false;
	if (places->pthread_tid)
		return managed_view_try(view, pthread + places->pthread_tid, &found, sizeof(found)) && found == tid;
	places->pthread_tid = pthread_tid_find(view, pthread, tid);
	return places->pthread_tid;
}

/* The entry of thread @tid in the list from @entry on; 0 if there is none. @steps bounds all lists together. */
static uint64_t search_list(struct php_places *places, struct managed_view *view, uint64_t entry, uint32_t tid,
			    unsigned *steps)
{
	while (is_aligned(entry) && !view->failed && (*steps)-- > 1) {
		if (entry_is(places, view, entry, tid))
			return entry;
		if (!managed_view_try(view, entry + ENTRY_NEXT, &entry, sizeof(entry)))
			return 0;
	}
	return 0;
}

/* Of a table at @table. One without a known length ends where no list can begin: behind it is the size of another block of memory. */
static uint64_t search_table(struct php_places *places, struct managed_view *view, uint64_t table, uint32_t tid)
{
	uint32_t count = SLOTS_UNKNOWN;
	unsigned steps = THREADS_MAX;

	if (places->count_addr)
		managed_view_try(view, places->count_addr, &count, sizeof(count));
	for (uint32_t i = 0; i < MIN(count, (uint32_t)SLOTS_MAX) && !view->failed; i++) {
		uint64_t first, entry;

		if (!managed_view_try(view, table + i * 8ull, &first, sizeof(first)) ||
		    (first && !is_aligned(first)))
			return 0;
		entry = search_list(places, view, first, tid, &steps);
		if (entry)
			return entry;
	}
	return 0;
}

struct candidate {
	struct php_places *places;
	uint32_t tid;
};

/* A table without a symbol: an entry of the sampled thread is in its first slot's list, or further on. */
static bool is_table(void *context, struct managed_view *view, uint64_t addr, uint64_t value)
{
	const struct candidate *c = context;

	(void)addr;
	return search_table(c->places, view, value, c->tid);
}

static uint64_t find_entry(struct php_places *places, struct managed_view *view, uint32_t tid)
{
	const uint64_t *known = map_get(&places->entries, tid);
	struct candidate candidate = { places, tid };
	uint64_t entry, table;

	if (known && entry_is(places, view, *known, tid))
		return *known;
	map_remove(&places->entries, tid);
	if (!places->table_addr)
		places->table_addr = managed_root_search(&places->root, view, is_table, &candidate);
	if (!places->table_addr) {
		view->failed = true;
		return 0;
	}
	table = managed_view_u64(view, places->table_addr);
	entry = table ? search_table(places, view, table, tid) : 0;
	if (entry && places->entries.len < THREADS_MAX)
		*map_put(&places->entries, tid, NULL) = entry;
	return entry;
}

/* The address in the block of @entry that the variable at @offset_addr says; 0 if there is none. */
static uint64_t in_block(struct managed_view *view, uint64_t entry, uint64_t offset_addr)
{
	uint64_t offset = 0;

	if (!offset_addr || !managed_view_try(view, offset_addr, &offset, sizeof(offset)) || offset < ENTRY_LEN ||
	    offset > OFFSET_MAX)
		return 0;
	return entry + offset;
}

bool php_places_find(struct php_places *places, struct managed_view *view, uint32_t tid, struct php_globals *ret)
{
	*ret = places->fixed;
	if (!places->zts)
		return tid == places->pid;
	uint64_t entry = find_entry(places, view, tid);

	if (!entry)
		return false;
	ret->executor = in_block(view, entry, places->offset_addrs[0]);
	ret->request = in_block(view, entry, places->offset_addrs[1]);
	ret->memory = in_block(view, entry, places->offset_addrs[2]);
	/* A program may have a copy of the variable that counts, which its library's is not. */
	view->failed |= !ret->executor;
	return ret->executor;
}
