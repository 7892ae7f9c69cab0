/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_extras.c - the names of branch filters are perf's.
 */
#include "record/event/sample_extras.h"

#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)
#define LIST_MAX 256

static const struct {
	const char *name;
	uint64_t bit;
} filters[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER },
	{ "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV },
	{ "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL },
	{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL },
	{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL },
	{ "cond", PERF_SAMPLE_BRANCH_COND },
	{ "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX },
	{ "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
};

static struct err *add_filter(const char *name, uint64_t *types)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct text_near near = { .wanted = name };

	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		text_near_offer(&near, filters[i].name);
		if (strcmp(filters[i].name, name) != 0)
			continue;
		*types |= filters[i].bit;
		return NULL;
	}
	const char *hint = text_near_hint(&near, &arena);

	return err_remedy(err_new(ERR_USAGE, "no branch filter '%s'", name), "%s",
			  hint ? hint
			       : "filters are any, any_call, any_ret, ind_call, ind_jmp, call, cond, "
				 "in_tx, no_tx, abort_tx, and the levels u, k, hv");
}

/* Levels alone leave the kernel nothing to choose from: it refuses them. */
static struct err *parse_branches(void *field, const char *value)
{
	char text[LIST_MAX], *next = text;
	uint64_t types = 0;

	if (strlen(value) >= sizeof(text))
		return err_new(ERR_USAGE, "the list of branch filters is too long");
	memcpy(text, value, strlen(value) + 1);
	while (next) {
		struct err *err = add_filter(strsep(&next, ","), &types);

		if (err)
			return err;
	}
	*(uint64_t *)field = types & ~(uint64_t)LEVELS ? types : types | PERF_SAMPLE_BRANCH_ANY;
	return NULL;
}

#define ARGS struct sample_extras

const struct opt sample_extras_opts[] = {
	OPT_FLAG(ARGS, any_branch, "branch-any", 'b', "record the last branches before each sample"),
	OPT_PARSE(ARGS, branches, "branch-filter", 'j', "LIST",
		  "record only these branches: any, any_call, cond, u, k, ...", parse_branches),
	OPT_FLAG(ARGS, data, "data", 'd', "record data addresses and data sources"),
	OPT_FLAG(ARGS, weight, "weight", 'W', "record latencies, where the PMU measures them"),
	OPT_END,
};

uint64_t sample_extras_branches(const struct sample_extras *extras)
{
	return extras->branches ? extras->branches
	       : extras->any_branch ? (uint64_t)PERF_SAMPLE_BRANCH_ANY
				    : 0;
}

void sample_extras_set(const struct sample_extras *extras, bool hardware, bool weight_struct,
		       struct perf_event_attr *attr)
{
	if (sample_extras_branches(extras) && hardware) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = sample_extras_branches(extras);
	}
	if (extras->data)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	if (extras->weight)
		attr->sample_type |=
			weight_struct ? PERF_SAMPLE_WEIGHT_STRUCT : PERF_SAMPLE_WEIGHT;
}
