/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts_text.h - facts about a profile in words.
 */
#ifndef REPORT_FACTS_TEXT_H
#define REPORT_FACTS_TEXT_H

#include "formats/profile/facts.h"

/* "preport", or "preport -i FILE" if that is not what preport reads anyway: how a command that is proposed begins. */
const char *facts_text_command(const struct profile_facts *facts, struct arena *arena);

/* When it began, as @format of strftime(3) has it, in UTC; "" if that is not known. */
const char *facts_text_began(const struct profile_facts *facts, const char *format, struct arena *arena);

#endif
