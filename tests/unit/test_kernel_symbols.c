/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/embed/kernel_symbols.h"

#include <string.h>
#include <unistd.h>

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81001000 T do_one\n"
			       "ffffffff81000ff0 t __pfx_do_one\n"
			       "ffffffff81001800 d some_data\n"
			       "ffffffff81002000 t do_two\n"
			       "ffffffff81002000 W __weak_two\n"
			       "ffffffff81003000 T _etext\n"
			       "ffffffffc0001000 t ext4_read\t[ext4]\n"
			       "ffffffffc0001100 t ext4_write\t[ext4]\n"
			       "ffffffffa0000000 t early_module\t[early]\n"
			       "garbage\n"
			       "ffffffffc0009000 t unfinished\t[oops\n";

struct result {
	struct kernel_symbols symbols;
	struct kernel_symbol_list list;
	struct kernel_function_list functions;
	bool shown;
};

static void read_list(struct result *r, const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	CHECK(file);
	r->shown = kernel_symbols_read(&r->symbols, file, &r->list, &r->functions);
	fclose(file);
}

static void result_deinit(struct result *r)
{
	kernel_symbols_deinit(&r->symbols);
	vec_deinit(&r->list);
	vec_deinit(&r->functions);
}

static void check_symbol(const struct recording_ksym *symbol, uint64_t addr, uint64_t len,
			 const char *name, const char *module)
{
	CHECK_UINT(symbol->addr, addr);
	CHECK_UINT(symbol->len, len);
	CHECK_STR(symbol->name, name);
	CHECK_STR(symbol->module, module);
}

TEST(kernel_symbols_are_those_that_addresses_lie_in)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001400, 0);
	kernel_symbols_touch(&r.symbols, 0xffffffff81001004, 0);
	kernel_symbols_touch(&r.symbols, 0xffffffff81002500, 0);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0001080, 0);
	kernel_symbols_touch(&r.symbols, 0xffffffffa0000010, 0);
	read_list(&r, kallsyms);
	CHECK(r.shown);
	CHECK_UINT(r.list.len, 4);
	check_symbol(&r.list.items[0], 0xffffffff81001000, 0x1000, "do_one", "");
	check_symbol(&r.list.items[1], 0xffffffff81002000, 0x1000, "do_two", "");
	check_symbol(&r.list.items[2], 0xffffffffa0000000, (uint64_t)sysconf(_SC_PAGESIZE), "early_module", "early");
	check_symbol(&r.list.items[3], 0xffffffffc0001000, 0x100, "ext4_read", "ext4");
}

TEST(kernel_symbols_a_return_address_behind_a_function_still_finds_it)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols,
			     0xffffffff81002000, 0); /* do_one's last call does not return */
	read_list(&r, kallsyms);
	CHECK_UINT(r.list.len, 2);
	CHECK_STR(r.list.items[0].name, "do_one");
	CHECK_STR(r.list.items[1].name, "do_two");
}

/* Modules may lie below the kernel, as on arm64: the list must not be left before them. */
TEST(kernel_symbols_modules_below_the_kernel_are_found)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001004, 0);
	kernel_symbols_touch(&r.symbols, 0xffffff0000001004, 0);
	read_list(&r, "ffffffff81001000 T do_one\n"
		      "ffffffff81002000 T do_two\n"
		      "ffffffff81003000 T do_three\n"
		      "ffffff0000001000 t early_module\t[early]\n");
	CHECK_UINT(r.list.len, 2);
	check_symbol(&r.list.items[0], 0xffffff0000001000, (uint64_t)sysconf(_SC_PAGESIZE) - 0x1000 % (uint64_t)sysconf(_SC_PAGESIZE), "early_module", "early");
	check_symbol(&r.list.items[1], 0xffffffff81001000, 0x1000, "do_one", "");
}

TEST(kernel_symbols_order_of_lines_does_not_matter)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81002010, 0);
	read_list(&r, "ffffffff81003000 T c\nffffffff81002000 W __weak_two\nffffffff81001000 T a\n"
		      "ffffffff81002000 t do_two\n");
	CHECK_UINT(r.list.len, 1);
	check_symbol(&r.list.items[0], 0xffffffff81002000, 0x1000, "do_two", "");
}

TEST(kernel_symbols_hidden_addresses_are_reported)
{
	CLEANUP(result_deinit) struct result r = { 0 }, none = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001400, 0);
	read_list(&r, "0000000000000000 T _stext\n0000000000000000 T do_one\n");
	CHECK(!r.shown);
	CHECK_UINT(r.list.len, 0);
	CHECK(kernel_symbols_read(&none.symbols, NULL, &none.list, &none.functions)); /* nothing to name */
}

TEST(kernel_symbols_code_that_is_gone_keeps_its_name)
{
	CLEANUP(result_deinit) struct result r = { 0 };
	struct event_ksymbol ev = { .addr = 0xffffffffc0005000, .len = 0x80, .name = "bpf_prog_1" };

	kernel_symbols_tell(&r.symbols, &ev);
	ev.removed = true;
	kernel_symbols_tell(&r.symbols, &ev);
	ev = (struct event_ksymbol){ .addr = 0xffffffffc0006000,
				     .len = 0x80,
				     .name = "bpf_prog_2" };
	kernel_symbols_tell(&r.symbols, &ev);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0005010, 0);
	read_list(&r, kallsyms);
	const struct recording_ksym *last = &r.list.items[r.list.len - 1];

	check_symbol(last, 0xffffffffc0005000, 0x80, "bpf_prog_1", "bpf");
}

TEST(kernel_symbols_count_the_code_that_they_cannot_keep)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	for (uint64_t i = 0; i < KERNEL_SYMBOLS_TOLD_MAX + 2; i++) {
		struct event_ksymbol ev = { .addr = 0xffffffffd0000000 + 0x80 * i,
					    .len = 0x80,
					    .name = "bpf_prog" };

		kernel_symbols_tell(&r.symbols, &ev);
		ev.removed = true;
		kernel_symbols_tell(&r.symbols, &ev);
	}
	CHECK_UINT(r.symbols.told.len, KERNEL_SYMBOLS_TOLD_MAX);
	CHECK_UINT(r.symbols.left_out, 2);
}

TEST(kernel_symbols_drop_the_addresses_that_were_not_seen_for_longest)
{
	const uint64_t first = 0xffffffff81000000, kept = 0xffffffff90000000, half = KERNEL_SYMBOLS_ADDRESSES_MAX / 2;
	CLEANUP(result_deinit) struct result r = { 0 };
	unsigned turns = 0;

	for (uint64_t i = 0; i < 3 * half; i++) {
		bool turned = kernel_symbols_touch(&r.symbols, first + i, 0);

		turns += turned;
		if (!i || turned) /* whoever is asked again tells again */
			turns += kernel_symbols_touch(&r.symbols, kept, 1);
		CHECK(r.symbols.addresses.len + r.symbols.older.len <= KERNEL_SYMBOLS_ADDRESSES_MAX);
	}
	CHECK_UINT(turns, 3);
	kernel_symbols_join(&r.symbols);
	CHECK_UINT(r.symbols.addresses.len + r.symbols.dropped, 3 * half + 1);
	CHECK(r.symbols.dropped >= half && !r.symbols.older.len);
	CHECK_UINT(*map_get(&r.symbols.addresses, kept), 4);
	CHECK(!map_get(&r.symbols.addresses, first) && map_get(&r.symbols.addresses, first + 3 * half - 1));
	kernel_symbols_forget(&r.symbols);
	CHECK(!r.symbols.addresses.len);
}

static void check_function(const struct kernel_function *function, uint64_t begin, uint64_t end,
			   uint64_t leaves)
{
	CHECK_UINT(function->begin, begin);
	CHECK_UINT(function->end, end);
	CHECK_UINT(function->leaves, leaves);
}

TEST(kernel_symbols_functions_end_with_the_next_symbol_of_any_kind)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001004, 2);
	kernel_symbols_touch(&r.symbols, 0xffffffff81001005, 3);
	kernel_symbols_touch(&r.symbols, 0xffffffff81002500, 0);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0001080, 1);
	read_list(&r, kallsyms);
	CHECK_UINT(r.functions.len, 3);
	check_function(&r.functions.items[0], 0xffffffff81001000, 0xffffffff81001800, 5);
	CHECK(r.functions.items[0].own);
	check_function(&r.functions.items[1], 0xffffffff81002000, 0xffffffff81003000, 0);
	check_function(&r.functions.items[2], 0xffffffffc0001000, 0xffffffffc0001100, 1);
	CHECK(!r.functions.items[2].own);
}

/* Behind a module's last function come its data, perhaps without a symbol. */
TEST(kernel_symbols_a_modules_last_function_ends_with_the_last_page_that_was_executed)
{
	CLEANUP(result_deinit) struct result r = { 0 };
	uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t begin = 0xffffffffa0000000, inside = begin + 2 * page_len + 16;

	kernel_symbols_touch(&r.symbols, inside, 1);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0001104, 1); /* the list ends here */
	read_list(&r, kallsyms);
	CHECK_UINT(r.functions.len, 2);
	check_function(&r.functions.items[0], begin, begin + 3 * page_len, 1);
	CHECK_UINT(r.functions.items[1].end, (0xffffffffc0001104 | (page_len - 1)) + 1);
}

TEST(kernel_symbols_one_bpf_program_is_no_other_ones_end)
{
	CLEANUP(result_deinit) struct result r = { 0 };
	struct event_ksymbol ev = { .addr = 0xffffffffc0008000, .len = 0x85, .name = "bpf_prog_b" };
	const char *text = "ffffffff81000000 T _stext\n"
			   "ffffffffc0000100 t bpf_prog_a\t[bpf]\n"
			   "ffffffffc0008000 t bpf_prog_b\t[bpf]\n";

	kernel_symbols_tell(&r.symbols, &ev);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0000104, 1);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0008004, 1);
	read_list(&r, text);
	CHECK_UINT(r.functions.len, 2);
	CHECK(r.functions.items[0].end < 0xffffffffc0008000 || sysconf(_SC_PAGESIZE) > 4096);
	check_function(&r.functions.items[1], ev.addr, ev.addr + ev.len, 1);
}

/* A program that is gone has a name; what is in its place now is something else's. */
TEST(kernel_symbols_what_is_gone_is_no_function)
{
	CLEANUP(result_deinit) struct result r = { 0 };
	struct event_ksymbol ev = { .addr = 0xffffffffc0105000, .len = 0x80, .name = "bpf_prog_1" };

	kernel_symbols_tell(&r.symbols, &ev);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0105010, 1);
	read_list(&r, "ffffffff81000000 T _stext\nffffffffc0200000 t other\t[other]\n");
	for (size_t i = 0; i < r.functions.len; i++)
		CHECK(r.functions.items[i].begin != ev.addr);
}
