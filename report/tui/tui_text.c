/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui_text.c - lines, and which of them is at the top.
 */
#include "report/tui/tui_text.h"

#include "formats/base/arena.h"
#include "formats/base/vec.h"

#include <string.h>

struct viewer {
	struct screen *screen;
	const struct tui_text *text;
	VEC(const char *) lines;
	size_t top;
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

static void clamp(struct viewer *v)
{
	size_t page = page_of(v);
	size_t last = v->lines.len > page ? v->lines.len - page : 0;

	v->top = MIN(v->top, last);
}

static void draw(struct viewer *v)
{
	unsigned columns = screen_columns(v->screen);
	size_t page = page_of(v);

	clamp(v);
	screen_clear(v->screen);
	screen_put(v->screen, 0, 0, columns, SCREEN_BAR, v->text->title);
	for (size_t i = 0; i < page && v->top + i < v->lines.len; i++)
		screen_put(v->screen, (unsigned)i + 1, 0, columns, SCREEN_PLAIN,
			   v->lines.items[v->top + i]);
	if (v->text->heading && v->top > v->text->heading)
		screen_put(v->screen, 1, 0, columns, SCREEN_BAR, v->lines.items[v->text->heading]);
	screen_put(v->screen, screen_lines(v->screen) - 1, 0, columns, SCREEN_BAR,
		   "arrows and page keys scroll, h the middle again, q back");
	screen_show(v->screen);
}

static void scroll(struct viewer *v, int key, size_t middle)
{
	size_t page = page_of(v), half = page / 2;

	switch (key) {
	case SCREEN_KEY_UP:
	case 'k':
		v->top -= v->top > 0;
		break;
	case SCREEN_KEY_DOWN:
	case 'j':
		v->top++;
		break;
	case SCREEN_KEY_PAGE_UP:
		v->top -= MIN(v->top, page);
		break;
	case SCREEN_KEY_PAGE_DOWN:
	case ' ':
		v->top += page;
		break;
	case SCREEN_KEY_HOME:
		v->top = 0;
		break;
	case SCREEN_KEY_END:
		v->top = v->lines.len;
		break;
	case 'h':
		v->top = middle > half ? middle - half : 0;
		break;
	default:
		break;
	}
	clamp(v);
}

bool tui_text_show(struct screen *screen, const struct tui_text *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct viewer v = { .screen = screen, .text = text };
	int key = 'h';

	split(&v, arena_strdup(&arena, text->text));
	while (key != SCREEN_KEY_CLOSED && key != 'q' && key != SCREEN_KEY_ESCAPE &&
	       key != SCREEN_KEY_ENTER) {
		scroll(&v, key, text->middle);
		draw(&v);
		key = screen_key(screen);
	}
	vec_deinit(&v.lines);
	return key != SCREEN_KEY_CLOSED;
}
