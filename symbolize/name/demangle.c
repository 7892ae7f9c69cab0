/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c - libiberty's demanglers, behind a cache and a limit.
 *
 * A mangled name can refer back to its own parts, so a few hundred bytes may stand for more text than
 * there are atoms. libiberty hands out the text piece by piece but offers no way to say "enough": the
 * callback leaves by longjmp(). That is sound, since the callback variants keep their working memory on
 * the stack (Rust's punycode buffer is lost, at most once for each such name). D's demangler has no callback: only names with few
 * references to types, of which each may double the text, are given to it.
 */
#include "symbolize/name/demangle.h"

#include "formats/base/arena.h"
#include "formats/base/strtab.h"
#include "formats/base/vec.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>


struct demangler {
	int options; /* of libiberty */
	struct strtab linkage_names;
	VEC(const char *) names; /* by number in @linkage_names, NULL until asked for */
	struct arena arena;
	VEC(char) text;
	jmp_buf too_long;
};

struct demangler *demangler_new(enum demangle_how how)
{
	struct demangler *d = memory_zeroed(1, sizeof(*d));

	d->options = DMGL_ANSI | (how == DEMANGLE_SIMPLE ? 0 : DMGL_PARAMS);
	return d;
}

void demangler_free(struct demangler *d)
{
	if (!d)
		return;
	strtab_deinit(&d->linkage_names);
	arena_deinit(&d->arena);
	vec_deinit(&d->names);
	vec_deinit(&d->text);
	free(d);
}

static void take_text(const char *text, size_t len, void *context)
{
	struct demangler *d = context;

	if (len > DEMANGLE_LEN_MAX - d->text.len)
		longjmp(d->too_long, 1);
	vec_append(&d->text, text, len);
}

#define D_LEN_MAX   4096
#define D_TYPES_MAX 18 /* references to types: the text is then at most 3^6 times as long as the name, which three for each level give */

/* What the reference at @q, behind its "Q", goes back by: base 26, the last digit a small letter (D's ABI, "Back references"); 0: it is none. */
static size_t d_distance(const char *q)
{
	size_t distance = 0;

	for (; *q >= 'A' && *q <= 'Z' && distance <= D_LEN_MAX; q++)
		distance = distance * 26 + (size_t)(*q - 'A');
	return *q >= 'a' && *q <= 'z' ? distance * 26 + (size_t)(*q - 'a') : 0;
}

/* References to identifiers begin with these's lengths, and stand for no more text than there is. */
static bool is_bounded_d(const char *name)
{
	size_t len = strlen(name);
	unsigned types = 0;

	for (size_t i = 0; i < len && len <= D_LEN_MAX; i++) {
		size_t distance = name[i] == 'Q' ? d_distance(name + i + 1) : 0;

		types += distance && distance <= i && !(name[i - distance] >= '0' && name[i - distance] <= '9');
	}
	return len <= D_LEN_MAX && types <= D_TYPES_MAX;
}

/* Where the arguments begin that @text ends with; its end if it does with something else. */
static size_t before_arguments(const char *text)
{
	size_t len = strlen(text), depth = 0;

	for (size_t i = len; i-- && text[len - 1] == ')';) {
		depth += text[i] == ')';
		depth -= text[i] == '(';
		if (!depth)
			return i;
	}
	return len;
}

static bool run_d(struct demangler *d, const char *name)
{
	bool is_d = strcmp(name, "_Dmain") == 0 || (strncmp(name, "_D", 2) == 0 && name[2] >= '0' && name[2] <= '9');
	char *text = is_d && is_bounded_d(name) ? dlang_demangle(name, d->options) : NULL;

	if (!text)
		return false;
	size_t len = d->options & DMGL_PARAMS ? strlen(text) : before_arguments(text);
	bool fits = len && len <= DEMANGLE_LEN_MAX;

	if (fits)
		vec_append(&d->text, text, len);
	free(text);
	return fits;
}

/* Rust first: its older names look like C++ with a hash at the end. */
static bool run(struct demangler *d, const char *name)
{
	d->text.len = 0;
	if (name[1] == 'D')
		return run_d(d, name);
	if (setjmp(d->too_long))
		return false;
	if (rust_demangle_callback(name, d->options, take_text, d))
		return true;
	d->text.len = 0;
	return cplus_demangle_v3_callback(name, d->options, take_text, d);
}

static const char *demangle(struct demangler *d, const char *linkage_name)
{
	if (linkage_name[0] != '_')
		return linkage_name;
	size_t len = strlen(linkage_name);
	bool plt = len > 4 && strcmp(linkage_name + len - 4, "@plt") == 0;
	char *name = plt ? arena_memdup(&d->arena, linkage_name, len - 4) : NULL;

	if (!run(d, name ? name : linkage_name))
		return linkage_name;
	if (plt)
		vec_append(&d->text, "@plt", 4);
	return arena_memdup(&d->arena, d->text.items, d->text.len);
}

const char *demangler_name(struct demangler *d, const char *linkage_name)
{
	uint32_t id = strtab_add(&d->linkage_names, linkage_name);

	while (d->names.len <= id)
		vec_push(&d->names, NULL);
	if (!d->names.items[id])
		d->names.items[id] = demangle(d, strtab_get(&d->linkage_names, id));
	return d->names.items[id];
}
