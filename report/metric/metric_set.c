/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_set.c - line by line into definitions; then references are followed, depth first.
 */
#include "report/metric/metric_set.h"

#include "formats/base/file_bytes.h"
#include "formats/base/text.h"
#include "report/page/page.h"

#include <stdio.h>
#include <string.h>

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:"
#define BLANKS       " \t\r"
#define FILE_LEN_MAX (1u << 20)

enum state {
	STATE_FRESH,
	STATE_OPEN, /* what it refers to is being followed */
	STATE_DONE,
};

PAGE_ASSET_DECLARE(metrics_txt);

struct err *metric_set_init(struct metric_set *set)
{
	*set = (struct metric_set){ 0 };
	return metric_set_add_text(set, "metrics", (const char *)asset_metrics_txt,
				   asset_metrics_txt_len);
}

void metric_set_deinit(struct metric_set *set)
{
	vec_deinit(&set->defs);
	vec_deinit(&set->events);
	arena_deinit(&set->arena);
}

static struct metric_def *find(const struct metric_set *set, const char *name)
{
	for (size_t i = 0; i < set->defs.len; i++)
		if (strcmp(set->defs.items[i]->name, name) == 0)
			return set->defs.items[i];
	return NULL;
}

static bool has_event(const struct metric_set *set, const char *name)
{
	for (size_t i = 0; i < set->events.len; i++)
		if (strcmp(set->events.items[i], name) == 0)
			return true;
	return false;
}

void metric_set_add_event(struct metric_set *set, const char *name)
{
	if (!has_event(set, name))
		vec_push(&set->events, arena_strdup(&set->arena, name));
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* Without blanks at both ends, in place. */
static char *trim(char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len && strchr(BLANKS, text[len - 1]))
		text[--len] = 0;
	return text;
}

/* "NAME [%] = FORMULA", which may be changed. */
static struct err *add_definition(struct metric_set *set, const char *place, char *text,
				  const char *words)
{
	char *equals = strchr(text, '=');
	struct metric_def *def = ARENA_NEW(&set->arena, struct metric_def);
	struct metric_def *old;
	struct err *err;
	char *name;

	if (!equals)
		return err_new(ERR_USAGE, "%s: 'NAME = FORMULA' has no '='", place);
	*equals = 0;
	name = trim(text);
	if (*name && name[strlen(name) - 1] == '%') {
		def->percent = true;
		name[strlen(name) - 1] = 0;
		name = trim(name);
	}
	if (!*name || name[strspn(name, NAME_LETTERS)])
		return err_new(ERR_USAGE, "%s: '%s' is not a valid metric name", place, name);
	def->name = name;
	def->formula = trim(equals + 1);
	def->words = words;
	def->place = place;
	err = metric_expr_parse(def->formula, &set->arena, &def->expr);
	if (err)
		return err_wrap(err, "%s: metric '%s'", place, name);
	old = find(set, name);
	if (old)
		*old = *def;
	else
		vec_push(&set->defs, def);
	return NULL;
}

static struct err *add_line(struct metric_set *set, const char *place, char *line)
{
	char *words = strchr(line, ';');
	char *rest = line;
	char *word;

	if (words)
		*words++ = 0;
	word = strsep(&rest, BLANKS);
	if (rest && strcmp(word, "metric") == 0)
		return add_definition(set, place, rest, words ? trim(words) : "");
	if (!rest || strcmp(word, "event") != 0)
		return err_remedy(err_new(ERR_USAGE, "%s: '%s' begins no line of a file of metrics",
					  place, word),
				  "lines are 'metric NAME = FORMULA' or 'event NAME...'");
	while ((word = strsep(&rest, BLANKS)) != NULL)
		if (*word)
			metric_set_add_event(set, word);
	return NULL;
}

struct err *metric_set_add_text(struct metric_set *set, const char *place, const char *text,
				size_t len)
{
	char *rest = arena_memdup(&set->arena, text, len);
	unsigned number = 0;

	if (strlen(rest) != len)
		return err_new(ERR_USAGE, "'%s' is not text: byte %zu is 0", place, strlen(rest));
	while (rest) {
		char *line = strsep(&rest, "\n");
		const char *where = arena_printf(&set->arena, "%s:%u", place, ++number);

		line[strcspn(line, "#")] = 0;
		line = trim(line);

		struct err *err = *line ? add_line(set, where, line) : NULL;

		if (err)
			return err;
	}
	return NULL;
}

struct err *metric_set_add_file(struct metric_set *set, const char *path)
{
	CLEANUP(writer_deinit) struct writer text = { 0 };
	struct err *err = file_bytes_read(path, FILE_LEN_MAX, &text);

	return err ? err : metric_set_add_text(set, path, (const char *)text.data, text.len);
}

struct err *metric_set_add_definition(struct metric_set *set, const char *text)
{
	return add_definition(set, "--metric", arena_strdup(&set->arena, text), "");
}

/* ---- references ------------------------------------------------------------------------------------ */

struct walk {
	struct metric_set *set;
	const struct metric_def *def;
};

static struct err *follow(struct metric_set *set, struct metric_def *def);

static struct err *unknown_name(struct walk *w, const char *name)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = name };

	for (size_t i = 0; i < w->set->defs.len; i++)
		text_near_offer(&near, w->set->defs.items[i]->name);
	for (size_t i = 0; i < w->set->events.len; i++)
		text_near_offer(&near, w->set->events.items[i]);

	const char *hint = text_near_hint(&near, &arena);

	return err_remedy(err_new(ERR_USAGE, "%s: metric '%s': '%s' is neither metric nor event",
				  w->def->place, w->def->name, name),
			  "%s%san event of another name can be put into quotes", hint ? hint : "",
			  hint ? "; " : "");
}

static struct err *resolve(void *context, struct metric_expr *e)
{
	struct walk *w = context;
	struct metric_def *other = e->quoted ? NULL : find(w->set, e->name);
	struct err *err;

	if (!other) {
		if (e->quoted || has_event(w->set, e->name))
			return NULL;
		return unknown_name(w, e->name);
	}
	err = follow(w->set, other);
	if (err)
		return err;
	e->op = METRIC_REFER;
	e->left = other->expr;
	return NULL;
}

static struct err *follow(struct metric_set *set, struct metric_def *def)
{
	struct walk w = { set, def };
	struct err *err;

	if (def->state == STATE_DONE)
		return NULL;
	if (def->state == STATE_OPEN)
		return err_new(ERR_USAGE, "%s: metric '%s' leads back to itself: '%s'", def->place,
			       def->name, def->formula);
	if (set->depth == METRIC_EXPR_DEPTH_MAX)
		return err_new(ERR_USAGE, "%s: metrics refer to each other over more than %d steps",
			       def->place, METRIC_EXPR_DEPTH_MAX);
	def->state = STATE_OPEN;
	set->depth++;
	err = metric_expr_each_name(def->expr, resolve, &w);
	set->depth--;
	if (!err && (def->expr->parts > METRIC_EXPR_PARTS_MAX ||
		     def->expr->depth > METRIC_EXPR_DEPTH_MAX))
		err = err_new(ERR_USAGE, "%s: metric '%s' with all it refers to is too long",
			      def->place, def->name);
	def->state = STATE_DONE;
	return err;
}

struct err *metric_set_check(struct metric_set *set)
{
	struct err *err = NULL;

	for (size_t i = 0; i < set->defs.len && !err; i++)
		err = follow(set, set->defs.items[i]);
	return err;
}

struct err *metric_set_find(const struct metric_set *set, const char *name,
			    const struct metric_def **ret)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = name };
	const char *hint;

	*ret = find(set, name);
	if (*ret)
		return NULL;
	for (size_t i = 0; i < set->defs.len; i++)
		text_near_offer(&near, set->defs.items[i]->name);
	hint = text_near_hint(&near, &arena);
	return err_remedy(err_new(ERR_USAGE, "no metric '%s'", name),
			  "%s%sdefine one with NAME=FORMULA; preport(1) lists those there are",
			  hint ? hint : "", hint ? "; " : "");
}
