/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gdb_jit.c - a program of 128 KiB that has registered code for debuggers, made by hand: what is read of it, and that nothing it
 * can say does harm.
 *
 *	descriptor ─► an ELF file, of code at CODE ─► a module of Erlang, of code at BEAM
 */
#include "record/runtime/gdb_jit.h"

#include "formats/arch.h"
#include "formats/base/memory.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/beam_module.h"
#include "symbolize/name/jit_map.h"
#include "tests/unit/elf_file.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE	   0x100000ULL
#define LEN	   0x20000
#define DESCRIPTOR (BASE + 0x1000)
#define NODE(i)	   (BASE + 0x2000 + 0x20 * (uint64_t)(i))
#define OBJECT	   (BASE + 0x4000)
#define MODULE	   (BASE + 0x8000)
#define CODE	   (BASE + 0x10000)
#define BEAM	   (BASE + 0x18000)
#define SECRET	   "the program's data"

struct program {
	uint8_t bytes[LEN];
	struct managed_view view;
	struct writer out;
	size_t object_len, module_len;
	uint64_t absent; /* from there on its page is not in memory; 0: all is */
	uint64_t noise; /* not 0: every byte may be another one each time */
};

static size_t read_bytes(struct program *p, uint64_t addr, uint8_t *ret, size_t len)
{
	uint64_t offset = addr - BASE;

	if (offset >= LEN)
		return 0;
	len = MIN(len, (size_t)(LEN - offset));
	if (p->absent / MANAGED_PAGE_LEN == addr / MANAGED_PAGE_LEN)
		len = p->absent > addr ? MIN(len, (size_t)(p->absent - addr)) : 0;
	if (!len)
		return 0;
	memcpy(ret, p->bytes + offset, len);
	if (p->noise) {
		p->noise = p->noise * 6364136223846793005ULL + 1442695040888963407ULL;
		ret[(p->noise >> 33) % len] = (uint8_t)(p->noise >> 21);
	}
	return len;
}

static void read_program(void *context, struct task_memory_piece *pieces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pieces[i].got = read_bytes(context, pieces[i].addr, pieces[i].to, pieces[i].len);
}

static void put(struct program *p, uint64_t addr, uint64_t value, size_t len)
{
	memcpy(p->bytes + (addr - BASE), &value, len);
}

static void put_node(struct program *p, uint64_t node, uint64_t next, uint64_t file, uint64_t len)
{
	put(p, node, next, 8);
	put(p, node + 8, 0, 8);
	put(p, node + 16, file, 8);
	put(p, node + 24, len, 8);
}

static void set_head(struct program *p, unsigned action, uint64_t node)
{
	put(p, DESCRIPTOR, 1, 4);
	put(p, DESCRIPTOR + 4, action, 4);
	put(p, DESCRIPTOR + 8, node, 8);
	put(p, DESCRIPTOR + 16, node, 8);
}

/* A compiler's copy of its object file: sections have addresses, the symbol counts from its section. */
static void make_object(struct program *p)
{
	static const uint8_t stale[32] = { 0 };
	static const char names[] = "\0compute";
	Elf64_Sym symbols[2] = { { 0 }, { .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1,
					  .st_value = 8, .st_size = 16 } };
	struct elf_file f = { .type = ET_REL, .machine = arch_native()->elf_machine };

	elf_file_section(&f, (struct elf_file_section){ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
							.vaddr = CODE, .data = stale, .len = sizeof(stale) });
	elf_file_section(&f, (struct elf_file_section){ .name = ".data", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_WRITE,
							.vaddr = CODE + 0x1000, .data = SECRET, .len = sizeof(SECRET) });
	elf_file_section(&f, (struct elf_file_section){ .name = ".symtab", .type = SHT_SYMTAB, .data = symbols,
							.len = sizeof(symbols), .link = 4, .entry_len = sizeof(symbols[0]) });
	elf_file_section(&f, (struct elf_file_section){ .name = ".strtab", .type = SHT_STRTAB, .data = names, .len = sizeof(names) });
	elf_file_finish(&f);
	memcpy(p->bytes + (OBJECT - BASE), f.out.data, f.out.len);
	p->object_len = f.out.len;
	memset(p->bytes + (CODE - BASE), 0x90, sizeof(stale));
	elf_file_deinit(&f);
}

static void put_text(struct writer *w, const char *text)
{
	writer_u16(w, (uint16_t)(strlen(text) + 1));
	writer_string(w, text);
	writer_u16(w, 0);
}

static void put_range(struct writer *w, uint32_t start, uint32_t end, uint32_t nlines, const char *name)
{
	writer_u32(w, start);
	writer_u32(w, end);
	writer_u32(w, nlines);
	put_text(w, name);
}

static void put_line(struct writer *w, uint32_t offset, uint32_t line)
{
	writer_u32(w, offset);
	writer_u32(w, line);
	put_text(w, "m.erl");
}

static void make_module(struct program *p)
{
	struct writer w = { 0 };

	writer_u32(&w, 1);
	writer_u32(&w, 7);
	writer_u64(&w, BEAM);
	writer_u32(&w, 4);
	writer_u32(&w, 0x400);
	put_text(&w, "m");
	writer_u32(&w, 0);
	put_range(&w, 0, 0x40, 0, "m::codeHeader");
	put_range(&w, 0x40, 0x60, 0, "m:run/1-CodeInfoPrologue");
	put_range(&w, 0x60, 0x200, 2, "m:run/1");
	put_line(&w, 0x60, 5);
	put_line(&w, 0x100, 7);
	put_range(&w, 0x200, 0x240, 0, "erts_beamasm:normal_exit/0");
	memcpy(p->bytes + (MODULE - BASE), w.data, w.len);
	p->module_len = w.len;
	writer_deinit(&w);
}

static struct program *new_program(void)
{
	struct program *p = memory_zeroed(1, sizeof(*p));

	make_object(p);
	make_module(p);
	put_node(p, NODE(0), NODE(1), OBJECT, p->object_len);
	put_node(p, NODE(1), 0, MODULE, p->module_len);
	set_head(p, 1, NODE(0));
	jitdump_put_header(&p->out, arch_native()->elf_machine, 1, 0);
	return p;
}

static void free_program(struct program *p)
{
	writer_deinit(&p->out);
	free(p);
}

static bool look(struct program *p, struct gdb_jit *jit, uint64_t ip, bool is_leaf)
{
	unsigned views = 0;

	managed_view_begin(&p->view, read_program, p, 100000000);
	while (gdb_jit_read_list(jit, &p->view, &p->out) && views++ < 16)
		managed_view_begin(&p->view, read_program, p, 100000000);
	managed_view_begin(&p->view, read_program, p, 100000000);
	return gdb_jit_look(jit, &p->view, ip, is_leaf, &p->out);
}

static struct jit_map *read_back(const struct program *p)
{
	return jit_map_new_dumped("", 0, p->out.data, p->out.len);
}

static const char *name_at(const struct jit_map *map, uint64_t ip)
{
	const struct jit_symbol *symbol = jit_map_find(map, ip);

	return symbol ? symbol->name : NULL;
}

TEST(gdb_jit_keeps_of_an_object_its_names_and_the_code_in_memory)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	CHECK(!look(p, jit, CODE - 1, /* is_leaf= */ true));
	CHECK(look(p, jit, CODE + 9, /* is_leaf= */ true));
	size_t len = p->out.len;

	CHECK(look(p, jit, CODE + 12, /* is_leaf= */ false));
	CHECK_UINT(p->out.len, len); /* once is enough */
	CHECK(!memmem(p->out.data, p->out.len, SECRET, sizeof(SECRET)));
	struct jit_map *map = read_back(p);
	const struct jit_symbol *symbol = jit_map_find(map, CODE + 8);

	CHECK(symbol);
	CHECK_STR(symbol->name, "compute");
	CHECK_UINT(symbol->start, CODE + 8);
	CHECK_UINT(symbol->len, 16);
	CHECK(symbol->code && symbol->code[0] == 0x90);
	CHECK_STR(name_at(map, CODE + 24), NULL);
	jit_map_free(map);
	gdb_jit_free(jit);
	free_program(p);
}

TEST(gdb_jit_names_functions_of_erlang_with_lines_and_what_is_between_modules)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	CHECK(look(p, jit, BEAM + 0x60, /* is_leaf= */ true));
	CHECK(look(p, jit, BEAM + 0x100, /* is_leaf= */ false)); /* the call is before */
	CHECK(look(p, jit, BEAM + 0x100, /* is_leaf= */ true));
	CHECK(look(p, jit, BEAM + 0x204, /* is_leaf= */ false));
	CHECK(!look(p, jit, BEAM + 0x500, /* is_leaf= */ false));
	CHECK(!look(p, jit, BEAM + 0x500, /* is_leaf= */ true));
	struct jit_map *map = read_back(p);
	const struct jit_place *place = jit_map_place(map, BEAM + 0x60);

	CHECK_STR(name_at(map, BEAM + 0x1ff), "m:run/1");
	CHECK_UINT(place->frame, JITDUMP_FRAME_ERLANG);
	CHECK_UINT(jit_map_calls(map, place)->line, 5);
	CHECK_STR(jit_map_calls(map, place)->file, "m.erl");
	CHECK_UINT(jit_map_calls(map, jit_map_place(map, BEAM + 0xff))->line, 5);
	CHECK_UINT(jit_map_calls(map, jit_map_place(map, BEAM + 0x100))->line, 7);
	CHECK_UINT(jit_map_place(map, BEAM + 0x203)->frame, JITDUMP_FRAME_OUTERMOST);
	CHECK_STR(name_at(map, BEAM + 0x500), "[Erlang's machine]");
	CHECK_UINT(jit_map_place(map, BEAM + 0x500)->frame, JITDUMP_FRAME_ERLANG);
	jit_map_free(map);
	gdb_jit_free(jit);
	free_program(p);
}

/* A program may have registered what nobody has read yet. */
TEST(gdb_jit_reads_an_object_once_it_is_in_memory)
{
	static const uint64_t absent[] = { OBJECT, OBJECT + 0x40 };

	for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
		struct program *p = new_program();
		struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);
		bool found = false;

		p->absent = absent[i];
		CHECK(!look(p, jit, CODE + 9, /* is_leaf= */ true));
		CHECK(look(p, jit, BEAM + 0x100, /* is_leaf= */ true)); /* the list goes on */
		p->absent = 0;
		for (int tries = 0; tries < 500 && !found; tries++) {
			found = look(p, jit, CODE + 9, /* is_leaf= */ true);
			usleep(found ? 0 : 1000);
		}
		CHECK(found);
		gdb_jit_free(jit);
		free_program(p);
	}
}

/* Puts another file at the same address, with a function of this name. */
static void replace_object(struct program *p, const char *name)
{
	make_object(p);
	uint8_t *at = memmem(p->bytes + (OBJECT - BASE), p->object_len, "compute", 7);

	memcpy(at, name, 7);
}

/* How many records say that code is gone, from @begin on. */
static unsigned count_gone(const struct program *p, size_t begin)
{
	struct jitdump dump = { 0 };
	struct jitdump_record rec;
	unsigned count = 0;

	reader_init(&dump.reader, p->out.data + begin, p->out.len - begin, false);
	while (jitdump_next(&dump, &rec))
		count += rec.kind == JITDUMP_GONE && rec.ip == CODE;
	return count;
}

static bool compare(struct program *p, struct gdb_jit *jit)
{
	managed_view_begin(&p->view, read_program, p, 100000000);
	return gdb_jit_compare(jit, &p->view, &p->out);
}

TEST(gdb_jit_notices_another_file_at_the_same_address)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);
	size_t begin;

	CHECK(look(p, jit, BEAM + 0x100, /* is_leaf= */ true));
	replace_object(p, "another"); /* before anybody has read it */
	begin = p->out.len;
	CHECK(look(p, jit, CODE + 9, /* is_leaf= */ true));
	CHECK_UINT(count_gone(p, begin), 1);
	begin = p->out.len;
	CHECK(compare(p, jit));
	CHECK_UINT(p->out.len, begin);
	replace_object(p, "a third");
	CHECK(compare(p, jit));
	CHECK_UINT(count_gone(p, begin), 1);
	CHECK(look(p, jit, CODE + 9, /* is_leaf= */ true));
	struct jit_map *map = read_back(p);

	CHECK_STR(name_at(map, CODE + 8), "a third");
	jit_map_free(map);
	gdb_jit_free(jit);
	free_program(p);
}

/* The list's head was taken out, and its memory holds the next one that is registered. */
TEST(gdb_jit_reads_a_head_that_is_used_again)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	put_node(p, NODE(0), 0, MODULE, p->module_len);
	CHECK(!look(p, jit, CODE + 9, /* is_leaf= */ true));
	put_node(p, NODE(0), 0, OBJECT, p->object_len);
	put(p, DESCRIPTOR + 8, NODE(1), 8); /* the entry of the last action is another one */
	CHECK(look(p, jit, CODE + 9, /* is_leaf= */ true));
	CHECK(!look(p, jit, BEAM + 0x100, /* is_leaf= */ false));
	gdb_jit_free(jit);
	free_program(p);
}

TEST(gdb_jit_follows_a_list_that_changes)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	put_node(p, NODE(0), 0, MODULE, p->module_len);
	CHECK(!look(p, jit, CODE + 9, true));
	CHECK(look(p, jit, BEAM + 0x60, true));
	put_node(p, NODE(2), NODE(0), OBJECT, p->object_len); /* registered in front */
	set_head(p, 1, NODE(2));
	CHECK(look(p, jit, CODE + 9, true));
	put_node(p, NODE(2), 0, OBJECT, p->object_len); /* and Erlang's taken out */
	set_head(p, 2, NODE(2));
	CHECK(!look(p, jit, BEAM + 0x60, false));
	CHECK(look(p, jit, CODE + 9, true));
	gdb_jit_free(jit);
	free_program(p);
}

TEST(gdb_jit_ends_where_a_list_does_not)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	put_node(p, NODE(1), NODE(0), MODULE, p->module_len);
	CHECK(look(p, jit, BEAM + 0x60, true));
	CHECK(look(p, jit, CODE + 9, true));
	put(p, DESCRIPTOR, 2, 4); /* another version */
	gdb_jit_free(jit);
	jit = gdb_jit_new(DESCRIPTOR, 1);
	CHECK(!look(p, jit, CODE + 9, true));
	gdb_jit_free(jit);
	free_program(p);
}

/* More entries than one view may read: the walk goes on with the next one. */
TEST(gdb_jit_reads_a_long_list_in_pieces)
{
	struct program *p = new_program();
	struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

	managed_view_begin(&p->view, read_program, p, 100000000);
	p->view.reads = MANAGED_READS_MAX - 1; /* the descriptor, no more */
	CHECK(gdb_jit_read_list(jit, &p->view, &p->out));
	managed_view_begin(&p->view, read_program, p, 100000000);
	CHECK(!gdb_jit_read_list(jit, &p->view, &p->out));
	CHECK(gdb_jit_look(jit, &p->view, BEAM + 0x60, true, &p->out));
	gdb_jit_free(jit);
	free_program(p);
}

/* Any word may be any number, and change while it is read: looks end, within the view's bounds. */
TEST(gdb_jit_survives_a_program_that_lies)
{
	static const uint64_t evil[] = { 0, 1, 0xff, 0xffff, 0x7fffffff, 0xffffffff, 1ULL << 63, UINT64_MAX, OBJECT, MODULE, NODE(0) };
	static const uint64_t places[] = { DESCRIPTOR, NODE(0), OBJECT, MODULE };
	uint64_t seed = 1;

	for (unsigned round = 0; round < 3000; round++) {
		struct program *p = new_program();
		struct gdb_jit *jit = gdb_jit_new(DESCRIPTOR, 1);

		for (unsigned i = 0; i < 1 + round % 5; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			put(p, places[seed >> 62] + (seed >> 20) % 0x300 / 2 * 2, evil[(seed >> 50) % ARRAY_LEN(evil)],
			    1U << (seed >> 60) % 4);
		}
		p->noise = round % 2 ? seed : 0;
		for (unsigned i = 0; i < 4; i++) {
			look(p, jit, CODE + 8 + i, i % 2);
			look(p, jit, BEAM + 0x60 + i, i % 2);
			CHECK(p->view.reads <= MANAGED_READS_MAX + 8);
		}
		CHECK(p->out.len < 3 << 20);
		CHECK(gdb_jit_held(jit) < 4 << 20);
		jit_map_free(read_back(p));
		gdb_jit_free(jit);
		free_program(p);
	}
}
