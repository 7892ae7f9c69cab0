/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_check.h - compares events and recordings; the running test fails where they differ.
 */
#ifndef UNIT_EVENT_CHECK_H
#define UNIT_EVENT_CHECK_H

#include "formats/event.h"
#include "formats/recording.h"

void check_event(const struct event *got, const struct event *want);
void check_recording(const struct recording *got, const struct recording *want);

#endif
