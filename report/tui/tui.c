/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tui.c - draws the browser's rows and turns keys into what they mean.
 *
 *	line 0        the recording, the event, how the samples are narrowed
 *	line 1        the columns
 *	2 … last - 1  rows
 *	last          what happened last, or the keys
 */
#include "report/tui/tui.h"

#include "formats/base/text.h"
#include "report/tui/browser.h"
#include "report/page/flame_page.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "report/view/short_name.h"
#include "report/view/stats.h"
#include "report/tui/tui_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLAME_FILE  "flame.html"
#define FLAME_FILES 1000 /* names that are tried before one gives up */
#define HOT_SHARE   0.05
#define SHARE_WIDTH 8
#define RANGE_WIDTH 11
#define COUNT_WIDTH 10
#define WIDE        60 /* columns of a screen with room for ranges, counts and details */
#define INDENT      2
#define GAP         2

static const char keys_line[] =
	"Enter unfold  a annotate  / search  l leaves  s sums  t p d only  ? keys  q quit";

static const char keys_text[] =
	"Up, Down, k, j      move\n"
	"PageUp, PageDown    a page; Home and End: first and last row\n"
	"Enter, Right, Left  unfold a row into its callers, or fold it; in a table of\n"
	"                    threads, processes or modules: only this one from now on\n"
	"l                   leaves: functions that ran themselves\n"
	"s                   sums: functions anywhere on the stacks\n"
	"t, p, d             choose a thread, a process, a module\n"
	"Backspace           undo the last choice\n"
	"/                   only rows whose name holds a text; Escape: all\n"
	"Tab                 the next event\n"
	"a                   instructions of the function, the hottest in the middle\n"
	"f                   write a flame graph to " FLAME_FILE ", or flame-2.html and so on\n"
	"q                   quit\n";

struct tui {
	const struct tui_input *in;
	struct screen *screen;
	struct browser *browser;
	size_t chosen, top;
	char message[256];
	struct arena arena; /* of one picture */
	bool closed;
};

/* ---- drawing ---- */

static unsigned page_of(const struct tui *t)
{
	unsigned lines = screen_lines(t->screen);

	return lines > 4 ? lines - 3 : 1;
}

static bool is_wide(const struct tui *t)
{
	return screen_columns(t->screen) >= WIDE;
}

/* The column where names begin. */
static unsigned names_at(const struct tui *t)
{
	return SHARE_WIDTH + GAP + (is_wide(t) ? RANGE_WIDTH + COUNT_WIDTH + GAP : 0);
}

static void put_title(struct tui *t)
{
	static const char *const tables[] = { "leaves", "sums", "threads", "modules", "processes" };
	const struct profile *p = t->in->profile;
	const struct profile_value_type *event = &p->types.items[browser_event(t->browser)];
	struct profile_sum whole = browser_whole(t->browser);
	const char *narrowed = browser_narrowed(t->browser);
	const struct profile_facts *facts = t->in->facts;

	screen_put(t->screen, 0, 0, screen_columns(t->screen), SCREEN_BAR,
		   arena_printf(&t->arena, "%s of %s: %s, %s lost%s%s",
				tables[browser_table(t->browser)], profile_text(p, event->name),
				number_of(&t->arena, whole.count, number_counted(profile_text(p, event->name))),
				number_count(&t->arena, facts->lost_by_kernel + facts->lost_by_recorder),
				*narrowed ? "; only " : "", narrowed));
	screen_put(t->screen, 1, 0, screen_columns(t->screen), SCREEN_BOLD,
		   !is_wide(t)						 ? "   share  name" :
		   browser_table(t->browser) == BROWSER_TOTALS ?
			   "   share   95 % range      self  function" :
			   "   share   95 % range   samples  name");
}

static enum screen_style style_of(const struct browser_row *row, const struct stats_share *share)
{
	if (row->unnamed)
		return SCREEN_DOUBTFUL;
	if (row->depth)
		return SCREEN_PLAIN;
	return share->low > HOT_SHARE ? SCREEN_BOLD : SCREEN_PLAIN;
}

static const char *row_text(struct tui *t, const struct browser_row *row,
			    const struct stats_share *share, const struct profile_sum *whole)
{
	struct arena *arena = &t->arena;
	bool totals = browser_table(t->browser) == BROWSER_TOTALS;
	const char *third = !totals     ? number_count(arena, row->sum.count)
			    : row->depth ? "" /* a caller of the function has no time of its own here */
					 : number_share(arena, stats_share(&row->self, whole).share);

	if (!is_wide(t))
		return arena_printf(arena, "%*s", SHARE_WIDTH, number_share(arena, share->share));
	return arena_printf(arena, "%*s  %*s%*s", SHARE_WIDTH, number_share(arena, share->share),
			    RANGE_WIDTH, number_interval(arena, share), COUNT_WIDTH, third);
}

/* Sign and name, as far as @columns go. */
static const char *name_text(struct tui *t, const struct browser_row *row, unsigned columns)
{
	const char *sign = !row->unfolds ? "  " : row->unfolded ? "- " : "+ ";
	unsigned indent = MIN(row->depth * INDENT, columns / 3), lead = indent + INDENT;
	const char *name = short_name(&t->arena, text_escape(&t->arena, row->name),
				      columns > lead ? columns - lead : 0,
				      screen_is_utf8(t->screen));

	return arena_printf(&t->arena, "%*s%s%s", (int)indent, "", sign, name);
}

/* The columns that names of @rows take, so that the details stand below each other and have up to a third. */
static unsigned names_width(struct tui *t, const struct browser_row *rows, size_t count)
{
	unsigned columns = screen_columns(t->screen);
	unsigned room = columns > names_at(t) ? columns - names_at(t) : 0;
	size_t details = 0, names = 0;

	for (size_t i = 0; i < count && is_wide(t); i++)
		details = MAX(details, text_width(text_escape(&t->arena, rows[i].detail)) + GAP);
	room -= (unsigned)MIN(details, room / 3);
	for (size_t i = 0; i < count; i++)
		names = MAX(names, text_width(name_text(t, &rows[i], room)));
	return (unsigned)MIN(names, room);
}

static void put_row(struct tui *t, unsigned line, const struct browser_row *row, unsigned width,
		    bool chosen)
{
	unsigned columns = screen_columns(t->screen), names = names_at(t);
	unsigned detail = names + width + GAP;
	struct profile_sum whole = browser_whole(t->browser);
	struct stats_share share = stats_share(&row->sum, &whole);
	enum screen_style style = chosen ? SCREEN_CHOSEN : style_of(row, &share);

	screen_put(t->screen, line, 0, columns, chosen ? SCREEN_CHOSEN : SCREEN_PLAIN, "");
	screen_put(t->screen, line, 0, names, style, row_text(t, row, &share, &whole));
	screen_put(t->screen, line, names, width, style, name_text(t, row, width));
	if (is_wide(t) && detail < columns)
		screen_put(t->screen, line, detail, columns - detail,
			   chosen ? SCREEN_CHOSEN : SCREEN_DIM, row->detail);
}

/* Keep the chosen row in the picture. */
static void follow(struct tui *t, size_t count)
{
	unsigned page = page_of(t);

	t->chosen = MIN(t->chosen, count ? count - 1 : 0);
	if (t->chosen < t->top)
		t->top = t->chosen;
	if (t->chosen >= t->top + page)
		t->top = t->chosen - page + 1;
}

static void draw(struct tui *t)
{
	size_t count;
	const struct browser_row *rows = browser_rows(t->browser, &count);
	unsigned page = page_of(t);

	follow(t, count);
	arena_reset(&t->arena);
	screen_clear(t->screen);
	put_title(t);

	size_t shown = MIN(page, count - MIN(t->top, count));
	unsigned width = names_width(t, rows + t->top, shown);

	for (unsigned i = 0; i < shown; i++)
		put_row(t, i + 2, &rows[t->top + i], width, t->top + i == t->chosen);
	if (!count)
		screen_put(t->screen, 2, 2, screen_columns(t->screen), SCREEN_DIM, "no row");
	screen_put(t->screen, screen_lines(t->screen) - 1, 0, screen_columns(t->screen), SCREEN_BAR,
		   *t->message ? t->message : is_wide(t) ? keys_line : "? keys  q quit");
	screen_show(t->screen);
}

static void say(struct tui *t, const char *text)
{
	snprintf(t->message, sizeof(t->message), "%s", text);
}

static void say_error(struct tui *t, struct err *err)
{
	say(t, err_message(err));
	err_free(err);
}

/* ---- what keys do ---- */

static const struct browser_row *chosen_row(struct tui *t)
{
	size_t count;
	const struct browser_row *rows = browser_rows(t->browser, &count);

	return t->chosen < count ? &rows[t->chosen] : NULL;
}

static void show_table(struct tui *t, enum browser_table table)
{
	browser_show(t->browser, table);
	t->chosen = t->top = 0;
}

/* Asked for in the status line; false if it was called off. */
static bool ask(struct tui *t, const char *what, char *answer, size_t room)
{
	size_t len = 0;
	int key = 0;

	*answer = 0;
	while (key != SCREEN_KEY_ENTER) {
		snprintf(t->message, sizeof(t->message), "%s%s_", what, answer);
		draw(t);
		key = screen_key(t->screen);
		if (key == SCREEN_KEY_ESCAPE || key == SCREEN_KEY_CLOSED) {
			t->closed = key == SCREEN_KEY_CLOSED;
			*t->message = 0;
			return false;
		}
		if (key == SCREEN_KEY_BACKSPACE && len)
			answer[--len] = 0;
		if (key >= ' ' && key < 127 && len + 1 < room) {
			answer[len++] = (char)key;
			answer[len] = 0;
		}
	}
	*t->message = 0;
	return true;
}

static void search(struct tui *t)
{
	char text[128];

	if (!ask(t, "only names with: ", text, sizeof(text)))
		*text = 0;
	browser_search(t->browser, text);
	t->chosen = t->top = 0;
}

static void annotate(struct tui *t)
{
	const struct browser_row *row = chosen_row(t);

	if (!row || browser_table(t->browser) > BROWSER_TOTALS)
		return;

	const char *wanted = arena_printf(&t->arena, "%s:%s", row->detail, row->name);
	struct err *err = t->in->list(t->in->context, t->screen, wanted, &t->closed);

	if (err)
		say_error(t, err);
}

/* A name that no file has: what is there is never written over unasked. */
static const char *free_name(struct tui *t)
{
	const char *name = FLAME_FILE;

	for (unsigned i = 2; access(name, F_OK) == 0 && i < FLAME_FILES; i++)
		name = arena_printf(&t->arena, "flame-%u.html", i);
	return access(name, F_OK) == 0 ? NULL : name;
}

static void write_flame_graph(struct tui *t)
{
	const char *name = free_name(t);
	const struct flame_data_view view = {
		.title = FLAME_FILE,
		.by = "program",
		.event = browser_event(t->browser),
	};
	struct output out;
	struct err *err = name ? output_open(&out, name)
			       : err_new(ERR_USAGE, "there are too many files like " FLAME_FILE);

	if (!err) {
		err = flame_page_write(t->in->profile, t->in->facts, &view, out.stream);
		if (!err)
			err = output_commit(&out);
		output_close(&out);
	}
	if (err)
		say_error(t, err);
	else
		say(t, arena_printf(&t->arena, "wrote %s, of all samples", name));
}

static void enter(struct tui *t)
{
	if (!chosen_row(t))
		return;
	if (browser_table(t->browser) <= BROWSER_TOTALS) {
		browser_toggle(t->browser, t->chosen);
		return;
	}
	browser_narrow(t->browser, t->chosen);
	t->chosen = t->top = 0;
}

/* Left folds what is unfolded, and goes to the row above that it belongs to otherwise. */
static void fold(struct tui *t)
{
	size_t count;
	const struct browser_row *rows = browser_rows(t->browser, &count);

	if (t->chosen >= count)
		return;
	if (rows[t->chosen].unfolded) {
		browser_toggle(t->browser, t->chosen);
		return;
	}
	unsigned depth = rows[t->chosen].depth;

	while (depth && t->chosen && rows[t->chosen].depth >= depth)
		t->chosen--;
}

static bool move(struct tui *t, int key)
{
	unsigned page = page_of(t);

	switch (key) {
	case SCREEN_KEY_UP:
	case 'k':
		t->chosen -= t->chosen > 0;
		return true;
	case SCREEN_KEY_DOWN:
	case 'j':
		t->chosen++;
		return true;
	case SCREEN_KEY_PAGE_UP:
		t->chosen -= MIN(t->chosen, (size_t)page);
		return true;
	case SCREEN_KEY_PAGE_DOWN:
		t->chosen += page;
		return true;
	case SCREEN_KEY_HOME:
		t->chosen = 0;
		return true;
	case SCREEN_KEY_END:
		t->chosen = SIZE_MAX / 2;
		return true;
	default:
		return false;
	}
}

static void widen(struct tui *t)
{
	if (browser_table(t->browser) > BROWSER_TOTALS)
		show_table(t, BROWSER_LEAVES);
	else if (!browser_widen(t->browser))
		say(t, "all samples are shown");
	t->chosen = t->top = 0;
}

static void act(struct tui *t, int key)
{
	if (move(t, key))
		return;
	switch (key) {
	case SCREEN_KEY_RIGHT:
		if (chosen_row(t) && chosen_row(t)->unfolded)
			break;
		/* fallthrough */
	case SCREEN_KEY_ENTER:
	case ' ':
		enter(t);
		break;
	case SCREEN_KEY_LEFT:
		fold(t);
		break;
	case SCREEN_KEY_TAB:
		browser_next_event(t->browser);
		break;
	case SCREEN_KEY_BACKSPACE:
		widen(t);
		break;
	case SCREEN_KEY_ESCAPE:
		browser_search(t->browser, "");
		break;
	case 'l':
		show_table(t, BROWSER_LEAVES);
		break;
	case 's':
		show_table(t, BROWSER_TOTALS);
		break;
	case 't':
		show_table(t, BROWSER_THREADS);
		break;
	case 'p':
		show_table(t, BROWSER_PROCESSES);
		break;
	case 'd':
		show_table(t, BROWSER_MODULES);
		break;
	case '/':
		search(t);
		break;
	case 'a':
		annotate(t);
		break;
	case 'f':
		write_flame_graph(t);
		break;
	case '?':
		t->closed = !tui_text_show(t->screen,
					    &(struct tui_text){ .title = "keys", .text = keys_text });
		break;
	case SCREEN_KEY_CLOSED:
		t->closed = true;
		break;
	default:
		if (key > ' ' && key < 127)
			say(t, "? shows the keys");
		break;
	}
}

struct err *tui_run(const struct tui_input *input, struct screen *screen)
{
	struct tui t = { .in = input, .screen = screen };
	int key = 0;

	t.browser = browser_new(input->profile, input->facts->first_type, input->facts->recorder_pid);
	while (!t.closed && key != 'q') {
		draw(&t);
		key = screen_key(screen);
		*t.message = 0;
		act(&t, key);
	}
	browser_free(t.browser);
	arena_deinit(&t.arena);
	return NULL;
}
