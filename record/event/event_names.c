/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_names.c - event_names.in as tables, and the many spellings of cache events.
 *
 * A cache event's config is cache | operation << 8 | result << 16 (perf_event_open(2)).
 */
#include "record/event/event_names.h"

#include <linux/perf_event.h>
#include <string.h>
#include <strings.h>

const struct event_name event_names[] = {
#define HARDWARE(name, alias, id, description) \
	{ name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, "events", description },
#include "record/event/event_names.in"
#undef HARDWARE
#define CLOCK(name, alias, id, description) \
	{ name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, "ns", description },
#define SOFTWARE(name, alias, id, description) \
	{ name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, "events", description },
#include "record/event/event_names.in"
#undef CLOCK
#undef SOFTWARE
};

const size_t event_names_len = ARRAY_LEN(event_names);

/* A cache, an operation or a result. */
struct part {
	const char *spellings;
	uint8_t id;
	uint8_t operations; /* bits 1 << PERF_COUNT_HW_CACHE_OP_*: what can be done with this cache */
	const char *description;
};

enum {
	READ = 1 << PERF_COUNT_HW_CACHE_OP_READ,
	WRITE = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
	PREFETCH = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH
};

static const struct part caches[] = {
#define CACHE(id, operations, spellings, description) \
	{ spellings, PERF_COUNT_HW_CACHE_##id, operations, description },
#include "record/event/event_names.in"
#undef CACHE
	{ 0 },
};

static const struct part operations[] = {
#define OPERATION(id, spellings, description) \
	{ spellings, PERF_COUNT_HW_CACHE_OP_##id, 0, description },
#include "record/event/event_names.in"
#undef OPERATION
	{ 0 },
};

static const struct part results[] = {
#define RESULT(id, spellings, description) \
	{ spellings, PERF_COUNT_HW_CACHE_RESULT_##id, 0, description },
#include "record/event/event_names.in"
#undef RESULT
	{ 0 },
};

const struct event_name *event_name_find(const char *name)
{
	for (size_t i = 0; i < event_names_len; i++) {
		const struct event_name *event = &event_names[i];

		if (strcmp(event->name, name) == 0 ||
		    (event->alias && strcmp(event->alias, name) == 0))
			return event;
	}
	return NULL;
}

/* The length of spelling @index of @part, whose start goes to *@ret; 0 if there are not so many. */
static size_t spelling(const struct part *part, unsigned index, const char **ret)
{
	const char *word = part->spellings;

	for (; index && *word; index--) {
		word += strcspn(word, " ");
		word += *word == ' ';
	}
	*ret = word;
	return strcspn(word, " ");
}

/* How many characters at the start of @text spell @part, up to a dash or the end; 0 for none. */
static size_t spelled(const struct part *part, const char *text)
{
	const char *word;
	size_t len, best = 0;

	for (unsigned i = 0; (len = spelling(part, i, &word)) != 0; i++)
		if (strncasecmp(word, text, len) == 0 && (!text[len] || text[len] == '-'))
			best = MAX(best, len);
	return best;
}

/* The part that begins at *@pos, which moves behind it and the dash; NULL if none does. */
static const struct part *take(const struct part *parts, const char **pos)
{
	const struct part *found = NULL;
	size_t best = 0;

	for (const struct part *part = parts; part->spellings; part++) {
		size_t len = spelled(part, *pos);

		if (len > best) {
			best = len;
			found = part;
		}
	}
	*pos += best;
	*pos += found && **pos == '-' && (*pos)[1];
	return found;
}

static uint64_t config_of(const struct part *cache, const struct part *operation,
			  const struct part *result)
{
	return cache->id | (uint64_t)operation->id << 8 | (uint64_t)result->id << 16;
}

bool event_cache_parse(const char *name, uint64_t *ret_config)
{
	const struct part *cache = take(caches, &name);

	if (!cache)
		return false;

	const struct part *operation = take(operations, &name);
	const struct part *result = take(results, &name);

	if (*name)
		return false;
	if (!operation)
		operation = &operations[PERF_COUNT_HW_CACHE_OP_READ];
	if (!result)
		result = &results[PERF_COUNT_HW_CACHE_RESULT_ACCESS];
	if (!(cache->operations & 1u << operation->id))
		return false;
	*ret_config = config_of(cache, operation, result);
	return true;
}

/* "L1-dcache" + "loads", or "L1-dcache" + "load" + "misses" */
static const char *usual_name(struct arena *arena, const struct part *cache,
			      const struct part *operation, const struct part *result)
{
	const char *first, *second, *third;
	bool misses = result->id == PERF_COUNT_HW_CACHE_RESULT_MISS;
	int first_len = (int)spelling(cache, 0, &first);
	int second_len = (int)spelling(operation, misses ? 0 : 1, &second);
	int third_len = (int)spelling(result, 0, &third);

	return arena_printf(arena, "%.*s-%.*s%s%.*s", first_len, first, second_len, second,
			    misses ? "-" : "", misses ? third_len : 0, third);
}

void event_cache_each(void (*visit)(const char *name, uint64_t config, const char *description,
				    void *context),
		      void *context)
{
	static const size_t each = (ARRAY_LEN(operations) - 1) * (ARRAY_LEN(results) - 1);
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < each * (ARRAY_LEN(caches) - 1); i++) {
		const struct part *cache = &caches[i / each];
		const struct part *operation = &operations[i % each / (ARRAY_LEN(results) - 1)];
		const struct part *result = &results[i % (ARRAY_LEN(results) - 1)];

		if (!(cache->operations & 1u << operation->id))
			continue;
		visit(usual_name(&arena, cache, operation, result),
		      config_of(cache, operation, result),
		      arena_printf(&arena, "%s: %s%s", cache->description, operation->description,
				   result->description),
		      context);
	}
}
