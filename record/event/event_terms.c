/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_terms.c - the terms that every event has come first, as in perf, then the PMU's own.
 */
#include "record/event/event_terms.h"

#include "formats/base/text.h"
#include "record/event/event_names.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

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

struct err *event_modifiers_parse(const char *text, struct event_modifiers *mods)
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

struct event_modifiers event_modifiers_join(struct event_modifiers a, struct event_modifiers b)
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

void event_modifiers_apply(const struct event_modifiers *mods, struct arena *arena,
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
	return err_new(ERR_USAGE, "it must be no, fp or dwarf");
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

struct err *event_terms_apply(const char *text, struct event_list *list, const struct pmu *pmu,
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
