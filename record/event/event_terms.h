/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_terms.h - what stands between the slashes of an event, and the letters behind it. Part of
 * event_spec.
 */
#ifndef RECORD_EVENT_TERMS_H
#define RECORD_EVENT_TERMS_H

#include "formats/base/err.h"
#include "record/event/event_lookup.h"
#include "record/event/event_list.h"

#include <stdbool.h>
#include <stdint.h>

/* Modifiers as they add up from an event and its group. */
struct event_modifiers {
	bool user, kernel, hypervisor; /* u k h */
	bool host, guest, not_idle;    /* H G I */
	bool pinned, exclusive, weak;  /* D e W */
	bool read_group, precise_max;  /* S P */
	uint8_t precise;               /* p, pp, ppp */
};

/*
 * Add the letters of @text to @mods. ERR_USAGE: a letter is none, or p comes more than three times.
 */
MUST_USE struct err *event_modifiers_parse(const char *text, struct event_modifiers *mods);

/* Both together. */
struct event_modifiers event_modifiers_join(struct event_modifiers a, struct event_modifiers b);

/* Put @mods into @desc, its name included. */
void event_modifiers_apply(const struct event_modifiers *mods, struct arena *arena,
			   struct event_desc *desc);

/*
 * Put the terms of @text ("event=0x3c,period=1000") into @desc. With @pmu the terms may name its fields
 * and events; without, only those that every event has.
 * ERR_USAGE: a term is unknown (with near names) or has a wrong value.
 */
MUST_USE struct err *event_terms_apply(const char *text, struct event_list *list,
				       const struct pmu *pmu, struct event_desc *desc);

#endif
