/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_side_band.h - the payloads of all events that are no samples: precord-trace(5), "Other
 * events".
 *
 * Strings are numbered as they first appear; both sides begin each block with an empty table.
 */
#ifndef FORMATS_TRACE_SIDE_BAND_H
#define FORMATS_TRACE_SIDE_BAND_H

#include "formats/base/map.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "formats/base/writer.h"
#include "formats/event.h"

#include <stdint.h>

/* Strings on the writing side. A zeroed one is empty. */
struct string_encoder {
	struct map numbers; /* hash -> number from 1 */
	VEC(char *) strings;
};

void string_encoder_reset(struct string_encoder *strings);
void string_encoder_deinit(struct string_encoder *strings);

/* Append the payload of @ev. */
void side_band_put(struct string_encoder *strings, struct writer *w, const struct event *ev);

/* Strings on the reading side lie in the content. A zeroed one is empty but for @nevents and @room. */
struct side_band_decoder {
	VEC(const char *) strings;
	size_t nevents; /* that the header lists */
	/* @len bytes for what strings alone do not hold; NULL, and @r fails, if the block promised less. */
	void *(*room)(void *context, struct reader *r, size_t len);
	void *context;
};

void side_band_decoder_deinit(struct side_band_decoder *d);

/* Fill in what the payload in @r says of @ev, whose kind is set; what cannot be makes @r fail. */
void side_band_get(struct side_band_decoder *d, struct reader *r, struct event *ev);

#endif
