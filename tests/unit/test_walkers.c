/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_walkers.c - with any number of threads the chains of a stream are those that one unwinder
 * finds in its order, though programs move, fork and end in between.
 */
#include "symbolize/unwind/walkers.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"
#include "tests/unit/unwind_world.h"

#include <string.h>

#define EVENTS	  3000
#define PROCESSES 3
#define BATCH	  7
#define PROGRAM	  0x555500000000 /* where world_new() maps it */

struct stream {
	struct arena arena;
	struct event events[EVENTS];
	uint64_t starts[PROCESSES]; /* of the program, now */
};

static void *copy(struct stream *s, const void *data, size_t len)
{
	void *to = arena_alloc(&s->arena, len ? len : 1);

	return memcpy(to, data, len);
}

/*
 * The program of a process is mapped anew, somewhere else; its stacks from now on are of that
 * place.
 */
static struct event move_program(struct stream *s, size_t process, uint64_t *seed)
{
	struct event ev = { .kind = EVENT_MMAP, .pid = PID + (uint32_t)process };

	s->starts[process] = PROGRAM + 0x100000 * (world_random(seed) % 50);
	ev.mmap = (struct event_mmap){ .start = s->starts[process],
				       .end = s->starts[process] + 0x4000,
				       .flags = EVENT_MMAP_EXEC,
				       .path = "/nowhere/prog",
				       .build_id_len = 4,
				       .build_id = "abcd" };
	return ev;
}

static struct event sample(struct stream *s, struct world *w, size_t process, uint64_t *seed)
{
	uint64_t bias = w->bias;
	struct event_stack *stack;
	struct event ev;

	w->bias += s->starts[process] - PROGRAM;
	world_lay_stack(w, seed, world_random(seed) % 100);
	w->bias = bias;
	ev = world_event(w);
	ev.pid = ev.tid = PID + (uint32_t)process;
	ev.sample.regs = copy(s, ev.sample.regs, sizeof(*ev.sample.regs));
	stack = &ev.sample.stack;
	stack->slots = copy(s, stack->slots, stack->nwords * sizeof(stack->slots[0]));
	stack->words = copy(s, stack->words, stack->nwords * sizeof(stack->words[0]));
	stack->previous = NULL; /* of another process */
	return ev;
}

static void make_stream(struct stream *s, struct world *w)
{
	uint64_t seed = 42;

	for (size_t i = 0; i < EVENTS; i++) {
		size_t process = i < PROCESSES ? i : world_random(&seed) % PROCESSES;
		bool moves = i < PROCESSES || world_random(&seed) % 20 == 0;

		s->events[i] = moves ? move_program(s, process, &seed) :
				       sample(s, w, process, &seed);
		s->events[i].time_ns = i;
	}
}

/* What the walkers found, as the owner puts it together. */
struct owner {
	struct module_table *modules;
	struct space_table *spaces;
	struct unwinder *unwinder; /* the one that walks alone */
	VEC(struct chain_node) nodes[POOL_THREADS_MAX];
	size_t complete;
};

/* The path from @leaf to the root is @chain. */
static void check_chain(const struct owner *owner, const struct walk_batch *batch,
			const struct walked *walked, const struct unwind_chain *chain)
{
	const struct chain_node *nodes = owner->nodes[batch->worker].items;
	uint32_t at = walked->leaf;

	for (size_t i = 0; i < chain->nframes; i++, at = nodes[at].parent) {
		CHECK(at > 0 && at < owner->nodes[batch->worker].len);
		CHECK_UINT(nodes[at].vaddr, chain->frames[i].vaddr);
		CHECK_UINT(nodes[at].module, chain->frames[i].module->id);
		CHECK_UINT(nodes[at].how, chain->frames[i].how);
	}
	CHECK_UINT(at, 0);
	CHECK_UINT(walked->stop, chain->stop);
	CHECK_UINT(walked->stop_module, chain->stop_module ? chain->stop_module->id + 1 : 0);
}

static void take(struct owner *owner, const struct walk_batch *batch)
{
	const struct walked *walked = batch->walked.items;
	const struct chain_node *fresh = batch->fresh.items;

	if (!owner->nodes[batch->worker].len)
		vec_push(&owner->nodes[batch->worker], (struct chain_node){ 0 });
	for (size_t i = 0; i < batch->events.events.len; i++) {
		const struct event *ev = batch->events.events.items[i];
		struct unwind_chain chain;

		if (ev->kind != EVENT_SAMPLE) {
			space_table_apply(owner->spaces, ev);
			continue;
		}
		unwinder_walk(owner->unwinder, ev, &chain);
		owner->complete += chain.stop == STACK_STOP_ROOT;
		if (!batch->wanted.items[i])
			continue;
		vec_append(&owner->nodes[batch->worker], fresh, walked->nfresh);
		fresh += walked->nfresh;
		check_chain(owner, batch, walked++, &chain);
	}
	CHECK(walked == batch->walked.items + batch->walked.len);
	CHECK(fresh == batch->fresh.items + batch->fresh.len);
}

/*
 * Submit as many batches as there is room for, from event *@next on. One sample in eight is not
 * wanted.
 */
static void submit(struct walkers *walkers, const struct stream *s, size_t *next)
{
	struct walk_batch *batch;

	while (*next < EVENTS && (batch = walkers_room(walkers))) {
		batch->events.events.len = 0;
		for (size_t i = 0; i < BATCH && *next < EVENTS; i++, ++*next) {
			vec_push(&batch->events.events, &s->events[*next]);
			vec_push(&batch->wanted,
				 s->events[*next].kind == EVENT_SAMPLE && *next % 8 != 0);
		}
		walkers_submit(walkers, batch);
	}
}

static void check_threads(struct world *w, const struct stream *s, unsigned nthreads)
{
	struct pool *pool = pool_new(nthreads, NULL);
	struct owner owner = { .modules = module_table_new(&w->rec, NULL, &w->diag) };
	struct walkers *walkers = walkers_new(owner.modules, NULL, pool);
	struct walk_batch *batch;
	size_t next = 0;

	owner.spaces = space_table_new(owner.modules);
	owner.unwinder = unwinder_new(owner.modules, owner.spaces, NULL);
	for (;;) {
		submit(walkers, s, &next);
		batch = walkers_oldest(walkers);
		if (!batch)
			break;
		take(&owner, batch);
		walkers_done(walkers, batch);
	}
	CHECK_UINT(next, EVENTS);
	CHECK(owner.complete > EVENTS / 2);
	walkers_free(walkers);
	for (size_t i = 0; i < POOL_THREADS_MAX; i++)
		vec_deinit(&owner.nodes[i]);
	unwinder_free(owner.unwinder);
	space_table_free(owner.spaces);
	module_table_free(owner.modules);
	pool_free(pool);
}

TEST(walkers_find_the_chains_that_one_unwinder_finds)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	struct stream *s = memory_zeroed(1, sizeof(*s));

	make_stream(s, w);
	check_threads(w, s, 1);
	check_threads(w, s, 2);
	check_threads(w, s, 5);
	arena_deinit(&s->arena);
	memory_freep(&s);
}

/* Who gives up leaves batches behind that are being walked. */
TEST(walkers_may_be_left_in_the_middle)
{
	CLEANUP(world_freep) struct world *w = world_new(&arch_x86_64);
	struct stream *s = memory_zeroed(1, sizeof(*s));
	struct pool *pool = pool_new(3, NULL);
	struct module_table *modules = module_table_new(&w->rec, NULL, &w->diag);
	struct walkers *walkers = walkers_new(modules, NULL, pool);
	size_t next = 0;

	make_stream(s, w);
	submit(walkers, s, &next);
	CHECK(next > 0 && next < EVENTS);
	walkers_settle(walkers);
	CHECK(!walkers_oldest(walkers));
	walkers_free(walkers);
	module_table_free(modules);
	pool_free(pool);
	arena_deinit(&s->arena);
	memory_freep(&s);
}
