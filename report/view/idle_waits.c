/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idle_waits.c - adds up each thread's waits by function, then marks the rows of those that are long enough.
 */
#include "report/view/idle_waits.h"

#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "report/view/wait_frames.h"

#include <string.h>

enum idleness {
	BUSY,
	IDLE,
	IDLE_IF_LONG,
};

struct place {
	uint64_t weight, count;
};

struct finder {
	const struct profile *p;
	struct map numbers; /* event, thread and function -> place + 1 */
	VEC(struct place) places;
};

static const char *name_of(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

	return at->nlines ? profile_text(p, p->functions.items[p->lines.items[at->first_line].function].name) : "";
}

/* Does a frame between the kernel and the program's own say that it waits for others to hand it something? */
static bool waits_for_a_hand(const struct profile *p, const struct profile_sample *row)
{
	static const char *const words[] = { "cond_wait", "cond_timedwait", "cond_clockwait", "sem_wait",
					     "sem_timedwait", "condition_variable", "notesleep", "park" };
	/* Of a mutex, whose runtime waits for it in the same way as for work. */
	static const char *const locks[] = { "ObjectMonitor::enter", "ObjectMonitor::EnterI", "monitorenter", "monitor_enter",
					     "complete_monitor_locking", "sync.(*Mutex)", "sync.(*RWMutex)",
					     "ReentrantLock", "mutex_lock", "std::mutex" };
	uint32_t leaf = wait_frames_leaf(p, row);
	bool waits = false;

	for (uint32_t stack = row->stack; stack; stack = p->stacks.items[stack].parent) {
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			waits |= strstr(name_of(p, stack), words[i]) != NULL;
		for (size_t i = 0; i < ARRAY_LEN(locks); i++)
			if (strstr(name_of(p, stack), locks[i]))
				return false;
		if (stack == leaf)
			break;
	}
	return waits;
}

static enum idleness idleness_of(const struct profile *p, const struct profile_sample *row)
{
	if (row->state != PROFILE_STATE_BLOCKED || !row->stack)
		return BUSY;
	switch (wait_frames_kind(p, row)) {
	case WAIT_POLL:
	case WAIT_SIGNAL:
	case WAIT_TERMINAL:
	case WAIT_KERNEL_WORK:
		return IDLE;
	case WAIT_SOCKET:
		return strncmp(wait_frames_syscall(p, row), "accept", 6) == 0 ? IDLE : BUSY;
	case WAIT_LOCK:
		return waits_for_a_hand(p, row) ? IDLE_IF_LONG : BUSY;
	default:
		return BUSY;
	}
}

static struct place *find(struct finder *f, const struct profile_sample *row)
{
	const struct profile *p = f->p;
	uint32_t location = p->stacks.items[wait_frames_leaf(p, row)].location;
	const struct profile_location *at = &p->locations.items[location];
	uint64_t function = at->nlines ? p->lines.items[at->first_line].function : UINT32_MAX;
	uint64_t key = map_hash((uint64_t)row->thread << 32 | function) ^ row->type;
	bool fresh;
	uint64_t *number = map_put(&f->numbers, map_hash(key), &fresh);

	if (fresh) {
		vec_push(&f->places, ((struct place){ 0 }));
		*number = f->places.len;
	}
	return &f->places.items[*number - 1];
}

bool *idle_waits_find(const struct profile *p, uint64_t len_ns)
{
	bool *marks = memory_zeroed(p->samples.len + 1, sizeof(*marks));
	struct finder f = { .p = p };

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (idleness_of(p, row) == BUSY)
			continue;

		struct place *place = find(&f, row);

		place->weight += row->weight;
		place->count += row->count;
	}
	for (size_t i = 0; i < p->samples.len && len_ns; i++) {
		const struct profile_sample *row = &p->samples.items[i];
		enum idleness idleness = idleness_of(p, row);

		if (idleness == BUSY)
			continue;

		const struct place *place = find(&f, row);

		marks[i] = (double)place->weight >= IDLE_SHARE * (double)len_ns &&
			   (idleness == IDLE || place->weight / MAX(place->count, 1) >= IDLE_MEAN_NS);
	}
	map_deinit(&f.numbers);
	vec_deinit(&f.places);
	return marks;
}
