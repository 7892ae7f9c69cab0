/* SPDX-License-Identifier: Apache-2.0 */
/*
 * php.c - PHP 7.0 to 8.5: the programs php and php-fpm, and libphp in a web server.
 *
 *	executor_globals.current_execute_data ─► execute_data ─► previous ─► …, each with its function and opline
 */
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/managed/managed_root.h"
#include "record/managed/pthread_tid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where the variables of the PHP that a thread runs are.
 *
 * Builds without thread safety (NTS) have them once, for the main thread. Those with it (ZTS, from 7.4 on) have them once
 * for each thread, in a block behind an entry of the table tsrm_tls_table:
 *
 *	tsrm_tls_table ─► entry of a thread (its pthread_t, the next entry) | executor_globals | sapi_globals | …
 *
 * Not thread-safe.
 *
 * Of PHP with thread safety, TSRM/TSRM.c: a table of lists of entries, by pthread_t modulo its length; behind each entry
 * the thread's globals, each at an offset that a variable of the program has.
 */

/* Addresses in the process; 0: not known. */
struct php_globals {
	uint64_t executor, request, memory;
};

/* Holds memory: php_places_deinit(). */
struct php_places {
	struct php_globals fixed; /* NTS */
	uint32_t pid;		  /* NTS: the thread that they are those of */
	bool zts;
	uint64_t bias;
	uint64_t table_addr, count_addr; /* of the variables; 0: no symbol. The first is searched for */
	uint64_t offset_addrs[3];	 /* of the variables that have the offsets of struct php_globals in a block; 0 if there is none */
	struct managed_root root;
	uint16_t pthread_tid; /* where a pthread_t has the number of its thread; 0: not known yet */
	struct map entries;   /* tid -> address of its entry */
};

#define ENTRY_LEN    32
#define ENTRY_THREAD 16
#define ENTRY_NEXT   24
#define SLOTS_MAX    1024  /* of a table */
#define SLOTS_UNKNOWN 128  /* of one whose length is not known */
#define THREADS_MAX  4096
#define OFFSET_MAX   (64u << 10) /* a block has some kilobytes */

enum php_symbol {
	SYMBOL_EXECUTOR,
	SYMBOL_REQUEST, /* of the web server's module or FPM: what it answers */
	SYMBOL_MEMORY,	/* as the next but three, known to builds with a table of all symbols only */
	SYMBOL_EXECUTOR_OFFSET,
	SYMBOL_REQUEST_OFFSET,
	SYMBOL_MEMORY_OFFSET,
	SYMBOL_TABLE,
	SYMBOL_TABLE_LEN,
	SYMBOL_ID, /* ZTS of all versions */
};

/* The symbols that managed_php asks for, in the order of enum php_symbol. */
static const char *const php_globals_symbols[] = {
	"executor_globals",	"sapi_globals",	       "alloc_globals",	 "executor_globals_offset", "sapi_globals_offset",
	"alloc_globals_offset", "tsrm_tls_table", "tsrm_tls_table_size", "executor_globals_id",	    NULL,
};

static uint64_t addr_of(const struct managed_host *host, enum php_symbol symbol)
{
	const struct managed_symbol *found = &host->binary->symbols[symbol];

	return found->found ? found->vaddr + host->bias : 0;
}

/* NULL, or why they cannot be found: then there is nothing to release. */
static const char *php_places_init(struct php_places *places, const struct managed_host *host)
{
	*places = (struct php_places){
		.fixed = { addr_of(host, SYMBOL_EXECUTOR), addr_of(host, SYMBOL_REQUEST),
			   addr_of(host, SYMBOL_MEMORY) },
		.pid = host->pid,
		.zts = addr_of(host, SYMBOL_ID),
		.table_addr = addr_of(host, SYMBOL_TABLE),
		.count_addr = addr_of(host, SYMBOL_TABLE_LEN),
		.offset_addrs = { addr_of(host, SYMBOL_EXECUTOR_OFFSET), addr_of(host, SYMBOL_REQUEST_OFFSET),
				  addr_of(host, SYMBOL_MEMORY_OFFSET) },
	};
	managed_root_init(&places->root, host);
	if (places->zts && !places->offset_addrs[0])
		return "PHP with thread safety (ZTS) is read from 7.4 on";
	if (!places->zts && !places->fixed.executor)
		return "its symbols do not say where PHP keeps its state";
	return NULL;
}

static void php_places_deinit(struct php_places *places)
{
	map_deinit(&places->entries);
}

/* ---- entries of threads ---------------------------------------------------------------------------- */

static bool is_aligned(uint64_t value)
{
	return value >= MANAGED_PAGE_LEN && value % 8 == 0;
}

/* Is the entry at @entry that of thread @tid? */
static bool entry_is(struct php_places *places, struct managed_view *view, uint64_t entry, uint32_t tid)
{
	uint64_t pthread;
	uint32_t found;

	if (!managed_view_try(view, entry + ENTRY_THREAD, &pthread, sizeof(pthread)) || !is_aligned(pthread))
		return false;
	if (places->pthread_tid)
		return managed_view_try(view, pthread + places->pthread_tid, &found, sizeof(found)) && found == tid;
	places->pthread_tid = pthread_tid_find(view, pthread, tid);
	return places->pthread_tid;
}

/* The entry of thread @tid in the list from @entry on; 0 if there is none. @steps bounds all lists together. */
static uint64_t search_list(struct php_places *places, struct managed_view *view, uint64_t entry, uint32_t tid,
			    unsigned *steps)
{
	while (is_aligned(entry) && !view->failed && (*steps)-- > 1) {
		if (entry_is(places, view, entry, tid))
			return entry;
		if (!managed_view_try(view, entry + ENTRY_NEXT, &entry, sizeof(entry)))
			return 0;
	}
	return 0;
}

/* Of a table at @table. One without a known length ends where no list can begin: behind it is the size of another block of memory. */
static uint64_t search_table(struct php_places *places, struct managed_view *view, uint64_t table, uint32_t tid)
{
	uint32_t count = SLOTS_UNKNOWN;
	unsigned steps = THREADS_MAX;

	if (places->count_addr)
		managed_view_try(view, places->count_addr, &count, sizeof(count));
	for (uint32_t i = 0; i < MIN(count, (uint32_t)SLOTS_MAX) && !view->failed; i++) {
		uint64_t first, entry;

		if (!managed_view_try(view, table + i * 8ull, &first, sizeof(first)) ||
		    (first && !is_aligned(first)))
			return 0;
		entry = search_list(places, view, first, tid, &steps);
		if (entry)
			return entry;
	}
	return 0;
}

struct candidate {
	struct php_places *places;
	uint32_t tid;
};

/* A table without a symbol: an entry of the sampled thread is in its first slot's list, or further on. */
static bool is_table(void *context, struct managed_view *view, uint64_t addr, uint64_t value)
{
	const struct candidate *c = context;

	(void)addr;
	return search_table(c->places, view, value, c->tid);
}

static uint64_t find_entry(struct php_places *places, struct managed_view *view, uint32_t tid)
{
	const uint64_t *known = map_get(&places->entries, tid);
	struct candidate candidate = { places, tid };
	uint64_t entry, table;

	if (known && entry_is(places, view, *known, tid))
		return *known;
	map_remove(&places->entries, tid);
	if (!places->table_addr)
		places->table_addr = managed_root_search(&places->root, view, is_table, &candidate);
	if (!places->table_addr) {
		view->failed = true;
		return 0;
	}
	table = managed_view_u64(view, places->table_addr);
	entry = table ? search_table(places, view, table, tid) : 0;
	if (entry && places->entries.len < THREADS_MAX)
		*map_put(&places->entries, tid, NULL) = entry;
	return entry;
}

/* The address in the block of @entry that the variable at @offset_addr says; 0 if there is none. */
static uint64_t in_block(struct managed_view *view, uint64_t entry, uint64_t offset_addr)
{
	uint64_t offset = 0;

	if (!offset_addr || !managed_view_try(view, offset_addr, &offset, sizeof(offset)) || offset < ENTRY_LEN ||
	    offset > OFFSET_MAX)
		return 0;
	return entry + offset;
}

/* Those of thread @tid; false if it has none. The view has failed where that is not known. */
static bool php_places_find(struct php_places *places, struct managed_view *view, uint32_t tid, struct php_globals *ret)
{
	*ret = places->fixed;
	if (!places->zts)
		return tid == places->pid;
	uint64_t entry = find_entry(places, view, tid);

	if (!entry)
		return false;
	ret->executor = in_block(view, entry, places->offset_addrs[0]);
	ret->request = in_block(view, entry, places->offset_addrs[1]);
	ret->memory = in_block(view, entry, places->offset_addrs[2]);
	/* A program may have a copy of the variable that counts, which its library's is not. */
	view->failed |= !ret->executor;
	return ret->executor;
}

#define TEXT_MAX      256   /* bytes of a name that are read */
#define FUNCTIONS_MAX 65536 /* that are remembered */

static const char *const loops[] = { "execute_ex", NULL };

/* The same in all versions. */
#define FRAME_OPLINE	  0
#define FRAME_RESULT	  16 /* of a generator's frame: the generator */
#define FRAME_FUNCTION	  24
#define FRAME_THIS	  32
#define FRAME_INFO	  40
#define OPLINE_LINE	  24
#define OPLINE_LEN	  32
#define FUNCTION_TYPE	  0
#define FUNCTION_NAME	  8
#define FUNCTION_CLASS	  16
#define CLASS_NAME	  8
#define STRING_LEN	  16
#define STRING_BYTES	  24

#define REQUEST_CONTEXT	  0 /* in sapi_globals, addresses: of the server's own, */
#define REQUEST_METHOD	  8 /* and of strings */
#define REQUEST_SCRIPT	  40
#define REQUEST_URI	  48
#define REQUEST_LEN	  56
#define FASTCGI_TABLE	  8296 /* in the context */
#define FASTCGI_URI_HASH  1955ull
#define FASTCGI_CHAIN_MAX 8
#define FASTCGI_VALUE	  3 /* words of an entry */
#define FASTCGI_NEXT	  4
#define FASTCGI_ENTRY_WORDS 5
#define HEAP_USED	  16 /* in what alloc_globals points to: bytes that the script has */
#define FRAME_LOCALS	  80
#define VALUE_LEN	  16
#define VALUE_TYPE	  8
#define OBJECT_CLASS	  16
#define REFERENCE_VALUE	  8
#define NAMES_BEFORE_FILE 40 /* in a function: of its variables, so many bytes before the name of its file */

#define GENERATOR_LEN_MAX 1024
#define DELEGATES_MAX	  64

#define TYPE_INTERNAL	  1
#define TYPE_USER	  2
#define TYPE_EVAL	  4

/* From this version on. */
struct php_layout {
	unsigned version; /* 802 for 8.2 */
	uint16_t current, previous, file, first_line;
	uint16_t count, instructions; /* how many instructions a function has, and where they are */
	uint8_t top; /* bit of FRAME_INFO: a call of the loop began with this frame */
};

static const struct php_layout layouts[] = {
	{ 700, 480, 56, 120, 128, 60, 64, 25 }, { 701, 480, 48, 120, 128, 56, 64, 25 },
	{ 703, 488, 48, 128, 136, 60, 64, 17 }, { 704, 488, 48, 136, 144, 60, 64, 17 },
	{ 800, 488, 48, 144, 152, 68, 72, 17 }, { 802, 488, 48, 152, 160, 80, 88, 17 },
	{ 803, 488, 48, 144, 152, 76, 80, 17 }, { 804, 488, 48, 168, 176, 96, 104, 17 },
	{ 805, 512, 48, 168, 176, 96, 104, 17 },
};

#define FIRST_UNKNOWN 806
#define LOCALS_MAX    32   /* variables of a frame that are looked at */
#define LOCALS_TEXT   1024

struct function {
	uint64_t cookie;
	const char *name, *file;
	uint32_t first_line, last_line;
};

#define FUNCTION_LEN (sizeof(struct function) + MANAGED_SLOT_LEN)

struct php {
	struct managed_host host;
	struct php_layout layout;
	struct php_places places;
	struct map functions; /* address -> struct function * */
	uint64_t sampled_frame, sampled_opline; /* those of the sample, if its registers have them and the frame is the innermost; else 0 */
};

/*
 * Registers, by DWARF number, in which the loop keeps a frame and its instruction (Zend/zend_vm_gen.php): in global ones, or, from 8.5
 * on built by clang, in the first two arguments of functions that preserve none. Other builds write each instruction to the frame.
 */
#if defined(__x86_64__)
static const uint8_t position_regs[][2] = { { 14, 15 }, { 12, 13 } };
#elif defined(__aarch64__)
static const uint8_t position_regs[][2] = { { 27, 28 }, { 20, 21 } };
#endif

static bool is_file(const char *name)
{
	return strncmp(name, "php", 3) == 0 || strncmp(name, "libphp", 6) == 0 ||
	       strncmp(name, "frankenphp", 10) == 0;
}

static unsigned version_of(const struct managed_binary *binary)
{
	unsigned major, minor;

	if (sscanf(binary->banner, "%1u.%2u", &major, &minor) != 2)
		return 0;
	return major * 100 + minor;
}

static void *php_open(const struct managed_host *host, const char **ret_why)
{
	unsigned version = version_of(host->binary);
	struct php_places places;

	*ret_why = php_places_init(&places, host);
	if (!*ret_why && (version < layouts[0].version || version >= FIRST_UNKNOWN))
		*ret_why = "the version of PHP is not known; 7.0 to 8.5 are";
	if (*ret_why)
		return NULL;

	struct php *php = memory_zeroed(1, sizeof(*php));

	php->host = *host;
	for (size_t i = 0; i < ARRAY_LEN(layouts) && layouts[i].version <= version; i++)
		php->layout = layouts[i];
	php->places = places;
	return php;
}

static void forget_functions(struct php *php)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&php->functions, &pos));) {
		free((struct function *)(uintptr_t)slot->value);
		managed_names_give(php->host.names, FUNCTION_LEN);
	}
	map_deinit(&php->functions);
	php->functions = (struct map){ 0 };
}

static void php_close(void *state)
{
	struct php *php = state;

	forget_functions(php);
	map_deinit(&php->functions);
	php_places_deinit(&php->places);
	free(php);
}

/* Append the zend_string at @addr to @text, up to a NUL: an anonymous class's file follows one. False if it cannot be read. */
static bool append_text(struct managed_view *view, uint64_t addr, char *text, size_t *len)
{
	uint64_t count;

	if (!addr || !managed_view_try(view, addr + STRING_LEN, &count, sizeof(count)))
		return false;
	count = MIN(count, (uint64_t)(TEXT_MAX - *len));
	if (!managed_view_try(view, addr + STRING_BYTES, text + *len, (size_t)count))
		return false;
	*len += strnlen(text + *len, (size_t)count);
	return true;
}

/* "Class::method", "function", or "<main>" for the code of a file outside of functions. */
static const char *read_name(struct php *php, struct managed_view *view, uint64_t addr)
{
	uint64_t class = managed_view_u64(view, addr + FUNCTION_CLASS);
	uint64_t name = managed_view_u64(view, addr + FUNCTION_NAME);
	char text[TEXT_MAX];
	size_t len = 0;

	if (!name)
		return "<main>";
	if (class && append_text(view, managed_view_u64(view, class + CLASS_NAME), text, &len) &&
	    len + 2 < TEXT_MAX) {
		memcpy(text + len, "::", 2);
		len += 2;
	}
	return append_text(view, name, text, &len) ? managed_names_keep(php->host.names, text, len) : "";
}

static const char *read_file(struct php *php, struct managed_view *view, uint64_t addr)
{
	char text[TEXT_MAX];
	size_t len = 0;

	if (!append_text(view, managed_view_u64(view, addr + php->layout.file), text, &len))
		return "";
	return managed_names_keep(php->host.names, text, len);
}

static uint64_t cookie_of(struct php *php, struct managed_view *view, uint64_t addr, bool internal)
{
	uint64_t cookie = managed_view_u64(view, addr + FUNCTION_NAME);

	cookie = map_hash(cookie) ^ managed_view_u64(view, addr + FUNCTION_CLASS);
	if (!internal) {
		cookie = map_hash(cookie) ^ managed_view_u64(view, addr + php->layout.file);
		cookie = map_hash(cookie) ^ managed_view_u32(view, addr + php->layout.first_line);
	}
	return map_hash(cookie) ^ internal;
}

/* The function at @addr, read again if it is another than before; NULL if the view failed. */
static const struct function *find_function(struct php *php, struct managed_view *view, uint64_t addr,
					    bool internal)
{
	uint64_t cookie = cookie_of(php, view, addr, internal);

	if (view->failed)
		return NULL;
	if (php->functions.len >= FUNCTIONS_MAX || managed_names_full(php->host.names))
		forget_functions(php);
	uint64_t *slot = map_put(&php->functions, addr, NULL);

	if (!*slot) {
		*slot = (uintptr_t)memory_zeroed(1, sizeof(struct function));
		managed_names_take(php->host.names, FUNCTION_LEN);
	}
	struct function *function = (struct function *)(uintptr_t)*slot;

	if (function->name && *function->name && function->cookie == cookie)
		return function;
	function->cookie = cookie;
	function->name = read_name(php, view, addr);
	function->file = internal ? "[internal]" : read_file(php, view, addr);
	function->first_line =
		internal ? 0 : managed_view_u32(view, addr + php->layout.first_line);
	function->last_line =
		internal ? 0 : managed_view_u32(view, addr + php->layout.first_line + 4);
	return function;
}

/* ---- variables ------------------------------------------------------------------------------------- */

/* What a value is, without looking at it; "" for one that is not set, or makes no sense. @room takes a class's name. */
static const char *type_of(struct managed_view *view, uint64_t value, char room[TEXT_MAX + 1])
{
	static const char *const names[] = { "",       "null",  "bool",   "bool",     "int", "float",
					     "string", "array", "object", "resource", "" };
	uint64_t at, class, name;
	uint8_t type = 0;
	size_t len = 0;

	managed_view_try(view, value + VALUE_TYPE, &type, 1);
	if (type == 10 && managed_view_try(view, value, &at, sizeof(at))) {
		value = at + REFERENCE_VALUE;
		type = 0;
		managed_view_try(view, value + VALUE_TYPE, &type, 1);
	}
	if (type >= ARRAY_LEN(names))
		return "";
	if (type != 8 || !managed_view_try(view, value, &at, sizeof(at)) ||
	    !managed_view_try(view, at + OBJECT_CLASS, &class, sizeof(class)) ||
	    !managed_view_try(view, class + CLASS_NAME, &name, sizeof(name)) ||
	    !append_text(view, name, room, &len))
		return names[type];
	room[len] = '\0';
	return room;
}

/* Number @i of the variables of the function at @addr: its name, as PHP would take it; "" if it is none. */
static void read_variable(struct managed_view *view, uint64_t names, size_t i, char ret[TEXT_MAX + 1])
{
	uint64_t name;
	size_t len = 0;

	if (!managed_view_try(view, names + i * 8, &name, sizeof(name)) || !append_text(view, name, ret, &len))
		len = 0;
	for (size_t at = 0; at < len; at++) {
		uint8_t c = (uint8_t)ret[at] | 0x20;

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && ret[at] != '_' && c < 0x80)
			len = 0;
	}
	ret[len] = '\0';
}

/* "job: Job, n: int": those that have a value, and of what type; never the value. */
static const char *locals_of(struct php *php, struct managed_view *view, uint64_t frame)
{
	uint64_t function, names;
	char name[TEXT_MAX + 1], class[TEXT_MAX + 1], text[LOCALS_TEXT];
	size_t len = 0;

	if (!managed_view_try(view, frame + FRAME_FUNCTION, &function, sizeof(function)) ||
	    !managed_view_try(view, function + php->layout.file - NAMES_BEFORE_FILE, &names, sizeof(names)))
		return "";
	for (size_t i = 0; names && i < LOCALS_MAX; i++) {
		read_variable(view, names, i, name);
		/* How many there are is at another place in each version; what follows them has no name. */
		if (!*name)
			break;
		const char *type = type_of(view, frame + FRAME_LOCALS + i * VALUE_LEN, class);
		int put = *type ? snprintf(text + len, sizeof(text) - len, "%s$%s: %s", len ? ", " : "", name, type) : 0;

		if (put < 0 || (size_t)put >= sizeof(text) - len)
			break;
		len += (size_t)put;
	}
	return managed_names_keep(php->host.names, text, len);
}

/* ---- the request ----------------------------------------------------------------------------------- */

/* The C string at @addr up to a '?', behind which values begin. */
static void add_label(struct php *php, struct managed_view *view, const char *key, uint64_t addr,
		      struct managed_stack *ret)
{
	char text[TEXT_MAX];

	for (size_t room = sizeof(text); addr && room >= 8; room /= 2) {
		/* It may end close before memory that is not there. */
		if (!managed_view_try(view, addr, text, room))
			continue;
		size_t len = strnlen(text, room);
		const char *query = memchr(text, '?', len);

		ret->labels[ret->nlabels++] = (struct event_managed_label){
			.key = key,
			.text = managed_names_keep(php->host.names, text, query ? (size_t)(query - text) : len),
		};
		return;
	}
}

/*
 * What the web server calls the request's URI, which of a program with one script for all is not the script's: main/fastcgi.c keeps its
 * parameters in a table of 128 chains by a number made of some letters of the name. 0 if it is not there.
 */
static uint64_t fastcgi_uri(struct managed_view *view, uint64_t context)
{
	uint64_t bucket = 0, entry[FASTCGI_ENTRY_WORDS];

	if (!context || !managed_view_try(view, context + FASTCGI_TABLE + FASTCGI_URI_HASH % 128 * 8, &bucket, sizeof(bucket)))
		return 0;
	for (unsigned i = 0; bucket && i < FASTCGI_CHAIN_MAX && managed_view_try(view, bucket, entry, sizeof(entry)); i++) {
		/* The number, and how long the name is. */
		if (entry[0] == (FASTCGI_URI_HASH | (sizeof("REQUEST_URI") - 1) << 32))
			return entry[FASTCGI_VALUE];
		bucket = entry[FASTCGI_NEXT];
	}
	return 0;
}

static bool is_fastcgi(const char *name)
{
	return strncmp(name, "php-fpm", 7) == 0 || strncmp(name, "php-cgi", 7) == 0;
}

static void read_request(struct php *php, struct managed_view *view, const struct php_globals *globals,
			 struct managed_stack *ret)
{
	uint8_t request[REQUEST_LEN];
	uint64_t heap, used, uri = 0;

	if (globals->request && managed_view_try(view, globals->request, request, sizeof(request))) {
		add_label(php, view, "method", managed_word(request, REQUEST_METHOD), ret);
		add_label(php, view, "script", managed_word(request, REQUEST_SCRIPT), ret);
		if (is_fastcgi(php->host.binary->name))
			uri = fastcgi_uri(view, managed_word(request, REQUEST_CONTEXT));
		add_label(php, view, "uri", uri ? uri : managed_word(request, REQUEST_URI), ret);
	}
	if (globals->memory && managed_view_try(view, globals->memory, &heap, sizeof(heap)) &&
	    managed_view_try(view, heap + HEAP_USED, &used, sizeof(used)))
		ret->labels[ret->nlabels++] = (struct event_managed_label){ .key = "memory", .number = used };
}

static void find_sampled(struct php *php, const struct event_regs *regs, uint64_t innermost)
{
	php->sampled_frame = php->sampled_opline = 0;
	for (size_t i = 0; regs && innermost && i < ARRAY_LEN(position_regs); i++) {
		uint8_t frame = position_regs[i][0], opline = position_regs[i][1];
		uint64_t both = 1ull << frame | 1ull << opline;

		if ((regs->mask & both) == both && regs->values[frame] == innermost) {
			php->sampled_frame = innermost;
			php->sampled_opline = regs->values[opline];
			return;
		}
	}
}

/* Is @opline one of the instructions of the function at @addr? */
static bool has_instruction(struct php *php, struct managed_view *view, uint64_t addr, uint64_t opline)
{
	uint64_t first;
	uint32_t count;

	return managed_view_try(view, addr + php->layout.instructions, &first, sizeof(first)) &&
	       managed_view_try(view, addr + php->layout.count, &count, sizeof(count)) && opline >= first &&
	       (opline - first) % OPLINE_LEN == 0 && (opline - first) / OPLINE_LEN < count;
}

/*
 * The instruction of the frame @frame of the function at @addr. PHP keeps it in a register, and writes it to the frame before it calls
 * something or may fail: loops without such instructions do neither (opcache makes many). 0 if it is not known.
 */
static uint64_t opline_of(struct php *php, struct managed_view *view, uint64_t frame, uint64_t addr)
{
	uint64_t opline = 0;

	if (frame == php->sampled_frame && has_instruction(php, view, addr, php->sampled_opline))
		return php->sampled_opline;
	managed_view_try(view, frame + FRAME_OPLINE, &opline, sizeof(opline));
	return opline;
}

/* The line of the instruction @opline. In memory a frame that has called nothing has what another left there: 0 if it is not one of the function's. */
static uint32_t line_of(struct managed_view *view, uint64_t opline, const struct function *function)
{
	uint32_t line;

	if (function->first_line == function->last_line)
		return function->first_line;
	if (!managed_view_try(view, opline + OPLINE_LINE, &line, sizeof(line)) || line < function->first_line ||
	    line > function->last_line)
		return 0;
	return line;
}

static void take_frame(struct php *php, struct managed_view *view, uint64_t frame, uint64_t addr, struct managed_stack *ret)
{
	uint8_t type = managed_view_u8(view, addr + FUNCTION_TYPE);
	bool internal = type == TYPE_INTERNAL;

	/* A fiber's first frame, zend_fiber_function. */
	if (internal && !managed_view_u64(view, addr + FUNCTION_NAME))
		return;
	if (!internal && type != TYPE_USER && type != TYPE_EVAL)
		view->failed = true;
	const struct function *function = find_function(php, view, addr, internal);

	if (!function)
		return;
	struct event_managed_frame *out = &ret->frames[ret->nframes++];

	*out = (struct event_managed_frame){ .name = function->name,
					     .file = function->file,
					     .first_line = function->first_line,
					     .locals = php->host.locals && !internal ? locals_of(php, view, frame) :
										       NULL };
	if (internal)
		return;
	out->entry = managed_view_u32(view, frame + FRAME_INFO) >> php->layout.top & 1;
	out->line = line_of(view, opline_of(php, view, frame, addr), function);
}

/* ---- generators ------------------------------------------------------------------------------------ */

/*
 * A generator that delegates (yield from) has no place in the list of frames. There the frame of the one that runs is followed by a
 * placeholder, which lies in the generator that was asked for a value:
 *
 *	asked: its frame | … | parent ─► … ─► runs: its frame | …
 *	                     | placeholder
 *
 * Where the two are depends on the version (zend_generators.h of 7.0 to 8.5: with or without an iterator before the frame; what children
 * there are between parent and placeholder). They are right if that leads to the frame before the placeholder.
 */
static const uint16_t generator_frames[] = { 56, 64 };
static const uint16_t parents_before_placeholder[] = { 32, 40, 88 };

/* The frame of the generator at @addr, 0 if it is none. */
static uint64_t frame_of_generator(struct managed_view *view, uint64_t addr)
{
	uint64_t frame, owner;

	for (size_t i = 0; i < ARRAY_LEN(generator_frames); i++) {
		if (managed_view_try(view, addr + generator_frames[i], &frame, sizeof(frame)) &&
		    managed_view_try(view, frame + FRAME_RESULT, &owner, sizeof(owner)) && owner == addr)
			return frame;
	}
	return 0;
}

/* Frames of generators from the one at @addr to the one that runs @inner, without that; false if it does not lead there. */
static bool follow_parents(struct managed_view *view, uint64_t addr, uint64_t to_parent, uint64_t inner,
			   uint64_t frames[DELEGATES_MAX], size_t *ret_count)
{
	for (size_t n = 0; n < DELEGATES_MAX; n++) {
		uint64_t frame = frame_of_generator(view, addr);

		*ret_count = n;
		if (frame == inner)
			return true;
		frames[n] = frame;
		if (!frame || !managed_view_try(view, addr + to_parent, &addr, sizeof(addr)))
			return false;
	}
	return false;
}

/* What is between the frames @inner and the next one: a placeholder, or a frame that only passes arguments on. */
static void add_delegates(struct php *php, struct managed_view *view, uint64_t placeholder, uint64_t inner, struct managed_stack *ret)
{
	uint64_t asked = managed_view_u64(view, placeholder + FRAME_THIS), frames[DELEGATES_MAX];
	size_t count = 0;
	bool found = false;

	if (view->failed || asked >= placeholder || placeholder - asked >= GENERATOR_LEN_MAX)
		return;
	for (size_t i = 0; i < ARRAY_LEN(parents_before_placeholder) && !found; i++)
		found = follow_parents(view, asked, placeholder - asked - parents_before_placeholder[i], inner, frames, &count);
	if (!found)
		view->failed = true;
	while (found && count && !view->failed && ret->nframes < EVENT_MANAGED_FRAMES_MAX) {
		uint64_t frame = frames[--count];
		size_t before = ret->nframes;

		take_frame(php, view, frame, managed_view_u64(view, frame + FRAME_FUNCTION), ret);
		/* No call of the loop runs it now. */
		for (size_t i = before; i < ret->nframes; i++)
			ret->frames[i].entry = false;
	}
}

static void add_frame(struct php *php, struct managed_view *view, uint64_t frame, uint64_t inner, struct managed_stack *ret)
{
	uint64_t addr = managed_view_u64(view, frame + FRAME_FUNCTION);

	if (addr)
		take_frame(php, view, frame, addr, ret);
	else
		add_delegates(php, view, frame, inner, ret);
}

static void php_read(void *state, const struct managed_thread *thread, struct managed_view *view, struct managed_stack *ret)
{
	struct php *php = state;
	struct php_globals globals;
	uint64_t frame = php_places_find(&php->places, view, thread->tid, &globals) ?
				 managed_view_u64(view, globals.executor + php->layout.current) :
				 0;
	uint64_t inner = 0;

	find_sampled(php, thread->regs, frame);
	ret->nframes = ret->nlabels = 0;
	ret->state = EVENT_MANAGED_WHOLE;
	while (frame && !view->failed) {
		if (ret->nframes == EVENT_MANAGED_FRAMES_MAX) {
			ret->state = EVENT_MANAGED_CUT;
			return;
		}
		add_frame(php, view, frame, inner, ret);
		uint64_t previous = managed_view_u64(view, frame + php->layout.previous);

		if (previous == frame)
			view->failed = true;
		inner = frame;
		frame = previous;
	}
	if (view->failed) {
		ret->state = EVENT_MANAGED_FAILED;
		ret->nframes = 0;
	} else if (!ret->nframes) {
		ret->state = EVENT_MANAGED_NO_FRAMES;
	} else {
		read_request(php, view, &globals, ret);
	}
}

const struct managed_runtime managed_php = {
	.id = EVENT_MANAGED_PHP,
	.symbols = php_globals_symbols,
	.loops = loops,
	.wants_regs = true,
	.banner = "X-Powered-By: PHP/",
	.is_file = is_file,
	.open = php_open,
	.close = php_close,
	.read = php_read,
};
