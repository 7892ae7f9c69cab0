/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range_overlay.h - address ranges laid over each other; at each address, the one that was laid last shows.
 */
#ifndef SYMBOLIZE_RANGE_OVERLAY_H
#define SYMBOLIZE_RANGE_OVERLAY_H

#include <stddef.h>
#include <stdint.h>

#define RANGE_OVERLAY_NONE UINT32_MAX

struct layer {
	uint64_t begin, end; /* empty if not begin < end */
};

struct range_overlay;

/* Lay @count ranges in order; fewer than 2^32. The array may go away afterwards. */
struct range_overlay *range_overlay_new(const struct layer *ranges, size_t count);
void range_overlay_free(struct range_overlay *layers);

/* The index of the range that shows at @addr, RANGE_OVERLAY_NONE if none covers it. Thread-safe. */
uint32_t range_overlay_find(const struct range_overlay *layers, uint64_t addr);

/* The first address above @addr at which range_overlay_find() may say something else; UINT64_MAX if none is. */
uint64_t range_overlay_next(const struct range_overlay *layers, uint64_t addr);

#endif
