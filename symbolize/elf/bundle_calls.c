/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_calls.c - decoded once into two arrays, as the unwinder asks for one address at a time.
 */
#include "symbolize/elf/bundle_calls.h"

#include "formats/base/bisect.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <stdlib.h>

/* In the two low bits of each step. */
enum {
	NO_CALL = 0,
	INDIRECT_CALL = 1,
	DIRECT_CALL = 2,
};

#define CALL_LEN 8 /* bytes before a return address that tell a call */

/* What ends at @vaddr; @ret_distance is set for a direct call. */
static unsigned kind_at(struct image *img, uint64_t vaddr, int64_t *ret_distance)
{
	const struct arch *arch = image_arch(img);
	const uint8_t *code = NULL;
	size_t len = 0;

	if (vaddr >= CALL_LEN)
		code = image_bytes_at(img, vaddr - CALL_LEN, &len);
	if (!code || len < CALL_LEN || !arch->ends_with_call(code, CALL_LEN))
		return NO_CALL;
	return arch->direct_call(code, CALL_LEN, ret_distance) ? DIRECT_CALL : INDIRECT_CALL;
}

/* One address of the list. */
struct entry {
	uint64_t vaddr;
	uint64_t target; /* of a direct call, else 0 */
	bool call;
};

struct bundle_calls {
	VEC(struct entry) entries; /* ascending */
};

struct bundle_calls *bundle_calls_new(struct image *img)
{
	struct image_section section;
	struct reader r;
	uint64_t vaddr = 0;

	if (!image_section(img, BUNDLE_CALLS_SECTION, &section))
		return NULL;
	struct bundle_calls *calls = memory_zeroed(1, sizeof(*calls));

	reader_init(&r, section.data, section.len, /* big_endian= */ false);
	while (reader_left(&r)) {
		uint64_t step = reader_uleb(&r, "address");
		int64_t distance = (step & 3) == DIRECT_CALL ? reader_zigzag(&r, "target of a call") : 0;

		vaddr += step >> 2;
		if (r.failed || vaddr < step >> 2)
			break;
		struct entry entry = { .vaddr = vaddr, .call = (step & 3) != NO_CALL };

		if ((step & 3) == DIRECT_CALL)
			entry.target = vaddr + (uint64_t)distance;
		vec_push(&calls->entries, entry);
	}
	return calls;
}

void bundle_calls_free(struct bundle_calls *calls)
{
	if (!calls)
		return;
	vec_deinit(&calls->entries);
	free(calls);
}

enum bundle_call bundle_calls_find(const struct bundle_calls *calls, uint64_t vaddr,
				   uint64_t *ret_target)
{
	size_t low = BISECT(calls->entries.len, i, calls->entries.items[i].vaddr < vaddr);

	if (low == calls->entries.len || calls->entries.items[low].vaddr != vaddr)
		return BUNDLE_CALL_UNKNOWN;
	if (ret_target)
		*ret_target = calls->entries.items[low].target;
	return calls->entries.items[low].call ? BUNDLE_CALL_YES : BUNDLE_CALL_NO;
}

/* What an earlier bundle says of @vaddr; what it does not know is no call. */
static unsigned kind_known(const struct bundle_calls *known, uint64_t vaddr, int64_t *ret_distance)
{
	uint64_t target = 0;

	if (bundle_calls_find(known, vaddr, &target) != BUNDLE_CALL_YES)
		return NO_CALL;
	*ret_distance = (int64_t)(target - vaddr);
	return target ? DIRECT_CALL : INDIRECT_CALL;
}

bool bundle_calls_look(struct bundle_calls_writer *w, struct image *img, uint64_t vaddr, uint64_t *ret_target)
{
	int64_t distance = 0;
	unsigned kind = w->known ? kind_known(w->known, vaddr, &distance) :
				   kind_at(img, vaddr, &distance);

	if (ret_target)
		*ret_target = kind == DIRECT_CALL ? vaddr + (uint64_t)distance : 0;
	if (vaddr >> 62) /* no program has code there; it would not fit */
		return false;
	writer_uleb(&w->out, (vaddr - w->last) << 2 | kind);
	if (kind == DIRECT_CALL)
		writer_zigzag(&w->out, distance);
	w->last = vaddr;
	return kind != NO_CALL;
}
