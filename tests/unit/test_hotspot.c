/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hotspot.c - a virtual machine of 128 KiB, made by hand: what is read of it, and that nothing it can say does harm.
 *
 *	heap ─► segment map, one compiled method of 32 segments ─► PcDescs, scopes: Outer.run calls Inner.step, inlined
 */
#include "record/runtime/hotspot.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/hotspot_frame.h"
#include "record/runtime/hotspot_methods.h"
#include "tests/unit/test.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASE  0x100000ULL
#define LEN   0x20000
#define BLOB  (BASE + 0x8110)
#define CODE  (BLOB + 0x80)
#define HEAP  (BASE + 0x400)
#define SCOPES (BLOB + 0x210)
#define PCS   (BLOB + 0x230)
#define OUTER (BASE + 0x2000)
#define INNER (BASE + 0x2800)
#define POOL  (BASE + 0x3000)
#define KLASS (BASE + 0x3800)
#define STRUCTS (BASE + 0x12000)
#define TYPES (BASE + 0x16000)

struct machine {
	uint8_t bytes[LEN];
	struct managed_view view;
	struct hotspot_layout layout;
	struct writer out;
	uint64_t absent; /* from there on its page is not in memory; 0: all is */
	uint64_t noise; /* not 0: every byte may be another one each time */
};

static size_t read_bytes(struct machine *m, uint64_t addr, uint8_t *ret, size_t len)
{
	uint64_t offset = addr - BASE;

	if (offset >= LEN)
		return 0;
	len = MIN(len, (size_t)(LEN - offset));
	if (m->absent / MANAGED_PAGE_LEN == addr / MANAGED_PAGE_LEN)
		len = m->absent > addr ? MIN(len, (size_t)(m->absent - addr)) : 0;
	if (!len)
		return 0;
	memcpy(ret, m->bytes + offset, len);
	if (m->noise) {
		m->noise = m->noise * 6364136223846793005ULL + 1442695040888963407ULL;
		ret[(m->noise >> 33) % len] = (uint8_t)(m->noise >> 21);
	}
	return len;
}

static void read_machine(void *context, struct task_memory_piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pieces[i].got = read_bytes(context, pieces[i].addr, pieces[i].to, pieces[i].len);
}

static void put(struct machine *m, uint64_t addr, uint64_t value, size_t len)
{
	memcpy(m->bytes + (addr - BASE), &value, len);
}

static void put_text(struct machine *m, uint64_t addr, const char *text)
{
	memcpy(m->bytes + (addr - BASE), text, strlen(text) + 1);
}

static uint64_t put_symbol(struct machine *m, uint64_t addr, const char *text)
{
	put(m, addr, strlen(text), 2);
	put_text(m, addr + 2, text);
	return addr;
}

static void make_layout(struct hotspot_layout *l)
{
	static const struct {
		enum hotspot_field field;
		uint64_t at;
	} fields[] = {
		{ CACHE_HEAPS, BASE + 0x100 }, { ARRAY_LEN_FIELD, 0 }, { ARRAY_DATA, 8 }, { HEAP_MEMORY, 0 },
		{ HEAP_SEGMAP, 32 }, { HEAP_LOG2_SEGMENT, 64 }, { SPACE_LOW, 0 }, { SPACE_HIGH, 8 }, { BLOCK_LEN, 0 },
		{ BLOCK_USED, 8 }, { BLOB_NAME, 0 }, { BLOB_SIZE, 8 }, { BLOB_FRAME_SIZE, 12 }, { BLOB_CODE_BEGIN, 16 },
		{ BLOB_CODE_END, 24 }, { NMETHOD_METHOD, 32 }, { NMETHOD_COMPILE_ID, 40 }, { NMETHOD_METADATA, 44 },
		{ NMETHOD_SCOPES_PCS, 48 }, { NMETHOD_DEPENDENCIES, 52 }, { NMETHOD_SCOPES_DATA_BEGIN, 56 },
		{ METHOD_CONST, 8 }, { CONST_CONSTANTS, 8 }, { CONST_FLAGS, 16 }, { CONST_CODE_SIZE, 18 }, { CONST_NAME, 20 },
		{ CONST_SIZE, 24 }, { POOL_HOLDER, 8 }, { POOL_LENGTH, 16 }, { POOL_SOURCE, 20 }, { KLASS_NAME, 16 },
		{ SYMBOL_LENGTH, 0 }, { SYMBOL_BODY, 2 }, { VERSION_MAJOR, BASE + 0x108 },
	};

	*l = (struct hotspot_layout){ .jdk = 17, .block_size = 16, .const_method_size = 32, .pool_size = 64,
				      .pc_desc_size = 16 };
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		l->at[fields[i].field] = fields[i].at;
		l->has[fields[i].field] = true;
	}
}

/* A method with 16 bytes of bytecode; line 7 from its beginning on, line 9 from bytecode 4 on. */
static void make_method(struct machine *m, uint64_t method, uint16_t name_index)
{
	static const uint8_t lines[] = { 0 << 3 | 7, 4 << 3 | 2, 0 };
	uint64_t constant = method + 0x100;

	put(m, method + 8, constant, 8);
	put(m, constant + 8, POOL, 8);
	put(m, constant + 16, 1, 1);
	put(m, constant + 18, 16, 2);
	put(m, constant + 20, name_index, 2);
	put(m, constant + 24, 8, 4);
	memcpy(m->bytes + (constant + 48 - BASE), lines, sizeof(lines));
}

static void make_names(struct machine *m)
{
	put(m, POOL + 8, KLASS, 8);
	put(m, POOL + 16, 4, 4);
	put(m, POOL + 20, 3, 2);
	put(m, KLASS + 16, put_symbol(m, BASE + 0x4000, "org/Outer"), 8);
	put(m, POOL + 64 + 8, put_symbol(m, BASE + 0x4100, "run"), 8);
	put(m, POOL + 64 + 16, put_symbol(m, BASE + 0x4200, "step"), 8);
	put(m, POOL + 64 + 24, put_symbol(m, BASE + 0x4300, "Outer.java"), 8);
	make_method(m, OUTER, 1);
	make_method(m, INNER, 2);
}

static void make_heap(struct machine *m)
{
	put(m, BASE + 0x100, BASE + 0x200, 8);
	put(m, BASE + 0x200, 1, 4);
	put(m, BASE + 0x208, BASE + 0x300, 8);
	put(m, BASE + 0x300, HEAP, 8);
	put(m, HEAP, BASE + 0x8000, 8);
	put(m, HEAP + 8, BASE + 0x10000, 8);
	put(m, HEAP + 32, BASE + 0x1000, 8);
	put(m, HEAP + 40, BASE + 0x1100, 8);
	put(m, HEAP + 64, 7, 4);
	memset(m->bytes + 0x1000, 0xff, 0x100);
	for (unsigned i = 0; i < 32; i++)
		m->bytes[0x1002 + i] = (uint8_t)i;
	put(m, BLOB - 16, 32, 8);
	put(m, BLOB - 8, 1, 1);
}

static void make_code(struct machine *m)
{
	static const uint8_t scopes[] = { 0, 0, 0, 0, 0, 1, 5 + 1, 0, 4, 2, 0 + 1 };

	put_text(m, BASE + 0x500, "nmethod");
	put(m, BLOB, BASE + 0x500, 8);
	put(m, BLOB + 12, 6, 4);
	put(m, BLOB + 16, CODE, 8);
	put(m, BLOB + 24, CODE + 0x100, 8);
	put(m, BLOB + 32, OUTER, 8);
	put(m, BLOB + 40, 77, 4);
	put(m, BLOB + 44, 0x200, 4);
	put(m, BLOB + 48, 0x230, 4);
	put(m, BLOB + 52, 0x260, 4);
	put(m, BLOB + 56, SCOPES, 8);
	put(m, BLOB + 0x200, OUTER, 8);
	put(m, BLOB + 0x208, INNER, 8);
	memcpy(m->bytes + (SCOPES - BASE), scopes, sizeof(scopes));
	put(m, PCS, (uint32_t)-1, 4);
	put(m, PCS + 16, 0x20, 4);
	put(m, PCS + 20, 8, 4);
	put(m, PCS + 32, INT_MAX, 4);
	memcpy(m->bytes + (CODE - BASE), "\x55\x48\x83\xec\x20\x90", 6);
}

static struct machine *new_machine(void)
{
	struct machine *m = memory_zeroed(1, sizeof(*m));

	make_layout(&m->layout);
	make_heap(m);
	make_code(m);
	make_names(m);
	return m;
}

static void free_machine(struct machine *m)
{
	writer_deinit(&m->out);
	free(m);
}

static bool look(struct machine *m, struct hotspot *h, uint64_t ip, enum hotspot_use use)
{
	managed_view_begin(&m->view, read_machine, m, 100000000);
	return hotspot_look(h, &m->view, ip, use, &m->out);
}

/* What was written of the last place, with the functions as "name:line" from the innermost on. */
static void read_back(const struct machine *m, struct jitdump_record *place, char *text, size_t room)
{
	char names[8][64] = { "" };
	struct jitdump_record rec;
	struct jitdump_call call;
	struct jitdump dump;

	*text = '\0';
	place->kind = UINT32_MAX;
	CHECK(!jitdump_open(&dump, m->out.data, m->out.len));
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_FUNCTION && rec.function < ARRAY_LEN(names))
			snprintf(names[rec.function], sizeof(names[0]), "%s", rec.name);
		if (rec.kind == JITDUMP_PLACE)
			*place = rec;
	}
	rec = *place;
	while (rec.kind == JITDUMP_PLACE && jitdump_call_next(&rec, &call) && call.function < ARRAY_LEN(names))
		snprintf(text + strlen(text), room - strlen(text), "%s:%u ", names[call.function], call.line);
}

TEST(hotspot_names_inlined_methods_and_lines_of_a_return_address)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	size_t held = hotspot_held(h);

	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	/* Two methods with their lines, a blob with its scopes. */
	CHECK(hotspot_held(h) > held + 2 * sizeof("org.Outer.step"));
	held = hotspot_held(h);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK_UINT(hotspot_held(h), held);
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.step:7 org.Outer.run:9 ");
	CHECK_UINT(place.ip, CODE + 0x1f);
	/* No PcDesc says what is at another return address, but the frame is the same. */
	CHECK(look(m, h, CODE + 0x30, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "");
	if (arch_native() == &arch_x86_64) {
		CHECK_UINT(place.frame, JITDUMP_FRAME_SAVED);
		CHECK_UINT(place.frame_len, 48);
		/* Interrupted right behind "push". */
		CHECK(look(m, h, CODE + 1, HOTSPOT_LEAF));
		read_back(m, &place, text, sizeof(text));
		CHECK_UINT(place.frame_len, 16);
		CHECK_STR(text, "org.Outer.step:7 org.Outer.run:9 ");
	}
	CHECK(!look(m, h, BLOB + 0x1000, HOTSPOT_CALLER)); /* behind the blob */
	CHECK(!look(m, h, BASE + 0x8000, HOTSPOT_CALLER)); /* a free segment */
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_knows_a_line_of_whatever_is_executed)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	/* Behind the last place that has scopes, where the method returns. */
	CHECK(look(m, h, CODE + 0x40, HOTSPOT_LEAF));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.step:7 org.Outer.run:9 ");
	/* Another compilation, of which no place has any. */
	put(m, BLOB + 40, 78, 4);
	put(m, PCS + 20, 0, 4);
	CHECK(look(m, h, CODE + 0x40, HOTSPOT_LEAF));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.run:7 ");
	CHECK(look(m, h, CODE + 0x10, HOTSPOT_LEAF));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.run:7 ");
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_tables_of_virtual_methods_have_no_frame)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	put_text(m, BASE + 0x500, "vtable chunks");
	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_LEAF));
	read_back(m, &place, text, sizeof(text));
	CHECK_UINT(place.frame, arch_native() == &arch_x86_64 ? JITDUMP_FRAME_NOT_SAVED : JITDUMP_FRAME_UNKNOWN);
	CHECK_UINT(place.frame_len, arch_native() == &arch_x86_64 ? 8 : 48);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_UINT(place.frame, JITDUMP_FRAME_UNKNOWN);
	hotspot_free(h);
	free_machine(m);
}

/* Stubs have frames of their own: their code is kept from where it was executed on. */
TEST(hotspot_keeps_the_code_of_stubs)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record rec;
	struct jitdump dump;
	unsigned pages = 0;

	put_text(m, BASE + 0x500, "StubRoutines (2)");
	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK(look(m, h, CODE + 0x30, HOTSPOT_LEAF));
	CHECK(look(m, h, CODE + 0x40, HOTSPOT_LEAF));
	CHECK(!jitdump_open(&dump, m->out.data, m->out.len));
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind != JITDUMP_BYTES)
			continue;
		pages++;
		CHECK_UINT(rec.ip, CODE);
		CHECK_UINT(rec.len, 0x100);
		CHECK_UINT(rec.code[0], 0x55);
	}
	CHECK_UINT(pages, 1);
	hotspot_free(h);
	free_machine(m);
}

/* A stub that is called, as to copy an array, has no entry where it returns to: the next one holds. */
TEST(hotspot_names_who_calls_a_stub)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x18, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, ""); /* nothing is called there */
	put(m, CODE + 0x13, 0xe8, 1);
	if (arch_native() == &arch_x86_64) {
		CHECK(look(m, h, CODE + 0x18, HOTSPOT_CALLER));
		read_back(m, &place, text, sizeof(text));
		CHECK_STR(text, "org.Outer.step:7 org.Outer.run:9 ");
		CHECK_UINT(place.frame_len, 48);
		put(m, CODE + 0x18, 0x5841, 3); /* two words were pushed for it: pop %r8; pop %rax */
		put(m, CODE + 0x1a, 0x5d58, 2);
		CHECK(look(m, h, CODE + 0x18, HOTSPOT_CALLER));
		read_back(m, &place, text, sizeof(text));
		CHECK_UINT(place.frame_len, 64);
	}
	hotspot_free(h);
	free_machine(m);
}

/* The callers of a virtual thread's outermost frame are in the heap: its return address is where a stub begins. */
TEST(hotspot_says_where_the_rest_of_a_virtual_thread_is_frozen)
{
	static const char *const labels[] = { "StubRoutines (continuation stubs)", "StubRoutines (continuationstubs)", "StubRoutines (final stubs)" };

	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		struct machine *m = new_machine();
		struct hotspot *h = hotspot_new(&m->layout, 1);
		struct jitdump_record rec;
		struct jitdump dump;
		size_t frozen = 0, calls = 0;

		put_text(m, BASE + 0x500, labels[i]);
		put(m, CODE + 0x3b, 0xe8, 1); /* a call, of the stub in front */
		jitdump_put_header(&m->out, 62, 1, 0);
		for (int times = 0; times < 2; times++)
			CHECK(look(m, h, CODE + 0x60, HOTSPOT_CALLER));
		if (arch_native() == &arch_x86_64)
			CHECK(look(m, h, CODE + 0x40, HOTSPOT_CALLER));
		CHECK(look(m, h, CODE + 0x60, HOTSPOT_LEAF));
		CHECK(!jitdump_open(&dump, m->out.data, m->out.len));
		while (jitdump_next(&dump, &rec)) {
			frozen += rec.kind == JITDUMP_FUNCTION && strcmp(rec.name, "[frozen]") == 0;
			calls += rec.kind == JITDUMP_PLACE ? rec.ncalls : 0;
		}
		CHECK_UINT(frozen, i < 2);
		CHECK_UINT(calls, i < 2 ? 4 : 0); /* with the stub itself */
		hotspot_free(h);
		free_machine(m);
	}
}

TEST(hotspot_reads_a_blob_anew_when_another_lies_there)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	put(m, BLOB + 40, 78, 4);
	m->bytes[SCOPES - BASE + 8] = 0; /* the inlined call is gone: its scope is the outermost */
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.step:7 ");
	put(m, BLOB - 8, 0, 1); /* freed */
	CHECK(!look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	hotspot_free(h);
	free_machine(m);
}

static size_t compare(struct machine *m, struct hotspot *h)
{
	size_t begin = m->out.len;

	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(hotspot_compare(h, &m->view, &m->out));
	return m->out.len - begin;
}

/* What could not be read is asked for again (runtime_process.c). */
TEST(hotspot_reads_inlined_calls_once_they_are_in_memory)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	m->absent = SCOPES;
	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x1f, HOTSPOT_LEAF));
	CHECK(m->view.missed);
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.run:7 ");
	m->absent = 0;
	CHECK(look(m, h, CODE + 0x1f, HOTSPOT_LEAF));
	CHECK(!m->view.missed);
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.step:7 org.Outer.run:9 ");
	hotspot_free(h);
	free_machine(m);
}

/* The method's head is in memory, the lines behind its bytecode are not. */
TEST(hotspot_reads_lines_once_they_are_in_memory)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	m->absent = OUTER + 0x100 + 48;
	for (int tries = 0; tries < 2; tries++) {
		managed_view_begin(&m->view, read_machine, m, 100000000);
		CHECK(hotspot_look_bytecode(h, &m->view, OUTER + 0x100 + 32 + 3, OUTER, &m->out));
		CHECK_UINT(m->view.missed, !tries);
		read_back(m, &place, text, sizeof(text));
		CHECK_STR(text, tries ? "org.Outer.run:7 " : "org.Outer.run:0 ");
		m->absent = 0;
	}
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_says_which_code_is_gone)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record rec;
	struct jitdump dump = { 0 };

	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK_UINT(compare(m, h), 0);
	put(m, HEAP + 80, 1, 8); /* something was allocated */
	CHECK_UINT(compare(m, h), 0);
	put(m, BLOB + 40, 78, 4); /* another compilation */
	CHECK_UINT(compare(m, h), 0); /* which nobody notices whose heap says that nothing was allocated */
	put(m, HEAP + 80, 2, 8);
	size_t len = compare(m, h);

	reader_init(&dump.reader, m->out.data + m->out.len - len, len, false);
	CHECK(len && jitdump_next(&dump, &rec));
	CHECK_UINT(rec.kind, JITDUMP_GONE);
	CHECK_UINT(rec.ip, CODE);
	CHECK_UINT(rec.len, 0x100);
	put(m, HEAP + 80, 3, 8);
	CHECK_UINT(compare(m, h), 0); /* once */
	size_t begin = m->out.len;

	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	reader_init(&dump.reader, m->out.data + begin, m->out.len - begin, false);
	CHECK(jitdump_next(&dump, &rec));
	CHECK_UINT(rec.kind, JITDUMP_KNOWN); /* the method is known, what is there is said anew */
	put(m, BLOB - 8, 0, 1); /* freed */
	put(m, HEAP + 80, 4, 8);
	CHECK(compare(m, h));
	hotspot_free(h);
	free_machine(m);
}

static uint64_t known_from(const struct machine *m, size_t begin, uint64_t *ret_gone_ns)
{
	struct jitdump dump = { 0 };
	struct jitdump_record rec;
	uint64_t from_ns = 0;

	*ret_gone_ns = 0;
	reader_init(&dump.reader, m->out.data + begin, m->out.len - begin, false);
	while (jitdump_next(&dump, &rec)) {
		if (rec.kind == JITDUMP_KNOWN)
			from_ns = rec.time_ns;
		if (rec.kind == JITDUMP_GONE)
			*ret_gone_ns = rec.time_ns;
	}
	return from_ns;
}

/* What is read now was there at a sample only if its memory was not free in between. */
TEST(hotspot_says_from_when_on_code_certainly_was_there)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	uint64_t gone_ns, freed_ns;
	size_t begin;

	jitdump_put_header(&m->out, 62, 1, 0);
	begin = m->out.len;
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK_UINT(known_from(m, begin, &gone_ns), 1); /* nothing was ever free */
	compare(m, h);
	freed_ns = clock_now_ns(CLOCK_MONOTONIC);
	put(m, HEAP + 80, BLOB - 16, 8); /* the first of the list of free blocks */
	put(m, BLOB - 8, 0, 1);
	begin = m->out.len;
	compare(m, h);
	known_from(m, begin, &gone_ns);
	CHECK(gone_ns && gone_ns < freed_ns); /* it was there when it was last compared */
	put(m, HEAP + 80, 0, 8); /* used for another compilation */
	put(m, BLOB - 8, 1, 1);
	put(m, BLOB + 40, 78, 4);
	compare(m, h);
	begin = m->out.len;
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK(known_from(m, begin, &gone_ns) > freed_ns);
	hotspot_free(h);
	free_machine(m);
}

/* A word on the stack is met first that is no return address: all the same, the method was there since then. */
TEST(hotspot_says_since_when_there_is_code_that_it_met_without_a_place)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	uint64_t gone_ns;
	size_t begin;

	if (arch_native() != &arch_x86_64) {
		hotspot_free(h);
		free_machine(m);
		SKIP("frames of compiled code are x86-64's");
	}
	jitdump_put_header(&m->out, 62, 1, 0);
	begin = m->out.len;
	CHECK(!look(m, h, CODE + 1, HOTSPOT_CALLER)); /* its frame is not there yet */
	CHECK_UINT(known_from(m, begin, &gone_ns), 1);
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_finds_the_line_of_bytecode)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	uint64_t bytecode = OUTER + 0x100 + 32;
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(hotspot_look_bytecode(h, &m->view, bytecode + 3, OUTER, &m->out));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "org.Outer.run:7 ");
	CHECK(hotspot_look_bytecode(h, &m->view, bytecode + 15, OUTER, &m->out));
	CHECK(!hotspot_look_bytecode(h, &m->view, bytecode + 16, OUTER, &m->out));
	CHECK(!hotspot_look_bytecode(h, &m->view, bytecode - 1, OUTER, &m->out));
	hotspot_free(h);
	free_machine(m);
}

/* Compiled code that is freed is no bytecode; where classes were unloaded, what was known of it held until it was last seen. */
TEST(hotspot_forgets_no_bytecode_that_it_knew)
{
	struct machine *m = new_machine();
	uint64_t bytecode = OUTER + 0x100 + 32, gone_ns;
	size_t begin;

	m->layout.has[OBJECTS_HEAP] = m->layout.has[HEAP_COLLECTIONS] = true;
	m->layout.at[OBJECTS_HEAP] = BASE + 0x600;
	put(m, BASE + 0x600, BASE + 0x680, 8);
	struct hotspot *h = hotspot_new(&m->layout, 1);

	jitdump_put_header(&m->out, 62, 1, 0);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(hotspot_look_bytecode(h, &m->view, bytecode + 3, OUTER, &m->out));
	compare(m, h);
	begin = m->out.len;
	put(m, HEAP + 80, 1, 8); /* something was freed */
	CHECK(hotspot_look_bytecode(h, &m->view, bytecode + 5, OUTER, &m->out));
	known_from(m, begin, &gone_ns);
	CHECK_UINT(gone_ns, 0);
	compare(m, h);
	begin = m->out.len;
	put(m, BASE + 0x680, 1, 4); /* garbage was collected, classes perhaps */
	CHECK(hotspot_look_bytecode(h, &m->view, bytecode + 7, OUTER, &m->out));
	known_from(m, begin, &gone_ns);
	CHECK_UINT(gone_ns, hotspot_checked_ns(h));
	CHECK(gone_ns > 1);
	hotspot_free(h);
	free_machine(m);
}

/* It has no bytecode: the recorder has put its own address in the place of that (bytecode_words.h). */
TEST(hotspot_names_a_native_method_by_itself)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	put(m, OUTER + 0x100 + 18, 0, 2);
	jitdump_put_header(&m->out, 62, 1, 0);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(hotspot_look_bytecode(h, &m->view, OUTER, OUTER, &m->out));
	read_back(m, &place, text, sizeof(text));
	CHECK(strncmp(text, "org.Outer.run:", strlen("org.Outer.run:")) == 0);
	CHECK_UINT(place.ip, OUTER);
	CHECK(!hotspot_look_bytecode(h, &m->view, INNER, INNER, &m->out));
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_knows_the_interpreter_before_it_is_met)
{
	struct machine *m = new_machine();
	struct hotspot *h;
	uint64_t start, len, gone_ns;

	m->layout.has[INTERPRETER_CODE] = m->layout.has[QUEUE_BUFFER] = m->layout.has[QUEUE_LIMIT] = true;
	m->layout.at[INTERPRETER_CODE] = BASE + 0x600;
	m->layout.at[QUEUE_BUFFER] = 8;
	m->layout.at[QUEUE_LIMIT] = 16;
	put(m, BASE + 0x708, CODE, 8);
	put(m, BASE + 0x710, 0x100, 4);
	h = hotspot_new(&m->layout, 1);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(!hotspot_interpreter(h, &m->view, &start, &len)); /* it is not made yet */
	put(m, BASE + 0x600, BASE + 0x700, 8);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(hotspot_interpreter(h, &m->view, &start, &len));
	CHECK_UINT(start, CODE);
	CHECK_UINT(len, 0x100);
	/* It is never freed, so it was there whatever was freed around it. */
	put_text(m, BASE + 0x500, "Interpreter");
	put(m, HEAP + 80, 1, 8);
	jitdump_put_header(&m->out, 62, 1, 0);
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	CHECK_UINT(known_from(m, 40, &gone_ns), 1);
	hotspot_free(h);
	/* In no heap of code. */
	put(m, BASE + 0x708, BASE, 8);
	h = hotspot_new(&m->layout, 1);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(!hotspot_interpreter(h, &m->view, &start, &len));
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_does_not_follow_scopes_in_a_circle)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place;
	char text[256];

	jitdump_put_header(&m->out, 62, 1, 0);
	m->bytes[SCOPES - BASE + 4] = 8; /* the outer one's caller is the inner one */
	CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_STR(text, "");
	hotspot_free(h);
	free_machine(m);
}

/* Any word of the machine may be any number, and change while it is read: looks end, within the view's bounds. */
TEST(hotspot_survives_a_machine_that_lies)
{
	static const uint64_t evil[] = { 0, 1, 0xff, 0x7fffffff, 0xffffffff, 1ULL << 63, UINT64_MAX, BLOB, HEAP, POOL };
	uint64_t seed = 1;

	for (unsigned round = 0; round < 4000; round++) {
		struct machine *m = new_machine();
		struct hotspot *h = hotspot_new(&m->layout, 1);

		for (unsigned i = 0; i < 1 + round % 5; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			put(m, BASE + (seed >> 20) % 0x9000 / 4 * 4, evil[(seed >> 50) % ARRAY_LEN(evil)], 1U << (seed >> 60) % 4);
		}
		m->noise = round % 2 ? seed : 0;
		for (unsigned i = 0; i < 8; i++) {
			look(m, h, CODE + 0x1c + i, i % 2 ? HOTSPOT_LEAF : HOTSPOT_CALLER);
			CHECK(m->view.reads <= MANAGED_READS_MAX + 8);
			managed_view_begin(&m->view, read_machine, m, 100000000);
			hotspot_compare(h, &m->view, &m->out);
			CHECK(m->view.reads <= MANAGED_READS_MAX + 8);
		}
		CHECK(m->out.len < 1 << 20);
		hotspot_free(h);
		free_machine(m);
	}
}

/* ---- the tables ------------------------------------------------------------------------------------ */

/* type, field, static?, offset, address: five words; a NULL type ends them. */
static void make_tables(struct machine *m, uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], uint64_t types[HOTSPOT_TYPE_SYMBOLS])
{
	static const uint64_t struct_offsets[] = { STRUCTS + 0x100, 0, 8, 16, 24, 32, 40 };
	static const uint64_t type_offsets[] = { TYPES + 0x100, 0, 8, 16 };

	for (size_t i = 0; i < HOTSPOT_STRUCT_SYMBOLS; i++) {
		structs[i] = STRUCTS + 8 * i;
		put(m, structs[i], struct_offsets[i], 8);
	}
	for (size_t i = 0; i < HOTSPOT_TYPE_SYMBOLS; i++) {
		types[i] = TYPES + 8 * i;
		put(m, types[i], type_offsets[i], 8);
	}
	put_text(m, BASE + 0x600, "Abstract_VM_Version");
	put_text(m, BASE + 0x640, "_vm_major_version");
	put(m, STRUCTS + 0x100, BASE + 0x600, 8);
	put(m, STRUCTS + 0x108, BASE + 0x640, 8);
	put(m, STRUCTS + 0x110, 1, 4);
	put(m, STRUCTS + 0x120, BASE + 0x700, 8);
	put(m, BASE + 0x700, 30, 4);
}

TEST(hotspot_layout_knows_the_version_and_refuses_what_is_not_whole)
{
	struct machine *m = new_machine();
	uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], types[HOTSPOT_TYPE_SYMBOLS];
	struct hotspot_layout layout;

	make_tables(m, structs, types);
	managed_view_begin(&m->view, read_machine, m, 100000000);
	CHECK(!hotspot_layout_read(&m->view, structs, types, &layout));
	CHECK_UINT(layout.jdk, 30);
	free_machine(m);
}

TEST(hotspot_layout_ends_where_tables_have_no_end)
{
	static const uint64_t strides[] = { 0, 1, 8, 127, 1ULL << 63, UINT64_MAX };
	struct machine *m = new_machine();
	uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], types[HOTSPOT_TYPE_SYMBOLS];
	struct hotspot_layout layout;

	for (size_t i = 0; i < ARRAY_LEN(strides); i++) {
		make_tables(m, structs, types);
		for (uint64_t at = STRUCTS + 0x100; at < BASE + LEN - 8; at += 8)
			put(m, at, BASE + 0x600, 8);
		put(m, structs[HOTSPOT_STRUCT_STRIDE], strides[i], 8);
		managed_view_begin(&m->view, read_machine, m, 100000000);
		CHECK(!hotspot_layout_read(&m->view, structs, types, &layout));
		CHECK(m->view.reads <= MANAGED_READS_MAX + 8);
	}
	free_machine(m);
}

/* ---- frames, numbers ------------------------------------------------------------------------------- */

TEST(hotspot_frame_knows_prologue_body_and_epilogue)
{
	/* mov %eax, -0x14000(%rsp); push %rbp; sub $0x20, %rsp; nop; add $0x20, %rsp; pop %rbp; cmp 0x340(%r15), %rsp; ja; ret */
	static const uint8_t code[] = "\x89\x84\x24\x00\xc0\xfe\xff\x55\x48\x83\xec\x20\x90\x48\x83\xc4\x20\x5d"
				      "\x49\x3b\xa7\x40\x03\x00\x00\x0f\x87\x01\x00\x00\x00\xc3\x90";
	static const struct {
		size_t at;
		enum jitdump_frame frame;
		uint32_t len;
	} cases[] = {
		{ 0, JITDUMP_FRAME_NOT_SAVED, 8 }, { 7, JITDUMP_FRAME_NOT_SAVED, 8 }, { 8, JITDUMP_FRAME_SAVED, 16 },
		{ 12, JITDUMP_FRAME_SAVED, 48 },   { 13, JITDUMP_FRAME_SAVED, 48 },	{ 17, JITDUMP_FRAME_SAVED, 16 },
		{ 18, JITDUMP_FRAME_NOT_SAVED, 8 }, { 25, JITDUMP_FRAME_NOT_SAVED, 8 }, { 31, JITDUMP_FRAME_NOT_SAVED, 8 },
		{ 32, JITDUMP_FRAME_SAVED, 48 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint32_t len = 48;

		CHECK_INT(hotspot_frame_at(guarded(code, sizeof(code) - 1), sizeof(code) - 1, cases[i].at, &len), cases[i].frame);
		CHECK_UINT(len, cases[i].len);
	}
	for (size_t cut = 1; cut < sizeof(code); cut++) {
		uint32_t len = 48;

		hotspot_frame_at(guarded(code, cut), cut, cut - 1, &len);
	}
}

TEST(hotspot_frame_knows_the_stub_at_the_entry_of_methods)
{
	/* ret; push $-1; push %rbp; mov %rsp, %rbp; push %rdi */
	static const uint8_t code[] = "\xc3\x68\xff\xff\xff\xff\x55\x48\x8b\xec\x57\xc3";

	CHECK(!hotspot_frame_is_barrier(guarded(code, 9), 9)); /* rbp does not point to the frame yet */
	CHECK(hotspot_frame_is_barrier(guarded(code, 10), 10));
	CHECK(hotspot_frame_is_barrier(guarded(code, 11), 11));
	CHECK(!hotspot_frame_is_barrier(guarded(code, 12), 12)); /* of the next stub */
	CHECK(!hotspot_frame_is_barrier(guarded(code, 0), 0));
}

/* A stub of its compiler's: its code alone tells what it has pushed. */
TEST(hotspot_keeps_the_code_of_a_blob_without_a_frame_size)
{
	struct machine *m = new_machine();
	struct hotspot *h = hotspot_new(&m->layout, 1);
	struct jitdump_record place, rec;
	struct jitdump dump;
	unsigned loads = 0;
	char text[256];

	put_text(m, BASE + 0x500, "C1 Runtime slow_subtype_check_blob");
	put(m, BLOB + 12, UINT32_MAX, 4);
	jitdump_put_header(&m->out, 62, 1, 0);
	for (int i = 0; i < 2; i++)
		CHECK(look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	read_back(m, &place, text, sizeof(text));
	CHECK_UINT(place.frame, JITDUMP_FRAME_UNKNOWN);
	CHECK(!jitdump_open(&dump, m->out.data, m->out.len));
	while (jitdump_next(&dump, &rec))
		loads += rec.kind == JITDUMP_LOAD && rec.ip == CODE && rec.len == 0x100;
	CHECK_UINT(loads, 1);
	put(m, BLOB + 12, UINT32_MAX - 1, 4); /* no length that it could have */
	CHECK(!look(m, h, CODE + 0x20, HOTSPOT_CALLER));
	hotspot_free(h);
	free_machine(m);
}

TEST(hotspot_numbers_end_with_their_bytes)
{
	static const uint8_t bytes[] = { 191, 192, 1, 255, 255, 255, 255, 255 };
	size_t pos = 0;

	CHECK_UINT(hotspot_unsigned5(bytes, 3, &pos, 17), 191);
	CHECK_UINT(hotspot_unsigned5(bytes, 3, &pos, 17), 192 + (1 << 6));
	CHECK_UINT(hotspot_unsigned5(bytes, 3, &pos, 17), 0);
	pos = 0;
	CHECK_UINT(hotspot_unsigned5(bytes, 3, &pos, 20), 190);
	CHECK_UINT(hotspot_unsigned5(bytes, 3, &pos, 20), 191);
	pos = 3;
	hotspot_unsigned5(bytes, sizeof(bytes), &pos, 17);
	CHECK_UINT(pos, 8);
}
