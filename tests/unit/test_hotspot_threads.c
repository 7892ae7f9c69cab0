/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_hotspot_threads.c - two threads of a virtual machine made by hand, with classes that say where fields are; and that nothing it can say
 * does harm.
 */
#include "record/runtime/hotspot_threads.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define BASE	     0x100000ULL
#define LEN	     0x10000
#define VARIABLES    BASE
#define THREAD_KLASS (BASE + 0x1000)
#define STRING_KLASS (BASE + 0x2000)
#define POOL	     (BASE + 0x3000)
#define SYMBOLS	     (BASE + 0x4000)
#define LIST	     (BASE + 0x5000)
#define THREADS	     (BASE + 0x6000)
#define HEAP	     (BASE + 0x8000)

struct machine {
	uint8_t bytes[LEN];
	struct managed_view view;
	struct hotspot_layout layout;
	unsigned nsymbols;
	uint64_t reads;
	uint64_t noise; /* not 0: every byte may be another one each time */
};

static void read_machine(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct machine *m = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = pieces[i].addr - BASE;

		m->reads++;
		pieces[i].got = offset < LEN ? MIN(pieces[i].len, (size_t)(LEN - offset)) : 0;
		if (!pieces[i].got)
			continue;
		memcpy(pieces[i].to, m->bytes + offset, pieces[i].got);
		if (!m->noise)
			continue;
		m->noise = m->noise * 6364136223846793005ULL + 1442695040888963407ULL;
		((uint8_t *)pieces[i].to)[(m->noise >> 33) % pieces[i].got] = (uint8_t)(m->noise >> 21);
	}
}

static void put(struct machine *m, uint64_t addr, uint64_t value, size_t len)
{
	memcpy(m->bytes + (addr - BASE), &value, len);
}

/* The number of a new slot of the pool, which has @text. */
static uint16_t put_symbol(struct machine *m, const char *text)
{
	uint64_t symbol = SYMBOLS + 64ULL * m->nsymbols++;

	put(m, symbol, strlen(text), 2);
	memcpy(m->bytes + (symbol + 2 - BASE), text, strlen(text));
	put(m, POOL + 64 + 8ULL * m->nsymbols, symbol, 8);
	return (uint16_t)m->nsymbols;
}

/* Field @number of @class, as until JDK 20. */
static void put_field(struct machine *m, uint64_t class, unsigned number, const char *name, const char *type, uint64_t offset)
{
	uint64_t at = class + 0x104 + 12ULL * number;

	put(m, at + 2, put_symbol(m, name), 2);
	put(m, at + 4, put_symbol(m, type), 2);
	put(m, at + 8, offset << 2 | 1, 4);
	put(m, class + 32, number + 1, 2);
	put(m, class + 16, POOL, 8);
	put(m, class + 24, class + 0x100, 8);
}

static void make_layout(struct hotspot_layout *l)
{
	static const struct {
		enum hotspot_field field;
		uint64_t at;
	} fields[] = {
		{ THREADS_LIST, VARIABLES }, { LIST_LEN, 0 }, { LIST_THREADS, 8 }, { THREAD_OBJECT, 0 }, { THREAD_SYSTEM, 8 },
		{ SYSTEM_TID, 4 }, { KLASS_SUPER, 8 }, { CLASS_POOL, 16 }, { CLASS_FIELDS, 24 }, { CLASS_FIELDS_COUNT, 32 },
		{ STRING_CLASS, VARIABLES + 8 }, { THREAD_CLASS, VARIABLES + 16 }, { POINTER_BASE, VARIABLES + 24 },
		{ POINTER_SHIFT, VARIABLES + 32 }, { CLASS_BASE, VARIABLES + 40 }, { CLASS_SHIFT, VARIABLES + 48 },
		{ POOL_LENGTH, 16 }, { SYMBOL_LENGTH, 0 }, { SYMBOL_BODY, 2 },
	};

	*l = (struct hotspot_layout){ .jdk = 17, .pool_size = 64 };
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		l->at[fields[i].field] = fields[i].at;
		l->has[fields[i].field] = true;
	}
}

static uint64_t narrow(uint64_t addr)
{
	return (addr - BASE) >> 3;
}

/* JavaThread @number, whose object has the String of @len bytes at @text. */
static void put_thread(struct machine *m, unsigned number, uint32_t tid, const char *text, size_t len, bool wide)
{
	uint64_t thread = THREADS + 0x100ULL * number, object = HEAP + 0x400ULL * number;

	put(m, LIST + 0x100 + 8ULL * number, thread, 8);
	put(m, thread, thread + 0x40, 8);
	put(m, thread + 8, thread + 0x80, 8);
	put(m, thread + 0x40, object, 8);
	put(m, thread + 0x84, tid, 4);
	put(m, object + 8, narrow(THREAD_KLASS), 4);
	put(m, object + 16, narrow(object + 0x40), 4);
	put(m, object + 0x48, narrow(STRING_KLASS), 4);
	put(m, object + 0x50, wide, 1);
	put(m, object + 0x54, narrow(object + 0x80), 4);
	put(m, object + 0x8c, len, 4);
	memcpy(m->bytes + (object + 0x90 - BASE), text, len);
}

static struct machine *new_machine(void)
{
	struct machine *m = memory_zeroed(1, sizeof(*m));

	make_layout(&m->layout);
	put(m, VARIABLES, LIST, 8);
	put(m, VARIABLES + 8, STRING_KLASS, 8);
	put(m, VARIABLES + 16, THREAD_KLASS, 8);
	put(m, VARIABLES + 24, BASE, 8);
	put(m, VARIABLES + 32, 3, 4);
	put(m, VARIABLES + 40, BASE, 8);
	put(m, VARIABLES + 48, 3, 4);
	put(m, POOL + 16, 64, 4);
	put_field(m, THREAD_KLASS, 0, "priority", "I", 12);
	put_field(m, THREAD_KLASS, 1, "name", "Ljava/lang/String;", 16);
	put_field(m, THREAD_KLASS, 2, "group", "Ljava/lang/ThreadGroup;", 20);
	put_field(m, STRING_KLASS, 0, "hash", "I", 12);
	put_field(m, STRING_KLASS, 1, "coder", "B", 16);
	put_field(m, STRING_KLASS, 2, "value", "[B", 20);
	put(m, LIST, 2, 4);
	put(m, LIST + 8, LIST + 0x100, 8);
	put_thread(m, 0, 71, "order-processing-worker-eu-1", 28, false);
	put_thread(m, 1, 72, "Z\0\xfc\0r\0 \0\x3d\xd8\x00\xde", 12, true); /* "Zür " and a character beyond 16 bits */
	return m;
}

static void look(struct machine *m, struct hotspot_threads *t)
{
	managed_view_begin(&m->view, read_machine, m, 100000000);
	hotspot_threads_look(t, &m->view);
}

TEST(hotspot_threads_have_the_names_that_two_looks_find)
{
	struct machine *m = new_machine();
	struct hotspot_threads *t = hotspot_threads_new(&m->layout);
	uint32_t tid = 0;

	look(m, t);
	CHECK(!hotspot_threads_next(t, &tid));
	look(m, t);
	CHECK_STR(hotspot_threads_next(t, &tid), "Z\xc3\xbcr \xf0\x9f\x98\x80");
	CHECK_UINT(tid, 72);
	CHECK_STR(hotspot_threads_next(t, &tid), "order-processing-worker-eu-1");
	CHECK_UINT(tid, 71);
	CHECK(!hotspot_threads_next(t, &tid));
	put_thread(m, 0, 71, "another", 7, false);
	for (int i = 0; i < 4; i++)
		look(m, t);
	CHECK_STR(hotspot_threads_next(t, &tid), "another");
	CHECK(!hotspot_threads_next(t, &tid));
	hotspot_threads_free(t);
	free(m);
}

/* An object that was moved away, and what lies there now. */
TEST(hotspot_threads_have_no_name_of_other_objects)
{
	struct machine *m = new_machine();
	struct hotspot_threads *t = hotspot_threads_new(&m->layout);
	uint32_t tid;

	put(m, HEAP + 8, narrow(STRING_KLASS), 4); /* the first thread's object is of another class, */
	put(m, HEAP + 0x448, narrow(THREAD_KLASS), 4); /* the second one's name is no String */
	for (int i = 0; i < 4; i++)
		look(m, t);
	CHECK(!hotspot_threads_next(t, &tid));
	hotspot_threads_free(t);
	free(m);
}

/* Any word may be any number, and change while it is read: looks end, within the view's bounds. */
TEST(hotspot_threads_survive_a_machine_that_lies)
{
	struct machine *m = new_machine();
	struct hotspot_threads *t = hotspot_threads_new(&m->layout);
	uint32_t tid;

	put(m, LIST, UINT32_MAX, 4);
	put(m, HEAP + 0x8c, UINT32_MAX, 4);
	put(m, THREAD_KLASS + 8, THREAD_KLASS, 8);
	put(m, STRING_KLASS + 32, UINT16_MAX, 2);
	for (unsigned i = 1; i < 200; i++) {
		m->noise = i;
		m->reads = 0;
		look(m, t);
		CHECK(m->reads <= 2 * MANAGED_READS_MAX);
		while (hotspot_threads_next(t, &tid))
			;
	}
	hotspot_threads_free(t);
	free(m);
}
