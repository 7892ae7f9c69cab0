/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready_to_run.c - all entry points are listed, since one says which method it is of and not the other way round.
 */
#include "record/embed/ready_to_run.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/vec.h"
#include "record/runtime/dotnet_metadata.h"
#include "formats/base/mini_elf.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_BASE	0x100000000ULL /* where the view has the file */
#define FILE_LEN_MAX	(1U << 30)
#define VIEW_NS		10000000ULL
#define MACHINE		0xfd1d /* x86-64 with Linux */
#define SIGNATURE	0x00525452u
#define SECTIONS_MAX	64
#define FUNCTIONS_MAX	(1U << 22)
#define ENTRIES_MAX	(1U << 20)
#define HANDLERS_MAX	16 /* functions of a method behind its first one */
#define TYPES_MAX	256 /* parts of a signature */

#define FLAG_COMPONENT	0x20 /* its code is in another file */

enum { RUNTIME_FUNCTIONS = 102, METHOD_ENTRIES = 103, THUNKS = 106, INSTANCE_ENTRIES = 109, COMPONENTS = 115, HOT_COLD = 120 };

struct area {
	uint64_t addr;
	uint32_t vaddr, len;
};

/* A method's first function; method 0 is one whose name is not known. */
struct entry {
	uint32_t function, method;
};

struct assembly {
	const uint8_t *data; /* the file */
	uint32_t len;
	const struct ready_to_run_source *source;
	struct managed_view *view;
	struct dotnet_pe pe;
	struct dotnet_metadata metadata;
	struct area functions, methods, instances, thunks;
	bool is_split;	   /* parts of methods lie elsewhere */
	bool is_composite; /* of several assemblies */
	VEC(struct entry) entries;
};

static void read_file(void *context, struct task_memory_piece *pieces, size_t count)
{
	const struct assembly *a = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = pieces[i].addr - FILE_BASE;

		pieces[i].got = offset < a->len ? MIN(pieces[i].len, (size_t)(a->len - offset)) : 0;
		memcpy(pieces[i].to, a->data + offset, pieces[i].got);
	}
}

/* With a view of its own, whatever failed before; false when time is up. */
static bool begin(struct assembly *a)
{
	managed_view_begin(a->view, read_file, a, VIEW_NS);
	return a->source->goes_on(a->source->context);
}

/* ---- numbers --------------------------------------------------------------------------------------- */

/*
 * Numbers of 1 to 5 bytes: as many low bits as are set in the first byte say how many follow. Signed ones are negative where the highest bit is
 * set.
 */
static uint32_t take_number(struct assembly *a, uint64_t *addr, bool is_signed)
{
	uint8_t bytes[5] = { managed_view_u8(a->view, *addr) };
	unsigned len = 1;

	while (len < 5 && bytes[0] >> (len - 1) & 1)
		len++;
	if (len > 1)
		managed_view_copy(a->view, *addr + 1, bytes + 1, len - 1);
	*addr += len;
	uint64_t value = bytes[0];

	for (unsigned i = 1; i < len; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	if (len == 5)
		return (uint32_t)(value >> 8);
	value >>= len;
	unsigned bits = 7 * len;

	if (is_signed && value >> (bits - 1) & 1)
		value |= UINT64_MAX << bits;
	return (uint32_t)value;
}

/* The same as signatures have them: 1, 2 or 4 bytes, the highest first. */
static uint32_t take_packed(struct assembly *a, uint64_t *addr)
{
	uint32_t value = managed_view_u8(a->view, (*addr)++);
	unsigned more = value & 0x80 ? value & 0x40 ? 3 : 1 : 0;

	value &= more == 3 ? 0x1f : more ? 0x3f : 0x7f;
	while (more--)
		value = value << 8 | managed_view_u8(a->view, (*addr)++);
	return value;
}

/* An offset of @log2_len bytes, number @index of those at @addr. */
static uint32_t offset_at(struct assembly *a, uint64_t addr, unsigned log2_len, uint32_t index)
{
	uint8_t bytes[4] = { 0 };

	managed_view_copy(a->view, addr + ((uint64_t)index << log2_len), bytes, 1U << log2_len);
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- entry points ---------------------------------------------------------------------------------- */

static void add_entry(struct assembly *a, uint64_t addr, uint32_t method)
{
	uint32_t id = take_number(a, &addr, /* is_signed= */ false);
	struct entry entry = { id & 1 ? id >> 2 : id >> 1, method };

	if (!a->view->failed && a->entries.len < ENTRIES_MAX)
		vec_push(&a->entries, entry);
}

#define BLOCK_LEN 16

/*
 * What a sparse array has for @index: a tree for each block of 16 leads to it bit by bit. A node's low bits say that it has a left part,
 * which follows, and a right one, at a distance; a leaf has neither, and the rest of its number.
 */
static uint64_t find_in_array(struct assembly *a, uint64_t blocks, unsigned log2_len, uint32_t index)
{
	uint64_t at = blocks + offset_at(a, blocks, log2_len, index / BLOCK_LEN);

	for (uint32_t bit = BLOCK_LEN / 2; bit && !a->view->failed; bit >>= 1) {
		uint64_t next = at;
		uint32_t node = take_number(a, &next, /* is_signed= */ false);

		if (index & bit && node & 2)
			at += node >> 2;
		else if (!(index & bit) && node & 1)
			at = next;
		else
			return !(node & 3) && node >> 2 == index % BLOCK_LEN ? next : 0;
	}
	return at;
}

static bool list_methods(struct assembly *a)
{
	uint64_t blocks = a->methods.addr;
	uint32_t head;

	if (!blocks || !begin(a))
		return false;
	head = take_number(a, &blocks, /* is_signed= */ false);
	for (uint32_t i = 0; i < head >> 2 && i < a->metadata.methods.rows; i++) {
		if (i % BLOCK_LEN == 0 && !begin(a))
			return false;
		uint64_t at = (head & 3) == 3 ? 0 : find_in_array(a, blocks, head & 3, i);

		if (at && !a->view->failed)
			add_entry(a, at, i + 1);
	}
	return true;
}

enum {
	TYPE_VOID = 0x01, TYPE_STRING = 0x0e, TYPE_PTR = 0x0f, TYPE_BYREF = 0x10, TYPE_VALUETYPE = 0x11, TYPE_CLASS = 0x12, TYPE_VAR = 0x13,
	TYPE_ARRAY = 0x14, TYPE_GENERIC = 0x15, TYPE_TYPEDREF = 0x16, TYPE_INT = 0x18, TYPE_UINT = 0x19, TYPE_OBJECT = 0x1c, TYPE_SZARRAY = 0x1d,
	TYPE_MVAR = 0x1e, TYPE_CANON = 0x3e, TYPE_MODULE = 0x3f,
};

/* Pass a type, and those in it. False if one is of a kind that is not known. */
static bool skip_type(struct assembly *a, uint64_t *addr)
{
	uint32_t left = 1;

	for (unsigned i = 0; left && i < TYPES_MAX && !a->view->failed; i++) {
		uint8_t kind = managed_view_u8(a->view, (*addr)++);

		left--;
		if (kind == TYPE_PTR || kind == TYPE_BYREF || kind == TYPE_SZARRAY) {
			left++;
		} else if (kind == TYPE_VALUETYPE || kind == TYPE_CLASS || kind == TYPE_VAR || kind == TYPE_MVAR) {
			take_packed(a, addr);
		} else if (kind == TYPE_GENERIC) {
			(*addr)++;
			take_packed(a, addr);
			left += take_packed(a, addr) & 0xff;
		} else if (kind == TYPE_MODULE) {
			take_packed(a, addr);
			left++;
		} else if (!((kind >= TYPE_VOID && kind <= TYPE_STRING) || kind == TYPE_TYPEDREF || kind == TYPE_INT || kind == TYPE_UINT ||
			     kind == TYPE_OBJECT || kind == TYPE_CANON)) {
			return false;
		}
	}
	return !left && !a->view->failed;
}

enum { SIGNATURE_ARGUMENTS = 0x04, SIGNATURE_SLOT = 0x08, SIGNATURE_REFERENCE = 0x10, SIGNATURE_CONSTRAINED = 0x20, SIGNATURE_OWNER = 0x40,
       SIGNATURE_CONTEXT = 0x80 };

/* Pass the signature of an instance of a generic method, or of a generic type's. False if it cannot be understood. */
static bool take_signature(struct assembly *a, uint64_t *addr, uint32_t *ret_method)
{
	uint32_t flags = take_packed(a, addr), arguments;

	if (flags & SIGNATURE_CONTEXT)
		take_packed(a, addr);
	if (flags & SIGNATURE_OWNER && !skip_type(a, addr))
		return false;
	*ret_method = take_packed(a, addr);
	if (flags & (SIGNATURE_CONTEXT | SIGNATURE_SLOT | SIGNATURE_REFERENCE)) /* another assembly's */
		*ret_method = 0;
	arguments = flags & SIGNATURE_ARGUMENTS ? take_packed(a, addr) & 0xff : 0;
	for (uint32_t i = 0; i < arguments; i++) {
		if (!skip_type(a, addr))
			return false;
	}
	return !(flags & SIGNATURE_CONSTRAINED) || skip_type(a, addr);
}

/* Entries of one bucket of a hash table: a byte of the hash, and the distance to what it is of. */
static bool list_bucket(struct assembly *a, uint64_t addr, uint64_t end)
{
	while (addr < end && a->entries.len < ENTRIES_MAX) {
		uint64_t at = ++addr;
		uint32_t method;

		if (!begin(a))
			return false;
		at += (uint64_t)(int64_t)(int32_t)take_number(a, &addr, /* is_signed= */ true);
		if (!take_signature(a, &at, &method))
			return false;
		add_entry(a, at, method);
	}
	return true;
}

static bool list_instances(struct assembly *a)
{
	uint64_t buckets = a->instances.addr + 1;
	unsigned head;

	if (!a->instances.addr)
		return true;
	if (!begin(a))
		return false;
	head = managed_view_u8(a->view, a->instances.addr);
	if ((head & 3) == 3 || head >> 2 > 20)
		return false;
	for (uint32_t i = 0; i < 1U << (head >> 2); i++) {
		if (!begin(a))
			return false;
		uint32_t start = offset_at(a, buckets, head & 3, i), end = offset_at(a, buckets, head & 3, i + 1);

		if (a->view->failed || start > a->instances.len || end > a->instances.len || !list_bucket(a, buckets + start, buckets + end))
			return false;
	}
	return true;
}

static int by_function(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return COMPARE(x->function, y->function);
}

/* ---- the file -------------------------------------------------------------------------------------- */

static void take_area(struct assembly *a, uint64_t section)
{
	struct area *const areas[] = { [RUNTIME_FUNCTIONS] = &a->functions, [METHOD_ENTRIES] = &a->methods, [THUNKS] = &a->thunks,
				       [INSTANCE_ENTRIES] = &a->instances };
	uint32_t kind = managed_view_u32(a->view, section);
	struct area area = { .vaddr = managed_view_u32(a->view, section + 4), .len = managed_view_u32(a->view, section + 8) };

	area.addr = dotnet_pe_addr(a->view, &a->pe, area.vaddr, area.len);
	a->is_split = a->is_split || (kind == HOT_COLD && area.len);
	a->is_composite = a->is_composite || kind == COMPONENTS;
	if (kind < ARRAY_LEN(areas) && areas[kind] && area.addr)
		*areas[kind] = area;
}

static bool read_header(struct assembly *a)
{
	uint64_t cli, header;

	if (!begin(a) || !dotnet_pe_open(a->view, FILE_BASE, a->len, &a->pe) || a->pe.machine != MACHINE)
		return false;
	cli = dotnet_pe_addr(a->view, &a->pe, a->pe.cli, 72);
	header = cli ? dotnet_pe_addr(a->view, &a->pe, managed_view_u32(a->view, cli + 64), 16) : 0;
	if (!header || managed_view_u32(a->view, header) != SIGNATURE || managed_view_u32(a->view, header + 8) & FLAG_COMPONENT)
		return false;
	uint32_t count = managed_view_u32(a->view, header + 12);

	for (uint32_t i = 0; i < count && i < SECTIONS_MAX; i++)
		take_area(a, header + 16 + 12ULL * i);
	return a->functions.addr && !a->is_composite && a->functions.len / 12 <= FUNCTIONS_MAX && !a->view->failed && begin(a) &&
	       dotnet_metadata_open(a->view, FILE_BASE, a->len, &a->metadata);
}

/* Where the byte at @offset of the file is, relative to the image. */
static bool to_vaddr(struct assembly *a, uint64_t offset, uint32_t *ret)
{
	for (uint16_t i = 0; i < a->pe.nsections; i++) {
		struct dotnet_pe_section section = dotnet_pe_section_at(a->view, &a->pe, i);

		if (offset - section.offset < section.len) {
			*ret = section.vaddr + (uint32_t)(offset - section.offset);
			return !a->view->failed;
		}
	}
	return false;
}

/* ---- symbols --------------------------------------------------------------------------------------- */

struct symbols {
	struct map seen; /* numbers of functions */
	struct writer table, names;
	uint64_t count;
};

/* The method that function @number is part of; 0: not known. */
static uint32_t method_of(const struct assembly *a, uint32_t number)
{
	size_t count = BISECT(a->entries.len, i, a->entries.items[i].function <= number);
	const struct entry *entry = count ? &a->entries.items[count - 1] : NULL;

	if (!entry || number - entry->function > (a->is_split ? 0 : HANDLERS_MAX))
		return 0;
	return entry->method;
}

static void put_symbol(struct assembly *a, struct symbols *s, uint32_t number, uint32_t start, uint32_t end)
{
	char name[DOTNET_NAME_MAX];
	uint32_t method = method_of(a, number);
	bool is_new;

	if (!method || !dotnet_metadata_name(a->view, &a->metadata, dotnet_metadata_type(a->view, &a->metadata, method), method, name))
		return;
	map_put(&s->seen, number, &is_new);
	if (!is_new)
		return;
	writer_u32(&s->table, (uint32_t)s->names.len);
	writer_u8(&s->table, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	writer_u8(&s->table, STV_DEFAULT);
	writer_u16(&s->table, SHN_ABS);
	writer_u64(&s->table, start);
	writer_u64(&s->table, end - start);
	writer_string(&s->names, name);
	s->count++;
}

static uint32_t function_start(struct assembly *a, size_t number)
{
	return managed_view_u32(a->view, a->functions.addr + 12 * number);
}

/* The function that holds @vaddr. */
static void add_vaddr(struct assembly *a, struct symbols *s, uint32_t vaddr)
{
	size_t count = BISECT(a->functions.len / 12, i, function_start(a, i) <= vaddr);
	uint32_t start, end;

	if (!count || vaddr - a->thunks.vaddr < a->thunks.len)
		return;
	start = function_start(a, count - 1);
	end = managed_view_u32(a->view, a->functions.addr + 12 * (count - 1) + 4);
	if (!a->view->failed && vaddr >= start && vaddr < end)
		put_symbol(a, s, (uint32_t)count - 1, start, end);
}

static void write_elf(struct assembly *a, const struct symbols *s, struct writer *out)
{
	struct mini_elf elf = { .machine = EM_X86_64 };

	for (uint16_t i = 0; i < a->pe.nsections; i++) {
		struct dotnet_pe_section section = dotnet_pe_section_at(a->view, &a->pe, i);

		mini_elf_segment(&elf, (struct mini_elf_segment){ .type = PT_LOAD,
								  .flags = PF_R | (i ? PF_W : PF_X),
								  .offset = section.offset,
								  .vaddr = section.vaddr,
								  .memory_len = section.len });
	}
	size_t strings = mini_elf_section(&elf, (struct mini_elf_section){ .name = ".strtab", .type = SHT_STRTAB, .data = s->names.data,
									    .len = s->names.len });

	mini_elf_section(&elf, (struct mini_elf_section){ .name = ".symtab", .type = SHT_SYMTAB, .data = s->table.data, .len = s->table.len,
							   .link = (uint32_t)strings, .info = 1, .entry_len = sizeof(Elf64_Sym) });
	mini_elf_finish(&elf, out);
	mini_elf_deinit(&elf);
}

static bool write_symbols(struct assembly *a, struct writer *out, uint64_t *ret_symbols)
{
	static const uint8_t empty[sizeof(Elf64_Sym)];
	const struct map_slot *slot;
	struct symbols s = { 0 };
	bool complete;

	if (!read_header(a))
		return false;
	/* An entry point that is missing would give its functions to the method in front of it. */
	complete = list_methods(a) && list_instances(a) && a->entries.len < ENTRIES_MAX;
	a->is_split = a->is_split || !complete;
	vec_sort(&a->entries, by_function);
	writer_bytes(&s.table, empty, sizeof(empty));
	writer_u8(&s.names, 0);
	for (size_t pos = 0; (slot = map_next(a->source->offsets, &pos)) && begin(a);) {
		uint32_t vaddr;

		if (!to_vaddr(a, slot->key, &vaddr))
			continue;
		add_vaddr(a, &s, vaddr);
		if (vaddr && begin(a)) /* a return address belongs to the call in front of it */
			add_vaddr(a, &s, vaddr - 1);
	}
	begin(a);
	write_elf(a, &s, out);
	*ret_symbols = s.count;
	map_deinit(&s.seen);
	writer_deinit(&s.table);
	writer_deinit(&s.names);
	return true;
}

bool ready_to_run_write(const struct ready_to_run_source *source, struct writer *out, uint64_t *ret_symbols)
{
	struct assembly a = { .source = source };
	struct stat st;
	void *data;

	if (fstat(source->fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 512 || st.st_size > FILE_LEN_MAX)
		return false;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, source->fd, 0);
	if (data == MAP_FAILED)
		return false;
	a.data = data;
	a.len = (uint32_t)st.st_size;
	a.view = memory_zeroed(1, sizeof(*a.view));
	a.view->by_cpu_time = true;
	bool written = write_symbols(&a, out, ret_symbols);

	munmap(data, (size_t)st.st_size);
	vec_deinit(&a.entries);
	free(a.view);
	return written;
}
