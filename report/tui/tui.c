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

#include "formats/base/err.h"
#include "formats/base/text.h"
#include "formats/profile/facts.h"
#include "report/page/flame_page.h"
#include "report/print/number.h"
#include "report/print/output.h"
#include "report/print/table.h"
#include "report/tui/browser.h"
#include "report/tui/tui_text.h"
#include "report/print/short_name.h"
#include "report/print/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- writing what is shown to a file ---- */

#define WRITE_INDENT 2

static bool ends_in(const char *path, const char *ending)
{
	size_t len = strlen(path), end = strlen(ending);

	return len > end && strcmp(path + len - end, ending) == 0;
}

static const struct table_column written_columns[] = {
	{ NULL, "depth", TABLE_RIGHT, TABLE_KEEP, true },      { "share", "share", TABLE_RIGHT, TABLE_KEEP, true },
	{ NULL, "low", TABLE_RIGHT, TABLE_KEEP, true },	       { NULL, "high", TABLE_RIGHT, TABLE_KEEP, true },
	{ "95 % range", NULL, TABLE_RIGHT, TABLE_KEEP, true }, { "samples", "samples", TABLE_RIGHT, TABLE_KEEP, true },
	{ "name", "name", TABLE_LEFT, TABLE_KEEP, false },     { "", "detail", TABLE_LEFT, TABLE_KEEP, false },
};

static void add_row(struct table *table, const struct browser_row *row, const struct profile_sum *whole)
{
	struct stats_share share = stats_share(&row->sum, whole);
	struct arena *arena = table->arena;

	table_add_row(table, 0, TABLE_PLAIN);
	table_add_format(table, "%u", row->depth);
	table_add_cell(table, number_share(arena, share.share), arena_printf(arena, "%.6f", share.share));
	table_add_cell(table, number_bound(arena, &share, share.low), NULL);
	table_add_cell(table, number_bound(arena, &share, share.high), NULL);
	table_add_cell(table, number_interval(arena, &share), NULL);
	table_add_cell(table, number_samples(arena, &row->sum), number_samples_data(arena, &row->sum));
	table_add_cell(table, arena_printf(arena, "%*s%s", (int)row->depth * WRITE_INDENT, "", row->name), row->name);
	table_add_cell(table, row->detail, NULL);
}

static void put_rows(struct browser *b, const struct profile *p, const struct profile_facts *facts, bool csv, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct profile_value_type *event = &p->types.items[browser_event(b)];
	struct profile_sum whole = browser_whole(b);
	const char *narrowed = browser_narrowed(b);
	struct terminal plain = { .utf8 = true };
	struct table table;
	size_t count;
	const struct browser_row *rows = browser_rows(b, &count);

	table_init(&table, &arena);
	table_add_columns(&table, written_columns, ARRAY_LEN(written_columns));
	for (size_t i = 0; i < count; i++)
		add_row(&table, &rows[i], &whole);
	if (csv) {
		table_print_csv(&table, out, /* with_header= */ true);
	} else {
		fprintf(out, "%s of %s: %s, %s%s%s\n", browser_table_name(browser_table(b)),
			profile_text(p, event->name), number_extent(&arena, &whole, "sample", profile_text(p, event->unit)),
			facts->input, *narrowed ? "; only " : "", narrowed);
		table_print_text(&table, &plain, out);
	}
	table_deinit(&table);
}

/*
 * All rows of @b, which shows @p, to @path: as CSV if it ends in ".csv", as a flame graph of all samples if it ends in ".html", as text
 * otherwise.
 *
 * ERR_USAGE: the file is there already.  ERR_SYSTEM: it cannot be written.
 */
static struct err *tui_write(struct browser *b, const struct profile *p, const struct profile_facts *facts, const char *path)
{
	const struct flame_data_view view = { .title = path, .by = "program", .event = browser_event(b) };
	struct output out;
	struct err *err;

	if (access(path, F_OK) == 0)
		return err_new(ERR_USAGE, "'%s' is there already", path);
	err = output_open(&out, path);
	if (err)
		return err;
	if (ends_in(path, ".html"))
		err = flame_page_write(p, facts, &view, out.stream);
	else
		put_rows(b, p, facts, ends_in(path, ".csv"), out.stream);
	if (!err)
		err = output_commit(&out);
	output_close(&out);
	return err;
}

#define FLAME_FILE   "flame.html"
#define FLAME_FILES  1000 /* names that are tried before one gives up */
#define UNFOLD_SHARE 0.005 /* of the samples: less is not unfolded by E */
#define LOOK_MS      250 /* a live view looks for news so often */
#define HOT_SHARE   0.05
#define SHARE_WIDTH 8
#define RANGE_WIDTH 11
#define COUNT_WIDTH 10
#define WIDE        60 /* columns of a screen with room for ranges, counts and details */
#define INDENT      2
#define GAP         2

static const char keys_line[] =
	"Enter unfold  a annotate  / search  l s c functions  t p d only  ? keys  q quit";
static const char live_keys_line[] =
	"x pause  D decay  S save  a annotate  / search  t p d only  ? keys  q quit";

static const char keys_text[] =
	"Up, Down, k, j      move\n"
	"PageUp, PageDown    a page; Home and End: first and last row\n"
	"Enter, Right, Left  unfold a row, or fold it; in a table to choose from: only\n"
	"                    this one from now on\n"
	"+                   unfold a row, and below it whatever has one way only\n"
	"E, C                unfold all that has 0.5 % or more; fold all\n"
	"\n"
	"l                   leaves: functions that ran themselves, with their callers\n"
	"s                   sums: functions anywhere on the stacks\n"
	"o                   sums unfold into callees, or into callers again\n"
	"c                   calls: from the root to what is called, level by level\n"
	"t, T                threads; the same with a timeline\n"
	"p, P                processes, programs\n"
	"d, L, g             modules (DSOs), source lines, cgroups\n"
	"\n"
	"z                   only stacks with this function\n"
	"Backspace           undo the last choice\n"
	"/                   only rows whose name holds a text; Escape: all\n"
	"Tab                 the next event\n"
	"\n"
	"a                   instructions of the function, the hottest in the middle\n"
	"i                   what the recording holds and how far to trust it\n"
	"m                   the last message in full\n"
	"w                   write the rows to a new file: text, .csv; .html: flame graph\n"
	"f                   write a flame graph to " FLAME_FILE ", or flame-2.html and so on\n"
	"O                   open another file\n"
	"\n"
	"x                   live: pause, go on\n"
	"D                   live: older samples count less, half every ten seconds\n"
	"S                   live: save the last moments as a trace\n"
	"\n"
	"q                   quit\n";

struct tui {
	struct tui_model *model;
	struct screen *screen;
	struct browser *browser;
	size_t chosen, top;
	char message[256], last_message[1024];
	struct arena arena; /* of one picture */
	bool closed, paused;
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

/* Is there time of its own beside what a function calls? */
static bool has_self(const struct tui *t)
{
	enum browser_table table = browser_table(t->browser);

	return table == BROWSER_TOTALS || table == BROWSER_CALLS;
}

static void put_title(struct tui *t)
{
	const struct profile *p = t->model->profile;
	const struct profile_value_type *event = &p->types.items[browser_event(t->browser)];
	struct profile_sum whole = browser_whole(t->browser);
	const char *narrowed = browser_narrowed(t->browser);
	const struct profile_facts *facts = t->model->facts;
	enum browser_table table = browser_table(t->browser);
	const char *state = t->model->state ? arena_printf(&t->arena, "%s, ", t->paused ? "paused" : t->model->state) : "";

	screen_put(t->screen, 0, 0, screen_columns(t->screen), SCREEN_BAR,
		   arena_printf(&t->arena, "%s of %s: %s%s, %s lost%s%s", browser_table_name(table),
				profile_text(p, event->name), state,
				number_extent(&t->arena, &whole, number_counted(profile_text(p, event->name)),
					      profile_text(p, event->unit)),
				number_count(&t->arena, facts->lost_by_kernel + facts->lost_by_recorder),
				*narrowed ? "; only " : "", narrowed));
	screen_put(t->screen, 1, 0, screen_columns(t->screen), SCREEN_BOLD,
		   !is_wide(t)	      ? "   share  name" :
		   has_self(t) ? "   share   95 % range      self  function" :
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
	bool callers = browser_table(t->browser) == BROWSER_TOTALS && !browser_shows_callees(t->browser);
	const char *third = !has_self(t) ? number_samples(arena, &row->sum)
			    : row->depth && callers ? "" /* a caller of the function has no time of its own here */
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
		   *t->message	     ? t->message
		   : !is_wide(t)     ? "? keys  q quit"
		   : t->model->state ? live_keys_line
				     : keys_line);
	screen_show(t->screen);
}

/* In the last line, where much of it may be cut: m shows the whole. */
static void say(struct tui *t, const char *text)
{
	snprintf(t->message, sizeof(t->message), "%s", text);
	snprintf(t->last_message, sizeof(t->last_message), "%s\n", text);
}

static void say_error(struct tui *t, struct err *err)
{
	const char *remedy = err_hint(err);

	say(t, err_message(err));
	if (remedy)
		snprintf(t->last_message, sizeof(t->last_message), "%s\n%s\n", err_message(err), remedy);
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

	if (!row || browser_table_chooses(browser_table(t->browser)))
		return;

	const char *wanted = arena_printf(&t->arena, "%s:%s", row->detail, row->name);
	struct err *err = t->model->ops->list(t->model, t->screen, wanted, &t->closed);

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
	struct err *err = name ? tui_write(t->browser, t->model->profile, t->model->facts, name)
			       : err_new(ERR_USAGE, "there are too many files like " FLAME_FILE);

	if (err)
		say_error(t, err);
	else
		say(t, arena_printf(&t->arena, "wrote %s, of all samples", name));
}

static void write_rows(struct tui *t)
{
	char path[1024];

	if (!ask(t, "write to (.csv, .html, or text): ", path, sizeof(path)) || !*path)
		return;
	struct err *err = tui_write(t->browser, t->model->profile, t->model->facts, path);

	if (err)
		say_error(t, err);
	else
		say(t, arena_printf(&t->arena, "wrote %s", path));
}

static void save(struct tui *t)
{
	char path[1024];

	if (!t->model->ops->save) {
		say(t, "only what is recorded live can be saved; w writes the rows");
		return;
	}
	if (!ask(t, "save the last moments as: ", path, sizeof(path)) || !*path)
		return;
	struct err *err = t->model->ops->save(t->model, path);

	if (err)
		say_error(t, err);
	else
		say(t, arena_printf(&t->arena, "wrote %s; look at it with: preport %s", path, path));
}

static void open_other(struct tui *t)
{
	char path[1024];

	if (t->model->state) {
		say(t, "a live view shows nothing else");
		return;
	}
	if (!ask(t, "open: ", path, sizeof(path)) || !*path)
		return;
	struct err *err = t->model->ops->open(t->model, path);

	if (err) {
		say_error(t, err);
		return;
	}
	browser_free(t->browser);
	t->browser = browser_new(t->model->profile, t->model->facts->first_type, t->model->facts->recorder_pid);
	t->chosen = t->top = 0;
	say(t, arena_printf(&t->arena, "this is %s", path));
}

static void show_text(struct tui *t, const char *title, const char *text)
{
	size_t line = 0;

	t->closed = tui_text_show(t->screen, &(struct tui_text){ .title = title, .text = text }, &line) == SCREEN_KEY_CLOSED;
}

static void show_info(struct tui *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct err *err = out ? t->model->ops->info(t->model, out) : err_system(errno, "no memory for it");

	if (out)
		fclose(out);
	if (err)
		say_error(t, err);
	else
		show_text(t, "what the recording holds and how far to trust it", text);
	free(text);
}

static void enter(struct tui *t)
{
	if (!chosen_row(t))
		return;
	if (!browser_table_chooses(browser_table(t->browser))) {
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
	if (browser_table_chooses(browser_table(t->browser)))
		show_table(t, BROWSER_LEAVES);
	else if (!browser_widen(t->browser))
		say(t, "all samples are shown");
	t->chosen = t->top = 0;
}

static void zoom(struct tui *t)
{
	if (!chosen_row(t))
		return;
	if (!browser_zoom(t->browser, t->chosen))
		say(t, "z is for functions; in this table Enter chooses");
	else
		t->chosen = t->top = 0;
}

static void turn_round(struct tui *t)
{
	browser_turn_round(t->browser);
	say(t, browser_table(t->browser) != BROWSER_TOTALS ? "o turns sums (s) round" :
	       browser_shows_callees(t->browser)	   ? "sums unfold into what they call" :
							     "sums unfold into what calls them");
}

static void pause_live(struct tui *t)
{
	t->paused = !t->paused && t->model->state;
	if (!t->model->state)
		say(t, "x pauses a live view, which this is not");
}

static void turn_decay(struct tui *t)
{
	if (!t->model->ops->turn_decay) {
		say(t, "D is for a live view, which this is not");
		return;
	}
	t->model->ops->turn_decay(t->model);
	browser_look_at(t->browser, t->model->profile, browser_event(t->browser));
}

static const struct {
	int key;
	enum browser_table table;
} tables_by_key[] = {
	{ 'l', BROWSER_LEAVES },  { 's', BROWSER_TOTALS },   { 'c', BROWSER_CALLS },	{ 't', BROWSER_THREADS },
	{ 'T', BROWSER_TIMELINE }, { 'p', BROWSER_PROCESSES }, { 'P', BROWSER_PROGRAMS }, { 'd', BROWSER_MODULES },
	{ 'L', BROWSER_LINES },	  { 'g', BROWSER_CGROUPS },
};

static bool show_table_of(struct tui *t, int key)
{
	for (size_t i = 0; i < ARRAY_LEN(tables_by_key); i++) {
		if (tables_by_key[i].key != key)
			continue;
		show_table(t, tables_by_key[i].table);
		return true;
	}
	return false;
}

/* Keys that unfold, narrow and choose; false if @key is none. */
static bool look_around(struct tui *t, int key)
{
	switch (key) {
	case SCREEN_KEY_RIGHT:
		if (chosen_row(t) && chosen_row(t)->unfolded)
			break;
		/* fallthrough */
	case SCREEN_KEY_ENTER:
	case ' ':
	case 'e':
		enter(t);
		break;
	case SCREEN_KEY_LEFT:
		fold(t);
		break;
	case '+':
		if (chosen_row(t))
			browser_unfold_chain(t->browser, t->chosen);
		break;
	case 'E':
		browser_unfold_all(t->browser, UNFOLD_SHARE);
		break;
	case 'C':
		browser_fold_all(t->browser);
		break;
	case 'o':
		turn_round(t);
		break;
	case 'z':
		zoom(t);
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
	case '/':
		search(t);
		break;
	default:
		return false;
	}
	return true;
}

static void act(struct tui *t, int key)
{
	if (move(t, key) || show_table_of(t, key) || look_around(t, key))
		return;
	switch (key) {
	case 'a':
		annotate(t);
		break;
	case 'f':
		write_flame_graph(t);
		break;
	case 'w':
		write_rows(t);
		break;
	case 'i':
		show_info(t);
		break;
	case 'm':
		show_text(t, "the last message", *t->last_message ? t->last_message : "there was none yet\n");
		break;
	case 'O':
		open_other(t);
		break;
	case 'x':
		pause_live(t);
		break;
	case 'D':
		turn_decay(t);
		break;
	case 'S':
		save(t);
		break;
	case '?':
		show_text(t, "keys", keys_text);
		break;
	case SCREEN_KEY_CLOSED:
		t->closed = true;
		break;
	default:
		if (key > ' ' && key < 127 && key != 'q')
			say(t, arena_printf(&t->arena, "%c is not a key here, ? shows the keys", key));
		break;
	}
}

/* The next key; a live view is kept up to date meanwhile. */
static int wait_for_key(struct tui *t)
{
	int key = SCREEN_KEY_NONE;

	if (!t->model->ops->tick)
		return screen_key(t->screen);
	while (key == SCREEN_KEY_NONE) {
		key = screen_key_within(t->screen, LOOK_MS);
		if (key != SCREEN_KEY_NONE || t->paused || !t->model->ops->tick(t->model))
			continue;
		browser_look_at(t->browser, t->model->profile, browser_event(t->browser));
		draw(t);
	}
	return key;
}

struct err *tui_run(struct tui_model *model, struct screen *screen)
{
	struct tui t = { .model = model, .screen = screen };
	int key = 0;

	t.browser = browser_new(model->profile, model->facts->first_type, model->facts->recorder_pid);
	while (!t.closed && key != 'q') {
		draw(&t);
		key = wait_for_key(&t);
		*t.message = 0;
		act(&t, key);
	}
	browser_free(t.browser);
	arena_deinit(&t.arena);
	return NULL;
}
