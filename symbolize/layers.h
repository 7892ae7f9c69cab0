/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.h - address ranges laid over each other; at each address, the one that was laid last shows.
 */
#ifndef SYMBOLIZE_LAYERS_H
#define SYMBOLIZE_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#define LAYERS_NONE UINT32_MAX

struct layer {
	uint64_t begin, end; /* empty if not begin < end */
};

struct layers;

/* Lay @count ranges in order; fewer than 2^32. The array may go away afterwards. */
struct layers *layers_new(const struct layer *ranges, size_t count);
void layers_free(struct layers *layers);

/* The index of the range that shows at @addr, LAYERS_NONE if none covers it. Thread-safe. */
uint32_t layers_find(const struct layers *layers, uint64_t addr);

/* The first address above @addr at which layers_find() may say something else; UINT64_MAX if none is. */
uint64_t layers_next(const struct layers *layers, uint64_t addr);

#endif
