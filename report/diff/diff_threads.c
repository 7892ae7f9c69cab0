/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_threads.c - clusters (threads) within strata (names), as in surveys: for each name with m > 1 threads, of which
 * thread j has x_j of the group and n_j in all, p = sum x / sum n,
 *
 *	m / (m - 1) * sum (x_j - p n_j)^2 = m / (m - 1) * (sum x_j^2 - 2 p sum x_j n_j + p^2 sum n_j^2)
 *
 * so that threads without the group need not be looked at.
 */
#include "report/diff/diff_threads.h"

/* The sums of one group in the threads of one name. */
struct part {
	double x, x_sq, x_n;
};

static uint32_t name_of(struct diff_threads *t, struct map *seen,
			const struct profile_thread *thread)
{
	bool is_new;
	uint64_t *number =
		map_put(seen, (uint64_t)thread->process << 32 | thread->comm, &is_new);

	if (is_new) {
		*number = t->names.len;
		vec_push(&t->names, ((struct diff_threads_name){ 0 }));
	}
	return (uint32_t)*number;
}

void diff_threads_init(struct diff_threads *threads, const struct profile *p, uint32_t event)
{
	struct map seen = { 0 };

	*threads = (struct diff_threads){ 0 };
	for (size_t i = 0; i < p->threads.len; i++) {
		struct diff_thread thread = { name_of(threads, &seen, &p->threads.items[i]), 0 };

		vec_push(&threads->threads, thread);
	}
	map_deinit(&seen);
	for (size_t i = 0; i < p->samples.len; i++)
		if (p->samples.items[i].type == event)
			threads->threads.items[p->samples.items[i].thread].weight +=
				(double)p->samples.items[i].weight;
	for (size_t i = 0; i < threads->threads.len; i++) {
		const struct diff_thread *thread = &threads->threads.items[i];
		struct diff_threads_name *name = &threads->names.items[thread->name];

		name->threads += thread->weight > 0;
		name->weight += thread->weight;
		name->weight_sq += thread->weight * thread->weight;
	}
}

void diff_threads_deinit(struct diff_threads *threads)
{
	vec_deinit(&threads->threads);
	vec_deinit(&threads->names);
	vec_deinit(&threads->weights);
	map_deinit(&threads->parts);
}

void diff_threads_add(struct diff_threads *threads, uint32_t group, uint32_t thread, double weight)
{
	bool is_new;
	uint64_t *part = map_put(&threads->parts, (uint64_t)group << 32 | thread, &is_new);

	if (is_new) {
		*part = threads->weights.len;
		vec_push(&threads->weights, 0.0);
	}
	threads->weights.items[*part] += weight;
}

static double variance(const struct diff_threads_name *name, const struct part *part)
{
	double p = part->x / name->weight;
	double sum = part->x_sq - 2 * p * part->x_n + p * p * name->weight_sq;

	return sum > 0 ? sum * name->threads / (name->threads - 1) : 0; /* rounding */
}

void diff_threads_variances(const struct diff_threads *threads, uint32_t count, double *ret,
			    size_t stride)
{
	VEC(struct part) parts = { 0 };
	struct map numbers = { 0 }; /* group and name -> part */
	const struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&threads->parts, &at));) {
		const struct diff_thread *thread = &threads->threads.items[(uint32_t)slot->key];
		double x = threads->weights.items[slot->value];
		bool is_new;
		uint64_t *number = map_put(&numbers, (slot->key >> 32 << 32) | thread->name, &is_new);

		if (is_new) {
			*number = parts.len;
			vec_push(&parts, ((struct part){ 0 }));
		}
		parts.items[*number].x += x;
		parts.items[*number].x_sq += x * x;
		parts.items[*number].x_n += x * thread->weight;
	}
	for (uint32_t group = 0; group < count; group++)
		ret[group * stride] = 0;
	for (size_t at = 0; (slot = map_next(&numbers, &at));) {
		const struct diff_threads_name *name = &threads->names.items[(uint32_t)slot->key];

		if (name->threads > 1)
			ret[(slot->key >> 32) * stride] +=
				variance(name, &parts.items[slot->value]);
	}
	map_deinit(&numbers);
	vec_deinit(&parts);
}
