/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.c - a short list: distinct warnings are few, so a linear search will do.
 */
#include "formats/base/diag.h"

#include "formats/base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define MESSAGE_MAX 512 /* bytes of one warning; the rest is cut */
#define ENTRIES_MAX 100 /* distinct warnings; a hostile file can cause any number of them */

static void append(struct diag *diag, const char *message, const char *hint, const void *facts)
{
	struct diag_entry *entry = ARENA_NEW(&diag->arena, struct diag_entry);

	if (!diag->tail)
		diag->tail = &diag->entries;
	entry->message = arena_strdup(&diag->arena, message);
	entry->hint = hint ? arena_strdup(&diag->arena, hint) : NULL;
	entry->count = 1;
	entry->facts = facts;
	*diag->tail = entry;
	diag->tail = &entry->next;
}

static void add(struct diag *diag, const char *message, const char *hint, const void *facts)
{
	struct diag_entry *entry = diag->entries;
	unsigned before = 0;

	while (entry && strcmp(entry->message, message) != 0 && before < ENTRIES_MAX) {
		entry = entry->next;
		before++;
	}
	if (entry)
		entry->count++;
	else if (before < ENTRIES_MAX)
		append(diag, message, hint, facts);
	else
		append(diag, "further warnings, each different", NULL, NULL);
}

void diag_warn(struct diag *diag, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	add(diag, message, NULL, NULL);
}

void diag_err(struct diag *diag, struct err *err)
{
	diag_err_of(diag, err, NULL);
}

void diag_err_of(struct diag *diag, struct err *err, const void *facts)
{
	add(diag, err_message(err), err_hint(err), facts);
	err_free(err);
}

void diag_print(const struct diag *diag, const char *program, FILE *out)
{
	for (const struct diag_entry *entry = diag->entries; entry; entry = entry->next) {
		fprintf(out, "%s: warning: ", program);
		text_put_escaped(out, entry->message);
		if (entry->count > 1)
			fprintf(out, " (%" PRIu64 " times)", entry->count);
		fputc('\n', out);
		if (entry->hint) {
			fprintf(out, "%s: ", program);
			text_put_escaped(out, entry->hint);
			fputc('\n', out);
		}
	}
}

void diag_deinit(struct diag *diag)
{
	arena_deinit(&diag->arena);
	*diag = (struct diag){ 0 };
}
