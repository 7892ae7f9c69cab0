/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_managed.c - memory in which CPython, PHP or Ruby is said to be: however its pointers lead, a stack has no more frames than
 * there is room for, each with a name and a file, and no more is read than a view may.
 *
 * The input: runtime, version, flags and seed, a byte each; then places in the memory, which was filled by the seed with pointers into
 * itself, and what stands there instead, two bytes each.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/managed/managed.h"

#include <string.h>

#define BASE	0x7f0000000000ULL
#define LEN	(64u << 10)
#define WORDS	(LEN / 8)
#define PID	4711u
#define FLAGS	4 /* bytes before the places */
#define LOCALS	1 /* flags */
#define CHANGES 2
#define OFFSETS 104 /* words that say where CPython's fields are */
#define READS	3

struct scene {
	uint64_t words[WORDS];
	uint32_t seed;
	bool changes;
	unsigned pieces;
};

static uint32_t next(struct scene *s)
{
	s->seed = s->seed * 1664525u + 1013904223u;
	return s->seed >> 8;
}

/* A pointer into the memory, and now and then 0, the thread's number, or a small one. */
static uint64_t any_word(struct scene *s)
{
	switch (next(s) % 64) {
	case 0:
		return next(s) % 512;
	case 1:
	case 2:
		return 0;
	case 3:
	case 4:
	case 5:
	case 6:
		return PID;
	default:
		return BASE + next(s) % LEN / 8 * 8;
	}
}

static void read_pieces(void *context, struct task_memory_piece *pieces, size_t count)
{
	struct scene *s = context;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = pieces[i].addr - BASE;

		s->pieces++;
		if (s->changes)
			s->words[next(s) % WORDS] = any_word(s);
		pieces[i].got = at < LEN ? MIN(pieces[i].len, (size_t)(LEN - at)) : 0;
		if (pieces[i].got)
			memcpy(pieces[i].to, (const uint8_t *)s->words + at, pieces[i].got);
	}
}

/* What stands for a number of the input. */
static uint64_t word_of(uint32_t number)
{
	if (number == 0x7fff)
		return UINT64_MAX;
	if (number == 0x7ffe)
		return 1ULL << 63;
	return number & 0x8000 ? BASE + (number & 0x7fff) * 2 : number;
}

static void fill(struct scene *s, const uint8_t *data, size_t len, unsigned minor)
{
	for (size_t i = 0; i < WORDS; i++)
		s->words[i] = any_word(s);
	if (minor >= 13) {
		for (size_t i = 0; i < OFFSETS; i++)
			s->words[i] = next(s) % 64 * 8;
		memcpy(s->words, "xdebugpy", 8);
		s->words[1] = (uint64_t)(0x300 | minor) << 16;
	}
	for (size_t i = FLAGS; i + 4 <= len; i += 4)
		s->words[(data[i] | data[i + 1] << 8) % WORDS] = word_of(data[i + 2] | (uint32_t)data[i + 3] << 8);
}

static void check_stack(const struct managed_stack *stack, const struct managed_view *view)
{
	CHECK(stack->nframes <= EVENT_MANAGED_FRAMES_MAX && stack->nlabels <= EVENT_MANAGED_LABELS);
	CHECK(stack->state != EVENT_MANAGED_FAILED || !stack->nframes);
	CHECK(view->reads <= MANAGED_READS_MAX + MANAGED_RECENT_MAX + 1);
	for (size_t i = 0; i < stack->nframes; i++)
		CHECK(stack->frames[i].name && stack->frames[i].file && strlen(stack->frames[i].name) < 4096);
	for (size_t i = 0; i < stack->nlabels; i++)
		CHECK(stack->labels[i].key);
}

/* A file as each runtime wants it, of a version that it knows. */
static struct managed_binary binary_of(unsigned runtime, unsigned version)
{
	struct managed_binary binary = { .path = "/x", .name = "x", .zeroed_vaddr = LEN / 2, .zeroed_len = LEN / 2 };

	for (size_t i = 0; i < MANAGED_SYMBOLS_MAX; i++)
		binary.symbols[i] = (struct managed_symbol){ .vaddr = i * 2048, .found = !(runtime == 2 && version & 64) || i == 0 };
	if (runtime == 0)
		binary.symbols[2].word = 3ULL << 24 | (uint64_t)(6 + version % 10) << 16;
	else if (runtime == 1)
		snprintf(binary.banner, sizeof(binary.banner), "%u.%u.1", 7 + version % 2, version / 2 % 6);
	else
		snprintf((char *)&binary.symbols[0].word, 8, "%u.%u.0", 2 + version % 2, version % 2 ? version / 2 % 5 : 5 + version / 2 % 3);
	return binary;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct managed_runtime *const runtimes[] = { &managed_python, &managed_php, &managed_ruby };
	static struct managed_view view;
	static struct managed_stack stack;
	static struct scene scene;
	struct managed_names names;
	const char *why = NULL;

	if (len < FLAGS)
		return 0;
	unsigned number = data[0] % ARRAY_LEN(runtimes);
	const struct managed_runtime *runtime = runtimes[number];
	const struct managed_binary binary = binary_of(number, data[1]);

	scene.seed = data[3];
	scene.changes = data[2] & CHANGES;
	fill(&scene, data, len, number ? 0 : 6 + data[1] % 10);
	managed_names_init(&names);
	const struct managed_host host = { .binary = &binary, .bias = BASE, .pid = PID, .names = &names, .locals = data[2] & LOCALS };
	void *state = runtime->open(&host, &why);

	CHECK(!state == !!why);
	/* Registers that lead anywhere in the memory, frame and instruction of PHP among them. */
	struct event_regs regs = { .mask = UINT64_MAX };
	const struct managed_thread thread = { .tid = PID, .regs = &regs };

	for (size_t i = 0; i < ARCH_REGS_MAX; i++)
		regs.values[i] = BASE + 8ull * data[i % len] * data[1];
	for (unsigned i = 0; i < READS && state; i++) {
		managed_view_begin(&view, read_pieces, &scene, MANAGED_TIME_NS);
		runtime->read(state, &thread, &view, &stack);
		check_stack(&stack, &view);
	}
	if (state)
		runtime->close(state);
	CHECK(!names.taken);
	managed_names_deinit(&names);
	return 0;
}
