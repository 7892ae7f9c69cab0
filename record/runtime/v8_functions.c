/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_functions.c - from a function to its name, and from a script's source to its lines.
 *
 *	SharedFunctionInfo ─► name, or ScopeInfo ─► name, inferred name, position
 *	                 └──► Script ─► name, source
 *
 *	ScopeInfo   flags, nparameters, ncontext, [start, end,] context names, context infos, [class variable,] [name, slot,]
 *	            [inferred name,] [start, end]
 *
 * V8 counts the ends of lines itself where it needs them, which most scripts never do: so they are counted here.
 */
#include "record/runtime/v8_functions.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/perf/jitdump.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CONTEXT_MAX	4096 /* variables of a scope */
#define CONTEXT_INLINED 75   /* from so many on their names are in a table */
#define NAME_WORDS	8    /* of a scope, from its name on */
#define POSITION_MAX	(1U << 30)
#define LINE_OFFSET	24 /* of a script: how many lines of its file lie above it */
#define SOURCE_LEN_MAX	(32U << 20)
#define SOURCE_NS	50000000ULL /* for one script */
#define LINES_TRIES	6
#define LINES_NS	50000000ULL /* between the first two, then each time twice as long */
#define PIECE_LEN	(64U << 10)

void v8_functions_deinit(struct v8_functions *fs)
{
	for (size_t i = 0; i < fs->items.len; i++)
		free(fs->items.items[i].label);
	for (size_t i = 0; i < fs->scripts.len; i++) {
		free(fs->scripts.items[i].file);
		vec_deinit(&fs->scripts.items[i].ends);
	}
	vec_deinit(&fs->items);
	vec_deinit(&fs->scripts);
	map_deinit(&fs->by_shared);
	map_deinit(&fs->by_script);
}

size_t v8_functions_held(const struct v8_functions *fs)
{
	return fs->items.cap * (sizeof(*fs->items.items) + V8_NAME_MAX / 16) +
	       fs->scripts.cap * (sizeof(*fs->scripts.items) + V8_NAME_MAX / 8) + fs->nlines * sizeof(uint32_t) +
	       (fs->by_shared.len + fs->by_script.len) * 2 * sizeof(struct map_slot);
}

/* ---- scripts --------------------------------------------------------------------------------------- */

/* "\r\n" is one end. */
static void take_ends(struct v8_script *s, const uint8_t *bytes, size_t count, unsigned width, uint32_t position, uint16_t *last)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t c = 0;

		memcpy(&c, bytes + i * width, width);
		if (c == '\n' && *last == '\r')
			s->ends.items[s->ends.len - 1] = position + (uint32_t)i;
		else if (c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029)
			vec_push(&s->ends, position + (uint32_t)i);
		*last = c;
	}
}

/* The source is long: it is read past the view, a piece at a time, within a limit of its own, and from there on the next time. */
static bool count_lines(struct managed_view *view, const struct v8_flat *flat, struct v8_script *s)
{
	uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + SOURCE_NS;
	uint8_t *bytes = memory_alloc(PIECE_LEN);
	uint32_t most = PIECE_LEN / flat->width;

	if (s->text != flat->addr)
		s->done = s->last = 0;
	s->ends.len = s->done ? s->ends.len : 0;
	s->text = flat->addr;
	while (s->done < flat->len && clock_now_ns(CLOCK_MONOTONIC) < end_ns) {
		uint32_t count = MIN(most, flat->len - s->done);
		struct task_memory_piece piece = { .addr = flat->addr + (uint64_t)s->done * flat->width,
						   .to = bytes,
						   .len = (size_t)count * flat->width };

		view->read(view->context, &piece, 1);
		/* What Node.js has built in is compiled from a cache: nobody has read the text. */
		if (!piece.got && view->read_file)
			view->read_file(view->context, &piece, 1);
		count = (uint32_t)(piece.got / flat->width);
		if (!count)
			break;
		take_ends(s, bytes, count, flat->width, s->done, &s->last);
		s->done += count;
	}
	free(bytes);
	return s->done == flat->len;
}

static void read_lines(struct v8_functions *fs, struct managed_view *view, struct v8_script *s)
{
	struct v8_flat flat;
	bool is_whole;

	if (s->first_line || s->tries >= LINES_TRIES)
		return;
	if (clock_now_ns(CLOCK_MONOTONIC) < s->due_ns) {
		view->missed = true; /* so that this is asked again */
		return;
	}
	s->due_ns = clock_now_ns(CLOCK_MONOTONIC) + (LINES_NS << s->tries++);
	if (fs->nlines >= V8_LINES_MAX || !v8_flat(view, fs->layout, s->source, &flat) ||
	    flat.len > SOURCE_LEN_MAX / flat.width)
		return;
	is_whole = count_lines(view, &flat, s);
	/* It took its own time. */
	managed_view_begin(view, view->read, view->context, view->limit_ns ? view->limit_ns : MANAGED_TIME_NS);
	if (!is_whole) {
		view->missed = true;
		return;
	}
	vec_push(&s->ends, flat.len);
	uint32_t above = v8_small(v8_word(view, s->script, LINE_OFFSET));

	fs->nlines += s->ends.len;
	s->first_line = above < POSITION_MAX ? above + 1 : 1;
}

/* "file:///srv/app.mjs": where it lies. */
static void read_file_name(struct v8_functions *fs, struct managed_view *view, uint64_t script, char ret[V8_NAME_MAX])
{
	static const char scheme[] = "file://";
	uint64_t name = v8_word(view, script, fs->layout->at[V8_SCRIPT_NAME]);
	size_t skip = sizeof(scheme) - 1;

	ret[0] = '\0';
	if (!v8_is_string(view, fs->layout, name))
		return;
	v8_string(view, fs->layout, name, ret, V8_NAME_MAX);
	if (strncmp(ret, scheme, skip) == 0 && ret[skip] == '/')
		memmove(ret, ret + skip, strlen(ret + skip) + 1);
}

/* Scripts are numbered as they are compiled; behind the ends of its lines a script has its number. 0: it is none. */
static uint64_t script_id(const struct v8_functions *fs, struct managed_view *view, uint64_t script)
{
	return v8_type(view, fs->layout, script) == fs->layout->at[V8_TYPE_SCRIPT] ?
		       v8_word(view, script, fs->layout->at[V8_SCRIPT_LINE_ENDS] + 8ULL) :
		       0;
}

static uint32_t get_script(struct v8_functions *fs, struct managed_view *view, uint64_t script)
{
	const uint64_t *slot = map_get(&fs->by_script, script);
	struct v8_script new = { .script = script };
	char file[V8_NAME_MAX];

	if (v8_type(view, fs->layout, script) != fs->layout->at[V8_TYPE_SCRIPT])
		return V8_NO_SCRIPT;
	new.source = v8_word(view, script, fs->layout->at[V8_SCRIPT_SOURCE]);
	new.id = script_id(fs, view, script);
	if (slot && fs->scripts.items[*slot].source == new.source && fs->scripts.items[*slot].id == new.id)
		return (uint32_t)*slot;
	if (fs->scripts.len >= V8_SCRIPTS_MAX)
		return V8_NO_SCRIPT;
	read_file_name(fs, view, script, file);
	if (view->failed)
		return V8_NO_SCRIPT;
	read_lines(fs, view, &new);
	new.file = memory_strdup(file);
	*map_put(&fs->by_script, script, NULL) = fs->scripts.len;
	vec_push(&fs->scripts, new);
	return (uint32_t)fs->scripts.len - 1;
}

static uint32_t line_at(const struct v8_script *s, uint32_t position)
{
	size_t low = 0, high = s->ends.len;

	while (low < high) { /* the first end at @position or behind it */
		size_t middle = low + (high - low) / 2;

		if (s->ends.items[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return s->first_line && low < s->ends.len ? (uint32_t)low + s->first_line : 0;
}

uint32_t v8_functions_line(struct v8_functions *fs, struct managed_view *view, uint32_t number, uint32_t position)
{
	uint32_t script = fs->items.items[number].script_number;

	if (script != V8_NO_SCRIPT)
		read_lines(fs, view, &fs->scripts.items[script]);
	return script == V8_NO_SCRIPT ? 0 : line_at(&fs->scripts.items[script], position);
}

/* ---- names ----------------------------------------------------------------------------------------- */

struct scope {
	char name[V8_NAME_MAX];
	uint32_t start; /* position of the function; POSITION_MAX: not known */
};

static bool is_position(uint64_t word)
{
	return !(uint32_t)word && v8_small(word) < POSITION_MAX;
}

/* What has no name ends there: at the scope around it, or at the next object, which begins with its map. */
static bool is_end(const struct v8_functions *fs, struct managed_view *view, uint64_t word)
{
	uint16_t type = (uint32_t)word && v8_is_object(word) ? v8_type(view, fs->layout, word) : 0;

	return type == fs->layout->at[V8_TYPE_SCOPE] || type == fs->layout->at[V8_TYPE_MAP];
}

/* The scope's words from its name on: its slot follows; what is undefined is left out here; two numbers that ascend end it. */
static void read_scope_end(const struct v8_functions *fs, struct managed_view *view, uint64_t words, struct scope *ret)
{
	uint64_t before = UINT64_MAX;
	bool is_slot = false;

	for (unsigned i = 0; i < NAME_WORDS && !view->failed; i++) {
		uint64_t word = managed_view_u64(view, words + 8ULL * i);
		bool is_text = (uint32_t)word && v8_is_string(view, fs->layout, word);

		if (is_end(fs, view, word))
			break;
		if (is_text && !*ret->name)
			v8_string(view, fs->layout, word, ret->name, V8_NAME_MAX);
		if (!is_slot && is_position(before) && is_position(word) && before < word) {
			if (ret->start == POSITION_MAX)
				ret->start = v8_small(before);
			break;
		}
		before = is_slot ? UINT64_MAX : word;
		is_slot = is_text;
	}
}

static void read_scope(const struct v8_functions *fs, struct managed_view *view, uint64_t object, struct scope *ret)
{
	const uint16_t *at = fs->layout->at;
	uint64_t words = object - 1 + 8;
	uint32_t ncontext = v8_small(managed_view_u64(view, words + 8ULL * at[V8_SCOPE_NCONTEXT]));
	uint64_t names = ncontext < CONTEXT_INLINED ? 2ULL * ncontext : 1ULL + ncontext;

	if (ncontext > CONTEXT_MAX || view->failed)
		return;
	if (at[V8_SCOPE_FIRST] == 5) /* positions come before the names */
		ret->start = v8_small(managed_view_u64(view, words + 8ULL * 3));
	read_scope_end(fs, view, words + 8 * (at[V8_SCOPE_FIRST] + names), ret);
}

/* The name that V8 shows in its own stacks; functions that have none are told apart by where they stand. */
static void make_label(const struct scope *scope, uint32_t line, char ret[V8_NAME_MAX])
{
	if (*scope->name)
		memcpy(ret, scope->name, V8_NAME_MAX);
	else if (line && scope->start)
		snprintf(ret, V8_NAME_MAX, "(anonymous):%u", line);
	else
		snprintf(ret, V8_NAME_MAX, scope->start ? "(anonymous)" : "(module)");
}

static bool add(struct v8_functions *fs, struct managed_view *view, const struct v8_function *key, const struct scope *scope,
		struct writer *out)
{
	struct v8_function f = *key;
	char label[V8_NAME_MAX];

	if (fs->items.len >= V8_FUNCTIONS_MAX)
		return false;
	f.script_number = get_script(fs, view, f.script);
	if (view->failed)
		return false;
	if (f.script_number != V8_NO_SCRIPT && scope->start < POSITION_MAX)
		f.line = line_at(&fs->scripts.items[f.script_number], scope->start);
	make_label(scope, f.line, label);
	f.label = memory_strdup(label);
	jitdump_put_function(out, (uint32_t)fs->items.len, label,
			     f.script_number == V8_NO_SCRIPT ? "" : fs->scripts.items[f.script_number].file, f.line);
	vec_push(&fs->items, f);
	return true;
}

static uint64_t text_hash(const struct scope *scope)
{
	uint64_t hash = map_hash(scope->start);

	for (const char *c = scope->name; *c; c++)
		hash = map_hash(hash ^ (uint8_t)*c);
	return hash;
}

static bool is_same(const struct v8_function *a, const struct v8_function *b)
{
	return a->name == b->name && a->script == b->script && a->script_id == b->script_id && a->text == b->text;
}

/* What distinguishes @ret->shared, read anew: where one function was, the next one may have all its parts at the same addresses. */
static bool read_key(const struct v8_functions *fs, struct managed_view *view, struct v8_function *ret, struct scope *ret_scope)
{
	if (v8_type(view, fs->layout, ret->shared) != fs->layout->at[V8_TYPE_SHARED])
		return false;
	ret->name = v8_word(view, ret->shared, fs->layout->at[V8_SHARED_NAME]);
	ret->script = v8_word(view, ret->shared, fs->layout->at[V8_SHARED_SCRIPT]);
	ret->script_id = script_id(fs, view, ret->script);
	if (v8_type(view, fs->layout, ret->name) == fs->layout->at[V8_TYPE_SCOPE])
		read_scope(fs, view, ret->name, ret_scope);
	else if (v8_is_string(view, fs->layout, ret->name))
		v8_string(view, fs->layout, ret->name, ret_scope->name, V8_NAME_MAX);
	ret->text = text_hash(ret_scope);
	return !view->failed;
}

bool v8_functions_get(struct v8_functions *fs, struct managed_view *view, uint64_t shared, struct writer *out,
		      uint32_t *ret)
{
	const uint64_t *slot = map_get(&fs->by_shared, shared);
	struct scope scope = { .start = POSITION_MAX };
	struct v8_function f = { .shared = shared };

	if (!read_key(fs, view, &f, &scope))
		return false;
	if (slot && is_same(&fs->items.items[*slot], &f)) {
		*ret = (uint32_t)*slot;
		return true;
	}
	if (!add(fs, view, &f, &scope, out))
		return false;
	*ret = (uint32_t)(fs->items.len - 1);
	*map_put(&fs->by_shared, shared, NULL) = *ret;
	return true;
}
