/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_code.c - selects functions, reads their bytes, and builds an ELF file of them.
 *
 * A section is a stretch of functions without a gap. Names are in the recording's kernel symbols.
 */
#include "record/embed/kernel_code.h"

#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/embed/kcore.h"
#include "formats/base/mini_elf.h"

#include <elf.h>
#include <stdlib.h>

#define FUNCTION_LEN_MAX (256U << 10) /* of code, from the function's beginning */

struct functions {
	struct kernel_function *items;
	size_t len, cap;
};

static bool is_code(const struct kernel_code_source *src, const struct kernel_function *f)
{
	if (f->end <= f->begin)
		return false;
	return !f->own || (src->text && f->begin >= src->text && f->end <= src->text_end);
}

static int most_samples_first(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	if (x->leaves != y->leaves)
		return x->leaves > y->leaves ? -1 : 1;
	return COMPARE(x->begin, y->begin);
}

static int by_address(const void *a, const void *b)
{
	const struct kernel_function *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

/* Those that are wanted and fit, by address; returns how many do not fit. */
static uint32_t choose(const struct kernel_code_source *src, struct functions *ret)
{
	uint64_t len = 0;
	size_t kept = 0;

	for (size_t i = 0; i < src->count; i++) {
		struct kernel_function f = src->functions[i];

		f.end = MIN(f.end, f.begin + FUNCTION_LEN_MAX);
		if ((f.leaves || src->callers) && is_code(src, &src->functions[i]))
			vec_push(ret, f);
	}
	vec_sort(ret, most_samples_first);
	while (kept < ret->len && ret->items[kept].end - ret->items[kept].begin <= src->max_len - len) {
		len += ret->items[kept].end - ret->items[kept].begin;
		kept++;
	}
	uint32_t left_out = (uint32_t)(ret->len - kept);

	ret->len = kept;
	vec_sort(ret, by_address);
	return left_out;
}

/* Does section @last end where @f begins, and its bytes where those at @code begin? */
static bool goes_on(const struct mini_elf_section *last, const struct kernel_function *f,
		    const uint8_t *code)
{
	return last && last->vaddr + last->len == f->begin &&
	       (const uint8_t *)last->data + last->len == code;
}

static void add_section(struct mini_elf *elf, const struct kernel_function *f, const uint8_t *code)
{
	struct mini_elf_section *last =
		elf->sections.len ? &elf->sections.items[elf->sections.len - 1] : NULL;

	if (goes_on(last, f, code)) {
		last->len += f->end - f->begin;
		return;
	}
	mini_elf_section(elf, (struct mini_elf_section){ .name = ".text",
							 .type = SHT_PROGBITS,
							 .flags = SHF_ALLOC | SHF_EXECINSTR,
							 .vaddr = f->begin,
							 .data = code,
							 .len = f->end - f->begin });
}

/* Put the bytes of @functions into @elf, as far as they can be read and there is room for their sections. */
static void read_functions(const struct kcore *core, const struct functions *functions,
			   struct mini_elf *elf, uint8_t *code, struct recording_kernel_code *ret)
{
	for (size_t i = 0; i < functions->len; i++) {
		const struct kernel_function *f = &functions->items[i];

		if (elf->sections.len == MINI_ELF_SECTIONS_MAX ||
		    !kcore_read(core, f->begin, code, f->end - f->begin)) {
			ret->unread++;
			continue;
		}
		add_section(elf, f, code);
		code += f->end - f->begin;
		ret->functions++;
	}
}

static void read_code(const struct kernel_code_source *src, const struct functions *functions,
		      struct writer *elf, struct recording_kernel_code *ret)
{
	struct mini_elf mini = { .machine = src->machine };
	uint64_t len = 0;
	struct kcore *core;

	ret->status = kcore_open(src->kcore, &core);
	if (ret->status != RECORDING_CODE_EMBEDDED)
		return;
	for (size_t i = 0; i < functions->len; i++)
		len += functions->items[i].end - functions->items[i].begin;

	CLEANUP(memory_freep) uint8_t *code = memory_alloc(MAX(len, 1));

	read_functions(core, functions, &mini, code, ret);
	kcore_close(core);
	if (ret->functions)
		mini_elf_finish(&mini, elf);
	else
		ret->status = RECORDING_CODE_UNREADABLE;
	mini_elf_deinit(&mini);
	ret->elf = elf->data;
	ret->elf_len = elf->len;
}

void kernel_code_read(const struct kernel_code_source *src, struct writer *elf,
		      struct recording_kernel_code *ret)
{
	struct recording_kernel_code code = { 0 };
	struct functions functions = { 0 };

	code.unread = choose(src, &functions);
	if (functions.len)
		read_code(src, &functions, elf, &code);
	vec_deinit(&functions);
	*ret = code;
}
