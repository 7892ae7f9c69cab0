/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby_method.c - rb_vm_frame_method_entry() of vm_insnhelper.c, get_id_entry() of symbol.c, rb_gen_method_name() of iseq.c.
 */
#include "record/managed/ruby_method.h"

#include "formats/base/compiler.h"

#include <ctype.h>
#include <stdio.h>

#define LEVELS_MAX 32 /* of blocks in blocks */
#define SUPERS_MAX 32 /* of classes above a class */

/* An environment: at ep[-2] its method entry, at ep[-1] the one around it, then its flags. */
#define EP_WORDS 3
#define EP_LOCAL 2 /* in the flags: there is none around it */

#define IMEMO_BITS  0xf /* behind RUBY_FLAGS_SHIFT */
#define IMEMO_SVAR  2	/* at 8 the method entry */
#define IMEMO_ENTRY 6

#define ENTRY_DEFINITION 16
#define ENTRY_OWNER	 32
#define ENTRY_LEN	 40
#define DEFINITION_NAME	 32 /* behind type and counts, and three words of what there is of that type */

#define CLASS_SUPER    16
#define CLASS_OWN      24 /* up to 3.1 a pointer to what a class has of its own, then that itself */
#define CLASS_LEN      160
#define OWN_LEN	       192
#define TABLE_COUNT    32 /* in an st_table: first and end of its entries, their address */
#define TABLE_ENTRIES  48
#define TABLE_LEN      56
#define TABLE_MAX      64 /* entries that are looked at */
#define ENTRY_WORDS    3  /* hash, key, value */
#define FIRST_WITH_PATH 302

/* The table of symbols: the last number, a hash of texts, arrays of names, each with text and symbol in turn. */
#define SYMBOLS_WORDS  4
#define SYMBOLS_UNIT   512
#define SYMBOLS_MIN    1000
#define SYMBOLS_MAX    (1u << 24)
#define OPERATORS_MAX  1000 /* numbers below it are their own places; the others have this many bits before it */
#define NUMBER_SHIFT   4
#define SEARCH_LEN     (64u << 10) /* before variables without a value */
#define SEARCH_WORDS   2048	   /* in one view */
#define ROUNDS_MAX     16

void ruby_methods_init(struct ruby_methods *methods, const struct managed_host *host, unsigned version,
		       const struct ruby_strings *strings, const struct managed_symbol *symbols)
{
	uint64_t end = host->binary->zeroed_vaddr & ~(uint64_t)7;

	*methods = (struct ruby_methods){
		.strings = *strings,
		.path_is_variable = version < FIRST_WITH_PATH,
		.symbols = symbols->found ? symbols->vaddr + host->bias : 0,
		.begin = host->bias + end - MIN(end, (uint64_t)SEARCH_LEN),
		.end = host->bias + end,
	};
	methods->next = methods->begin;
}

/* ---- the table of symbols -------------------------------------------------------------------------- */

/* The text of name number @id of the table at @symbols. */
static const char *name_in(const struct ruby_methods *m, struct managed_view *view, uint64_t symbols, uint64_t id)
{
	uint64_t words[SYMBOLS_WORDS], place = id < OPERATORS_MAX ? id : id >> NUMBER_SHIFT;

	if (!place || !managed_view_try(view, symbols, words, sizeof(words)) || place > (uint32_t)words[0])
		return "";
	uint64_t unit = ruby_item(view, words[2], place / SYMBOLS_UNIT);

	return unit ? ruby_text(&m->strings, view, ruby_item(view, unit, place % SYMBOLS_UNIT * 2)) : "";
}

/* "+" is number '+' in every version. */
static bool is_table(const struct ruby_methods *m, struct managed_view *view, uint64_t addr)
{
	uint64_t words[SYMBOLS_WORDS];

	if (!managed_view_try(view, addr, words, sizeof(words)) || words[0] < SYMBOLS_MIN || words[0] > SYMBOLS_MAX ||
	    !words[1] || words[1] & 7 || !ruby_flags(view, words[2], RUBY_TYPE_ARRAY))
		return false;
	return strcmp(name_in(m, view, addr, '+'), "+") == 0;
}

static bool has_symbols(struct ruby_methods *m, struct managed_view *view)
{
	for (unsigned i = 0; !m->symbols && m->rounds < ROUNDS_MAX && i < SEARCH_WORDS; i++) {
		if (m->next >= m->end) {
			m->next = m->begin;
			m->rounds++;
			break;
		}
		if (is_table(m, view, m->next))
			m->symbols = m->next;
		m->next += 8;
	}
	return m->symbols;
}

const char *ruby_method_name(struct ruby_methods *methods, struct managed_view *view,
			     const struct ruby_method *method)
{
	uint64_t id;

	if (!has_symbols(methods, view) ||
	    !managed_view_try(view, method->definition + DEFINITION_NAME, &id, sizeof(id)))
		return "";
	return name_in(methods, view, methods->symbols, id);
}

/* ---- classes --------------------------------------------------------------------------------------- */

/* A constant's, as "Net::HTTP"; classes without one have a text that is none. */
static bool is_path(const char *text)
{
	if (!isupper((unsigned char)*text))
		return false;
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && *text != ':' && *text != '_' && (uint8_t)*text < 0x80)
			return false;
	}
	return true;
}

static const char *path_of_word(const struct ruby_methods *m, struct managed_view *view, uint64_t value)
{
	const char *text = ruby_text(&m->strings, view, value);

	return is_path(text) ? text : "";
}

/* Of the variables in the st_table at @table, the one that is the path of the class. */
static const char *path_in_table(struct ruby_methods *m, struct managed_view *view, uint64_t table)
{
	uint64_t words[TABLE_LEN / 8], entries[TABLE_MAX * ENTRY_WORDS];

	if (!table || table & 7 || !managed_view_try(view, table, words, sizeof(words)))
		return "";
	uint64_t first = words[TABLE_COUNT / 8], end = words[TABLE_COUNT / 8 + 1];

	if (first >= end || end > TABLE_MAX || words[TABLE_ENTRIES / 8] & 7 ||
	    !managed_view_try(view, words[TABLE_ENTRIES / 8], entries, (size_t)end * ENTRY_WORDS * 8))
		return "";
	for (uint64_t i = first; i < end; i++) {
		uint64_t key = entries[i * ENTRY_WORDS + 1];
		const char *path;

		if (m->path_name && key != m->path_name)
			continue;
		path = path_of_word(m, view, entries[i * ENTRY_WORDS + 2]);
		if (!*path || (!m->path_name &&
			       strcmp(name_in(m, view, m->symbols, key), "__classpath__") != 0))
			continue;
		m->path_name = key;
		return path;
	}
	return "";
}

/* Where @class may have its path: all words of its own, or the one that it is known to be at. */
static const char *path_of(struct ruby_methods *m, struct managed_view *view, uint64_t class)
{
	uint64_t words[OWN_LEN / 8], at = class;
	size_t len = CLASS_LEN;
	uint16_t first = CLASS_OWN;

	if (m->path_is_variable) {
		if (!has_symbols(m, view) || !managed_view_try(view, class + CLASS_OWN, &at, sizeof(at)))
			return "";
		len = OWN_LEN;
		first = 0;
	}
	if (m->path)
		len = m->path + 8u, first = m->path;
	if (!managed_view_try(view, at + first, words, len - first))
		return "";
	for (size_t i = 0; first + i * 8 < len; i++) {
		const char *path = m->path_is_variable ? path_in_table(m, view, words[i]) :
							 path_of_word(m, view, words[i]);

		if (!*path)
			continue;
		m->path = (uint16_t)(first + i * 8);
		return path;
	}
	return "";
}

static bool is_class(struct managed_view *view, uint64_t value)
{
	return ruby_flags(view, value, RUBY_TYPE_CLASS) || ruby_flags(view, value, RUBY_TYPE_MODULE);
}

/* The class whose own methods @owner has: @self, or the one above it that inherited them to it; 0 if there is none. */
static uint64_t attached_to(struct managed_view *view, uint64_t owner, uint64_t self)
{
	uint64_t class;

	if (!is_class(view, self))
		return 0;
	for (unsigned i = 0; self && !(self & 7) && i < SUPERS_MAX; i++) {
		if (!managed_view_try(view, self + RUBY_OBJECT_CLASS, &class, sizeof(class)))
			return 0;
		if (class == owner)
			return self;
		if (!managed_view_try(view, self + CLASS_SUPER, &self, sizeof(self)))
			return 0;
	}
	return 0;
}

bool ruby_methods_searching(const struct ruby_methods *methods)
{
	return methods->path_is_variable && !methods->symbols && methods->rounds < ROUNDS_MAX;
}

const char *ruby_method_label(struct ruby_methods *methods, struct managed_view *view,
			      const struct ruby_method *method, uint64_t self, const char *name)
{
	char text[2 * RUBY_TEXT_MAX + 2];
	uint64_t class = attached_to(view, method->owner, self);
	bool own = class;
	int len;

	if (!class && !is_class(view, method->owner))
		return name;
	const char *path = path_of(methods, view, own ? class : method->owner);

	if (!*path)
		return name;
	len = snprintf(text, sizeof(text), "%s%c%s", path, own ? '.' : '#', name);
	return managed_names_keep(methods->strings.names, text, MIN((size_t)len, sizeof(text) - 1));
}

/* ---- entries --------------------------------------------------------------------------------------- */

/* The method entry that @value is, or that it keeps beside special variables. */
static bool is_entry(struct managed_view *view, uint64_t value, struct ruby_method *ret)
{
	uint64_t flags = ruby_flags(view, value, RUBY_TYPE_IMEMO), words[ENTRY_LEN / 8];

	if ((flags >> RUBY_FLAGS_SHIFT & IMEMO_BITS) == IMEMO_SVAR && flags) {
		if (!managed_view_try(view, value + 8, &value, sizeof(value)))
			return false;
		flags = ruby_flags(view, value, RUBY_TYPE_IMEMO);
	}
	if (!flags || (flags >> RUBY_FLAGS_SHIFT & IMEMO_BITS) != IMEMO_ENTRY ||
	    !managed_view_try(view, value, words, sizeof(words)))
		return false;
	*ret = (struct ruby_method){ .entry = value,
				     .definition = words[ENTRY_DEFINITION / 8],
				     .owner = words[ENTRY_OWNER / 8] };
	return true;
}

bool ruby_method_find(struct managed_view *view, uint64_t ep, struct ruby_method *ret)
{
	uint64_t words[EP_WORDS];

	for (unsigned i = 0; i < LEVELS_MAX; i++) {
		if (!ep || ep & 7 || !managed_view_try(view, ep - 16, words, sizeof(words)))
			return false;
		if (is_entry(view, words[0], ret))
			return true;
		if (words[2] & EP_LOCAL)
			return false;
		ep = words[1] & ~(uint64_t)3;
	}
	return false;
}
