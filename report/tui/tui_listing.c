/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_listing.c - the text that preport annotate prints, as wide as the screen, handed to the viewer of texts.
 */
#include "report/tui/tui_listing.h"

#include "report/code/annotate.h"
#include "report/code/listing.h"
#include "report/tui/tui_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The line with the greatest share in the column at its beginning, which is more than "29.5 % (20.7-40.0) in the loop". */
static size_t hottest_line(const char *text)
{
	size_t best = 0, line = 0;
	double most = 0;

	for (; text && *text; line++) {
		char *end;
		double share = strtod(text, &end);

		if (end != text && strncmp(end, " %  ", 4) == 0 && share > most) {
			most = share;
			best = line;
		}
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return best;
}

/* The line that names the columns. */
static size_t heading_line(const char *text)
{
	for (size_t line = 0; text && *text; line++) {
		if (strncmp(text, "  share ", 8) == 0)
			return line;
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return 0;
}

/* The listing of @wanted as text, on the heap. */
static struct err *list_function(const struct screen *screen, struct session *s, const char *wanted,
				 char **ret)
{
	CLEANUP(annotate_deinit) struct annotate a = { 0 };
	struct listing_options options = {
		.source = LISTING_SOURCE_BETWEEN,
		.term = { .columns = screen_columns(screen), .utf8 = screen_is_utf8(screen) },
	};
	struct err *err = session_need(s, "code", "a listing");
	FILE *out = NULL;
	size_t len;

	if (!err)
		err = annotate_find(&a, s, wanted);
	if (!err)
		out = open_memstream(ret, &len);
	if (!err && !out)
		err = err_system(errno, "the listing does not fit into memory");
	if (err)
		return err;

	struct listing_printer *printer = listing_printer_new(&a, &options, out);

	for (size_t i = 0; i < a.functions.len && !err; i++) {
		CLEANUP(annotate_listing_deinit) struct annotate_listing listing = { 0 };

		err = annotate_list(&a, &a.functions.items[i], DISASM_ATT, &listing);
		if (!err)
			listing_print(printer, &listing);
	}
	listing_printer_finish(printer);
	fclose(out);
	return err;
}

struct err *tui_listing_show(struct screen *screen, struct session *s, const char *wanted,
			     bool *ret_closed)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	char *text = NULL;
	struct err *err = list_function(screen, s, wanted, &text);

	if (!err)
		*ret_closed = !tui_text_show(
			screen,
			&(struct tui_text){
				.title = arena_printf(&arena, "%s, of all samples: shares of the function",
						      wanted),
				.text = text,
				.middle = hottest_line(text),
				.heading = heading_line(text),
			});
	free(text);
	return err;
}
