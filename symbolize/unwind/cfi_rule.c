/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_rule.c - a hash table of byte strings: rules have no padding that could differ.
 */
#include "symbolize/unwind/cfi_rule.h"

#include "formats/base/arena.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Distinct byte strings by number, each with its hash so that growing does not read them again. */
struct pool_item {
	const void *data;
	size_t len;
	uint64_t hash;
};

struct pool {
	VEC(struct pool_item) items;
	uint32_t *slots; /* number + 1, or 0 */
	size_t nslots;   /* a power of two, or 0 */
};

struct cfi_rules {
	struct arena arena;
	struct pool rules; /* data is a struct cfi_rule */
	struct pool exprs; /* data is the bytes */
};

static_assert(sizeof(struct cfi_rule) == 32 && sizeof(struct cfi_reg) == 8, "no padding");

struct cfi_rules *cfi_rules_new(void)
{
	return memory_zeroed(1, sizeof(struct cfi_rules));
}

static void pool_deinit(struct pool *pool)
{
	vec_deinit(&pool->items);
	free(pool->slots);
}

void cfi_rules_free(struct cfi_rules *rules)
{
	if (!rules)
		return;
	pool_deinit(&rules->rules);
	pool_deinit(&rules->exprs);
	arena_deinit(&rules->arena);
	free(rules);
}

static uint64_t hash_bytes(const uint8_t *data, size_t len)
{
	uint64_t hash = len, word;

	for (; len >= 8; data += 8, len -= 8) {
		memcpy(&word, data, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, data, len);
	return map_hash(hash ^ word);
}

static void pool_grow(struct pool *pool)
{
	size_t nslots = pool->nslots ? pool->nslots * 2 : 256;

	free(pool->slots);
	pool->slots = memory_zeroed(nslots, sizeof(*pool->slots));
	pool->nslots = nslots;
	for (size_t i = 0; i < pool->items.len; i++) {
		size_t slot = pool->items.items[i].hash & (nslots - 1);

		while (pool->slots[slot])
			slot = (slot + 1) & (nslots - 1);
		pool->slots[slot] = (uint32_t)i + 1;
	}
}

/* The slot of @data, or the free one where it belongs. */
static uint32_t *pool_slot(struct pool *pool, const void *data, size_t len, uint64_t hash)
{
	size_t slot = hash & (pool->nslots - 1);

	for (; pool->slots[slot]; slot = (slot + 1) & (pool->nslots - 1)) {
		const struct pool_item *item = &pool->items.items[pool->slots[slot] - 1];

		if (item->hash == hash && item->len == len && memcmp(item->data, data, len) == 0)
			break;
	}
	return &pool->slots[slot];
}

static uint32_t pool_add(struct pool *pool, struct arena *arena, const void *data, size_t len)
{
	uint64_t hash = hash_bytes(data, len);
	uint32_t *slot;

	if (pool->items.len * 2 >= pool->nslots)
		pool_grow(pool);
	slot = pool_slot(pool, data, len, hash);
	if (!*slot) {
		vec_push(&pool->items,
			 ((struct pool_item){ arena_memdup(arena, data, len), len, hash }));
		*slot = (uint32_t)pool->items.len;
	}
	return *slot - 1;
}

static size_t rule_len(const struct cfi_rule *rule)
{
	return sizeof(*rule) + rule->nregs * sizeof(rule->regs[0]);
}

bool cfi_rule_passes_exception(const struct cfi_rule *rule)
{
	return rule->nregs >= 2 && rule->regs[0].reg == 0 && rule->regs[1].reg == 1;
}

void cfi_rule_sum_up(struct cfi_rule *rule, unsigned fp)
{
	rule->usual = rule->plain && !rule->from_code && !rule->go && !rule->keeps_fp && !cfi_rule_passes_exception(rule);
	rule->saved = 0;
	rule->ra_value = rule->fp_value = 0;
	for (size_t i = 0; rule->plain && i < rule->nregs; i++) {
		const struct cfi_reg *reg = &rule->regs[i];

		if (reg->kind != CFI_REG_OFFSET)
			continue;
		rule->saved |= 1ULL << reg->reg;
		if (reg->reg == rule->return_reg)
			rule->ra_value = reg->value;
		if (reg->reg == fp)
			rule->fp_value = reg->value;
	}
}

int64_t cfi_rule_offset(const struct cfi_rule *rule, unsigned reg)
{
	size_t i = 0;

	while (rule->regs[i].reg != reg)
		i++;
	return rule->regs[i].value;
}

uint32_t cfi_rules_add(struct cfi_rules *rules, const struct cfi_rule *rule)
{
	return pool_add(&rules->rules, &rules->arena, rule, rule_len(rule));
}

uint32_t cfi_rules_add_expr(struct cfi_rules *rules, const uint8_t *bytes, size_t len)
{
	return pool_add(&rules->exprs, &rules->arena, bytes, len);
}

const struct cfi_rule *cfi_rules_get(const struct cfi_rules *rules, uint32_t number)
{
	return rules->rules.items.items[number].data;
}

struct cfi_expr cfi_rules_expr(const struct cfi_rules *rules, uint32_t number)
{
	const struct pool_item *item = &rules->exprs.items.items[number];

	return (struct cfi_expr){ item->data, item->len };
}

size_t cfi_rules_len(const struct cfi_rules *rules)
{
	return rules->rules.items.len;
}

static const struct cfi_reg *entry_of(const struct cfi_rule *rule, unsigned reg)
{
	for (size_t i = 0; i < rule->nregs; i++)
		if (rule->regs[i].reg == reg)
			return &rule->regs[i];
	return NULL;
}

bool cfi_rule_follows_fp(const struct cfi_rule *rule, unsigned fp, bool linked)
{
	const struct cfi_reg *saved = entry_of(rule, fp), *ra = entry_of(rule, rule->return_reg);

	if (rule->keeps_fp || (!rule->cfa_is_expr && rule->cfa_reg == fp))
		return true;
	if (rule->cfa_is_expr) /* gcc's realigned frame: the caller's is where the register points to */
		return saved && saved->kind == CFI_REG_EXPR && !rule->signal_frame;
	/* A frame record, whose address the register has by AAPCS64 6.4.6; elsewhere a saved register says nothing of what it is used for. */
	return linked && saved && saved->kind == CFI_REG_OFFSET && ra && ra->kind == CFI_REG_OFFSET && ra->value == saved->value + 8;
}

bool cfi_rule_is_root(const struct cfi_rule *rule)
{
	const struct cfi_reg *ra = entry_of(rule, rule->return_reg);

	return ra && ra->kind == CFI_REG_UNDEFINED;
}
