/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reshape.c - each function is held against the expressions once, each stack is rebuilt once.
 *
 * A location whose inlined calls are kept in part has no address any more: what is left of it is a location of names.
 */
#include "report/view/reshape.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"

#include <regex.h>
#include <stdlib.h>

#define DROPPED UINT32_MAX

enum { FOCUS, IGNORE, HIDE, SHOW, SHOW_FROM, LISTS };

#define BIT(list) (1u << (list))
#define KNOWN	  BIT(LISTS)

/* One function of a stack, leaf first. */
struct piece {
	uint32_t stack, line;
	uint8_t flags;
	bool kept;
};

struct reshape {
	const struct reshape_args *args;
	struct {
		VEC(regex_t) items;
	} lists[LISTS];
	VEC(uint8_t) functions; /* flags, by function */
	struct map stacks;	/* stack -> its other self, or DROPPED */
	VEC(struct piece) pieces;
	VEC(struct profile_line) lines;
};

/* ---- options ---- */

static struct err *parse_regex(void *field, const char *value)
{
	char why[256];
	regex_t regex;
	int code = regcomp(&regex, value, REG_EXTENDED | REG_NOSUB);

	if (code) {
		regerror(code, &regex, why, sizeof(why));
		return err_remedy(err_new(ERR_USAGE, "'%s': %s", value, why),
				  "it is a regular expression of regex(7), as in 'parse|^std::'");
	}
	regfree(&regex);
	vec_push((struct opt_list *)field, value);
	return NULL;
}

#define ARGS struct reshape_args

const struct opt reshape_opts[] = {
	OPT_PARSE(ARGS, focus, "focus", 0, "RE", "only samples with a matching function on the stack",
		  parse_regex),
	OPT_PARSE(ARGS, ignore, "ignore", 0, "RE", "only samples without a matching function on the stack",
		  parse_regex),
	OPT_PARSE(ARGS, hide, "hide", 0, "RE", "drop matching functions; their callers get their weight",
		  parse_regex),
	OPT_PARSE(ARGS, show, "show", 0, "RE", "keep only matching functions", parse_regex),
	OPT_PARSE(ARGS, show_from, "show-from", 0, "RE",
		  "start stacks at the outermost matching function, drop those without one", parse_regex),
	OPT_FLAG(ARGS, merge_recursion, "merge-recursion", 0,
		 "collapse direct recursion into one frame"),
	OPT_END,
};

void reshape_args_deinit(struct reshape_args *args)
{
	opt_list_deinit(&args->focus);
	opt_list_deinit(&args->ignore);
	opt_list_deinit(&args->hide);
	opt_list_deinit(&args->show);
	opt_list_deinit(&args->show_from);
}

bool reshape_is_given(const struct reshape_args *args)
{
	return args->focus.len || args->ignore.len || args->hide.len || args->show.len ||
	       args->show_from.len || args->merge_recursion;
}

/* ---- functions ---- */

static const struct opt_list *list_of(const struct reshape_args *args, int list)
{
	const struct opt_list *const lists[LISTS] = { &args->focus, &args->ignore, &args->hide,
						      &args->show, &args->show_from };

	return lists[list];
}

struct reshape *reshape_new(const struct reshape_args *args)
{
	struct reshape *r = memory_zeroed(1, sizeof(*r));

	r->args = args;
	for (int list = 0; list < LISTS; list++) {
		for (size_t i = 0; i < list_of(args, list)->len; i++) {
			regex_t regex;

			if (regcomp(&regex, list_of(args, list)->items[i], REG_EXTENDED | REG_NOSUB) == 0)
				vec_push(&r->lists[list].items, regex);
		}
	}
	return r;
}

void reshape_free(struct reshape *r)
{
	if (!r)
		return;
	for (int list = 0; list < LISTS; list++) {
		for (size_t i = 0; i < r->lists[list].items.len; i++)
			regfree(&r->lists[list].items.items[i]);
		vec_deinit(&r->lists[list].items);
	}
	vec_deinit(&r->functions);
	vec_deinit(&r->pieces);
	vec_deinit(&r->lines);
	map_deinit(&r->stacks);
	free(r);
}

static uint8_t match(const struct reshape *r, const char *name)
{
	uint8_t flags = KNOWN;

	for (int list = 0; list < LISTS; list++)
		for (size_t i = 0; i < r->lists[list].items.len && !(flags & BIT(list)); i++)
			if (regexec(&r->lists[list].items.items[i], name, 0, NULL, 0) == 0)
				flags |= (uint8_t)BIT(list);
	return flags;
}

static uint8_t flags_of(struct reshape *r, const struct profile *p, uint32_t function)
{
	while (r->functions.len <= function)
		vec_push(&r->functions, 0);
	if (!r->functions.items[function])
		r->functions.items[function] =
			match(r, profile_text(p, p->functions.items[function].name));
	return r->functions.items[function];
}

/* ---- stacks ---- */

static void take_apart(struct reshape *r, const struct profile *p, uint32_t stack)
{
	r->pieces.len = 0;
	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < at->nlines; i++) {
			uint32_t line = at->first_line + i;
			uint8_t flags = flags_of(r, p, p->lines.items[line].function);

			vec_push(&r->pieces, ((struct piece){ stack, line, flags, true }));
		}
	}
}

static uint32_t name_of(const struct profile *p, const struct piece *piece)
{
	return p->functions.items[p->lines.items[piece->line].function].name;
}

/* Decide which pieces are kept; false if the whole stack is not. */
static bool choose(struct reshape *r, const struct profile *p)
{
	size_t count = r->pieces.len, begin = count;
	uint8_t any = 0;
	const struct piece *above = NULL; /* the last kept, towards the leaf */

	for (size_t i = 0; i < count; i++) {
		any |= r->pieces.items[i].flags;
		if (r->pieces.items[i].flags & BIT(SHOW_FROM))
			begin = i + 1;
	}
	if ((r->args->focus.len && !(any & BIT(FOCUS))) || (any & BIT(IGNORE)) ||
	    (r->args->show_from.len && !(any & BIT(SHOW_FROM))))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct piece *piece = &r->pieces.items[i];

		piece->kept = i < begin && !(piece->flags & BIT(HIDE)) &&
			      (!r->args->show.len || (piece->flags & BIT(SHOW)));
		if (piece->kept && r->args->merge_recursion && above &&
		    name_of(p, above) == name_of(p, piece))
			piece->kept = false;
		else if (piece->kept)
			above = piece;
	}
	return true;
}

/* The pieces from @first on that are of one location, put on top of @parent. */
static uint32_t put_together(struct reshape *r, struct profile *p, size_t first, size_t count,
			     uint32_t parent)
{
	struct profile_stack old = p->stacks.items[r->pieces.items[first].stack];
	struct profile_location at = p->locations.items[old.location];
	uint32_t location = old.location;

	r->lines.len = 0;
	for (size_t i = first; i < first + count; i++)
		if (r->pieces.items[i].kept)
			vec_push(&r->lines, p->lines.items[r->pieces.items[i].line]);
	if (!r->lines.len)
		return parent;
	if (r->lines.len < count)
		location = profile_add_named_location(p, (enum profile_frame_kind)at.kind, at.module,
						      r->lines.items, (uint32_t)r->lines.len);
	return profile_add_stack(p, parent, location, (enum profile_how)old.how);
}

static uint32_t rebuild(struct reshape *r, struct profile *p)
{
	size_t end = r->pieces.len;
	uint32_t stack = 0;

	while (end) {
		size_t first = end - 1;

		while (first && r->pieces.items[first - 1].stack == r->pieces.items[end - 1].stack)
			first--;
		stack = put_together(r, p, first, end - first, stack);
		end = first;
	}
	return stack;
}

bool reshape_knows(const struct reshape *r, uint32_t stack)
{
	return map_get(&r->stacks, stack) != NULL;
}

bool reshape_stack(struct reshape *r, struct profile *p, uint32_t stack, uint32_t *ret)
{
	const uint64_t *known = map_get(&r->stacks, stack);
	uint32_t other;
	bool is_new;

	if (known) {
		other = (uint32_t)*known;
	} else {
		take_apart(r, p, stack);
		other = choose(r, p) ? rebuild(r, p) : DROPPED;
		*map_put(&r->stacks, stack, &is_new) = other;
	}
	if (other == DROPPED)
		return false;
	*ret = other;
	return true;
}
