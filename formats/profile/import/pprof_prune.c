/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof_prune.c - expressions are written in RE2's syntax and run as POSIX's extended one, in which nearly all of them mean the
 * same. Those that do not, or that could take long, are refused.
 */
#include "formats/profile/import/pprof_prune.h"

#include "formats/base/memory.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPRESSION_MAX 4096 /* bytes */
#define NAME_MAX_LEN   4096 /* of a name, the rest is not looked at */

struct pprof_prune {
	regex_t drop, keep;
	bool keeps;
};

/* Of RE2's syntax, what POSIX has too; (?:...) becomes (...), since groups are not captured. */
static bool translate(const char *text, size_t len, char *ret, size_t room)
{
	size_t at = (size_t)snprintf(ret, room, "^(");

	/* Counts of repetitions that are nested need memory without bound; \1 and \d are not what they look like. */
	if (len > EXPRESSION_MAX || memchr(text, 0, len) || memchr(text, '{', len))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\' && (i + 1 == len || !strchr(".+*?()[]|^$\\/-:", text[i + 1])))
			return false;
		if (text[i] == '\\')
			ret[at++] = text[i++];
		else if (text[i] == '(' && i + 1 < len && text[i + 1] == '?') {
			if (i + 2 >= len || text[i + 2] != ':')
				return false;
			ret[at++] = '(';
			i += 2;
			continue;
		}
		ret[at++] = text[i];
	}
	snprintf(ret + at, room - at, ")$");
	return true;
}

static bool compile(regex_t *ret, const char *text, size_t len)
{
	char expression[EXPRESSION_MAX + 8];

	return translate(text, len, expression, sizeof(expression)) &&
	       regcomp(ret, expression, REG_EXTENDED | REG_NOSUB) == 0;
}

struct pprof_prune *pprof_prune_new(const char *drop, size_t drop_len, const char *keep, size_t keep_len)
{
	struct pprof_prune *prune = memory_zeroed(1, sizeof(*prune));

	if (!compile(&prune->drop, drop, drop_len)) {
		free(prune);
		return NULL;
	}
	prune->keeps = keep_len > 0;
	if (prune->keeps && !compile(&prune->keep, keep, keep_len)) {
		regfree(&prune->drop);
		free(prune);
		return NULL;
	}
	return prune;
}

void pprof_prune_free(struct pprof_prune *prune)
{
	if (!prune)
		return;
	regfree(&prune->drop);
	if (prune->keeps)
		regfree(&prune->keep);
	free(prune);
}

/* Where the parameters of @name begin; "(anonymous namespace)" and "operator()" are parts of it. */
static size_t without_parameters(const char *name, size_t len)
{
	static const char anonymous[] = "(anonymous namespace)", call[] = "operator()";

	for (size_t i = 0; i < len; i++) {
		if (name[i] != '(')
			continue;
		if (strncmp(name + i, anonymous, sizeof(anonymous) - 1) == 0)
			i += sizeof(anonymous) - 2;
		else if (i >= sizeof(call) - 3 && strncmp(name + i - (sizeof(call) - 3), call, sizeof(call) - 1) == 0)
			i++;
		else
			return i;
	}
	return len;
}

bool pprof_prune_drops(const struct pprof_prune *prune, const char *name)
{
	char simple[NAME_MAX_LEN];
	size_t len;

	name += *name == '.'; /* PowerPC's code of a function */
	len = strnlen(name, sizeof(simple) - 1);
	len = without_parameters(name, len);
	memcpy(simple, name, len);
	simple[len] = 0;
	if (!len || regexec(&prune->drop, simple, 0, NULL, 0) != 0)
		return false;
	return !prune->keeps || regexec(&prune->keep, simple, 0, NULL, 0) != 0;
}
