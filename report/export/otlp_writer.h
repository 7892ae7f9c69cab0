/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp_writer.h - messages in either coding of OpenTelemetry's: protobuf, or JSON as protobuf maps it (otlp_reader.h reads them).
 *
 *	otlp_begin(w, 1, "resourceProfiles");
 *	otlp_int(w, 3, "line", 7);
 *	otlp_end(w);
 *
 * A repeated field stands between otlp_list() and otlp_list_end(); its elements have its number and no name. Numbers of 64 bits are
 * texts in JSON, those of 32 are not. Fields of value 0 are left out but in lists, and but
 * those of otlp_int64(), which may be one of several that a value can be.
 */
#ifndef REPORT_OTLP_WRITER_H
#define REPORT_OTLP_WRITER_H

#include "formats/base/writer.h"
#include "formats/base/json_writer.h"

#define OTLP_DEPTH_MAX 12

struct otlp_writer {
	bool is_json;
	struct json json;
	FILE *out;
	unsigned depth;
	struct writer levels[OTLP_DEPTH_MAX]; /* protobuf: the messages that are open */
	unsigned numbers[OTLP_DEPTH_MAX];     /* the field that each is the value of */
};

/* The outermost message is open; otlp_writer_finish() ends it, puts it to @out and releases @w. */
void otlp_writer_init(struct otlp_writer *w, bool is_json, FILE *out);
void otlp_writer_finish(struct otlp_writer *w);

void otlp_begin(struct otlp_writer *w, unsigned number, const char *name);
void otlp_end(struct otlp_writer *w);
void otlp_list(struct otlp_writer *w, const char *name);
void otlp_list_end(struct otlp_writer *w);

/* @name NULL: an element of a list. */
void otlp_int(struct otlp_writer *w, unsigned number, const char *name, int32_t value);
void otlp_int64(struct otlp_writer *w, unsigned number, const char *name, int64_t value);
void otlp_fixed64(struct otlp_writer *w, unsigned number, const char *name, uint64_t value);
void otlp_text(struct otlp_writer *w, unsigned number, const char *name, const char *text); /* escaped: valid UTF-8 */

#endif
