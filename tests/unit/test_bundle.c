/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/vec.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/elf/bundle_calls.h"
#include "symbolize/elf/frame_writer.h"
#include "tests/unit/elf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* An image with what reads it. */
struct opened {
	struct image *image;
	struct cfi_section *cfi;
	struct symtab *symbols;
};

static void opened_close(struct opened *o)
{
	symtab_free(o->symbols);
	cfi_section_free(o->cfi);
	image_close(o->image);
}

static void opened_fill(struct opened *o)
{
	o->cfi = cfi_section_new(o->image);
	o->symbols = symtab_new(o->image);
}

struct addresses {
	struct bundle_address *items;
	size_t len, cap;
};

/* Every @step bytes of the functions that have rules: starts, middles and what lies behind calls. */
static void pick_addresses(const struct opened *o, uint64_t step, struct addresses *ret)
{
	struct cfi_fde fde;
	uint64_t next = 0;
	size_t pos = 0;

	while (cfi_section_each(o->cfi, &pos, &fde)) {
		for (uint64_t vaddr = MAX(fde.begin, next); vaddr < fde.end; vaddr += step) {
			struct bundle_address address = { vaddr, ret->len % 7 == 0 };

			vec_push(ret, address);
			next = vaddr + step;
		}
	}
}

static void bundle_of(const struct opened *o, const struct addresses *addresses, struct writer *out,
		      struct opened *ret)
{
	struct bundle_source source = {
		.image = o->image,
		.cfi = o->cfi,
		.symbols = o->symbols,
		.addresses = addresses->items,
		.naddresses = addresses->len,
		.hot = 3,
	};
	struct bundle_counts counts;

	bundle_write(&source, out, &counts);
	CHECK_OK(image_open_memory(guarded(out->data, out->len), out->len, "bundle", &ret->image));
	opened_fill(ret);
}

static void check_same_rules(const struct opened *a, const struct opened *b, uint64_t vaddr)
{
	struct cfi_fde x, y;

	CHECK(cfi_section_find(a->cfi, vaddr, &x));
	CHECK(cfi_section_find(b->cfi, vaddr, &y));
	CHECK_UINT(y.begin, x.begin);
	CHECK_UINT(y.end, x.end);
	CHECK_UINT(y.cie.return_reg, x.cie.return_reg);
	CHECK_INT(y.cie.data_align, x.cie.data_align);
	CHECK_UINT(y.cie.signal_frame, x.cie.signal_frame);
	CHECK(y.instructions_len <= x.instructions_len); /* padding is dropped */
	CHECK_MEM(y.instructions, x.instructions, y.instructions_len);
	for (size_t i = y.instructions_len; i < x.instructions_len; i++)
		CHECK_UINT(x.instructions[i], DW_CFA_nop);
}

static void check_same_name(const struct opened *a, const struct opened *b, uint64_t vaddr)
{
	const struct symtab_entry *x = symtab_find(a->symbols, vaddr);
	const struct symtab_entry *y = symtab_find(b->symbols, vaddr);

	CHECK_STR(y ? y->name : NULL, x ? x->name : NULL);
	CHECK_UINT(y ? y->vaddr : 0, x ? x->vaddr : 0);
}

static void check_call(const struct opened *o, const struct bundle_calls *calls, uint64_t vaddr)
{
	size_t len;
	const uint8_t *code = image_bytes_at(o->image, vaddr - 8, &len);
	bool call = code && len >= 8 && image_arch(o->image)->ends_with_call(code, 8);

	CHECK(bundle_calls_find(calls, vaddr, NULL) == (call ? BUNDLE_CALL_YES : BUNDLE_CALL_NO));
}

static void check_instruction(const struct opened *a, const struct opened *b, uint64_t vaddr)
{
	size_t x_len, y_len;
	const uint8_t *x = image_bytes_at(a->image, vaddr, &x_len);
	const uint8_t *y = image_bytes_at(b->image, vaddr, &y_len);

	CHECK(x && y && y_len >= MIN(x_len, 16));
	CHECK_MEM(y, x, MIN(x_len, 16));
}

static void check_same_place(const struct opened *a, const struct opened *b)
{
	size_t count;
	const struct image_segment *segments = image_segments(a->image, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = segments[i].offset & ~0xfffULL, x, y;

		if (!segments[i].exec)
			continue;
		CHECK(image_bias(a->image, 0x7f0000000000, offset, &x));
		CHECK(image_bias(b->image, 0x7f0000000000, offset, &y));
		CHECK_UINT(y, x);
	}
}

/* The test program itself is as real a binary as any. */
TEST(bundle_answers_like_the_file_for_the_addresses_it_was_made_for)
{
	struct opened whole = { 0 }, part = { 0 };
	struct addresses addresses = { 0 };
	struct writer out = { 0 };
	size_t x_len, y_len;

	CHECK_OK(image_open("/proc/self/exe", &whole.image));
	opened_fill(&whole);
	pick_addresses(&whole, 97, &addresses);
	CHECK(addresses.len > 1000);
	bundle_of(&whole, &addresses, &out, &part);
	struct bundle_calls *calls = bundle_calls_new(part.image);

	CHECK(calls);
	CHECK(!bundle_calls_new(whole.image));
	for (size_t i = 0; i < addresses.len; i++) {
		uint64_t vaddr = addresses.items[i].vaddr;

		check_same_rules(&whole, &part, vaddr);
		check_same_name(&whole, &part, vaddr);
		check_call(&whole, calls, vaddr);
		if (addresses.items[i].leaves)
			check_instruction(&whole, &part, vaddr);
		CHECK(bundle_calls_find(calls, vaddr + 1, NULL) == BUNDLE_CALL_UNKNOWN);
	}
	check_same_place(&whole, &part);
	const uint8_t *x = image_build_id(whole.image, &x_len);
	const uint8_t *y = image_build_id(part.image, &y_len);

	CHECK_UINT(y_len, x_len);
	CHECK_MEM(y, x, x_len);

	bundle_calls_free(calls);
	writer_deinit(&out);
	vec_deinit(&addresses);
	opened_close(&part);
	opened_close(&whole);
}

/* ---- by hand --------------------------------------------------------------------------------------- */

#define CODE_VADDR 0x11000
#define CODE_LEN   0x4000

/* Functions f at 0, 0x100 long, g at 0x1000 and 0x2000 long, h at 0x3000 without a length. */
static void code_file(struct elf_file *f, struct writer *table)
{
	static const char names[] = "\0f\0g\0h";
	static uint8_t code[CODE_LEN];
	static const struct {
		uint32_t name;
		uint64_t value, size;
	} symbols[] = { { 1, 0, 0x100 }, { 3, 0x1000, 0x2000 }, { 5, 0x3000, 0 } };

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (uint8_t)(i * 7 + (i >> 8));
	memcpy(code + 0x50, "\xe8\1\2\3\4", 5); /* a call that ends at 0x55 */
	for (int i = 0; i < 24; i++)
		writer_u8(table, 0);
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		writer_u32(table, symbols[i].name);
		writer_u8(table, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
		writer_u8(table, 0);
		writer_u16(table, 1);
		writer_u64(table, CODE_VADDR + symbols[i].value);
		writer_u64(table, symbols[i].size);
	}
	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = CODE_VADDR,
						       .data = code,
						       .len = sizeof(code) });
	elf_file_section(f, (struct elf_file_section){ .name = ".symtab",
						       .type = SHT_SYMTAB,
						       .data = table->data,
						       .len = table->len,
						       .link = 3,
						       .entry_len = 24 });
	elf_file_section(f, (struct elf_file_section){ .name = ".strtab",
						       .type = SHT_STRTAB,
						       .data = names,
						       .len = sizeof(names) });
	elf_file_segment(f, (struct elf_file_segment){
				    .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = CODE_VADDR });
	elf_file_finish(f);
}

static size_t bytes_at(const struct opened *o, uint64_t offset)
{
	size_t len = 0;

	return image_bytes_at(o->image, CODE_VADDR + offset, &len) ? len : 0;
}

static size_t nsymbols(const struct opened *o)
{
	size_t count;

	symtab_entries(o->symbols, &count);
	return count;
}

TEST(bundle_takes_the_code_of_functions_by_their_samples)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(writer_deinit) struct writer table = { 0 };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	struct opened whole = { 0 }, part = { 0 };
	struct bundle_address list[] = {
		{ CODE_VADDR + 0x10, 1 },   /* f is short enough for one sample */
		{ CODE_VADDR + 0x1800, 2 }, /* g is not, for two */
		{ CODE_VADDR + 0x3010, 3 }, /* h is hot */
	};
	struct addresses addresses = { list, ARRAY_LEN(list), 0 };

	code_file(&f, &table);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "code", &whole.image));
	opened_fill(&whole);
	CHECK_UINT(nsymbols(&whole), 3);
	bundle_of(&whole, &addresses, &out, &part);
	CHECK_UINT(nsymbols(&part), 3);
	CHECK_UINT(bytes_at(&part, 0), 0x100);
	CHECK_UINT(bytes_at(&part, 0x100), 0);
	CHECK_UINT(bytes_at(&part, 0x1000), 0x810); /* up to the address, which has no rule */
	CHECK_UINT(bytes_at(&part, 0x1800), 16);
	CHECK_UINT(bytes_at(&part, 0x3000), 0x1000);

	/* What had no length has one now, for its neighbours are not there. */
	size_t count;

	CHECK_UINT(symtab_entries(part.symbols, &count)[2].len, 0x1000);
	CHECK_STR(image_section_at(part.image, CODE_VADDR), ".text");
	opened_close(&part);
	opened_close(&whole);
}

/* Of f and g it is known where they end and so where they begin; h is said to be there by a symbol without a length. */
TEST(bundle_takes_the_code_ahead_where_a_function_may_not_begin_where_its_symbol_says)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(writer_deinit) struct writer table = { 0 };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	struct opened whole = { 0 }, part = { 0 };
	struct bundle_address list[] = { { CODE_VADDR + 0x1210, 1 }, { CODE_VADDR + 0x3210, 1 } };
	struct addresses addresses = { list, ARRAY_LEN(list), 0 };

	code_file(&f, &table);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "code", &whole.image));
	opened_fill(&whole);
	bundle_of(&whole, &addresses, &out, &part);
	CHECK_UINT(bytes_at(&part, 0x1210), 16);
	CHECK(bytes_at(&part, 0x3210) > 64);
	CHECK(bytes_at(&part, 0x3210) <= 2048);
	opened_close(&part);
	opened_close(&whole);
}

TEST(bundle_leaves_out_what_was_not_seen)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(writer_deinit) struct writer table = { 0 };
	CLEANUP(writer_deinit) struct writer out = { 0 };
	struct opened whole = { 0 }, part = { 0 };
	struct bundle_address list[] = { { CODE_VADDR + 0x55, 0 }, { CODE_VADDR + 0x56, 0 } };
	struct addresses addresses = { list, ARRAY_LEN(list), 0 };

	code_file(&f, &table);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "code", &whole.image));
	opened_fill(&whole);
	bundle_of(&whole, &addresses, &out, &part);
	struct bundle_calls *calls = bundle_calls_new(part.image);

	CHECK_UINT(nsymbols(&part), 1);
	CHECK_UINT(bytes_at(&part, 0x50), 0x15); /* up to the call, which has no rule; the other word is no caller */
	CHECK(bundle_calls_find(calls, CODE_VADDR + 0x55, NULL) == BUNDLE_CALL_YES);
	CHECK(bundle_calls_find(calls, CODE_VADDR + 0x56, NULL) == BUNDLE_CALL_NO);
	CHECK(bundle_calls_find(calls, CODE_VADDR + 0x54, NULL) == BUNDLE_CALL_UNKNOWN);
	CHECK(!image_section(part.image, ".debug_frame", &(struct image_section){ 0 }));
	bundle_calls_free(calls);
	opened_close(&part);
	opened_close(&whole);
}

/* ---- .debug_frame ---------------------------------------------------------------------------------- */

static const uint8_t initial[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, 0, 0 };

static struct cfi_fde fde_of(uint64_t begin, const uint8_t *instructions, size_t len)
{
	return (struct cfi_fde){
		.begin = begin,
		.end = begin + 0x100,
		.cie = { .code_align = 1,
			 .data_align = -8,
			 .return_reg = 16,
			 .pointer_encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
			 .instructions = initial,
			 .instructions_len = sizeof(initial) },
		.instructions = instructions,
		.instructions_len = len,
		.instructions_vaddr = 0x5000,
	};
}

static void read_back(const struct frame_writer *w, struct elf_file *f, struct opened *ret)
{
	elf_file_section(f, (struct elf_file_section){ .name = ".debug_frame",
						       .type = SHT_PROGBITS,
						       .data = w->out.data,
						       .len = w->out.len });
	elf_file_finish(f);
	CHECK_OK(image_open_memory(f->out.data, f->out.len, "frames", &ret->image));
	opened_fill(ret);
	CHECK(ret->cfi);
}

TEST(frames_keep_signal_frames_and_the_key_and_share_cies)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
	struct cfi_fde fde = fde_of(0x1000, NULL, 0), got;
	struct opened o = { 0 };

	CHECK(frame_writer_add(&w, &fde));
	size_t first = w.out.len;

	fde.begin = 0x2000;
	fde.end = 0x2010;
	CHECK(frame_writer_add(&w, &fde));
	CHECK_UINT(w.out.len - first, 24); /* no second CIE */
	fde.begin = 0x3000;
	fde.end = 0x3010;
	fde.cie.signal_frame = true;
	CHECK(frame_writer_add(&w, &fde));
	fde.begin = 0x4000;
	fde.end = 0x4010;
	fde.cie.b_key = true;
	CHECK(frame_writer_add(&w, &fde));
	read_back(&w, &f, &o);
	CHECK(cfi_section_find(o.cfi, 0x2008, &got));
	CHECK(!got.cie.signal_frame && !got.cie.b_key);
	CHECK_UINT(got.cie.instructions_len, 5); /* without padding */
	CHECK(cfi_section_find(o.cfi, 0x3008, &got));
	CHECK(got.cie.signal_frame && !got.cie.b_key);
	CHECK(cfi_section_find(o.cfi, 0x4008, &got));
	CHECK(got.cie.signal_frame && got.cie.b_key);
	CHECK(!cfi_section_find(o.cfi, 0x4010, &got));
	opened_close(&o);
}

TEST(frames_locations_become_absolute)
{
	static const uint8_t instructions[] = {
		DW_CFA_advance_loc | 1,
		DW_CFA_set_loc,
		0x10,
		0xff,
		0xff,
		0xff,
		DW_CFA_def_cfa_offset,
		16,
	};
	static const uint8_t want[] = {
		DW_CFA_advance_loc | 1,
		DW_CFA_set_loc,
		0x12,
		0x4f,
		0,
		0,
		0,
		0,
		0,
		0,
		DW_CFA_def_cfa_offset,
		16,
	};
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
	struct cfi_fde fde = fde_of(0x1000, instructions, sizeof(instructions)), got;
	struct opened o = { 0 };

	CHECK(frame_writer_add(&w, &fde));
	read_back(&w, &f, &o);
	CHECK(cfi_section_find(o.cfi, 0x1000, &got));
	CHECK_UINT(got.instructions_len, sizeof(want));
	CHECK_MEM(got.instructions, want, sizeof(want)); /* 0x5002 - 0xf0 */
	opened_close(&o);
}

/* A reader gets as far as with the original. */
TEST(frames_of_malformed_instructions_end_where_those_do)
{
	static const struct {
		uint8_t bytes[6];
		size_t len;
	} cases[] = {
		{ { DW_CFA_def_cfa_offset, 32, 0x3e }, 3 },                            /* unknown */
		{ { DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc4, 1, 2 }, 5 },       /* cut */
		{ { DW_CFA_def_cfa_offset, 32, DW_CFA_def_cfa_expression, 9, 0 }, 5 }, /* block too long */
		{ { DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 3, 0x80 }, 4 },         /* LEB128 without end */
		{ { DW_CFA_def_cfa_offset, 32, DW_CFA_set_loc, 1, 2, 3 }, 6 },         /* cut */
	};
	static const uint8_t want[] = { DW_CFA_def_cfa_offset, 32, DW_CFA_high_user };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
		struct cfi_fde fde = fde_of(0x1000, NULL, 0), got;
		struct opened o = { 0 };

		fde.instructions = guarded(cases[i].bytes, cases[i].len);
		fde.instructions_len = cases[i].len;
		CHECK(frame_writer_add(&w, &fde));
		read_back(&w, &f, &o);
		CHECK(cfi_section_find(o.cfi, 0x1000, &got));
		CHECK_UINT(got.instructions_len, sizeof(want));
		CHECK_MEM(got.instructions, want, sizeof(want));
		CHECK_STR(cfi_section_defect(o.cfi), NULL); /* not the section's form */
		opened_close(&o);
	}
}

/* What the recorder could not read is told from what never had a rule, in a bundle of a bundle too. */
TEST(bundle_says_what_could_not_be_read)
{
	struct bundle_address address = { 0x1080, 1 };
	struct addresses addresses = { .items = &address, .len = 1 };

	for (int damaged = 0; damaged < 2; damaged++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
		struct writer first = { 0 }, second = { 0 };
		struct cfi_fde fde = fde_of(0x2000, NULL, 0), got;
		struct opened whole = { 0 }, part = { 0 }, again = { 0 };

		CHECK(frame_writer_add(&w, &fde));
		if (damaged)
			writer_u32(&w.out, 0x7fffffff); /* a record that is longer than the section */
		read_back(&w, &f, &whole);
		bundle_of(&whole, &addresses, &first, &part);
		bundle_of(&part, &addresses, &second, &again);
		CHECK(!cfi_section_find(again.cfi, 0x1080, &got));
		CHECK_UINT(cfi_section_has_holes(again.cfi), damaged);
		CHECK_STR(cfi_section_defect(again.cfi), cfi_section_defect(whole.cfi));
		CHECK_STR(image_defect(again.image), image_defect(whole.image));
		CHECK_UINT(image_defect(again.image) != NULL, damaged);
		opened_close(&again);
		opened_close(&part);
		opened_close(&whole);
		writer_deinit(&first);
		writer_deinit(&second);
	}
}

/* What has jumped into other code is on no stack; the return address above its frame is, and its rules come with that. */
TEST(bundle_takes_the_rules_of_a_called_function_that_computes_the_stack_pointer)
{
	static const uint8_t computes[] = { DW_CFA_val_expression, 7, 1, DW_OP_lit0 }, counts[] = { DW_CFA_def_cfa_offset, 16 };
	struct bundle_address address = { 0x1080, 0 };
	struct addresses addresses = { .items = &address, .len = 1 };

	for (int computed = 0; computed < 3; computed++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
		struct cfi_fde caller = fde_of(0x1000, NULL, 0), got;
		struct cfi_fde called = computed ? fde_of(0x1200, computes, sizeof(computes)) : fde_of(0x1200, counts, sizeof(counts));
		uint8_t text[0x400] = { 0 };
		struct opened whole = { 0 }, part = { 0 };
		struct writer out = { 0 };

		memcpy(text + 0x7b, "\xe8\x80\x01\0\0", 5); /* a call of 0x1200 */
		CHECK(frame_writer_add(&w, &caller) && frame_writer_add(&w, &called));
		elf_file_section(&f, (struct elf_file_section){ .name = ".text",
								.type = SHT_PROGBITS,
								.flags = SHF_ALLOC | SHF_EXECINSTR,
								.vaddr = 0x1000,
								.data = text,
								.len = 0x200 });
		elf_file_section(&f, (struct elf_file_section){ .name = computed == 2 ? ".plt.sec" : ".text.called",
								.type = SHT_PROGBITS,
								.flags = SHF_ALLOC | SHF_EXECINSTR,
								.vaddr = 0x1200,
								.data = text + 0x200,
								.len = 0x200 });
		read_back(&w, &f, &whole);
		bundle_of(&whole, &addresses, &out, &part);
		CHECK(cfi_section_find(part.cfi, 0x1080, &got));
		CHECK_INT(cfi_section_find(part.cfi, 0x1200, &got), computed == 1); /* a PLT's stubs do not */
		opened_close(&part);
		opened_close(&whole);
		writer_deinit(&out);
	}
}

/* The padding between two functions, "nopl 0(%rax)" behind other bytes, ends as a call through a pointer does. */
TEST(bundle_takes_no_code_for_padding_that_looks_like_a_call)
{
	for (uint64_t gap = 8; gap <= 64; gap += 56) {
		const uint64_t begin = 0x1100 + gap;
		struct bundle_address address = { begin, 0 };
		struct addresses addresses = { .items = &address, .len = 1 };
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
		struct cfi_fde first = fde_of(0x1000, NULL, 0), second = fde_of(begin, NULL, 0);
		struct opened whole = { 0 }, part = { 0 };
		uint8_t text[0x400] = { 0 };
		struct writer out = { 0 };
		size_t len;

		memcpy(text + begin - 0x1000 - 6, "\xff\x90\x0f\x1f\x40\0", 6);
		CHECK(frame_writer_add(&w, &first) && frame_writer_add(&w, &second));
		elf_file_section(&f, (struct elf_file_section){ .name = ".text",
								.type = SHT_PROGBITS,
								.flags = SHF_ALLOC | SHF_EXECINSTR,
								.vaddr = 0x1000,
								.data = text,
								.len = sizeof(text) });
		read_back(&w, &f, &whole);
		bundle_of(&whole, &addresses, &out, &part);
		/* A function without rules has room in the wide gap only. */
		CHECK((image_bytes_at(part.image, begin - 32, &len) != NULL) == (gap > 16));
		opened_close(&part);
		opened_close(&whole);
		writer_deinit(&out);
	}
}

/* Words that lead to where a file is loaded are on many stacks. */
TEST(bundle_looks_for_nothing_in_the_header_of_a_file)
{
	struct bundle_address list[] = { { 0x1008, 0 }, { 0x1050, 0 } };
	struct addresses addresses = { .items = list, .len = ARRAY_LEN(list) };
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(frame_writer_deinit) struct frame_writer w = { 0 };
	struct cfi_fde header = fde_of(0x1000, NULL, 0), code = fde_of(0x1040, NULL, 0), got;
	struct opened whole = { 0 }, part = { 0 };
	struct writer out = { 0 };

	header.end = 0x1040;
	CHECK(frame_writer_add(&w, &header) && frame_writer_add(&w, &code));
	elf_file_segment(&f, (struct elf_file_segment){
				     .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = 0x1000, .file_len = 0x60, .memory_len = 0x60 });
	read_back(&w, &f, &whole);
	bundle_of(&whole, &addresses, &out, &part);
	CHECK(cfi_section_find(whole.cfi, 0x1008, &got));
	CHECK(!cfi_section_find(part.cfi, 0x1008, &got));
	CHECK(cfi_section_find(part.cfi, 0x1050, &got));
	opened_close(&part);
	opened_close(&whole);
	writer_deinit(&out);
}
