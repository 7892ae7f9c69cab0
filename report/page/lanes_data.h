/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_data.h - what each thread did when, as the block of bytes that the page's lanes are drawn from:
 * Documentation/flame-page.md has every byte.
 */
#ifndef REPORT_LANES_DATA_H
#define REPORT_LANES_DATA_H

#include "formats/base/writer.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

/* Append the block of the spans of @p, which is named; where they are too many, short ones are joined. ERR_SYSTEM: out of memory. */
MUST_USE struct err *lanes_data_write(const struct profile *p, const struct profile_facts *facts, struct writer *out);

#endif
