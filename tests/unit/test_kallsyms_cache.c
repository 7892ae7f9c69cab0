/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/kallsyms_cache.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_1 "11111111-2222-3333-4444-555555555555\n"
#define BOOT_2 "11111111-2222-3333-4444-666666666666\n"

static const char own[] = "0000000000001000 A percpu\n"
			  "ffffffff81000000 T _text\n"
			  "ffffffff81000010 t first\n"
			  "ffffffff81000010 T alias\n"
			  "ffffffff81000018 d table\n"
			  "ffffffff8100001f t __pfx_second\n"
			  "ffffffff81000020 t second\n"
			  "ffffffff81000030 t third\n"
			  "ffffffff81000040 T fourth\n"
			  "ffffffff81000050 D data\n";

static void put(const char *path, const char *text, const char *more)
{
	FILE *out = fopen(path, "w");

	fprintf(out, "%s%s", text, more);
	fclose(out);
}

/* What is found of @count addresses; NULL: nothing. */
static const char *lines_of(const struct kallsyms_cache *cache, const uint64_t *addresses, size_t count)
{
	static char text[1024];
	struct writer w = { 0 };
	bool found = kallsyms_cache_lines(cache, addresses, count, &w);

	snprintf(text, sizeof(text), "%.*s", (int)w.len, (const char *)w.data);
	writer_deinit(&w);
	return found ? text : NULL;
}

static struct kallsyms_cache begin_cache(const char *name)
{
	struct kallsyms_cache cache = { .folder = test_path(name), .kallsyms = test_path("kallsyms"), .boot_id = test_path("boot") };

	put(cache.boot_id, BOOT_1, "");
	put(cache.kallsyms, own, "ffffffffc0000000 t of_module\t[nfs]\nffffffffc0000010 t bpf_prog\t[bpf]\n");
	return cache;
}

TEST(kallsyms_cache_has_the_lines_around_addresses)
{
	static const uint64_t inside[] = { 0xffffffff81000015, 0xffffffff8100001c }, two[] = { 0xffffffff81000002, 0xffffffff81000030 },
			      module[] = { 0xffffffff81000015, 0xffffffffc0000004 }, low[] = { 0x2000 }, last[] = { 0xffffffff81000044 };
	static const char around[] = "ffffffff81000010 t first\nffffffff81000010 T alias\nffffffff81000018 d table\n"
				     "ffffffff8100001f t __pfx_second\nffffffff81000020 t second\n";
	struct kallsyms_cache cache = begin_cache("kept");

	if (geteuid()) /* whose it is not */
		return;
	for (int round = 0; round < 2; round++) { /* from the kernel's list, and from what is kept */
		CHECK_STR(lines_of(&cache, inside, 1), around);
		CHECK_STR(lines_of(&cache, inside, 2), around);
		CHECK_STR(lines_of(&cache, two, 2), "ffffffff81000000 T _text\nffffffff81000010 t first\n"
						    "ffffffff81000030 t third\nffffffff81000040 T fourth\n");
		CHECK_STR(lines_of(&cache, module, 2), NULL);
		CHECK_STR(lines_of(&cache, low, 1), NULL);
		CHECK_STR(lines_of(&cache, last, 1), NULL);
		put(cache.kallsyms, "", "");
	}
	put(cache.boot_id, BOOT_2, "");
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
	put(cache.kallsyms, own, "");
	CHECK_STR(lines_of(&cache, inside, 1), around);
}

TEST(kallsyms_cache_is_not_begun_from_what_is_hidden_or_in_no_order)
{
	static const uint64_t inside[] = { 0xffffffff81000015 };
	struct kallsyms_cache cache = begin_cache("hidden");

	put(cache.kallsyms, "0000000000000000 T _text\n0000000000000000 t first\n", "");
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
	put(cache.kallsyms, own, own);
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
	put(cache.kallsyms, own, "");
	put(cache.boot_id, "7\n", "");
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
}

TEST(kallsyms_cache_trusts_nobody)
{
	static const uint64_t inside[] = { 0xffffffff81000015 };
	struct kallsyms_cache cache = begin_cache("open");
	const char *link = test_path("link");
	char file[4096];

	if (geteuid())
		return;
	CHECK(lines_of(&cache, inside, 1));
	CHECK_INT(chmod(cache.folder, 0777), 0);
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
	CHECK_INT(chmod(cache.folder, 0700), 0);
	CHECK_INT(symlink(cache.folder, link), 0);
	cache.folder = link;
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
	cache.folder = test_path("open");
	put(cache.kallsyms, "", "");
	snprintf(file, sizeof(file), "%s/kallsyms", cache.folder);
	CHECK_INT(chown(file, 65534, 65534), 0);
	CHECK_STR(lines_of(&cache, inside, 1), NULL);
}
