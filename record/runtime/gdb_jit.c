/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gdb_jit.c - when the list's head has changed, the list is read up to the old head; when an entry was removed, all of it. Only the head of
 * an entry is read until an address in its code is looked up.
 */
#include "record/runtime/gdb_jit.h"

#include "formats/base/clock.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/beam_module.h"
#include "record/runtime/jit_object.h"

#include <string.h>
#include <time.h>

#define ENTRIES_MAX	 (1U << 14)
#define RANGES_MAX	 (1U << 16)
#define MODULES_LEN_MAX	 (16U << 20) /* of Erlang modules that are held */
#define DESCRIPTOR_WORDS 3
#define INTERFACE	 1 /* version of the interface */
#define UNREGISTERS	 2
#define ENTRY_WORDS	 4
#define SHARED_LEN	 (1ULL << 20)

#define MODULE_COOKIE	 4096 /* bytes of a module of Erlang's that tell it from another one */
#define TRIES_MAX	 8	     /* to read what is not in memory yet; */
#define AGAIN_NS	 25000000ULL /* between the first two for an entry's head, then each time twice as long */

enum entry_word { ENTRY_NEXT, ENTRY_PREVIOUS, ENTRY_FILE, ENTRY_LEN };

struct entry {
	uint64_t file, len; /* the bytes that it registers */
	unsigned walk;	    /* the last one that came past it */
	bool is_object, written, tried;
	bool is_unread; /* its head was not in memory */
	unsigned tries; /* for all of it */
	uint64_t cookie;   /* of what is registered, as it was seen first; 0: not known */
	uint64_t seen_ns;  /* when it was so for the last time */
	struct beam_module *module;
};

struct range {
	uint64_t start, end;
	uint32_t entry;
};

/* An entry that is to be read again. */
struct unread {
	uint32_t entry;
	unsigned tries;
	uint64_t due_ns;
};

struct gdb_jit {
	uint64_t descriptor;
	uint32_t inner_pid;
	uint64_t words[DESCRIPTOR_WORDS]; /* as they were when the last walk began */
	uint64_t first;			  /* the list's head when the last walk that was completed began */
	uint64_t next;			  /* entry that the walk has to read */
	unsigned walk, hops;
	bool walking, whole;
	struct map by_node; /* address of a list's entry -> index + 1; 0: it is of no use */
	VEC(struct entry) entries;
	VEC(struct range) ranges;
	uint32_t reading; /* the entry whose ranges are added */
	VEC(struct unread) unread;
	size_t compared;   /* entries, of a comparison that goes on */
	size_t uncompared; /* 1 more than the number of one for which there was no time */
	size_t modules_len;
	bool has_modules; /* of Erlang */
	struct beam_module_writing writing;
};

struct gdb_jit *gdb_jit_new(uint64_t descriptor, uint32_t inner_pid)
{
	struct gdb_jit *jit = memory_zeroed(1, sizeof(*jit));

	jit->descriptor = descriptor;
	jit->inner_pid = inner_pid;
	return jit;
}

void gdb_jit_free(struct gdb_jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->entries.len; i++)
		beam_module_free(jit->entries.items[i].module);
	vec_deinit(&jit->entries);
	vec_deinit(&jit->ranges);
	vec_deinit(&jit->unread);
	map_deinit(&jit->by_node);
	free(jit);
}

size_t gdb_jit_held(const struct gdb_jit *jit)
{
	return sizeof(*jit) + jit->entries.cap * sizeof(*jit->entries.items) + jit->ranges.cap * sizeof(*jit->ranges.items) +
	       jit->by_node.len * 2 * sizeof(struct map_slot) + jit->modules_len;
}

/* ---- the list -------------------------------------------------------------------------------------- */

static void add_range(void *context, uint64_t start, uint64_t end)
{
	struct gdb_jit *jit = context;

	if (start < end && jit->ranges.len < RANGES_MAX)
		vec_push(&jit->ranges, ((struct range){ start, end, jit->reading }));
}

static bool read_cookie(struct managed_view *view, const struct entry *entry, uint64_t *ret)
{
	*ret = 0;
	if (entry->is_object)
		return jit_object_cookie(view, entry->file, entry->len, ret);
	return managed_view_digest(view, entry->file, (size_t)MIN(entry->len, (uint64_t)MODULE_COOKIE), ret);
}

/* Which code entry @number has. False: it is to be read again, with another view or when its bytes are in memory. */
static bool read_entry(struct gdb_jit *jit, struct managed_view *view, uint32_t number)
{
	struct entry *entry = &jit->entries.items[number];
	size_t nranges = jit->ranges.len;
	struct beam_module_head head;
	bool missed = view->missed;

	jit->reading = number;
	view->missed = false;
	if (beam_module_read_head(view, entry->file, entry->len, &head)) {
		add_range(jit, head.base, head.base + head.code_len);
		jit->has_modules = true;
	} else {
		entry->is_object = jit_object_ranges(view, entry->file, entry->len, add_range, jit);
	}
	entry->is_unread = view->missed && !entry->is_object;
	view->missed = view->missed || missed;
	entry->seen_ns = clock_now_ns(CLOCK_MONOTONIC);
	if (!view->failed && !entry->is_unread) {
		if (!read_cookie(view, entry, &entry->cookie))
			entry->cookie = 0;
		return true;
	}
	jit->ranges.len = nranges;
	return false;
}

/* An entry that was not known. False if there was no time to read it, or there are too many. */
static bool add_entry(struct gdb_jit *jit, struct managed_view *view, uint64_t file, uint64_t len)
{
	struct entry entry = { .file = file, .len = len, .walk = jit->walk };
	uint32_t number = (uint32_t)jit->entries.len;

	if (number >= ENTRIES_MAX)
		return false;
	vec_push(&jit->entries, entry);
	if (read_entry(jit, view, number))
		return true;
	if (!jit->entries.items[number].is_unread) {
		jit->entries.len = number;
		return false;
	}
	vec_push(&jit->unread, ((struct unread){ number, 1, clock_now_ns(CLOCK_MONOTONIC) + AGAIN_NS }));
	return true;
}

/* False: it is to be tried once more, with another view or later. */
static bool try_again(struct gdb_jit *jit, struct managed_view *view, struct unread *u)
{
	if (read_entry(jit, view, u->entry))
		return true;
	if (!jit->entries.items[u->entry].is_unread)
		return false; /* there was no time */
	u->due_ns = clock_now_ns(CLOCK_MONOTONIC) + (AGAIN_NS << u->tries);
	return ++u->tries >= TRIES_MAX;
}

/* Those whose heads were not in memory: are they now? */
static void read_unread(struct gdb_jit *jit, struct managed_view *view)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	size_t kept = 0;

	for (size_t i = 0; i < jit->unread.len; i++) {
		struct unread *u = &jit->unread.items[i];
		bool is_gone = jit->whole && jit->entries.items[u->entry].walk != jit->walk;

		if (!is_gone && (view->failed || now_ns < u->due_ns || !try_again(jit, view, u)))
			jit->unread.items[kept++] = *u;
	}
	jit->unread.len = kept;
}

/* Its code ends, or what is registered for it is another file: it was last seen at @seen_ns. */
static void end_ranges(struct gdb_jit *jit, uint32_t number, uint64_t seen_ns, struct writer *out)
{
	size_t kept = 0, begin = out->len;

	for (size_t i = 0; i < jit->ranges.len; i++) {
		struct range *r = &jit->ranges.items[i];

		if (r->entry != number)
			jit->ranges.items[kept++] = *r;
		else
			jitdump_put_gone(out, r->start, r->end - r->start);
	}
	jit->ranges.len = kept;
	jitdump_set_times(out, begin, 0, MAX(seen_ns, 1));
}

/*
 * A compiler may put another file where one was, and register it by the same entry, before anybody has looked: is entry @number what it was?
 * If not it is read anew.
 */
static bool is_unchanged(struct gdb_jit *jit, struct managed_view *view, uint32_t number, struct writer *out)
{
	struct entry *entry = &jit->entries.items[number];
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), cookie;

	if (!entry->cookie || (read_cookie(view, entry, &cookie) && cookie == entry->cookie)) {
		entry->seen_ns = now_ns;
		return true;
	}
	if (view->failed || view->missed)
		return true; /* that is not known */
	end_ranges(jit, number, entry->seen_ns, out);
	jit->modules_len -= entry->module ? (size_t)entry->len : 0;
	beam_module_free(entry->module);
	*entry = (struct entry){ .file = entry->file, .len = entry->len, .walk = entry->walk };
	if (!read_entry(jit, view, number))
		vec_push(&jit->unread, ((struct unread){ number, 1, now_ns + AGAIN_NS }));
	return false;
}

static bool is_same(const struct entry *entry, const uint64_t words[ENTRY_WORDS])
{
	return entry->file == words[ENTRY_FILE] && entry->len == words[ENTRY_LEN];
}

/* The entry at @node, which is part of the list. False if the walk ends here. */
static bool take_node(struct gdb_jit *jit, struct managed_view *view, uint64_t node, const uint64_t words[ENTRY_WORDS])
{
	const uint64_t *slot = map_get(&jit->by_node, node);
	struct entry *known = slot && *slot ? &jit->entries.items[*slot - 1] : NULL;

	if (known && is_same(known, words)) {
		bool circle = known->walk == jit->walk;

		known->walk = jit->walk;
		return !circle;
	}
	if (jit->by_node.len >= ENTRIES_MAX && !slot)
		return false;
	if (!add_entry(jit, view, words[ENTRY_FILE], words[ENTRY_LEN]))
		return false;
	*map_put(&jit->by_node, node, NULL) = jit->entries.len;
	return true;
}

/* What a whole walk has not come past is registered no more. */
static void drop_gone(struct gdb_jit *jit, struct writer *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < jit->ranges.len; i++) {
		struct range *r = &jit->ranges.items[i];
		struct entry *entry = &jit->entries.items[r->entry];

		if (entry->walk == jit->walk)
			jit->ranges.items[kept++] = *r;
		else if (entry->tried)
			jitdump_put_gone(out, r->start, r->end - r->start);
		if (entry->walk != jit->walk)
			entry->cookie = 0; /* not compared any more */
	}
	jit->ranges.len = kept;
}

/* Is there anything to be read? */
static bool begin_walk(struct gdb_jit *jit, struct managed_view *view)
{
	uint64_t words[DESCRIPTOR_WORDS];

	if (!managed_view_try(view, jit->descriptor, words, sizeof(words)) || (uint32_t)words[0] != INTERFACE ||
	    (jit->walk && memcmp(words, jit->words, sizeof(words)) == 0))
		return false;
	memcpy(jit->words, words, sizeof(words));
	jit->whole = !jit->walk || words[0] >> 32 == UNREGISTERS;
	jit->walk++;
	jit->next = words[2];
	jit->hops = 0;
	return true;
}

static void end_walk(struct gdb_jit *jit, struct writer *out)
{
	if (jit->whole)
		drop_gone(jit, out);
	jit->first = jit->words[2];
	jit->walking = false;
}

/* What was the list's head is known, with all behind it, unless that was taken out and its memory used for another entry. */
static bool ends_at_first(struct gdb_jit *jit, struct managed_view *view)
{
	const uint64_t *slot = map_get(&jit->by_node, jit->first);
	uint64_t words[ENTRY_WORDS];

	if (jit->whole || !managed_view_try(view, jit->first, words, sizeof(words)))
		return !jit->whole;
	jit->whole = !slot || !*slot || !is_same(&jit->entries.items[*slot - 1], words);
	return !jit->whole;
}

bool gdb_jit_read_list(struct gdb_jit *jit, struct managed_view *view, struct writer *out)
{
	uint64_t words[ENTRY_WORDS];

	if (!jit->walking)
		jit->walking = begin_walk(jit, view);
	if (!jit->walking && jit->unread.len)
		read_unread(jit, view);
	while (jit->walking && !view->failed) {
		bool ends = !jit->next || jit->hops >= ENTRIES_MAX || (jit->next == jit->first && ends_at_first(jit, view));

		if (!ends && managed_view_try(view, jit->next, words, sizeof(words)))
			ends = !take_node(jit, view, jit->next, words);
		else
			ends = true;
		if (view->failed && ends)
			break; /* this entry is read again, with another view */
		if (ends) {
			end_walk(jit, out);
			break;
		}
		jit->hops++;
		jit->next = words[ENTRY_NEXT];
	}
	return jit->walking;
}

/* ---- addresses ------------------------------------------------------------------------------------- */

/* What was registered last goes first: memory is used again. */
static struct entry *entry_at(struct gdb_jit *jit, uint64_t ip)
{
	for (size_t i = jit->ranges.len; i-- > 0;) {
		const struct range *r = &jit->ranges.items[i];

		if (ip - r->start < r->end - r->start)
			return &jit->entries.items[r->entry];
	}
	return NULL;
}

/* It was read as well as it can be. */
static bool is_done(const struct managed_view *view, struct entry *entry)
{
	return (!view->failed && !view->missed) || ++entry->tries >= TRIES_MAX;
}

static bool put_object(struct managed_view *view, struct entry *entry, struct writer *out)
{
	if (entry->tried)
		return entry->written;
	entry->written = jit_object_put(view, entry->file, entry->len, out);
	entry->tried = entry->written || is_done(view, entry);
	return entry->written;
}

static void read_module(struct gdb_jit *jit, struct managed_view *view, struct entry *entry)
{
	if (entry->tried || jit->modules_len >= MODULES_LEN_MAX)
		return;
	entry->module = beam_module_read(view, entry->file, entry->len);
	entry->tried = entry->module || is_done(view, entry);
	jit->modules_len += entry->module ? (size_t)entry->len : 0;
}

/* The addresses around @ip that no entry has, @SHARED_LEN of them at most. */
static struct range gap_around(const struct gdb_jit *jit, uint64_t ip)
{
	struct range gap = { .start = ip & ~(SHARED_LEN - 1), .end = (ip & ~(SHARED_LEN - 1)) + SHARED_LEN };

	for (size_t i = 0; i < jit->ranges.len; i++) {
		const struct range *r = &jit->ranges.items[i];

		if (r->end <= ip)
			gap.start = MAX(gap.start, r->end);
		else if (r->start > ip)
			gap.end = MIN(gap.end, r->start);
	}
	return gap;
}

/* What all modules of Erlang share is registered by none: pieces that they jump to and call, on the stack of Erlang as well. */
static void put_shared(const struct gdb_jit *jit, uint64_t ip, struct writer *out)
{
	struct range gap = gap_around(jit, ip);

	jitdump_put_known(out, gap.start, gap.end - gap.start, "[Erlang's machine]");
	jitdump_put_place(out, ip, JITDUMP_FRAME_ERLANG, 0, NULL, 0);
}

bool gdb_jit_look(struct gdb_jit *jit, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out)
{
	struct entry *entry = entry_at(jit, ip - !is_leaf);

	if (entry && !is_unchanged(jit, view, (uint32_t)(entry - jit->entries.items), out))
		entry = entry_at(jit, ip - !is_leaf);
	if (entry && entry->is_object)
		return put_object(view, entry, out);
	jit->writing.out = out;
	if (entry)
		read_module(jit, view, entry);
	else if (jit->has_modules && is_leaf)
		put_shared(jit, ip, out);
	return entry && entry->module && beam_module_look(entry->module, ip, is_leaf, &jit->writing);
}

bool gdb_jit_compare(struct gdb_jit *jit, struct managed_view *view, struct writer *out)
{
	while (jit->compared < jit->entries.len) {
		uint32_t number = (uint32_t)jit->compared;

		if (jit->entries.items[number].tried && jit->entries.items[number].cookie)
			is_unchanged(jit, view, number, out);
		if (view->failed && jit->uncompared != number + 1) {
			jit->uncompared = number + 1; /* with a view of its own, next time */
			return false;
		}
		jit->compared++;
		if (view->failed)
			return false;
	}
	jit->compared = 0;
	jit->uncompared = 0;
	return true;
}
