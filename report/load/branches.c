/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branches.c - an address becomes a location at the moment of its sample, a location a place, two places a row.
 */
#include "report/load/branches.h"

#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

void branches_init(struct branches *b, struct session *s, enum branches_by by)
{
	*b = (struct branches){ .s = s, .by = by };
}

void branches_deinit(struct branches *b)
{
	map_deinit(&b->index);
	map_deinit(&b->names);
	vec_deinit(&b->rows);
	vec_deinit(&b->places);
	vec_deinit(&b->seen);
	vec_deinit(&b->touched);
}

/* ---- places ---- */

static const struct profile_line *line_at(const struct branches *b, uint32_t location)
{
	const struct profile *p = b->s->profile;

	if (location == PROFILE_NONE || !p->locations.items[location].nlines)
		return NULL;
	return &p->lines.items[p->locations.items[location].first_line];
}

const struct profile_line *branches_line(const struct branches *b, uint32_t place)
{
	return line_at(b, b->places.items[place].location);
}

const char *branches_function(const struct branches *b, uint32_t place)
{
	const struct profile *p = b->s->profile;
	const struct profile_line *line = branches_line(b, place);

	return line ? profile_text(p, p->functions.items[line->function].name) : "[unknown]";
}

const char *branches_module(const struct branches *b, uint32_t place)
{
	const struct profile *p = b->s->profile;
	uint32_t location = b->places.items[place].location;

	if (location == PROFILE_NONE)
		return "";
	return profile_text(p, profile_module(p, p->locations.items[location].module)->name);
}

/* Locations with equal ones are one place: names may come from several entries of debug information. */
static uint32_t identity(const struct branches *b, uint32_t location)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = b->s->profile;
	const struct profile_line *line = line_at(b, location);

	if (!line)
		return profile_string(p, "\x1f");

	const struct profile_location *at = &p->locations.items[location];
	const char *text = arena_printf(&arena, "%" PRIu32 "\x1f%" PRIu32,
					p->functions.items[line->function].name,
					profile_module(p, at->module)->path);

	if (b->by == BRANCHES_BY_LINE)
		text = arena_printf(&arena, "%s\x1f%" PRIu32 "\x1f%" PRIu32, text, line->file,
				    line->line);
	if (b->by == BRANCHES_BY_ADDRESS)
		text = arena_printf(&arena, "%s\x1f%" PRIx64, text, at->vaddr);
	return profile_string(p, text);
}

static struct branches_seen look_at(struct branches *b, uint32_t location)
{
	const struct filter *filter = b->s->filter;
	bool somewhere = location != PROFILE_NONE;
	bool named = b->by != BRANCHES_BY_LOCATION;

	if (somewhere && named)
		loader_name(b->s->loader, location);

	uint64_t *place = map_put(&b->names, named ? identity(b, location) : location, NULL);

	if (!*place) {
		vec_push(&b->places, ((struct branches_place){ location }));
		*place = b->places.len;
	}
	return (struct branches_seen){
		.place = (uint32_t)*place,
		.passes = !named || !filter_needs_stacks(filter) ||
			  (somewhere && filter_passes_location(filter, b->s->profile, location)),
	};
}

static struct branches_seen see(struct branches *b, uint32_t pid, uint64_t ip)
{
	uint32_t location = loader_locate(b->s->loader, pid, ip);
	size_t number = location == PROFILE_NONE ? 0 : (size_t)location + 1;

	while (b->seen.len <= number)
		vec_push(&b->seen, ((struct branches_seen){ 0 }));
	if (!b->seen.items[number].place)
		b->seen.items[number] = look_at(b, location);
	return b->seen.items[number];
}

/* ---- counting ---- */

static struct branches_row *row_of(struct branches *b, uint32_t from, uint32_t to)
{
	uint64_t *row = map_put(&b->index, (uint64_t)from << 32 | to, NULL);

	if (!*row) {
		vec_push(&b->rows, ((struct branches_row){ .from = from, .to = to }));
		*row = b->rows.len;
	}
	return &b->rows.items[*row - 1];
}

static bool add_branch(struct branches *b, uint32_t pid, const struct event_branch *branch)
{
	struct event_branch_facts facts = event_branch_facts(branch);
	struct branches_seen from = see(b, pid, branch->from);
	struct branches_seen to = see(b, pid, branch->to);

	if (!from.passes && !to.passes)
		return false;

	struct branches_row *row = row_of(b, from.place - 1, to.place - 1);

	if (row->now.number != b->samples) {
		row->now = (struct branches_bunch){ .number = b->samples };
		vec_push(&b->touched, (uint32_t)(row - b->rows.items));
	}
	row->now.count++;
	row->now.known += facts.known;
	row->now.missed += facts.mispredicted;
	row->now.timed += facts.cycles != 0;
	row->now.cycles += facts.cycles;
	return true;
}

static void settle(struct branches_row *row, uint64_t all)
{
	const struct branches_bunch *now = &row->now;

	stats_ratio_add(&row->count, (double)now->count, (double)all);
	if (now->known)
		stats_ratio_add(&row->missed, (double)now->missed, (double)now->known);
	if (now->timed)
		stats_ratio_add(&row->cycles, (double)now->cycles, (double)now->timed);
}

void branches_take(struct branches *b, const struct event *ev)
{
	uint64_t count = 0;

	b->samples++;
	b->touched.len = 0;
	for (size_t i = 0; i < ev->sample.nbranches; i++)
		count += add_branch(b, ev->pid, &ev->sample.branches[i]);
	for (size_t i = 0; i < b->touched.len; i++)
		settle(&b->rows.items[b->touched.items[i]], count);
	if (count)
		stats_ratio_add(&b->all, (double)count, (double)count);
}

static void take_row(void *context, const struct event *ev, uint32_t row)
{
	(void)row;
	branches_take(context, ev);
}

void branches_listen(struct branches *b, struct session *s)
{
	b->listener = (struct loader_listener){ .context = b, .row = take_row, .alone = true };
	loader_listen(s->loader, &b->listener);
}

/* Samples without such a branch count too: so far each row knows only its own. */
void branches_finish(struct branches *b)
{
	for (size_t i = 0; i < b->rows.len; i++) {
		struct stats_ratio *count = &b->rows.items[i].count;

		count->whole = b->all.whole;
		count->whole_sq = b->all.whole_sq;
		count->nbunches = b->all.nbunches;
	}
}

/* ---- order ---- */

static int compare_places(const struct branches *b, uint32_t x, uint32_t y)
{
	const struct profile *p = b->s->profile;
	const struct profile_line *lx = branches_line(b, x), *ly = branches_line(b, y);
	int order = strcmp(branches_function(b, x), branches_function(b, y));

	if (!order)
		order = strcmp(branches_module(b, x), branches_module(b, y));
	if (order || !lx || !ly)
		return order;
	order = b->by == BRANCHES_BY_LINE
			? strcmp(profile_text(p, lx->file), profile_text(p, ly->file))
			: 0;
	if (order)
		return order;

	uint64_t vx = p->locations.items[b->places.items[x].location].vaddr;
	uint64_t vy = p->locations.items[b->places.items[y].location].vaddr;

	return COMPARE(vx, vy);
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct branches_row *x = left, *y = right;
	int order = compare_places(context, x->from, y->from);

	return order ? order : compare_places(context, x->to, y->to);
}

static int by_count(const void *left, const void *right, void *context)
{
	const struct branches_row *x = left, *y = right;

	if (x->count.part != y->count.part)
		return x->count.part > y->count.part ? -1 : 1;
	return by_name(left, right, context);
}

void branches_sort(struct branches *b, enum branches_sort by)
{
	if (b->rows.len > 1)
		qsort_r(b->rows.items, b->rows.len, sizeof(*b->rows.items),
			by == BRANCHES_SORT_COUNT ? by_count : by_name, b);
}
