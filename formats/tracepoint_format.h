/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracepoint_format.h - the fields of a tracepoint's payload, as the format file of tracefs describes them:
 *
 *	field:char next_comm[16];	offset:40;	size:16;	signed:0;
 *	field:__data_loc char[] filename;	offset:8;	size:4;	signed:0;
 *
 * Both the description and the payload may come from a hostile file.
 */
#ifndef FORMATS_TRACEPOINT_FORMAT_H
#define FORMATS_TRACEPOINT_FORMAT_H

#include "formats/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;

#define TRACEPOINT_FIELDS_MAX 256

struct tracepoint_field {
	const char *name;
	uint32_t offset, len; /* of the payload, in bytes */
	bool common;	      /* "common_pid" and the like, which every tracepoint has */
	bool is_text, is_signed;
	bool is_address; /* a pointer: read by people as a hexadecimal number */
	uint8_t dynamic; /* 0: it is there itself; 1, 2: __data_loc, __rel_loc tell where and how much */
};

struct tracepoint_format {
	struct tracepoint_field *fields;
	size_t len;
};

enum tracepoint_value_kind {
	TRACEPOINT_NUMBER,   /* unsigned: in .number */
	TRACEPOINT_SIGNED,   /* in .number, as two's complement */
	TRACEPOINT_ADDRESS,  /* in .number */
	TRACEPOINT_TEXT,
};

struct tracepoint_value {
	enum tracepoint_value_kind kind;
	uint64_t number;
	const char *text; /* as the kernel wrote it, up to its NUL; an array of numbers as hexadecimal bytes */
};

/* The fields that @text describes; lines that do not are left out. Everything lives in @arena. */
struct tracepoint_format tracepoint_format_read(struct arena *arena, const char *text);

/* The field of that name; NULL if there is none. */
const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *format, const char *name);

/* What @field holds in payload @raw of little-endian machines; false if it does not lie within it. Texts live in @arena. */
bool tracepoint_field_value(const struct tracepoint_field *field, const uint8_t *raw, size_t raw_len,
			    struct arena *arena, struct tracepoint_value *ret);

/* Where a tracepoint's payload has a number. */
struct tracepoint_number {
	uint32_t offset, len; /* @len 0: it has none */
	bool is_signed;
};

/* The number @name of the tracepoint that @text describes, a format file. */
struct tracepoint_number tracepoint_number_find(const char *text, const char *name);

/* What it is in sample @ev of a little-endian machine; false, and @ret untouched, if it is not there. */
bool tracepoint_number_read(const struct tracepoint_number *number, const struct event *ev, uint64_t *ret);

/* @value for people: "-1", "0xffff8881", "kworker/0:1". */
const char *tracepoint_value_text(const struct tracepoint_value *value, struct arena *arena);

#endif
