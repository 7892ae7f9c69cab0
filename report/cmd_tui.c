/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_tui.c - look around in a recording on the terminal.
 */
#include "formats/base/memory.h"
#include "report/commands.h"
#include "report/load/session.h"
#include "report/load/unwind_quality.h"
#include "report/print/info.h"
#include "report/tui/live.h"
#include "report/tui/tui.h"
#include "report/tui/tui_listing.h"
#include "report/view/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIVE_WAIT_MS   100
#define LIVE_SAVED     "/.joined" /* in the folder; the recorder's own files begin otherwise */

struct tui_args {
	struct session_args session;
	struct filter filter;
	const char *live; /* a folder, NULL: one file */
};

static const struct opt tui_opts[] = {
	OPT_STR(struct tui_args, live, "live", 0, "FOLDER",
		"the newest files of a recording that goes on (precord top)"),
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
	.opts = tui_opts,
	.args_size = sizeof(struct tui_args),
	.run = tui_main,
};
