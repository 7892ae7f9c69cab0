/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet.c - a piece of code is known by its start, with the header and the MethodDesc that it had.
 *
 *	map of 5 levels ─► fragments ─► range: start, end, flags, heap
 *	heap:   … | pointer to header | code … | pointer to header | code pc …
 *	nibbles, one for 32 bytes of code: 0, or where in them code begins
 */
#include "record/runtime/dotnet.h"

#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/dotnet_metadata.h"

#include <string.h>

#define LEVELS		5
#define LEVEL_BITS	8
#define CHUNK_BITS	17 /* of addresses that the lowest level does not tell apart */
#define FRAGMENTS_MAX	64
#define BUCKET_LEN	32
#define UNIT_BUCKETS	8
#define UNITS_BACK	4096 /* 1 MiB of code */
#define RANGE_LEN_MAX	(1ULL << 32)
#define CODE_LEN_MAX	(16U << 20)
#define FUNCTIONS_MAX	512 /* of one method: it, and its exception handlers */
#define STUB_KIND_MAX	15  /* what is no code of a method has its kind in the place of a header */
#define MODULES_MAX	4096
#define CODES_MAX	(1U << 16)

#define FLAG_CODE_HEAP	2
enum { METHOD_IL, METHOD_INSTANTIATED = 5, METHOD_DYNAMIC = 7, METHOD_KINDS = 7 };

/*
 * Where things are in one version. Those of .NET 8 were read in running programs (8.0.4, x86-64) and are in part those of
 * OpenTelemetry's profiler (interpreter/dotnet/data.go); those of .NET 10 stand in its own data contract (10.0.9,
 * DotNetRuntimeContractDescriptor).
 */
struct layout {
	unsigned major;
	bool has_far_nibbles; /* a unit of the nibble map may say where the code around it begins */
	bool has_wide_type;   /* the number of a type is 24 bits above its flags, instead of 16 behind them */
	uint8_t dynamic_name; /* of a DynamicMethodDesc */
	uint16_t module_assembly;
	uint8_t image_file; /* of a PEImage: the file as it is, which metadata is read of; behind it, what is laid out to be executed */
};

static const struct layout layouts[] = {
	{ .major = 8, .dynamic_name = 24, .module_assembly = 0x110, .image_file = 0x70 },
	{ .major = 10, .has_far_nibbles = true, .has_wide_type = true, .dynamic_name = 32, .module_assembly = 0xd8, .image_file = 0x78 },
};

/* What all of them have in common. */
enum {
	FRAGMENT_RANGE = 24,
	RANGE_START = 0, RANGE_END = 8, RANGE_FLAGS = 16, RANGE_HEAP = 40, RANGE_LEN = 48,
	HEAP_START = 16, HEAP_END = 24, HEAP_BASE = 32, HEAP_NIBBLES = 40,
	HEADER_METHOD = 24, HEADER_NFUNCTIONS = 32, HEADER_FUNCTIONS = 36, FUNCTION_LEN = 12,
	METHOD_TOKEN = 0, METHOD_INDEX = 2, METHOD_FLAGS = 6, TOKEN_BITS = 12, METHOD_ALIGN = 8,
	CHUNK_TYPE = 0, CHUNK_SIZE = 16, CHUNK_TOKEN = 18, CHUNK_LEN = 24,
	TYPE_FLAGS = 8, TYPE_NUMBER = 10, TYPE_MODULE = 24,
	ASSEMBLY_IMAGE = 8, LAYOUT_BASE = 8, LAYOUT_SIZE = 16,
};

struct module {
	bool usable;
	struct dotnet_metadata metadata;
};

struct code {
	uint64_t start, end, header, method;
	bool is_gone;
};

struct dotnet {
	const struct layout *layout;
	uint64_t dac_table;
	uint32_t inner_pid;
	struct map module_at; /* -> index */
	VEC(struct module) modules;
	struct map code_at; /* its start -> index */
	VEC(struct code) codes;
	size_t compared; /* codes of a comparison of all */
	size_t unread;	 /* 1 more than the number of one that could not be read with what was left of a view */
};

struct dotnet *dotnet_new(unsigned major, uint64_t dac_table, uint32_t inner_pid)
{
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		if (layouts[i].major != major)
			continue;
		struct dotnet *d = memory_zeroed(1, sizeof(*d));

		d->layout = &layouts[i];
		d->dac_table = dac_table;
		d->inner_pid = inner_pid;
		return d;
	}
	return NULL;
}

void dotnet_free(struct dotnet *d)
{
	if (!d)
		return;
	vec_deinit(&d->codes);
	vec_deinit(&d->modules);
	map_deinit(&d->code_at);
	map_deinit(&d->module_at);
	free(d);
}

size_t dotnet_held(const struct dotnet *d)
{
	return sizeof(*d) + d->codes.cap * sizeof(*d->codes.items) + d->modules.cap * sizeof(*d->modules.items) +
	       (d->code_at.len + d->module_at.len) * 2 * sizeof(struct map_slot);
}

/* ---- from an address to its code ------------------------------------------------------------------- */

struct range {
	uint64_t start, end, heap;
	uint32_t flags;
};

/* The first fragment of what lies around @ip; pointers have a bit of the runtime's own. */
static uint64_t find_fragment(const struct dotnet *d, struct managed_view *view, uint64_t ip)
{
	uint64_t level = managed_view_u64(view, d->dac_table);

	for (unsigned i = LEVELS; i-- > 0 && level && !view->failed;) {
		uint64_t index = ip >> (CHUNK_BITS + LEVEL_BITS * i) & ((1U << LEVEL_BITS) - 1);

		level = managed_view_u64(view, level + 8 * index) & ~1ULL;
	}
	return level;
}

static bool find_range(const struct dotnet *d, struct managed_view *view, uint64_t ip, struct range *ret)
{
	uint64_t fragment = find_fragment(d, view, ip);

	for (unsigned i = 0; i < FRAGMENTS_MAX && fragment && !view->failed; i++) {
		uint64_t at = managed_view_u64(view, fragment + FRAGMENT_RANGE);
		uint8_t bytes[RANGE_LEN];

		if (managed_view_copy(view, at, bytes, sizeof(bytes))) {
			*ret = (struct range){ managed_word(bytes, RANGE_START), managed_word(bytes, RANGE_END),
					       managed_word(bytes, RANGE_HEAP), (uint32_t)managed_word(bytes, RANGE_FLAGS) };
			if (ip - ret->start < ret->end - ret->start && ret->end - ret->start <= RANGE_LEN_MAX)
				return true;
		}
		fragment = managed_view_u64(view, fragment) & ~1ULL;
	}
	return false;
}

/* The unit says of all its buckets that they lie in code that begins elsewhere: where, behind the heap's base. */
static bool is_far(const struct dotnet *d, uint32_t unit, uint64_t *ret_offset)
{
	if (!d->layout->has_far_nibbles || (unit & 15) <= BUCKET_LEN / 4)
		return false;
	*ret_offset = (unit & ~15U) + ((unit & 15) - 9) * 4;
	return true;
}

/* Where the code around @offset begins, behind the heap's base. */
static bool find_start(const struct dotnet *d, struct managed_view *view, uint64_t nibbles, uint64_t offset, uint64_t *ret)
{
	uint64_t index = offset / (BUCKET_LEN * UNIT_BUCKETS);

	for (unsigned i = 0; i < UNITS_BACK; i++, index--) {
		uint32_t unit = managed_view_u32(view, nibbles + 4 * index);

		if (view->failed)
			return false;
		if (is_far(d, unit, ret))
			return *ret < offset;
		for (unsigned bucket = UNIT_BUCKETS; unit && bucket-- > 0;) {
			uint32_t nibble = unit >> (28 - 4 * bucket) & 15;

			*ret = (index * UNIT_BUCKETS + bucket) * BUCKET_LEN + (nibble - 1) * 4;
			if (nibble && nibble <= BUCKET_LEN / 4 && *ret <= offset)
				return true;
		}
		if (!index)
			return false;
	}
	return false;
}

/* The last of the functions that the method with @header was compiled to ends here, behind the heap's base. */
static uint64_t read_end(struct managed_view *view, uint64_t header)
{
	uint32_t count = managed_view_u32(view, header + HEADER_NFUNCTIONS), end = 0;

	for (uint32_t i = 0; i < count && i < FUNCTIONS_MAX && !view->failed; i++)
		end = MAX(end, managed_view_u32(view, header + HEADER_FUNCTIONS + i * FUNCTION_LEN + 4));
	return end;
}

/* The method's code around @ip, which lies in a code heap. */
static bool read_code(const struct dotnet *d, struct managed_view *view, const struct range *range, uint64_t ip, struct code *ret)
{
	uint64_t start = managed_view_u64(view, range->heap + HEAP_START), end = managed_view_u64(view, range->heap + HEAP_END);
	uint64_t base = managed_view_u64(view, range->heap + HEAP_BASE), nibbles = managed_view_u64(view, range->heap + HEAP_NIBBLES);
	uint64_t offset;

	if (view->failed || base > start || ip - start >= end - start || ip - base > RANGE_LEN_MAX ||
	    !find_start(d, view, nibbles, ip - base, &offset))
		return false;
	ret->start = base + offset;
	ret->header = managed_view_u64(view, ret->start - 8);
	if (view->failed || ret->header <= STUB_KIND_MAX || ret->start < start)
		return false;
	ret->method = managed_view_u64(view, ret->header + HEADER_METHOD);
	ret->end = base + read_end(view, ret->header);
	return !view->failed && ret->end > ret->start && ret->end - ret->start <= CODE_LEN_MAX && ip < ret->end;
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* The metadata of the module at @addr, as it is now; NULL if it has none. Valid until the next call. */
static const struct dotnet_metadata *get_metadata(struct dotnet *d, struct managed_view *view, uint64_t addr)
{
	uint64_t *slot = map_get(&d->module_at, addr);
	uint64_t assembly = managed_view_u64(view, addr + d->layout->module_assembly);
	uint64_t image = managed_view_u64(view, assembly + ASSEMBLY_IMAGE);
	uint64_t layout = managed_view_u64(view, image + d->layout->image_file);

	if (!layout)
		layout = managed_view_u64(view, image + d->layout->image_file + 8);
	uint64_t base = managed_view_u64(view, layout + LAYOUT_BASE);
	uint32_t len = managed_view_u32(view, layout + LAYOUT_SIZE);
	struct module *known = slot ? &d->modules.items[*slot] : NULL;

	if (view->failed || (!known && d->modules.len >= MODULES_MAX))
		return NULL;
	if (known && known->usable && known->metadata.base == base && known->metadata.len == len)
		return &known->metadata;
	struct module now = { 0 };

	now.usable = dotnet_metadata_open(view, base, len, &now.metadata);
	if (!known) {
		*map_put(&d->module_at, addr, NULL) = d->modules.len;
		vec_push(&d->modules, now);
		known = &d->modules.items[d->modules.len - 1];
	}
	*known = now;
	return known->usable ? &known->metadata : NULL;
}

/* A method that a program made: it has a name of its own, and no token. */
static bool read_dynamic_name(const struct dotnet *d, struct managed_view *view, uint64_t method, char ret[DOTNET_NAME_MAX])
{
	static const char class[] = "dynamicClass."; /* as .NET itself says */
	uint64_t text = managed_view_u64(view, method + d->layout->dynamic_name);

	memcpy(ret, class, sizeof(class));
	return !view->failed && dotnet_metadata_text(view, text, text + 256, ret + strlen(class), DOTNET_NAME_MAX - strlen(class));
}

static bool read_name(struct dotnet *d, struct managed_view *view, uint64_t method, char ret[DOTNET_NAME_MAX])
{
	uint8_t index = managed_view_u8(view, method + METHOD_INDEX);
	uint64_t chunk = method - METHOD_ALIGN * (uint64_t)index - CHUNK_LEN, type = managed_view_u64(view, chunk + CHUNK_TYPE);
	unsigned kind = managed_view_u16(view, method + METHOD_FLAGS) & METHOD_KINDS;
	uint32_t high = managed_view_u16(view, chunk + CHUNK_TOKEN), low = managed_view_u16(view, method + METHOD_TOKEN), number;

	if (view->failed || index > managed_view_u8(view, chunk + CHUNK_SIZE))
		return false;
	if (kind == METHOD_DYNAMIC)
		return read_dynamic_name(d, view, method, ret);
	if (kind != METHOD_IL && kind != METHOD_INSTANTIATED)
		return false;
	if (d->layout->has_wide_type)
		number = managed_view_u32(view, type + TYPE_FLAGS) >> 8;
	else
		number = managed_view_u16(view, type + TYPE_NUMBER);
	const struct dotnet_metadata *metadata = get_metadata(d, view, managed_view_u64(view, type + TYPE_MODULE));
	uint32_t mask = (1U << TOKEN_BITS) - 1;

	return metadata && dotnet_metadata_name(view, metadata, number, (high & mask) << TOKEN_BITS | (low & mask), ret);
}

/* ---- code ------------------------------------------------------------------------------------------ */

static void retire(struct code *c, struct writer *out)
{
	if (!c->is_gone)
		jitdump_put_gone(out, c->start, c->end - c->start);
	c->is_gone = true;
}

static bool is_same(const struct code *a, const struct code *b)
{
	return a->header == b->header && a->method == b->method && a->end == b->end;
}

/* @now has this name: it is new here. */
static void add_code(struct dotnet *d, const struct code *now, const char *name, struct writer *out)
{
	bool is_new;
	uint64_t *slot = map_put(&d->code_at, now->start, &is_new);

	if (is_new) {
		*slot = d->codes.len;
		vec_push(&d->codes, *now);
	} else {
		retire(&d->codes.items[*slot], out);
		d->codes.items[*slot] = *now;
	}
	jitdump_put_known(out, now->start, now->end - now->start, name);
}

bool dotnet_look(struct dotnet *d, struct managed_view *view, uint64_t ip, bool is_leaf, struct writer *out)
{
	char name[DOTNET_NAME_MAX];
	struct range range;
	struct code now = { 0 };

	ip -= !is_leaf;
	if (!find_range(d, view, ip, &range) || !(range.flags & FLAG_CODE_HEAP) || !read_code(d, view, &range, ip, &now))
		return false;
	const uint64_t *slot = map_get(&d->code_at, now.start);
	const struct code *known = slot ? &d->codes.items[*slot] : NULL;

	if (known && !known->is_gone && is_same(known, &now))
		return true;
	if ((!known && d->codes.len >= CODES_MAX) || !read_name(d, view, now.method, name))
		return false;
	add_code(d, &now, name, out);
	return true;
}

/* ---- what is gone ---------------------------------------------------------------------------------- */

static bool is_there(struct managed_view *view, const struct code *c)
{
	uint64_t header, method;

	return managed_view_try(view, c->start - 8, &header, sizeof(header)) && header == c->header &&
	       managed_view_try(view, header + HEADER_METHOD, &method, sizeof(method)) && method == c->method;
}

bool dotnet_compare(struct dotnet *d, struct managed_view *view, struct writer *out)
{
	for (; d->compared < d->codes.len; d->compared++) {
		struct code *c = &d->codes.items[d->compared];
		bool there = c->is_gone || is_there(view, c);

		/* With a view of its own it was not there; with what was left of one it is read again. */
		if (view->failed && d->unread != d->compared + 1) {
			d->unread = d->compared + 1;
			return false;
		}
		if (!there)
			retire(c, out);
		if (view->failed) {
			d->compared++;
			return false;
		}
	}
	d->compared = 0;
	return true;
}
