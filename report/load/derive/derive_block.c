/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derive_block.c - how long block devices take: from block:block_rq_issue, when a request goes to the driver, to its
 * block_rq_complete.
 *
 * A request is known by its device and first sector. One that is completed in parts goes on at the sector behind them. It is the
 * thread's that issued it, with its stack: for data that is written back later, and for requests that waited in a queue, that
 * is a thread of the kernel. The interrupt that completes it hits any thread, so that all must be recorded.
 */
#include "formats/base/memory.h"
#include "formats/tracepoint_format.h"
#include "report/load/derive/derive_kind.h"
#include "report/load/derive/point_pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISSUE	   "block:block_rq_issue"
#define COMPLETE   "block:block_rq_complete"
#define MINOR_BITS 20 /* of a device's number within the kernel */

/* Where the payload of one of both has what. */
struct request_fields {
	uint32_t event; /* of the recording */
	struct tracepoint_number dev, sector, sectors, error;
	const struct tracepoint_field *flags; /* "WS"; NULL: there is none */
};

/* Which part of a device. */
struct range {
	uint64_t dev, sector, sectors;
};

struct block {
	struct point_pairs pairs;
	struct request_fields issue, complete;
	struct arena arena, scratch;
	struct map sectors; /* key -> how many are not completed yet */
};

static struct request_fields find_fields(struct block *b, const struct recording *rec, uint32_t event)
{
	const char *text = rec->events[event].format;
	struct tracepoint_format format = tracepoint_format_read(&b->arena, text);

	return (struct request_fields){ .event = event,
					.dev = tracepoint_number_find(text, "dev"),
					.sector = tracepoint_number_find(text, "sector"),
					.sectors = tracepoint_number_find(text, "nr_sector"),
					.error = tracepoint_number_find(text, "error"),
					.flags = tracepoint_format_find(&format, "rwbs") };
}

static void *begin(const struct derive_request *request, const struct derive_out *out)
{
	const struct recording *rec = request->recording;
	uint32_t issue = derive_find_every(rec, ISSUE), complete = derive_find_every(rec, COMPLETE);
	struct block *b;

	if (!derive_is_wanted(request, DERIVE_BLOCK) || issue == PROFILE_NONE || complete == PROFILE_NONE || !rec->system_wide)
		return NULL;
	b = memory_zeroed(1, sizeof(*b));
	point_pairs_init(&b->pairs, request, out, DERIVE_BLOCK);
	b->issue = find_fields(b, rec, issue);
	b->complete = find_fields(b, rec, complete);
	return b;
}

static void free_block(void *state)
{
	struct block *b = state;

	point_pairs_deinit(&b->pairs);
	map_deinit(&b->sectors);
	arena_deinit(&b->arena);
	arena_deinit(&b->scratch);
	free(b);
}

static bool is_ours(const void *state, const struct event *ev)
{
	const struct block *b = state;

	return ev->kind == EVENT_SAMPLE && (ev->sample.event == b->issue.event || ev->sample.event == b->complete.event);
}

static bool range_of(const struct request_fields *fields, const struct event *ev, struct range *ret)
{
	return tracepoint_number_read(&fields->dev, ev, &ret->dev) && tracepoint_number_read(&fields->sector, ev, &ret->sector) &&
	       tracepoint_number_read(&fields->sectors, ev, &ret->sectors);
}

static uint64_t key_of(const struct range *range, uint64_t sector)
{
	return map_hash(map_hash(range->dev) ^ sector);
}

/* The name of device @number in @list, see recording.block_devices; NULL: it is not there. */
static const char *find_device(const char *list, const char *number, size_t *ret_len)
{
	size_t len = strlen(number);

	for (const char *line = list, *end; line && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (strncmp(line, number, len) == 0 && line[len] == ' ') {
			*ret_len = (size_t)(end - line) - len - 1;
			return line + len + 1;
		}
	}
	return NULL;
}

/* "/dev/vda" */
static uint32_t device_text(const struct block *b, uint64_t dev)
{
	const struct derive_request *request = b->pairs.request;
	const char *name;
	char text[48];
	size_t len;

	snprintf(text, sizeof(text), "device %" PRIu64 ":%" PRIu64, dev >> MINOR_BITS, dev & ((1u << MINOR_BITS) - 1));
	name = find_device(request->recording->block_devices, text + strlen("device "), &len);
	return name ? strtab_add_len(&request->profile->strings, name, len) : profile_string(request->profile, text);
}

/* "FWFS": that a flush goes before it, what it is, then what else is known of it. */
static const char *operation_name(const char *flags)
{
	static const struct {
		char letter;
		const char *name, *sync;
	} rows[] = { { 'R', "read", "read" },
		     { 'W', "write", "synchronous write" },
		     { 'D', "discard", "discard" },
		     { 'F', "flush", "flush" },
		     { 'E', "secure erase", "secure erase" } };
	const char *at = flags[0] == 'F' && flags[1] ? flags + 1 : flags;

	if (at[0] == 'R' && strchr(at, 'A'))
		return "read ahead";
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (at[0] == rows[i].letter)
			return strchr(at, 'S') ? rows[i].sync : rows[i].name;
	return "other";
}

static uint32_t operation_text(struct block *b, const struct event *ev)
{
	struct tracepoint_value value;
	const char *name = "other";

	arena_reset(&b->scratch);
	if (b->issue.flags &&
	    tracepoint_field_value(b->issue.flags, ev->sample.raw, ev->sample.raw_len, &b->scratch, &value) &&
	    value.kind == TRACEPOINT_TEXT)
		name = operation_name(value.text);
	return profile_string(b->pairs.request->profile, name);
}

static void take_issue(struct block *b, const struct derive_event *event)
{
	struct range range;

	if (!range_of(&b->issue, event->ev, &range))
		return;

	struct derived span = { .state = PROFILE_STATE_REQUEST, .file = device_text(b, range.dev),
				.operation = operation_text(b, event->ev) };
	uint64_t key = key_of(&range, range.sector);

	point_pairs_begin(&b->pairs, key, event, &span);
	*map_put(&b->sectors, key, NULL) = range.sectors;
}

static void take_complete(struct block *b, const struct event *ev)
{
	struct range range;
	uint64_t error = 0, key, *left;

	if (!range_of(&b->complete, ev, &range))
		return;
	key = key_of(&range, range.sector);
	left = map_get(&b->sectors, key);
	tracepoint_number_read(&b->complete.error, ev, &error);
	if (left && range.sectors && range.sectors < *left && !error) {
		uint64_t now = key_of(&range, range.sector + range.sectors), rest = *left - range.sectors;

		point_pairs_rename(&b->pairs, key, now);
		map_remove(&b->sectors, key);
		*map_put(&b->sectors, now, NULL) = rest;
		return;
	}
	point_pairs_end(&b->pairs, key, ev->time_ns, derive_error_text(b->pairs.request->profile, (int64_t)error));
	map_remove(&b->sectors, key);
}

static void take(void *state, const struct derive_event *event)
{
	struct block *b = state;

	if (!is_ours(b, event->ev))
		return;
	if (event->ev->sample.event == b->issue.event)
		take_issue(b, event);
	else
		take_complete(b, event->ev);
}

static void finish(void *state)
{
	struct block *b = state;

	point_pairs_finish(&b->pairs);
}

const struct derive_kind derive_block = {
	.name = "block devices",
	.adds = { { DERIVE_BLOCK, .unasked = true } },
	.begin = begin,
	.wants = is_ours,
	.wants_anyones = is_ours,
	.event = take,
	.finish = finish,
	.free = free_block,
};
