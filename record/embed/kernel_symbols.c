/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_symbols.c - /proc/kallsyms has 200,000 lines in no order that could be relied on (modules follow
 * the kernel), of which a recording needs a few hundred. Nothing is sorted but the recorded addresses:
 *
 *	addresses      a0      a1  a2         a3
 *	symbols      s ----- s -------- s ------ s
 *
 * A symbol at s can only be the answer for the addresses from the first one at or after s on, and can only
 * end what the last address before s lies in. So each line changes at most one best start and one nearest
 * end, and two sweeps over the addresses spread them. A start is put in its place when the next line does not lie
 * nearer to the same address, which it nearly always does: few names are ever looked at.
 *
 * Most of the time is the kernel's, which makes the text. Its own symbols come first and in ascending order, since it
 * looks addresses up by bisection; when all recorded ones lie among them, the list is left behind the last.
 */
#include "record/embed/kernel_symbols.h"

#include "formats/base/bisect.h"
#include "formats/base/compiler.h"
#include "formats/perf/kallsyms.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is known for one address. */
struct answer {
	uint64_t ip;
	uint64_t start; /* of the nearest symbol at or before it, 0 if there is none */
	uint64_t next;  /* the nearest function after it, UINT64_MAX if there is none */
	uint64_t stop;  /* the same of symbols of any kind */
	uint64_t next_module; /* hash of its name */
	uint64_t leaves;
	bool beside; /* not recorded itself: the address behind it was */
	const char *name, *module;
};

struct answers {
	struct answer *items;
	size_t len, cap;
};

bool kernel_symbols_touch(struct kernel_symbols *symbols, uint64_t ip, uint64_t leaves)
{
	const uint64_t *before = map_get(&symbols->older, ip);
	uint64_t *seen = map_put(&symbols->addresses, ip, NULL);

	*seen += leaves + (before ? *before : 0);
	if (before)
		map_remove(&symbols->older, ip);
	if (symbols->addresses.len < KERNEL_SYMBOLS_ADDRESSES_MAX / 2)
		return false;
	symbols->dropped += symbols->older.len;
	map_deinit(&symbols->older);
	symbols->older = symbols->addresses;
	symbols->addresses = (struct map){ 0 };
	return true;
}

void kernel_symbols_forget(struct kernel_symbols *symbols)
{
	map_clear(&symbols->addresses);
	map_clear(&symbols->older);
}

void kernel_symbols_join(struct kernel_symbols *symbols)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&symbols->older, &pos));)
		*map_put(&symbols->addresses, slot->key, NULL) += slot->value;
	map_clear(&symbols->older);
}

void kernel_symbols_tell(struct kernel_symbols *symbols, const struct event_ksymbol *ev)
{
	if (ev->removed || !ev->len)
		return;
	if (symbols->told.len == KERNEL_SYMBOLS_TOLD_MAX) {
		symbols->left_out++;
		return;
	}
	struct kernel_code code = {
		.addr = ev->addr,
		.len = ev->len,
		.name = arena_strdup(&symbols->arena, ev->name),
	};

	vec_push(&symbols->told, code);
}

void kernel_symbols_deinit(struct kernel_symbols *symbols)
{
	arena_deinit(&symbols->arena);
	map_deinit(&symbols->addresses);
	map_deinit(&symbols->older);
	vec_deinit(&symbols->told);
}

/* ---- the pass -------------------------------------------------------------------------------------- */

static size_t first_from(const struct answers *answers, uint64_t addr)
{
	return BISECT(answers->len, i, answers->items[i].ip < addr);
}

/* The line before, of which it is not yet known whether it is the best start for its address. */
struct pending {
	char *text;
	size_t cap;
	struct kallsyms_line line;
	size_t index; /* first address at or after it; SIZE_MAX: there is no line */
};

static void settle(struct kernel_symbols *symbols, struct answers *answers, struct pending *last)
{
	struct answer *a = last->index < answers->len ? &answers->items[last->index] : NULL;
	uint64_t addr = last->line.addr;

	last->index = SIZE_MAX;
	/* One that starts at the address also ends what lies before, but not after, so @next stays. */
	if (!a || addr < a->start)
		return;
	const char *module = kallsyms_cut(last->line.name);

	if (addr == a->start && !kallsyms_is_better_name(last->line.name, a->name))
		return;
	a->start = addr;
	a->name = arena_strdup(&symbols->arena, last->line.name);
	a->module = *module ? arena_strdup(&symbols->arena, module) : "";
}

/* @addr lies where the search ended last time, as long as no address lies between. */
static size_t find_from(const struct answers *answers, size_t hint, uint64_t addr)
{
	bool same = hint <= answers->len && (!hint || answers->items[hint - 1].ip < addr) &&
		    (hint == answers->len || answers->items[hint].ip >= addr);

	return same ? hint : first_from(answers, addr);
}

/* A symbol of whatever kind ends what lies before it. Returns the index of the first address at or after the line. */
static size_t offer_end(struct answers *answers, const struct kallsyms_line *line, size_t hint)
{
	size_t i = find_from(answers, hint, line->addr);

	if (i > 0)
		answers->items[i - 1].stop = MIN(answers->items[i - 1].stop, line->addr);
	return i;
}

/* That of a function, which begins something as well. */
static size_t offer(struct kernel_symbols *symbols, struct answers *answers, struct pending *last,
		    const struct kallsyms_line *line, size_t hint)
{
	size_t i = offer_end(answers, line, hint);

	if (i > 0 && line->addr < answers->items[i - 1].next) {
		answers->items[i - 1].next = line->addr;
		answers->items[i - 1].next_module = kallsyms_module(line);
	}
	if (last->index != SIZE_MAX && (last->index != i || line->addr <= last->line.addr))
		settle(symbols, answers, last);
	return i;
}

/* An address without a nearer symbol has that of the address before; ends go the other way. */
static void spread(struct answers *answers)
{
	for (size_t i = 1; i < answers->len; i++) {
		struct answer *a = &answers->items[i], *before = a - 1;

		if (a->start >= before->start)
			continue;
		a->start = before->start;
		a->name = before->name;
		a->module = before->module;
	}
	for (size_t i = answers->len; i-- > 1;) {
		struct answer *a = &answers->items[i - 1];

		a->stop = MIN(a->stop, answers->items[i].stop);
		if (a->next <= answers->items[i].next)
			continue;
		a->next = answers->items[i].next;
		a->next_module = answers->items[i].next_module;
	}
}

/* Have all addresses their answer when the kernel's own symbols have come as far as @line? */
static bool is_past(const struct answers *answers, uint64_t first, const struct kallsyms_line *line)
{
	return answers->items[0].ip >= first && line->addr > answers->items[answers->len - 1].ip &&
	       !strchr(line->name, '\t');
}

static bool read_kallsyms(struct kernel_symbols *symbols, FILE *kallsyms, struct answers *answers)
{
	struct pending now = { .index = SIZE_MAX }, last = { .index = SIZE_MAX };
	uint64_t first = 0, before = 0; /* addresses, as long as they ascend */
	size_t hint = 0;

	while (getline(&now.text, &now.cap, kallsyms) > 0) {
		if (!kallsyms_parse(now.text, &now.line) || !now.line.addr)
			continue;
		if (!kallsyms_is_function(&now.line)) {
			if (kallsyms_is_padding(&now.line))
				continue;
			hint = offer_end(answers, &now.line, hint);
			continue;
		}
		first = first ? first : now.line.addr;
		before = now.line.addr >= before ? now.line.addr : UINT64_MAX;
		now.index = hint = offer(symbols, answers, &last, &now.line, hint);

		struct pending empty = last;

		last = now;
		now = (struct pending){ .text = empty.text, .cap = empty.cap, .index = SIZE_MAX };
		if (before != UINT64_MAX && is_past(answers, first, &last.line))
			break;
	}
	if (last.index != SIZE_MAX)
		settle(symbols, answers, &last);
	free(now.text);
	free(last.text);
	spread(answers);
	return first;
}

/* ---- the result ------------------------------------------------------------------------------------ */

static int by_ip(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	return COMPARE(x->ip, y->ip);
}

static int by_addr(const void *a, const void *b)
{
	const struct recording_ksym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* A return address may lie behind the last instruction of a function that does not return. */
static void list_addresses(const struct kernel_symbols *symbols, struct answers *ret)
{
	const struct map_slot *slot;
	size_t pos = 0, kept = 0;

	while ((slot = map_next(&symbols->addresses, &pos))) {
		struct answer a = { .ip = slot->key,
				    .next = UINT64_MAX,
				    .stop = UINT64_MAX,
				    .leaves = slot->value };

		vec_push(ret, a);
		a.ip--;
		a.leaves = 0;
		a.beside = true;
		vec_push(ret, a);
	}
	vec_sort(ret, by_ip);
	for (size_t i = 0; i < ret->len; i++) {
		struct answer *last = kept ? &ret->items[kept - 1] : NULL;

		if (!last || last->ip != ret->items[i].ip) {
			ret->items[kept++] = ret->items[i];
			continue;
		}
		last->leaves += ret->items[i].leaves;
		last->beside &= ret->items[i].beside;
	}
	ret->len = kept;
}

static void gather(const struct answers *answers, struct kernel_symbol_list *ret)
{
	for (size_t i = 0; i < answers->len; i++) {
		const struct answer *a = &answers->items[i];
		uint64_t len = a->next - a->start;

		if (!a->start || (ret->len && ret->items[ret->len - 1].addr == a->start))
			continue;
		struct recording_ksym symbol = {
			.addr = a->start,
			.len = len <= KALLSYMS_SYMBOL_LEN_MAX ? len : 0,
			.name = a->name,
			.module = a->module,
		};

		vec_push(ret, symbol);
	}
}

/* Where the function that all answers from @a to @last lie in ends at the latest. */
static uint64_t end_of(const struct answer *a, const struct answer *last)
{
	uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t page_end = (last->ip | (page_len - 1)) + 1;
	uint64_t end = MIN(a->next, a->stop);
	bool followed = a->next - a->start <= KALLSYMS_SYMBOL_LEN_MAX && strcmp(a->module, "bpf") != 0 &&
			a->next_module == kallsyms_hash(a->module);

	return followed ? end : MIN(end, page_end);
}

static void gather_functions(const struct answers *answers, struct kernel_function_list *ret)
{
	for (size_t i = 0, behind; i < answers->len; i = behind) {
		const struct answer *a = &answers->items[i], *last = NULL;
		struct kernel_function function = { .begin = a->start };

		for (behind = i; behind < answers->len && answers->items[behind].start == a->start;
		     behind++) {
			function.leaves += answers->items[behind].leaves;
			if (!answers->items[behind].beside)
				last = &answers->items[behind];
		}
		if (!a->start || !last)
			continue;
		function.own = !*a->module;
		function.end = end_of(a, last);
		vec_push(ret, function);
	}
}

static int by_begin(const void *key, const void *item)
{
	uint64_t begin = *(const uint64_t *)key;
	const struct kernel_function *function = item;

	return COMPARE(begin, function->begin);
}

/* The length in the kernel's record is exact. */
static void take_told_lengths(const struct kernel_symbols *symbols, struct kernel_function_list *list)
{
	for (size_t i = 0; i < symbols->told.len && list->len; i++) {
		const struct kernel_code *code = &symbols->told.items[i];
		struct kernel_function *function = bsearch(&code->addr, list->items, list->len,
							   sizeof(*list->items), by_begin);

		if (function)
			function->end = code->addr + code->len;
	}
}

/* Where nothing of the same module follows, the distance to the next symbol is no length. */
static void take_lengths(const struct kernel_function_list *functions, struct kernel_symbol_list *list)
{
	for (size_t i = 0; i < list->len && functions->len; i++) {
		struct recording_ksym *symbol = &list->items[i];
		const struct kernel_function *function = bsearch(
			&symbol->addr, functions->items, functions->len,
			sizeof(*functions->items), by_begin);

		if (function && *symbol->module)
			symbol->len = function->end - function->begin;
	}
}

static bool is_listed(const struct kernel_symbol_list *list, size_t count, uint64_t addr)
{
	size_t low = BISECT(count, i, list->items[i].addr < addr);

	return low < count && list->items[low].addr == addr;
}

/* Code of the kernel's records that is not in kallsyms any more. */
static void gather_told(const struct kernel_symbols *symbols, const struct answers *answers,
			struct kernel_symbol_list *ret)
{
	size_t count = ret->len;

	for (size_t i = 0; i < symbols->told.len; i++) {
		const struct kernel_code *code = &symbols->told.items[i];
		size_t first = first_from(answers, code->addr);

		if (first == answers->len || answers->items[first].ip - code->addr >= code->len ||
		    is_listed(ret, count, code->addr))
			continue;
		struct recording_ksym symbol = {
			.addr = code->addr, .len = code->len, .name = code->name, .module = "bpf"
		};

		vec_push(ret, symbol);
	}
	vec_sort(ret, by_addr);
}

static void drop_repeated(struct kernel_symbol_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		if (!kept || list->items[kept - 1].addr != list->items[i].addr)
			list->items[kept++] = list->items[i];
	}
	list->len = kept;
}

bool kernel_symbols_read(struct kernel_symbols *symbols, FILE *kallsyms,
			 struct kernel_symbol_list *ret, struct kernel_function_list *ret_functions)
{
	struct answers answers = { 0 };
	bool shown = true;

	list_addresses(symbols, &answers);
	if (answers.len)
		shown = kallsyms && read_kallsyms(symbols, kallsyms, &answers);
	gather(&answers, ret);
	gather_functions(&answers, ret_functions);
	take_told_lengths(symbols, ret_functions);
	take_lengths(ret_functions, ret);
	gather_told(symbols, &answers, ret);
	drop_repeated(ret);
	vec_deinit(&answers);
	return shown;
}
