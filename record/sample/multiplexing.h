/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiplexing.h - says, when a recording ends, which events had a counter for a part of the time only, and who may have
 * the others.
 */
#ifndef RECORD_TURNS_H
#define RECORD_TURNS_H

#include "formats/base/diag.h"
#include "formats/recording.h"

/* Of the counts of @rec, which are final; warnings go to @diag, and so into the trace. */
void multiplexing_tell(const struct recording *rec, struct diag *diag);

#endif
