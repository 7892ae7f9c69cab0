/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/kernel_symbols.h"

#include <string.h>

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
	bool shown;
};

static void read_list(struct result *r, const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	CHECK(file);
	r->shown = kernel_symbols_read(&r->symbols, file, &r->list);
	fclose(file);
}

static void result_deinit(struct result *r)
{
	kernel_symbols_deinit(&r->symbols);
	vec_deinit(&r->list);
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

	kernel_symbols_touch(&r.symbols, 0xffffffff81001400);
	kernel_symbols_touch(&r.symbols, 0xffffffff81001004);
	kernel_symbols_touch(&r.symbols, 0xffffffff81002500);
	kernel_symbols_touch(&r.symbols, 0xffffffffc0001080);
	kernel_symbols_touch(&r.symbols, 0xffffffffa0000010);
	read_list(&r, kallsyms);
	CHECK(r.shown);
	CHECK_UINT(r.list.len, 4);
	check_symbol(&r.list.items[0], 0xffffffff81001000, 0x1000, "do_one", "");
	check_symbol(&r.list.items[1], 0xffffffff81002000, 0x1000, "do_two", "");
	check_symbol(&r.list.items[2], 0xffffffffa0000000, 0, "early_module", "early");
	check_symbol(&r.list.items[3], 0xffffffffc0001000, 0x100, "ext4_read", "ext4");
}

TEST(kernel_symbols_a_return_address_behind_a_function_still_finds_it)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols,
			     0xffffffff81002000); /* do_one's last call does not return */
	read_list(&r, kallsyms);
	CHECK_UINT(r.list.len, 2);
	CHECK_STR(r.list.items[0].name, "do_one");
	CHECK_STR(r.list.items[1].name, "do_two");
}

/* Modules may lie below the kernel, as on arm64: the list must not be left before them. */
TEST(kernel_symbols_modules_below_the_kernel_are_found)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001004);
	kernel_symbols_touch(&r.symbols, 0xffffff0000001004);
	read_list(&r, "ffffffff81001000 T do_one\n"
		      "ffffffff81002000 T do_two\n"
		      "ffffffff81003000 T do_three\n"
		      "ffffff0000001000 t early_module\t[early]\n");
	CHECK_UINT(r.list.len, 2);
	check_symbol(&r.list.items[0], 0xffffff0000001000, 0, "early_module", "early");
	check_symbol(&r.list.items[1], 0xffffffff81001000, 0x1000, "do_one", "");
}

TEST(kernel_symbols_order_of_lines_does_not_matter)
{
	CLEANUP(result_deinit) struct result r = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81002010);
	read_list(&r, "ffffffff81003000 T c\nffffffff81002000 W __weak_two\nffffffff81001000 T a\n"
		      "ffffffff81002000 t do_two\n");
	CHECK_UINT(r.list.len, 1);
	check_symbol(&r.list.items[0], 0xffffffff81002000, 0x1000, "do_two", "");
}

TEST(kernel_symbols_hidden_addresses_are_reported)
{
	CLEANUP(result_deinit) struct result r = { 0 }, none = { 0 };

	kernel_symbols_touch(&r.symbols, 0xffffffff81001400);
	read_list(&r, "0000000000000000 T _stext\n0000000000000000 T do_one\n");
	CHECK(!r.shown);
	CHECK_UINT(r.list.len, 0);
	CHECK(kernel_symbols_read(&none.symbols, NULL, &none.list)); /* nothing to name */
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
	kernel_symbols_touch(&r.symbols, 0xffffffffc0005010);
	read_list(&r, kallsyms);
	const struct recording_ksym *last = &r.list.items[r.list.len - 1];

	check_symbol(last, 0xffffffffc0005000, 0x80, "bpf_prog_1", "bpf");
}
