/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_source.c - the bits of union perf_mem_data_src, as Linux 6.12 has them.
 *
 * Kernels tell the level twice: as bits (mem_lvl) and, since 4.14, as a number (mem_lvl_num) with "remote" and hops
 * beside it. The number wins, for it knows more levels; old kernels have the bits alone.
 */
#include "report/view/memory_source.h"

#include "formats/base/memory.h"

#include <stddef.h>

#define FIELD(source, shift, bits) ((unsigned)((source) >> (shift)) & ((1u << (bits)) - 1))

#define OP_SHIFT     0
#define LEVEL_SHIFT  5
#define SNOOP_SHIFT  19
#define LOCK_SHIFT   24
#define TLB_SHIFT    26
#define NUMBER_SHIFT 33
#define REMOTE_SHIFT 37
#define SNOOPX_SHIFT 38
#define BLOCK_SHIFT  40
#define HOPS_SHIFT   43

#define LEVEL_HIT  0x02u
#define LEVEL_MISS 0x04u
#define LOCKED     0x2u

struct bit {
	unsigned mask;
	const char *text;
};

static const struct bit operations[] = {
	{ 0x02, "load" }, { 0x04, "store" }, { 0x08, "prefetch" }, { 0x10, "fetch" }, { 0, NULL },
};

static const struct bit levels[] = {
	{ 0x0008, "L1" },
	{ 0x0010, "LFB" },
	{ 0x0020, "L2" },
	{ 0x0040, "L3" },
	{ 0x0080, "RAM" },
	{ 0x0100, "remote RAM, 1 hop" },
	{ 0x0200, "remote RAM, 2 hops" },
	{ 0x0400, "remote cache, 1 hop" },
	{ 0x0800, "remote cache, 2 hops" },
	{ 0x1000, "I/O" },
	{ 0x2000, "uncached" },
	{ 0, NULL },
};

static const char *const numbers[16] = {
	[0x1] = "L1",  [0x2] = "L2",	    [0x3] = "L3",  [0x4] = "L4",  [0x5] = "L2 MHB",
	[0x6] = "MSC", [0x8] = "uncached", [0x9] = "CXL", [0xa] = "I/O", [0xb] = "cache",
	[0xc] = "LFB", [0xd] = "RAM",	    [0xe] = "PMEM",
};

static const char *const hops[8] = {
	[1] = "another core",
	[2] = "another node",
	[3] = "another socket",
	[4] = "another board",
};

static const struct bit snoops[] = {
	{ 0x04, "snoop hit" }, { 0x08, "snoop miss" }, { 0x10, "snoop hitm" }, { 0, NULL },
};

static const struct bit more_snoops[] = {
	{ 0x1, "forwarded" }, { 0x2, "from a peer" }, { 0, NULL },
};

static const struct bit blocks[] = {
	{ 0x2, "blocked by data" }, { 0x4, "blocked by address" }, { 0, NULL },
};

static const struct bit tlb_levels[] = {
	{ 0x08, "L1" }, { 0x10, "L2" }, { 0x20, "walk" }, { 0x40, "fault" }, { 0, NULL },
};

static const char *join(struct arena *arena, const char *text, const char *between, const char *more)
{
	return *text ? arena_printf(arena, "%s%s%s", text, between, more) : more;
}

static const char *add_bits(struct arena *arena, const char *text, const char *between,
			    unsigned value, const struct bit *bits)
{
	for (; bits->text; bits++)
		if (value & bits->mask)
			text = join(arena, text, between, bits->text);
	return text;
}

/* The level alone: "L3", "remote cache", "RAM on another socket". */
static const char *place(struct arena *arena, uint64_t source)
{
	const char *text = numbers[FIELD(source, NUMBER_SHIFT, 4)];
	const char *hop = hops[FIELD(source, HOPS_SHIFT, 3)];
	bool remote = FIELD(source, REMOTE_SHIFT, 1);

	if (!text)
		return add_bits(arena, "", " or ", FIELD(source, LEVEL_SHIFT, 14), levels);
	if (remote)
		text = arena_printf(arena, "remote %s", text);
	return hop ? arena_printf(arena, "%s of %s", text, hop) : text;
}

const char *memory_source_level(struct arena *arena, uint64_t source)
{
	unsigned level = FIELD(source, LEVEL_SHIFT, 14);
	const char *text = add_bits(arena, "", " or ", FIELD(source, OP_SHIFT, 5), operations);
	const char *where = place(arena, source);

	if (!*where)
		return text;
	if (level & LEVEL_MISS)
		where = arena_printf(arena, "%s miss", where);
	else if (level & LEVEL_HIT)
		where = arena_printf(arena, "%s hit", where);
	return join(arena, text, ", ", where);
}

const char *memory_source_tlb(struct arena *arena, uint64_t source)
{
	unsigned tlb = FIELD(source, TLB_SHIFT, 7);
	const char *text = tlb & 0x02 ? "hit" : tlb & 0x04 ? "miss" : "";

	return add_bits(arena, text, " ", tlb, tlb_levels);
}

const char *memory_source_rest(struct arena *arena, uint64_t source)
{
	const char *text = add_bits(arena, "", ", ", FIELD(source, SNOOP_SHIFT, 5), snoops);

	text = add_bits(arena, text, ", ", FIELD(source, SNOOPX_SHIFT, 2), more_snoops);
	if (FIELD(source, LOCK_SHIFT, 2) & LOCKED)
		text = join(arena, text, ", ", "locked");
	return add_bits(arena, text, ", ", FIELD(source, BLOCK_SHIFT, 3), blocks);
}

bool memory_source_known(uint64_t source)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	return *memory_source_level(&arena, source) || *memory_source_tlb(&arena, source) ||
	       *memory_source_rest(&arena, source);
}
