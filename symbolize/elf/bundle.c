/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.c - from the recorded addresses to the functions, rules and bytes that explain them.
 *
 * A word from a stack that follows a call is a return address: what matters is the call, one byte
 * before. Any other word may be where a signal interrupted, a start routine, or a function pointer; the
 * rules that cover the address itself are kept for it.
 *
 * Code is gathered as ranges, and ranges closer to each other than a section header is long become one.
 */
#include "symbolize/elf/bundle.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "symbolize/elf/bundle_calls.h"
#include "symbolize/elf/code_starts.h"
#include "symbolize/elf/frame_writer.h"
#include "formats/base/mini_elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_LEN_MAX (256U << 10) /* of code, from the function's start */
#define LEN_PER_SAMPLE   256          /* a function as long as this travels for one sample in it */
#define INSTRUCTION_LEN  16 /* bytes from a sampled address on that hold its instruction */
#define PROLOGUE_LEN     192 /* of a function whose rules are expressions, where unwind_hidden.c looks */
#define UNRULED_LEN      (16U << 10) /* of a function without rules, from its start to the address */
#define AHEAD_LEN        2048 /* of such a function behind the address, up to where it ends */
#define BEHIND_LEN       256 /* before the address, where a loop begins */
#define EDGE_LEN         16 /* bytes before an address where rules begin or end */
#define ELF_HEADER_LEN	 64
#define ALIGNMENT	 16 /* of functions: less than that lies between two of them */
#define GAP_MAX          64 /* between ranges that become one: a section header's length */
#define SEGMENTS_MAX     1000
#define SYMBOL_LEN_MAX   (1U << 30) /* without a symbol behind it */

struct range {
	uint64_t begin, end;
};

struct chosen_symbol {
	uint64_t vaddr, len;
	const char *name;
};

struct bundle {
	const struct bundle_source *src;
	struct frame_writer frames;
	struct map frames_seen;      /* begin of each FDE that is in */
	struct cfi_fde fde;	     /* the last one that was found, if @ruled */
	bool ruled;
	struct map symbols_seen;     /* index of each entry that is in */
	struct map samples;          /* by begin of function */
	VEC(struct range) functions; /* the keys of @samples */
	VEC(struct chosen_symbol) symbols;
	VEC(struct range) code;
	struct bundle_calls_writer calls;
	struct code_starts *starts;  /* of functions without symbols; NULL: not asked for yet */
	VEC(uint64_t) starts_used;
	struct bundle_counts counts;
};

/* ---- choosing -------------------------------------------------------------------------------------- */

static void add_fde(struct bundle *b, const struct cfi_fde *fde)
{
	bool is_new;

	map_put(&b->frames_seen, fde->begin, &is_new);
	if (is_new && frame_writer_add(&b->frames, fde))
		b->counts.fdes++;
}

static uint64_t symbol_len(const struct bundle *b, const struct symtab_entry *entry)
{
	uint64_t len = symtab_end(b->src->symbols, entry) - entry->vaddr;

	return entry->len ? entry->len : MIN(len, SYMBOL_LEN_MAX);
}

static void add_symbol(struct bundle *b, size_t index)
{
	size_t count;
	const struct symtab_entry *entries = symtab_entries(b->src->symbols, &count);
	bool is_new;

	map_put(&b->symbols_seen, index, &is_new);
	if (!is_new)
		return;
	struct chosen_symbol symbol = {
		.vaddr = entries[index].vaddr,
		.len = symbol_len(b, &entries[index]),
		.name = entries[index].name,
	};

	vec_push(&b->symbols, symbol);
	b->counts.symbols++;
}

static void add_code(struct bundle *b, uint64_t begin, uint64_t end)
{
	if (begin < end)
		vec_push(&b->code, ((struct range){ begin, end }));
}

/* The function that holds @vaddr, by symbol or else by rule; empty if neither knows. */
static struct range function_at(const struct bundle *b, const struct symtab_entry *symbol, const struct cfi_fde *fde)
{
	if (symbol)
		return (struct range){ symbol->vaddr, symbol->vaddr + symbol_len(b, symbol) };
	return fde ? (struct range){ fde->begin, fde->end } : (struct range){ 0, 0 };
}

/* Samples are summed by function; which ones are worth their bytes is decided when all are known. */
static void count_samples(struct bundle *b, struct range function, uint64_t leaves)
{
	bool is_new;

	if (function.begin == function.end)
		return;
	uint64_t *sum = map_put(&b->samples, function.begin, &is_new);

	*sum += leaves;
	if (is_new)
		vec_push(&b->functions, function);
}

static void add_function_code(struct bundle *b)
{
	for (size_t i = 0; i < b->functions.len; i++) {
		struct range r = b->functions.items[i];
		uint64_t samples = *map_get(&b->samples, r.begin);

		bool hot = b->src->everything || samples >= b->src->hot;

		r.end = MIN(r.end, r.begin + FUNCTION_LEN_MAX);
		if (hot || r.end - r.begin <= samples * LEN_PER_SAMPLE)
			add_code(b, r.begin, r.end);
	}
}

/* What covers an address. */
struct place {
	struct range function; /* empty if it is not known */
	bool sized; /* by a symbol that has a length */
	bool ruled;
	bool computed; /* some of the rules are expressions for the end of the frame */
	uint64_t rules_begin, rules_end; /* the rules' range */
};

/*
 * Is DW_CFA_def_cfa_expression among the instructions? A byte that looks like it does no harm: some code travels for
 * nothing.
 */
static bool has_computed_rules(const struct cfi_fde *fde)
{
	return fde->instructions_len && memchr(fde->instructions, 0x0f, fde->instructions_len);
}

/* Take the rules that cover @vaddr: those of the last call, if they do. */
static void add_rules(struct bundle *b, uint64_t vaddr)
{
	b->ruled = b->ruled && vaddr >= b->fde.begin && vaddr < b->fde.end;
	if (b->ruled || !b->src->cfi || !cfi_section_find(b->src->cfi, vaddr, &b->fde))
		return;
	b->ruled = true;
	add_fde(b, &b->fde);
}

/* Take the rules and the symbol that cover @vaddr. */
static struct place add_place(struct bundle *b, uint64_t vaddr)
{
	const struct bundle_source *src = b->src;
	const struct symtab_entry *symbol = symtab_find(src->symbols, vaddr);
	struct place place = { 0 };
	size_t count;

	add_rules(b, vaddr);
	place.ruled = b->ruled;
	if (place.ruled) {
		place.rules_begin = b->fde.begin;
		place.rules_end = b->fde.end;
		place.computed = has_computed_rules(&b->fde);
	}
	if (symbol)
		add_symbol(b, (size_t)(symbol - symtab_entries(src->symbols, &count)));
	place.sized = symbol && symbol->len;
	place.function = function_at(b, symbol, place.ruled ? &b->fde : NULL);
	return place;
}

/* Is there a system call within EDGE_LEN of @vaddr, as signal trampolines make? */
static bool near_system_call(const struct bundle *b, uint64_t vaddr)
{
	static const struct {
		uint16_t machine;
		uint8_t len, code[4];
	} calls[] = { { EM_X86_64, 2, { 0x0f, 0x05 } }, { EM_AARCH64, 4, { 0x01, 0x00, 0x00, 0xd4 } } };
	size_t len;
	const uint8_t *code = image_bytes_at(b->src->image, vaddr - MIN(vaddr, EDGE_LEN), &len);

	for (size_t i = 0; code && i < ARRAY_LEN(calls); i++) {
		if (image_arch(b->src->image)->elf_machine == calls[i].machine &&
		    memmem(code, MIN(len, EDGE_LEN + INSTRUCTION_LEN), calls[i].code, calls[i].len))
			return true;
	}
	return false;
}

/* Where no rule is, or where it ends, the unwinder looks for the start of a routine or a signal trampoline. */
static bool code_matters(const struct bundle *b, uint64_t vaddr, const struct place *at,
			 const struct place *before)
{
	if (at->ruled && !before->ruled)
		return true;
	return (!at->ruled || before->rules_end == vaddr) && near_system_call(b, vaddr);
}

/* Where a function begins that no symbol knows; 0 if that is not known. */
static uint64_t find_start(struct bundle *b, uint64_t vaddr)
{
	uint64_t start;

	if (!b->starts)
		b->starts = code_starts_new(b->src->image, b->src->symbols);
	start = code_starts_find(b->starts, vaddr);
	if (start)
		vec_push(&b->starts_used, start);
	return start;
}

/* Is @code + @at behind a return, and at the end of a function: is what follows padding, or aligned as functions are? */
static bool is_function_end(const uint8_t *code, size_t at, uint64_t vaddr)
{
	static const uint8_t fillers[] = { 0x90, 0xcc, 0x66, 0x0f, 0x2e };

	return code[at - 1] == 0xc3 && (vaddr % 16 == 0 || memchr(fillers, code[at], sizeof(fillers)));
}

/* Where the function that holds @vaddr ends, or what is taken of it does. */
static uint64_t find_end(const struct bundle *b, uint64_t vaddr)
{
	size_t len, at = 1;
	const uint8_t *code = image_bytes_at(b->src->image, vaddr, &len);

	if (!code)
		return vaddr;
	len = MIN(len, AHEAD_LEN);
	while (at < len && !is_function_end(code, at, vaddr + at))
		at++;
	return vaddr + MIN(at, len);
}

/*
 * Where there is no rule, the code up to there says what the function has done to the stack (unwind/code_rows.h). Where no symbol with a
 * length knows the function, that behind it says how it undoes that (unwind/code_exits.h).
 */
static void add_unruled(struct bundle *b, uint64_t vaddr, const struct place *place)
{
	bool known = place->function.begin < place->function.end;
	uint64_t begin;

	if (place->ruled || image_arch(b->src->image) != &arch_x86_64)
		return;
	begin = known ? place->function.begin : find_start(b, vaddr);
	if (begin && vaddr - begin < UNRULED_LEN)
		add_code(b, begin, vaddr + INSTRUCTION_LEN);
	if (!place->sized)
		add_code(b, vaddr - MIN(vaddr, BEHIND_LEN), find_end(b, vaddr));
}

/* A pointer to where a file is loaded leads to its first bytes, which are no code. */
static bool is_elf_header(const struct image *img, uint64_t vaddr)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		if (!segments[i].offset && vaddr - segments[i].vaddr < ELF_HEADER_LEN)
			return true;
	}
	return false;
}

/* Many linkers write no rules for it. */
static bool is_plt(const struct image *img, uint64_t vaddr)
{
	const char *name = image_section_at(img, vaddr);

	return name && strncmp(name, ".plt", strlen(".plt")) == 0;
}

/*
 * A function that jumps into code which never returns to it is on no stack, but what it has left there is (unwind/unwind_haskell.c). Its rule
 * computes the stack pointer: DW_CFA_val_expression of register 7.
 */
static void add_called(struct bundle *b, uint64_t vaddr)
{
	static const uint8_t computes_sp[] = { 0x16, 0x07 };
	struct cfi_fde fde;

	if (image_arch(b->src->image) != &arch_x86_64 || !vaddr || !b->src->cfi || is_plt(b->src->image, vaddr) ||
	    !cfi_section_find(b->src->cfi, vaddr, &fde) ||
	    !fde.instructions_len || !memmem(fde.instructions, fde.instructions_len, computes_sp, sizeof(computes_sp)))
		return;
	add_place(b, vaddr);
}

/*
 * Does a function begin at @vaddr with nothing but padding before it? Its last bytes may look like a call, and all of the code would be searched
 * for where the function begins that makes it.
 */
static bool is_behind_padding(const struct bundle *b, uint64_t vaddr, const struct place *at, const struct place *before)
{
	struct cfi_fde fde;

	return at->ruled && at->rules_begin == vaddr && !before->ruled && vaddr >= ALIGNMENT &&
	       cfi_section_find(b->src->cfi, vaddr - ALIGNMENT, &fde);
}

/*
 * Both the address and the byte before it are asked for: that of a call, or that of an instruction which a
 * signal interrupted.
 */
static void add_address(struct bundle *b, const struct bundle_address *address)
{
	uint64_t vaddr = address->vaddr, called;
	bool call = bundle_calls_look(&b->calls, b->src->image, vaddr, &called);

	/* To make sure that a table has nothing there, all entries of a file would be counted. */
	if (!address->leaves && is_elf_header(b->src->image, vaddr))
		return;
	struct place at = add_place(b, vaddr);
	struct place before = add_place(b, vaddr - 1);

	add_called(b, called);
	if (address->leaves)
		count_samples(b, at.function, address->leaves);
	else if (call && b->src->everything)
		count_samples(b, before.function, 0);
	if (address->leaves)
		add_code(b, vaddr, vaddr + INSTRUCTION_LEN);
	if (address->leaves || (call && !is_behind_padding(b, vaddr, &at, &before)))
		add_unruled(b, vaddr, address->leaves ? &at : &before);
	if (address->leaves && at.computed)
		add_code(b, at.rules_begin, MIN(at.rules_end, at.rules_begin + PROLOGUE_LEN));
	if (code_matters(b, vaddr, &at, &before))
		add_code(b, vaddr - MIN(vaddr, EDGE_LEN), vaddr + INSTRUCTION_LEN);
}

/* An image that has a table must not look like one that has none: those are unwound in another way. */
static void add_any_rule(struct bundle *b)
{
	struct cfi_fde fde;

	if (!b->counts.fdes && b->src->cfi && cfi_section_any(b->src->cfi, &fde))
		add_fde(b, &fde);
}

static void add_everything(struct bundle *b)
{
	struct cfi_fde fde;
	size_t pos = 0, count;

	while (b->src->cfi && cfi_section_each(b->src->cfi, &pos, &fde))
		add_fde(b, &fde);
	symtab_entries(b->src->symbols, &count);
	for (size_t i = 0; i < count; i++)
		add_symbol(b, i);
}

/* ---- code ------------------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return COMPARE(x->begin, y->begin);
}

static bool same_section(const struct image *img, uint64_t a, uint64_t b)
{
	const char *x = image_section_at(img, a), *y = image_section_at(img, b);

	return x && y ? strcmp(x, y) == 0 : x == y;
}

/* Sort, and make one of ranges that are @gap or less apart. */
static void merge_code(struct bundle *b, uint64_t gap)
{
	size_t kept = 0;

	vec_sort(&b->code, by_begin);
	for (size_t i = 0; i < b->code.len; i++) {
		struct range *r = &b->code.items[i];
		struct range *last = kept ? &b->code.items[kept - 1] : NULL;

		if (last && (r->begin <= last->end || r->begin - last->end <= gap) &&
		    same_section(b->src->image, last->begin, r->begin))
			last->end = MAX(last->end, r->end);
		else
			b->code.items[kept++] = *r;
	}
	b->code.len = kept;
}

/* Add @range's bytes as sections, one after another where the original changes section. */
static void add_code_sections(struct bundle *b, struct mini_elf *elf, struct range range)
{
	while (range.begin < range.end) {
		const char *name = image_section_at(b->src->image, range.begin);
		size_t len;
		const uint8_t *code = image_bytes_at(b->src->image, range.begin, &len);

		if (!code || !len)
			return;
		len = MIN(len, range.end - range.begin);
		mini_elf_section(elf, (struct mini_elf_section){
					      .name = name ? name : ".text",
					      .type = SHT_PROGBITS,
					      .flags = SHF_ALLOC | SHF_EXECINSTR,
					      .vaddr = range.begin,
					      .data = code,
					      .len = len,
				      });
		b->counts.code_len += len;
		range.begin += len;
	}
}

static void write_code(struct bundle *b, struct mini_elf *elf)
{
	uint64_t gap = GAP_MAX;

	merge_code(b, gap);
	while (b->code.len > MINI_ELF_SECTIONS_MAX / 2)
		merge_code(b, gap *= 2);
	for (size_t i = 0; i < b->code.len && elf->sections.len < MINI_ELF_SECTIONS_MAX; i++)
		add_code_sections(b, elf, b->code.items[i]);
}

/* ---- the other sections ---------------------------------------------------------------------------- */

static void write_build_id(const struct image *img, struct writer *note, struct mini_elf *elf)
{
	size_t len;
	const uint8_t *id = image_build_id(img, &len);

	if (!len)
		return;
	writer_u32(note, 4);
	writer_u32(note, (uint32_t)len);
	writer_u32(note, NT_GNU_BUILD_ID);
	writer_bytes(note, "GNU", 4);
	writer_bytes(note, id, len);
	while (note->len % 4)
		writer_u8(note, 0);
	size_t index = mini_elf_section(elf, (struct mini_elf_section){
						     .name = ".note.gnu.build-id",
						     .type = SHT_NOTE,
						     .data = note->data,
						     .len = note->len,
					     });

	mini_elf_segment(elf, (struct mini_elf_segment){ PT_NOTE, PF_R, .section = index });
}

static void write_data(struct mini_elf *elf, const char *name, const void *data, size_t len)
{
	mini_elf_section(elf, (struct mini_elf_section){
				      .name = name,
				      .type = SHT_PROGBITS,
				      .data = data,
				      .len = len,
			      });
}

/* The rules; and what is lost, which a reader must be able to tell from what never had one. */
static void write_frames(struct bundle *b, struct mini_elf *elf)
{
	const struct cfi_section *cfi = b->src->cfi;
	const char *defect = cfi && cfi_section_has_holes(cfi) ? cfi_section_defect(cfi) : NULL;

	if (b->frames.out.len)
		write_data(elf, ".debug_frame", b->frames.out.data, b->frames.out.len);
	if (defect)
		write_data(elf, CFI_SECTION_HOLES, defect, strlen(defect));
}

static int by_vaddr(const void *a, const void *b)
{
	const struct chosen_symbol *x = a, *y = b;

	return COMPARE(x->vaddr, y->vaddr);
}

/* Without a section of their own (SHN_ABS): most functions have no bytes here, or not all. */
static void write_symbols(struct bundle *b, struct writer *table, struct writer *names,
			  struct mini_elf *elf)
{
	static const uint8_t empty[24];

	vec_sort(&b->symbols, by_vaddr);
	writer_bytes(table, empty, sizeof(empty));
	writer_u8(names, 0);
	for (size_t i = 0; i < b->symbols.len; i++) {
		const struct chosen_symbol *symbol = &b->symbols.items[i];

		writer_u32(table, (uint32_t)names->len);
		writer_u8(table, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
		writer_u8(table, STV_DEFAULT);
		writer_u16(table, SHN_ABS);
		writer_u64(table, symbol->vaddr);
		writer_u64(table, symbol->len);
		writer_string(names, symbol->name);
	}
	size_t strings = mini_elf_section(elf, (struct mini_elf_section){
						       .name = ".strtab",
						       .type = SHT_STRTAB,
						       .data = names->data,
						       .len = names->len,
					       });

	mini_elf_section(elf, (struct mini_elf_section){
				      .name = ".symtab",
				      .type = SHT_SYMTAB,
				      .data = table->data,
				      .len = table->len,
				      .link = (uint32_t)strings,
				      .info = 1,
				      .entry_len = sizeof(empty),
			      });
}

static void write_starts(struct bundle *b, struct writer *starts, struct mini_elf *elf)
{
	uint64_t last = 0;

	vec_sort(&b->starts_used, vec_u64_ascending);
	for (size_t i = 0; i < b->starts_used.len; i++) {
		uint64_t start = b->starts_used.items[i];

		if (start != last)
			writer_uleb(starts, start - last);
		last = start;
	}
	if (starts->len)
		write_data(elf, CODE_STARTS_SECTION, starts->data, starts->len);
}

/* A segment that holds a recorded address was executable in the process, whatever its flags say. */
static bool was_executed(const struct bundle_source *src, const struct image_segment *seg)
{
	for (size_t i = 0; i < src->naddresses; i++) {
		uint64_t vaddr = src->addresses[i].vaddr;

		if (vaddr >= seg->vaddr && vaddr - seg->vaddr < seg->memory_len)
			return true;
	}
	return false;
}

/*
 * As far as the file's bytes reach, and variables that are zero at first behind them; a bundle's own segments have none,
 * and are so long already.
 */
static void write_segments(const struct bundle *b, struct mini_elf *elf)
{
	const struct bundle_source *src = b->src;
	size_t count;
	const struct image_segment *segments = image_segments(src->image, &count);

	for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
		const struct image_segment *seg = &segments[i];
		bool exec = seg->exec || was_executed(src, seg);
		bool variables = seg->write && !exec;
		uint64_t len = b->calls.known || variables ? seg->memory_len : seg->file_len;

		if (!len)
			continue;
		mini_elf_segment(
			elf, (struct mini_elf_segment){
				     .type = PT_LOAD,
				     .flags = PF_R | (exec ? PF_X : 0) | (seg->write ? PF_W : 0),
				     .offset = seg->offset,
				     .vaddr = seg->vaddr,
				     .memory_len = len,
			     });
	}
}

void bundle_write(const struct bundle_source *src, struct writer *out, struct bundle_counts *ret)
{
	struct bundle b = { .src = src };
	struct mini_elf elf = {
		.machine = image_arch(src->image)->elf_machine,
		.entry = image_entry(src->image),
	};
	struct writer note = { 0 }, table = { 0 }, names = { 0 }, starts = { 0 };
	struct bundle_calls *known = bundle_calls_new(src->image);

	b.calls.known = known;
	for (size_t i = 0; i < src->naddresses; i++)
		add_address(&b, &src->addresses[i]);
	if (src->everything)
		add_everything(&b);
	add_any_rule(&b);
	add_function_code(&b);
	write_segments(&b, &elf);
	write_build_id(src->image, &note, &elf);
	write_frames(&b, &elf);
	write_data(&elf, BUNDLE_CALLS_SECTION, b.calls.out.data, b.calls.out.len);
	write_starts(&b, &starts, &elf);
	write_symbols(&b, &table, &names, &elf);
	write_code(&b, &elf);
	mini_elf_finish(&elf, out);
	*ret = b.counts;

	frame_writer_deinit(&b.frames);
	map_deinit(&b.frames_seen);
	map_deinit(&b.symbols_seen);
	map_deinit(&b.samples);
	vec_deinit(&b.functions);
	vec_deinit(&b.symbols);
	vec_deinit(&b.code);
	writer_deinit(&b.calls.out);
	writer_deinit(&starts);
	vec_deinit(&b.starts_used);
	code_starts_free(b.starts);
	bundle_calls_free(known);
	writer_deinit(&note);
	writer_deinit(&table);
	writer_deinit(&names);
	mini_elf_deinit(&elf);
}

int bundle_address_ascending(const void *a, const void *b)
{
	const struct bundle_address *x = a, *y = b;

	return COMPARE(x->vaddr, y->vaddr);
}
