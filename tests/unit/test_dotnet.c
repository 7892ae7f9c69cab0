/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dotnet.c - 64 KiB of a process with .NET, made by hand as versions 8 and 10 lay it out: what is read of it, and that nothing it can
 * say does harm.
 *
 * The assembly is dotnet_maker.h's; each of its methods has code in one heap.
 */
#include "record/runtime/dotnet.h"

#include "formats/base/memory.h"
#include "formats/perf/jitdump.h"
#include "tests/unit/dotnet_maker.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define BASE 0x40000000ULL
#define LEN  0x10000

enum { DAC = 0x100, LEVELS = 0x1000, FRAGMENT = 0x3800, RANGE = 0x3840, HEAP = 0x3880, NIBBLES = 0x3900, HEADERS = 0x3a00, CHUNK = 0x3c00,
       TYPES = 0x3e00, MODULE = 0x4000, ASSEMBLY = 0x4200, IMAGE = 0x4240, LAYOUT = 0x4300, DYNAMIC_NAME = 0x4400, FILE_AT = 0x5000,
       CODE = 0x8000 };
enum { RUN, DEEP, WIDE, METHODS };

/* Where the code of each method is, behind CODE, and how long. */
static const uint32_t starts[METHODS] = { 0x20, 0x64, 0x100 }, lens[METHODS] = { 0x40, 0x50, 0x900 };
/* The numbers of their types, from 1 on. */
static const uint32_t types[METHODS] = { 2, 3, 3 };

struct runtime {
	uint8_t bytes[LEN];
	unsigned major;
	struct managed_view view;
	struct writer out;
	uint64_t noise; /* not 0: every byte may be another one each time */
};

static void read_runtime(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct runtime *rt = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = pieces[i].addr - BASE;

		if (offset >= LEN)
			continue;
		pieces[i].got = MIN(pieces[i].len, (size_t)(LEN - offset));
		memcpy(pieces[i].to, rt->bytes + offset, pieces[i].got);
		if (rt->noise) {
			rt->noise = rt->noise * 6364136223846793005ULL + 1442695040888963407ULL;
			((uint8_t *)pieces[i].to)[(rt->noise >> 33) % pieces[i].got] = (uint8_t)(rt->noise >> 21);
		}
	}
}

static void put(struct runtime *rt, uint64_t at, uint64_t value, size_t len)
{
	memcpy(rt->bytes + at, &value, len);
}

/* ---- the runtime ----------------------------------------------------------------------------------- */

static void make_map(struct runtime *rt)
{
	uint64_t ip = BASE + CODE;

	put(rt, DAC, BASE + LEVELS, 8);
	for (unsigned i = 0; i < 5; i++) {
		uint64_t index = ip >> (17 + 8 * (4 - i)) & 255;

		put(rt, LEVELS + 0x800 * i + 8 * index, i < 4 ? (BASE + LEVELS + 0x800 * (i + 1)) | 1 : BASE + FRAGMENT, 8);
	}
	put(rt, FRAGMENT + 24, BASE + RANGE, 8);
	put(rt, RANGE, BASE + CODE, 8);
	put(rt, RANGE + 8, BASE + CODE + 0x4000, 8);
	put(rt, RANGE + 16, 2, 4);
	put(rt, RANGE + 40, BASE + HEAP, 8);
	put(rt, HEAP + 16, BASE + CODE + 0x10, 8);
	put(rt, HEAP + 24, BASE + CODE + 0x2000, 8);
	put(rt, HEAP + 32, BASE + CODE, 8);
	put(rt, HEAP + 40, BASE + NIBBLES, 8);
}

/* The nibble of the bucket of 32 bytes that it begins in; version 10 says of the 256 bytes that are all its where it begins. */
static void put_start(struct runtime *rt, uint32_t start, uint32_t len)
{
	uint32_t unit, bucket = start / 32;

	memcpy(&unit, rt->bytes + NIBBLES + 4 * (bucket / 8), 4);
	unit |= (start % 32 / 4 + 1) << (28 - 4 * (bucket % 8));
	put(rt, NIBBLES + 4 * (bucket / 8), unit, 4);
	for (uint32_t i = start / 256 + 1; rt->major == 10 && (i + 1) * 256 <= start + len; i++)
		put(rt, NIBBLES + 4 * i, (start & ~15U) + start % 16 / 4 + 9, 4);
}

static void make_method(struct runtime *rt, unsigned i)
{
	uint64_t header = HEADERS + 0x40 * i, method = CHUNK + 0x100 * (types[i] == 3) + 24 + 16 * i;

	put_start(rt, starts[i], lens[i]);
	put(rt, CODE + starts[i] - 8, BASE + header, 8);
	put(rt, header + 24, BASE + method, 8);
	put(rt, header + 32, 2, 4);
	put(rt, header + 36 + 4, starts[i] + lens[i] - 0x10, 4);
	put(rt, header + 48 + 4, starts[i] + lens[i], 4); /* an exception handler */
	put(rt, method, 0x2001 + i, 2);			  /* token 0x06000001 and so on; its upper part is in the chunk */
	put(rt, method + 2, 2 * i, 1);
}

static void make_type(struct runtime *rt, uint64_t chunk, uint32_t number)
{
	uint64_t type = TYPES + 0x40 * number;

	put(rt, chunk, BASE + type, 8);
	put(rt, chunk + 16, 6, 1);
	if (rt->major == 10)
		put(rt, type + 8, number << 8 | 0x80, 4);
	else
		put(rt, type + 10, number, 2);
	put(rt, type + 24, BASE + MODULE, 8);
}

static struct runtime *new_runtime(unsigned major)
{
	struct runtime *rt = memory_zeroed(1, sizeof(*rt));

	rt->major = major;
	dotnet_maker_write(rt->bytes + FILE_AT, 0x800);
	make_map(rt);
	for (unsigned i = 0; i < METHODS; i++)
		make_method(rt, i);
	make_type(rt, CHUNK, 2);
	make_type(rt, CHUNK + 0x100, 3);
	put(rt, MODULE + (major == 10 ? 0xd8 : 0x110), BASE + ASSEMBLY, 8);
	put(rt, ASSEMBLY + 8, BASE + IMAGE, 8);
	put(rt, IMAGE + (major == 10 ? 0x78 : 0x70), BASE + LAYOUT, 8);
	put(rt, LAYOUT + 8, BASE + FILE_AT, 8);
	put(rt, LAYOUT + 16, 0xa00, 4);
	jitdump_put_header(&rt->out, 62, 1, 0);
	return rt;
}

static void free_runtime(struct runtime *rt)
{
	writer_deinit(&rt->out);
	free(rt);
}

static bool look(struct runtime *rt, struct dotnet *d, uint64_t at, bool is_leaf)
{
	managed_view_begin(&rt->view, read_runtime, rt, 100000000);
	return dotnet_look(d, &rt->view, BASE + CODE + at, is_leaf, &rt->out);
}

static bool compare(struct runtime *rt, struct dotnet *d)
{
	managed_view_begin(&rt->view, read_runtime, rt, 100000000);
	return dotnet_compare(d, &rt->view, &rt->out);
}

/* What was written, as "name offset+length, " or "gone offset, ". */
static const char *read_back(const struct runtime *rt)
{
	static char text[512];
	struct jitdump_record rec;
	struct jitdump dump;

	text[0] = '\0';
	CHECK(!jitdump_open(&dump, rt->out.data, rt->out.len));
	while (jitdump_next(&dump, &rec)) {
		size_t len = strlen(text);

		if (rec.kind == JITDUMP_KNOWN)
			snprintf(text + len, sizeof(text) - len, "%s %x+%x, ", rec.name, (unsigned)(rec.ip - BASE - CODE),
				 (unsigned)rec.len);
		if (rec.kind == JITDUMP_GONE)
			snprintf(text + len, sizeof(text) - len, "gone %x, ", (unsigned)(rec.ip - BASE - CODE));
	}
	return text;
}

/* ---- tests ----------------------------------------------------------------------------------------- */

TEST(dotnet_names_methods_of_both_versions)
{
	static const unsigned majors[] = { 8, 10 };

	for (size_t i = 0; i < ARRAY_LEN(majors); i++) {
		struct runtime *rt = new_runtime(majors[i]);
		struct dotnet *d = dotnet_new(majors[i], BASE + DAC, 1);

		CHECK(look(rt, d, 0x20, /* is_leaf= */ true));
		CHECK(look(rt, d, 0x60, /* is_leaf= */ false)); /* a call is its last instruction */
		CHECK(!look(rt, d, 0x60, /* is_leaf= */ true));
		CHECK(!look(rt, d, 0x20, /* is_leaf= */ false));
		CHECK_STR(read_back(rt), "My.Outer.Run 20+40, ");
		CHECK(look(rt, d, 0x64, /* is_leaf= */ true));
		CHECK(!look(rt, d, 0xb4, /* is_leaf= */ true));
		CHECK(look(rt, d, 0x9ff, /* is_leaf= */ true));
		CHECK(look(rt, d, 0x240, /* is_leaf= */ true));
		CHECK(!look(rt, d, 0xa00, /* is_leaf= */ true));
		CHECK(!look(rt, d, 0x8000, /* is_leaf= */ true));
		CHECK_STR(read_back(rt), "My.Outer.Run 20+40, My.Outer+Inner.Deep 64+50, My.Outer+Inner.Wide 100+900, ");
		dotnet_free(d);
		free_runtime(rt);
	}
	CHECK(!dotnet_new(9, BASE + DAC, 1));
}

TEST(dotnet_reads_names_of_a_file_that_is_laid_out_in_memory)
{
	struct runtime *rt = new_runtime(8);
	struct dotnet *d = dotnet_new(8, BASE + DAC, 1);

	/* The CLI header is where its relative address says, and what it leads to as well. */
	put(rt, IMAGE + 0x78, BASE + LAYOUT, 8);
	put(rt, IMAGE + 0x70, 0, 8);
	put(rt, LAYOUT + 16, 0x2800, 4);
	memcpy(rt->bytes + FILE_AT + 0x2000, rt->bytes + FILE_AT + 0x200, 0x600);
	memset(rt->bytes + FILE_AT + 0x200, 0, 0x600);
	CHECK(look(rt, d, 0x20, /* is_leaf= */ true));
	CHECK_STR(read_back(rt), "My.Outer.Run 20+40, ");
	dotnet_free(d);
	free_runtime(rt);
}

TEST(dotnet_names_dynamic_methods_by_what_they_are_called)
{
	struct runtime *rt = new_runtime(8);
	struct dotnet *d = dotnet_new(8, BASE + DAC, 1);

	put(rt, CHUNK + 24 + 6, 7, 2);
	put(rt, CHUNK + 24 + 24, BASE + DYNAMIC_NAME, 8);
	memcpy(rt->bytes + DYNAMIC_NAME, "IL_STUB\n", 8);
	CHECK(look(rt, d, 0x20, /* is_leaf= */ true));
	CHECK_STR(read_back(rt), "dynamicClass.IL_STUB? 20+40, ");
	dotnet_free(d);
	free_runtime(rt);
}

/* As a version's structures would look whose offsets are others. */
TEST(dotnet_believes_no_method_whose_structures_do_not_fit_together)
{
	static const struct {
		uint64_t at, value;
		size_t len;
	} cases[] = {
		{ TYPES + 0x40 * 2 + 10, 3, 2 },      /* another type's number */
		{ TYPES + 0x40 * 2 + 10, 0, 2 },      /* none */
		{ TYPES + 0x40 * 2 + 10, 4, 2 },
		{ CHUNK + 24, 0x2003, 2 },	      /* another type's method */
		{ CHUNK + 24, 0x2004, 2 },	      /* there is none */
		{ CHUNK + 18, 1, 2 },
		{ CHUNK + 24 + 2, 7, 1 },	      /* the chunk is not so large */
		{ CHUNK + 24 + 6, 4, 2 },	      /* an array's method */
		{ CHUNK + 24 + 6, 7, 2 },	      /* a dynamic one without a name */
		{ TYPES + 0x40 * 2 + 24, BASE + TYPES, 8 },
		{ MODULE + 0x110, BASE + IMAGE, 8 },
		{ LAYOUT + 16, 0x300, 4 },	      /* the file ends before */
		{ FILE_AT + 0x300, 0, 1 },
		{ FILE_AT + 0x20c, 0xfffffff0, 4 },
		{ FILE_AT + 0x324, 0x40, 4 },	      /* the tables are longer than their stream */
		{ FILE_AT + 0x330, 20, 4 },	      /* the name is no text in the heap */
		{ HEADERS + 36 + 4, 0, 8 },	      /* the code has no end */
		{ CODE + 0x18, 8, 8 },		      /* a stub */
		{ RANGE + 16, 4, 4 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct runtime *rt = new_runtime(8);
		struct dotnet *d = dotnet_new(8, BASE + DAC, 1);

		put(rt, cases[i].at, cases[i].value, cases[i].len);
		if (cases[i].at == HEADERS + 36 + 4)
			put(rt, HEADERS + 32, 1, 4);
		CHECK(!look(rt, d, 0x20, /* is_leaf= */ true));
		CHECK_STR(read_back(rt), "");
		dotnet_free(d);
		free_runtime(rt);
	}
}

TEST(dotnet_says_which_code_is_gone)
{
	struct runtime *rt = new_runtime(8);
	struct dotnet *d = dotnet_new(8, BASE + DAC, 1);

	CHECK(look(rt, d, 0x20, /* is_leaf= */ true));
	CHECK(look(rt, d, 0x64, /* is_leaf= */ true));
	CHECK(compare(rt, d));
	put(rt, CODE + 0x18, 0, 8);
	CHECK(compare(rt, d));
	CHECK(compare(rt, d)); /* once */
	CHECK_STR(read_back(rt), "My.Outer.Run 20+40, My.Outer+Inner.Deep 64+50, gone 20, ");
	/* Another method's code lies there later, without anybody looking in between. */
	put(rt, CODE + 0x18, BASE + HEADERS, 8);
	CHECK(look(rt, d, 0x20, /* is_leaf= */ true));
	put(rt, CODE + 0x5c, BASE + HEADERS + 0x80, 8);
	CHECK(look(rt, d, 0x64, /* is_leaf= */ true));
	CHECK_STR(read_back(rt), "My.Outer.Run 20+40, My.Outer+Inner.Deep 64+50, gone 20, My.Outer.Run 20+40, gone 64, "
				 "My.Outer+Inner.Wide 64+99c, ");
	dotnet_free(d);
	free_runtime(rt);
}

/* Any word may be any number, and change while it is read: looks end, within the view's bounds. */
TEST(dotnet_survives_a_runtime_that_lies)
{
	static const uint64_t evil[] = { 0, 1, 0xff, 0x7fffffff, 0xffffffff, 1ULL << 63, UINT64_MAX, 0xffffffff00000000, BASE + FRAGMENT,
					 BASE + LEVELS, BASE + HEADERS, BASE + CHUNK + 24, BASE + FILE_AT, BASE + LEN - 1 };
	uint64_t seed = 1;

	for (unsigned round = 0; round < 400; round++) {
		struct runtime *rt = new_runtime(round % 2 ? 8 : 10);
		struct dotnet *d = dotnet_new(rt->major, BASE + DAC, 1);

		for (unsigned i = 0; i < 1 + round % 5; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			put(rt, FRAGMENT + (seed >> 20) % (FILE_AT + 0x600 - FRAGMENT) / 8 * 8, evil[(seed >> 50) % ARRAY_LEN(evil)], 8);
		}
		rt->noise = round % 4 == 3 ? seed : 0;
		for (unsigned i = 0; i < 6; i++) {
			look(rt, d, starts[i % METHODS] + i, i % 2);
			CHECK(rt->view.reads <= MANAGED_READS_MAX + 8);
			compare(rt, d);
			CHECK(rt->view.reads <= MANAGED_READS_MAX + 8);
		}
		CHECK(rt->out.len < 1 << 16);
		dotnet_free(d);
		free_runtime(rt);
	}
}

TEST(dotnet_follows_no_circle_for_long)
{
	struct runtime *rt = new_runtime(8);
	struct dotnet *d = dotnet_new(8, BASE + DAC, 1);

	put(rt, FRAGMENT, BASE + FRAGMENT, 8); /* fragments of which none has the address */
	put(rt, RANGE + 8, BASE + CODE + 1, 8);
	CHECK(!look(rt, d, 0x20, /* is_leaf= */ true));
	CHECK(rt->view.copies < 400);
	dotnet_free(d);
	free_runtime(rt);
	/* A class that is declared in itself. */
	rt = new_runtime(8);
	d = dotnet_new(8, BASE + DAC, 1);
	put(rt, FILE_AT + 0x360 + 24 + 6 * 4 + 3 * 14 + 12 + 3 * 14 + 6 + 12 + 2, 3, 2);
	CHECK(look(rt, d, 0x64, /* is_leaf= */ true));
	CHECK_STR(read_back(rt), "Inner+Inner+Inner+Inner+Inner+Inner+Inner+Inner.Deep 64+50, ");
	dotnet_free(d);
	free_runtime(rt);
}
