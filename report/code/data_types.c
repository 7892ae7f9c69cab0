/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_types.c - each sampled address is asked about once, function by function, module by module, so that a function is
 * decoded once and only one file's debug information is open.
 */
#include "report/code/data_types.h"

#include "report/code/code_origin.h"
#include "symbolize/data_type.h"

#include <stdlib.h>

enum told {
	TOLD_TYPE,
	TOLD_SPILL,
	TOLD_NO_ACCESS,
	TOLD_NO_CODE,
	TOLD_NO_DEBUG_INFO,
	TOLD_UNKNOWN,
};

static const char *const told_names[] = {
	[TOLD_SPILL] = "[compiler's spill]",
	[TOLD_NO_ACCESS] = "[no memory access]",
	[TOLD_NO_CODE] = "[no code]",
	[TOLD_NO_DEBUG_INFO] = "[no debug information]",
	[TOLD_UNKNOWN] = "[type not known]",
};

struct answer {
	uint32_t location;
	enum told told;
	uint32_t type, field; /* strings of the profile */
};

struct place {
	const struct profile *p;
	uint32_t location;
};

/* What is open: one file, one function of it. */
struct open_code {
	struct session *s;
	struct arena arena;
	uint32_t module; /* of the profile */
	struct debug_types *types;
	struct disasm *disasm;
	uint64_t function; /* where it begins */
	struct data_type_function *code;
};

bool data_types_wanted(const struct view_levels *levels)
{
	for (unsigned i = 0; i < levels->len; i++)
		if (levels->items[i].by == VIEW_DATA_TYPE || levels->items[i].by == VIEW_DATA_FIELD)
			return true;
	return false;
}

static void close_function(struct open_code *open)
{
	data_type_close(open->code);
	open->code = NULL;
	open->function = 0;
}

static void close_module(struct open_code *open)
{
	close_function(open);
	debug_types_free(open->types);
	open->types = NULL;
	open->module = PROFILE_NONE;
}

/* The kernel runs at other addresses than its file says, and code made at run time has no file. */
static void open_module(struct open_code *open, uint32_t module)
{
	struct module *mod = session_module(open->s, module);
	struct image *images[MODULE_NAME_IMAGES_MAX];
	size_t count;

	close_module(open);
	open->module = module;
	if (!mod || mod->kind != MODULE_FILE)
		return;
	count = module_name_images(open->s->binaries.modules, mod, images);
	for (size_t i = 0; i < count && !open->types; i++)
		if (image_has_section(images[i], ".debug_info"))
			open->types = debug_types_new(images[i],
						      module_image(open->s->binaries.modules, mod));
}

/* False: the code is not there. */
static bool open_function(struct open_code *open, uint64_t vaddr)
{
	struct module *mod = session_module(open->s, open->module);
	struct code_origin origin;
	size_t count;

	if (!mod)
		return false;

	const struct symbol_frame *frames = symbolizer_find(open->s->binaries.symbolizer, mod, vaddr, &count);
	const struct symbol_frame *outer = &frames[count - 1];

	if (!outer->function_vaddr || vaddr - outer->function_vaddr >= outer->function_len)
		return false;
	if (open->code && open->function == outer->function_vaddr)
		return true;
	close_function(open);
	if (!code_origin_find(open->s, mod, outer->function_vaddr, &origin))
		return false;
	if (!open->disasm) {
		struct err *err = disasm_open(origin.arch, DISASM_ATT, &open->disasm);

		err_free(err);
		if (err)
			return false;
	}

	const struct data_type_code code = {
		.vaddr = outer->function_vaddr,
		.bytes = origin.code,
		.len = origin.len < outer->function_len ? origin.len : outer->function_len,
	};

	open->function = outer->function_vaddr;
	open->code = data_type_open(open->types, open->disasm, origin.arch, &code);
	return true;
}

static enum told tell(struct open_code *open, uint64_t vaddr, struct answer *ret)
{
	struct profile *p = open->s->profile;
	struct debug_place place;

	if (!open_function(open, vaddr))
		return TOLD_NO_CODE;
	switch (data_type_find(open->code, vaddr, &place)) {
	case DATA_TYPE_FOUND:
		ret->type = profile_string(p, debug_types_name(open->types, place.type, &open->arena));
		ret->field = profile_string(p, debug_types_field(open->types, place, &open->arena));
		return TOLD_TYPE;
	case DATA_TYPE_SPILL:
		return TOLD_SPILL;
	case DATA_TYPE_NO_ACCESS:
		return TOLD_NO_ACCESS;
	case DATA_TYPE_NO_CODE:
		return TOLD_NO_CODE;
	default:
		return open->types ? TOLD_UNKNOWN : TOLD_NO_DEBUG_INFO;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct place *left = a, *right = b;
	const struct profile_location *x = &left->p->locations.items[left->location];
	const struct profile_location *y = &right->p->locations.items[right->location];

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return COMPARE(x->vaddr, y->vaddr);
}

/* The answers by location of the profile; those of locations that are no leaf stay empty. */
static struct answer *answer_all(struct session *s)
{
	struct profile *p = s->profile;
	struct answer *answers = memory_zeroed(p->locations.len + 1, sizeof(*answers));
	bool *wanted = memory_zeroed(p->locations.len + 1, sizeof(*wanted));
	struct open_code open = { .s = s, .module = PROFILE_NONE };
	VEC(struct place) places = { 0 };

	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].stack)
			wanted[p->stacks.items[p->samples.items[i].stack].location] = true;
	for (uint32_t i = 0; i < p->locations.len; i++)
		if (wanted[i])
			vec_push(&places, ((struct place){ p, i }));
	vec_sort(&places, by_address);
	for (size_t i = 0; i < places.len; i++) {
		const struct profile_location *location = &p->locations.items[places.items[i].location];
		struct answer *answer = &answers[places.items[i].location];

		answer->told = TOLD_NO_CODE;
		if (!location->has_vaddr || location->module == PROFILE_NONE)
			continue;
		if (location->module != open.module)
			open_module(&open, location->module);
		answer->told = tell(&open, location->vaddr, answer);
	}
	close_module(&open);
	disasm_close(open.disasm);
	arena_deinit(&open.arena);
	vec_deinit(&places);
	free(wanted);
	return answers;
}

static void count(struct data_types_count *sum, enum told told, uint64_t samples)
{
	sum->samples += samples;
	switch (told) {
	case TOLD_TYPE:
		sum->known += samples;
		break;
	case TOLD_SPILL:
		sum->spilled += samples;
		break;
	case TOLD_NO_ACCESS:
	case TOLD_NO_CODE:
		break;
	default:
		sum->unknown += samples;
		sum->without_debug_info += told == TOLD_NO_DEBUG_INFO ? samples : 0;
	}
}

void data_types_fill(struct session *s, struct data_types_count *ret)
{
	struct profile *p = s->profile;
	struct answer *answers = answer_all(s);

	*ret = (struct data_types_count){ 0 };
	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_sample *row = &p->samples.items[i];
		struct answer answer = { .told = TOLD_NO_CODE };

		if (row->stack)
			answer = answers[p->stacks.items[row->stack].location];

		struct profile_data data = p->data.items[row->data];

		data.type = answer.told == TOLD_TYPE ? answer.type
						     : profile_string(p, told_names[answer.told]);
		data.field = answer.field;
		row->data = profile_add_data(p, &data);
		count(ret, answer.told, row->count);
	}
	free(answers);
}
