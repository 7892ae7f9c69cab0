/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c - libiberty's demanglers, behind a cache and a limit.
 *
 * A mangled name can refer back to its own parts, so a few hundred bytes may stand for more text than
 * there are atoms. libiberty hands out the text piece by piece but offers no way to say "enough": the
 * callback leaves by longjmp(). That is sound, since the callback variants keep their working memory on
 * the stack (Rust's punycode buffer is lost, at most once for each such name).
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

/* Rust first: its older names look like C++ with a hash at the end. */
static bool run(struct demangler *d, const char *name)
{
	d->text.len = 0;
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
