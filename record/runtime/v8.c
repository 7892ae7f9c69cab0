/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.c - finds the code object of an address by searching backwards for its header, the map word, which is learnt from the first
 * object.
 *
 *	page of 256 KiB:  … | map, …, Code, … instructions | map, …, Code, … instructions pc …
 *	                                                       └────── looked for backwards
 *
 * Addresses of code whose function is not known yet wait until it is.
 */
#include "record/runtime/v8.h"

#include "formats/arch.h"
#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/vec.h"
#include "formats/perf/jitdump.h"
#include "record/runtime/v8_asked.h"
#include "record/runtime/v8_functions.h"
#include "record/runtime/v8_positions.h"
#include "record/runtime/v8_quiet.h"
#include "record/runtime/v8_tables.h"

#include <string.h>
#include <time.h>

#define BACK_MAX	(1U << 20) /* from an address to the head of its code */
#define CODES_MAX	(1U << 16)
#define TABLES_TRIES	4	     /* to read those of one that are not in memory */
#define CODE_LEN_MAX	(128U << 10) /* of a function whose code is kept */
#define CODE_LEAVES	3	     /* so often it was executed */
#define CALLS_MAX	64
#define WAITING_MAX	4096
#define BYTECODES_KEPT	(1U << 16)
#define STREAM_WORDS	4 /* behind the head; one of them is the Code */
#define FEEDBACK_WORDS	8  /* of a FeedbackVector, behind its map: lengths, counts, its function, what hangs on it */
#define KIND_MASK	15
#define KIND_REGEXP	3
#define BACK_PIECE	4096
#define GROUP		8 /* codes that are compared together */
#define RECENT_NS	400000000ULL /* what was used in this time is asked for again while it is used */

enum tier { TIER_OTHER, TIER_BASELINE, TIER_OPTIMIZED };

struct code {
	uint64_t stream, object; /* address of the head; tagged pointer to the Code */
	uint64_t start, end;
	uint32_t flags;
	enum tier tier;
	uint64_t deopt, positions; /* words of the Code */
	unsigned leaves;
	bool announced, has_bytes, is_gone;
	bool tried;		   /* to read the tables, as far as they are in memory */
	unsigned tries;
	struct v8_table table;
	struct v8_inlinings inlinings;
	uint32_t function; /* once it is announced, but for other code */
	uint32_t number;   /* no other code or bytecode has it */
	uint64_t region; /* of its heap (v8_quiet.h); 0: not known */
	uint64_t from_ns, seen_ns; /* it certainly was there */
	uint64_t used_ns;	   /* when it was looked at for a sample */
};

/* Bytecode whose function is known. */
struct bytecode {
	uint64_t array, shared; /* tagged pointers */
	uint32_t function;
	bool is_gone;
	struct v8_table bytes, positions;
	uint32_t number;		    /* as of code, */
	uint64_t region;		    /* likewise, */
	uint64_t from_ns, seen_ns, used_ns; /* likewise */
};

/* An address whose bytecode's function is not known yet. */
struct waiting {
	uint64_t array, ip;
	enum v8_use use;
	bool is_bytecode;
};

struct v8 {
	const struct v8_layout *layout;
	uint32_t inner_pid;
	uint64_t stream_map; /* 0: not known yet */
	VEC(struct code) codes;
	struct map code_at; /* its head -> index */
	struct map bytecode_at; /* its array -> index */
	VEC(struct bytecode) bytecodes;
	VEC(struct waiting) waiting;
	struct map waits;  /* their addresses */
	struct v8_asked asked;
	uint32_t numbers; /* of code and bytecode so far */
	size_t tables_len; /* kept */
	size_t unread;	   /* 1 more than the number of one of them that could not be read with what was left of a view */
	size_t compared;   /* codes, then bytecodes, of a comparison of all */
	size_t recent;	   /* the next group of a comparison of those that are used */
	VEC(struct managed_recent) groups; /* what each group needs of memory */
	struct v8_functions functions;
	struct v8_quiet quiet;
	uint64_t checked_ns; /* when all that is known, and not gone, was there */
	uint64_t begun_ns;   /* when the comparison that goes on began; 0: none does */
	/* Of the look that is being taken. */
	struct managed_view *view;
	struct writer *out;
};

struct v8 *v8_new(const struct v8_layout *layout, uint32_t inner_pid, uint64_t age_ns)
{
	struct v8 *v = memory_zeroed(1, sizeof(*v));

	v->layout = layout;
	v->functions.layout = layout;
	v->quiet = (struct v8_quiet){ .layout = layout, .age_ns = age_ns };
	v->inner_pid = inner_pid;
	return v;
}

static void drop_tables(struct v8 *v, struct code *c)
{
	v8_table_drop(&c->table, &v->tables_len);
	v8_inlinings_drop(&c->inlinings, &v->tables_len);
}

static void drop_bytecode(struct v8 *v, struct bytecode *b)
{
	v8_table_drop(&b->bytes, &v->tables_len);
	v8_table_drop(&b->positions, &v->tables_len);
}

void v8_free(struct v8 *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->codes.len; i++)
		drop_tables(v, &v->codes.items[i]);
	for (size_t i = 0; i < v->bytecodes.len; i++)
		drop_bytecode(v, &v->bytecodes.items[i]);
	vec_deinit(&v->codes);
	vec_deinit(&v->bytecodes);
	vec_deinit(&v->waiting);
	vec_deinit(&v->groups);
	map_deinit(&v->waits);
	v8_asked_deinit(&v->asked);
	map_deinit(&v->code_at);
	map_deinit(&v->bytecode_at);
	v8_functions_deinit(&v->functions);
	free(v);
}

size_t v8_held(const struct v8 *v)
{
	return sizeof(*v) + v->tables_len + v->codes.cap * sizeof(*v->codes.items) + v->bytecodes.cap * sizeof(*v->bytecodes.items) +
	       v->waiting.cap * sizeof(*v->waiting.items) + v->groups.cap * sizeof(*v->groups.items) + (v->code_at.len + v->bytecode_at.len + v->waits.len + v->asked.placed.len + v->asked.absent.len) * 2 * sizeof(struct map_slot) +
	       v8_functions_held(&v->functions);
}

/* ---- code ------------------------------------------------------------------------------------------ */

/* Is @word the map that all instruction streams have? A map's own map is its own. */
static bool is_stream_map(struct v8 *v, uint64_t word)
{
	uint64_t meta, own;

	if (v->stream_map)
		return word == v->stream_map;
	if (!v8_is_object(word) || !managed_view_try(v->view, word - 1, &meta, sizeof(meta)) || !v8_is_object(meta) ||
	    v8_type(v->view, v->layout, meta) != v->layout->at[V8_TYPE_MAP] ||
	    !managed_view_try(v->view, meta - 1, &own, sizeof(own)) || own != meta)
		return false;
	uint16_t type;

	return managed_view_try(v->view, word - 1 + v->layout->at[V8_MAP_TYPE], &type, sizeof(type)) &&
	       type == v->layout->at[V8_TYPE_STREAM];
}

/* The Code @object, if its instructions hold @ip. */
static bool read_code(struct v8 *v, uint64_t stream, uint64_t object, uint64_t ip,
		      struct code *ret)
{
	const struct v8_version *version = v->layout->version;
	uint32_t len;
	struct code c = { .stream = stream, .object = object };

	if (v8_type(v->view, v->layout, object) != v->layout->at[V8_TYPE_CODE])
		return false;
	c.start = version->code_start ? v8_word(v->view, object, version->code_start) : object - 1 + version->code_header;
	c.flags = managed_view_u32(v->view, object - 1 + version->code_flags);
	len = managed_view_u32(v->view, object - 1 + version->code_size);
	c.deopt = v8_word(v->view, object, version->code_deopt);
	c.positions = v8_word(v->view, object, version->code_positions);
	if (v->view->failed || !len || len > BACK_MAX || c.start < stream || ip - c.start >= len)
		return false;
	uint32_t kind = c.flags & KIND_MASK, baseline = v->layout->at[V8_KIND_BASELINE];

	c.end = c.start + len;
	c.tier = kind == baseline ? TIER_BASELINE : kind > baseline ? TIER_OPTIMIZED : TIER_OTHER;
	*ret = c;
	return true;
}

/* What lies at @stream, which begins as an instruction stream does, if it holds @ip. */
static bool read_stream(struct v8 *v, uint64_t stream, uint64_t ip, struct code *ret)
{
	if (!v->layout->version->code_start)
		return read_code(v, stream, stream + 1, ip, ret);
	for (unsigned i = 1; i <= STREAM_WORDS; i++) {
		uint64_t word;

		if (managed_view_try(v->view, stream + 8 * i, &word, sizeof(word)) && read_code(v, stream, word, ip, ret))
			return true;
	}
	return false;
}

/* Look at the words of [@low, @high), which ends at a page's end or at @ip, from the last one on. */
static bool find_in_piece(struct v8 *v, uint64_t low, uint64_t high, uint64_t ip, struct code *ret)
{
	uint64_t words[BACK_PIECE / 8];

	if (!managed_view_try(v->view, low, words, (size_t)(high - low)))
		return false;
	for (size_t i = (size_t)(high - low) / 8; i-- > 0 && !v->view->failed;) {
		if (!is_stream_map(v, words[i]) || !read_stream(v, low + 8 * i, ip, ret))
			continue;
		v->stream_map = words[i];
		return true;
	}
	return false;
}

static bool find_code(struct v8 *v, uint64_t ip, struct code *ret)
{
	uint64_t high = (ip & ~7ULL) + 8, lowest = ip > BACK_MAX ? ip - BACK_MAX : 0;

	while (high > lowest && !v->view->failed) {
		uint64_t low = (high - 1) & ~(uint64_t)(BACK_PIECE - 1);

		if (find_in_piece(v, low, high, ip, ret))
			return true;
		high = low;
	}
	return false;
}

static bool is_same(const struct code *a, const struct code *b)
{
	return a->object == b->object && a->start == b->start && a->end == b->end && a->flags == b->flags &&
	       a->deopt == b->deopt && a->positions == b->positions;
}

/* ---- optimized code -------------------------------------------------------------------------------- */

/* The function that deoptimization data has, in a wrapper from version 13 on. */
static uint64_t shared_of(struct v8 *v, uint64_t deopt)
{
	uint64_t object = v8_element(v->view, deopt, v->layout->at[V8_DEOPT_SHARED]);

	if (object && v->layout->version->wraps_shared)
		object = v8_is_object(object) ? v8_word(v->view, object, 8) : 0;
	return object;
}

static void read_tables(struct v8 *v, struct code *c)
{
	bool missed = v->view->missed;

	if (c->tried)
		return;
	drop_tables(v, c);
	v->view->missed = false;
	c->table = v8_table_read_array(v->view, c->positions, &v->tables_len);
	if (c->tier == TIER_OPTIMIZED)
		v8_inlinings_read(&v->functions, v->view, c->deopt, v->out, &v->tables_len, &c->inlinings);
	c->tried = !v->view->missed || ++c->tries >= TABLES_TRIES;
	v->view->missed = v->view->missed || missed;
}

/* Does optimized code have the tables that were read? What is at the same addresses may have inlined other functions. */
static bool has_same_tables(struct v8 *v, const struct code *c)
{
	return v8_table_is_in(&c->table, v->view, c->positions) &&
	       v8_inlinings_are_in(&c->inlinings, &v->functions, v->view, c->deopt, v->out);
}

static void add_call(struct v8 *v, uint32_t function, const struct v8_position *position, struct jitdump_call *ret)
{
	*ret = (struct jitdump_call){ function, v8_functions_line(&v->functions, v->view, function, position->at) };
}

static bool find_position(const struct v8 *v, const struct v8_table *table, uint64_t offset, struct v8_position *ret)
{
	const struct v8_positions positions = { table->bytes, table->len, v->layout->version->position_flags };

	return v8_positions_find(&positions, offset, ret);
}

/* In front of all that has a position a function is being entered: where it is defined. Without @table nothing is known. */
static struct jitdump_call entered_call(struct v8 *v, uint32_t function, const struct v8_table *table)
{
	return (struct jitdump_call){ function, table->len ? v->functions.items.items[function].line : 0 };
}

/* The functions at @offset of optimized code, innermost first. */
static uint32_t optimized_calls(struct v8 *v, const struct code *c, uint64_t offset,
				struct jitdump_call ret[CALLS_MAX])
{
	struct v8_position at, caller;
	uint32_t count = 0, function;

	if (!find_position(v, &c->table, offset, &at)) {
		ret[0] = entered_call(v, c->function, &c->table);
		return 1;
	}
	while (at.inlining != V8_NOT_INLINED && count < CALLS_MAX - 1) {
		if (!v8_inlinings_call(&c->inlinings, at.inlining, &caller, &function))
			return 0;
		function = function == V8_NO_FUNCTION ? c->function : function;
		add_call(v, function, &at, &ret[count++]);
		at = caller;
	}
	add_call(v, c->function, &at, &ret[count]);
	return count + 1;
}

/* ---- bytecode -------------------------------------------------------------------------------------- */

/* The bytecode of what a function or its baseline code has for it. */
static uint64_t bytecode_of(struct v8 *v, uint64_t object)
{
	for (int hops = 0; hops < 3; hops++) {
		uint16_t type = v8_type(v->view, v->layout, object);

		if (type == v->layout->at[V8_TYPE_BYTECODE])
			return object;
		if (type == v->layout->at[V8_TYPE_INTERPRETER_DATA])
			object = v8_word(v->view, object, 8);
		else if (type == v->layout->at[V8_TYPE_CODE])
			object = v8_word(v->view, object, v->layout->version->code_deopt);
		else
			break;
	}
	return 0;
}

/* A closure that was moved has left behind where to. */
static uint64_t shared_of_closure(struct v8 *v, uint64_t function)
{
	uint64_t head;

	if (!v8_is_object(function) || !managed_view_try(v->view, function - 1, &head, sizeof(head)))
		return 0;
	if (!(head & 7) && v8_is_object(head + 1))
		function = head + 1;
	uint64_t shared;

	return managed_view_try(v->view, function - 1 + v->layout->at[V8_FUNCTION_SHARED], &shared, sizeof(shared)) ? shared : 0;
}

static bool has_bytecode(struct v8 *v, uint64_t shared, uint64_t array)
{
	return v8_type(v->view, v->layout, shared) == v->layout->at[V8_TYPE_SHARED] &&
	       bytecode_of(v, v8_word(v->view, shared, v->layout->at[V8_SHARED_DATA])) == array;
}

/* ---- what is known, and still there ---------------------------------------------------------------- */

/* It was there when it was seen for the last time, and while nothing was freed of its heap, which has @region. */
static void put_gone(struct v8 *v, uint64_t start, uint64_t len, uint64_t seen_ns, uint64_t region)
{
	size_t begin = v->out->len;

	jitdump_put_gone(v->out, start, len);
	jitdump_set_times(v->out, begin, 0, MAX(MAX(v->checked_ns, v8_quiet_full_ns(&v->quiet, region)), MAX(seen_ns, 1)));
}

/* Other code, or none, is there. */
static void retire(struct v8 *v, struct code *c)
{
	if (c->announced && !c->is_gone)
		put_gone(v, c->start, c->end - c->start, MAX(c->from_ns, c->seen_ns), c->region);
	c->is_gone = true;
}

static void retire_bytecode(struct v8 *v, struct bytecode *b)
{
	if (!b->is_gone)
		put_gone(v, b->array - 1 + v->layout->at[V8_BYTECODE_DATA], b->bytes.len, MAX(b->from_ns, b->seen_ns), b->region);
	b->is_gone = true;
}

static uint64_t since(struct v8 *v, uint64_t addr)
{
	return v8_quiet_since(&v->quiet, v->view, addr, NULL);
}

static bool is_function(struct v8 *v, uint64_t shared, uint32_t function)
{
	uint32_t now;

	return v8_functions_get(&v->functions, v->view, shared, v->out, &now) && now == function;
}

/*
 * Does nothing that begins with the word @head lie in [@start, @end)? Memory is used again in the middle of what was freed: what is dead may
 * still have its head, and other objects of its kind behind that.
 */
static bool is_whole(struct v8 *v, uint64_t start, uint64_t end, uint64_t head)
{
	uint64_t words[BACK_PIECE / 8];

	for (uint64_t at = (start + 7) & ~7ULL, next; at + 8 <= end; at = next) {
		next = MIN((at & ~(uint64_t)(BACK_PIECE - 1)) + BACK_PIECE, end & ~7ULL);
		if (!managed_view_try(v->view, at, words, (size_t)(next - at)))
			return false;
		for (size_t i = 0; i < (size_t)(next - at) / 8; i++) {
			if (words[i] == head)
				return false;
		}
	}
	return true;
}

static bool is_there(struct v8 *v, const struct bytecode *b)
{
	uint64_t data = b->array - 1 + v->layout->at[V8_BYTECODE_DATA], map;

	return has_bytecode(v, b->shared, b->array) && is_function(v, b->shared, b->function) &&
	       managed_view_try(v->view, b->array - 1, &map, sizeof(map)) && is_whole(v, data, data + b->bytes.len, map);
}

/* What is known of the bytecode @array, if that is still what was learnt; NULL if not. */
static struct bytecode *known_bytecode(struct v8 *v, uint64_t array)
{
	const uint64_t *slot = map_get(&v->bytecode_at, array);
	struct bytecode *b = slot ? &v->bytecodes.items[*slot] : NULL;

	if (!b || b->is_gone)
		return NULL;
	if (is_there(v, b))
		return b;
	if (!v->view->failed)
		retire_bytecode(v, b);
	return NULL;
}

/* Code that is known is of that function as long as its words are the same, and its function is. */
static bool is_same_code(struct v8 *v, const struct code *c, const struct code *now)
{
	const struct bytecode *b;

	if (c->is_gone || !c->announced || !is_same(c, now))
		return false;
	if (c->tier == TIER_OTHER)
		return true;
	if (c->tier == TIER_OPTIMIZED) /* tables that are not complete are compared with nothing */
		return is_function(v, shared_of(v, c->deopt), c->function) &&
		       (c->tried ? has_same_tables(v, c) : since(v, c->stream) == c->from_ns);
	b = known_bytecode(v, bytecode_of(v, c->deopt));
	return b && b->function == c->function;
}

/* The code around @ip, as it is now; NULL if there is none. Valid until the next call. */
static struct code *get_code(struct v8 *v, uint64_t ip)
{
	struct code now;
	const uint64_t *slot;

	if (!find_code(v, ip, &now))
		return NULL;
	slot = map_get(&v->code_at, now.stream);
	if (!is_whole(v, now.start, now.end, v->stream_map))
		return NULL;
	if (slot && is_same_code(v, &v->codes.items[*slot], &now))
		return &v->codes.items[*slot];
	if (!slot && v->codes.len >= CODES_MAX)
		return NULL;
	now.from_ns = v8_quiet_since(&v->quiet, v->view, now.stream, &now.region);
	now.number = ++v->numbers;
	if (!slot) {
		*map_put(&v->code_at, now.stream, NULL) = v->codes.len;
		vec_push(&v->codes, now);
		return &v->codes.items[v->codes.len - 1];
	}
	struct code *old = &v->codes.items[*slot];

	retire(v, old);
	drop_tables(v, old);
	*old = now;
	return old;
}

/* ---- learning ------------------------------------------------------------------------------------------ */

static void read_bytecode(struct v8 *v, struct bytecode *b)
{
	uint64_t len = v8_small(v8_word(v->view, b->array, 8));

	b->bytes = v8_table_read(v->view, b->array - 1 + v->layout->at[V8_BYTECODE_DATA], len, &v->tables_len);
	b->positions = v8_table_read_array(v->view, v8_word(v->view, b->array, v->layout->version->bytecode_positions), &v->tables_len);
}

/* The function of a FeedbackVector is one of its first words, which one depends on the version; it has @array. 0 if none has. */
static uint64_t shared_of_feedback(struct v8 *v, uint64_t feedback, uint64_t array)
{
	uint64_t word;

	for (uint64_t i = 1; i <= FEEDBACK_WORDS && v8_is_object(feedback); i++)
		if (managed_view_try(v->view, feedback - 1 + 8 * i, &word, sizeof(word)) && v8_is_object(word) &&
		    has_bytecode(v, word, array))
			return word;
	return 0;
}

/* An address, and how it is used. */
static uint64_t use_of(uint64_t ip, enum v8_use use)
{
	return ip << 1 | (use == V8_LEAF);
}

static void note_placed(struct v8 *v, uint64_t use, uint32_t number)
{
	if (!v->view->missed && !v->view->failed)
		v8_asked_set_placed(&v->asked, use, number);
}

/* Learn which function executes @at->array; NULL if that cannot be told. */
static struct bytecode *learn(struct v8 *v, const struct v8_bytecode_at *at)
{
	struct bytecode b = { .array = at->array, .shared = shared_of_closure(v, at->function) };
	uint64_t array = at->array, *slot;

	if (v->bytecodes.len >= BYTECODES_KEPT)
		return NULL;
	if (!has_bytecode(v, b.shared, array))
		b.shared = shared_of_feedback(v, at->feedback, array);
	if (!b.shared ||
	    !v8_functions_get(&v->functions, v->view, b.shared, v->out, &b.function))
		return NULL;
	b.from_ns = v8_quiet_since(&v->quiet, v->view, array, &b.region);
	b.number = ++v->numbers;
	read_bytecode(v, &b);
	if (!is_there(v, &b) || !b.bytes.len) {
		drop_bytecode(v, &b);
		return NULL;
	}
	slot = map_put(&v->bytecode_at, array, NULL);
	*slot = v->bytecodes.len;
	vec_push(&v->bytecodes, b);
	return &v->bytecodes.items[v->bytecodes.len - 1];
}

static struct jitdump_call call_at(struct v8 *v, const struct bytecode *b, uint32_t offset)
{
	struct v8_position at;
	struct jitdump_call call = entered_call(v, b->function, &b->positions);

	if (find_position(v, &b->positions, offset, &at))
		add_call(v, b->function, &at, &call);
	return call;
}

static void wait_for(struct v8 *v, struct waiting w)
{
	bool is_new = false;

	if (v->waiting.len < WAITING_MAX)
		map_put(&v->waits, use_of(w.ip, w.use), &is_new);
	if (is_new)
		vec_push(&v->waiting, w);
}

/* ---- places ---------------------------------------------------------------------------------------- */

static const char *label_of(const struct v8 *v, uint32_t function)
{
	return v->functions.items.items[function].label;
}

/* It is new here: say what code it is. */
static void announce(struct v8 *v, struct code *c, const char *label)
{
	if (!c->announced)
		jitdump_put_known(v->out, c->start, c->end - c->start, label);
	c->announced = true;
}

/* How much of its frame a function has where it was interrupted: none until it has pushed the frame pointer. */
static enum jitdump_frame leaf_frame(struct v8 *v, const struct code *c, uint64_t ip, uint32_t *ret_len)
{
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };
	uint8_t bytes[128];
	size_t len = (size_t)MIN(c->end - c->start, (uint64_t)sizeof(bytes)), at = (size_t)(ip - c->start);
	const uint8_t *found;
	uint8_t here;

	*ret_len = 8;
	if (arch_native() != &arch_x86_64 || !managed_view_try(v->view, ip, &here, 1))
		return JITDUMP_FRAME_UNKNOWN;
	if (here == 0xc3 || here == 0xc2)
		return JITDUMP_FRAME_NOT_SAVED;
	if (at >= len || !managed_view_try(v->view, c->start, bytes, len))
		return JITDUMP_FRAME_UNKNOWN;
	found = memmem(bytes, len, prologue, sizeof(prologue));
	if (!found || at > (size_t)(found - bytes) + 1)
		return JITDUMP_FRAME_UNKNOWN;
	if (at <= (size_t)(found - bytes))
		return JITDUMP_FRAME_NOT_SAVED;
	*ret_len = 16;
	return JITDUMP_FRAME_SAVED;
}

/* Baseline code begins with a call of a builtin that makes its frame, and takes its own return address off the stack for that. */
static enum jitdump_frame caller_frame(const struct code *c, uint64_t ip, uint32_t *ret_len)
{
	*ret_len = 8;
	return c->tier == TIER_BASELINE && ip - 1 - c->start < v8_positions_prologue(c->table.bytes, c->table.len) ? JITDUMP_FRAME_NOT_SAVED :
														     JITDUMP_FRAME_UNKNOWN;
}

static void put_place(struct v8 *v, const struct code *c, uint64_t ip, enum v8_use use,
		      const struct jitdump_call *calls, uint32_t count)
{
	uint32_t len = 0;
	enum jitdump_frame frame = use == V8_LEAF ? leaf_frame(v, c, ip, &len) : caller_frame(c, ip, &len);

	jitdump_put_place(v->out, ip - (use == V8_CALLER), frame, len, calls, count);
}

/* The code of what is executed again and again, for annotate. */
static void put_bytes(struct v8 *v, struct code *c, const char *label)
{
	size_t len = (size_t)(c->end - c->start);

	if (c->has_bytes || ++c->leaves < CODE_LEAVES || len > CODE_LEN_MAX)
		return;
	c->has_bytes = true;
	uint8_t *bytes = memory_alloc(len);

	if (managed_view_try(v->view, c->start, bytes, len))
		jitdump_put_load(v->out, v->inner_pid, c->start, label, bytes, len);
	free(bytes);
}

/* Baseline code is one piece for each bytecode. */
static void put_baseline(struct v8 *v, struct code *c, const struct bytecode *b, uint64_t ip,
			 enum v8_use use)
{
	const struct v8_bytecode bytecode = { b->bytes.bytes, b->bytes.len, v->layout->sizes, v->layout->nbytecodes };
	struct jitdump_call call = { b->function, 0 };
	uint32_t offset;

	read_tables(v, c);
	if (v8_positions_baseline(c->table.bytes, c->table.len, &bytecode, ip - (use == V8_CALLER) - c->start, &offset))
		call = call_at(v, b, offset);
	c->function = b->function;
	announce(v, c, label_of(v, b->function));
	put_place(v, c, ip, use, &call, 1);
	if (use == V8_LEAF)
		put_bytes(v, c, label_of(v, b->function));
}

static bool look_at_baseline(struct v8 *v, struct code *c, uint64_t ip, enum v8_use use)
{
	uint64_t array = bytecode_of(v, c->deopt);
	const struct bytecode *b = array ? known_bytecode(v, array) : NULL;

	if (b)
		put_baseline(v, c, b, ip, use);
	else if (array)
		wait_for(v, (struct waiting){ array, ip, use, false });
	return array;
}

static bool look_at_optimized(struct v8 *v, struct code *c, uint64_t ip, enum v8_use use)
{
	struct jitdump_call calls[CALLS_MAX];
	uint32_t count;

	if (!c->announced && !v8_functions_get(&v->functions, v->view, shared_of(v, c->deopt), v->out, &c->function))
		return false;
	read_tables(v, c);
	count = optimized_calls(v, c, ip - (use == V8_CALLER) - c->start, calls);
	announce(v, c, label_of(v, c->function));
	put_place(v, c, ip, use, calls, count);
	if (use == V8_LEAF)
		put_bytes(v, c, label_of(v, c->function));
	return true;
}

static bool look_at_other(struct v8 *v, struct code *c)
{
	announce(v, c, (c->flags & KIND_MASK) == KIND_REGEXP ? "[regular expression]" : "[V8 code]");
	return true;
}

static bool look_at(struct v8 *v, struct code *c, uint64_t ip, enum v8_use use)
{
	if (c->tier == TIER_BASELINE)
		return look_at_baseline(v, c, ip, use);
	return c->tier == TIER_OPTIMIZED ? look_at_optimized(v, c, ip, use) : look_at_other(v, c);
}

/*
 * What was written from @begin on is of code that was there from @from_ns on. False if some was freed or moved while it was read, so that
 * since() is not what it was, @before_ns: then it holds for no time, and is read anew when it is met again.
 */
static bool settle(struct v8 *v, uint64_t addr, size_t begin, uint64_t from_ns, uint64_t before_ns)
{
	const struct v8_quiet_heap *heap = v8_quiet_look(&v->quiet, v->view, addr);

	jitdump_set_times(v->out, begin, from_ns, from_ns);
	return !heap || heap->since_ns == before_ns;
}

/* The code around @ip, unless it was looked for lately, and there was none. */
static struct code *get_code_again(struct v8 *v, uint64_t ip, uint64_t now_ns)
{
	if (v8_asked_is_absent(&v->asked, ip, now_ns))
		return NULL;
	struct code *c = get_code(v, ip);

	v8_asked_set_found(&v->asked, ip, c, now_ns);
	return c;
}

bool v8_look(struct v8 *v, struct managed_view *view, uint64_t ip, enum v8_use use, struct writer *out)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), before_ns;
	size_t begin = out->len;
	struct code *c;
	bool found;

	v->view = view;
	v->out = out;
	before_ns = since(v, ip - (use == V8_CALLER));
	c = use == V8_LEAF ? get_code(v, ip) : get_code_again(v, ip - 1, now_ns);
	if (!c)
		return false;
	found = c->announced && v8_asked_is_placed(&v->asked, use_of(ip, use), c->number);
	if (!found && (found = look_at(v, c, ip, use)))
		note_placed(v, use_of(ip, use), c->announced ? c->number : 0);
	if (settle(v, c->stream, begin, c->from_ns, before_ns))
		c->seen_ns = c->used_ns = now_ns;
	else
		retire(v, c);
	return found;
}

static void put_bytecode(struct v8 *v, const struct bytecode *b, uint64_t bytecode)
{
	uint64_t offset = bytecode - (b->array - 1 + v->layout->at[V8_BYTECODE_DATA]);
	struct jitdump_call call;

	if (offset >= b->bytes.len)
		return;
	call = call_at(v, b, (uint32_t)offset);
	jitdump_put_place(v->out, bytecode, JITDUMP_FRAME_UNKNOWN, 0, &call, 1);
}

/* Its baseline code, which has waited for its function, unless other code lies there now. */
static void put_waiting_code(struct v8 *v, const struct bytecode *b, const struct waiting *w)
{
	struct code *c = get_code(v, w->ip - (w->use == V8_CALLER));
	size_t begin = v->out->len;

	if (!c || c->tier != TIER_BASELINE || bytecode_of(v, c->deopt) != b->array)
		return;
	put_baseline(v, c, b, w->ip, w->use);
	jitdump_set_times(v->out, begin, c->from_ns, c->from_ns);
}

/* Its function has become known: what waits for that. */
static void put_waiting(struct v8 *v, const struct bytecode *b)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->waiting.len; i++) {
		struct waiting w = v->waiting.items[i];

		if (w.array != b->array) {
			v->waiting.items[kept++] = w;
			continue;
		}
		map_remove(&v->waits, use_of(w.ip, w.use));
		if (w.is_bytecode)
			put_bytecode(v, b, w.ip);
		else
			put_waiting_code(v, b, &w);
	}
	v->waiting.len = kept;
}

static struct bytecode *look_at_bytecode(struct v8 *v, const struct v8_bytecode_at *at)
{
	struct bytecode *b = known_bytecode(v, at->array);

	if (!b && (b = learn(v, at))) {
		jitdump_put_known(v->out, at->array - 1 + v->layout->at[V8_BYTECODE_DATA], b->bytes.len, label_of(v, b->function));
		put_waiting(v, b);
	}
	if (!b && at->offset && v8_type(v->view, v->layout, at->array) == v->layout->at[V8_TYPE_BYTECODE])
		wait_for(v, (struct waiting){ at->array, at->array + at->offset, V8_LEAF, true });
	if (b && at->offset && !v8_asked_is_placed(&v->asked, use_of(at->array + at->offset, V8_LEAF), b->number)) {
		put_bytecode(v, b, at->array + at->offset);
		note_placed(v, use_of(at->array + at->offset, V8_LEAF), b->number);
	}
	return b;
}

bool v8_look_bytecode(struct v8 *v, struct managed_view *view, const struct v8_bytecode_at *at, struct writer *out)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), before_ns;
	size_t begin = out->len;
	struct bytecode *b;

	v->view = view;
	v->out = out;
	before_ns = since(v, at->array);
	b = look_at_bytecode(v, at);
	if (!b)
		return false;
	if (settle(v, at->array, begin, b->from_ns, before_ns))
		b->seen_ns = b->used_ns = now_ns;
	else
		retire_bytecode(v, b);
	return true;
}

/* ---- what is gone ---------------------------------------------------------------------------------- */

/* Did reading fail because the view is spent? With a view of its own it is not: then what was read is not there. */
static bool is_spent(struct v8 *v)
{
	return v->view->failed && v->unread != v->compared + 1;
}

static bool is_code_there(struct v8 *v, const struct code *c)
{
	struct code now;
	uint64_t map;

	return managed_view_try(v->view, c->stream, &map, sizeof(map)) && map == v->stream_map &&
	       read_stream(v, c->stream, c->start, &now) && is_same_code(v, c, &now) &&
	       is_whole(v, c->start, c->end, v->stream_map);
}

static void compare_code(struct v8 *v, struct code *c)
{
	if (!c->is_gone && c->announced && !is_code_there(v, c) && !is_spent(v))
		retire(v, c);
}

static void compare_bytecode(struct v8 *v, struct bytecode *b)
{
	if (!b->is_gone && !is_there(v, b) && !is_spent(v))
		retire_bytecode(v, b);
}

/* What has number @i, codes first and then bytecodes, is known and was used lately. */
static bool is_recent(const struct v8 *v, size_t i, uint64_t now_ns)
{
	if (i >= v->codes.len) {
		const struct bytecode *b = &v->bytecodes.items[i - v->codes.len];

		return !b->is_gone && b->used_ns + RECENT_NS >= now_ns;
	}
	const struct code *c = &v->codes.items[i];

	return !c->is_gone && c->announced && c->used_ns + RECENT_NS >= now_ns;
}

static void compare_recent_code(struct v8 *v, struct code *c, uint64_t begin_ns)
{
	if (is_code_there(v, c))
		c->seen_ns = begin_ns;
	else if (!v->view->failed)
		retire(v, c);
}

static void compare_recent_bytecode(struct v8 *v, struct bytecode *b, uint64_t begin_ns)
{
	if (is_there(v, b))
		b->seen_ns = begin_ns;
	else if (!v->view->failed)
		retire_bytecode(v, b);
}

/* What it needed the last time is read with one call. */
static void compare_group(struct v8 *v, size_t group, size_t begin, size_t end)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	while (v->groups.len <= group)
		vec_push(&v->groups, (struct managed_recent){ 0 });
	managed_view_want_recent(v->view, &v->groups.items[group]);
	managed_view_fetch(v->view);
	for (size_t i = begin; i < end && !v->view->failed; i++) {
		if (!is_recent(v, i, now_ns))
			continue;
		if (i < v->codes.len)
			compare_recent_code(v, &v->codes.items[i], now_ns);
		else
			compare_recent_bytecode(v, &v->bytecodes.items[i - v->codes.len], now_ns);
	}
	managed_view_remember(v->view, &v->groups.items[group]);
}

bool v8_compare_recent(struct v8 *v, struct managed_view *view, struct writer *out)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	size_t count = v->codes.len + v->bytecodes.len;
	bool compared = false;

	v->view = view;
	v->out = out;
	for (; v->recent * GROUP < count && !compared; v->recent++) {
		size_t begin = v->recent * GROUP, end = MIN(begin + GROUP, count), first = begin;

		while (first < end && !is_recent(v, first, now_ns))
			first++;
		compared = first < end;
		if (compared)
			compare_group(v, v->recent, first, end);
	}
	if (v->recent * GROUP < count)
		return false;
	v->recent = 0;
	return true;
}

void v8_watch(struct v8 *v, struct managed_view *view)
{
	v8_quiet_look_at_all(&v->quiet, view);
}

bool v8_compare(struct v8 *v, struct managed_view *view, struct writer *out)
{
	v->view = view;
	v->out = out;
	v8_quiet_look_at_all(&v->quiet, view);
	if (!v->begun_ns)
		v->begun_ns = clock_now_ns(CLOCK_MONOTONIC);
	for (; v->compared < v->codes.len + v->bytecodes.len; v->compared++) {
		if (v->compared < v->codes.len)
			compare_code(v, &v->codes.items[v->compared]);
		else
			compare_bytecode(v, &v->bytecodes.items[v->compared - v->codes.len]);
		if (view->failed) {
			v->compared += v->unread == v->compared + 1;
			v->unread = v->compared + 1;
			return false;
		}
	}
	v->compared = 0;
	v->checked_ns = v->begun_ns;
	v->begun_ns = 0;
	return true;
}

void v8_end(struct v8 *v, uint64_t more_ns, struct writer *out)
{
	v->out = out;
	for (size_t i = 0; i < v->codes.len; i++) {
		struct code *c = &v->codes.items[i];

		uint64_t until_ns = MAX(c->seen_ns, v8_quiet_full_ns(&v->quiet, c->region));

		if (until_ns > v->checked_ns) {
			c->seen_ns = until_ns + more_ns;
			retire(v, c);
		}
	}
	for (size_t i = 0; i < v->bytecodes.len; i++) {
		struct bytecode *b = &v->bytecodes.items[i];

		uint64_t until_ns = MAX(b->seen_ns, v8_quiet_full_ns(&v->quiet, b->region));

		if (until_ns > v->checked_ns) {
			b->seen_ns = until_ns + more_ns;
			retire_bytecode(v, b);
		}
	}
}

uint64_t v8_checked_ns(const struct v8 *v)
{
	return v->checked_ns;
}
