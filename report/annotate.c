/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotate.c - gathers the leaf samples of the functions that were asked for, by module and start address.
 */
#include "report/annotate.h"

#include "formats/base/text.h"
#include "report/lookup.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the operand asks for; each location of the profile is held against it. */
struct wanted {
	const char *file; /* FILE:LINE */
	size_t file_len;
	uint64_t line;
	bool is_address; /* address, perhaps with module */
	uint64_t vaddr;
	const char *module;
	size_t module_len;
	struct lookup functions; /* otherwise */
};

/* "0x1234", or "libc.so.6:0x1234". */
static bool parse_address(const char *text, struct wanted *ret)
{
	const char *hex = strstr(text, "0x");
	char *end;

	if (!hex || (hex != text && hex[-1] != ':') || !isxdigit((uint8_t)hex[2]))
		return false;
	ret->vaddr = strtoull(hex, &end, 16);
	ret->is_address = !*end;
	ret->module = text;
	ret->module_len = hex == text ? 0 : (size_t)(hex - text) - 1;
	return ret->is_address;
}

/* "parse.c:17": the part behind the last colon is a number, and what stands before looks like a file. */
static bool parse_line(const char *text, struct wanted *ret)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == ':' || !text_parse_u64(colon + 1, &ret->line))
		return false;
	ret->file = text;
	ret->file_len = (size_t)(colon - text);
	return memchr(text, '.', ret->file_len) || memchr(text, '/', ret->file_len);
}

static struct err *parse_wanted(struct session *s, const char *text, struct wanted *ret)
{
	if (parse_address(text, ret) || parse_line(text, ret))
		return NULL;
	ret->file = NULL;
	return lookup_function(s->profile, text, &s->arena, &ret->functions);
}

/* Is @path the file, or does it end in "/FILE"? */
static bool path_matches(const char *path, const struct wanted *wanted)
{
	size_t len = strlen(path);

	if (len < wanted->file_len ||
	    strncmp(path + len - wanted->file_len, wanted->file, wanted->file_len) != 0)
		return false;
	return len == wanted->file_len || path[len - wanted->file_len - 1] == '/';
}

static bool location_matches(const struct profile *p, const struct profile_location *location,
			     const struct wanted *wanted)
{
	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		if (wanted->file ? line->line == wanted->line &&
					   path_matches(profile_text(p, line->file), wanted)
				 : wanted->functions.matches[line->function])
			return true;
	}
	return false;
}

/* The function with code of its own around @location: its symbol's extent, or just the address. */
static struct annotate_function container_of(const struct annotate *a,
					     const struct profile_location *location)
{
	const struct profile *p = a->s->profile;
	const struct profile_line *last =
		&p->lines.items[location->first_line + location->nlines - 1];
	size_t count;
	const struct symbol_frame *frames = symbolizer_find(
		a->s->symbolizer, session_module(a->s, location->module), location->vaddr, &count);
	const struct symbol_frame *own = &frames[count - 1];

	return (struct annotate_function){
		.module = location->module,
		.vaddr = own->function_vaddr ? own->function_vaddr : location->vaddr,
		.len = own->function_len,
		.name = profile_text(p, p->functions.items[last->function].name),
	};
}

static bool covers(const struct profile *p, const struct annotate_function *function,
		   const struct wanted *wanted)
{
	if (wanted->module_len &&
	    !lookup_matches_module(p, function->module, wanted->module, wanted->module_len))
		return false;
	return wanted->vaddr >= function->vaddr &&
	       wanted->vaddr - function->vaddr < MAX(function->len, 1);
}

static struct annotate_function *function_of(struct annotate *a,
					     const struct annotate_function *wanted)
{
	for (size_t i = 0; i < a->functions.len; i++)
		if (a->functions.items[i].module == wanted->module &&
		    a->functions.items[i].vaddr == wanted->vaddr)
			return &a->functions.items[i];
	vec_push(&a->functions, *wanted);
	return &a->functions.items[a->functions.len - 1];
}

/* Marks the functions that the operand means: those around a matching location. */
static void find_functions(struct annotate *a, const struct wanted *wanted)
{
	const struct profile *p = a->s->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		uint32_t stack = p->samples.items[i].stack;

		if (!stack || p->samples.items[i].event != a->event)
			continue;
		const struct profile_location *location =
			&p->locations.items[p->stacks.items[stack].location];

		if (!wanted->is_address && !location_matches(p, location, wanted))
			continue;
		struct annotate_function function = container_of(a, location);

		if (!wanted->is_address || covers(p, &function, wanted))
			function_of(a, &function);
	}
}

static void add_hit(struct annotate_function *function, uint64_t vaddr,
		    const struct profile_sample *sample)
{
	stats_add(&function->sum, sample);
	for (size_t i = 0; i < function->hits.len; i++) {
		if (function->hits.items[i].vaddr == vaddr) {
			stats_add(&function->hits.items[i].sum, sample);
			return;
		}
	}
	struct annotate_hit hit = { .vaddr = vaddr };

	stats_add(&hit.sum, sample);
	vec_push(&function->hits, hit);
}

/* All leaf samples inside the functions found, whichever inlined function they were in. */
static void add_hits(struct annotate *a)
{
	const struct profile *p = a->s->profile;

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *sample = &p->samples.items[i];

		if (!sample->stack || sample->event != a->event)
			continue;
		const struct profile_location *location =
			&p->locations.items[p->stacks.items[sample->stack].location];

		for (size_t k = 0; k < a->functions.len; k++) {
			struct annotate_function *function = &a->functions.items[k];

			if (function->module == location->module &&
			    location->vaddr - function->vaddr < MAX(function->len, 1))
				add_hit(function, location->vaddr, sample);
		}
	}
}

static int compare_hits(const void *a, const void *b)
{
	const struct annotate_hit *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static int compare_functions(const void *a, const void *b)
{
	const struct annotate_function *x = a, *y = b;

	if (x->sum.weight != y->sum.weight)
		return x->sum.weight > y->sum.weight ? -1 : 1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

struct err *annotate_find(struct annotate *a, struct session *s, const char *wanted_text)
{
	struct wanted wanted = { 0 };

	*a = (struct annotate){ .s = s, .event = session_default_event(s) };
	struct err *err = parse_wanted(s, wanted_text, &wanted);

	if (err)
		return err;
	a->total = profile_total(s->profile, a->event);
	find_functions(a, &wanted);
	if (!a->functions.len)
		return err_remedy(
			err_new(ERR_USAGE, "no sample was taken in '%s' itself", wanted_text),
			"it may only have called what was sampled: try --callees-of '%s'",
			wanted_text);
	add_hits(a);
	for (size_t i = 0; i < a->functions.len; i++)
		vec_sort(&a->functions.items[i].hits, compare_hits);
	vec_sort(&a->functions, compare_functions);
	return NULL;
}

void annotate_deinit(struct annotate *a)
{
	for (size_t i = 0; i < a->functions.len; i++)
		vec_deinit(&a->functions.items[i].hits);
	vec_deinit(&a->functions);
}

/* ---- listing --------------------------------------------------------------------------------------- */

static struct err *no_code(const struct annotate *a, const struct annotate_function *function)
{
	const struct module *mod = session_module(a->s, function->module);
	struct err *err = err_new(ERR_UNSUPPORTED, "the code of '%s' is not there: module '%s'",
				  function->name, mod->path);

	if (mod->kind == MODULE_JIT)
		return err_remedy(err, "code made at run time is not kept in the recording");
	if (mod->kind == MODULE_KERNEL || mod->kind == MODULE_KERNEL_MODULE)
		return err_remedy(
			err,
			"install the kernel's debug package, or point --debug-dir to its vmlinux");
	return err_remedy(err,
			  "point --symfs to a copy of the machine's files with the same build ID");
}

static void add_callee(const struct annotate *a, const struct annotate_function *function,
		       struct annotate_line *line)
{
	uint64_t target = line->insn.target;
	size_t count;

	if (!target || (line->insn.flow != DISASM_CALL && target - function->vaddr < function->len))
		return;
	const struct symbol_frame *frames = symbolizer_find(
		a->s->symbolizer, session_module(a->s, function->module), target, &count);

	line->callee = frames[count - 1].function;
}

static int compare_lines(const void *key, const void *item)
{
	uint64_t vaddr = *(const uint64_t *)key;
	const struct annotate_line *line = item;

	if (vaddr < line->insn.vaddr)
		return -1;
	return vaddr - line->insn.vaddr >= line->insn.len;
}

static struct annotate_line *line_at(struct annotate_listing *listing, uint64_t vaddr)
{
	return bsearch(&vaddr, listing->lines.items, listing->lines.len,
		       sizeof(*listing->lines.items), compare_lines);
}

static void mark_targets(struct annotate_listing *listing)
{
	for (size_t i = 0; i < listing->lines.len; i++) {
		const struct disasm_insn *insn = &listing->lines.items[i].insn;
		struct annotate_line *target = NULL;

		if (insn->target && insn->flow != DISASM_CALL)
			target = line_at(listing, insn->target);
		if (target)
			target->is_target = true;
	}
}

static void add_sum(struct profile_sum *to, const struct profile_sum *sum)
{
	to->count += sum->count;
	to->weight += sum->weight;
	to->weight_sq += sum->weight_sq;
}

static void place_hits(const struct annotate_function *function, struct annotate_listing *listing)
{
	for (size_t i = 0; i < function->hits.len; i++) {
		const struct annotate_hit *hit = &function->hits.items[i];
		struct annotate_line *line = line_at(listing, hit->vaddr);

		add_sum(line ? &line->sum : &listing->elsewhere, &hit->sum);
	}
}

static void disassemble(const struct annotate *a, const struct annotate_function *function,
			struct disasm *d, const uint8_t *code, struct annotate_listing *ret)
{
	struct module *mod = session_module(a->s, function->module);
	uint64_t at = 0;

	while (at < ret->code_len) {
		struct annotate_line line = { .code = code + at };

		if (!disasm_next(d, code + at, ret->code_len - at, function->vaddr + at,
				 &line.insn))
			break;
		if (!symbolizer_line(a->s->symbolizer, mod, line.insn.vaddr, &line.file,
				     &line.line))
			line.file = NULL;
		add_callee(a, function, &line);
		vec_push(&ret->lines, line);
		at += line.insn.len;
	}
}

struct err *annotate_list(struct annotate *a, const struct annotate_function *function,
			  enum disasm_syntax syntax, struct annotate_listing *ret)
{
	struct image *img = module_code(a->s->modules, session_module(a->s, function->module));
	size_t left = 0;
	const uint8_t *code = img ? image_bytes_at(img, function->vaddr, &left) : NULL;
	struct disasm *d;

	if (!code || !function->len)
		return no_code(a, function);
	struct err *err = disasm_open(image_arch(img), syntax, &d);

	if (err)
		return err;
	*ret = (struct annotate_listing){ .code_len = MIN(function->len, left) };
	disassemble(a, function, d, code, ret);
	disasm_close(d);
	mark_targets(ret);
	place_hits(function, ret);
	return NULL;
}

void annotate_listing_deinit(struct annotate_listing *listing)
{
	vec_deinit(&listing->lines);
}
