/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_own_kernel.c - a copy of another machine's kallsyms names the kernel's functions, where that kernel lay.
 */
#include "symbolize/name/own_kernel.h"

#include "tests/unit/test.h"

#include <stdio.h>

#define TEXT 0xffffffff81000000u

static const char *kallsyms(const char *text)
{
	const char *path = test_path("kallsyms");
	FILE *out = fopen(path, "w");

	fputs(text, out);
	fclose(out);
	return path;
}

static void check_symbol(const struct recording *rec, size_t i, uint64_t addr, const char *name)
{
	CHECK(i < rec->nksyms);
	CHECK_UINT(rec->ksyms[i].addr, addr);
	CHECK_STR(rec->ksyms[i].name, name);
}

TEST(a_copy_of_kallsyms_names_the_kernel_where_it_lay)
{
	struct recording rec = { 0 };
	const char *path = kallsyms("ffffffff81000000 T _text\nffffffff81000100 t do_work\nffffffffc0000000 t ext4_get_block\t[ext4]\n");

	CHECK_OK(own_kernel_name_from(path, &rec));
	CHECK_UINT(rec.nksyms, 3);
	check_symbol(&rec, 1, TEXT + 0x100, "do_work");
	CHECK_STR(rec.ksyms[2].module, "ext4");
	arena_deinit(&rec.arena);

	/* Another start of it: modules lie anywhere. */
	rec = (struct recording){ .kernel_text = TEXT + 0x2000000 };
	CHECK_OK(own_kernel_name_from(path, &rec));
	CHECK_UINT(rec.nksyms, 2);
	check_symbol(&rec, 1, TEXT + 0x2000100, "do_work");
	arena_deinit(&rec.arena);
}

TEST(a_list_without_addresses_names_nothing)
{
	struct recording rec = { 0 };

	CHECK_ERR(own_kernel_name_from(kallsyms("0000000000000000 T _text\n0000000000000000 t do_work\n"), &rec), ERR_CORRUPT,
		  "has no address of _text");
	CHECK_ERR(own_kernel_name_from(test_path("none"), &rec), ERR_SYSTEM, "cannot open");
	CHECK_UINT(rec.nksyms, 0);
	arena_deinit(&rec.arena);
}
