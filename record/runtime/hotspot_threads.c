/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_threads.c - offsets of fields are read from the class, once. They give the sizes of object headers and pointers: the header ends
 * at the first field, and two neighbouring object fields are a pointer's length apart.
 */
#include "record/runtime/hotspot_threads.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/vec.h"
#include "record/runtime/hotspot_methods.h"

#include <string.h>

#define FIELDS_MAX    256
#define STREAM_MAX    8192
#define SUPERS_MAX    16
#define LEARN_TRIES   64
#define NAME_TRIES    32
#define LOOKS_ONCE    64	/* threads that one look may read */
#define TOLD_MAX      16384	/* names that are told of one machine: threads may be renamed for ever */
#define UNITS_MAX     (HOTSPOT_THREAD_NAME_MAX - 1)
#define HANDLE_JDK    16	/* JavaThread has the address of a pointer to its object, no longer that pointer */
#define FIELD_WORDS   6
#define FIELD_STATIC  8
#define FLAG_VALUE    (1U << 0) /* of a field in a stream: more numbers follow */
#define FLAG_GENERIC  (1U << 2)
#define FLAG_CONTENDED (1U << 4)
#define RELAXED_JDK   23	/* arrays begin right behind their length */
#define COMPACT_SHIFT 42	/* of the class in the first word, where that is all of the head */

struct thread {
	uint64_t address;
	uint32_t tid;
	unsigned tries;
	bool told;
	char *name; /* that was read; NULL: none */
};

/* How objects lie in memory. */
struct objects {
	bool known;
	bool coloured;	  /* pointers are */
	uint64_t head;	  /* its length: 8, 12 or 16 */
	uint64_t pointer; /* the length of one: 4 or 8 */
	uint64_t base, shift, class_base, class_shift;
	uint64_t thread_class, string_class;
	uint64_t name, value, coder; /* offsets of fields */
};

struct hotspot_threads {
	const struct hotspot_layout *layout;
	struct objects objects;
	unsigned learnt_tries;
	uint64_t list; /* that @items were read from */
	VEC(struct thread) items;
	size_t next; /* to be looked at */
	VEC(size_t) fresh; /* numbers of those whose name has become known */
	size_t told;
};

struct hotspot_threads *hotspot_threads_new(const struct hotspot_layout *layout)
{
	struct hotspot_threads *t = memory_zeroed(1, sizeof(*t));

	t->layout = layout;
	return t;
}

void hotspot_threads_free(struct hotspot_threads *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->items.len; i++)
		free(t->items.items[i].name);
	vec_deinit(&t->items);
	vec_deinit(&t->fresh);
	free(t);
}

size_t hotspot_threads_held(const struct hotspot_threads *t)
{
	return t ? t->items.cap * (sizeof(*t->items.items) + HOTSPOT_THREAD_NAME_MAX / 4) : 0;
}

/* ---- fields of classes ------------------------------------------------------------------------------ */

struct field {
	char name[HOTSPOT_SYMBOL_MAX + 1], type[HOTSPOT_SYMBOL_MAX + 1];
	uint64_t offset;
};

typedef void take_field_fn(void *context, const struct field *field);

/* One that is not the class's own, but its objects'. */
static void take(struct managed_view *view, const struct hotspot_layout *l, uint64_t class, const uint32_t numbers[3], take_field_fn *fn,
		 void *context)
{
	uint64_t pool = managed_view_u64(view, class + l->at[CLASS_POOL]);
	struct field field = { .offset = numbers[2] };

	if (hotspot_pool_symbol(view, l, pool, (uint16_t)numbers[0], field.name) &&
	    hotspot_pool_symbol(view, l, pool, (uint16_t)numbers[1], field.type))
		fn(context, &field);
}

/* Until 20: flags, numbers of name and type, a value, and the offset with two bits in front. */
static void each_in_array(struct managed_view *view, const struct hotspot_layout *l, uint64_t class, take_field_fn *fn, void *context)
{
	uint64_t array = managed_view_u64(view, class + l->at[CLASS_FIELDS]);
	uint32_t count = managed_view_u16(view, class + l->at[CLASS_FIELDS_COUNT]);

	for (uint32_t i = 0; i < MIN(count, FIELDS_MAX) && !view->failed; i++) {
		uint16_t words[FIELD_WORDS];

		if (!managed_view_copy(view, array + 4 + i * sizeof(words), words, sizeof(words)) || words[0] & FIELD_STATIC)
			continue;
		const uint32_t numbers[] = { words[1], words[2], ((uint32_t)words[5] << 16 | words[4]) >> 2 };

		take(view, l, class, numbers, fn, context);
	}
}

/* From 21: how many, how many more that the machine added, and for each its name, type, offset, flags, and what these say. */
static void each_in_stream(struct managed_view *view, const struct hotspot_layout *l, uint64_t class, take_field_fn *fn, void *context)
{
	uint64_t array = managed_view_u64(view, class + l->at[CLASS_FIELDS_STREAM]);
	size_t len = MIN(managed_view_u32(view, array), (uint32_t)STREAM_MAX), pos = 0;
	uint8_t *stream = memory_zeroed(1, STREAM_MAX);

	if (!managed_view_copy(view, array + 4, stream, len))
		len = 0;
	uint32_t count = hotspot_unsigned5(stream, len, &pos, l->jdk);

	hotspot_unsigned5(stream, len, &pos, l->jdk);
	for (uint32_t i = 0; i < MIN(count, FIELDS_MAX) && pos < len && !view->failed; i++) {
		uint32_t numbers[5];

		for (size_t j = 0; j < ARRAY_LEN(numbers); j++)
			numbers[j] = hotspot_unsigned5(stream, len, &pos, l->jdk);
		if (numbers[4] & FLAG_VALUE)
			hotspot_unsigned5(stream, len, &pos, l->jdk);
		if (numbers[4] & FLAG_GENERIC)
			hotspot_unsigned5(stream, len, &pos, l->jdk);
		if (numbers[4] & FLAG_CONTENDED)
			hotspot_unsigned5(stream, len, &pos, l->jdk);
		if (!(numbers[3] & FIELD_STATIC))
			take(view, l, class, numbers, fn, context);
	}
	free(stream);
}

static void each_field(struct managed_view *view, const struct hotspot_layout *l, uint64_t class, take_field_fn *fn, void *context)
{
	if (l->has[CLASS_FIELDS_STREAM])
		each_in_stream(view, l, class, fn, context);
	else if (l->has[CLASS_FIELDS] && l->has[CLASS_FIELDS_COUNT])
		each_in_array(view, l, class, fn, context);
}

/* What the fields of Thread and String say. */
struct lesson {
	struct objects found;
	uint64_t first;			/* offset */
	uint64_t pointers[FIELDS_MAX]; /* offsets of fields with objects */
	size_t npointers;
};

static void take_thread_field(void *context, const struct field *field)
{
	struct lesson *lesson = context;

	lesson->first = MIN(lesson->first, field->offset);
	if ((*field->type == 'L' || *field->type == '[') && lesson->npointers < FIELDS_MAX)
		lesson->pointers[lesson->npointers++] = field->offset;
	if (strcmp(field->name, "name") == 0 && strcmp(field->type, "Ljava/lang/String;") == 0)
		lesson->found.name = field->offset;
}

static void take_string_field(void *context, const struct field *field)
{
	struct lesson *lesson = context;

	lesson->first = MIN(lesson->first, field->offset);
	if (strcmp(field->name, "value") == 0 && strcmp(field->type, "[B") == 0)
		lesson->found.value = field->offset;
	if (strcmp(field->name, "coder") == 0)
		lesson->found.coder = field->offset;
}

static uint64_t least_distance(const struct lesson *lesson)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < lesson->npointers; i++) {
		for (size_t j = 0; j < lesson->npointers; j++) {
			if (lesson->pointers[j] > lesson->pointers[i])
				least = MIN(least, lesson->pointers[j] - lesson->pointers[i]);
		}
	}
	return least;
}

/* 0 also if it was never written, and so is not in memory. */
static uint64_t variable(struct managed_view *view, const struct hotspot_layout *l, enum hotspot_field field)
{
	uint64_t value = 0;

	return l->has[field] && managed_view_try(view, l->at[field], &value, sizeof(value)) ? value : 0;
}

/* ZGC is used, and of the kind whose pointers have colours: the mask of those that are good is set. */
static bool has_colours(struct managed_view *view, const struct hotspot_layout *l)
{
	uint64_t globals = variable(view, l, Z_GLOBALS), place, mask = 0;

	return globals && l->has[Z_GOOD] && managed_view_try(view, globals + l->at[Z_GOOD], &place, sizeof(place)) &&
	       managed_view_try(view, place, &mask, sizeof(mask)) && mask;
}

static bool learn(struct hotspot_threads *t, struct managed_view *view)
{
	const struct hotspot_layout *l = t->layout;
	struct lesson *lesson = memory_zeroed(1, sizeof(*lesson));
	struct objects *o = &lesson->found;

	lesson->first = UINT64_MAX;
	o->thread_class = variable(view, l, THREAD_CLASS);
	o->string_class = variable(view, l, STRING_CLASS);
	if (o->thread_class && o->string_class) {
		each_field(view, l, o->thread_class, take_thread_field, lesson);
		each_field(view, l, o->string_class, take_string_field, lesson);
	}
	o->head = lesson->first;
	o->pointer = least_distance(lesson);
	o->coloured = has_colours(view, l);
	o->base = variable(view, l, POINTER_BASE);
	o->shift = variable(view, l, POINTER_SHIFT) & 31;
	o->class_base = variable(view, l, CLASS_BASE);
	o->class_shift = variable(view, l, CLASS_SHIFT) & 31;
	o->known = !view->failed && (o->head == 8 || o->head == 12 || o->head == 16) && (o->pointer == 4 || o->pointer == 8) &&
		   o->name && o->value && o->coder;
	t->objects = *o;
	free(lesson);
	return t->objects.known;
}

/* ---- objects ---------------------------------------------------------------------------------------- */

/*
 * From 21 on the low bits of a pointer of ZGC have colours, on x86-64 from bit 4 on; the address begins behind the highest of bits 12 to 15
 * that is set. Where other collectors are used, and before, addresses are what they are.
 */
static uint64_t without_colours(const struct hotspot_threads *t, uint64_t pointer)
{
	if (!t->objects.coloured)
		return pointer;
	for (unsigned bit = 15; bit >= 12; bit--) {
		if (pointer >> bit & 1 && arch_native() == &arch_x86_64)
			return pointer >> (bit + 1);
	}
	return pointer >> 16;
}

static uint64_t pointer_at(const struct hotspot_threads *t, struct managed_view *view, uint64_t addr)
{
	const struct objects *o = &t->objects;

	if (o->pointer == 8)
		return without_colours(t, managed_view_u64(view, addr));
	uint64_t narrow = managed_view_u32(view, addr);

	return narrow ? o->base + (narrow << o->shift) : 0;
}

static uint64_t class_of(const struct hotspot_threads *t, struct managed_view *view, uint64_t object)
{
	const struct objects *o = &t->objects;

	if (o->head == 16)
		return managed_view_u64(view, object + 8);
	uint64_t narrow = o->head == 12 ? managed_view_u32(view, object + 8) : managed_view_u64(view, object) >> COMPACT_SHIFT;

	return o->class_base + (narrow << o->class_shift);
}

static bool is_thread(const struct hotspot_threads *t, struct managed_view *view, uint64_t object)
{
	uint64_t class = class_of(t, view, object);

	for (unsigned i = 0; i < SUPERS_MAX && class && !view->failed; i++) {
		if (class == t->objects.thread_class)
			return true;
		class = managed_view_u64(view, class + t->layout->at[KLASS_SUPER]);
	}
	return false;
}

/* ---- text ------------------------------------------------------------------------------------------- */

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)(c ? c : '?');
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	size_t len = c < 0x10000 ? 3 : 4;

	to[0] = (char)(len == 3 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
	for (size_t i = 1; i < len; i++)
		to[i] = (char)(0x80 | (c >> 6 * (len - 1 - i) & 0x3f));
	return len;
}

/* The next character of @units, of which there are more than *@pos; half of a pair is none. */
static uint32_t next_char(const uint16_t *units, size_t count, size_t *pos)
{
	uint32_t c = units[(*pos)++];

	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c > 0xdbff || *pos == count || units[*pos] < 0xdc00 || units[*pos] > 0xdfff)
		return 0xfffd;
	return 0x10000 + ((c - 0xd800) << 10) + (units[(*pos)++] - 0xdc00U);
}

static void make_text(const uint16_t *units, size_t count, char ret[HOTSPOT_THREAD_NAME_MAX])
{
	size_t len = 0;

	for (size_t pos = 0; pos < count && len + 4 < HOTSPOT_THREAD_NAME_MAX;)
		len += put_utf8(ret + len, next_char(units, count, &pos));
	ret[len] = '\0';
}

/* Of the String at @string; false if it is none, or empty. */
static bool read_text(const struct hotspot_threads *t, struct managed_view *view, uint64_t string, char ret[HOTSPOT_THREAD_NAME_MAX])
{
	const struct objects *o = &t->objects;
	uint16_t units[UNITS_MAX];
	uint8_t bytes[UNITS_MAX];

	if (class_of(t, view, string) != o->string_class)
		return false;
	bool wide = managed_view_u8(view, string + o->coder);
	uint64_t array = pointer_at(t, view, string + o->value);
	uint64_t data = array + o->head + 4 + (o->head == 16 && t->layout->jdk < RELAXED_JDK ? 4 : 0);
	uint32_t len = managed_view_u32(view, array + o->head);
	size_t count = MIN((size_t)len / (wide ? 2 : 1), (size_t)UNITS_MAX);

	if (!array || !count || !managed_view_copy(view, data, wide ? (void *)units : bytes, count * (wide ? 2 : 1)))
		return false;
	for (size_t i = 0; i < count && !wide; i++)
		units[i] = bytes[i];
	make_text(units, count, ret);
	return !view->failed;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

static uint32_t tid_of(const struct hotspot_threads *t, struct managed_view *view, uint64_t thread)
{
	uint64_t system = managed_view_u64(view, thread + t->layout->at[THREAD_SYSTEM]);

	return system ? managed_view_u32(view, system + t->layout->at[SYSTEM_TID]) : 0;
}

static bool read_name(const struct hotspot_threads *t, struct managed_view *view, uint64_t thread, char ret[HOTSPOT_THREAD_NAME_MAX])
{
	uint64_t object = managed_view_u64(view, thread + t->layout->at[THREAD_OBJECT]);

	if (object && t->layout->jdk >= HANDLE_JDK)
		object = managed_view_u64(view, object);
	object = without_colours(t, object);
	if (!object || !is_thread(t, view, object))
		return false;
	uint64_t name = pointer_at(t, view, object + t->objects.name);

	return name && !view->failed && read_text(t, view, name, ret);
}

/* What was read a second time is true; @thread may have been told under another name. */
static void compare_name(struct hotspot_threads *t, size_t number, const char *name)
{
	struct thread *thread = &t->items.items[number];
	bool same = thread->name && strcmp(thread->name, name) == 0;

	if (same && !thread->told && t->told < TOLD_MAX) {
		vec_push(&t->fresh, number);
		t->told++;
	}
	thread->told = same;
	if (same)
		return;
	free(thread->name);
	thread->name = memory_strdup(name);
	thread->tries = 0;
}

static void look_at(struct hotspot_threads *t, struct managed_view *view, size_t number)
{
	struct thread *thread = &t->items.items[number];
	char name[HOTSPOT_THREAD_NAME_MAX];
	uint32_t tid = tid_of(t, view, thread->address);

	if (tid != thread->tid)
		thread->told = false;
	thread->tid = tid;
	thread->tries++;
	if (tid && !view->failed && read_name(t, view, thread->address, name))
		compare_name(t, number, name);
}

/* ---- the list --------------------------------------------------------------------------------------- */

/* Its addresses into @ret; returns how many. */
static size_t read_list(const struct hotspot_threads *t, struct managed_view *view, uint64_t list, uint64_t *ret)
{
	const struct hotspot_layout *l = t->layout;
	uint64_t from = managed_view_u64(view, list + l->at[LIST_THREADS]);
	size_t count = MIN((size_t)managed_view_u32(view, list + l->at[LIST_LEN]), (size_t)HOTSPOT_THREADS_MAX);
	const size_t step = MANAGED_PAGE_LEN / sizeof(*ret);

	for (size_t i = 0; i < count; i += step) {
		size_t some = MIN(step, count - i);

		if (!managed_view_copy(view, from + i * sizeof(*ret), ret + i, some * sizeof(*ret)))
			return 0;
	}
	return count;
}

/* Until 9 each thread leads to the next. */
static size_t read_chain(const struct hotspot_threads *t, struct managed_view *view, uint64_t first, uint64_t *ret)
{
	size_t count = 0;

	for (uint64_t at = first; at && count < HOTSPOT_THREADS_MAX && !view->failed; at = managed_view_u64(view, at + t->layout->at[THREAD_NEXT]))
		ret[count++] = at;
	return view->failed ? 0 : count;
}

/* @addresses are the threads now; what is known of those that were there before stays. */
static void take_list(struct hotspot_threads *t, const uint64_t *addresses, size_t count)
{
	VEC(struct thread) now = { 0 };
	struct map old = { 0 };

	for (size_t i = 0; i < t->items.len; i++)
		*map_put(&old, t->items.items[i].address, NULL) = i;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *slot = map_get(&old, addresses[i]);
		struct thread *known = slot ? &t->items.items[*slot] : NULL;

		vec_push(&now, known ? *known : ((struct thread){ .address = addresses[i] }));
		if (!known)
			continue;
		map_remove(&old, addresses[i]);
		known->name = NULL;
	}
	for (size_t i = 0; i < t->items.len; i++)
		free(t->items.items[i].name);
	t->items.len = 0;
	vec_append(&t->items, now.items, now.len);
	vec_deinit(&now);
	map_deinit(&old);
	t->fresh.len = 0;
}

static void follow_list(struct hotspot_threads *t, struct managed_view *view)
{
	bool is_chain = !t->layout->has[THREADS_LIST];
	uint64_t list = managed_view_u64(view, t->layout->at[is_chain ? THREADS_FIRST : THREADS_LIST]);

	if (view->failed || !list || list == t->list)
		return;
	uint64_t *addresses = memory_alloc(HOTSPOT_THREADS_MAX * sizeof(*addresses));
	size_t count = is_chain ? read_chain(t, view, list, addresses) : read_list(t, view, list, addresses);

	if (count) {
		take_list(t, addresses, count);
		t->list = list;
	}
	free(addresses);
}

static bool is_usable(const struct hotspot_layout *l)
{
	static const enum hotspot_field needed[] = { THREAD_OBJECT, THREAD_SYSTEM, SYSTEM_TID,	 KLASS_SUPER,	CLASS_POOL,
						     STRING_CLASS,  THREAD_CLASS,  POINTER_BASE, POINTER_SHIFT, CLASS_BASE, CLASS_SHIFT };

	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		if (!l->has[needed[i]])
			return false;
	}
	return (l->has[THREADS_LIST] && l->has[LIST_LEN] && l->has[LIST_THREADS]) || (l->has[THREADS_FIRST] && l->has[THREAD_NEXT]);
}

void hotspot_threads_look(struct hotspot_threads *t, struct managed_view *view)
{
	size_t looked = 0;

	if (!is_usable(t->layout) || (!t->objects.known && (t->learnt_tries++ >= LEARN_TRIES || !learn(t, view))))
		return;
	follow_list(t, view);
	for (size_t i = 0; i < t->items.len && looked < LOOKS_ONCE && !view->failed; i++) {
		const struct thread *thread = &t->items.items[t->next++ % t->items.len];

		if (thread->told || thread->tries >= NAME_TRIES)
			continue;
		look_at(t, view, (size_t)(thread - t->items.items));
		looked++;
	}
	if (!looked && t->items.len && !view->failed)
		look_at(t, view, t->next++ % t->items.len);
}

const char *hotspot_threads_next(struct hotspot_threads *t, uint32_t *ret_tid)
{
	if (!t->fresh.len)
		return NULL;
	const struct thread *thread = &t->items.items[t->fresh.items[--t->fresh.len]];

	*ret_tid = thread->tid;
	return thread->name;
}
