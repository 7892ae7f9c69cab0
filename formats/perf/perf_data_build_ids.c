/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_data_build_ids.c - struct perf_record_header_build_id, one behind the other: header, process, 24 bytes, path.
 */
#include "formats/perf/perf_data_build_ids.h"

#include <string.h>

#define MISC_HAS_LEN (1U << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */
#define ID_LEN_MAX   20

/* Without a size it is what the kernel's linker makes, less the zeros behind a shorter one. */
static size_t id_len(const uint8_t *id)
{
	size_t len = ID_LEN_MAX;

	while (len && !id[len - 1])
		len--;
	return (len + 3) & ~(size_t)3;
}

static void put(struct perf_data_build_ids *ids, const char *path, const uint8_t *id, size_t len)
{
	static const struct perf_data_build_id none;
	uint32_t number = strtab_add(&ids->paths, path);
	struct perf_data_build_id item = { .len = (uint8_t)len };

	memcpy(item.id, id, len);
	while (ids->items.len <= number)
		vec_push(&ids->items, none);

	struct perf_data_build_id *old = &ids->items.items[number];

	/* A path that had several files tells nothing about any of them. */
	if (old->len && (old->len != len || memcmp(old->id, id, len) != 0))
		item.len = 0;
	*old = item;
}

struct err *perf_data_build_ids_add(struct perf_data_build_ids *ids, struct reader *r)
{
	reader_skip(r, 4, "record type");
	uint16_t misc = reader_u16(r, "record flags");
	uint16_t len = reader_u16(r, "record size");

	if (len < 8)
		reader_fail(r, "record size");

	struct reader body = reader_slice(r, len - MIN(len, 8), "build ID");

	reader_skip(&body, 4, "process");
	const uint8_t *id = reader_bytes(&body, ID_LEN_MAX, "build ID");
	size_t told = reader_u8(&body, "size of build ID");

	reader_skip(&body, 3, "build ID");
	const char *path = reader_string(&body, "path");

	if (id && !(misc & MISC_HAS_LEN))
		told = id_len(id);
	if (told > ID_LEN_MAX)
		reader_fail(&body, "size of build ID");
	if (id && path && told && told <= ID_LEN_MAX)
		put(ids, path, id, told);
	return reader_check(&body);
}

const struct perf_data_build_id *perf_data_build_ids_find(struct perf_data_build_ids *ids,
							  const char *path)
{
	uint32_t number = strtab_add(&ids->paths, path);

	if (number >= ids->items.len || !ids->items.items[number].len)
		return NULL;
	return &ids->items.items[number];
}

void perf_data_build_ids_complete(struct perf_data_build_ids *ids, struct event_mmap *map)
{
	const struct perf_data_build_id *id = NULL;

	if (map->build_id_len || !ids->items.len)
		return;
	id = perf_data_build_ids_find(ids, map->path);
	if (!id)
		return;
	map->build_id_len = id->len;
	memcpy(map->build_id, id->id, id->len);
}

void perf_data_build_ids_deinit(struct perf_data_build_ids *ids)
{
	strtab_deinit(&ids->paths);
	vec_deinit(&ids->items);
}
