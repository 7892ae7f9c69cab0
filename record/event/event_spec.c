/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_spec.c - the grammar of -e: commas, braces, slashes and colons. event_lookup.c knows the names.
 *
 * On a hybrid machine an item is read once for each kind of core, and only once if that made no difference.
 */
#include "record/event/event_spec.h"

#include "formats/base/err.h"
#include "formats/base/text.h"
#include "record/event/event_list.h"
#include "record/event/event_lookup.h"
#include "record/event/event_names.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Terms stand between the slashes of an event, modifiers are the letters behind it. The terms that every event has come
 * first, as in perf, then the PMU's own.
 */

/* Modifiers as they add up from an event and its group. */
struct event_modifiers {
	bool user, kernel, hypervisor; /* u k h */
	bool host, guest, not_idle;    /* H G I */
	bool pinned, exclusive, weak;  /* D e W */
	bool read_group, precise_max;  /* S P */
	uint8_t precise;               /* p, pp, ppp */
};

#define PRECISE_MAX        3
#define PMU_TYPE_SHIFT     32 /* PERF_PMU_TYPE_SHIFT, which older headers lack */
#define STACK_LEN_MAX      65528
#define STACK_LEN_MULTIPLE 8

/* ---- modifiers ---- */

static bool set_modifier(char letter, struct event_modifiers *mods)
{
	struct {
		char letter;
		bool *flag;
	} const flags[] = {
		{ 'u', &mods->user },       { 'k', &mods->kernel },      { 'h', &mods->hypervisor },
		{ 'H', &mods->host },       { 'G', &mods->guest },       { 'I', &mods->not_idle },
		{ 'D', &mods->pinned },     { 'e', &mods->exclusive },   { 'W', &mods->weak },
		{ 'S', &mods->read_group }, { 'P', &mods->precise_max },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		if (flags[i].letter != letter)
			continue;
		*flags[i].flag = true;
		return true;
	}
	return false;
}

/* Add the letters of @text to @mods. ERR_USAGE: a letter is none, or p comes more than three times. */
static struct err *event_modifiers_parse(const char *text, struct event_modifiers *mods)
{
	for (; *text; text++) {
		if (*text == 'p' && mods->precise < PRECISE_MAX)
			mods->precise++;
		else if (*text == 'p')
			return err_new(ERR_USAGE, "more than three modifiers 'p'");
		else if (!set_modifier(*text, mods))
			return err_remedy(
				err_new(ERR_USAGE, "no modifier '%c'", *text),
				"modifiers are u (user), k (kernel), h (hypervisor), p to ppp and "
				"P (precise), H and G (host, guest), I (not idle), S (read the "
				"group), D (pinned), e (exclusive), W (weak group)");
	}
	return NULL;
}

/* Both together. */
static struct event_modifiers event_modifiers_join(struct event_modifiers a, struct event_modifiers b)
{
	return (struct event_modifiers){
		.user = a.user || b.user,
		.kernel = a.kernel || b.kernel,
		.hypervisor = a.hypervisor || b.hypervisor,
		.host = a.host || b.host,
		.guest = a.guest || b.guest,
		.not_idle = a.not_idle || b.not_idle,
		.pinned = a.pinned || b.pinned,
		.exclusive = a.exclusive || b.exclusive,
		.weak = a.weak || b.weak,
		.read_group = a.read_group || b.read_group,
		.precise_max = a.precise_max || b.precise_max,
		.precise = MAX(a.precise, b.precise),
	};
}

/* What of @mods changes which hits count, in perf's order of letters. */
static const char *letters(const struct event_modifiers *mods, struct arena *arena)
{
	return arena_printf(
		arena, "%s%s%s%s%s%s%.*s%s", mods->user ? "u" : "", mods->kernel ? "k" : "",
		mods->hypervisor ? "h" : "", mods->host ? "H" : "", mods->guest ? "G" : "",
		mods->not_idle ? "I" : "", mods->precise, "ppp", mods->precise_max ? "P" : "");
}

/* Put @mods into @desc, its name included. */
static void event_modifiers_apply(const struct event_modifiers *mods, struct arena *arena,
			   struct event_desc *desc)
{
	const char *suffix = letters(mods, arena);
	size_t len = strlen(desc->name);

	if (*suffix && !desc->named)
		desc->name = arena_printf(arena, "%s%s%s", desc->name,
					  len && desc->name[len - 1] == '/' ? "" : ":", suffix);
	desc->levels_given = mods->user || mods->kernel || mods->hypervisor;
	if (desc->levels_given) {
		desc->exclude_user = !mods->user;
		desc->exclude_kernel = !mods->kernel;
		desc->exclude_hv = !mods->hypervisor;
	}
	desc->host_guest_given = mods->host || mods->guest;
	if (desc->host_guest_given) {
		desc->exclude_host = !mods->host;
		desc->exclude_guest = !mods->guest;
	}
	desc->exclude_idle = mods->not_idle;
	desc->precise = mods->precise;
	desc->precise_max = mods->precise_max;
	desc->pinned = mods->pinned;
	desc->exclusive = mods->exclusive;
	desc->weak = mods->weak;
	desc->read_group = mods->read_group;
}

/* ---- terms of every event ---- */

struct err *event_list_refuse_lbr(void)
{
	return err_remedy(err_new(ERR_USAGE, "'lbr', stacks from the processor's branch records, is not recorded"),
			  "leave it out: stacks are whole without frame pointers; 'precord -b' records branches");
}

static struct err *set_chain(const char *value, struct event_desc *desc)
{
	static const struct {
		const char *name;
		enum event_chain chain;
	} chains[] = {
		{ "no", EVENT_CHAIN_NONE },
		{ "none", EVENT_CHAIN_NONE },
		{ "fp", EVENT_CHAIN_FP },
		{ "dwarf", EVENT_CHAIN_DWARF },
	};

	for (size_t i = 0; i < ARRAY_LEN(chains); i++) {
		if (strcmp(chains[i].name, value) != 0)
			continue;
		desc->chain = chains[i].chain;
		return NULL;
	}
	return strcmp(value, "lbr") == 0 ? event_list_refuse_lbr() : err_new(ERR_USAGE, "it must be no, fp or dwarf");
}

static struct err *set_stack_len(const char *value, struct event_desc *desc)
{
	uint64_t len;

	if (!text_parse_size(value, &len) || !len || len > STACK_LEN_MAX ||
	    len % STACK_LEN_MULTIPLE)
		return err_new(ERR_USAGE, "it must be a multiple of %d bytes up to %d",
			       STACK_LEN_MULTIPLE, STACK_LEN_MAX);
	desc->stack_len = (uint32_t)len;
	return NULL;
}

static bool is_unsupported(const char *name)
{
	static const char *const names[] = {
		"time",         "max-stack",       "nr",
		"inherit",      "no-inherit",      "overwrite",
		"no-overwrite", "percore",         "aux-output",
		"aux-action",   "aux-sample-size", "branch_type",
		"config3",      "driver-config",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* Set a term that every event has; *@ret_known tells whether @name is one. */
static struct err *set_common(const char *name, const char *value, struct event_list *list,
			      struct event_desc *desc, bool *ret_known)
{
	*ret_known = true;
	if (strcmp(name, "period") == 0)
		return event_rate_parse_period(&desc->rate, value);
	if (strcmp(name, "freq") == 0)
		return event_rate_parse_freq(&desc->rate, value);
	if (strcmp(name, "call-graph") == 0)
		return set_chain(value, desc);
	if (strcmp(name, "stack-size") == 0)
		return set_stack_len(value, desc);
	if (strcmp(name, "name") == 0) {
		if (!*value)
			return err_new(ERR_USAGE, "it must not be empty");
		desc->name = arena_strdup(&list->arena, value);
		desc->named = true;
		return NULL;
	}
	*ret_known = false;
	return NULL;
}

/* ---- terms of a PMU ---- */

static struct err *unknown_term(const char *name, struct event_list *list, const struct pmu *pmu)
{
	static const char *const common[] = { "period", "freq", "name", "call-graph",
					      "stack-size" };
	struct text_near near = { .wanted = name };
	struct err *err = pmu ? err_new(ERR_USAGE, "the PMU '%s' has no term '%s'", pmu->name, name)
			      : err_new(ERR_USAGE, "no term '%s'", name);

	for (size_t i = 0; i < ARRAY_LEN(common); i++)
		text_near_offer(&near, common[i]);
	for (size_t i = 0; pmu && i < pmu->nfields; i++)
		text_near_offer(&near, pmu->fields[i].name);
	for (size_t i = 0; pmu && i < pmu->nevents; i++)
		text_near_offer(&near, pmu->events[i].name);

	const char *hint = text_near_hint(&near, &list->arena);

	return hint ? err_remedy(err, "%s", hint) : err;
}

/* "cycles" between the slashes of a core PMU. */
static void set_generic(const struct event_name *known, const struct event_list *list,
			const struct pmu *pmu, struct event_desc *desc)
{
	desc->type = known->type;
	desc->config = known->config;
	if (list->pmus.ncore > 1)
		desc->config |= (uint64_t)pmu->type << PMU_TYPE_SHIFT;
}

static bool is_own_term(const struct pmu *pmu, const char *name)
{
	return pmu_field_find(pmu, name) || strcmp(name, "config") == 0 ||
	       strcmp(name, "config1") == 0 || strcmp(name, "config2") == 0;
}

static struct err *parse_value(const char *text, uint64_t *ret)
{
	char *end;

	*ret = strtoull(text, &end, 0);
	if (end == text || *end || *text == '-')
		return err_new(ERR_USAGE, "it must be a number, such as 12 or 0x1c2");
	return NULL;
}

/* Set a term that is the PMU's; @value is NULL if it has none. */
static struct err *set_own(const char *name, const char *value, struct event_list *list,
			   const struct pmu *pmu, struct event_desc *desc)
{
	const struct pmu_event *event = pmu ? pmu_event_find(pmu, name) : NULL;
	const struct event_name *known =
		pmu && pmu->is_core && !value ? event_name_find(name) : NULL;
	uint64_t configs[PMU_CONFIGS] = { desc->config, desc->config1, desc->config2 };
	uint64_t number = 1;
	struct err *err = NULL;

	if (event && !value) {
		err = pmu_event_encode(pmu, event, configs);
		desc->scale = event->scale;
		desc->scale_unit = event->unit;
	} else if (pmu && is_own_term(pmu, name)) {
		err = value ? parse_value(value, &number) : NULL;
		if (!err)
			err = pmu_term_set(pmu, name, number, configs);
	} else if (known && known->type == PERF_TYPE_HARDWARE) {
		set_generic(known, list, pmu, desc);
		return NULL;
	} else if (is_unsupported(name)) {
		return err_new(ERR_UNSUPPORTED, "this program has no term '%s'", name);
	} else {
		return unknown_term(name, list, pmu);
	}
	if (err)
		return err;
	desc->config = configs[0];
	desc->config1 = configs[1];
	desc->config2 = configs[2];
	return NULL;
}

/*
 * Put the terms of @text ("event=0x3c,period=1000") into @desc. With @pmu the terms may name its fields
 * and events; without, only those that every event has.
 * ERR_USAGE: a term is unknown (with near names) or has a wrong value.
 */
static struct err *event_terms_apply(const char *text, struct event_list *list, const struct pmu *pmu,
			      struct event_desc *desc)
{
	char *next = arena_strdup(&list->arena, text);
	bool known;

	while (next && *next) {
		char *value = strsep(&next, ",");
		char *name = strsep(&value, "=");
		struct err *err = set_common(name, value ? value : "", list, desc, &known);

		if (!err && !known)
			err = set_own(name, value, list, pmu, desc);
		if (err)
			return value ? err_wrap(err, "term '%s=%s'", name, value) : err;
	}
	return NULL;
}

#define BLANKS " \t\n"

struct parser {
	struct event_list *list;
	const char *text; /* all of it, for positions */
	const char *pos;
	const struct pmu *core;
	bool used_core;
};

/* The words of one event, cut out of the text. */
struct words {
	const char *head;  /* before the slash */
	const char *terms; /* between the slashes, NULL if there are none */
	const char *tail;  /* modifiers behind the slash, without a colon */
};

static struct err *at(const struct parser *p, const char *where, struct err *err)
{
	if (err_kind(err) != ERR_USAGE || where == p->text)
		return err;
	return err_wrap(err, "at character %zu", (size_t)(where - p->text) + 1);
}

static void skip_blanks(struct parser *p)
{
	p->pos += strspn(p->pos, BLANKS);
}

/* Cut off the text up to the first of @stops, blanks at its end left out. */
static char *take_until(struct parser *p, const char *stops)
{
	size_t len = strcspn(p->pos, stops), kept = len;
	const char *start = p->pos;

	p->pos += len;
	while (kept && strchr(BLANKS, start[kept - 1]))
		kept--;
	return arena_memdup(&p->list->arena, start, kept);
}

static bool is_breakpoint(const char *text)
{
	return strncmp(text, "mem:", 4) == 0;
}

static struct err *take_words(struct parser *p, struct words *ret)
{
	struct words words = { .tail = "" };
	const char *start = p->pos;

	words.head = take_until(p, is_breakpoint(p->pos) || probe_event_is(p->pos) ? ",{}" : "/,{}");
	if (*p->pos == '/') {
		p->pos++;
		words.terms = take_until(p, "/{}");
		if (*p->pos != '/')
			return at(p, start,
				  err_new(ERR_USAGE, "no '/' ends the terms of '%s'", start));
		p->pos++;
		p->pos += *p->pos == ':';
		words.tail = take_until(p, ",{}");
	}
	if (!*words.head)
		return at(p, start, err_new(ERR_USAGE, "an event is missing"));
	if (*p->pos == '{')
		return at(p, p->pos, err_new(ERR_USAGE, "'{' inside an event"));
	*ret = words;
	return NULL;
}

/* Split @text at its first colon; what follows it, or "" without a colon. */
static const char *split_colon(char *text)
{
	char *colon = strchr(text, ':');

	if (!colon)
		return "";
	*colon = 0;
	return colon + 1;
}

/* "ADDRESS[/LENGTH][:rwx][:MODIFIERS]" */
static struct err *read_breakpoint(struct event_lookup *lookup, char *text, const char **ret_mods)
{
	char *access = (char *)split_colon(text);
	const char *mods = *access ? split_colon(access) : "";

	if (*access && access[strspn(access, "rwx")] && !*mods) {
		mods = access;
		access = (char *)"";
	}
	*ret_mods = mods;
	return event_lookup_breakpoint(lookup, text, access);
}

/* "SYSTEM:NAME[:MODIFIERS]", split at the first colon already. */
static struct err *read_tracepoint(struct event_lookup *lookup, const char *system, char *name,
				   const char **ret_mods)
{
	*ret_mods = split_colon(name);
	if (!*system || !*name)
		return err_new(ERR_USAGE,
			       "a tracepoint is SYSTEM:NAME, such as sched:sched_switch");
	return event_lookup_tracepoint(lookup, system, name);
}

static struct err *apply_terms(struct event_lookup *lookup, const char *terms, bool is_pmu)
{
	struct event_list *list = lookup->list;

	for (size_t i = 0; i < lookup->found.len; i++) {
		struct event_desc *desc = &lookup->found.items[i];

		if (is_pmu)
			desc->name = arena_printf(&list->arena, "%s/%s/", desc->name, terms);
		struct err *err = event_terms_apply(terms, list, is_pmu ? desc->pmu : NULL, desc);

		if (err)
			return err;
	}
	return NULL;
}

/* "EVENT:UMASK" of libpfm4: what follows the colon is no list of modifiers. */
static bool is_vendor_with_mask(struct event_lookup *lookup, const char *head, const char *rest)
{
	struct event_modifiers mods = { 0 };
	CLEANUP(err_freep) struct err *err = event_modifiers_parse(rest, &mods);

	return err && event_lookup_has_name(lookup, head);
}

/* Find what the words mean; *@ret_mods gets the modifiers that stood in the head. */
static struct err *look_up(struct event_lookup *lookup, const struct words *words,
			   const char **ret_mods)
{
	char *head = arena_strdup(&lookup->list->arena, words->head);
	struct err *err = NULL;
	bool is_pmu = false;

	*ret_mods = "";
	if (is_breakpoint(head))
		return read_breakpoint(lookup, head + strlen("mem:"), ret_mods);

	if (probe_event_is(head))
		return event_lookup_probe(lookup, head);

	char *rest = (char *)split_colon(head);

	if (is_vendor_with_mask(lookup, words->head, rest)) {
		err = event_lookup_name(lookup, words->head);
	} else if (event_lookup_has_name(lookup, head)) {
		*ret_mods = rest;
		err = event_lookup_name(lookup, head);
	} else if (strchr(words->head, ':')) {
		err = read_tracepoint(lookup, head, rest, ret_mods);
	} else if (words->terms && (err = event_lookup_check_pmu(head))) {
		return err;
	} else if (words->terms && event_lookup_has_pmu(lookup, head)) {
		is_pmu = true;
		event_lookup_pmu(lookup, head);
	} else if (words->terms) {
		err = event_lookup_unknown_pmu(lookup, head);
	} else {
		err = event_lookup_unknown(lookup, head);
	}
	if (!err && words->terms)
		err = apply_terms(lookup, words->terms, is_pmu);
	return err;
}

/* Append what was found, each event leading itself. */
static void append(struct parser *p, struct event_lookup *lookup,
		   const struct event_modifiers *mods)
{
	for (size_t i = 0; i < lookup->found.len; i++) {
		struct event_desc *desc = &lookup->found.items[i];

		event_modifiers_apply(mods, &p->list->arena, desc);
		desc->leader = (uint32_t)p->list->len;
		vec_push(p->list, *desc);
	}
}

/* EVENT, in a group whose modifiers are @group_mods. */
static struct err *read_event(struct parser *p, struct event_modifiers group_mods)
{
	CLEANUP(event_lookup_deinit)
	struct event_lookup lookup = { .list = p->list, .core = p->core };
	struct event_modifiers mods = { 0 };
	struct words words = { 0 };
	const char *start, *head_mods;

	skip_blanks(p);
	start = p->pos;
	struct err *err = take_words(p, &words);

	if (err)
		return err;
	err = look_up(&lookup, &words, &head_mods);
	if (!err)
		err = event_modifiers_parse(head_mods, &mods);
	if (!err)
		err = event_modifiers_parse(words.tail, &mods);
	if (err)
		return at(p, start, err);
	p->used_core |= lookup.used_core;
	mods = event_modifiers_join(mods, group_mods);
	append(p, &lookup, &mods);
	return NULL;
}

/*
 * Which of a :S group samples: the leader. But where slots lead, the kernel lets neither them nor the
 * metrics that they bring (PERF_METRICS, Intel since Ice Lake) sample, and the first other event does.
 */
static struct err *choose_sampler(const struct event_list *list, size_t first, size_t *ret)
{
	*ret = first;
	if (!list->items[first].read_group || !event_lookup_is_slots(&list->items[first]))
		return NULL;
	while (++*ret < list->len)
		if (!event_lookup_is_metric(&list->items[*ret]))
			return NULL;
	return err_remedy(err_new(ERR_USAGE, "no event of the group can sample: slots and the "
					     "topdown metrics are only read"),
			  "add one that can: -e '{slots,cycles,topdown-retiring,...}:S'");
}

/* Make the events from @first on one group; with :S only one of them samples. */
static struct err *join_group(struct event_list *list, size_t first)
{
	size_t sampler;
	struct err *err = choose_sampler(list, first, &sampler);

	for (size_t i = first; !err && i < list->len; i++) {
		struct event_desc *desc = &list->items[i];

		desc->leader = (uint32_t)first;
		desc->samples = i == sampler || !desc->read_group;
	}
	return err;
}

/* {EVENT,EVENT...}[:MODIFIERS]; the modifiers are read first, because each event's name shows them. */
static struct err *read_group(struct parser *p)
{
	const char *open = p->pos, *close = strchr(open, '}');
	struct event_modifiers mods = { 0 };
	size_t first = p->list->len;
	struct err *err = NULL;

	if (!close)
		return at(p, open, err_new(ERR_USAGE, "no '}' ends the group '%s'", open));
	p->pos = close + 1;
	if (*p->pos == ':') {
		p->pos++;
		err = event_modifiers_parse(take_until(p, ",{}"), &mods);
	}
	if (err)
		return at(p, close + 2, err);

	const char *end = p->pos;

	for (p->pos = open; !err && p->pos < close;) {
		p->pos++;
		err = read_event(p, mods);
	}
	p->pos = end;
	if (!err)
		err = join_group(p->list, first);
	return err;
}

/* ITEM, for one kind of core. */
static struct err *read_item(struct parser *p)
{
	skip_blanks(p);
	return *p->pos == '{' ? read_group(p) : read_event(p, (struct event_modifiers){ 0 });
}

/* ITEM, for each kind of core for which it means something else. */
static struct err *read_item_for_cores(struct parser *p)
{
	const struct pmu_set *pmus = &p->list->pmus;
	const char *start = p->pos;
	struct err *err = NULL;

	p->core = NULL;
	if (pmus->ncore < 2)
		return read_item(p);
	p->used_core = true;
	for (size_t i = 0; !err && p->used_core && i < pmus->len; i++) {
		if (!pmus->items[i].is_core)
			continue;
		p->core = &pmus->items[i];
		p->used_core = false;
		p->pos = start;
		err = read_item(p);
	}
	return err;
}

static struct err *read_list(struct parser *p)
{
	for (;;) {
		struct err *err = read_item_for_cores(p);

		if (err)
			return err;
		skip_blanks(p);
		if (!*p->pos)
			return NULL;
		if (*p->pos != ',')
			return at(p, p->pos, err_new(ERR_USAGE, "'%s' instead of a comma", p->pos));
		p->pos++;
	}
}

/* A machine whose sysfs cannot be read has no PMUs to look at; what does not need them still works. */
static void load_pmus(struct event_list *list)
{
	if (list->pmus_loaded)
		return;
	err_free(pmu_set_load(&list->pmus, list->sysfs ? list->sysfs : PMU_SYSFS));
	list->pmus_loaded = true;
}

struct err *event_list_add(struct event_list *list, const char *text)
{
	struct parser p = { .list = list, .text = text, .pos = text };
	size_t before = list->len;

	load_pmus(list);
	struct err *err = read_list(&p);

	if (err)
		list->len = before;
	else
		list->last_option = before;
	return err;
}

struct err *event_list_parse(void *field, const char *text)
{
	return event_list_add(field, text);
}

struct err *event_list_parse_filter(void *field, const char *text)
{
	struct event_list *list = field;
	size_t ntracepoints = 0;

	for (size_t i = list->last_option; i < list->len; i++) {
		struct event_desc *desc = &list->items[i];

		if (desc->type != PERF_TYPE_TRACEPOINT)
			continue;
		ntracepoints++;
		desc->filter = desc->filter ? arena_printf(&list->arena, "(%s) && (%s)",
							   desc->filter, text)
					    : arena_strdup(&list->arena, text);
	}
	if (ntracepoints)
		return NULL;
	return err_remedy(
		err_new(ERR_USAGE, "there is no tracepoint before it to filter"),
		"put it behind its tracepoint: -e sched:sched_switch --filter 'prev_pid > 1'");
}

void event_list_default(struct event_list *list)
{
	if (list->len)
		return;
	err_free(event_list_add(list, "cycles"));
	for (size_t i = 0; i < list->len; i++) {
		list->items[i].is_default = true;
		list->items[i].precise_max = true;
	}
}

struct err *event_list_add_off_cpu(struct event_list *list, bool wakers)
{
	struct err *err = NULL;

	event_list_default(list);
	if (!event_list_wants_switches(list))
		err = event_list_add(list, "off-cpu");
	for (size_t i = 0; i < list->len; i++)
		wakers &= !event_desc_is_waking(&list->items[i]);
	/* A stack for each would cost more than all the rest: the second is thinned, as stacks of waits are. */
	return !err && wakers ? event_list_add(list, EVENT_LIST_WAKING "/call-graph=no/," EVENT_LIST_WAKING "/period=1/") : err;
}

/* Stacks at a steady rate, which the kernel keeps to: a call without costs a tenth of one with. */
struct err *event_list_add_syscalls(struct event_list *list)
{
	event_list_default(list);
	for (size_t i = 0; i < list->len; i++)
		if (event_desc_is_syscalls(&list->items[i]))
			return NULL;
	return event_list_add(list, EVENT_LIST_ENTER "/call-graph=no/," EVENT_LIST_EXIT "/call-graph=no/," EVENT_LIST_ENTER "/freq=499/");
}

/* The second one is often in a thread that has nothing to do with it: its stack says nothing. */
static struct err *add_pair(struct event_list *list, const char *first, const char *second)
{
	event_list_default(list);
	for (size_t i = 0; i < list->len; i++)
		if (list->items[i].type == PERF_TYPE_TRACEPOINT && strncmp(list->items[i].name, second, strlen(second)) == 0)
			return NULL;
	return event_list_add(list, arena_printf(&list->arena, "%s,%s/call-graph=no/", first, second));
}

struct err *event_list_add_block_io(struct event_list *list)
{
	return add_pair(list, "block:block_rq_issue", "block:block_rq_complete");
}

struct err *event_list_add_kernel_locks(struct event_list *list)
{
	return add_pair(list, EVENT_LIST_CONTENTION "begin", EVENT_LIST_CONTENTION "end");
}

struct err *event_list_add_idle(struct event_list *list, uint64_t rate)
{
	struct err *err;

	event_list_default(list);
	for (size_t i = 0; i < list->len; i++)
		if (event_desc_is_idle(&list->items[i]))
			return NULL;
	err = event_list_add(list, "idle");
	if (!err)
		list->items[list->len - 1].rate = (struct event_rate){ EVENT_RATE_FREQ, rate };
	return err;
}
