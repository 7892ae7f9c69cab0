/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_map.c - a copy of the text cut into lines, laid over each other in the order of the file, and then the dump's code.
 */
#include "symbolize/name/jit_map.h"

#include "formats/base/arena.h"
#include "formats/base/bisect.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/module/range_overlay.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An ELF file that the process had in its memory, of code that it had loaded. */
struct object {
	struct image *image;
	struct symtab *symbols;
	struct cfi_section *rules;
	struct debug_info *debug;
	bool debug_tried;
};

/* An address, when there were @nsymbols symbols. */
struct described {
	uint64_t ip;
	size_t nsymbols;
	struct jit_place place;
};

#define SYMBOLS_MAX (RANGE_OVERLAY_NONE / 2)

/* Bytes of a process. */
struct memory {
	uint64_t ip, len;
	const uint8_t *code; /* in the dump, or put together from it */
};

struct jit_map {
	char *text;
	uint8_t *dump;
	struct arena arena;
	VEC(struct jit_symbol) symbols;
	struct range_overlay *levels[CODE_PLACE_LEVELS]; /* of all symbols, by number; NULL where there are none */
	uint32_t nlevels;
	VEC(uint64_t) changes; /* times from which on other code is known at some address, ascending, each once */
	bool timed;
	uint64_t checked_ns; /* until when code that did not end was there; not 0: the times of all code are when it certainly was there */
	struct map functions;  /* number -> index in @named */
	VEC(struct jit_call) named; /* without .line */
	VEC(struct described) described;
	struct map by_ip;      /* place -> index in @places */
	VEC(struct jit_place) places;
	VEC(struct jit_call) calls;
	VEC(struct object) objects;
	VEC(struct memory) memory; /* ascending once all is read */
	size_t skipped;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* Hexadecimal number at *@pos, which moves behind it and the blanks that must follow. */
static bool take_number(const char **pos, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	int ndigits = 0;

	if (p[0] == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; digit_value(*p) >= 0; p++, ndigits++) {
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)digit_value(*p);
	}
	if (!ndigits || (*p != ' ' && *p != '\t'))
		return false;
	while (*p == ' ' || *p == '\t')
		p++;
	*pos = p;
	*ret = value;
	return true;
}

static bool parse_line(const char *line, struct jit_symbol *ret)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (!take_number(&line, &ret->start) || !take_number(&line, &ret->len))
		return false;
	ret->name = line;
	return *line && ret->len && ret->len <= UINT64_MAX - ret->start;
}

/* Cut the copy of the text into lines and keep those that are symbols. */
static void parse(struct jit_map *map, size_t len)
{
	struct jit_symbol symbol = { 0 };
	char *end = map->text + len;

	for (char *line = map->text; line < end && map->symbols.len < SYMBOLS_MAX;) {
		char *eol = memchr(line, '\n', (size_t)(end - line));

		if (!eol)
			eol = end;
		*eol = '\0';
		if (eol > line && eol[-1] == '\r')
			eol[-1] = '\0';
		if (parse_line(line, &symbol))
			vec_push(&map->symbols, symbol);
		else
			map->skipped++;
		line = eol + 1;
	}
}

/* ---- dumps ----------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const struct jitdump_line *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return COMPARE(x->line, y->line);
}

/* "JS:*add /srv/app.js:3:9": the path in a name as V8 makes them, NULL if there is none. */
static const char *file_in_name(struct jit_map *map, const char *name)
{
	const char *path = strstr(name, " /");
	const char *end = name + strlen(name);

	if (!path)
		path = strstr(name, " file:");
	if (!path)
		return NULL;
	path++;
	for (int i = 0; i < 2; i++) {
		const char *number = end;

		while (number > path && number[-1] >= '0' && number[-1] <= '9')
			number--;
		if (number == end || number == path || number[-1] != ':')
			break;
		end = number - 1;
	}
	return arena_memdup(&map->arena, path, (size_t)(end - path));
}

/* @info is the debug information that stood before the code, of kind JITDUMP_DEBUG_INFO, or not. */
static void add_lines(struct jit_map *map, const struct jitdump *dump,
		      const struct jitdump_record *info, struct jit_symbol *symbol)
{
	if (info->kind != JITDUMP_DEBUG_INFO || info->ip != symbol->start || !info->nentries)
		return;
	struct jitdump_line *lines =
		ARENA_ARRAY(&map->arena, struct jitdump_line, info->nentries);

	symbol->nlines = jitdump_lines(dump, info, symbol->len, lines);
	symbol->lines = lines;
	qsort(lines, symbol->nlines, sizeof(*lines), by_offset);
	if (!symbol->nlines || lines[0].file)
		return;
	const char *file = file_in_name(map, symbol->name);

	for (size_t i = 0; i < symbol->nlines; i++)
		lines[i].file = file;
}

static void add_function(struct jit_map *map, const struct jitdump_record *rec)
{
	*map_put(&map->functions, rec->function, NULL) = map->named.len;
	vec_push(&map->named, ((struct jit_call){ rec->name, rec->file, rec->line, 0 }));
}

static void add_place(struct jit_map *map, struct jitdump_record *rec)
{
	struct described d = { rec->ip, map->symbols.len, { rec->frame, rec->frame_len, map->calls.len, 0 } };
	struct jitdump_call call;

	while (jitdump_call_next(rec, &call)) {
		const uint64_t *number = map_get(&map->functions, call.function);

		if (!number)
			continue;
		vec_push(&map->calls, map->named.items[*number]);
		map->calls.items[map->calls.len - 1].line = call.line;
	}
	d.place.count = map->calls.len - d.place.first;
	vec_push(&map->described, d);
}

/* The functions of an object, with the code that was in memory. */
static void add_symbols(struct jit_map *map, struct object *object, uint64_t time_ns)
{
	size_t count, code_len;
	const struct symtab_entry *entries = symtab_entries(object->symbols, &count);

	for (size_t i = 0; i < count && map->symbols.len < SYMBOLS_MAX; i++) {
		struct jit_symbol symbol = {
			.start = entries[i].vaddr,
			.len = symtab_end(object->symbols, &entries[i]) - entries[i].vaddr,
			.name = entries[i].name,
			.from_ns = time_ns,
			.object = map->objects.len,
		};

		if (!symbol.len || symbol.len > UINT64_MAX - symbol.start)
			continue;
		symbol.code = image_bytes_at(object->image, symbol.start, &code_len);
		if (symbol.code && code_len < symbol.len)
			symbol.code = NULL;
		vec_push(&map->symbols, symbol);
	}
}

/* What is no ELF file adds nothing. */
static void add_object(struct jit_map *map, const struct jitdump_record *rec)
{
	struct object object = { 0 };
	struct err *err = image_open_memory(rec->object, rec->object_len, "[jit]", &object.image);

	if (err) {
		err_free(err);
		return;
	}
	object.symbols = symtab_new(object.image);
	object.rules = cfi_section_new(object.image);
	vec_push(&map->objects, object);
	add_symbols(map, &object, rec->time_ns);
}

static void object_deinit(struct object *object)
{
	debug_info_free(object->debug);
	cfi_section_free(object->rules);
	symtab_free(object->symbols);
	image_close(object->image);
}

static void add_known(struct jit_map *map, const struct jitdump_record *rec)
{
	const char *name = rec->kind == JITDUMP_GONE ? "" : rec->name;

	if (rec->len)
		vec_push(&map->symbols, ((struct jit_symbol){ .start = rec->ip, .len = rec->len, .name = name, .from_ns = rec->time_ns }));
}

/* The last symbol that begins at an address, of the first @nsymbols; made as it is needed, which is rare. */
struct latest {
	struct map by_start; /* of numbers in jit_map.symbols */
	size_t nsymbols;
};

static struct jit_symbol *latest_at(struct jit_map *map, struct latest *latest, uint64_t start)
{
	for (; latest->nsymbols < map->symbols.len; latest->nsymbols++)
		*map_put(&latest->by_start, map->symbols.items[latest->nsymbols].start, NULL) = latest->nsymbols;

	const uint64_t *number = map_get(&latest->by_start, start);

	return number ? &map->symbols.items[*number] : NULL;
}

static void add_moved(struct jit_map *map, struct latest *latest, const struct jitdump_record *move)
{
	const struct jit_symbol *old = latest_at(map, latest, move->old_ip);

	if (!old)
		return;
	struct jit_symbol symbol = *old;

	symbol.start = move->ip;
	symbol.from_ns = move->time_ns;
	if (symbol.len <= UINT64_MAX - symbol.start)
		vec_push(&map->symbols, symbol);
}

/* Where what is gone is not one piece of code, as it was described, but several or a part, nothing lies over them. */
static void add_gone(struct jit_map *map, struct latest *latest, const struct jitdump_record *rec)
{
	struct jit_symbol *symbol = latest_at(map, latest, rec->ip);

	if (symbol && symbol->len == rec->len && *symbol->name)
		symbol->until_ns = symbol->until_ns ? symbol->until_ns : MAX(rec->time_ns, 1);
	else
		add_known(map, rec);
}

static void add_memory(struct jit_map *map, const struct jitdump_record *rec)
{
	if (rec->len && rec->len <= UINT64_MAX - rec->ip)
		vec_push(&map->memory, ((struct memory){ rec->ip, rec->len, rec->code }));
}

static int by_address(const void *a, const void *b)
{
	const struct memory *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return COMPARE(x->code, y->code); /* as they were written */
}

/* How many of @items follow each other without a gap; *@ret_len is their length together. */
static size_t run_of(const struct memory *items, size_t count, uint64_t *ret_len)
{
	size_t run = 1;

	*ret_len = items[0].len;
	for (; run < count && items[run].ip == items[0].ip + *ret_len; run++)
		*ret_len += items[run].len;
	return run;
}

/* Put in order, without what lies over others, and together what is read page by page: an instruction may lie in two. */
static void order_memory(struct jit_map *map)
{
	struct memory *items = map->memory.items;
	size_t kept = 0, count = 0, run;
	uint64_t len;

	if (map->memory.len)
		qsort(items, map->memory.len, sizeof(*items), by_address);
	for (size_t i = 0; i < map->memory.len; i++) {
		if (!kept || items[kept - 1].ip + items[kept - 1].len <= items[i].ip)
			items[kept++] = items[i];
	}
	for (size_t i = 0; i < kept; i += run) {
		run = run_of(items + i, kept - i, &len);
		struct memory all = { items[i].ip, len, items[i].code };

		if (run > 1) {
			uint8_t *code = arena_alloc(&map->arena, (size_t)len);

			for (size_t j = i; j < i + run; j++)
				memcpy(code + (items[j].ip - all.ip), items[j].code, (size_t)items[j].len);
			all.code = code;
		}
		items[count++] = all;
	}
	map->memory.len = count;
}

/* True if @rec is one of precord's own. */
static bool add_read(struct jit_map *map, struct latest *latest, struct jitdump_record *rec)
{
	if (rec->kind == JITDUMP_FUNCTION)
		add_function(map, rec);
	else if (rec->kind == JITDUMP_PLACE)
		add_place(map, rec);
	else if (rec->kind == JITDUMP_OBJECT)
		add_object(map, rec);
	else if (rec->kind == JITDUMP_BYTES)
		add_memory(map, rec);
	else if (rec->kind == JITDUMP_KNOWN && *rec->name)
		add_known(map, rec);
	else if (rec->kind == JITDUMP_GONE && map->timed)
		add_gone(map, latest, rec);
	else
		return rec->kind == JITDUMP_KNOWN || rec->kind == JITDUMP_GONE;
	return true;
}

/* Earlier recorders wrote no times, or those of reading. */
static void find_times(struct jit_map *map, struct jitdump dump)
{
	struct jitdump_record rec;
	bool any = false;

	while (jitdump_next(&dump, &rec)) {
		any = any || rec.time_ns;
		if (rec.kind == JITDUMP_CHECKED)
			map->checked_ns = rec.time_ns;
	}
	map->timed = map->timed && any;
}

static void parse_dump(struct jit_map *map, size_t len)
{
	struct jitdump dump;
	struct jitdump_record rec, info = { .kind = UINT32_MAX }, unwinding = info;
	struct latest latest = { 0 };
	struct err *err = jitdump_open(&dump, map->dump, len);

	if (err) {
		err_free(err);
		return;
	}
	map->timed = map->timed && !dump.is_foreign_clock;
	find_times(map, dump);
	while (map->symbols.len < SYMBOLS_MAX && jitdump_next(&dump, &rec)) {
		if (add_read(map, &latest, &rec))
			continue;
		if (rec.kind == JITDUMP_DEBUG_INFO)
			info = rec;
		if (rec.kind == JITDUMP_UNWINDING)
			unwinding = rec;
		if (rec.kind == JITDUMP_MOVE)
			add_moved(map, &latest, &rec);
		if (rec.kind != JITDUMP_LOAD || !rec.len || !*rec.name)
			continue;
		struct jit_symbol symbol = {
			.start = rec.ip, .len = rec.len, .name = rec.name, .code = rec.code, .from_ns = rec.time_ns
		};

		if (unwinding.kind == JITDUMP_UNWINDING) {
			symbol.frames = unwinding.frames;
			symbol.frames_len = unwinding.frames_len;
		}

		add_lines(map, &dump, &info, &symbol);
		info.kind = unwinding.kind = UINT32_MAX; /* of one code only */
		vec_push(&map->symbols, symbol);
	}
	map_deinit(&latest.by_start);
	order_memory(map);
}

/* ---- code after code ------------------------------------------------------------------------------- */

/* A dump may say what it knows of code, and once more with its bytes. */
static bool is_again(const struct jit_symbol *a, const struct jit_symbol *b)
{
	return !a->until_ns && a->len == b->len && strcmp(a->name, b->name) == 0 &&
	       (!a->code || !b->code || memcmp(a->code, b->code, a->len) == 0);
}

/* Which symbols, from @first on, are of the same code as the last one that begins where they do. */
static void find_again(const struct jit_map *map, size_t first, struct jit_level_piece *pieces)
{
	struct map latest = { 0 };

	for (size_t i = first; i < map->symbols.len; i++) {
		const struct jit_symbol *symbol = &map->symbols.items[i];
		bool is_new;
		uint64_t *slot = map_put(&latest, symbol->start, &is_new);

		pieces[i - first] = (struct jit_level_piece){ .start = symbol->start, .end = symbol->start + symbol->len };
		pieces[i - first].again = !is_new && *symbol->name && is_again(&map->symbols.items[*slot], symbol);
		*slot = i;
	}
	map_deinit(&latest);
}

static void add_change(struct jit_map *map, uint64_t time_ns)
{
	if (time_ns > 1 && time_ns < UINT64_MAX)
		vec_push(&map->changes, time_ns);
}

static void find_changes(struct jit_map *map, size_t first, const struct jit_level_piece *pieces)
{
	size_t count = 0;

	for (size_t i = first; i < map->symbols.len; i++) {
		const struct jit_symbol *symbol = &map->symbols.items[i];

		if (map->checked_ns || (symbol->level && !pieces[i - first].again))
			add_change(map, symbol->from_ns);
		add_change(map, symbol->until_ns + 1);
	}
	add_change(map, map->checked_ns + 1);
	vec_sort(&map->changes, vec_u64_ascending);
	for (size_t i = 0; i < map->changes.len; i++) {
		if (!count || map->changes.items[count - 1] != map->changes.items[i])
			map->changes.items[count++] = map->changes.items[i];
	}
	map->changes.len = count;
}

/* @first is the first symbol of the dump: lines of a perf map have no time, and lie below. */
static void find_levels(struct jit_map *map, size_t first, struct jit_level_address *addresses)
{
	size_t count = map->symbols.len - first;
	struct jit_level_piece *pieces = memory_zeroed(count + 1, sizeof(*pieces));

	find_again(map, first, pieces);
	for (size_t i = 0; i < map->described.len; i++)
		addresses[i] = (struct jit_level_address){ .ip = map->described.items[i].ip,
							   .npieces = map->described.items[i].nsymbols - first };
	jit_levels_find(pieces, count, addresses, map->described.len);
	for (size_t i = 0; i < count; i++) {
		struct jit_symbol *symbol = &map->symbols.items[first + i];

		symbol->level = pieces[i].level;
		map->nlevels = MAX(map->nlevels, symbol->level + 1);
	}
	find_changes(map, first, pieces);
	free(pieces);
}

static uint64_t place_of(uint64_t ip, uint32_t level)
{
	return ip | (uint64_t)level << CODE_PLACE_SHIFT;
}

static size_t count_lines(const struct jit_map *map, const struct jit_place *place)
{
	size_t count = 0;

	for (size_t i = 0; i < place->count; i++)
		count += map->calls.items[place->first + i].line != 0;
	return count;
}

/* What was read of a place later, as some of it was not in memory at first. */
static void take_more(const struct jit_map *map, struct jit_place *place, const struct jit_place *later)
{
	if (later->count < place->count || (later->count == place->count && count_lines(map, later) <= count_lines(map, place)))
		return;
	place->first = later->first;
	place->count = later->count;
}

/* The first one of an address holds, of each level: that is what was there when it was seen first; a later one may know more of it. */
static void put_places(struct jit_map *map, const struct jit_level_address *addresses)
{
	for (size_t i = 0; i < map->described.len; i++) {
		bool is_new;

		if (addresses[i].level == CODE_PLACE_UNKNOWN)
			continue;
		uint64_t *slot = map_put(&map->by_ip, place_of(map->described.items[i].ip, addresses[i].level), &is_new);

		if (!is_new) {
			take_more(map, &map->places.items[*slot], &map->described.items[i].place);
			continue;
		}
		*slot = map->places.len;
		vec_push(&map->places, map->described.items[i].place);
	}
	vec_deinit(&map->described);
}

static void lay_over(struct jit_map *map, uint32_t level)
{
	VEC(struct layer) ranges = { 0 };

	vec_reserve(&ranges, map->symbols.len);
	for (size_t i = 0; i < map->symbols.len; i++) {
		const struct jit_symbol *sym = &map->symbols.items[i];

		vec_push(&ranges, ((struct layer){ sym->start, sym->level == level ? sym->start + sym->len : sym->start }));
	}
	map->levels[level] = range_overlay_new(ranges.items, ranges.len);
	vec_deinit(&ranges);
}

/* A copy with a NUL behind it. */
static void *copy(const void *data, size_t len)
{
	uint8_t *bytes = memory_alloc(len + 1);

	if (len)
		memcpy(bytes, data, len);
	bytes[len] = '\0';
	return bytes;
}

static struct jit_map *make(const char *text, size_t len, const void *dump, size_t dump_len, bool timed)
{
	struct jit_map *map = memory_zeroed(1, sizeof(*map));
	struct jit_level_address *addresses;

	map->timed = timed;
	map->text = copy(text, len);
	map->dump = copy(dump, dump_len);
	parse(map, len);
	size_t first = map->symbols.len;

	parse_dump(map, dump_len);
	addresses = memory_zeroed(map->described.len + 1, sizeof(*addresses));
	if (map->timed)
		find_levels(map, first, addresses);
	put_places(map, addresses);
	free(addresses);
	for (uint32_t level = 0; level < MAX(map->nlevels, 1U); level++)
		lay_over(map, level);
	return map;
}

struct jit_map *jit_map_new_dumped(const char *text, size_t len, const void *dump, size_t dump_len)
{
	return make(text, len, dump, dump_len, /* timed= */ false);
}

struct jit_map *jit_map_new_timed(const char *text, size_t len, const void *dump, size_t dump_len)
{
	return make(text, len, dump, dump_len, /* timed= */ true);
}

struct jit_map *jit_map_new(const char *text, size_t len)
{
	return jit_map_new_dumped(text, len, NULL, 0);
}

void jit_map_free(struct jit_map *map)
{
	if (!map)
		return;
	vec_deinit(&map->symbols);
	map_deinit(&map->functions);
	vec_deinit(&map->named);
	map_deinit(&map->by_ip);
	vec_deinit(&map->places);
	vec_deinit(&map->calls);
	for (uint32_t level = 0; level < CODE_PLACE_LEVELS; level++)
		range_overlay_free(map->levels[level]);
	vec_deinit(&map->changes);
	vec_deinit(&map->described);
	arena_deinit(&map->arena);
	for (size_t i = 0; i < map->objects.len; i++)
		object_deinit(&map->objects.items[i]);
	vec_deinit(&map->objects);
	vec_deinit(&map->memory);
	free(map->dump);
	free(map->text);
	free(map);
}

/* What lies at @ip on @level, code that is gone included; NULL if nothing does. */
static const struct jit_symbol *symbol_on(const struct jit_map *map, uint64_t ip, uint32_t level)
{
	uint32_t symbol = map->levels[level] ? range_overlay_find(map->levels[level], ip) : RANGE_OVERLAY_NONE;

	return symbol == RANGE_OVERLAY_NONE ? NULL : &map->symbols.items[symbol];
}

const struct jit_symbol *jit_map_find(const struct jit_map *map, uint64_t place)
{
	uint64_t ip = map->changes.len ? code_place_address(place) : place; /* without levels, any address is one */
	uint32_t level = ip == place ? 0 : (uint32_t)(place >> CODE_PLACE_SHIFT);
	const struct jit_symbol *symbol = level == CODE_PLACE_UNKNOWN ? NULL : symbol_on(map, ip, level);

	return symbol && *symbol->name ? symbol : NULL;
}

const struct jit_place *jit_map_place(const struct jit_map *map, uint64_t place)
{
	const uint64_t *slot = map_get(&map->by_ip, place);

	return slot ? &map->places.items[*slot] : NULL;
}

/* So long before it was read, new code may have been there: an address is read soon after it was sampled. */
#define READ_LATE_NS 250000000ULL

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_same_calls(const struct jit_map *map, const struct jit_place *a, const struct jit_place *b)
{
	const struct jit_call *x = jit_map_calls(map, a), *y = jit_map_calls(map, b);

	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		if (x[i].begin != y[i].begin || x[i].line != y[i].line || !is_same_text(x[i].name, y[i].name) ||
		    !is_same_text(x[i].file, y[i].file))
			return false;
	}
	return true;
}

/* So long, code may seem to be gone that is there: other code may hardly come and go where it lies, and the same be made there again. */
#define AWAY_NS 1000000000ULL

/*
 * Does what was at @ip until the end of @symbol lie there again soon after? A collection of garbage moves what belongs to code, while the code
 * stays: then it is read anew, and is the same with all that is inlined at @ip, if that was read both times. The level with what was read of
 * @ip; CODE_PLACE_UNKNOWN: it does not, or nothing was.
 */
static uint32_t level_of_both(const struct jit_map *map, const struct jit_symbol *symbol, uint64_t ip)
{
	const struct jit_place *before = jit_map_place(map, place_of(ip, symbol->level));
	uint32_t found = CODE_PLACE_UNKNOWN;

	for (uint32_t level = symbol->level + 1; level < map->nlevels; level++) {
		const struct jit_symbol *next = symbol_on(map, ip, level);

		if (!next)
			continue;
		if (next->start != symbol->start || next->len != symbol->len || !is_same_text(next->name, symbol->name) ||
		    next->from_ns - symbol->until_ns > AWAY_NS)
			break;
		const struct jit_place *after = jit_map_place(map, place_of(ip, level));

		if (after && before)
			return has_same_calls(map, before, after) ? symbol->level : CODE_PLACE_UNKNOWN;
		if (after)
			return level;
		if (before)
			found = symbol->level;
	}
	return found;
}

/*
 * At @time_ns, after the end of @symbol: where times are those of reading and the next code, @above, was read soon after, the nearer one of the
 * two decides, if the address was read in it.
 */
static uint64_t place_between(const struct jit_map *map, const struct jit_symbol *symbol, const struct jit_symbol *above,
			      uint64_t ip, uint64_t time_ns)
{
	if (map->checked_ns)
		return place_of(ip, level_of_both(map, symbol, ip));
	if (!above || above->from_ns - time_ns > READ_LATE_NS)
		return place_of(ip, CODE_PLACE_UNKNOWN);
	if (above->from_ns - time_ns <= time_ns - symbol->until_ns && map_get(&map->by_ip, place_of(ip, above->level)))
		return place_of(ip, above->level);
	return place_of(ip, symbol->level);
}

uint64_t jit_map_at(const struct jit_map *map, uint64_t ip, uint64_t time_ns)
{
	const struct jit_symbol *above = NULL;

	if (!map->changes.len || ip >> CODE_PLACE_SHIFT)
		return ip;
	for (uint32_t level = map->nlevels; level-- > 0;) {
		const struct jit_symbol *symbol = symbol_on(map, ip, level);

		if (!symbol)
			continue;
		uint64_t until_ns = symbol->until_ns ? symbol->until_ns : map->checked_ns ? map->checked_ns : UINT64_MAX;
		bool begun = symbol->from_ns <= time_ns || (!level && !map->checked_ns);

		if (begun)
			return time_ns <= until_ns ? place_of(ip, level) : place_between(map, symbol, above, ip, time_ns);
		above = symbol;
	}
	return place_of(ip, above ? CODE_PLACE_UNKNOWN : 0);
}

size_t jit_map_changes(const struct jit_map *map, uint64_t time_ns)
{
	return BISECT(map->changes.len, i, map->changes.items[i] <= time_ns);
}

const struct jit_call *jit_map_calls(const struct jit_map *map, const struct jit_place *place)
{
	return map->calls.items + place->first;
}

const struct cfi_section *jit_map_rules(const struct jit_map *map, const struct jit_symbol *symbol)
{
	return symbol->object ? map->objects.items[symbol->object - 1].rules : NULL;
}

size_t jit_map_source(struct jit_map *map, const struct jit_symbol *symbol, uint64_t place,
		      struct debug_frame ret[DEBUG_INFO_FRAMES_MAX])
{
	struct object *object = symbol->object ? &map->objects.items[symbol->object - 1] : NULL;

	if (!object)
		return 0;
	if (!object->debug_tried)
		object->debug = debug_info_new(object->image);
	object->debug_tried = true;
	return object->debug ? debug_info_find(object->debug, code_place_address(place), ret) : 0;
}

const uint8_t *jit_map_bytes(const struct jit_map *map, uint64_t ip, size_t *ret_len)
{
	const struct memory *items = map->memory.items;
	size_t behind = BISECT(map->memory.len, i, items[i].ip <= ip);
	const struct memory *memory = behind ? &items[behind - 1] : NULL;

	if (!memory || ip - memory->ip >= memory->len)
		return NULL;
	*ret_len = (size_t)(memory->len - (ip - memory->ip));
	return memory->code + (ip - memory->ip);
}

size_t jit_map_nplaces(const struct jit_map *map)
{
	return map->places.len;
}

bool jit_symbol_line(const struct jit_symbol *symbol, uint64_t place, const char **ret_file,
		     uint32_t *ret_line)
{
	uint64_t offset = code_place_address(place) - symbol->start;
	size_t low = BISECT(symbol->nlines, i, symbol->lines[i].offset <= offset);

	if (!low || !symbol->lines[low - 1].line)
		return false;
	*ret_file = symbol->lines[low - 1].file;
	*ret_line = symbol->lines[low - 1].line;
	return true;
}

size_t jit_map_skipped(const struct jit_map *map)
{
	return map->skipped;
}

const struct jit_symbol *jit_map_symbols(const struct jit_map *map, size_t *ret_count)
{
	*ret_count = map->symbols.len;
	return map->symbols.items;
}
