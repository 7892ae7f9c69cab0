/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_calls.c - decoded once into two arrays, as the unwinder asks for one address at a time.
 */
#include "symbolize/elf/bundle_calls.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <stdlib.h>

void bundle_calls_add(struct bundle_calls_writer *w, uint64_t vaddr, bool follows_call)
{
	if (vaddr >> 63) /* no program has code there; it would not fit */
		return;
	writer_uleb(&w->out, (vaddr - w->last) << 1 | follows_call);
	w->last = vaddr;
}

struct bundle_calls {
	VEC(uint64_t) addresses; /* ascending */
	VEC(bool) call;          /* in step with them */
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

		vaddr += step >> 1;
		if (r.failed || vaddr < step >> 1)
			break;
		vec_push(&calls->addresses, vaddr);
		vec_push(&calls->call, step & 1);
	}
	return calls;
}

void bundle_calls_free(struct bundle_calls *calls)
{
	if (!calls)
		return;
	vec_deinit(&calls->addresses);
	vec_deinit(&calls->call);
	free(calls);
}

enum bundle_call bundle_calls_find(const struct bundle_calls *calls, uint64_t vaddr)
{
	size_t low = 0, high = calls->addresses.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (calls->addresses.items[middle] < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == calls->addresses.len || calls->addresses.items[low] != vaddr)
		return BUNDLE_CALL_UNKNOWN;
	return calls->call.items[low] ? BUNDLE_CALL_YES : BUNDLE_CALL_NO;
}
