/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.h - what a tracepoint's raw bytes say, by the format that was recorded with it.
 *
 * The only door to libtraceevent.
 */
#ifndef REPORT_PAYLOAD_H
#define REPORT_PAYLOAD_H

#include "formats/event.h"

struct payload_printer;

/* Read the formats of @rec's tracepoints, which must outlive the printer. */
struct payload_printer *payload_printer_new(const struct recording *rec);
void payload_printer_free(struct payload_printer *printer);

/*
 * The payload of @sample as the kernel would print it ("prev_comm=sh prev_pid=7 …"), unescaped; "" if there is none or
 * its format is not known or asks for bytes that are not there. Valid until the next call.
 */
const char *payload_text(struct payload_printer *printer, const struct event *ev);

#endif
