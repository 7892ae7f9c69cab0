/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tui.c - look around in a recording on the terminal.
 */
#include "formats/base/memory.h"
#include "report/code/annotate.h"
#include "report/code/listing_printer.h"
#include "report/code/script_lines.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/load/unwind_quality.h"
#include "report/info/info.h"
#include "report/tui/live.h"
#include "report/tui/screen.h"
#include "report/tui/tui.h"
#include "report/tui/tui_text.h"
#include "report/view/trust.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the instructions of a function on the screen, the hottest in the middle ---- */

/*
 * The text that preport annotate prints, of instructions or of a script's lines, as wide as the screen, handed to the
 * viewer of texts. What lines mean is read from that text again: its shares, and where a call or jump leads ("callq
 * 0x1129 <work>").
 */

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
	return COMPARE(ha->line, hb->line);
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

static struct step *current(struct tour *t)
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
	const char *colon = strchr(current(t)->wanted, ':');
	size_t len = colon && colon[1] != ':' ? (size_t)(colon + 1 - current(t)->wanted) : 0;

	return arena_printf(&t->arena, "%.*s%s", (int)len, current(t)->wanted, name);
}

/* The call or jump of the cursor's line: into the function, or to the line that it leads to. */
static void go_along(struct tour *t, const char *text)
{
	const char *line = line_at(&t->arena, text, current(t)->line);
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
		current(t)->line = to;
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
	const char *address = address_of(&t->arena, line_at(&t->arena, text, current(t)->line));
	char *other = NULL;
	size_t line;

	t->source = !t->source;
	struct err *err = address ? list_function(t, current(t)->wanted, &other) : NULL;

	line = other ? line_of_address(&t->arena, other, address) : SIZE_MAX;
	if (line != SIZE_MAX)
		current(t)->line = line;
	else
		current(t)->visited = false;
	err_free(err);
	free(other);
}

/* False: back to where all began, or the terminal is gone (*@ret_closed). */
static bool take_step(struct tour *t, const char *text, bool *ret_closed)
{
	static const int keys[] = { SCREEN_KEY_ENTER, SCREEN_KEY_RIGHT, SCREEN_KEY_BACKSPACE, SCREEN_KEY_LEFT, 's', 0 };
	struct tui_text view = {
		.title = arena_printf(&t->arena, "%s, of all samples%s", current(t)->wanted,
				      t->is_script ? "" : ": shares of the function"),
		.text = text,
		.heading = heading_line(text),
		.chosen_by = keys,
		.status = t->message,
	};
	int key;

	view.stops = hot_lines(&t->arena, text, &view.nstops);
	if (!current(t)->visited && view.nstops)
		current(t)->line = view.stops[0];
	current(t)->visited = true;
	t->message = NULL;
	key = tui_text_show(t->screen, &view, &current(t)->line);
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

/*
 * Show the function that annotate would find as @wanted until a key closes the listing. *@ret_closed: the terminal is gone;
 * untouched on failure. Errors are those of annotate_find() and annotate_list().
 */
static MUST_USE struct err *tui_listing_show(struct screen *screen, struct session *s, const char *wanted,
			     bool *ret_closed)
{
	struct tour t = { .screen = screen, .session = s, .source = true };
	struct err *err = NULL;
	bool goes_on = true, closed = false;

	go_into(&t, arena_strdup(&t.arena, wanted));
	while (goes_on && !err) {
		char *text = NULL;

		err = list_function(&t, current(&t)->wanted, &text);
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

/* ---- the command ---- */

#define LIVE_WAIT_MS   100
#define LIVE_SAVED     "/.joined" /* in the folder; the recorder's own files begin otherwise */

struct tui_args {
	struct session_args session;
	struct filter filter;
	const char *live; /* a folder, NULL: one file */
};

static const struct opt tui_opts[] = {
	OPT_STR(struct tui_args, live, "live", 0, "FOLDER",
		"the newest files of a running recording (precord top)"),
	OPT_GROUP(struct tui_args, filter, filter_opts),
	OPT_GROUP(struct tui_args, session, session_opts),
	OPT_END,
};

/* A file that is looked at; those before stay, as long as the browser may refer to them. */
struct look {
	struct session_args args;
	struct session session;
	struct filter filter;
	char *path; /* on the heap */
};

struct looks {
	const struct tui_args *args;
	VEC(struct look *) list; /* the last one is shown */
	struct live *live;       /* NULL: files */
};

static void look_free(struct look *look)
{
	session_close(&look->session);
	filter_unbind(&look->filter);
	free(look->path);
	free(look);
}

static struct err *look_new(const struct tui_args *args, const char *path, struct look **ret)
{
	struct look *look = memory_zeroed(1, sizeof(*look));
	struct err *err;

	look->path = memory_strdup(path);
	look->args = args->session;
	look->args.input = look->path;
	look->filter = args->filter;
	look->filter.with_wall = true;
	err = session_open(&look->session, &look->args);
	look->session.keep_times = true; /* for timelines and the flame graph */
	if (!err)
		err = session_load(&look->session, &look->filter);
	if (err) {
		look_free(look);
		return err;
	}
	*ret = look;
	return NULL;
}

static void show_look(struct tui_model *model, struct look *look)
{
	struct looks *looks = model->context;

	vec_push(&looks->list, look);
	model->profile = look->session.profile;
	model->facts = &look->session.facts;
}

static struct look *shown(const struct tui_model *model)
{
	const struct looks *looks = model->context;

	return looks->list.items[looks->list.len - 1];
}

static struct err *list(struct tui_model *model, struct screen *screen, const char *wanted, bool *ret_closed)
{
	return tui_listing_show(screen, &shown(model)->session, wanted, ret_closed);
}

static struct err *print_info(const struct tui_args *args, const char *path, FILE *out)
{
	CLEANUP(unwind_quality_deinit) struct unwind_quality quality = { 0 };
	struct session_args session = args->session;
	struct filter filter = args->filter;
	struct session s = { 0 };
	struct err *err;

	session.input = path;
	session.progress = false;
	err = session_open(&s, &session);
	if (!err && s.imported)
		err = session_load(&s, &filter);
	else if (!err)
		err = unwind_quality_count(&quality, &s, &filter);
	if (!err && s.imported)
		info_print_profile(s.profile, &s.facts, TABLE_TEXT, out);
	else if (!err)
		info_print(&s, &quality, TABLE_TEXT, out);
	session_close(&s);
	filter_unbind(&filter);
	return err;
}

static struct err *info(struct tui_model *model, FILE *out)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct trust trust;

	trust_judge(&trust, model->profile, model->facts);
	fprintf(out, "trust: %s\n\n", trust_line(&trust, &arena));
	return print_info(((const struct looks *)model->context)->args, shown(model)->path, out);
}

static struct err *open_file(struct tui_model *model, const char *path)
{
	struct looks *looks = model->context;
	struct look *look;
	struct err *err = look_new(looks->args, path, &look);

	if (!err)
		show_look(model, look);
	return err;
}

static const struct tui_ops file_ops = { .list = list, .info = info, .open = open_file };

/* Reading comes first, so that what goes wrong there is said on the terminal as it was. */
static struct err *look_at_files(struct tui_args *args)
{
	struct looks looks = { .args = args };
	struct tui_model model = { .ops = &file_ops, .context = &looks };
	struct err *err = open_file(&model, args->session.input);
	struct screen *screen;

	if (!err)
		session_warn(&shown(&model)->session);
	if (!err)
		err = screen_new(&screen);
	if (!err) {
		err = tui_run(&model, screen);
		screen_free(screen);
	}
	for (size_t i = 0; i < looks.list.len; i++)
		look_free(looks.list.items[i]);
	vec_deinit(&looks.list);
	return err;
}

/* ---- live ---- */

static bool tick(struct tui_model *model)
{
	struct looks *looks = model->context;

	if (!live_look(looks->live))
		return false;
	model->profile = live_profile(looks->live);
	model->facts = live_facts(looks->live);
	model->state = live_state(looks->live);
	return true;
}

static struct err *save(struct tui_model *model, const char *path)
{
	return live_save(((struct looks *)model->context)->live, path);
}

static void turn_decay(struct tui_model *model)
{
	struct looks *looks = model->context;

	live_turn_decay(looks->live);
	model->profile = live_profile(looks->live);
	model->state = live_state(looks->live);
}

/* What is looked at more closely is one trace of the last moments, which is gone afterwards. */
static struct err *with_saved(struct tui_model *model, struct err *(*work)(struct looks *, const char *, void *), void *context)
{
	struct looks *looks = model->context;
	char *path = NULL;
	struct err *err;

	if (asprintf(&path, "%s%s", looks->args->live, LIVE_SAVED) < 0)
		return err_system(errno, "no memory for a name");
	unlink(path);
	err = live_save(looks->live, path);
	if (!err)
		err = work(looks, path, context);
	unlink(path);
	free(path);
	return err;
}

struct listing_wanted {
	struct screen *screen;
	const char *function;
	bool *ret_closed;
};

static struct err *list_saved(struct looks *looks, const char *path, void *context)
{
	const struct listing_wanted *wanted = context;
	struct look *look;
	struct err *err = look_new(looks->args, path, &look);

	if (err)
		return err;
	err = tui_listing_show(wanted->screen, &look->session, wanted->function, wanted->ret_closed);
	look_free(look);
	return err;
}

static struct err *list_live(struct tui_model *model, struct screen *screen, const char *wanted, bool *ret_closed)
{
	return with_saved(model, list_saved, &(struct listing_wanted){ screen, wanted, ret_closed });
}

static struct err *info_saved(struct looks *looks, const char *path, void *context)
{
	return print_info(looks->args, path, context);
}

static struct err *info_live(struct tui_model *model, FILE *out)
{
	const char *trouble = live_trouble(((struct looks *)model->context)->live);

	if (trouble)
		fprintf(out, "an interval was left out: %s\n\n", trouble);
	return with_saved(model, info_saved, out);
}

static const struct tui_ops live_ops = {
	.list = list_live, .info = info_live, .tick = tick, .save = save, .turn_decay = turn_decay,
};

/* False: q was pressed before there was anything. */
static bool wait_for_samples(struct tui_model *model, struct screen *screen)
{
	int key = SCREEN_KEY_NONE;

	while (!tick(model)) {
		screen_clear(screen);
		screen_put(screen, 0, 0, screen_columns(screen), SCREEN_BAR, "waiting for the first samples, q quits");
		screen_show(screen);
		key = screen_key_within(screen, LIVE_WAIT_MS);
		if (key == 'q' || key == SCREEN_KEY_CLOSED)
			return false;
	}
	return true;
}

static struct err *look_live(struct tui_args *args)
{
	struct session_args session = args->session;
	struct looks looks = { .args = args };
	struct tui_model model = { .ops = &live_ops, .context = &looks };
	struct screen *screen;
	struct err *err = screen_new(&screen);

	if (err)
		return err;
	session.progress = args->session.progress = false;
	session.inlines = false; /* names of symbols are found in a moment, lines are not */
	looks.live = live_new(args->live, &session, &args->filter);
	if (wait_for_samples(&model, screen))
		err = tui_run(&model, screen);
	screen_free(screen);
	live_free(looks.live);
	return err;
}

static struct err *tui_main(void *args, char **operands, int noperands, int *ret_status)
{
	struct tui_args *tui = args;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (tui->live)
		return look_live(tui);
	if (strcmp(tui->session.input, "-") == 0)
		return err_remedy(err_new(ERR_USAGE, "the keyboard is read from standard input"),
				  "write the recording to a file first");
	return look_at_files(tui);
}

const struct command cmd_tui = {
	.name = "tui",
	.summary = "browse a recording in the terminal",
	.operands = "",
	.details = "Enter unfolds a row into its callers, a shows its instructions, t, p and d choose a "
		   "thread, process or module, / searches, ? shows all keys.",
	.examples = "  preport tui  browse precord.trace\n"
		    "  preport tui -i perf.data --comm nginx\n",
	.manual = "preport-tui(1)",
	.opts = tui_opts,
	.args_size = sizeof(struct tui_args),
	.run = tui_main,
};
