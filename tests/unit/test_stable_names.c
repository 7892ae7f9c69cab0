/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stable_names.c - what is taken off names, and what must stay.
 */
#include "report/diff/stable_names.h"
#include "tests/unit/test.h"

#include "formats/base/memory.h"

struct pair {
	const char *name, *becomes; /* NULL: stays */
};

TEST(match_takes_off_what_a_build_adds_to_functions)
{
	static const struct pair pairs[] = {
		{ "main", NULL },
		{ "parse.isra.0", "parse" },
		{ "parse.constprop.0.isra.12", "parse" },
		{ "parse.part.3.cold", "parse" },
		{ "parse.cold", "parse" },
		{ "parse.llvm.1234567890", "parse" },
		{ "parse.lto_priv.0", "parse" },
		{ "a::b(int, char) [clone .isra.0] [clone .cold]", "a::b(int, char)" },
		{ "a::b(int) [clone .part.0]", "a::b(int)" },
		{ "core::fmt::write::h0123456789abcdef", "core::fmt::write" },
		{ "a::h0123", NULL },
		{ "core[846817f741e54dfd]::fmt::write", "core::fmt::write" },
		{ "<alloc[1b3c5d7e9f]::Vec<u8>>::push", "<alloc::Vec<u8>>::push" },
		{ "main::{lambda(int)#2}::operator()(int) const",
		  "main::{lambda(int)}::operator()(int) const" },
		{ "run::{closure#0}::{closure#1}", "run::{closure}::{closure}" },
		{ "main::$_0::operator()() const", "main::$_::operator()() const" },
		{ "memcpy@@GLIBC_2.14", "memcpy" },
		{ "memcpy@GLIBC_2.2.5", "memcpy" },
		{ "memcpy@plt", NULL },
		{ "-[NSView draw:@]", NULL },
		{ "[prog+0x1a2b]", "[prog]" },
		{ "[prog]", NULL },
		{ "operator[](unsigned long)", NULL },
		{ "a[10]::b", NULL },
		{ ".isra.0", NULL },
		{ "", NULL },
		{ "version.2", NULL },
		{ "f.5", NULL },
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		CHECK_STR(stable_names_function(&arena, pairs[i].name),
			  pairs[i].becomes ? pairs[i].becomes : pairs[i].name);
}

TEST(match_takes_off_directories_and_versions_of_modules)
{
	static const struct pair pairs[] = {
		{ "/usr/lib/libfoo.so.1.2", "libfoo.so" },
		{ "libfoo-1.2.so", "libfoo.so" },
		{ "libLLVM-16.so.1", "libLLVM.so" },
		{ "libpython3.11.so.1.0", "libpython3.11.so" },
		{ "ld-linux-x86-64.so.2", "ld-linux-x86-64.so" },
		{ "prog (deleted)", "prog" },
		{ "/opt/a/prog", "prog" },
		{ "prog", NULL },
		{ "[kernel]", NULL },
		{ "[jit 4711]", "[jit]" },
		{ "perf-4711.map", "perf.map" },
		{ "foo.sort", NULL },
		{ "", NULL },
	};
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		CHECK_STR(stable_names_module(&arena, pairs[i].name),
			  pairs[i].becomes ? pairs[i].becomes : pairs[i].name);
}
