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
 * Such a file has no stacks, only who calls whom: import_calls.h estimates them.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_calls.h"
#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/import_text.h"

#include "formats/base/map.h"

#include <inttypes.h>
#include <stdio.h>

#define EVENTS_MAX 16
#define COST_MAX   ((uint64_t)1 << 62)

/* Names by their numbers; of modules, files and functions. */
struct names {
	struct map numbers; /* number of the file -> string */
};

struct callgrind {
	struct profile *p;
	struct names modules, files, names;
	struct import_calls *calls;
	uint32_t nevents, npositions, types[EVENTS_MAX];
	uint64_t scales[EVENTS_MAX]; /* of their costs */
	uint64_t negatives;
	uint32_t module, file, file_now, function; /* what costs belong to */
	uint32_t callee_module, callee_file, callee_name;
	bool has_callee_module, has_callee_file, has_call, no_lines;
	uint64_t before[2], line_number;
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
	return import_calls_function(in->calls, &(struct import_callable){ .name = name, .file = file, .path = module });
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
static struct err *take_cost(struct callgrind *in, struct json_text word, uint32_t event, uint64_t *ret)
{
	uint64_t value = 0;
	bool negative = begins(&word, "-");

	if (word.len && !import_number(word, &value))
		return wrong(in, "a cost is not a number");
	if (value > COST_MAX / in->scales[event])
		return wrong(in, "a cost is above 2^62");
	in->negatives += negative && value;
	*ret = negative ? 0 : value * in->scales[event];
	return NULL;
}

static struct err *take_costs(struct callgrind *in, struct json_text line)
{
	struct import_cost cost = { .callee = IMPORT_CALLS_SELF };
	uint64_t values[EVENTS_MAX];
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
		err = take_cost(in, import_take(&line, ' '), i, &values[i]);
	}
	if (err)
		return err;
	cost.function = in->function;
	cost.file = in->file_now;
	if (!in->no_lines)
		cost.line = (uint32_t)MIN(in->before[(in->npositions - 1) & 1], (uint64_t)UINT32_MAX - 1);
	if (in->has_call)
		cost.callee = function_of(in, in->has_callee_module ? in->callee_module : in->module,
					  in->has_callee_file ? in->callee_file : in->file_now, in->callee_name);
	import_calls_cost(in->calls, &cost, values, in->nevents);
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

static void deinit(struct callgrind *in)
{
	map_deinit(&in->modules.numbers);
	map_deinit(&in->files.numbers);
	map_deinit(&in->names.numbers);
	import_calls_free(in->calls);
}

static struct err *read_callgrind(const struct import_input *input, struct profile *p, struct profile_facts *facts,
				  struct diag *diag)
{
	struct callgrind in = { .p = p, .function = PROFILE_NONE, .npositions = 1 };
	struct import_lines lines;
	struct json_text line;
	struct err *err = NULL;

	(void)facts;
	in.calls = import_calls_new(p);
	import_lines_init(&lines, input->data, input->len);
	while (!err && import_lines_next(&lines, &line)) {
		in.line_number = lines.number;
		err = take_line(&in, line);
	}
	if (!err)
		import_calls_finish(in.calls, in.types, in.nevents);
	if (!err && import_calls_any(in.calls))
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
