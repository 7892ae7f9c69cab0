/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_callgrind.c - callgrind.out files, of valgrind and of the many tools that write for KCachegrind (Xdebug, preport).
 *
 *	events: Ir Dr
 *	ob=(1) /bin/app			module, source file and function; a name is written once, then its number
 *	fl=(2) a.c
 *	fn=(3) main
 *	17 400 20			line, and what the function itself cost there
 *	cfn=(4) scan
 *	calls=5 30			what it calls
 *	17 5000 90			from which line, and what the callee and all that it calls cost
 *
 * Such a file has no stacks, only who calls whom. They are estimated as gprof does: what a function costs is divided among its
 * callers as their calls cost. Own costs and their lines are exact, and so are the calls of functions with one caller. What is too
 * little to be followed is added where most of its function is. Recursion ends where a function is met again.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include "formats/base/map.h"

#include <inttypes.h>
#include <stdio.h>

#define EVENTS_MAX 16
#define COST_MAX   ((uint64_t)1 << 62)
#define DEEPEST	   200	/* calls that are followed */
#define PART_LEAST 1e-5 /* of all: less is not followed */

/* Names by their numbers; of modules, files and functions. */
struct names {
	struct map numbers; /* number of the file -> string */
};

struct call_function {
	uint32_t name, file, module; /* strings; module as of the profile */
	bool open;		     /* on the way that is walked */
	double own, calls, called;   /* of the event at hand: itself, what it calls, what calls of it cost */
	size_t first_cost, ncosts, first_call, ncalls;
};

/* What a function cost at a line, or a call from there did. */
struct cost {
	uint32_t function, callee; /* PROFILE_NONE: itself */
	uint32_t file, line;
	size_t values;	 /* where they begin in callgrind.values, one an event */
	uint64_t value;	 /* of the event at hand */
	uint64_t given;	 /* of that, so far */
	uint32_t stack;	 /* that it was given to first; 0: none */
};

struct callgrind {
	struct profile *p;
	struct names modules, files, names;
	struct map function_ids; /* (name, file) mixed with the module -> index + 1, chained by next */
	VEC(struct call_function) functions;
	VEC(uint32_t) next; /* of function_ids' chains */
	VEC(struct cost) costs, calls;
	VEC(uint64_t) values;
	uint32_t nevents, npositions, types[EVENTS_MAX];
	uint64_t scales[EVENTS_MAX]; /* of their costs */
	uint64_t negatives;
	uint32_t module, file, file_now, function; /* what costs belong to */
	uint32_t callee_module, callee_file, callee_name;
	bool has_callee_module, has_callee_file, has_call, no_lines;
	uint64_t before[2], line_number;
	double total; /* what is divided among stacks */
	uint32_t thread;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	if (memchr(start, 0, len))
		return 0;
	if (len > 18 && memcmp(start, "# callgrind format", 18) == 0)
		return 98;
	if (import_has_text(start, len, "\nfn=") && (import_has_text(start, len, "events:") ||
						    import_has_text(start, len, "\ncalls=")))
		return 85;
	return 0;
}

/* ---- names ---- */

/* "(12) name", "(12)" or "name" */
static uint32_t take_name(struct callgrind *in, struct names *names, struct json_text text)
{
	struct json_text inner = text;
	uint64_t number, *known;

	if (!text.len || *text.data != '(')
		return import_text(in->p, text);
	inner.data++;
	inner.len--;
	if (!import_number(import_take(&inner, ')'), &number))
		return import_text(in->p, text);
	known = map_put(&names->numbers, number, NULL);
	inner = import_trim(inner);
	if (inner.len)
		*known = import_text(in->p, inner);
	return (uint32_t)*known;
}

/* What is not known is "???". */
static uint32_t known_string(const struct callgrind *in, uint32_t string)
{
	return strcmp(profile_text(in->p, string), "???") == 0 ? 0 : string;
}

static uint32_t function_of(struct callgrind *in, uint32_t module, uint32_t file, uint32_t name)
{
	struct call_function fresh = { .name = name, .file = file, .module = module };
	uint64_t *first = map_put(&in->function_ids, (uint64_t)name << 32 | (file ^ module << 16), NULL);
	uint32_t at;

	for (at = (uint32_t)*first; at; at = in->next.items[at - 1]) {
		const struct call_function *f = &in->functions.items[at - 1];

		if (f->name == name && f->file == file && f->module == module)
			return at - 1;
	}
	vec_push(&in->functions, fresh);
	vec_push(&in->next, (uint32_t)*first);
	*first = in->functions.len;
	return (uint32_t)in->functions.len - 1;
}

/* ---- lines of the file ---- */

static bool begins(struct json_text *line, const char *key)
{
	size_t len = strlen(key);

	if (!import_starts(*line, key))
		return false;
	line->data += len;
	line->len -= len;
	return true;
}

/* One of "ob=", "fl=", …; false if it is none. */
static bool take_key(struct callgrind *in, struct json_text line)
{
	if (begins(&line, "ob=")) {
		in->module = known_string(in, take_name(in, &in->modules, line));
	} else if (begins(&line, "fl=")) {
		in->file = in->file_now = known_string(in, take_name(in, &in->files, line));
	} else if (begins(&line, "fi=") || begins(&line, "fe=")) {
		in->file_now = known_string(in, take_name(in, &in->files, line));
	} else if (begins(&line, "fn=")) {
		in->function = function_of(in, in->module, in->file, take_name(in, &in->names, line));
		in->file_now = in->file;
	} else if (begins(&line, "cob=")) {
		in->callee_module = known_string(in, take_name(in, &in->modules, line));
		in->has_callee_module = true;
	} else if (begins(&line, "cfi=") || begins(&line, "cfl=")) {
		in->callee_file = known_string(in, take_name(in, &in->files, line));
		in->has_callee_file = true;
	} else if (begins(&line, "cfn=")) {
		in->callee_name = take_name(in, &in->names, line);
	} else {
		return false;
	}
	return true;
}

/* "12", "0x1f", "+3", "-3" or "*": the last three count from the one before. */
static bool take_position(struct callgrind *in, struct json_text word, unsigned which)
{
	uint64_t *at = &in->before[which & 1], value = 0;
	bool plus = begins(&word, "+"), minus = !plus && begins(&word, "-");

	if (!plus && !minus && json_is(word, "*"))
		return true;
	if (begins(&word, "0x")) {
		for (size_t i = 0; i < word.len && i < 16; i++)
			value = value << 4 | (uint64_t)(word.data[i] <= '9' ? word.data[i] - '0' : (word.data[i] | 32) - 'a' + 10);
	} else if (!import_number(word, &value)) {
		return false;
	}
	*at = plus ? *at + value : minus ? *at - MIN(value, *at) : value;
	return true;
}

static struct err *wrong(const struct callgrind *in, const char *what)
{
	return err_new(ERR_CORRUPT, "line %" PRIu64 ": %s", in->line_number, what);
}

/* The cost of event number @event. Memory that PHP gave back is a negative one: stacks of costs cannot hold it. */
static struct err *take_cost(struct callgrind *in, struct json_text word, uint32_t event)
{
	uint64_t value = 0;
	bool negative = begins(&word, "-");

	if (word.len && !import_number(word, &value))
		return wrong(in, "a cost is not a number");
	if (value > COST_MAX / in->scales[event])
		return wrong(in, "a cost is above 2^62");
	in->negatives += negative && value;
	vec_push(&in->values, negative ? 0 : value * in->scales[event]);
	return NULL;
}

static struct err *take_costs(struct callgrind *in, struct json_text line)
{
	struct cost cost = { .callee = PROFILE_NONE, .values = in->values.len };
	struct err *err = NULL;

	if (!in->nevents)
		return wrong(in, "costs come before the events line");
	if (in->function == PROFILE_NONE)
		return wrong(in, "costs come before the first function");
	for (unsigned i = 0; i < in->npositions; i++)
		if (!take_position(in, import_take(&line, ' '), i))
			return wrong(in, "it is neither a key nor a position with costs");
	for (uint32_t i = 0; i < in->nevents && !err; i++) {
		line = import_trim(line);
		err = take_cost(in, import_take(&line, ' '), i);
	}
	if (err)
		return err;
	cost.function = in->function;
	cost.file = in->file_now;
	if (!in->no_lines)
		cost.line = (uint32_t)MIN(in->before[(in->npositions - 1) & 1], (uint64_t)UINT32_MAX - 1);
	if (!in->has_call) {
		vec_push(&in->costs, cost);
		return NULL;
	}
	cost.callee = function_of(in, in->has_callee_module ? in->callee_module : in->module,
				  in->has_callee_file ? in->callee_file : in->file_now, in->callee_name);
	if (cost.callee != cost.function) /* recursion is in its own costs */
		vec_push(&in->calls, cost);
	in->has_call = in->has_callee_module = in->has_callee_file = false;
	return NULL;
}

/* Xdebug has the units in the names. */
static const struct {
	const char *name, *shown, *unit;
	uint64_t scale;
} unit_names[] = {
	{ "Time_(10ns)", "wall", "ns", 10 },
	{ "Memory_(bytes)", "memory", "bytes", 1 },
};

static void add_type(struct callgrind *in, const char *name)
{
	const char *shown = name, *unit = strstr(name, "clock") ? "ns" : "events";

	in->scales[in->nevents] = 1;
	for (size_t i = 0; i < ARRAY_LEN(unit_names); i++)
		if (strcmp(name, unit_names[i].name) == 0) {
			shown = unit_names[i].shown;
			unit = unit_names[i].unit;
			in->scales[in->nevents] = unit_names[i].scale;
		}
	in->types[in->nevents++] = import_type(in->p, shown, unit);
}

static struct err *take_events(struct callgrind *in, struct json_text names)
{
	struct json_text name;
	char text[64];

	while ((names = import_trim(names)).len) {
		name = import_take(&names, ' ');
		if (in->nevents == EVENTS_MAX)
			return wrong(in, "there are more than 16 events");
		snprintf(text, sizeof(text), "%.*s", (int)MIN(name.len, sizeof(text)), name.data);
		add_type(in, text);
	}
	return NULL;
}

static struct err *take_line(struct callgrind *in, struct json_text line)
{
	if (!line.len || *line.data == '#')
		return NULL;
	if (begins(&line, "events:"))
		return in->nevents ? NULL : take_events(in, line); /* of further parts: the same */
	if (begins(&line, "positions:")) {
		in->no_lines = memmem(line.data, line.len, "instr", 5) && !memmem(line.data, line.len, "line", 4);
		in->npositions = memmem(line.data, line.len, "instr", 5) && !in->no_lines ? 2 : 1;
		return NULL;
	}
	if (begins(&line, "calls=")) {
		in->has_call = true;
		return NULL;
	}
	if (take_key(in, line))
		return NULL;
	if (line.data[0] == '*' || line.data[0] == '+' || line.data[0] == '-' || (line.data[0] >= '0' && line.data[0] <= '9'))
		return take_costs(in, line);
	return NULL; /* a head, a jump, a total */
}

/* ---- stacks ---- */

/* By function, and then the heaviest first, so that the light ones need not be looked at. */
static int heaviest_first(const void *a_, const void *b_)
{
	const struct cost *a = a_, *b = b_;
	int order = COMPARE(a->function, b->function);

	order = order ? order : COMPARE(b->value, a->value);
	return order ? order : COMPARE(a->values, b->values);
}

static void set_values(struct callgrind *in, struct cost *costs, size_t count, uint32_t event)
{
	for (size_t i = 0; i < count; i++) {
		costs[i].value = in->values.items[costs[i].values + event];
		costs[i].given = 0;
		costs[i].stack = 0;
	}
}

/* The function and all that it calls, or what its callers say that is. */
static double whole_of(const struct call_function *f)
{
	return MAX(f->own + f->calls, f->called);
}

/*
 * In doubles, which do not run over: what a function hands on to those that it calls is never more than it was given, so that the
 * parts that are followed are never more than 1 / PART_LEAST, whatever the file says.
 */
static void add_up(struct callgrind *in)
{
	in->total = 0;
	for (size_t i = 0; i < in->costs.len; i++) {
		struct call_function *f = &in->functions.items[in->costs.items[i].function];

		f->first_cost = f->ncosts++ ? f->first_cost : i;
		f->own += (double)in->costs.items[i].value;
	}
	for (size_t i = 0; i < in->calls.len; i++) {
		struct call_function *f = &in->functions.items[in->calls.items[i].function];

		f->first_call = f->ncalls++ ? f->first_call : i;
		f->calls += (double)in->calls.items[i].value;
		in->functions.items[in->calls.items[i].callee].called += (double)in->calls.items[i].value;
	}
	for (size_t i = 0; i < in->functions.len; i++)
		in->total += whole_of(&in->functions.items[i]) - in->functions.items[i].called;
}

static void prepare(struct callgrind *in, uint32_t event)
{
	set_values(in, in->costs.items, in->costs.len, event);
	set_values(in, in->calls.items, in->calls.len, event);
	vec_sort(&in->costs, heaviest_first);
	vec_sort(&in->calls, heaviest_first);
	for (size_t i = 0; i < in->functions.len; i++) {
		struct call_function *f = &in->functions.items[i];

		f->own = f->calls = f->called = 0;
		f->ncosts = f->ncalls = 0;
	}
	add_up(in);
}

static uint32_t stack_at(struct callgrind *in, uint32_t parent, uint32_t number, const struct cost *cost)
{
	const struct call_function *f = &in->functions.items[number];
	const char *path = profile_text(in->p, f->module);
	struct profile_function function = { .name = f->name, .file = f->file };
	struct profile_line line = { .line = cost->line, .file = cost->file };

	function.module = import_module(in->p, (struct json_text){ path, strlen(path) }, PROFILE_USER);
	line.function = profile_add_function(in->p, &function);
	return import_stack(in->p, parent,
			    profile_add_named_location(in->p, PROFILE_FRAME_NATIVE, function.module, &line, 1));
}

static void add_sample(struct callgrind *in, uint32_t event, uint32_t stack, uint64_t value)
{
	struct import_sample sample = { .stack = stack, .type = in->types[event], .thread = in->thread,
					.count = 1, .uncounted = true, .weight = (int64_t)value };

	import_sample(in->p, &sample);
}

/* @part of @function's costs is spent below @parent. */
static void walk(struct callgrind *in, uint32_t event, uint32_t number, double part, uint32_t parent, unsigned depth)
{
	struct call_function *f = &in->functions.items[number];
	double least = MAX(1.0, in->total * PART_LEAST);

	for (size_t i = f->first_cost; i < f->first_cost + f->ncosts; i++) {
		struct cost *cost = &in->costs.items[i];
		uint64_t value = MIN((uint64_t)((double)cost->value * part), cost->value - cost->given);

		if (!cost->value || (double)cost->value * part < MIN(least, f->own * part))
			break;
		if (!value)
			continue;
		uint32_t stack = stack_at(in, parent, number, cost);

		cost->stack = cost->stack ? cost->stack : stack;
		cost->given += value;
		add_sample(in, event, stack, value);
	}
	f->open = true;
	for (size_t i = f->first_call; i < f->first_call + f->ncalls && depth < DEEPEST; i++) {
		const struct cost *call = &in->calls.items[i];
		const struct call_function *callee = &in->functions.items[call->callee];

		if ((double)call->value * part < least)
			break;
		if (!callee->open)
			walk(in, event, call->callee, (double)call->value * part / whole_of(callee),
			     stack_at(in, parent, number, call), depth + 1);
	}
	f->open = false;
}

static void add_event(struct callgrind *in, uint32_t event)
{
	prepare(in, event);
	for (uint32_t i = 0; i < in->functions.len; i++) {
		const struct call_function *f = &in->functions.items[i];
		double whole = whole_of(f);

		if (whole > f->called)
			walk(in, event, i, (whole - f->called) / whole, 0, 0);
	}
	for (size_t i = 0; i < in->costs.len; i++) {
		const struct cost *cost = &in->costs.items[i];

		if (cost->given < cost->value)
			add_sample(in, event, cost->stack ? cost->stack : stack_at(in, 0, cost->function, cost),
				   cost->value - cost->given);
	}
}

static void deinit(struct callgrind *in)
{
	map_deinit(&in->modules.numbers);
	map_deinit(&in->files.numbers);
	map_deinit(&in->names.numbers);
	map_deinit(&in->function_ids);
	vec_deinit(&in->functions);
	vec_deinit(&in->next);
	vec_deinit(&in->costs);
	vec_deinit(&in->calls);
	vec_deinit(&in->values);
}

static struct err *read_callgrind(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				  struct diag *diag)
{
	struct callgrind in = { .p = p, .function = PROFILE_NONE, .npositions = 1 };
	struct import_lines lines;
	struct json_text line;
	struct err *err = NULL;

	(void)facts;
	in.thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0);
	import_lines_init(&lines, input->data, input->len);
	while (!err && import_lines_next(&lines, &line)) {
		in.line_number = lines.number;
		err = take_line(&in, line);
	}
	for (uint32_t event = 0; event < in.nevents && !err; event++)
		add_event(&in, event);
	if (!err && in.calls.len)
		diag_warn(diag, "it holds no stacks, only who calls whom; callers of callers are estimated");
	if (!err && in.negatives)
		diag_warn(diag, "%" PRIu64 " negative costs are left out, of memory that was given back", in.negatives);
	deinit(&in);
	return err;
}

const struct importer import_callgrind = {
	.name = "callgrind",
	.what = "callgrind.out of valgrind, and what others write for KCachegrind",
	.extensions = ".callgrind .out",
	.carries = IMPORT_LINES | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_callgrind,
};
