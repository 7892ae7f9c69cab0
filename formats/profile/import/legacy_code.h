/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy_code.h - what a text profile of addresses says of its code: libraries that were mapped, and names of addresses.
 *
 *	MAPPED_LIBRARIES:
 *	55d0c0e00000-55d0c0e21000 r-xp 00002000 fe:01 1234   /usr/bin/prog	as /proc/PID/maps has it, or
 *	0x400000-0x500000: /usr/bin/prog (@2000) abcdef01			shorter
 *
 *	#	0x47e2a4	runtime.newobject+0x24	/go/src/runtime/malloc.go:12	of Go's, behind each stack
 *
 * Lines with one address are calls inlined into each other, innermost first.
 */
#ifndef FORMATS_LEGACY_CODE_H
#define FORMATS_LEGACY_CODE_H

#include "formats/base/map.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_text.h"
#include "formats/profile/profile.h"

struct legacy_symbol {
	uint32_t name, file; /* strings */
	uint32_t line, next; /* @next: number + 1 of the function that this one is inlined into; 0: none */
};

struct legacy_code {
	struct profile *p;
	struct map symbol_of;	/* address -> number of a symbol */
	struct map location_of; /* address -> number of a location */
	VEC(struct legacy_symbol) symbols;
	VEC(struct import_mapping) mappings;
	VEC(struct profile_line) lines; /* of one location */
	uint64_t last_addr;	/* of the line before */
	bool last_open;		/* and it is the first that named that address */
	struct json_text variable, value; /* "build=/path", for "$build" */
};

/* Does a line say that mappings follow? */
bool legacy_code_is_mapped(struct json_text line);

/* Take a line that may name an address ("#\t0x..."). */
void legacy_code_add_symbol(struct legacy_code *code, struct json_text line);

/* The name of @addr, "function (file:line)" as Java's have it. */
void legacy_code_add_java(struct legacy_code *code, uint64_t addr, struct json_text text);

/* Take a line of the mappings; what is none is passed over. */
void legacy_code_add_mapping(struct legacy_code *code, struct json_text line);

/* All mappings and symbols were added: the location of @addr. */
uint32_t legacy_code_location(struct legacy_code *code, uint64_t addr);

void legacy_code_deinit(struct legacy_code *code);

#endif
