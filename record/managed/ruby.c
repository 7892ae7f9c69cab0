/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ruby.c - Ruby 2.5 to 3.4 (CRuby), interpreted or with YJIT, whose code keeps the same frames.
 *
 *	ruby_single_main_ractor ─► ractor ─► running execution context ─► control frames, one block, innermost first
 *	ruby_current_execution_context_ptr (before 3.0) ─────────┘              each with its iseq and pc
 *
 * Where a stripped library has no symbol for the first, it is searched for (managed_root.h).
 *
 * The running context is that of the thread that has the lock of the interpreter, or had it last; the others, which wait, are
 * in a list with it. Frames of methods in C have a name and no line (ruby_method.h).
 *
 * With several ractors the first variable is empty, and the virtual machine lists them:
 *
 *	ruby_current_vm_ptr ─► self | first link, last link | counts | main ractor | …
 *	                              └─► a link in each ractor, the main one's first
 *
 * Which is that of the sampled thread, its running context says; a ractor without one, whose threads all wait, is not read.
 */
#include "record/managed/managed.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/managed/managed_root.h"
#include "record/managed/pthread_tid.h"
#include "record/managed/ruby_gc.h"
#include "record/managed/ruby_method.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISEQS_MAX   65536	 /* that are remembered */
#define LINES_MAX   4096	 /* of one of them */
#define ENTRIES_MAX (1u << 20)	 /* of a table of lines */
#define STACK_MAX   (64ull << 20) /* bytes of a thread's stack of values and frames */
#define CHECK_NS    50000000	 /* after which an iseq is looked at again though nothing has changed */
#define THREADS_MAX 4096	 /* of a ractor */
#define SEARCHES_MAX 64		 /* for where a thread keeps its number */
#define RACTORS_MAX 64		 /* that are looked at for one sample */
#define RACTOR_LEN_MAX 4096

enum symbol {
	SYMBOL_VERSION, /* the text "3.1.7" */
	SYMBOL_RACTOR,	/* 3.0 and on */
	SYMBOL_CONTEXT, /* before */
	SYMBOL_SYMBOLS, /* the table of names */
	SYMBOL_GC,	/* a function (ruby_gc.h) */
	SYMBOL_VM,	/* 3.0 and on */
};

static const char *const symbols[] = { "ruby_version", "ruby_single_main_ractor",
				       "ruby_current_execution_context_ptr", "ruby_global_symbols", "rb_during_gc",
				       "ruby_current_vm_ptr", NULL };
static const char *const loops[] = { "rb_vm_exec", "vm_exec", NULL };

/* The same in all versions. */
#define CONTEXT_STACK	  0
#define CONTEXT_STACK_LEN 8 /* in words */
#define CONTEXT_FRAME	  16
#define FRAME_PC	  0
#define FRAME_ISEQ	  16
#define FRAME_SELF	  24
#define FRAME_EP	  32
#define FRAME_LEN_MAX	  64
#define ISEQ_BODY	  16
#define BODY_CODE	  8
#define BODY_PATH	  64
#define BODY_METHOD	  72
#define BODY_LABEL	  80
#define BODY_FIRST_LINE	  88
#define BODY_BYTES	  208 /* that are read: to the last field below */
#define EP_FINISH	  0x20 /* in its first word: a call of the loop began with this frame */
#define EP_KIND		  0x7fff0001
#define EP_KIND_C	  0x55550001

/* From this version on. */
struct ruby_layout {
	unsigned version; /* 301 for 3.1 */
	uint16_t running, running_aarch64; /* in a ractor: the execution context */
	uint8_t frame_len;
	uint8_t text; /* in a string, if it is there; from 24 on, its length is at 16 */
	uint8_t lines, nlines, index; /* in an iseq's body: entries, their number, the index of their places */
	uint8_t entry_len, entry_line;
	bool first_line_value; /* is a Ruby integer */
};

static const struct ruby_layout layouts[] = {
	{ 205, 0, 0, 48, 16, 112, 200, 0, 12, 4, true },
	{ 206, 0, 0, 56, 16, 120, 136, 144, 8, 0, true },
	{ 300, 0x208, 0x218, 56, 16, 120, 136, 144, 8, 0, true },
	{ 301, 0x208, 0x218, 64, 16, 120, 136, 144, 12, 0, true },
	{ 302, 0x208, 0x218, 64, 24, 112, 128, 136, 12, 0, false },
	{ 303, 0x180, 0x190, 56, 24, 112, 128, 136, 12, 0, false },
};

#define FIRST_UNKNOWN 305

/* The code of a method, block or file. */
struct iseq {
	uint64_t body;
	uint64_t cookie; /* of what its fields held */
	uint64_t code, code_len;
	uint64_t checked_ns;
	const char *name, *file;
	bool early; /* its name was read before names of classes could be */
	uint32_t first_line;
	uint32_t nlines;
	uint64_t entries, index; /* addresses */
	struct map lines;	 /* place in the code -> line */
};

/* A method that is written in C. */
struct native {
	uint64_t cookie;
	const char *name;
};

/* From an execution context to its thread's number in the kernel: offsets; 0 while they are not known. */
struct thread_path {
	uint16_t thread, native; /* in the context and in what that points to */
	bool has_native;	 /* the latter is a structure of Ruby's (3.2 and on), in which the pthread_t is */
	uint16_t pthread, tid;
};

struct ruby {
	struct managed_host host;
	struct ruby_layout layout;
	uint64_t root_addr; /* 0: not found yet, and it has no symbol */
	uint64_t vm_addr;   /* 0: it has no symbol */
	struct managed_root root;
	uint16_t running; /* 0: the root is the execution context itself */
	struct thread_path path;
	unsigned searches;
	struct ruby_methods methods;
	struct ruby_gc gc;
	struct map iseqs;   /* address -> struct iseq * */
	struct map natives; /* methods in C: address of the entry -> struct native * */
	uint64_t now_ns;
};

static bool is_file(const char *name)
{
	return strncmp(name, "ruby", 4) == 0 || strncmp(name, "libruby", 7) == 0;
}

static unsigned version_of(const struct managed_binary *binary)
{
	unsigned major, minor;
	char text[9] = { 0 };

	memcpy(text, &binary->symbols[SYMBOL_VERSION].word, 8);
	return sscanf(text, "%1u.%2u", &major, &minor) == 2 ? major * 100 + minor : 0;
}

static void *ruby_open(const struct managed_host *host, const char **ret_why)
{
	unsigned version = version_of(host->binary);
	const struct managed_symbol *root =
		&host->binary->symbols[version < 300 ? SYMBOL_CONTEXT : SYMBOL_RACTOR];

	if (version < layouts[0].version || version >= FIRST_UNKNOWN)
		*ret_why = "the version of Ruby is not known; 2.5 to 3.4 are";
	else if (!root->found && !host->binary->zeroed_len)
		*ret_why = "its symbols do not say where Ruby keeps its state";
	if (*ret_why)
		return NULL;

	struct ruby *ruby = memory_zeroed(1, sizeof(*ruby));

	ruby->host = *host;
	ruby->root_addr = root->found ? root->vaddr + host->bias : 0;
	managed_root_init(&ruby->root, host);
	for (size_t i = 0; i < ARRAY_LEN(layouts) && layouts[i].version <= version; i++)
		ruby->layout = layouts[i];
	ruby_methods_init(&ruby->methods, host, version,
			  &(struct ruby_strings){ host->names, ruby->layout.text },
			  &host->binary->symbols[SYMBOL_SYMBOLS]);
	const struct managed_symbol *gc = &host->binary->symbols[SYMBOL_GC];

	const struct managed_symbol *vm = &host->binary->symbols[SYMBOL_VM];

	ruby->vm_addr = vm->found ? vm->vaddr + host->bias : 0;
	ruby_gc_init(&ruby->gc, gc->found ? gc->vaddr + host->bias : 0);
	ruby->running = arch_native()->elf_machine == EM_AARCH64 ? ruby->layout.running_aarch64 :
								   ruby->layout.running;
	return ruby;
}

static void iseq_free(struct iseq *iseq)
{
	map_deinit(&iseq->lines);
	free(iseq);
}

static size_t iseq_len(const struct iseq *iseq)
{
	return sizeof(*iseq) + MANAGED_SLOT_LEN + iseq->lines.cap * sizeof(struct map_slot);
}

static void forget_iseq(struct ruby *ruby, struct iseq *iseq)
{
	managed_names_give(ruby->host.names, iseq_len(iseq));
	iseq_free(iseq);
}

static void forget_iseqs(struct ruby *ruby)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&ruby->iseqs, &pos));)
		forget_iseq(ruby, (struct iseq *)(uintptr_t)slot->value);
	map_deinit(&ruby->iseqs);
	ruby->iseqs = (struct map){ 0 };
}

#define NATIVE_LEN (sizeof(struct native) + MANAGED_SLOT_LEN)

static void forget_natives(struct ruby *ruby)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&ruby->natives, &pos));) {
		free((struct native *)(uintptr_t)slot->value);
		managed_names_give(ruby->host.names, NATIVE_LEN);
	}
	map_deinit(&ruby->natives);
	ruby->natives = (struct map){ 0 };
}

static void ruby_close(void *state)
{
	struct ruby *ruby = state;

	forget_natives(ruby);
	forget_iseqs(ruby);
	map_deinit(&ruby->iseqs);
	free(ruby);
}

/* ---- names ----------------------------------------------------------------------------------------- */

/* The file, of a String or of [as it was asked for, where it is]. */
static const char *read_file(struct ruby *ruby, struct managed_view *view, uint64_t value)
{
	const struct ruby_strings *strings = &ruby->methods.strings;

	if (!ruby_flags(view, value, RUBY_TYPE_ARRAY))
		return ruby_text(strings, view, value);
	const char *real = ruby_text(strings, view, ruby_item(view, value, 1));

	return *real ? real : ruby_text(strings, view, ruby_item(view, value, 0));
}

static uint64_t cookie_of(const uint8_t *body)
{
	return map_hash(managed_word(body, BODY_CODE) ^
			map_hash(managed_word(body, BODY_PATH) ^ map_hash(managed_word(body, BODY_LABEL))));
}

/*
 * The name of the iseq with body @bytes, which @frame runs: the method's in it with its class, as "block in Job#run". What is
 * called "<main>" or "<class:Job>" is no method.
 */
static const char *read_label(struct ruby *ruby, struct managed_view *view, const uint8_t *bytes, const uint8_t *frame)
{
	const struct ruby_strings *strings = &ruby->methods.strings;
	const char *label = ruby_text(strings, view, managed_word(bytes, BODY_LABEL));
	const char *name = ruby_text(strings, view, managed_word(bytes, BODY_METHOD));
	size_t len = strlen(label), part = strlen(name);
	char text[3 * RUBY_TEXT_MAX];
	struct ruby_method method;

	if (!part || (*name == '<' && isalpha((unsigned char)name[1])) || part > len || strcmp(label + len - part, name) != 0 ||
	    !ruby_method_find(view, managed_word(frame, FRAME_EP), &method))
		return label;
	name = ruby_method_label(&ruby->methods, view, &method, managed_word(frame, FRAME_SELF), name);
	int put = snprintf(text, sizeof(text), "%.*s%s", (int)(len - part), label, name);

	return managed_names_keep(ruby->host.names, text, MIN((size_t)put, sizeof(text) - 1));
}

/* What the iseq with body @bytes, which @frame runs, holds; NULL if the view failed. */
static struct iseq *read_iseq(struct ruby *ruby, struct managed_view *view, uint64_t body,
			      const uint8_t *bytes, const uint8_t *frame)
{
	const struct ruby_layout *l = &ruby->layout;
	struct iseq *iseq = memory_zeroed(1, sizeof(*iseq));
	uint64_t first = managed_word(bytes, BODY_FIRST_LINE);

	iseq->body = body;
	iseq->cookie = cookie_of(bytes);
	iseq->code = managed_word(bytes, BODY_CODE);
	iseq->code_len = (managed_word(bytes, 0) >> 32) * 8; /* a kind, and the number of words */
	iseq->first_line = (uint32_t)(l->first_line_value ? first >> 1 : first);
	iseq->entries = managed_word(bytes, l->lines);
	iseq->index = l->index ? managed_word(bytes, l->index) : 0;
	iseq->nlines = (uint32_t)managed_word(bytes, l->nlines);
	iseq->name = read_label(ruby, view, bytes, frame);
	iseq->file = read_file(ruby, view, managed_word(bytes, BODY_PATH));
	if (!*iseq->name || !*iseq->file)
		iseq->cookie = ~iseq->cookie;
	iseq->early = ruby_methods_searching(&ruby->methods);
	if (!view->failed)
		return iseq;
	iseq_free(iseq);
	return NULL;
}

/* The iseq that @frame runs; NULL if the view failed. */
static struct iseq *find_iseq(struct ruby *ruby, struct managed_view *view, const uint8_t *frame)
{
	uint64_t pc = managed_word(frame, FRAME_PC), addr = managed_word(frame, FRAME_ISEQ);
	const uint64_t *slot = map_get(&ruby->iseqs, addr);
	struct iseq *iseq = slot ? (struct iseq *)(uintptr_t)*slot : NULL;
	uint8_t bytes[BODY_BYTES];

	if (iseq && !iseq->early && pc - iseq->code <= iseq->code_len && ruby->now_ns - iseq->checked_ns < CHECK_NS)
		return iseq;
	uint64_t body = managed_view_u64(view, addr + ISEQ_BODY);

	if (!managed_view_copy(view, body, bytes, sizeof(bytes)))
		return NULL;
	if (iseq && (iseq->early || iseq->body != body || iseq->cookie != cookie_of(bytes))) {
		map_remove(&ruby->iseqs, addr);
		forget_iseq(ruby, iseq);
		iseq = NULL;
	}
	if (!iseq) {
		if (ruby->iseqs.len >= ISEQS_MAX || managed_names_full(ruby->host.names))
			forget_iseqs(ruby);
		iseq = read_iseq(ruby, view, body, bytes, frame);
		if (!iseq)
			return NULL;
		*map_put(&ruby->iseqs, addr, NULL) = (uintptr_t)iseq;
		managed_names_take(ruby->host.names, iseq_len(iseq));
	}
	iseq->checked_ns = ruby->now_ns;
	return iseq;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

#define IMMEDIATE_PLACES 54 /* at the beginning of the index: 6 words of 9 places, 7 bits each */
#define BLOCK_PLACES	 512
#define BLOCK_LEN	 80 /* a rank, ranks within, 8 words of bits */
#define BLOCKS		 48

/* How many entries begin at or before @place, by the index (succ_index_lookup() in Ruby's iseq.c); 0 if it cannot be read. */
static uint32_t rank_of(struct managed_view *view, uint64_t index, uint64_t place)
{
	uint8_t block[BLOCK_LEN];
	uint64_t word;

	if (place < IMMEDIATE_PLACES) {
		if (!managed_view_try(view, index + place / 9 * 8, &word, sizeof(word)))
			return 0;
		return (uint32_t)(word >> place % 9 * 7 & 0x7f);
	}
	place -= IMMEDIATE_PLACES;
	if (!managed_view_try(view, index + BLOCKS + place / BLOCK_PLACES * BLOCK_LEN, block, sizeof(block)))
		return 0;
	uint64_t bit = place % BLOCK_PLACES, small = bit / 64;
	/* Nine bits for each but the first of the eight words. */
	uint64_t within = small ? managed_word(block, 8) >> (small - 1) * 9 & 0x1ff : 0;

	word = managed_word(block, 16 + small * 8) << (63 - bit % 64);
	return (uint32_t)(managed_word(block, 0) & UINT32_MAX) + (uint32_t)within +
	       (uint32_t)__builtin_popcountll(word);
}

/* Before 2.6: each entry says where it begins. */
static uint32_t rank_by_search(struct managed_view *view, const struct ruby_layout *l,
			       const struct iseq *iseq, uint64_t place)
{
	uint32_t low = 0, high = iseq->nlines;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, begin;

		if (!managed_view_try(view, iseq->entries + (uint64_t)middle * l->entry_len, &begin,
				      sizeof(begin)))
			return 0;
		if (begin <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t read_line(struct ruby *ruby, struct managed_view *view, const struct iseq *iseq,
			  uint64_t place)
{
	const struct ruby_layout *l = &ruby->layout;
	uint32_t rank = 1, line;

	if (!iseq->nlines || iseq->nlines > ENTRIES_MAX)
		return 0;
	/* A single entry has no index. */
	if (iseq->nlines > 1)
		rank = l->index ? rank_of(view, iseq->index, place) :
				  rank_by_search(view, l, iseq, place);
	if (!rank || rank > iseq->nlines ||
	    !managed_view_try(view, iseq->entries + (uint64_t)(rank - 1) * l->entry_len + l->entry_line,
			      &line, sizeof(line)))
		return 0;
	return line;
}

static uint32_t line_of(struct ruby *ruby, struct managed_view *view, struct iseq *iseq, uint64_t pc)
{
	uint64_t place = (pc - iseq->code) / 8;
	bool fresh;

	if (pc - iseq->code > iseq->code_len)
		return 0;
	/* It points behind the instruction that runs. */
	place -= place > 0;
	if (iseq->lines.len >= LINES_MAX)
		map_clear(&iseq->lines);
	size_t before = iseq_len(iseq);
	uint64_t *line = map_put(&iseq->lines, place, &fresh);

	managed_names_take(ruby->host.names, iseq_len(iseq) - before);

	if (!*line)
		*line = read_line(ruby, view, iseq, place);
	return (uint32_t)*line;
}

/* ---- threads --------------------------------------------------------------------------------------- */

#define CONTEXT_POINTERS 24 /* from here to 72 an execution context has, among others, its thread */
#define THREAD_WORDS	 64 /* of a thread in which its pthread_t is */
#define LINK_WORDS	 2  /* of it, the first: the list's next and previous one */
#define PTHREAD_ALIGN	 64
#define NATIVE_WORDS	 4  /* of Ruby's structure of a native thread among which its pthread_t is */

/* A pthread_t that is @value, or one of the first words of Ruby's structure of a native thread there; the path behind its thread. */
static bool is_native(struct managed_view *view, uint64_t value, uint32_t tid, struct thread_path *path)
{
	uint64_t words[NATIVE_WORDS];

	path->tid = value % PTHREAD_ALIGN ? 0 : pthread_tid_find(view, value, tid);
	path->has_native = !path->tid;
	if (path->tid || value % 8 || !managed_view_try(view, value, words, sizeof(words)))
		return path->tid;
	for (uint16_t i = 0; i < NATIVE_WORDS && !path->tid; i++) {
		path->pthread = i * 8;
		if (words[i] > UINT32_MAX && words[i] % PTHREAD_ALIGN == 0)
			path->tid = pthread_tid_find(view, words[i], tid);
	}
	return path->tid;
}

/* Is what begins with @words at @thread in a list of threads, and has it @context? No piece of a stack and no other structure is and has. */
static bool is_thread(struct managed_view *view, uint64_t thread, const uint64_t words[THREAD_WORDS], uint64_t context)
{
	uint64_t back, forth;
	size_t at = LINK_WORDS;

	while (at < THREAD_WORDS && words[at] != context)
		at++;
	return at < THREAD_WORDS && managed_view_try(view, words[0] + 8, &back, sizeof(back)) && back == thread &&
	       managed_view_try(view, words[1], &forth, sizeof(forth)) && forth == thread;
}

/* @thread_offset: of a pointer in the context that may be to its thread. */
static bool search_pthread(struct ruby *ruby, struct managed_view *view, uint64_t context, uint16_t thread_offset, uint32_t tid)
{
	uint64_t words[THREAD_WORDS], thread = managed_view_u64(view, context + thread_offset);

	if (!thread || thread & 7 || !managed_view_try(view, thread, words, sizeof(words)) || !is_thread(view, thread, words, context))
		return false;
	for (uint16_t i = LINK_WORDS; i < THREAD_WORDS; i++) {
		struct thread_path path = { .thread = thread_offset, .native = (uint16_t)(i * 8) };

		if (words[i] <= UINT32_MAX || !is_native(view, words[i], tid, &path))
			continue;
		ruby->path = path;
		return true;
	}
	return false;
}

/* Does the number of the thread at @thread read @tid? */
static bool thread_is(const struct ruby *ruby, struct managed_view *view, uint64_t thread, uint32_t tid)
{
	const struct thread_path *path = &ruby->path;
	uint64_t at;
	uint32_t found;

	return managed_view_try(view, thread + path->native, &at, sizeof(at)) &&
	       (!path->has_native || managed_view_try(view, at + path->pthread, &at, sizeof(at))) &&
	       managed_view_try(view, at + path->tid, &found, sizeof(found)) && found == tid;
}

/*
 * Does the context belong to thread @tid? Where that stands in it differs from version to version and build to build, so
 * it is searched for until it was found once.
 */
static bool is_of(struct ruby *ruby, struct managed_view *view, uint64_t context, uint32_t tid)
{
	const struct thread_path *path = &ruby->path;

	if (path->thread)
		return thread_is(ruby, view, managed_view_u64(view, context + path->thread), tid);
	if (ruby->searches++ >= SEARCHES_MAX)
		return false;
	for (uint16_t at = CONTEXT_POINTERS; at < CONTEXT_POINTERS + 48; at += 8) {
		if (search_pthread(ruby, view, context, at, tid))
			return true;
	}
	return false;
}

/*
 * The context of thread @tid, which does not run. Threads are a list through their first field, whose head is in the ractor
 * and no thread; @context is that of one of them. Where a thread has its context is seen in that one. 0 if it is not there.
 */
static uint64_t find_context(struct ruby *ruby, struct managed_view *view, uint64_t context, uint32_t tid)
{
	const struct thread_path *path = &ruby->path;
	uint64_t words[THREAD_WORDS], first = managed_view_u64(view, context + path->thread);
	uint64_t thread = first;
	size_t at = LINK_WORDS;

	if (!path->thread || !managed_view_try(view, first, words, sizeof(words)))
		return 0;
	while (at < THREAD_WORDS && words[at] != context)
		at++;
	for (unsigned i = 0; at < THREAD_WORDS && i < THREADS_MAX && !view->failed; i++) {
		if (!managed_view_try(view, thread, &thread, sizeof(thread)) || !thread || thread & 7 ||
		    thread == first)
			return 0;
		if (thread_is(ruby, view, thread, tid))
			return managed_view_u64(view, thread + at * 8);
	}
	return 0;
}

/* The virtual machine's words from its address on. */
enum vm_word {
	VM_SELF,
	VM_FIRST, /* link to the first ractor */
	VM_LAST,
	VM_COUNTS,
	VM_MAIN,
	VM_WORDS,
};

/* Likewise, where there are several ractors; *@ret_running: it is the running one of its ractor. */
static uint64_t find_in_ractors(struct ruby *ruby, struct managed_view *view, uint32_t tid, bool *ret_running)
{
	uint64_t words[VM_WORDS], vm, context;

	if (!ruby->vm_addr || !ruby->running || !managed_view_try(view, ruby->vm_addr, &vm, sizeof(vm)) || !vm ||
	    !managed_view_try(view, vm, words, sizeof(words)))
		return 0;
	uint64_t link = words[VM_FIRST], to_link = link - words[VM_MAIN];

	if (to_link >= RACTOR_LEN_MAX)
		return 0;
	for (unsigned i = 0; i < RACTORS_MAX && link != vm + VM_FIRST * sizeof(vm) && !view->failed; i++) {
		if (managed_view_try(view, link - to_link + ruby->running, &context, sizeof(context)) && context) {
			*ret_running = is_of(ruby, view, context, tid);
			context = *ret_running ? context : find_context(ruby, view, context, tid);
			if (context)
				return context;
		}
		if (!managed_view_try(view, link, &link, sizeof(link)))
			return 0;
	}
	return 0;
}

/* ---- frames ---------------------------------------------------------------------------------------- */

/* The name of the method in C with the entry @method; "" if it has none. It is the same for whoever inherits it. */
static const char *name_native(struct ruby *ruby, struct managed_view *view, const struct ruby_method *method,
			       uint64_t self)
{
	uint64_t cookie = map_hash(method->definition ^ map_hash(method->owner));

	if (ruby->natives.len >= ISEQS_MAX || (managed_names_full(ruby->host.names) && ruby->natives.len))
		forget_natives(ruby);
	uint64_t *slot = map_put(&ruby->natives, method->entry, NULL);

	if (!*slot) {
		*slot = (uintptr_t)memory_zeroed(1, sizeof(struct native));
		managed_names_take(ruby->host.names, NATIVE_LEN);
	}
	struct native *native = (struct native *)(uintptr_t)*slot;

	if (native->cookie == cookie && *native->name)
		return native->name;
	native->cookie = cookie;
	native->name = ruby_method_name(&ruby->methods, view, method);
	if (*native->name)
		native->name = ruby_method_label(&ruby->methods, view, method, self, native->name);
	return native->name;
}

/* The method in C that a frame without code runs; there are others, of which nothing is said. */
static void take_native(struct ruby *ruby, struct managed_view *view, const uint8_t *frame, struct managed_stack *ret)
{
	uint64_t ep = managed_word(frame, FRAME_EP);
	struct ruby_method method;

	if ((managed_view_u64(view, ep) & EP_KIND) != EP_KIND_C || !ruby_method_find(view, ep, &method))
		return;
	const char *name = name_native(ruby, view, &method, managed_word(frame, FRAME_SELF));

	if (*name)
		ret->frames[ret->nframes++] = (struct event_managed_frame){ .name = name, .file = "[internal]" };
}

static void take_frame(struct ruby *ruby, struct managed_view *view, const uint8_t *frame,
		       struct managed_stack *ret)
{
	uint64_t pc = managed_word(frame, FRAME_PC);

	if (!pc || !managed_word(frame, FRAME_ISEQ)) {
		take_native(ruby, view, frame, ret);
		return;
	}
	struct iseq *iseq = find_iseq(ruby, view, frame);

	if (!iseq)
		return;
	ret->frames[ret->nframes++] = (struct event_managed_frame){
		.name = iseq->name,
		.file = iseq->file,
		.first_line = iseq->first_line,
		.line = line_of(ruby, view, iseq, pc),
		.entry = managed_view_u64(view, managed_word(frame, FRAME_EP)) & EP_FINISH,
	};
}

/* The control frames grow down from the end of the thread's stack; the first of all is a dummy that Ruby leaves out, too. */
static void read_frames(struct ruby *ruby, struct managed_view *view, uint64_t context,
			struct managed_stack *ret)
{
	uint64_t stack = managed_view_u64(view, context + CONTEXT_STACK);
	uint64_t len = managed_view_u64(view, context + CONTEXT_STACK_LEN);
	uint64_t frame = managed_view_u64(view, context + CONTEXT_FRAME);
	uint8_t bytes[FRAME_LEN_MAX];

	if (len > STACK_MAX / 8 || frame < stack || frame - stack > len * 8)
		view->failed = true;
	for (; !view->failed && stack + len * 8 - frame >= 2u * ruby->layout.frame_len;
	     frame += ruby->layout.frame_len) {
		if (ret->nframes == EVENT_MANAGED_FRAMES_MAX) {
			ret->state = EVENT_MANAGED_CUT;
			return;
		}
		if (managed_view_copy(view, frame, bytes, ruby->layout.frame_len))
			take_frame(ruby, view, bytes, ret);
	}
}

/* Looking at one that is searched for: it leads to a context with a stack in which its innermost frame lies. */
struct candidate {
	struct ruby *ruby;
	uint32_t tid;
};

static bool is_root(void *context, struct managed_view *view, uint64_t addr, uint64_t value)
{
	const struct candidate *c = context;
	uint64_t words[3], running = value;

	(void)addr;
	if (c->ruby->running && !managed_view_try(view, value + c->ruby->running, &running, sizeof(running)))
		return false;
	if (!running || running & 7 || !managed_view_try(view, running, words, sizeof(words)))
		return false;

	uint64_t stack = words[CONTEXT_STACK / 8], len = words[CONTEXT_STACK_LEN / 8];
	uint64_t frame = words[CONTEXT_FRAME / 8];

	return stack && !(stack & 7) && len && len <= STACK_MAX / 8 && frame - stack < len * 8 &&
	       is_of(c->ruby, view, running, c->tid);
}

static uint64_t search_root(struct ruby *ruby, struct managed_view *view, uint32_t tid)
{
	struct candidate candidate = { ruby, tid };

	return managed_root_search(&ruby->root, view, is_root, &candidate);
}

static void ruby_read(void *state, const struct managed_thread *thread, struct managed_view *view, struct managed_stack *ret)
{
	struct ruby *ruby = state;
	uint32_t tid = thread->tid;

	ret->nframes = ret->nlabels = 0;
	ret->state = EVENT_MANAGED_FAILED;
	if (!ruby->root_addr)
		ruby->root_addr = search_root(ruby, view, tid);
	if (!ruby->root_addr)
		return;
	uint64_t context = managed_view_u64(view, ruby->root_addr);

	ret->state = EVENT_MANAGED_WHOLE;
	ruby->now_ns = clock_now_ns(CLOCK_MONOTONIC_COARSE);
	if (context && ruby->running)
		context = managed_view_u64(view, context + ruby->running);
	/* Those that wait for the lock do not collect. */
	bool running = context && is_of(ruby, view, context, tid);

	if (!context)
		context = find_in_ractors(ruby, view, tid, &running);
	else if (!running)
		context = find_context(ruby, view, context, tid);
	if (context)
		read_frames(ruby, view, context, ret);
	if (view->failed) {
		ret->state = EVENT_MANAGED_FAILED;
		ret->nframes = 0;
	} else if (!ret->nframes) {
		ret->state = EVENT_MANAGED_NO_FRAMES;
	} else if (running && ruby_gc_runs(&ruby->gc, view)) {
		ret->labels[ret->nlabels++] = (struct event_managed_label){ .key = "gc", .text = "collecting" };
	}
}

const struct managed_runtime managed_ruby = {
	.id = EVENT_MANAGED_RUBY,
	.symbols = symbols,
	.loops = loops,
	.is_file = is_file,
	.open = ruby_open,
	.close = ruby_close,
	.read = ruby_read,
};
