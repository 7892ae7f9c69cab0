/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr_chunk.h - one chunk of a JDK Flight Recorder file (version 2): its types, constants and events.
 *
 *	header │ event │ event │ … │ checkpoint │ metadata        (big-endian; integers usually LEB128 of at most 9 bytes)
 *
 * Everything is described by the chunk's own metadata: classes with fields. Values that repeat (stacks, methods, names) are
 * constants: an event holds a number, and checkpoints hold what it stands for. All events of a chunk are gone through once to
 * find metadata and checkpoints, wherever they are, so that a chunk that its JVM did not finish is read as well.
 */
#ifndef FORMATS_JFR_CHUNK_H
#define FORMATS_JFR_CHUNK_H

#include "formats/base/arena.h"
#include "formats/base/err.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/profile/import/import_ids.h"

#define JFR_HEADER_LEN 68
#define JFR_FIELDS_MAX 255 /* of a class */

struct jfr_field {
	const char *name;
	uint64_t type;	     /* id of its class */
	bool constant, array;
};

enum jfr_basic { /* classes that are no structs */
	JFR_STRUCT,
	JFR_BYTE, /* and boolean */
	JFR_SHORT,
	JFR_INT,
	JFR_LONG,
	JFR_FLOAT,
	JFR_DOUBLE,
	JFR_STRING,
};

struct jfr_class {
	uint64_t id;
	const char *name;
	enum jfr_basic basic;
	VEC(struct jfr_field) fields;
	struct import_ids constants; /* number -> offset in the chunk */
};

/* A zeroed one is empty. */
struct jfr_chunk {
	const uint8_t *data;
	size_t len;
	uint64_t offset; /* in the file */
	bool compressed; /* integers are LEB128 */
	bool finished;	 /* its JVM finished it, and all of it is there */
	uint64_t start_ns, duration_ns; /* since 1970 */
	uint64_t start_ticks, ticks_per_s;
	struct arena arena; /* of the metadata */
	struct arena texts; /* that are not in place */
	const uint8_t *described; /* the metadata that the classes are from, without its time */
	size_t described_len;
	bool same_classes; /* as those of the chunk before */
	VEC(struct jfr_class) classes;
	struct import_ids class_ids;
	VEC(uint32_t) checkpoints; /* offsets */
	uint32_t metadata;	   /* offset, 0: none */
};

/*
 * Take apart the chunk at @offset of the file; *@ret_next is where the next one is. @chunk is the one before, or empty: classes that are
 * described by the same bytes stay as they are. ERR_CORRUPT, ERR_UNSUPPORTED (a version that is not 2). jfr_chunk_close() releases @chunk
 * in any case.
 */
MUST_USE struct err *jfr_chunk_open(const uint8_t *file, size_t len, uint64_t offset,
				    struct jfr_chunk *chunk, uint64_t *ret_next);
void jfr_chunk_close(struct jfr_chunk *chunk);

/* The class of that name or number, or NULL. */
struct jfr_class *jfr_class_named(struct jfr_chunk *chunk, const char *name);
struct jfr_class *jfr_class_of(const struct jfr_chunk *chunk, uint64_t id);

/* The event at *@pos, which is moved behind it: its type and a reader over its fields. False at the end. */
bool jfr_event_next(const struct jfr_chunk *chunk, size_t *pos, uint64_t *ret_type, struct reader *ret);

/* Where events begin. */
static inline size_t jfr_first_event(void)
{
	return JFR_HEADER_LEN;
}

/* ---- values ---- */

struct jfr_text {
	const char *data;
	size_t len;
};

struct jfr_value {
	bool is_there;
	uint64_t number;      /* also of a constant */
	struct reader at;     /* of an array or struct in place: where it begins */
	struct jfr_text text; /* of a string in place */
};

/* Which of a class's fields are wanted, and in which place of the result. */
struct jfr_plan {
	const struct jfr_class *class;
	uint8_t place[JFR_FIELDS_MAX]; /* + 1; 0: passed over */
	uint32_t last;		       /* fields up to here have to be read */
};

/* @names are @count names of fields; a class that lacks some is fine. */
void jfr_plan_make(struct jfr_plan *plan, const struct jfr_class *class, const char *const *names,
		   uint32_t count);

/* Read fields at @r; @ret has as many as the plan has names. Strings that are constants are looked up. */
void jfr_plan_read(const struct jfr_chunk *chunk, const struct jfr_plan *plan, struct reader *r,
		   struct jfr_value *ret, uint32_t count);

/* A reader at constant @number of @class; false if there is none. */
bool jfr_constant(const struct jfr_chunk *chunk, const struct jfr_class *class, uint64_t number,
		  struct reader *ret);

uint64_t jfr_integer(const struct jfr_chunk *chunk, struct reader *r, enum jfr_basic basic);

/* Ticks of the chunk's clock as nanoseconds since 1970, and a difference of such. */
uint64_t jfr_time_ns(const struct jfr_chunk *chunk, uint64_t ticks);
uint64_t jfr_span_ns(const struct jfr_chunk *chunk, uint64_t ticks);

#endif
