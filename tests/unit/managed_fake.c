/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/managed_fake.h"

#include "formats/base/memory.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#define LONG_NS (3600ULL * 1000000000) /* no test waits so long: what fails does so for another reason */

static void *open_runtime(struct managed_fake *fake, bool locals)
{
	const char *why = NULL;
	const struct managed_host host = { .binary = &fake->binary,
					   .bias = FAKE_BASE,
					   .pid = FAKE_PID,
					   .names = &fake->names,
					   .locals = locals };
	void *state = fake->runtime->open(&host, &why);

	CHECK(state && !why);
	return state;
}

void managed_fake_ask_locals(struct managed_fake *fake)
{
	fake->runtime->close(fake->state);
	fake->state = open_runtime(fake, true);
}

void managed_fake_open(struct managed_fake *fake)
{
	fake->runtime->close(fake->state);
	fake->state = open_runtime(fake, false);
}

void managed_fake_init(struct managed_fake *fake, const struct managed_runtime *runtime,
		       const struct managed_binary *binary)
{
	*fake = (struct managed_fake){ .bytes = memory_zeroed(1, FAKE_LEN),
				       .seed = 3,
				       .runtime = runtime,
				       .binary = *binary };
	managed_names_init(&fake->names);
	fake->state = open_runtime(fake, false);
	fake->view = memory_zeroed(1, sizeof(*fake->view));
	fake->stack = memory_zeroed(1, sizeof(*fake->stack));
}

void managed_fake_deinit(struct managed_fake *fake)
{
	fake->runtime->close(fake->state);
	CHECK_UINT(fake->names.taken, 0); /* what was counted is given back */
	managed_names_deinit(&fake->names);
	free(fake->view);
	free(fake->stack);
	free(fake->bytes);
}

void managed_fake_put(struct managed_fake *fake, size_t at, uint64_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

void managed_fake_put32(struct managed_fake *fake, size_t at, uint32_t value)
{
	memcpy(fake->bytes + at, &value, sizeof(value));
}

void managed_fake_scribble(struct managed_fake *fake, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)rand_r(&fake->seed) % (FAKE_LEN / 8) * 8;

		managed_fake_put(fake, at, FAKE_BASE + (size_t)rand_r(&fake->seed) % FAKE_LEN);
	}
}

void managed_fake_read(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct managed_fake *fake = context;

	fake->calls++;
	for (size_t i = 0; i < count; i++) {
		struct task_memory_piece *piece = &pieces[i];

		fake->reads++;
		managed_fake_scribble(fake, fake->changes ? 4 : 0);
		piece->got = 0;
		if (piece->addr < FAKE_BASE || piece->addr - FAKE_BASE >= FAKE_LEN)
			continue;
		piece->got = MIN(piece->len, (size_t)(FAKE_LEN - (piece->addr - FAKE_BASE)));
		memcpy(piece->to, fake->bytes + (piece->addr - FAKE_BASE), piece->got);
	}
}

void managed_fake_stack(struct managed_fake *fake, uint32_t tid)
{
	managed_view_begin(fake->view, managed_fake_read, fake, LONG_NS);
	fake->runtime->read(fake->state, &(struct managed_thread){ .tid = tid, .regs = fake->regs }, fake->view, fake->stack);
	CHECK(fake->view->reads <= MANAGED_READS_MAX + MANAGED_RECENT_MAX + 1);
	CHECK(fake->stack->nframes <= EVENT_MANAGED_FRAMES_MAX);
}
