/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_summary.c - one screen, whichever question the recording answers.
 */
#include "report/info/summary.h"

#include "formats/base/text.h"
#include "report/load/derive/derive_kind.h"
#include "report/view/wait_question.h"
#include "tests/unit/synthetic.h"
#include "tests/unit/test.h"

#include <string.h>

#define SECOND 1000000000u

/* A recording of a second: a thread that computed for @cpu_ns and waited in "take" for the rest; @waits were recorded. */
struct made {
	struct profile *p;
	struct profile_facts facts;
};

static void add_wait(struct profile *p, const char *stack, uint32_t type, uint64_t ns)
{
	synthetic_add(p, &(struct synthetic_sample){ stack, 7, 7, 1, 0 });
	p->samples.items[p->samples.len - 1].type = type;
	p->samples.items[p->samples.len - 1].state = PROFILE_STATE_BLOCKED;
	p->samples.items[p->samples.len - 1].weight = (int64_t)ns;
}

static struct made made_of(uint64_t cpu_ns, bool waits)
{
	struct made made = { .p = synthetic_new() };

	profile_facts_init(&made.facts);
	synthetic_add(made.p, &(struct synthetic_sample){ "main;compute", 7, 7, 10, cpu_ns / 10 });
	made.facts.input = "some.trace";
	made.facts.cmdline = "precord --off-cpu -- app";
	made.facts.lives = (struct profile_lives){ .threads = 1, .switches = waits, .life_ns = SECOND, .window_ns = SECOND };
	made.facts.lives.by_state[PROFILE_STATE_ON_CPU] = waits ? cpu_ns : 0;
	made.facts.lives.by_state[PROFILE_STATE_BLOCKED] = waits ? SECOND - cpu_ns : 0;
	if (waits) {
		struct profile_value_type type = { .name = profile_string(made.p, DERIVE_OFF_CPU),
						   .unit = profile_string(made.p, "ns") };

		vec_push(&made.p->types, type);
		add_wait(made.p, "main;take", 1, SECOND - cpu_ns);
	}
	return made;
}

struct printing {
	const struct made *made;
	struct terminal term;
};

static void print(FILE *out, void *context)
{
	const struct printing *printing = context;
	struct remarks remarks = { 0 };
	struct summary_input input = { .profile = printing->made->p,
				       .facts = &printing->made->facts,
				       .remarks = &remarks };

	summary_show(&input, &printing->term, out);
}

static const char *summary_of(const struct made *made, unsigned columns, unsigned lines)
{
	struct printing printing = { made, { .columns = columns, .lines = lines, .utf8 = true } };

	return test_printed(print, &printing);
}

static void made_free(struct made *made)
{
	profile_facts_deinit(&made->facts);
	profile_free(made->p);
}

TEST(summary_begins_with_waits_where_waiting_is_the_question)
{
	struct made made = made_of(SECOND / 20, true);
	const char *text = summary_of(&made, 80, 24);
	const char *waits = strstr(text, "where threads wait (off-cpu)"), *row = strstr(text, "take");

	CHECK(waits && row && row > waits);
	CHECK(strstr(text, "preport -i some.trace waits"));
	made_free(&made);
}

TEST(summary_begins_with_cpu_time_otherwise)
{
	struct made busy = made_of(SECOND * 9ull / 10, true), unknown = made_of(SECOND / 20, false);

	CHECK(!strstr(summary_of(&busy, 80, 24), "where threads wait"));
	CHECK(strstr(summary_of(&unknown, 80, 24), "record with --off-cpu"));
	made_free(&busy);
	made_free(&unknown);
}

/* Nothing ran at all: what precord --idle saw is the only event. */
TEST(time_that_was_waited_is_no_cpu_time)
{
	struct made made = { .p = synthetic_new() };

	profile_facts_init(&made.facts);
	synthetic_add(made.p, &(struct synthetic_sample){ "main;accept", 7, 7, 10, SECOND / 10 });
	made.p->types.items[0].name = profile_string(made.p, DERIVE_IDLE);
	made.facts.lives = (struct profile_lives){ .threads = 1, .life_ns = SECOND, .window_ns = SECOND };
	CHECK(strstr(summary_of(&made, 80, 24), "0.0 % on a CPU, 100.0 % waiting"));
	made_free(&made);
}

/* A thread that computes half of the time waits no longer than one that joins it. */
TEST(waiting_is_no_question_where_as_much_is_computed)
{
	struct made made = made_of(SECOND / 2, true);
	struct wait_question question;

	wait_question_init(&question, made.p, &made.facts);
	CHECK(!question.comes_first);
	wait_question_deinit(&question);
	made_free(&made);
}

/* A thread that has to wait for a CPU is not what to look at: those that have them are. */
TEST(waiting_for_a_cpu_is_no_question_of_waits)
{
	struct made made = made_of(SECOND / 20, true);
	struct wait_question question;

	for (size_t i = 0; i < made.p->samples.len; i++)
		if (made.p->samples.items[i].state == PROFILE_STATE_BLOCKED)
			made.p->samples.items[i].state = PROFILE_STATE_RUNNABLE;
	wait_question_init(&question, made.p, &made.facts);
	CHECK(question.by_kind[WAIT_CPU] > 0);
	CHECK(!question.comes_first);
	wait_question_deinit(&question);
	made_free(&made);
}

/* Many threads wait on a machine; what is the matter shows in whether its CPUs are used. */
TEST(waiting_is_no_question_where_a_machine_is_busy)
{
	struct made made = made_of(SECOND / 2, true);
	struct wait_question question;

	add_wait(made.p, "main;other", 1, 50ull * SECOND);
	made.facts.system_wide = true;
	wait_question_init(&question, made.p, &made.facts);
	CHECK(!question.comes_first);
	wait_question_deinit(&question);
	made.facts.lives.by_state[PROFILE_STATE_ON_CPU] = SECOND / 10;
	wait_question_init(&question, made.p, &made.facts);
	CHECK(question.comes_first);
	wait_question_deinit(&question);
	made_free(&made);
}

/* The screen belongs to what was sampled: a machine that compiles runs a few samples of Python too. */
TEST(scripts_have_a_table_where_they_are_much_of_the_samples)
{
	struct made made = made_of(SECOND, false);

	synthetic_add(made.p, &(struct synthetic_sample){ "main;compute", 7, 7, 90, SECOND / 100 });
	made.facts.managed = 6;
	made.facts.managed_unread = 1;
	CHECK(strstr(summary_of(&made, 80, 24), "script function"));
	made.facts.managed = 5;
	CHECK(!strstr(summary_of(&made, 80, 24), "script function"));
	made.facts.managed = 0;
	CHECK(!strstr(summary_of(&made, 80, 24), "script function"));
	made_free(&made);
}

static void check_fits(const struct made *made, unsigned columns, unsigned lines)
{
	char *text = strdup(summary_of(made, columns, lines)), *rest = text, *line;
	unsigned count = 0;

	while ((line = strsep(&rest, "\n")) && rest) {
		CHECK(text_width(line) <= columns);
		count++;
	}
	CHECK(count < lines); /* the prompt has one */
	free(text);
}

TEST(summary_fits_the_screen)
{
	struct made waits = made_of(SECOND / 20, true), busy = made_of(SECOND, true);

	for (uint32_t i = 0; i < 40; i++) {
		char stack[64];

		snprintf(stack, sizeof(stack), "main;a_function_of_some_length_%u", i);
		add_wait(waits.p, stack, 1, SECOND);
		synthetic_add(busy.p, &(struct synthetic_sample){ stack, i + 1, i + 1, 5, 1000 });
	}
	for (unsigned columns = 60; columns <= 100; columns += 20)
		for (unsigned lines = 24; lines <= 50; lines++) {
			check_fits(&waits, columns, lines);
			check_fits(&busy, columns, lines);
		}
	made_free(&waits);
	made_free(&busy);
}
