/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_listing.c - the text that preport annotate prints, of instructions or of a script's lines, as wide as the screen, handed to the
 * viewer of texts.
 *
 * What lines mean is read from that text again: its shares, and where a call or jump leads ("callq 0x1129  <work>").
 */
#include "report/tui/tui_listing.h"

#include "report/code/annotate.h"
#include "report/code/listing_printer.h"
#include "report/code/script_lines.h"
#include "report/tui/tui_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOT_SHARE 1.0 /* per cent of the function: lines that h goes to */

/* A function that is shown, and where the cursor was left. */
struct step {
	const char *wanted; /* in the arena */
	size_t line;
	bool visited;
};

struct tour {
	struct screen *screen;
	struct session *session;
	VEC(struct step) steps; /* the last one is shown */
	bool source;
	bool is_script; /* lines of a script are shown, with shares of all samples */
	const char *message; /* about the last key; NULL: none */
	struct arena arena;
};

/* ---- lines ---- */

struct hot_line {
	double share;
	size_t line;
};

static int compare_hot(const void *a, const void *b)
{
	const struct hot_line *ha = a, *hb = b;

	if (ha->share != hb->share)
		return ha->share > hb->share ? -1 : 1;
	return (ha->line > hb->line) - (ha->line < hb->line);
}

/* The share in the column at the beginning of @line, which is more than "29.5 % (20.7-40.0) in the loop"; negative: none. */
static double share_of(const char *line)
{
	char *end;
	double share = strtod(line, &end);

	return end != line && strncmp(end, " %  ", 4) == 0 ? share : -1;
}

static const char *next_line(const char *text)
{
	text = strchr(text, '\n');
	return text ? text + 1 : "";
}

/* The hot lines of @text, the hottest first; at least one if any has a share. */
static size_t *hot_lines(struct arena *arena, const char *text, size_t *ret_count)
{
	VEC(struct hot_line) hot = { 0 };
	size_t line = 0, *ret;

	for (; *text; text = next_line(text), line++)
		if (share_of(text) > 0)
			vec_push(&hot, ((struct hot_line){ share_of(text), line }));
	vec_sort(&hot, compare_hot);
	while (hot.len > 1 && hot.items[hot.len - 1].share < HOT_SHARE)
		hot.len--;
	ret = ARENA_ARRAY(arena, size_t, hot.len + 1);
	for (size_t i = 0; i < hot.len; i++)
		ret[i] = hot.items[i].line;
	*ret_count = hot.len;
	vec_deinit(&hot);
	return ret;
}

/* The line that names the columns. */
static size_t heading_line(const char *text)
{
	for (size_t line = 0; *text; text = next_line(text), line++)
		if (strncmp(text + strspn(text, " "), "share  ", 7) == 0)
			return line;
	return 0;
}

static const char *line_at(struct arena *arena, const char *text, size_t line)
{
	while (line-- && *text)
		text = next_line(text);
	return arena_memdup(arena, text, strcspn(text, "\n"));
}

/* The address that a line of an instruction shows, "1187" in "  0.5 %  0.1-3.0   1187  movq $0, 8(%rsp)"; NULL: it is none. */
static const char *address_of(struct arena *arena, const char *line)
{
	const char *at = line;

	while (*at) {
		size_t len = strspn(at, "0123456789abcdef");

		size_t blanks = strspn(at + len, " ");

		if (len && (at == line || at[-1] == ' ') && blanks >= 2 && isalpha((unsigned char)at[len + blanks]))
			return arena_memdup(arena, at, len);
		at += len ? len : 1;
	}
	return NULL;
}

/* The line whose instruction is at @address; SIZE_MAX: none, or it is folded away. */
static size_t line_of_address(struct arena *arena, const char *text, const char *address)
{
	for (size_t line = 0; *text; text = next_line(text), line++) {
		const char *found = address_of(arena, line_at(arena, text, 0));

		if (found && strcmp(found, address) == 0)
			return line;
	}
	return SIZE_MAX;
}

/* ---- one function ---- */

/* The lines of the interpreted functions that @wanted means, to @out; false if there are none. */
static bool put_script(const struct tour *t, const char *wanted, const struct terminal *term, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	CLEANUP(script_functions_deinit) struct script_functions functions = { 0 };
	const struct script_options options = { .format = TABLE_TEXT, .all = true, .term = term };
	uint32_t type = t->session->facts.first_type;
	struct lookup found;
	struct err *err = lookup_function(t->session->profile, wanted, &arena, &found);

	if (!err)
		script_functions_find(&functions, t->session, &found, type);
	err_free(err);
	if (functions.items.len)
		script_lines_print(&functions, t->session, type, &options, out);
	return functions.items.len;
}

static struct err *put_code(const struct tour *t, const char *wanted, const struct terminal *term, FILE *out)
{
	CLEANUP(annotate_deinit) struct annotate a = { 0 };
	struct listing_options options = {
		.all = true, /* calls to follow have no samples of their own */
		.source = t->source ? LISTING_SOURCE_BETWEEN : LISTING_SOURCE_NONE,
		.term = *term,
	};
	struct err *err = session_need(t->session, "code", "a listing");

	if (!err)
		err = annotate_find(&a, t->session, wanted);
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
	return err;
}

static struct err *list_function(struct tour *t, const char *wanted, char **ret)
{
	struct terminal term = { .columns = screen_columns(t->screen), .utf8 = screen_is_utf8(t->screen) };
	size_t len;
	FILE *out = open_memstream(ret, &len);
	struct err *err = NULL;

	if (!out)
		return err_system(errno, "the listing does not fit into memory");
	t->is_script = put_script(t, wanted, &term, out);
	if (!t->is_script)
		err = put_code(t, wanted, &term, out);
	fclose(out);
	return err;
}

/* ---- from one to the next ---- */

static struct step *shown(struct tour *t)
{
	return &t->steps.items[t->steps.len - 1];
}

static void go_into(struct tour *t, const char *wanted)
{
	vec_push(&t->steps, ((struct step){ .wanted = wanted }));
}

/* "MODULE:" of the function that is shown, since most calls stay there. */
static const char *in_same_module(struct tour *t, const char *name)
{
	const char *colon = strchr(shown(t)->wanted, ':');
	size_t len = colon && colon[1] != ':' ? (size_t)(colon + 1 - shown(t)->wanted) : 0;

	return arena_printf(&t->arena, "%.*s%s", (int)len, shown(t)->wanted, name);
}

/* The call or jump of the cursor's line: into the function, or to the line that it leads to. */
static void go_along(struct tour *t, const char *text)
{
	const char *line = line_at(&t->arena, text, shown(t)->line);
	const char *name = strchr(line, '<'), *end = name ? strrchr(name, '>') : NULL;
	const char *target = strstr(line, " 0x");
	size_t to;

	if (!address_of(&t->arena, line) || !target) {
		t->message = "Enter follows calls and jumps; this is none that says where it leads";
		return;
	}
	target = arena_memdup(&t->arena, target + 3, strspn(target + 3, "0123456789abcdef"));
	to = line_of_address(&t->arena, text, target);
	if (to != SIZE_MAX) {
		shown(t)->line = to;
		return;
	}
	if (!name || !end) {
		t->message = "where it leads is not shown, as there are no samples";
		return;
	}
	name = arena_memdup(&t->arena, name + 1, (size_t)(end - name - 1));
	name = arena_memdup(&t->arena, name, strlen(name) - (strchr(name, '+') ? strlen(strrchr(name, '+')) : 0));
	go_into(t, in_same_module(t, name));
}

static void turn_source(struct tour *t, const char *text)
{
	const char *address = address_of(&t->arena, line_at(&t->arena, text, shown(t)->line));
	char *other = NULL;
	size_t line;

	t->source = !t->source;
	struct err *err = address ? list_function(t, shown(t)->wanted, &other) : NULL;

	line = other ? line_of_address(&t->arena, other, address) : SIZE_MAX;
	if (line != SIZE_MAX)
		shown(t)->line = line;
	else
		shown(t)->visited = false;
	err_free(err);
	free(other);
}

/* False: back to where all began, or the terminal is gone (*@ret_closed). */
static bool take_step(struct tour *t, const char *text, bool *ret_closed)
{
	static const int keys[] = { SCREEN_KEY_ENTER, SCREEN_KEY_RIGHT, SCREEN_KEY_BACKSPACE, SCREEN_KEY_LEFT, 's', 0 };
	struct tui_text view = {
		.title = arena_printf(&t->arena, "%s, of all samples%s", shown(t)->wanted,
				      t->is_script ? "" : ": shares of the function"),
		.text = text,
		.heading = heading_line(text),
		.chosen_by = keys,
		.status = t->message,
	};
	int key;

	view.stops = hot_lines(&t->arena, text, &view.nstops);
	if (!shown(t)->visited && view.nstops)
		shown(t)->line = view.stops[0];
	shown(t)->visited = true;
	t->message = NULL;
	key = tui_text_show(t->screen, &view, &shown(t)->line);
	*ret_closed = key == SCREEN_KEY_CLOSED;
	if (key == SCREEN_KEY_ENTER || key == SCREEN_KEY_RIGHT)
		go_along(t, text);
	else if (key == 's')
		turn_source(t, text);
	else if (key == SCREEN_KEY_BACKSPACE || key == SCREEN_KEY_LEFT)
		t->steps.len--;
	else
		t->steps.len = 0;
	return t->steps.len > 0;
}

/* A function that cannot be shown: back to the one before, which says why. Of the first it is an error. */
static struct err *go_back(struct tour *t, struct err *err)
{
	if (t->steps.len <= 1)
		return err;
	t->message = arena_strdup(&t->arena, err_message(err));
	err_free(err);
	t->steps.len--;
	return NULL;
}

struct err *tui_listing_show(struct screen *screen, struct session *s, const char *wanted,
			     bool *ret_closed)
{
	struct tour t = { .screen = screen, .session = s, .source = true };
	struct err *err = NULL;
	bool goes_on = true, closed = false;

	go_into(&t, arena_strdup(&t.arena, wanted));
	while (goes_on && !err) {
		char *text = NULL;

		err = list_function(&t, shown(&t)->wanted, &text);
		if (err)
			err = go_back(&t, err);
		else
			goes_on = take_step(&t, text, &closed);
		free(text);
	}
	if (!err)
		*ret_closed = closed;
	vec_deinit(&t.steps);
	arena_deinit(&t.arena);
	return err;
}
