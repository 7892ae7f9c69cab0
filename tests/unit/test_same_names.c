/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_same_names.c - which functions of one name are told apart, and by what.
 */
#include "formats/profile/same_names.h"
#include "tests/unit/test.h"

static uint32_t add(struct profile *p, uint32_t module, const char *name, const char *file,
		    uint32_t line, uint64_t vaddr)
{
	struct profile_function function = { .name = profile_string(p, name),
					     .linkage_name = profile_string(p, name),
					     .module = module,
					     .file = profile_string(p, file),
					     .line = line,
					     .vaddr = vaddr };

	return profile_add_function(p, &function);
}

static struct profile *two_modules(void)
{
	struct profile *p = profile_new();
	struct profile_module first = { .name = profile_string(p, "app"), .path = profile_string(p, "/app") };
	struct profile_module second = { .name = profile_string(p, "libapp.so"), .path = profile_string(p, "/libapp.so") };

	profile_add_module(p, &first);
	profile_add_module(p, &second);
	return p;
}

static const char *name_of(const struct profile *p, uint32_t function)
{
	return profile_text(p, p->functions.items[function].name);
}

TEST(same_names_in_two_files_are_two_functions)
{
	struct profile *p = two_modules();
	uint32_t a = add(p, 0, "step", "/src/parse.c", 3, 0);
	uint32_t b = add(p, 0, "step", "/src/lex.c", 9, 0);
	uint32_t declared = add(p, 0, "step", "/src/sub/../lex.c", 2, 0);
	uint32_t elsewhere = add(p, 1, "step", "/src/other.c", 3, 0);

	same_names_tell_apart(p);
	CHECK_STR(name_of(p, a), "step (parse.c)");
	CHECK_STR(name_of(p, b), "step (lex.c)");
	CHECK_STR(name_of(p, declared), "step (lex.c)");
	CHECK_STR(name_of(p, elsewhere), "step");
	CHECK_STR(same_names_plain(p, b), "step");
	CHECK_UINT(add(p, 0, "step", "/src/lex.c", 9, 0), b);
	same_names_tell_apart(p);
	CHECK_STR(name_of(p, a), "step (parse.c)");
	profile_free(p);
}

TEST(same_names_without_files_are_told_apart_by_address)
{
	struct profile *p = two_modules();
	uint32_t a = add(p, 0, "step", "", 0, 0x1000), b = add(p, 0, "step", "", 0, 0x2000);
	uint32_t one = add(p, 0, "run", "", 0, 0x3000);
	uint32_t known = add(p, 0, "run", "/src/run.c", 7, 0);

	same_names_tell_apart(p);
	CHECK_STR(name_of(p, a), "step (0x1000)");
	CHECK_STR(name_of(p, b), "step (0x2000)");
	CHECK_STR(name_of(p, one), "run");
	CHECK_STR(name_of(p, known), "run");
	profile_free(p);
}

TEST(same_names_show_as_much_of_the_path_as_it_takes)
{
	struct profile *p = two_modules();
	uint32_t a = add(p, 0, "step", "/a/util.c", 3, 0), b = add(p, 0, "step", "/b/util.c", 3, 0);
	uint32_t x = add(p, 0, "main::{lambda}", "/a/m.cc", 3, 0);
	uint32_t y = add(p, 0, "main::{lambda}", "/a/m.cc", 4, 0);

	same_names_tell_apart(p);
	CHECK_STR(name_of(p, a), "step (/a/util.c)");
	CHECK_STR(name_of(p, b), "step (/b/util.c)");
	CHECK_STR(name_of(p, x), "main::{lambda} (m.cc:3)");
	CHECK_STR(name_of(p, y), "main::{lambda} (m.cc:4)");
	profile_free(p);
}

static uint32_t add_script(struct profile *p, const char *name, const char *file, uint32_t line)
{
	struct profile_function function = { .name = profile_string(p, name), .module = PROFILE_NONE,
					     .file = profile_string(p, file), .line = line };

	return profile_add_function(p, &function);
}

TEST(same_names_of_a_script_are_told_apart_by_their_lines)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = profile_new();
	uint32_t a = add_script(p, "step", "/src/app.js", 3), b = add_script(p, "step", "/src/app.js", 9);
	uint32_t other = add_script(p, "step", "/src/lib.js", 5);
	uint32_t alone = add_script(p, "run", "/src/app.js", 3);

	same_names_tell_apart(p);
	CHECK_STR(name_of(p, a), "step (app.js:3)");
	CHECK_STR(name_of(p, b), "step (app.js:9)");
	CHECK_STR(name_of(p, other), "step (lib.js)");
	CHECK_STR(name_of(p, alone), "run");
	CHECK_STR(same_names_without_line(p, b, &arena), "step (app.js)");
	CHECK_STR(same_names_without_line(p, other, &arena), "step (lib.js)");
	CHECK_STR(same_names_without_line(p, alone, &arena), "run");
	profile_free(p);
}
