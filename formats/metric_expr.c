/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metric_expr.c - a parser by descent, one function for each rule of the grammar.
 */
#include "formats/metric_expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LEN_MAX 63

struct parser {
	const char *text, *pos;
	struct arena *arena;
	struct err *err; /* the first; no rule goes on after it */
	unsigned depth;
};

static struct metric_expr *parse_sum(struct parser *p);

static struct metric_expr *fail(struct parser *p, const char *what)
{
	if (!p->err)
		p->err = err_new(ERR_USAGE, "%s at character %zu of '%s'", what,
				 (size_t)(p->pos - p->text) + 1, p->text);
	return NULL;
}

static char look(struct parser *p)
{
	p->pos += strspn(p->pos, " \t");
	return *p->pos;
}

static bool take(struct parser *p, char c)
{
	if (look(p) != c)
		return false;
	p->pos++;
	return true;
}

static void measure(struct metric_expr *e)
{
	unsigned left = e->left ? e->left->depth : 0, right = e->right ? e->right->depth : 0;
	uint64_t parts = 1 + (uint64_t)(e->left ? e->left->parts : 0) +
			 (e->right ? e->right->parts : 0);

	e->depth = 1 + MAX(left, right);
	e->parts = (unsigned)MIN(parts, (uint64_t)METRIC_EXPR_PARTS_MAX + 1);
}

static struct metric_expr *node(struct parser *p, enum metric_op op, struct metric_expr *left,
				struct metric_expr *right)
{
	struct metric_expr *e = ARENA_NEW(p->arena, struct metric_expr);

	*e = (struct metric_expr){ .op = op, .left = left, .right = right };
	measure(e);
	if (e->parts > METRIC_EXPR_PARTS_MAX || e->depth > METRIC_EXPR_DEPTH_MAX)
		return fail(p, "too long a formula");
	return e;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.:", c));
}

static struct metric_expr *parse_number(struct parser *p)
{
	char digits[NUMBER_LEN_MAX + 1];
	size_t len = strspn(p->pos, "0123456789.");
	struct metric_expr *e;
	char *end;

	if (len && (p->pos[len] == 'e' || p->pos[len] == 'E') && isdigit((unsigned char)p->pos[len + 1]))
		len += 1 + strspn(p->pos + len + 1, "0123456789");
	if (len > NUMBER_LEN_MAX || is_name(p->pos[len]))
		return fail(p, "no number");
	memcpy(digits, p->pos, len);
	digits[len] = 0;

	double number = strtod(digits, &end);

	if (*end || !isfinite(number))
		return fail(p, "no number");
	p->pos += len;
	e = node(p, METRIC_NUMBER, NULL, NULL);
	if (e)
		e->number = number;
	return e;
}

static struct metric_expr *parse_choice(struct parser *p, enum metric_op op)
{
	struct metric_expr *left, *right;

	p->pos++; /* the bracket */
	left = parse_sum(p);
	if (left && !take(p, ','))
		return fail(p, "a comma is missing");
	right = left ? parse_sum(p) : NULL;
	if (right && !take(p, ')'))
		return fail(p, "a closing bracket is missing");
	return right ? node(p, op, left, right) : NULL;
}

static struct metric_expr *parse_name(struct parser *p)
{
	bool quoted = *p->pos == '\'';
	const char *start = p->pos += quoted;
	size_t len = quoted ? strcspn(start, "'") : 0;
	struct metric_expr *e;

	while (!quoted && is_name(start[len]))
		len++;
	if (!len || (quoted && !start[len]))
		return fail(p, quoted ? "a name without an end" : "neither number nor name");
	p->pos += len + quoted;
	if (!quoted && len == 3 && look(p) == '(') {
		if (strncmp(start, "min", 3) == 0)
			return parse_choice(p, METRIC_MIN);
		if (strncmp(start, "max", 3) == 0)
			return parse_choice(p, METRIC_MAX);
	}
	e = node(p, METRIC_NAME, NULL, NULL);
	if (e) {
		e->name = arena_memdup(p->arena, start, len);
		e->quoted = quoted;
	}
	return e;
}

static struct metric_expr *parse_factor(struct parser *p)
{
	struct metric_expr *e;

	if (p->err || ++p->depth > METRIC_EXPR_DEPTH_MAX)
		return fail(p, "too deep a formula");
	if (take(p, '-')) {
		struct metric_expr *zero = node(p, METRIC_NUMBER, NULL, NULL);

		e = parse_factor(p);
		e = e && zero ? node(p, METRIC_SUBTRACT, zero, e) : NULL;
	} else if (take(p, '(')) {
		e = parse_sum(p);
		if (e && !take(p, ')'))
			e = fail(p, "a closing bracket is missing");
	} else if (isdigit((unsigned char)look(p)) || *p->pos == '.') {
		e = parse_number(p);
	} else {
		e = parse_name(p);
	}
	p->depth--;
	return e;
}

static struct metric_expr *parse_term(struct parser *p)
{
	struct metric_expr *left = parse_factor(p);

	while (left && (look(p) == '*' || *p->pos == '/')) {
		enum metric_op op = *p->pos++ == '*' ? METRIC_MULTIPLY : METRIC_DIVIDE;
		struct metric_expr *right = parse_factor(p);

		if (right && op == METRIC_DIVIDE && right->op == METRIC_NUMBER && !right->number)
			return fail(p, "division by zero");
		left = right ? node(p, op, left, right) : NULL;
	}
	return left;
}

static struct metric_expr *parse_sum(struct parser *p)
{
	struct metric_expr *left = parse_term(p);

	while (left && (look(p) == '+' || *p->pos == '-')) {
		enum metric_op op = *p->pos++ == '+' ? METRIC_ADD : METRIC_SUBTRACT;
		struct metric_expr *right = parse_term(p);

		left = right ? node(p, op, left, right) : NULL;
	}
	return left;
}

struct err *metric_expr_parse(const char *text, struct arena *arena, struct metric_expr **ret)
{
	struct parser p = { .text = text, .pos = text, .arena = arena };
	struct metric_expr *e = parse_sum(&p);

	if (e && look(&p))
		fail(&p, "something is left over");
	if (!p.err)
		*ret = e;
	return p.err;
}

struct err *metric_expr_each_name(struct metric_expr *e,
				  struct err *(*visit)(void *context, struct metric_expr *name),
				  void *context)
{
	struct err *err = NULL;

	if (e->op == METRIC_NAME) {
		err = visit(context, e);
	} else if (e->op != METRIC_REFER) {
		if (e->left)
			err = metric_expr_each_name(e->left, visit, context);
		if (!err && e->right)
			err = metric_expr_each_name(e->right, visit, context);
	}
	measure(e);
	return err;
}

struct metric_expr *metric_expr_copy(const struct metric_expr *e, struct arena *arena)
{
	struct metric_expr *copy;

	if (e->op == METRIC_REFER)
		return metric_expr_copy(e->left, arena);
	copy = ARENA_NEW(arena, struct metric_expr);
	*copy = *e;
	if (e->left)
		copy->left = metric_expr_copy(e->left, arena);
	if (e->right)
		copy->right = metric_expr_copy(e->right, arena);
	return copy;
}

double metric_expr_value(const struct metric_expr *e, const double *terms)
{
	double left = e->left ? metric_expr_value(e->left, terms) : 0;
	double right = e->right ? metric_expr_value(e->right, terms) : 0;

	switch (e->op) {
	case METRIC_NUMBER:
		return e->number;
	case METRIC_NAME:
		return terms[e->term];
	case METRIC_REFER:
		return left;
	case METRIC_ADD:
		return left + right;
	case METRIC_SUBTRACT:
		return left - right;
	case METRIC_MULTIPLY:
		return left * right;
	case METRIC_DIVIDE:
		return right != 0 ? left / right : NAN;
	case METRIC_MIN:
		return isnan(left) || isnan(right) ? NAN : fmin(left, right);
	case METRIC_MAX:
		return isnan(left) || isnan(right) ? NAN : fmax(left, right);
	}
	return NAN;
}
