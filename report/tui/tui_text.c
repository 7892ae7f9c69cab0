/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_text.c - lines, which of them is at the top, and where the cursor is.
 */
#include "report/tui/tui_text.h"

#include "formats/base/arena.h"
#include "formats/base/vec.h"

#include <stdio.h>
#include <string.h>

struct viewer {
	struct screen *screen;
	const struct tui_text *text;
	VEC(const char *) lines;
	size_t top, line; /* @line: of the cursor, or what was looked for last */
	size_t stop;      /* which of the stops comes next */
	char wanted[128]; /* what is searched for */
	char message[256];
};

static void split(struct viewer *v, char *text)
{
	while (text && *text)
		vec_push(&v->lines, strsep(&text, "\n"));
}

/* Lines of text that fit between title and status. */
static size_t page_of(const struct viewer *v)
{
	unsigned lines = screen_lines(v->screen);

	return lines > 3 ? lines - 2 : 1;
}

static bool has_cursor(const struct viewer *v)
{
	return v->text->chosen_by != NULL;
}

static void clamp(struct viewer *v)
{
	size_t page = page_of(v);
	size_t last = v->lines.len > page ? v->lines.len - page : 0;

	v->line = MIN(v->line, v->lines.len ? v->lines.len - 1 : 0);
	v->top = MIN(v->top, last);
}

/* The cursor is never under the heading that stays. */
static void follow(struct viewer *v)
{
	size_t page = page_of(v), above = v->text->heading && v->line > v->text->heading ? 1 : 0;

	clamp(v);
	if (v->line < v->top + above)
		v->top = v->line - MIN(v->line, above);
	if (v->line >= v->top + page)
		v->top = v->line - page + 1;
	clamp(v);
}

static void into_the_middle(struct viewer *v, size_t line)
{
	size_t half = page_of(v) / 2;

	v->line = line;
	v->top = line > half ? line - half : 0;
	clamp(v);
}

static const char *status_of(const struct viewer *v)
{
	if (*v->message)
		return v->message;
	if (v->text->nstops)
		return "h next hot line  Enter follow  Backspace return  s source  / search  q back";
	return "arrows and page keys scroll, / searches, n and N go on, q back";
}

static void draw(struct viewer *v)
{
	unsigned columns = screen_columns(v->screen);
	size_t page = page_of(v);

	clamp(v);
	screen_clear(v->screen);
	screen_put(v->screen, 0, 0, columns, SCREEN_BAR, v->text->title);
	for (size_t i = 0; i < page && v->top + i < v->lines.len; i++)
		screen_put(v->screen, (unsigned)i + 1, 0, columns,
			   has_cursor(v) && v->top + i == v->line ? SCREEN_CHOSEN : SCREEN_PLAIN,
			   v->lines.items[v->top + i]);
	if (v->text->heading && v->top > v->text->heading)
		screen_put(v->screen, 1, 0, columns, SCREEN_BAR, v->lines.items[v->text->heading]);
	screen_put(v->screen, screen_lines(v->screen) - 1, 0, columns, SCREEN_BAR, status_of(v));
	screen_show(v->screen);
}

/* ---- searching ---- */

/* The next line with what is wanted, or the one before, round the ends. */
static void find(struct viewer *v, bool backwards)
{
	size_t count = v->lines.len;

	for (size_t i = 1; i <= count && *v->wanted; i++) {
		size_t at = backwards ? (v->line + count - i) % count : (v->line + i) % count;

		if (!strcasestr(v->lines.items[at], v->wanted))
			continue;
		into_the_middle(v, at);
		return;
	}
	if (*v->wanted)
		snprintf(v->message, sizeof(v->message), "no line with %s", v->wanted);
}

/* False: the terminal is gone. */
static bool search(struct viewer *v)
{
	size_t len = 0;
	int key = 0;

	*v->wanted = '\0';
	while (key != SCREEN_KEY_ENTER && key != SCREEN_KEY_ESCAPE && key != SCREEN_KEY_CLOSED) {
		snprintf(v->message, sizeof(v->message), "search: %s_", v->wanted);
		draw(v);
		key = screen_key(v->screen);
		if (key == SCREEN_KEY_BACKSPACE && len)
			v->wanted[--len] = '\0';
		if (key >= ' ' && key < 127 && len + 1 < sizeof(v->wanted)) {
			v->wanted[len++] = (char)key;
			v->wanted[len] = '\0';
		}
	}
	*v->message = '\0';
	if (key == SCREEN_KEY_ENTER)
		find(v, false);
	return key != SCREEN_KEY_CLOSED;
}

/* ---- moving ---- */

static void move(struct viewer *v, long by)
{
	size_t *at = has_cursor(v) ? &v->line : &v->top;

	*at = by < 0 ? *at - MIN(*at, (size_t)-by) : *at + (size_t)by;
	if (has_cursor(v))
		follow(v);
	else
		v->line = v->top;
	clamp(v);
}

static void go_to_stop(struct viewer *v, bool first)
{
	if (!v->text->nstops)
		return;
	if (first)
		v->stop = 0;
	into_the_middle(v, v->text->stops[v->stop]);
	v->stop = (v->stop + 1) % v->text->nstops;
}

/* False: @key is none of these. */
static bool act(struct viewer *v, int key)
{
	long page = (long)page_of(v);

	switch (key) {
	case SCREEN_KEY_UP:
	case 'k':
		move(v, -1);
		return true;
	case SCREEN_KEY_DOWN:
	case 'j':
		move(v, 1);
		return true;
	case SCREEN_KEY_PAGE_UP:
		move(v, -page);
		return true;
	case SCREEN_KEY_PAGE_DOWN:
	case ' ':
		move(v, page);
		return true;
	case SCREEN_KEY_HOME:
		move(v, -(long)v->lines.len);
		return true;
	case SCREEN_KEY_END:
		move(v, (long)v->lines.len);
		return true;
	case 'h':
	case SCREEN_KEY_TAB:
		go_to_stop(v, false);
		return true;
	case 'H':
		go_to_stop(v, true);
		return true;
	case 'n':
	case 'N':
		find(v, key == 'N');
		return true;
	default:
		return false;
	}
}

static bool ends(const struct viewer *v, int key)
{
	for (const int *by = v->text->chosen_by; by && *by; by++)
		if (*by == key)
			return true;
	return key == SCREEN_KEY_CLOSED || key == 'q' || key == SCREEN_KEY_ESCAPE ||
	       (!has_cursor(v) && key == SCREEN_KEY_ENTER);
}

int tui_text_show(struct screen *screen, const struct tui_text *text, size_t *line)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct viewer v = { .screen = screen, .text = text, .stop = text->nstops > 1 };
	int key = 0;

	split(&v, arena_strdup(&arena, text->text));
	into_the_middle(&v, *line);
	snprintf(v.message, sizeof(v.message), "%s", text->status ? text->status : "");
	while (!ends(&v, key)) {
		draw(&v);
		key = screen_key(screen);
		*v.message = '\0';
		if (key == '/' && !search(&v))
			key = SCREEN_KEY_CLOSED;
		else if (!ends(&v, key) && !act(&v, key) && key > ' ' && key < 127 && key != '/')
			snprintf(v.message, sizeof(v.message), "%c is not a key here, q goes back", key);
	}
	*line = v.line;
	vec_deinit(&v.lines);
	return key;
}
