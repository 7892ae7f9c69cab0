/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle_calls.h - which recorded addresses follow a call instruction, and so may be return addresses.
 *
 * A bundle (bundle.h) holds this instead of the code in front of every address. In its section ".precord.calls"
 * the addresses stand in ascending order, each as a uleb of its difference to the one before, times 4, plus 1
 * if it follows an indirect call, 2 if a direct one; then a zigzag follows, from the address to where that leads.
 */
#ifndef ELF_BUNDLE_CALLS_H
#define ELF_BUNDLE_CALLS_H

#include "formats/base/writer.h"
#include "symbolize/elf/image.h"

#include <stdbool.h>
#include <stdint.h>

#define BUNDLE_CALLS_SECTION ".precord.calls"

struct bundle_calls;

/* The section, as it is made. A zeroed one is empty and ready. */
struct bundle_calls_writer {
	struct writer out;
	uint64_t last; /* address */
	const struct bundle_calls *known; /* of an image that is a bundle itself; NULL: there is code to look at */
};

enum bundle_call {
	BUNDLE_CALL_UNKNOWN, /* not an address that the bundle was made for */
	BUNDLE_CALL_YES,
	BUNDLE_CALL_NO,
};

/*
 * Append @vaddr, which is not below the last one, after a look at the code in front of it in @img. True if a call
 * instruction ends there. *@ret_target, which may be NULL, is where a direct call leads, 0 if it is none.
 */
bool bundle_calls_look(struct bundle_calls_writer *w, struct image *img, uint64_t vaddr, uint64_t *ret_target);

/* NULL if @img is no bundle. */
struct bundle_calls *bundle_calls_new(struct image *img);
void bundle_calls_free(struct bundle_calls *calls);

/* @ret_target, which may be NULL, is where a direct call leads, 0 if it is none. */
enum bundle_call bundle_calls_find(const struct bundle_calls *calls, uint64_t vaddr,
				   uint64_t *ret_target);

#endif
