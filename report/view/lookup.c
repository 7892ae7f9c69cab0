/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - from the strictest reading of a name to the loosest; the first that finds something counts.
 */
#include "report/view/lookup.h"

#include "formats/base/text.h"
#include "formats/profile/clone_name.h"

#include <fnmatch.h>
#include <string.h>

enum reading { EXACT, WITHOUT_ARGUMENTS, LAST_PART, GLOB, READINGS };

struct query {
	const char *function;
	const char *module; /* glob, not terminated; NULL: any */
	size_t module_len;
};

size_t lookup_base_len(const char *name)
{
	const char *p = name;

	for (; *p; p++) {
		if (*p != '(')
			continue;
		if (strncmp(p, "(anonymous", 10) == 0)
			p += strcspn(p, ")");
		else if (p - name >= 8 && strncmp(p - 8, "operator()", 10) == 0)
			p++;
		else
			break;
		if (!*p)
			break;
	}
	if (p > name + 1 && p[-1] == ' ') /* "step (parse.c)", see same_names.h */
		p--;
	return p == name ? strlen(name) : (size_t)(p - name);
}

bool lookup_matches_module(const struct profile *p, uint32_t module, const char *glob, size_t len)
{
	char pattern[512];
	const struct profile_module *mod = profile_module(p, module);

	if (len >= sizeof(pattern))
		return false;
	memcpy(pattern, glob, len);
	pattern[len] = 0;
	return strcmp(pattern, profile_text(p, mod->name)) == 0 ||
	       strcmp(pattern, profile_text(p, mod->path)) == 0 ||
	       fnmatch(pattern, profile_text(p, mod->name), 0) == 0 ||
	       fnmatch(pattern, profile_text(p, mod->path), 0) == 0;
}

/* Is name[0 .. len) @wanted, or a copy of it that the compiler made, "step.isra.0"? */
static bool is_copy_of(const char *name, size_t len, const char *wanted)
{
	size_t wanted_len = strlen(wanted);
	size_t base = MIN(len, clone_name_base(name));

	return (len == wanted_len || base == wanted_len) && strncmp(name, wanted, wanted_len) == 0;
}

/* Does name[0 .. len) end in "::@wanted" or ".@wanted", as in C++, Rust, Go and Java? */
static bool ends_in_part(const char *name, size_t len, const char *wanted)
{
	size_t wanted_len = strlen(wanted);
	const char *part = name + len - wanted_len;

	if (!wanted_len || wanted_len >= len || strncmp(part, wanted, wanted_len) != 0)
		return false;
	return part[-1] == '.' || (len - wanted_len >= 2 && part[-1] == ':' && part[-2] == ':');
}

static bool reads_as(const char *name, const char *wanted, enum reading reading)
{
	switch (reading) {
	case EXACT:
		return is_copy_of(name, strlen(name), wanted);
	case WITHOUT_ARGUMENTS:
		return is_copy_of(name, lookup_base_len(name), wanted);
	case LAST_PART:
		return ends_in_part(name, MIN(lookup_base_len(name), clone_name_base(name)), wanted);
	default:
		return fnmatch(wanted, name, 0) == 0;
	}
}

/* By name, then by module; only functions that look different are different to the user, and a compiler's copies are not. */
static int compare(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_function *fa = &p->functions.items[a], *fb = &p->functions.items[b];
	const char *name_a = profile_text(p, fa->name), *name_b = profile_text(p, fb->name);
	size_t len_a = clone_name_base(name_a), len_b = clone_name_base(name_b);
	int order = strncmp(name_a, name_b, MIN(len_a, len_b));

	if (order || len_a != len_b)
		return order ? order : COMPARE(len_a, len_b);
	return strcmp(profile_text(p, profile_module(p, fa->module)->path),
		      profile_text(p, profile_module(p, fb->module)->path));
}

/* Mark what fits; how many different functions that is, counted up to 2. */
static unsigned mark(const struct profile *p, const struct query *query, enum reading reading,
		     struct lookup *ret)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < p->functions.len; i++) {
		const struct profile_function *function = &p->functions.items[i];

		ret->matches[i] =
			reads_as(profile_text(p, function->name), query->function, reading) &&
			(!query->module || lookup_matches_module(p, function->module, query->module,
								 query->module_len));
		if (!ret->matches[i])
			continue;
		if (found == 0)
			found = 1;
		else if (compare(p, i, ret->first) != 0)
			found = 2;
		if (found == 1 || compare(p, i, ret->first) < 0)
			ret->first = i;
	}
	return found;
}

/* Split "MODULE:FUNCTION" at a colon that is no "::". */
static bool split(const char *wanted, struct query *ret)
{
	for (const char *p = wanted; (p = strchr(p, ':')); p++) {
		if (p[1] == ':') {
			p++;
			continue;
		}
		if (p == wanted || !p[1])
			continue;
		*ret = (struct query){ p + 1, wanted, (size_t)(p - wanted) };
		return true;
	}
	return false;
}

static struct err *missing(const struct profile *p, const char *wanted, struct arena *arena)
{
	struct text_near near = { .wanted = wanted };
	struct query query;

	if (split(wanted, &query))
		near.wanted = query.function;
	for (size_t i = 0; i < p->functions.len; i++)
		text_near_offer(&near, profile_text(p, p->functions.items[i].name));

	struct err *err = err_new(ERR_USAGE, "no function '%s' in the samples", wanted);
	const char *hint = text_near_hint(&near, arena);

	return hint ? err_remedy(err, "%s", hint)
		    : err_remedy(err, "--by total lists the functions that there are");
}

static struct err *ambiguous(const struct profile *p, const char *wanted,
			     const struct lookup *found, struct arena *arena)
{
	const char *list = "";
	unsigned listed = 0;
	uint32_t last = PROFILE_NONE;

	/* The smallest that is greater than the last one listed, again and again. */
	while (listed < TEXT_NEAR_MAX) {
		uint32_t next = PROFILE_NONE;

		for (uint32_t i = 0; i < p->functions.len; i++) {
			if (!found->matches[i] ||
			    (last != PROFILE_NONE && compare(p, i, last) <= 0))
				continue;
			if (next == PROFILE_NONE || compare(p, i, next) < 0)
				next = i;
		}
		if (next == PROFILE_NONE)
			break;

		const struct profile_function *function = &p->functions.items[next];

		list = arena_printf(arena, "%s%s'%s:%s'", list, listed ? ", " : "",
				    profile_text(p, profile_module(p, function->module)->name),
				    profile_text(p, function->name));
		last = next;
		listed++;
	}
	return err_remedy(err_new(ERR_USAGE, "'%s' can be several functions", wanted),
			  "say which, or take all of them with a glob such as '%s*': %s", wanted,
			  list);
}

struct err *lookup_function(const struct profile *p, const char *wanted, struct arena *arena,
			    struct lookup *ret)
{
	struct query queries[2] = { { .function = wanted } };
	size_t nqueries = 1 + split(wanted, &queries[1]);
	struct lookup found = { .matches = ARENA_ARRAY(arena, bool, p->functions.len + 1) };

	for (size_t q = 0; q < nqueries; q++) {
		for (int reading = EXACT; reading < READINGS; reading++) {
			unsigned count = mark(p, &queries[q], (enum reading)reading, &found);

			if (count == 0)
				continue;
			if (count > 1 && reading != GLOB)
				return ambiguous(p, wanted, &found, arena);
			found.name =
				reading == GLOB
					? wanted
					: profile_text(p, p->functions.items[found.first].name);
			*ret = found;
			return NULL;
		}
	}
	return missing(p, wanted, arena);
}
