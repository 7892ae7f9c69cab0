/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_levels.c - the levels as data: what they are called and which fields name their groups.
 */
#include "report/view/view_levels.h"

#include "formats/base/text.h"

#include <string.h>

#define DEPTH_MAX 4096
#define NEAR_MIN  4 /* characters */
#define FIELD     "field"
#define EVENT     "event"  /* and another: event_table.h */
#define BRANCH    "branch" /* a table of its own: branch_table.h */

struct level_info {
	const char *name;
	unsigned nfields;
	struct view_field fields[VIEW_FIELDS_MAX];
};

#define FUNCTION                                     \
	{                                            \
		"function", "function", false, false \
	}
#define MODULE                                   \
	{                                        \
		"module", "module", false, false \
	}
#define OBJECT                                         \
	{                                              \
		"memory", "data_object", false, false \
	}
#define OBJECT_MODULE                              \
	{                                          \
		"in", "data_module", false, false \
	}
#define PID                               \
	{                                 \
		"pid", "pid", true, false \
	}

static const struct level_info levels[VIEW_BYS] = {
	[VIEW_LEAF] = { "leaf", 2, { FUNCTION, MODULE } },
	[VIEW_CALLER] = { "caller",
			  3,
			  { FUNCTION, { "called by", "caller", false, false }, MODULE } },
	[VIEW_TOTAL] = { "total", 2, { FUNCTION, MODULE } },
	[VIEW_MODULE] = { "module", 2, { MODULE, { "path", "path", false, true } } },
	[VIEW_THREAD] = { "thread",
			  3,
			  { { "thread", "thread", false, false },
			    PID,
			    { "tid", "tid", true, false } } },
	[VIEW_PROCESS] = { "process", 2, { { "process", "process", false, false }, PID } },
	[VIEW_PROGRAM] = { "program", 1, { { "program", "program", false, false } } },
	[VIEW_COMM] = { "comm", 1, { { "name", "comm", false, false } } },
	[VIEW_CMDLINE] = { "cmdline", 1, { { "command line", "cmdline", false, false } } },
	[VIEW_EXEC] = { "exec", 1, { { "program", "exec", false, true } } },
	[VIEW_CGROUP] = { "cgroup", 1, { { "cgroup", "cgroup", false, true } } },
	[VIEW_CONTAINER] = { "container", 1, { { "container", "container", false, false } } },
	[VIEW_POD] = { "pod", 1, { { "pod", "pod", false, false } } },
	[VIEW_UNIT] = { "unit", 1, { { "unit", "unit", false, false } } },
	[VIEW_USER] = { "user", 1, { { "user", "user", false, false } } },
	[VIEW_CPU] = { "cpu", 1, { { "cpu", "cpu", true, false } } },
	[VIEW_LINE] = { "line", 3, { { "line", "line", false, true }, FUNCTION, MODULE } },
	[VIEW_ADDRESS] = { "address",
			   3,
			   { { "address", "address", false, false }, FUNCTION, MODULE } },
	[VIEW_DEPTH] = { "depth", 2, { FUNCTION, MODULE } },
	[VIEW_DATA_SYMBOL] = { "data-symbol", 2, { OBJECT, OBJECT_MODULE } },
	[VIEW_DATA_ADDRESS] = { "data-address",
				3,
				{ { "data address", "data_address", false, false },
				  OBJECT,
				  OBJECT_MODULE } },
	[VIEW_DATA_LINE] = { "data-line",
			     3,
			     { { "cache line", "data_line", false, false },
			       OBJECT,
			       OBJECT_MODULE } },
	[VIEW_DATA_SOURCE] = { "data-source",
			       3,
			       { { "data from", "data_source", false, false },
				 { "TLB", "tlb", false, false },
				 { "snoop, locks", "snoop", false, false } } },
	[VIEW_DATA_TYPE] = { "data-type", 1, { { "type", "data_type", false, false } } },
	[VIEW_DATA_FIELD] = { "data-field",
			      2,
			      { { "type", "data_type", false, false },
				{ "member", "member", false, false } } },
	[VIEW_STATE] = { "state", 1, { { "state", "state", false, false } } },
	[VIEW_WAIT] = { "wait", 1, { { "waits for", "wait", false, false } } },
	[VIEW_SYSCALL] = { "syscall", 1, { { "system call", "syscall", false, false } } },
	[VIEW_LOCK] = { "lock", 1, { { "lock", "lock", false, false } } },
	[VIEW_FILE] = { "file", 1, { { "file", "file", false, true } } },
	[VIEW_WAKER] = { "waker", 1, { { "woken by", "waker", false, false } } },
	[VIEW_ERROR] = { "error", 1, { { "error", "error", false, false } } },
	[VIEW_ENTRY] = { "entry", 1, { { "entry", "entry", false, false } } },
	[VIEW_RUNTIME] = { "runtime", 1, { { "runtime work", "runtime", false, false } } },
	[VIEW_MINE] = { "mine", 2, { FUNCTION, MODULE } },
	[VIEW_SCRIPT] = { "script", 2, { { "script function", "function", false, false }, MODULE } },
	[VIEW_SCRIPT_LINE] = { "script-line",
			       3,
			       { { "script line", "line", false, true },
				 { "script function", "function", false, false },
				 MODULE } },
	[VIEW_FIELD] = { FIELD, 1, { { "field", "field", false, false } } },
};

const struct view_field *view_fields(enum view_by by, unsigned *ret_count)
{
	*ret_count = levels[by].nfields;
	return levels[by].fields;
}

const char *view_level_name(const struct view_levels *asked, unsigned index)
{
	const struct view_level *level = &asked->items[index];

	return level->by == VIEW_FIELD ? asked->names[level->depth] : levels[level->by].name;
}

struct view_field view_level_field(const struct view_levels *asked, unsigned index)
{
	struct view_field field = levels[asked->items[index].by].fields[0];

	if (asked->items[index].by == VIEW_FIELD)
		field.title = field.key = view_level_name(asked, index);
	return field;
}

const char *view_by_name(enum view_by by)
{
	return levels[by].name;
}

const char *const view_level_names[] = {
	"leaf", "caller", "total", "module", "thread", "process", "program", "comm", "cmdline", "exec",
	"cgroup", "container", "pod", "unit", "user", "cpu", "line", "address", "depth=1", "data-symbol",
	"data-address", "data-line", "data-source", "data-type", "data-field", "entry", "runtime", "mine", "script",
	"script-line", "state", "wait",
	"syscall", "lock", "file", "waker", "error", "event", "branch", NULL,
};

/* What perf, and people, call a level. */
static const struct {
	const char *name;
	enum view_by by;
} synonyms[] = {
	{ "sym", VIEW_LEAF },      { "symbol", VIEW_LEAF },   { "function", VIEW_LEAF },
	{ "dso", VIEW_MODULE },    { "pid", VIEW_PROCESS },   { "tid", VIEW_THREAD },
	{ "srcline", VIEW_LINE },  { "parent", VIEW_CALLER }, { "ip", VIEW_ADDRESS },
	{ "mem", VIEW_DATA_SOURCE }, { "symbol_daddr", VIEW_DATA_SYMBOL },
	{ "dcacheline", VIEW_DATA_LINE }, { "type", VIEW_DATA_TYPE },	 { "typeoff", VIEW_DATA_FIELD },
};

/* Columns that a table has in any case. */
static const char *const columns[] = { "overhead", "sample", "period", "overhead_sys", "overhead_us" };

static bool is_column(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strcmp(columns[i], word) == 0)
			return true;
	return false;
}

static const char *own_name(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(synonyms); i++)
		if (strcmp(synonyms[i].name, word) == 0)
			return levels[synonyms[i].by].name;
	return word;
}

/* May @word be the name of a field: "next_comm", "args[0]"? */
static bool is_field_name(const char *word)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-:";

	return *word && strlen(word) < VIEW_NAME_MAX && !word[strspn(word, chars)] &&
	       !strchr("0123456789.-:", *word);
}

/* Is @word a level's name but for a slip? Of short words, any would be. */
static bool is_nearly(const char *word, const char *name)
{
	return strlen(word) >= NEAR_MIN && text_distance(word, name) <= MAX(strlen(word) / 3, 1);
}

/* "leaf, caller, ..., error": all but those that stand by themselves. */
static const char *all_names(struct arena *arena)
{
	const char *text = "";

	for (const char *const *name = view_level_names; *name; name++)
		if (strcmp(*name, EVENT) != 0 && strcmp(*name, BRANCH) != 0)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", *name);
	return text;
}

static struct err *set_field(struct view_levels *ret, const char *name)
{
	struct view_level *level = &ret->items[ret->len];

	if (!is_field_name(name))
		return err_remedy(err_new(ERR_USAGE, "'%s' is not a field name", name),
				  "field=NAME, or NAME alone, is a field of a tracepoint, as in --by next_comm");
	*level = (struct view_level){ .by = VIEW_FIELD, .depth = ret->len };
	memcpy(ret->names[ret->len], name, strlen(name) + 1);
	return NULL;
}

/* Keys of labels may be anything: "label:http.route". */
static struct err *set_label(struct view_levels *ret, const char *key)
{
	if (!*key || strlen(key) >= VIEW_NAME_MAX)
		return err_remedy(err_new(ERR_USAGE, "'%s' is not a label key", key),
				  "label:KEY is a label of samples, as in --by label:route; it has fewer than %d "
				  "bytes", VIEW_NAME_MAX);
	ret->items[ret->len] = (struct view_level){ .by = VIEW_FIELD, .depth = ret->len };
	memcpy(ret->names[ret->len], key, strlen(key) + 1);
	return NULL;
}

/* Not a level; but unless it is nearly one, it may be a field, which the recording decides. */
static struct err *take_field(struct view_levels *ret, const char *word)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = word };
	bool nearly = is_nearly(word, BRANCH) || is_nearly(word, EVENT);

	for (int by = 0; by < VIEW_FIELD; by++) {
		nearly |= is_nearly(word, levels[by].name);
		text_near_offer(&near, levels[by].name);
	}
	text_near_offer(&near, BRANCH);
	text_near_offer(&near, EVENT);
	if (!nearly && is_field_name(word))
		return set_field(ret, word);

	const char *hint = text_near_hint(&near, &arena);
	struct err *err = err_new(ERR_USAGE, "unknown level '%s'", word);

	if (hint)
		return err_remedy(err, "%s 'preport --help' lists all", hint);
	return err_remedy(err, "there are %s, field=NAME of a tracepoint, label:KEY, and event and branch by themselves",
			  all_names(&arena));
}

static struct err *parse_depth(const char *value, uint32_t *ret)
{
	uint64_t depth;

	if (!value || !text_parse_u64(value, &depth) || depth < 1 || depth > DEPTH_MAX)
		return err_remedy(
			err_new(ERR_USAGE, "depth needs a number from 1 to %d", DEPTH_MAX),
			"depth=1 is the outermost function of each stack");
	*ret = (uint32_t)depth;
	return NULL;
}

/* Set level number @levels->len. @word may be changed. */
static struct err *parse_level(char *word, struct view_levels *parsed)
{
	struct view_level *ret = &parsed->items[parsed->len];
	char *value = strchr(word, '=');
	const char *name;

	if (strncmp(word, "label:", 6) == 0)
		return set_label(parsed, word + 6);
	if (value)
		*value++ = 0;
	name = own_name(word);
	for (int by = 0; by < VIEW_BYS; by++) {
		if (strcmp(name, levels[by].name) != 0)
			continue;
		ret->by = (enum view_by)by;
		if (by == VIEW_FIELD)
			return set_field(parsed, value ? value : "");
		if (by == VIEW_DEPTH)
			return parse_depth(value, &ret->depth);
		if (value)
			return err_new(ERR_USAGE, "level '%s' takes no value", word);
		return NULL;
	}
	if (strcmp(word, BRANCH) == 0)
		return err_remedy(err_new(ERR_USAGE, "branches cannot be combined with other levels"),
				  "--by branch, branch=line or branch=address cannot be combined; "
				  "filters choose processes and functions");
	if (strcmp(word, EVENT) == 0)
		return err_remedy(err_new(ERR_USAGE, "events cannot be combined with other levels"),
				  "--by event cannot be combined; --event '*' makes a table of each");
	return take_field(parsed, word);
}

struct err *view_parse_levels(void *field, const char *value)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct view_levels parsed = { 0 };
	char *rest = arena_strdup(&arena, value);

	while (rest) {
		char *word = strsep(&rest, ",");

		if (is_column(word))
			continue;
		if (parsed.len == VIEW_LEVELS_MAX)
			return err_new(ERR_USAGE, "more than %d levels", VIEW_LEVELS_MAX);

		struct err *err = parse_level(word, &parsed);

		if (err)
			return err;
		parsed.len++;
	}
	if (!parsed.len)
		return err_new(ERR_USAGE, "'%s' names only columns, not a level", value);
	*(struct view_levels *)field = parsed;
	return NULL;
}
