/* SPDX-License-Identifier: Apache-2.0 */
/*
 * where.c - the condition as an array of nodes, and which field of each event, or which key of labels, its names are.
 */
#include "report/view/where.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"
#include "formats/tracepoint_format.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* of parentheses */
#define NODES_MAX 256
#define BLANKS	  " \t\n"

enum where_op { WHERE_AND, WHERE_OR, WHERE_EQ, WHERE_NE, WHERE_LE, WHERE_GE, WHERE_LT, WHERE_GT, WHERE_LIKE, WHERE_UNLIKE };

/* Longer ones first. */
static const struct {
	const char *text;
	enum where_op op;
} operators[] = {
	{ "==", WHERE_EQ }, { "!=", WHERE_NE },	  { "<=", WHERE_LE }, { ">=", WHERE_GE }, { "!~", WHERE_UNLIKE },
	{ "<", WHERE_LT },  { ">", WHERE_GT },	  { "~", WHERE_LIKE }, { "=", WHERE_EQ },
};

struct node {
	enum where_op op;
	uint32_t left, right; /* of AND and OR: nodes */
	const char *name, *text;
	bool is_number, is_negative;
	uint64_t number; /* as two's complement */
	const struct tracepoint_field **fields; /* by event; NULL: it has none of that name */
	uint32_t key; /* of labels: the name as a string of the profile */
};

struct where {
	struct arena arena;
	struct {
		struct node *items;
		size_t len, cap;
	} nodes;
	uint32_t root;
	const struct recording *rec;
	struct tracepoint_format *formats; /* by event */
};

struct parser {
	struct where *where;
	const char *text, *pos;
	unsigned depth;
};

/* ---- reading ---- */

static struct err *malformed(const struct parser *p, const char *what)
{
	return err_remedy(err_new(ERR_USAGE, "%s at '%s' in the condition '%s'", what, p->pos, p->text),
			  "a condition is FIELD OP VALUE, such as 'bytes_req > 4096', joined by && and ||; OP is "
			  "==, !=, <, <=, >, >=, ~ or !~");
}

static void skip_blanks(struct parser *p)
{
	p->pos += strspn(p->pos, BLANKS);
}

static bool take(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (strncmp(p->pos, word, strlen(word)) != 0)
		return false;
	p->pos += strlen(word);
	return true;
}

static struct err *add_node(struct parser *p, const struct node *node, uint32_t *ret)
{
	if (p->where->nodes.len == NODES_MAX)
		return err_new(ERR_USAGE, "a condition of more than %d parts", NODES_MAX);
	*ret = (uint32_t)p->where->nodes.len;
	vec_push(&p->where->nodes, *node);
	return NULL;
}

static bool read_number(const char *text, struct node *node)
{
	char *end;

	errno = 0;
	node->is_negative = *text == '-';
	node->number = node->is_negative ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	return end != text && !*end && !errno && strchr("-0123456789", *text);
}

static struct err *read_value(struct parser *p, struct node *node)
{
	struct arena *arena = &p->where->arena;
	char quote;
	size_t len;

	skip_blanks(p);
	quote = *p->pos == '"' || *p->pos == '\'' ? *p->pos : 0;
	if (!quote) {
		len = strcspn(p->pos, BLANKS "&|()");
		if (!len)
			return malformed(p, "a value is missing");
		node->text = arena_memdup(arena, p->pos, len);
		node->is_number = read_number(node->text, node);
		p->pos += len;
		return NULL;
	}
	const char *end = strchr(p->pos + 1, quote);

	if (!end)
		return malformed(p, "no quote ends the text");
	node->text = arena_memdup(arena, p->pos + 1, (size_t)(end - p->pos) - 1);
	p->pos = end + 1;
	return NULL;
}

static struct err *read_comparison(struct parser *p, uint32_t *ret)
{
	struct node node = { 0 };
	size_t len, op = 0;

	skip_blanks(p);
	len = strcspn(p->pos, BLANKS "=!<>~&|()\"'");
	if (!len)
		return malformed(p, "a field is missing");
	node.name = arena_memdup(&p->where->arena, p->pos, len);
	p->pos += len;
	while (op < ARRAY_LEN(operators) && !take(p, operators[op].text))
		op++;
	if (op == ARRAY_LEN(operators))
		return malformed(p, "no comparison");
	node.op = operators[op].op;

	struct err *err = read_value(p, &node);

	return err ? err : add_node(p, &node, ret);
}

static struct err *read_any(struct parser *p, uint32_t *ret);

static struct err *read_one(struct parser *p, uint32_t *ret)
{
	struct err *err;

	if (!take(p, "("))
		return read_comparison(p, ret);
	if (++p->depth > DEPTH_MAX)
		return err_new(ERR_USAGE, "more than %d parentheses inside each other", DEPTH_MAX);
	err = read_any(p, ret);
	if (!err && !take(p, ")"))
		err = malformed(p, "no ')' ends the parentheses");
	p->depth--;
	return err;
}

static struct err *read_joined(struct parser *p, enum where_op op, const char *word,
			       struct err *(*read)(struct parser *p, uint32_t *ret), uint32_t *ret)
{
	struct err *err = read(p, ret);

	while (!err && take(p, word)) {
		struct node node = { .op = op, .left = *ret };

		err = read(p, &node.right);
		if (!err)
			err = add_node(p, &node, ret);
	}
	return err;
}

static struct err *read_all(struct parser *p, uint32_t *ret)
{
	return read_joined(p, WHERE_AND, "&&", read_one, ret);
}

static struct err *read_any(struct parser *p, uint32_t *ret)
{
	return read_joined(p, WHERE_OR, "||", read_all, ret);
}

/* ---- fields ---- */

static struct err *unknown_field(struct where *where, const char *name)
{
	struct text_near near = { .wanted = name };
	const char *list = "";
	unsigned listed = 0;

	for (size_t e = 0; e < where->rec->nevents; e++)
		for (size_t i = 0; i < where->formats[e].len; i++) {
			const struct tracepoint_field *field = &where->formats[e].fields[i];

			if (field->common)
				continue;
			text_near_offer(&near, field->name);
			if (listed++ < 12)
				list = arena_printf(&where->arena, "%s%s%s", list, *list ? ", " : "", field->name);
		}
	const char *hint = text_near_hint(&near, &where->arena);
	struct err *err = err_new(ERR_USAGE, "no event of the recording has a field '%s'", name);

	if (hint)
		return err_remedy(err, "%s", hint);
	return *list ? err_remedy(err, "there are %s%s", list, listed > 12 ? ", ..." : "")
		     : err_remedy(err, "tracepoints have fields: precord -e SYSTEM:NAME");
}

static struct err *bind_field(struct where *where, struct node *node)
{
	const struct tracepoint_field *known = NULL;
	bool wants_text = node->op == WHERE_LIKE || node->op == WHERE_UNLIKE;

	node->fields = ARENA_ARRAY(&where->arena, const struct tracepoint_field *, where->rec->nevents + 1);
	for (size_t e = 0; e < where->rec->nevents; e++) {
		node->fields[e] = tracepoint_format_find(&where->formats[e], node->name);
		known = node->fields[e] ? node->fields[e] : known;
	}
	if (!known)
		return unknown_field(where, node->name);
	if (!known->is_text && !known->dynamic && !wants_text && !node->is_number)
		return err_new(ERR_USAGE, "'%s' is a number, '%s' is none", node->name, node->text);
	return NULL;
}

static struct err *bind(struct where *where)
{
	struct err *err = NULL;

	where->formats = ARENA_ARRAY(&where->arena, struct tracepoint_format, where->rec->nevents + 1);
	for (size_t e = 0; e < where->rec->nevents; e++)
		where->formats[e] = tracepoint_format_read(&where->arena, where->rec->events[e].format);
	for (size_t i = 0; i < where->nodes.len && !err; i++)
		if (where->nodes.items[i].name)
			err = bind_field(where, &where->nodes.items[i]);
	return err;
}

static struct err *read_condition(const char *text, struct where *where)
{
	struct parser p = { .where = where, .text = text, .pos = text };
	struct err *err = read_any(&p, &where->root);

	skip_blanks(&p);
	return !err && *p.pos ? malformed(&p, "'&&' or '||' is missing") : err;
}

static struct err *finish(struct where *where, struct err *err, struct where **ret)
{
	if (err)
		where_free(where);
	else
		*ret = where;
	return err;
}

struct err *where_new(const char *text, const struct recording *rec, struct where **ret)
{
	struct where *where = memory_zeroed(1, sizeof(*where));
	struct err *err = read_condition(text, where);

	where->rec = rec;
	return finish(where, err ? err : bind(where), ret);
}

/* ---- labels ---- */

static struct err *unknown_label(struct where *where, const struct profile *p, const char *name)
{
	struct text_near near = { .wanted = name };
	const char *list = "";

	for (size_t i = 0; i < p->labels.len; i++) {
		const char *key = profile_text(p, p->labels.items[i].key);
		size_t seen = 0;

		while (seen < i && p->labels.items[seen].key != p->labels.items[i].key)
			seen++;
		if (*key == '[') /* while loading only */
			continue;
		text_near_offer(&near, key);
		if (seen == i && strlen(list) < 200)
			list = arena_printf(&where->arena, "%s%s%s", list, *list ? ", " : "", key);
	}
	const char *hint = text_near_hint(&near, &where->arena);
	struct err *err = err_new(ERR_USAGE, "no sample of the profile has a label '%s'", name);

	if (hint)
		return err_remedy(err, "%s", hint);
	return *list ? err_remedy(err, "there are %s", list) : err;
}

static struct err *bind_label(struct where *where, const struct profile *p, struct node *node)
{
	for (size_t i = 0; i < p->labels.len; i++) {
		const struct profile_label *label = &p->labels.items[i];

		if (strcmp(profile_text(p, label->key), node->name) != 0)
			continue;
		node->key = label->key;
		if (label->is_number && !node->is_number && node->op != WHERE_LIKE && node->op != WHERE_UNLIKE)
			return err_new(ERR_USAGE, "'%s' is a number, '%s' is none", node->name, node->text);
		return NULL;
	}
	return unknown_label(where, p, node->name);
}

struct err *where_new_labels(const char *text, const struct profile *p, struct where **ret)
{
	struct where *where = memory_zeroed(1, sizeof(*where));
	struct err *err = read_condition(text, where);

	for (size_t i = 0; i < where->nodes.len && !err; i++)
		if (where->nodes.items[i].name)
			err = bind_label(where, p, &where->nodes.items[i]);
	return finish(where, err, ret);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool where_is_about(const char *text, const char *const *names, size_t count)
{
	struct where *where = memory_zeroed(1, sizeof(*where));
	struct err *err = read_condition(text, where);
	bool is = !err;

	for (size_t i = 0; i < where->nodes.len && is; i++)
		is = !where->nodes.items[i].name || is_one_of(where->nodes.items[i].name, names, count);
	err_free(err);
	where_free(where);
	return is;
}

void where_free(struct where *where)
{
	if (!where)
		return;
	vec_deinit(&where->nodes);
	arena_deinit(&where->arena);
	free(where);
}

/* ---- asking ---- */

static bool fulfils(enum where_op op, int order)
{
	switch (op) {
	case WHERE_EQ:
		return order == 0;
	case WHERE_NE:
		return order != 0;
	case WHERE_LT:
		return order < 0;
	case WHERE_LE:
		return order <= 0;
	case WHERE_GT:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* Signed, where either side is. */
static int compare_numbers(const struct tracepoint_value *value, const struct node *node)
{
	bool value_negative = value->kind == TRACEPOINT_SIGNED && (int64_t)value->number < 0;

	if (value_negative != node->is_negative)
		return value_negative ? -1 : 1;
	return COMPARE(value->number, node->number);
}

static bool compares_value(const struct node *node, const struct tracepoint_value *value, struct arena *arena)
{
	if (node->op == WHERE_LIKE || node->op == WHERE_UNLIKE)
		return (fnmatch(node->text, tracepoint_value_text(value, arena), 0) == 0) == (node->op == WHERE_LIKE);
	if (value->kind == TRACEPOINT_TEXT)
		return fulfils(node->op, strcmp(value->text, node->text));
	return node->is_number && fulfils(node->op, compare_numbers(value, node));
}

static bool compares(const struct where *where, const struct node *node, const struct event *ev)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_sample *sample = &ev->sample;
	const struct tracepoint_field *field =
		sample->event < where->rec->nevents ? node->fields[sample->event] : NULL;
	struct tracepoint_value value;

	return field && tracepoint_field_value(field, sample->raw, sample->raw_len, &arena, &value) &&
	       compares_value(node, &value, &arena);
}

static bool compares_labels(const struct node *node, const struct profile *p, uint32_t labels)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct profile_label_set *set = &p->label_sets.items[labels];

	for (uint32_t i = 0; i < set->count; i++) {
		const struct profile_label *label = &p->labels.items[set->first + i];
		const struct tracepoint_value value = {
			.kind = label->is_number ? TRACEPOINT_SIGNED : TRACEPOINT_TEXT,
			.number = (uint64_t)label->number,
			.text = profile_text(p, label->text),
		};

		if (label->key == node->key && compares_value(node, &value, &arena))
			return true;
	}
	return false;
}

/* What a condition is asked about: a sample's event, or its labels. */
struct subject {
	const struct event *ev; /* NULL: labels */
	const struct profile *p;
	uint32_t labels;
};

/* As deep as the nodes are: chains of && lean to the left, so that only parentheses and the first operand nest. */
static bool passes(const struct where *where, uint32_t number, const struct subject *of)
{
	const struct node *node = &where->nodes.items[number];

	if (node->op == WHERE_AND)
		return passes(where, node->left, of) && passes(where, node->right, of);
	if (node->op == WHERE_OR)
		return passes(where, node->left, of) || passes(where, node->right, of);
	return of->ev ? compares(where, node, of->ev) : compares_labels(node, of->p, of->labels);
}

bool where_passes(const struct where *where, const struct event *ev)
{
	return passes(where, where->root, &(struct subject){ .ev = ev });
}

bool where_passes_labels(const struct where *where, const struct profile *p, uint32_t labels)
{
	return passes(where, where->root, &(struct subject){ .p = p, .labels = labels });
}
