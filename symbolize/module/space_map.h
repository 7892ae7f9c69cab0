/* SPDX-License-Identifier: Apache-2.0 */
/*
 * space_map.h - one mapping of an address space.
 */
#ifndef SYMBOLIZE_SPACE_MAP_H
#define SYMBOLIZE_SPACE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct module;

struct space_map {
	uint64_t start, end; /* addresses in the process */
	uint64_t bias; /* vaddr = ip - bias; if not @mapped this gives the offset in the file */
	uint64_t file_offset; /* of @start */
	struct module *module;
	bool mapped; /* the bias is known: the image has a segment there */
	bool exec;
	bool looked_up; /* private: @mapped and @bias are final */
};

#endif
