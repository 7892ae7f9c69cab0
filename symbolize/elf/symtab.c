/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symtab.c - all symbols that name code, sorted by radix, one for each address, nested ones linked.
 *
 * The string tables are copied whole: that is one memcpy, where copying name by name would touch each
 * string of libraries with half a million of them. Ranges may nest (a label with a size inside a function),
 * so each entry knows the nearest earlier one that reaches beyond its start.
 *
 * For some addresses only, tables are read twice, once to find out which symbols matter, then to take those.
 */
#include "symbolize/elf/symtab.h"

#include "formats/base/arena.h"
#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "formats/base/xz.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/code_targets.h"
#include "symbolize/elf/go_table.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/plt.h"

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which symbols of a large table matter for some addresses, without sorting it.
 *
 *	for each symbol: if (near_symbols_may_matter(n, vaddr, len)) near_symbols_note(n, vaddr, len);
 *	near_symbols_choose(n);
 *	for each symbol: if (near_symbols_matters(n, vaddr)) take it;
 *
 * Those that cover one of the addresses; where none does, the next one below, what it may be a label in, and the next one above,
 * which ends it if it has no length.
 *
 * The addresses cut the line of all addresses into gaps; of each gap three symbols can matter.
 */

#define FILTER_BITS 65536

/* Of the symbols that begin above one address, at the next one or below, and cover neither. */
struct gap {
	uint64_t highest, lowest; /* 0 and UINT64_MAX: there is none */
	uint64_t reach, reach_from; /* the one that ends last */
};

struct near_symbols {
	const uint64_t *addresses;
	size_t count;
	struct gap *gaps;    /* in front of each address, and behind the last */
	unsigned shift;	     /* an address' place is found by its upper bits */
	uint32_t *firsts;    /* of each place: the first address there or above */
	size_t nplaces;
	struct map chosen;
	uint64_t filter[FILTER_BITS / 64]; /* of the chosen ones */
};

/* About two places for each address. */
static void index_places(struct near_symbols *n)
{
	uint64_t low = n->addresses[0], span = n->addresses[n->count - 1] - low;

	while (span >> n->shift > 2 * n->count)
		n->shift++;
	n->nplaces = (size_t)(span >> n->shift) + 1;
	n->firsts = memory_alloc((n->nplaces + 1) * sizeof(*n->firsts));
	for (size_t place = 0, i = 0; place <= n->nplaces; place++) {
		while (i < n->count && (n->addresses[i] - low) >> n->shift < place)
			i++;
		n->firsts[place] = (uint32_t)i;
	}
}

/* @addresses ascend, and must outlive the result. */
static struct near_symbols *near_symbols_new(const uint64_t *addresses, size_t count)
{
	struct near_symbols *n = memory_zeroed(1, sizeof(*n));

	n->addresses = addresses;
	n->count = count;
	n->gaps = memory_zeroed(count + 1, sizeof(*n->gaps));
	for (size_t i = 0; i <= count; i++)
		n->gaps[i].lowest = UINT64_MAX;
	if (count)
		index_places(n);
	return n;
}

static void near_symbols_free(struct near_symbols *n)
{
	if (!n)
		return;
	free(n->gaps);
	free(n->firsts);
	map_deinit(&n->chosen);
	free(n);
}

/* The first address at @vaddr or above; the count of all if there is none. */
static size_t next_address(const struct near_symbols *n, uint64_t vaddr)
{
	if (!n->count || vaddr > n->addresses[n->count - 1])
		return n->count;
	if (vaddr <= n->addresses[0])
		return 0;

	size_t i = n->firsts[(vaddr - n->addresses[0]) >> n->shift];

	while (n->addresses[i] < vaddr)
		i++;
	return i;
}

static bool covers(const struct near_symbols *n, size_t address, uint64_t vaddr, uint64_t len)
{
	return address < n->count && n->addresses[address] - vaddr < len;
}

static uint64_t filter_bit(uint64_t vaddr)
{
	return (vaddr ^ vaddr >> 16) % FILTER_BITS;
}

static void choose_near(struct near_symbols *n, uint64_t vaddr)
{
	uint64_t bit = filter_bit(vaddr);

	n->filter[bit / 64] |= 1ULL << bit % 64;
	map_put(&n->chosen, vaddr, NULL);
}

/* Could a symbol at @vaddr change what is known so far? @len is 0 if it has none. */
static bool near_symbols_may_matter(const struct near_symbols *n, uint64_t vaddr, uint64_t len)
{
	size_t i = next_address(n, vaddr);
	const struct gap *gap = &n->gaps[i];

	return covers(n, i, vaddr, len) || vaddr > gap->highest || vaddr < gap->lowest || vaddr + len > gap->reach;
}

static void near_symbols_note(struct near_symbols *n, uint64_t vaddr, uint64_t len)
{
	size_t i = next_address(n, vaddr);
	struct gap *gap = &n->gaps[i];

	gap->highest = MAX(gap->highest, vaddr);
	gap->lowest = MIN(gap->lowest, vaddr);
	if (covers(n, i, vaddr, len)) {
		choose_near(n, vaddr);
	} else if (vaddr + len > gap->reach) {
		gap->reach = vaddr + len;
		gap->reach_from = vaddr;
	}
}

/* All have been noted. */
static void near_symbols_choose(struct near_symbols *n)
{
	uint64_t below = 0, above = UINT64_MAX;

	for (size_t i = 0; i < n->count; i++) {
		const struct gap *gap = &n->gaps[i];

		below = MAX(below, gap->highest);
		choose_near(n, below);
		choose_near(n, gap->reach_from);
	}
	for (size_t i = n->count; i > 0; i--) {
		above = MIN(above, n->gaps[i].lowest);
		choose_near(n, above);
	}
}

static bool near_symbols_matters(const struct near_symbols *n, uint64_t vaddr)
{
	uint64_t bit = filter_bit(vaddr);

	return n->filter[bit / 64] >> bit % 64 & 1 && map_get(&n->chosen, vaddr);
}

/* ---- versions in names: "memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14" ---- */

/* Is @name one that only old binaries link to? One "@" says so; "@plt" is none. */
static bool symbol_version_is_hidden(const char *name)
{
	const char *at = strchr(name, '@');

	return at && at != name && at[1] != '@' && strcmp(at, "@plt") != 0;
}

/* Cut versions off all names in the @len bytes of a string table at once. Strings that share a tail share the cut. */
static void symbol_versions_cut(char *names, size_t len)
{
	char *end = names + len;

	for (char *at = names; (at = memchr(at, '@', (size_t)(end - at))); at++) {
		bool plt = end - at >= 5 && memcmp(at, "@plt", 5) == 0;

		if (at > names && at[-1] && !plt)
			*at = '\0';
	}
}

/* ---- the small ELF file with local symbols in .gnu_debugdata ---- */

struct minidebug {
	struct image *image; /* NULL if there is none, or it is not usable */
	void *data;          /* what @image lies in */
};

#define MINIDEBUG_LEN_MAX (256u << 20)
#define MINIDEBUG_LEN_MIN (1u << 20)
#define MINIDEBUG_RATE    64 /* symbol tables pack to a quarter */

/* An xz stream, decoded within a limit, so that a small file cannot ask for all memory. The result does not need @img; release it with minidebug_deinit(). */
static void minidebug_init(struct minidebug *ret, struct image *img)
{
	struct image_section section;
	struct writer data = { 0 };

	*ret = (struct minidebug){ 0 };
	if (!image_section(img, ".gnu_debugdata", &section))
		return;
	size_t max = MIN(section.len * MINIDEBUG_RATE + MINIDEBUG_LEN_MIN, (size_t)MINIDEBUG_LEN_MAX);
	struct err *err = xz_decode(section.data, section.len, max, &data);

	ret->data = data.data;
	if (!err)
		err = image_open_memory(data.data, data.len, image_path(img), &ret->image);
	err_free(err);
	if (!ret->image)
		image_note_defect(img, "what '.gnu_debugdata' holds is no small ELF file");
}

static void minidebug_deinit(struct minidebug *mini)
{
	image_close(mini->image);
	free(mini->data);
	*mini = (struct minidebug){ 0 };
}

#define NONE         UINT32_MAX
#define NESTING_MAX  64
#define SECTIONS_MAX (1u << 20)
#define SYMBOLS_MAX  (1u << 28)
#define NAMES_MAX    (UINT32_C(1) << 31) /* bytes */
#define NAME_LEN_MAX (1u << 16)
#define NAMES_RATE   8 /* names share tails, but not that much */
#define GO_NAME_LEN  512 /* bytes, on average, that are believed */

enum rank {
	RANK_WEAK = 1,
	RANK_LOCAL = 2,
	RANK_HIDDEN =
		4, /* a version that is there for old binaries only: memcpy@GLIBC_2.2.5 is memmove */
	RANK_UNSIZED = 8,
};

struct candidate {
	uint64_t vaddr, len;
	uint32_t name;                 /* offset in builder.names */
	uint32_t limit : 24, rank : 8; /* index in builder.limits */
};

struct builder {
	struct near_symbols *near; /* NULL: all are wanted */
	bool noting; /* which ones matter: nothing is taken yet */
	VEC(struct candidate) symbols;
	VEC(char) names;
	VEC(uint64_t) limits; /* where the section or segment of a symbol ends */
	struct map ifuncs;    /* resolver's address -> offset in names */
	bool full;
	uint64_t names_left; /* bytes that the names of this table may still take */
	bool excessive;      /* they would take more, or one is too long */
};

struct extent {
	uint64_t end;
	uint32_t parent; /* nearest earlier entry that may reach beyond our start */
};

struct symtab {
	struct symtab_entry *entries;
	struct extent *extents;
	size_t count;
	char *names;
	bool full;
};

/* One section of the file, as far as symbols care. */
struct section {
	uint64_t begin, end;
	uint32_t limit; /* index in builder.limits */
	bool exec;
};

/* The symbol table being read, and what it refers to. */
struct source {
	struct image *img;
	struct section *sections;
	size_t nsections;
	const uint8_t *versions; /* Elf64_Versym, perhaps not aligned; NULL if there are none */
	size_t nversions;
};

static uint32_t add_limit(struct builder *b, uint64_t end)
{
	if (b->limits.len && b->limits.items[b->limits.len - 1] == end)
		return (uint32_t)b->limits.len - 1;
	vec_push(&b->limits, end);
	return (uint32_t)b->limits.len - 1;
}

static void read_sections(struct builder *b, struct source *src, Elf *elf)
{
	size_t count;

	if (elf_getshdrnum(elf, &count) || count > SECTIONS_MAX)
		return;
	src->sections = memory_zeroed(count, sizeof(*src->sections));
	for (size_t i = 1; i < count; i++) {
		GElf_Shdr shdr;
		struct section *sec = &src->sections[i];

		if (!gelf_getshdr(elf_getscn(elf, i), &shdr) || !(shdr.sh_flags & SHF_EXECINSTR) ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		sec->begin = image_is_relocatable(src->img) ? image_symbol_base(src->img, i) : shdr.sh_addr;
		if (__builtin_add_overflow(sec->begin, shdr.sh_size, &sec->end))
			continue;
		sec->exec = true;
		sec->limit = add_limit(b, sec->end);
	}
	src->nsections = count;
}

/* A symbol without a section of its own is taken if an executable segment holds it. */
static bool limit_by_segment(struct builder *b, const struct source *src, uint64_t vaddr,
			     uint32_t *ret)
{
	size_t count;
	const struct image_segment *segments = image_segments(src->img, &count);

	for (size_t i = 0; i < count; i++) {
		const struct image_segment *seg = &segments[i];

		if (seg->exec && vaddr - seg->vaddr < seg->memory_len) {
			*ret = add_limit(b, seg->vaddr + seg->memory_len);
			return true;
		}
	}
	return false;
}

/* Where does the section that holds @sym end? False if it is not code. */
static bool find_limit(struct builder *b, const struct source *src, const Elf64_Sym *sym,
		       uint32_t *ret)
{
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_COMMON)
		return false;
	if (sym->st_shndx < src->nsections) {
		const struct section *sec = &src->sections[sym->st_shndx];

		*ret = sec->limit;
		return sec->exec && sym->st_value >= sec->begin && sym->st_value < sec->end;
	}
	return ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE &&
	       limit_by_segment(b, src, sym->st_value, ret);
}

/* Mapping symbols ($x, $d.17), the assembler's own labels and bare versions say nothing. */
static bool is_wanted(const char *name)
{
	if (!name[0] || name[0] == '@' || (name[0] == '.' && name[1] == 'L'))
		return false;
	return !(name[0] == '$' && name[1] && (!name[2] || name[2] == '.'));
}

static unsigned rank_of(const struct source *src, const Elf64_Sym *sym, size_t index)
{
	unsigned bind = ELF64_ST_BIND(sym->st_info);
	unsigned rank = bind == STB_LOCAL ? RANK_LOCAL : bind == STB_WEAK ? RANK_WEAK : 0;

	if (!sym->st_size)
		rank |= RANK_UNSIZED;
	if (index < src->nversions) {
		Elf64_Versym version;

		memcpy(&version, src->versions + index * sizeof(version), sizeof(version));
		rank |= version & 0x8000 ? RANK_HIDDEN : 0;
	}
	return rank;
}

/*
 * Each symbol may name nearly the whole string table, so that names together could be as long as its square.
 * True if @name is one that a linker may have written.
 */
static bool spend_name(struct builder *b, const char *name)
{
	size_t len = strnlen(name, NAME_LEN_MAX);

	if (len == NAME_LEN_MAX || len > b->names_left) {
		b->excessive = true;
		return false;
	}
	b->names_left -= len;
	return true;
}

/* A symbol that is code, and ends at @limit at the latest; its name is among those of @b. */
static void take_symbol(struct builder *b, const Elf64_Sym *sym, uint32_t limit, struct candidate cand)
{
	const char *name = b->names.items + cand.name;

	if (!is_wanted(name) || !spend_name(b, name))
		return;
	cand.vaddr = sym->st_value;
	cand.len = sym->st_size;
	cand.limit = limit & 0xffffff;
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		*map_put(&b->ifuncs, cand.vaddr, NULL) = cand.name;
	vec_push(&b->symbols, cand);
}

/* Of @room bytes at @name, which may change meanwhile; as long as it takes to see that it is one too long. */
static uint32_t copy_name(struct builder *b, const char *name, size_t room)
{
	uint32_t at = (uint32_t)b->names.len;

	vec_append(&b->names, name, strnlen(name, MIN(room, (size_t)NAME_LEN_MAX)));
	vec_push(&b->names, '\0');
	return at;
}

/* Without a look at its name, and at where it ends. */
static bool may_be_wanted(const struct builder *b, const Elf64_Sym *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (!b->near)
		return true;
	return b->noting ? near_symbols_may_matter(b->near, sym->st_value, sym->st_size) :
			   type == STT_GNU_IFUNC || near_symbols_matters(b->near, sym->st_value);
}

/* Names are copied one by one. */
static void add_near(struct builder *b, const Elf64_Sym *sym, uint32_t limit, struct candidate cand, const char *name,
		     size_t room)
{
	char head[4] = ""; /* is_wanted() looks at no more */

	if (!b->noting) {
		if (b->names.len > NAMES_MAX - NAME_LEN_MAX - 1)
			return;
		cand.name = copy_name(b, name, room);
		take_symbol(b, sym, limit, cand);
		return;
	}
	memcpy(head, name, MIN(room, sizeof(head) - 1));
	if (is_wanted(head))
		near_symbols_note(b->near, sym->st_value, sym->st_size);
}

/* The strings of section @link. */
static Elf_Data *find_names(Elf *elf, size_t link)
{
	Elf_Scn *scn = elf_getscn(elf, link);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	return data && data->d_buf && data->d_size && data->d_size <= NAMES_MAX ? data : NULL;
}

/* Copied; false if they are too many. */
static bool add_names(struct builder *b, const Elf_Data *names)
{
	if (names->d_size > NAMES_MAX - b->names.len - 1)
		return false;
	vec_append(&b->names, (const char *)names->d_buf, names->d_size);
	vec_push(&b->names, '\0');
	return true;
}

static void read_table(struct builder *b, const struct source *src, Elf *elf, Elf_Scn *scn)
{
	GElf_Shdr shdr;
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t base = b->names.len;

	if (!data || data->d_type != ELF_T_SYM || !gelf_getshdr(scn, &shdr))
		return;
	const Elf_Data *names = find_names(elf, shdr.sh_link);

	if (!names || (!b->near && !add_names(b, names)))
		return;
	size_t count = MIN(data->d_size / sizeof(Elf64_Sym), SYMBOLS_MAX);

	b->names_left = NAMES_RATE * (uint64_t)names->d_size + 4096;
	if (!b->near)
		vec_reserve(&b->symbols, count);
	for (size_t i = 1; i < count; i++) {
		Elf64_Sym sym; /* copied, since the table may lie at any offset in the file */
		uint32_t limit;

		memcpy(&sym, (const char *)data->d_buf + i * sizeof(sym), sizeof(sym));
		if (sym.st_name >= names->d_size)
			continue;
		sym.st_value += image_symbol_base(src->img, sym.st_shndx);
		if (!may_be_wanted(b, &sym) || !find_limit(b, src, &sym, &limit) || limit >= 1u << 24)
			continue;
		struct candidate cand = { .rank = rank_of(src, &sym, i) & 0xff,
					  .name = (uint32_t)(base + sym.st_name) };

		if (b->near)
			add_near(b, &sym, limit, cand, (const char *)names->d_buf + sym.st_name,
				 names->d_size - sym.st_name);
		else
			take_symbol(b, &sym, limit, cand);
	}
}

static Elf_Scn *find_section(Elf *elf, Elf64_Word type)
{
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type)
			return scn;
	}
	return NULL;
}

static void read_versions(struct source *src, Elf *elf)
{
	Elf_Scn *scn = find_section(elf, SHT_GNU_versym);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

	if (!data || data->d_type != ELF_T_HALF || !data->d_buf)
		return;
	src->versions = data->d_buf;
	src->nversions = data->d_size / sizeof(Elf64_Versym);
}

/* Both tables of @img. */
static void read_image(struct builder *b, struct image *img)
{
	struct source src = { .img = img };
	Elf *elf = image_elf(img);

	if (!elf)
		return;
	read_sections(b, &src, elf);
	Elf_Scn *full = find_section(elf, SHT_SYMTAB);
	Elf_Scn *dynamic = find_section(elf, SHT_DYNSYM);

	if (full) {
		read_table(b, &src, elf, full);
		b->full = true;
	}
	if (dynamic) {
		read_versions(&src, elf);
		read_table(b, &src, elf, dynamic);
	}
	free(src.sections);
}

static void add_plt_slot(void *context, const struct plt_slot *slot)
{
	struct builder *b = context;
	const uint64_t *ifunc = map_get(&b->ifuncs, slot->resolver);
	const char *name = slot->name;

	if (!name && ifunc)
		name = b->names.items + *ifunc;
	if (!name)
		return;
	char text[4096];
	int len = snprintf(text, sizeof(text), "%.*s@plt", (int)strcspn(name, "@"), name);

	if (len <= 4 || len >= (int)sizeof(text) || b->names.len > NAMES_MAX - sizeof(text))
		return;
	struct candidate cand = { .vaddr = slot->vaddr,
				  .len = slot->len,
				  .name = (uint32_t)b->names.len,
				  .limit = add_limit(b, slot->vaddr + slot->len) };

	vec_append(&b->names, text, (size_t)len + 1);
	vec_push(&b->symbols, cand);
}

/* A stripped Go program still names its functions, C that is linked to it aside. */
static void add_go_functions(struct builder *b, struct image *img)
{
	struct go_table *table = go_table_new(img);
	const struct source src = { .img = img };
	size_t count = table ? go_table_count(table) : 0;
	struct go_function f;

	b->names_left = GO_NAME_LEN * (uint64_t)count + NAME_LEN_MAX;
	for (size_t i = 0; i < count; i++) {
		uint32_t limit;

		if (!go_table_function(table, i, &f) || !limit_by_segment(b, &src, f.begin, &limit) ||
		    !spend_name(b, f.name) || b->names.len > NAMES_MAX - NAME_LEN_MAX)
			continue;
		struct candidate cand = { .vaddr = f.begin,
					  .len = f.end - f.begin,
					  .name = (uint32_t)b->names.len,
					  .limit = limit & 0xffffff,
					  .rank = RANK_LOCAL };

		vec_append(&b->names, f.name, strlen(f.name) + 1);
		vec_push(&b->symbols, cand);
	}
	go_table_free(table);
}

/* Least significant digit first, as many digits as the highest address has. Stable. */
static void sort_by_address(struct candidate **items, size_t count)
{
	struct candidate *from = *items;
	struct candidate *to = memory_alloc(count * sizeof(*to));
	uint64_t highest = 0;

	for (size_t i = 0; i < count; i++)
		highest |= from[i].vaddr;
	for (unsigned shift = 0; shift < 64 && highest >> shift; shift += 11) {
		size_t starts[2048] = { 0 };
		size_t sum = 0;

		for (size_t i = 0; i < count; i++)
			starts[from[i].vaddr >> shift & 2047]++;
		for (size_t digit = 0; digit < 2048; digit++) {
			size_t here = starts[digit];

			starts[digit] = sum;
			sum += here;
		}
		for (size_t i = 0; i < count; i++)
			to[starts[from[i].vaddr >> shift & 2047]++] = from[i];
		struct candidate *swap = from;

		from = to;
		to = swap;
	}
	free(to);
	*items = from;
}

static bool is_better(const struct builder *b, const struct candidate *x, const struct candidate *y)
{
	const char *xname = b->names.items + x->name, *yname = b->names.items + y->name;
	unsigned xrank = x->rank | (symbol_version_is_hidden(xname) ? RANK_HIDDEN : 0);
	unsigned yrank = y->rank | (symbol_version_is_hidden(yname) ? RANK_HIDDEN : 0);
	size_t xunder = strspn(xname, "_"), yunder = strspn(yname, "_");

	if (xrank != yrank)
		return xrank < yrank;
	if (xunder != yunder)
		return xunder < yunder;
	int order = strcmp(xname, yname);

	return order ? order < 0 : x->len < y->len;
}

/* Keep the best of those at the same address; returns how many are left. */
static size_t choose(const struct builder *b, struct candidate *items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept && items[kept - 1].vaddr == items[i].vaddr) {
			if (is_better(b, &items[i], &items[kept - 1]))
				items[kept - 1] = items[i];
		} else {
			items[kept++] = items[i];
		}
	}
	return kept;
}

static uint64_t end_of(const struct builder *b, const struct candidate *cand, uint64_t next)
{
	uint64_t limit = b->limits.items[cand->limit];

	if (!cand->len)
		return MIN(next, limit);
	return cand->len > limit - cand->vaddr ? limit : cand->vaddr + cand->len;
}

/* Nearest entry before @count that reaches beyond @vaddr. */
static uint32_t enclosing(const struct symtab *tab, uint64_t vaddr)
{
	uint32_t index = tab->count ? (uint32_t)tab->count - 1 : NONE;

	while (index != NONE && tab->extents[index].end <= vaddr)
		index = tab->extents[index].parent;
	return index;
}

static void fill(struct symtab *tab, const struct builder *b, const struct candidate *items,
		 size_t count)
{
	tab->entries = memory_alloc((count + 1) * sizeof(*tab->entries));
	tab->extents = memory_alloc((count + 1) * sizeof(*tab->extents));
	for (size_t i = 0; i < count; i++) {
		uint64_t next = i + 1 < count ? items[i + 1].vaddr : UINT64_MAX;
		uint64_t end = end_of(b, &items[i], next);
		uint32_t parent = enclosing(tab, items[i].vaddr);

		/* A bare label inside a function with a size is a place in it, not another function. */
		if (end <= items[i].vaddr || (!items[i].len && parent != NONE))
			continue;
		tab->extents[tab->count] = (struct extent){ .end = end, .parent = parent };
		tab->entries[tab->count++] =
			(struct symtab_entry){ .vaddr = items[i].vaddr,
					       .len = items[i].len,
					       .name = b->names.items + items[i].name };
	}
}

/*
 * ---- where exported labels end ----
 *
 * Dynamic symbols without a length are labels that an assembler's author exported. The next one may be far away, with the
 * functions between them that are not exported: half a library. Their names stand for what lies up to the next beginning
 * that the unwind table or a call knows.
 */

#define LABEL_LEN_SURE 256 /* closer ones are not worth a look at the code */

/* Does a name that reaches far matter to one of @addresses? All do if there are none. */
static bool reaches_far(const struct symtab *tab, size_t i, const uint64_t *addresses, size_t count)
{
	uint64_t begin = tab->entries[i].vaddr, end = tab->extents[i].end;

	if (tab->entries[i].len || end - begin <= LABEL_LEN_SURE)
		return false;
	size_t first = BISECT(count, k, addresses[k] < begin);

	return !addresses || (first < count && addresses[first] < end);
}

struct beginnings {
	bool read;
	VEC(uint64_t) items; /* ascending */
};

static void beginnings_read(struct beginnings *ret, struct image *img)
{
	struct cfi_section *cfi = cfi_section_new(img);
	size_t count, pos = 0;
	const uint64_t *items = code_targets_list(code_targets_of(img), &count);
	struct cfi_fde fde;

	ret->read = true;
	vec_append(&ret->items, items, count);
	while (cfi && cfi_section_each(cfi, &pos, &fde))
		vec_push(&ret->items, fde.begin);
	vec_sort(&ret->items, vec_u64_ascending);
	cfi_section_free(cfi);
}

/* Of @addresses, ascending, or of all if it is NULL. */
static void end_labels(struct symtab *tab, struct image *img, const uint64_t *addresses, size_t count)
{
	struct beginnings known = { 0 };

	for (size_t i = 0; i < tab->count && !tab->full; i++) {
		if (!reaches_far(tab, i, addresses, count))
			continue;
		if (!known.read)
			beginnings_read(&known, img);
		size_t next = BISECT(known.items.len, k, known.items.items[k] <= tab->entries[i].vaddr);

		if (next < known.items.len)
			tab->extents[i].end = MIN(tab->extents[i].end, known.items.items[next]);
	}
	vec_deinit(&known.items);
}

/* A stub in front of which there are no addresses needs no name. */
static bool needs_plt(const struct image *img, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = image_section_at(img, addresses[i]);

		if (name && plt_is_section(name))
			return true;
	}
	return !addresses;
}

static void read_tables(struct builder *b, struct image *img, struct image *mini)
{
	read_image(b, img);
	if (mini)
		read_image(b, mini);
}

/* Of all addresses if @addresses is NULL. */
static struct symtab *build(struct image *img, const uint64_t *addresses, size_t count)
{
	struct symtab *tab = memory_zeroed(1, sizeof(*tab));
	struct builder b = { .near = addresses ? near_symbols_new(addresses, count) : NULL, .noting = addresses };
	struct minidebug mini;

	minidebug_init(&mini, img);
	if (b.near) {
		read_tables(&b, img, mini.image);
		near_symbols_choose(b.near);
		b.noting = false;
	}
	read_tables(&b, img, mini.image);
	minidebug_deinit(&mini);
	if (!b.full)
		add_go_functions(&b, img);
	if (needs_plt(img, addresses, count))
		plt_each(img, add_plt_slot, &b);

	if (b.symbols.len) {
		sort_by_address(&b.symbols.items, b.symbols.len);
		fill(tab, &b, b.symbols.items, choose(&b, b.symbols.items, b.symbols.len));
		symbol_versions_cut(b.names.items, b.names.len);
	}
	if (b.excessive)
		image_note_defect(img, "symbols with names that no linker writes were left out");
	tab->full = b.full;
	tab->names = b.names.items;
	end_labels(tab, img, addresses, count);
	vec_deinit(&b.symbols);
	vec_deinit(&b.limits);
	map_deinit(&b.ifuncs);
	near_symbols_free(b.near);
	return tab;
}

struct symtab *symtab_new(struct image *img)
{
	return build(img, NULL, 0);
}

struct symtab *symtab_new_near(struct image *img, const uint64_t *addresses, size_t count)
{
	static const uint64_t none;

	return build(img, addresses ? addresses : &none, count);
}

void symtab_free(struct symtab *tab)
{
	if (!tab)
		return;
	free(tab->entries);
	free(tab->extents);
	free(tab->names);
	free(tab);
}

const struct symtab_entry *symtab_find(const struct symtab *tab, uint64_t vaddr)
{
	size_t low = BISECT(tab->count, i, tab->entries[i].vaddr <= vaddr);

	uint32_t index = low ? (uint32_t)low - 1 : NONE;

	for (int depth = 0; index != NONE && depth < NESTING_MAX; depth++) {
		if (tab->extents[index].end > vaddr)
			return &tab->entries[index];
		index = tab->extents[index].parent;
	}
	return NULL;
}

uint64_t symtab_end(const struct symtab *tab, const struct symtab_entry *entry)
{
	return tab->extents[entry - tab->entries].end;
}

const struct symtab_entry *symtab_entries(const struct symtab *tab, size_t *ret_count)
{
	*ret_count = tab->count;
	return tab->entries;
}

bool symtab_is_full(const struct symtab *tab)
{
	return tab->full;
}
