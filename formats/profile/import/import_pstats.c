/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_pstats.c - what Python's cProfile and profile write ('python -m cProfile -o FILE', pstats.Stats.dump_stats()): one dict
 * in the form of Python's marshal.
 *
 *	{ (file, line, name): (primitive calls, calls, seconds itself, seconds with callees,
 *			       { (file, line, name): (calls, primitive calls, seconds itself, seconds with callees) }) }
 *
 * The inner dict is of callers; of the module profile it has only the number of calls. Functions in C have the file "~". There are
 * no stacks: import_calls.h estimates them for the times. Of calls, only the direct callers are shown.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_calls.h"
#include "formats/profile/import/import_rows.h"

#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define FLAG_REF	   0x80 /* of a code: the object is referred to again, by 'r' and its number */
#define LONG_DIGIT_BITS	   15
#define LONG_DIGITS_MAX	   4 /* 60 bits; no counter has more */
#define SECONDS_MAX	   4e9
#define COUNT_MAX	   ((uint64_t)1 << 62)

struct caller {
	struct import_callable is;
	uint64_t calls;
	double own_s, whole_s; /* NAN: not known */
};

struct function {
	struct import_callable is;
	uint64_t calls;
	double own_s, whole_s;
};

/* What is referred to often is read once: no small file is much to do. */
struct object {
	size_t offset;
	uint32_t text;	   /* number of the string, once it was needed */
	uint32_t function; /* its number in pstats.known + 1, once it was */
};

struct pstats {
	struct profile *p;
	struct reader r;
	const uint8_t *data;
	VEC(struct object) refs;     /* that 'r' refers to */
	VEC(struct object) interned; /* the same of 'R', of Python 2 */
	unsigned jumps;		     /* an object that was read before is read again */
	VEC(struct import_callable) known; /* functions that are referred to */
	uint32_t no_file;	     /* string: what stands for the file of functions in C */
	VEC(struct caller) callers; /* of one function */
	struct import_calls *calls;
	uint32_t types[2], thread; /* time, calls */
	uint64_t negative, without_times;
};

/* ---- marshal ---- */

/* Where reading goes on behind a reference. */
struct jump {
	struct object *to; /* NULL: there was none */
	struct reader back;
};

static void refer(struct pstats *in, struct jump *jump, struct object *objects, size_t count)
{
	uint32_t number = reader_u32(&in->r, "a reference");

	if (in->r.failed)
		return;
	if (number >= count) {
		reader_fail(&in->r, "a reference to an object that has not come yet");
		return;
	}
	jump->to = &objects[number];
	jump->back = in->r;
	in->r.pos = in->data + jump->to->offset;
	in->r.offset = jump->to->offset;
	in->jumps++;
}

/* The code of the next object, with references followed; jump_back() behind the object. */
static uint8_t take_code(struct pstats *in, struct jump *jump)
{
	struct object object = { .offset = (size_t)in->r.offset };
	uint8_t code = reader_u8(&in->r, "an object");

	jump->to = NULL;
	if (code == 'r')
		refer(in, jump, in->refs.items, in->refs.len);
	else if (code == 'R')
		refer(in, jump, in->interned.items, in->interned.len);
	if (jump->to)
		code = reader_u8(&in->r, "an object");
	else if (code & FLAG_REF && !in->jumps)
		vec_push(&in->refs, object);
	else if (code == 't' && !in->jumps)
		vec_push(&in->interned, object);
	return code & (uint8_t)~FLAG_REF;
}

static void jump_back(struct pstats *in, const struct jump *jump)
{
	if (!jump->to)
		return;
	in->jumps--;
	if (!in->r.failed)
		in->r = jump->back;
}

static uint32_t read_text(struct pstats *in, uint8_t code)
{
	struct json_text text = { .data = NULL };

	if (code && strchr("stuaA", code))
		text.len = reader_u32(&in->r, "the length of a text");
	else if (code == 'z' || code == 'Z')
		text.len = reader_u8(&in->r, "the length of a text");
	else
		reader_fail(&in->r, "a text, which was expected,");
	text.data = reader_bytes(&in->r, text.len, "a text");
	text.len = text.data ? text.len : 0;
	return import_text(in->p, text);
}

/* The number of a string. A text that is referred to often is looked up once. */
static uint32_t take_text(struct pstats *in)
{
	struct jump jump;
	uint8_t code = take_code(in, &jump);
	uint32_t text;

	if (jump.to && jump.to->text)
		text = jump.to->text;
	else
		text = read_text(in, code);
	if (jump.to)
		jump.to->text = text;
	jump_back(in, &jump);
	return text;
}

/* A number of any size; of more than LONG_DIGITS_MAX digits it is a failure. */
static double take_long(struct pstats *in)
{
	int32_t digits = (int32_t)reader_u32(&in->r, "a number");
	uint32_t count = digits < 0 ? 0 - (uint32_t)digits : (uint32_t)digits;
	uint64_t value = 0;

	if (count > LONG_DIGITS_MAX)
		reader_fail(&in->r, "a number of more than 60 bits");
	for (uint32_t i = 0; i < count && !in->r.failed; i++)
		value |= (uint64_t)reader_u16(&in->r, "a number") << (i * LONG_DIGIT_BITS);
	return digits < 0 ? -(double)value : (double)value;
}

static double take_written_float(struct pstats *in)
{
	uint8_t len = reader_u8(&in->r, "a number");
	const char *text = reader_bytes(&in->r, len, "a number");
	char copy[256] = "";

	if (text)
		memcpy(copy, text, len);
	return strtod(copy, NULL);
}

static double take_number_of(struct pstats *in, uint8_t code)
{
	uint64_t bits;
	double value;

	switch (code) {
	case 'i':
		return (int32_t)reader_u32(&in->r, "a number");
	case 'I':
		return (double)(int64_t)reader_u64(&in->r, "a number");
	case 'l':
		return take_long(in);
	case 'f':
		return take_written_float(in);
	case 'g':
		bits = reader_u64(&in->r, "a number");
		memcpy(&value, &bits, sizeof(value));
		return value;
	default:
		reader_fail(&in->r, "a number, which was expected,");
		return 0;
	}
}

static double take_number(struct pstats *in)
{
	struct jump jump;
	double value = take_number_of(in, take_code(in, &jump));

	jump_back(in, &jump);
	return value;
}

static uint64_t count_of(double value)
{
	return value > 0 ? (uint64_t)MIN(value, (double)COUNT_MAX) : 0;
}

static uint64_t take_count(struct pstats *in)
{
	return count_of(take_number(in));
}

/* A tuple of @count begins; jump_back() behind it. */
static void take_tuple(struct pstats *in, uint8_t code, uint32_t count)
{
	uint32_t got = 0;

	if (code == ')')
		got = reader_u8(&in->r, "the length of a tuple");
	else if (code == '(')
		got = reader_u32(&in->r, "the length of a tuple");
	if (got != count)
		reader_fail(&in->r, "a tuple of another length than was expected");
}

/* ---- functions and their callers ---- */

static struct import_callable take_function(struct pstats *in, uint8_t code)
{
	struct import_callable is = { .kind = PROFILE_FRAME_INTERPRETED };
	uint64_t line;

	take_tuple(in, code, 3);
	is.file = take_text(in);
	line = take_count(in);
	is.declared = (uint32_t)MIN(line, (uint64_t)UINT32_MAX - 1);
	is.name = take_text(in);
	if (is.file == in->no_file) {
		is.kind = PROFILE_FRAME_NATIVE; /* of Python itself or an extension, in C */
		is.file = 0;
	}
	return is;
}

static struct import_callable take_referred(struct pstats *in, struct object *to, uint8_t code)
{
	if (!to->function) {
		vec_push(&in->known, take_function(in, code));
		to->function = (uint32_t)in->known.len;
	}
	return in->known.items[to->function - 1];
}

/* Is there another key in the dict? It is read. */
static bool take_key(struct pstats *in, struct import_callable *ret)
{
	struct jump jump;
	uint8_t code = take_code(in, &jump);

	if (in->r.failed || (code == '0' && !jump.to))
		return false;
	*ret = jump.to ? take_referred(in, jump.to, code) : take_function(in, code);
	jump_back(in, &jump);
	return !in->r.failed;
}

static void take_caller(struct pstats *in, struct caller *caller)
{
	struct jump jump;
	uint8_t code = take_code(in, &jump);

	caller->own_s = caller->whole_s = NAN;
	if (code == ')' || code == '(') {
		take_tuple(in, code, 4);
		caller->calls = take_count(in);
		take_count(in);
		caller->own_s = take_number(in);
		caller->whole_s = take_number(in);
	} else {
		caller->calls = count_of(take_number_of(in, code));
	}
	jump_back(in, &jump);
}

static void take_callers(struct pstats *in)
{
	struct caller caller;
	struct jump jump;

	in->callers.len = 0;
	if (take_code(in, &jump) != '{')
		reader_fail(&in->r, "a dict, which was expected,");
	if (in->jumps) /* each function has its own; the work would be their product */
		reader_fail(&in->r, "a dict that several functions share");
	while (take_key(in, &caller.is)) {
		take_caller(in, &caller);
		vec_push(&in->callers, caller);
	}
	jump_back(in, &jump);
}

static void take_stats(struct pstats *in, struct function *f)
{
	struct jump jump;

	take_tuple(in, take_code(in, &jump), 5);
	take_count(in);
	f->calls = take_count(in);
	f->own_s = take_number(in);
	f->whole_s = take_number(in);
	take_callers(in);
	jump_back(in, &jump);
}

/* ---- to a profile ---- */

static uint64_t ns_of(struct pstats *in, double seconds)
{
	in->negative += seconds < 0;
	return import_time_ns(MIN(seconds, SECONDS_MAX), 1e9);
}

static uint32_t location_of(struct pstats *in, const struct import_callable *is)
{
	return import_frame(in->p, &(struct import_frame){ .name = is->name, .file = is->file, .declared = is->declared,
							   .module = PROFILE_NONE, .kind = is->kind });
}

static void add_calls(struct pstats *in, const struct function *f, const struct import_callable *caller, uint64_t calls)
{
	struct import_sample sample = { .type = in->types[1], .thread = in->thread, .count = 1, .uncounted = true,
					.weight = (int64_t)calls };

	if (!calls)
		return;
	sample.stack = caller ? import_stack(in->p, 0, location_of(in, caller)) : 0;
	sample.stack = import_stack(in->p, sample.stack, location_of(in, &f->is));
	import_sample(in->p, &sample);
}

/* What a call of @caller cost with its callees: where that is not known, as its share of the calls. */
static double cost_of(struct pstats *in, const struct function *f, const struct caller *caller)
{
	if (!isnan(caller->whole_s))
		return caller->whole_s;
	in->without_times++;
	return f->calls ? f->whole_s * (double)caller->calls / (double)f->calls : 0;
}

static void add_function(struct pstats *in, const struct function *f)
{
	struct import_cost cost = { .function = import_calls_function(in->calls, &f->is), .callee = IMPORT_CALLS_SELF,
				    .file = f->is.file };
	uint64_t value = ns_of(in, f->own_s), left = f->calls;

	import_calls_cost(in->calls, &cost, &value, 1);
	cost.callee = cost.function;
	for (size_t i = 0; i < in->callers.len; i++) {
		const struct caller *caller = &in->callers.items[i];
		uint64_t calls = MIN(caller->calls, left);

		cost.function = import_calls_function(in->calls, &caller->is);
		cost.file = caller->is.file;
		value = ns_of(in, cost_of(in, f, caller));
		import_calls_cost(in->calls, &cost, &value, 1);
		add_calls(in, f, &caller->is, calls);
		left -= calls;
	}
	add_calls(in, f, NULL, left);
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	static const uint8_t small[] = { ')', 3 }, large[] = { '(', 3, 0, 0, 0 };
	uint8_t first;

	if (len < 7 || (start[0] & ~FLAG_REF) != '{')
		return 0;
	first = start[1] & (uint8_t)~FLAG_REF;
	if ((first == small[0] && start[2] == small[1]) || (first == large[0] && memcmp(start + 2, large + 1, 4) == 0))
		return 95;
	return 0;
}

static struct err *read_all(struct pstats *in)
{
	struct jump jump;
	struct function f;

	take_code(in, &jump);
	while (take_key(in, &f.is)) {
		take_stats(in, &f);
		if (!in->r.failed)
			add_function(in, &f);
	}
	return reader_check(&in->r);
}

static void warn(const struct pstats *in, struct diag *diag)
{
	if (import_calls_any(in->calls))
		diag_warn(diag, "it holds no stacks, only who calls whom; callers of callers are estimated");
	if (in->without_times)
		diag_warn(diag, "it has only the numbers of calls for callers, not their times, which are divided as the calls are");
	if (in->negative)
		diag_warn(diag, "%" PRIu64 " negative times are left out", in->negative);
}

static struct err *read_pstats(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			       struct diag *diag)
{
	struct pstats in = { .p = p, .data = input->data, .calls = import_calls_new(p) };
	struct err *err;

	(void)facts;
	in.no_file = profile_string(p, "~");
	in.types[0] = import_type(p, "wall", "ns");
	in.types[1] = import_type(p, "calls", "events");
	in.thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	reader_init(&in.r, input->data, input->len, /* big_endian= */ false);
	err = read_all(&in);
	if (!err) {
		import_calls_finish(in.calls, in.types, 1);
		warn(&in, diag);
	}
	import_calls_free(in.calls);
	vec_deinit(&in.refs);
	vec_deinit(&in.interned);
	vec_deinit(&in.known);
	vec_deinit(&in.callers);
	return err;
}

const struct importer import_pstats = {
	.name = "pstats",
	.what = "profile of Python's cProfile and profile",
	.extensions = ".prof .pstats .cprof",
	.carries = IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_pstats,
};
