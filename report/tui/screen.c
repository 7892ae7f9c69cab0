/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.c - ncurses, with wide characters.
 */
#include "report/tui/screen.h"

#include "formats/base/arena.h"
#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its names are too common for ours: "struct screen" above all. */
#define screen curses_screen
#include <curses.h>
#undef screen

#define ESCAPE_WAIT_MS 50 /* how long after ESC the rest of a key's sequence may take */
#define LOOK_MS	       1000 /* between looks for a new size */
#define COLOUR_DOUBT   1  /* number of the colour pair */

struct screen {
	SCREEN *terminal;
	bool utf8;
	bool colour;
};

static const struct {
	int curses, key;
} keys[] = {
	{ KEY_ENTER, SCREEN_KEY_ENTER },
	{ KEY_BACKSPACE, SCREEN_KEY_BACKSPACE },
	{ KEY_UP, SCREEN_KEY_UP },
	{ KEY_DOWN, SCREEN_KEY_DOWN },
	{ KEY_LEFT, SCREEN_KEY_LEFT },
	{ KEY_RIGHT, SCREEN_KEY_RIGHT },
	{ KEY_PPAGE, SCREEN_KEY_PAGE_UP },
	{ KEY_NPAGE, SCREEN_KEY_PAGE_DOWN },
	{ KEY_HOME, SCREEN_KEY_HOME },
	{ KEY_END, SCREEN_KEY_END },
	{ KEY_RESIZE, SCREEN_KEY_RESIZE },
};

/* Both ways in which terminals write these keys, whatever the one that terminfo knows. */
static const struct {
	const char *text;
	int key;
} sequences[] = {
	{ "\033[A", KEY_UP },	  { "\033[B", KEY_DOWN },  { "\033[C", KEY_RIGHT }, { "\033[D", KEY_LEFT },
	{ "\033[H", KEY_HOME },  { "\033[F", KEY_END },   { "\033OA", KEY_UP },    { "\033OB", KEY_DOWN },
	{ "\033OC", KEY_RIGHT }, { "\033OD", KEY_LEFT },  { "\033OH", KEY_HOME },  { "\033OF", KEY_END },
	{ "\033[1~", KEY_HOME }, { "\033[4~", KEY_END },
};

struct err *screen_new(struct screen **ret)
{
	const char *no_colour = getenv("NO_COLOR") ? getenv("NO_COLOR") : "";
	struct screen *s;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_new(ERR_USAGE, "standard input and output must be a terminal");
	s = memory_zeroed(1, sizeof(*s));
	s->terminal = newterm(NULL, stdout, stdin);
	if (!s->terminal) {
		free(s);
		return err_remedy(err_new(ERR_USAGE, "the terminal's type is not known"),
				  "set TERM to what it is, xterm for example");
	}
	s->utf8 = MB_CUR_MAX > 1;
	set_term(s->terminal);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	for (size_t i = 0; i < ARRAY_LEN(sequences); i++)
		define_key(sequences[i].text, sequences[i].key);
	set_escdelay(ESCAPE_WAIT_MS);
	curs_set(0);
	s->colour = has_colors() && !*no_colour;
	if (s->colour) {
		start_color();
		use_default_colors();
		init_pair(COLOUR_DOUBT, COLOR_YELLOW, -1);
	}
	*ret = s;
	return NULL;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	endwin();
	delscreen(s->terminal);
	free(s);
}

unsigned screen_columns(const struct screen *s)
{
	(void)s;
	return (unsigned)getmaxx(stdscr);
}

unsigned screen_lines(const struct screen *s)
{
	(void)s;
	return (unsigned)getmaxy(stdscr);
}

bool screen_is_utf8(const struct screen *s)
{
	return s->utf8;
}

void screen_clear(struct screen *s)
{
	(void)s;
	erase();
}

static attr_t attributes_of(const struct screen *s, enum screen_style style)
{
	static const attr_t attributes[] = {
		[SCREEN_PLAIN] = A_NORMAL, [SCREEN_BOLD] = A_BOLD,   [SCREEN_DIM] = A_DIM,
		[SCREEN_DOUBTFUL] = A_NORMAL, [SCREEN_BAR] = A_REVERSE, [SCREEN_CHOSEN] = A_REVERSE,
	};

	if (style == SCREEN_DOUBTFUL && s->colour)
		return (attr_t)COLOR_PAIR(COLOUR_DOUBT);
	return attributes[style];
}

/* How many bytes of @text fit into @width columns, and how many columns they take. */
static size_t fit(struct arena *arena, const char *text, size_t width, size_t *ret_width)
{
	size_t len = 0;

	*ret_width = 0;
	while (text[len]) {
		size_t step = MAX(text_char_len(text + len), (size_t)1);
		size_t wide = text_width(arena_memdup(arena, text + len, step));

		if (*ret_width + wide > width)
			break;
		*ret_width += wide;
		len += step;
	}
	return len;
}

void screen_put(struct screen *s, unsigned line, unsigned column, unsigned width,
		enum screen_style style, const char *text)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *mark = s->utf8 ? "\xe2\x80\xa6" : "~";
	unsigned columns = screen_columns(s);
	size_t shown, len;

	if (line >= screen_lines(s) || column >= columns || !width)
		return;
	width = MIN(width, columns - column);
	text = text_escape(&arena, text);
	if (text_width(text) > width)
		text = arena_printf(&arena, "%.*s%s", (int)fit(&arena, text, width - 1, &shown),
				    text, mark);
	len = fit(&arena, text, width, &shown);
	attrset(attributes_of(s, style));
	mvaddnstr((int)line, (int)column, text, (int)len);
	for (; style >= SCREEN_BAR && shown < width; shown++)
		addch(' ');
	attrset(A_NORMAL);
}

void screen_show(struct screen *s)
{
	(void)s;
	refresh();
}

static int next_key(void)
{
	wint_t wide;
	int code = get_wch(&wide);

	if (code == ERR)
		return SCREEN_KEY_NONE;
	for (size_t i = 0; code == KEY_CODE_YES && i < ARRAY_LEN(keys); i++) {
		if ((int)wide == keys[i].curses)
			return keys[i].key;
	}
	if (code == KEY_CODE_YES)
		return SCREEN_KEY_OTHER;
	switch (wide) {
	case '\r':
	case '\n':
		return SCREEN_KEY_ENTER;
	case '\t':
		return SCREEN_KEY_TAB;
	case 27:
		return SCREEN_KEY_ESCAPE;
	case 8:
	case 127:
		return SCREEN_KEY_BACKSPACE;
	default:
		return (int)wide;
	}
}

/* A terminal that is gone is readable, and has no key: without looking one would ask it for ever. */
int screen_key_within(struct screen *s, unsigned wait_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	(void)s;
	timeout((int)wait_ms);

	int key = next_key();

	if (key == SCREEN_KEY_NONE && poll(&in, 1, 0) > 0 && in.revents & (POLLHUP | POLLERR | POLLNVAL))
		return SCREEN_KEY_CLOSED;
	return key;
}

/*
 * Curses looks for a new size before it waits: one that comes between the two is seen at the next look. What comes back before its time
 * without a key never will have one.
 */
int screen_key(struct screen *s)
{
	uint64_t begin;
	int key;

	do {
		begin = clock_now_ns(CLOCK_MONOTONIC);
		key = screen_key_within(s, LOOK_MS);
	} while (key == SCREEN_KEY_NONE && clock_now_ns(CLOCK_MONOTONIC) - begin > LOOK_MS * 500000ULL);
	return key == SCREEN_KEY_NONE ? SCREEN_KEY_CLOSED : key;
}
