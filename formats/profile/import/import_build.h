/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_build.h - what importers of text and JSON share to fill a profile: frames of one function, samples with a time.
 */
#ifndef FORMATS_IMPORT_BUILD_H
#define FORMATS_IMPORT_BUILD_H

#include "formats/base/json_reader.h"
#include "formats/profile/profile.h"

/* A call of one function, without an address. Numbers of strings, 0 for what is not known. */
struct import_frame {
	uint32_t name, file;
	uint32_t line;	   /* that runs */
	uint32_t declared; /* line that the function begins at */
	uint32_t module;   /* of the profile, or PROFILE_NONE */
	enum profile_frame_kind kind;
};

/* The number of its location. */
uint32_t import_frame(struct profile *p, const struct import_frame *frame);

/* Take " (file:line)" off the end of @name, as py-spy, VizTracer and preport write it; false if it is not there. */
bool import_take_source(struct profile *p, struct json_text *name, uint32_t *ret_file, uint32_t *ret_line);

/* The function of an address that none is known for: it is named after where it is. @module may be PROFILE_NONE. */
struct profile_line import_unnamed_line(struct profile *p, uint32_t module, uint64_t addr);

/* The number of the location of @addr in @module, or PROFILE_NONE, with such a function. */
uint32_t import_unnamed(struct profile *p, uint32_t module, uint64_t addr);

/* Where a file was mapped: [start, end), from @offset in the file on. */
struct import_mapping {
	uint64_t start, end, offset;
	uint32_t module; /* may be PROFILE_NONE */
};

/*
 * What @addr of the process is in the file of @mapping, as near as can be said without the file: its offset, or itself where
 * the program is one that has to be where it was linked. Of a module with offsets the profile notes it. Addresses outside of it have been translated already.
 */
uint64_t import_link_time(struct profile *p, const struct import_mapping *mapping, uint64_t addr);

uint32_t import_text(struct profile *p, struct json_text text);

/* The module at @path; PROFILE_NONE for "". */
uint32_t import_module(struct profile *p, struct json_text path, enum profile_module_kind kind);

#define IMPORT_TYPES_MAX 256 /* value types of a file: views go through them one by one */

/*
 * A value type of that name and unit, equal ones once; PROFILE_NONE where there are IMPORT_TYPES_MAX others. "nanoseconds" become
 * "ns", "count" and "" become "events", as recordings have them. Of two of one name the second is called "name-unit", so that
 * --event tells them apart.
 */
uint32_t import_type(struct profile *p, const char *name, const char *unit);

/* A thread; PROFILE_NONE for numbers and 0 for strings that are not known. */
uint32_t import_thread(struct profile *p, uint32_t pid, uint32_t tid, uint32_t process, uint32_t comm);

struct import_sample {
	uint32_t stack, type, thread, labels;
	uint64_t count; /* samples that @weight is the sum of */
	int64_t weight;
	bool has_cpu;
	uint32_t cpu;
	bool uncounted; /* it is not known how many; @count is 1 */
	bool has_time, has_duration;
	uint64_t time_ns, duration_ns;
};

/* @weight, or 0 where the sum would not fit; import_table_read() then refuses the file. */
static inline int64_t import_fits(struct profile *p, int64_t weight)
{
	if (profile_fits(p, weight))
		return weight;
	p->overflowed = true;
	return 0;
}

/* Add it to its row, and to the times if it has one; the row's number. */
uint32_t import_sample(struct profile *p, const struct import_sample *sample);

/* The same for a sample that differs from the ones of @row in nothing but count, value and time, without a look-up. */
void import_sample_again(struct profile *p, uint32_t row, const struct import_sample *sample);

/* The stack of @parent and one more location. */
static inline uint32_t import_stack(struct profile *p, uint32_t parent, uint32_t location)
{
	return profile_add_stack(p, parent, location, PROFILE_HOW_SURE);
}

/* @value in units of @scale nanoseconds, rounded; 0 for what is negative or no number. */
uint64_t import_time_ns(double value, double scale);

#endif
