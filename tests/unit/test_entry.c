/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "report/view/entry.h"
#include "report/view/own_code.h"
#include "report/view/reshape.h"

#include <string.h>

/* A profile with one stack, whose functions are @names, the root first; those that begin with '*' are the kernel's. */
static uint32_t add_names(struct profile *p, const char *names)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile_module user = { .name = profile_string(p, "app"), .path = profile_string(p, "/app") };
	struct profile_module kernel = { .name = profile_string(p, "[kernel]"),
					 .path = profile_string(p, "[kernel]"),
					 .kind = PROFILE_KERNEL };
	uint32_t modules[] = { profile_add_module(p, &user), profile_add_module(p, &kernel) };
	char *rest = arena_strdup(&arena, names);
	uint32_t stack = 0;

	while (rest) {
		const char *name = strsep(&rest, " ");
		bool is_kernel = *name == '*';
		struct profile_function function = { .name = profile_string(p, name + is_kernel),
						     .module = modules[is_kernel] };
		struct profile_line line = { .function = profile_add_function(p, &function) };
		uint32_t location = profile_add_named_location(
			p, is_kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE, modules[is_kernel],
			&line, 1);

		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
	}
	return stack;
}

TEST(the_way_into_the_kernel_is_told_by_its_functions)
{
	static const struct {
		const char *stack, *entry;
	} cases[] = {
		{ "main work", "user code" },
		{ "main *entry_SYSCALL_64_after_hwframe *do_syscall_64 *__x64_sys_read *vfs_read",
		  "system call read" },
		{ "main *el0t_64_sync *el0_svc *do_el0_svc *__arm64_sys_openat *do_filp_open",
		  "system call openat" },
		{ "main *entry_SYSCALL_64_after_hwframe *do_syscall_64", "system call" },
		{ "main *asm_exc_page_fault *exc_page_fault *handle_mm_fault", "page fault" },
		/* a fault within a system call is the call's */
		{ "main *do_syscall_64 *__x64_sys_read *asm_exc_page_fault *exc_page_fault",
		  "system call read" },
		{ "main *asm_sysvec_apic_timer_interrupt *sysvec_apic_timer_interrupt", "interrupt timer" },
		/* an interrupt is nobody's but its own */
		{ "main *do_syscall_64 *__x64_sys_read *asm_common_interrupt *common_interrupt *nvme_irq",
		  "interrupt of a device" },
		{ "main *asm_common_interrupt *irq_exit *handle_softirqs *net_rx_action.isra.0 *napi_poll",
		  "softirq net_rx" },
		{ "*ret_from_fork_asm *ret_from_fork *kthread *worker_thread", "kernel thread" },
		{ "*secondary_startup_64 *cpu_startup_entry *do_idle *cpuidle_enter", "idle" },
		{ "*some_function", "kernel, way not known" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		struct profile *p = profile_new();
		struct profile_sample row = { .stack = add_names(p, cases[i].stack) };

		CHECK_STR(entry_name(p, &row, &arena), cases[i].entry);
		profile_free(p);
	}
}

/* The functions of @stack, the root first, in @arena. */
static const char *names_of(const struct profile *p, uint32_t stack, struct arena *arena)
{
	const char *text = "";

	for (; stack; stack = p->stacks.items[stack].parent) {
		const struct profile_location *at =
			&p->locations.items[p->stacks.items[stack].location];

		for (uint32_t i = 0; i < at->nlines; i++)
			text = arena_printf(
				arena, "%s%s%s",
				profile_text(p, p->functions.items[p->lines.items[at->first_line + i].function].name),
				*text ? " " : "", text);
	}
	return text;
}

TEST(stacks_lose_the_frames_that_are_hidden_and_are_chosen_by_any_frame)
{
	static const struct {
		const char *option, *stack, *expected; /* NULL: the sample is left out */
	} cases[] = {
		{ "--focus=par", "main parse read", "main parse read" },
		{ "--focus=^par$", "main parse read", NULL },
		{ "--ignore=par", "main parse read", NULL },
		{ "--ignore=x", "main parse read", "main parse read" },
		{ "--hide=parse|read", "main parse read", "main" },
		{ "--hide=.", "main parse read", "" },
		{ "--show=main|read", "main parse read", "main read" },
		{ "--show-from=par", "main parse read parse end", "parse read parse end" },
		{ "--show-from=x", "main parse read", NULL },
		{ "--merge-recursion", "main f f f g f", "main f g f" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(arena_deinit) struct arena arena = { 0 };
		struct reshape_args args = { 0 };
		struct opt_result result = { 0 };
		struct profile *p = profile_new();
		char option[64], *argv[] = { option, option, NULL };
		uint32_t stack = add_names(p, cases[i].stack), got = 0;

		snprintf(option, sizeof(option), "%s", cases[i].option);
		CHECK_OK(opt_parse(reshape_opts, &args, 2, argv, OPT_ANYWHERE, &result));
		CHECK(reshape_is_given(&args));

		struct reshape *r = reshape_new(&args);

		for (int again = 0; again < 2; again++) {
			bool kept = reshape_stack(r, p, stack, &got);

			CHECK(kept == (cases[i].expected != NULL));
			if (kept)
				CHECK_STR(names_of(p, got, &arena), cases[i].expected);
			CHECK(reshape_knows(r, stack));
		}
		reshape_free(r);
		reshape_args_deinit(&args);
		opt_result_deinit(&result);
		profile_free(p);
	}
}

TEST(an_expression_that_is_none_is_refused)
{
	struct reshape_args args = { 0 };
	struct opt_result result = { 0 };
	char option[] = "--focus=a(", *argv[] = { option, option, NULL };

	CHECK_ERR(opt_parse(reshape_opts, &args, 2, argv, OPT_ANYWHERE, &result), ERR_USAGE, "a(");
	reshape_args_deinit(&args);
}

TEST(a_command_that_starts_a_package_of_its_environment_is_not_ones_own_code)
{
	static const struct {
		const char *path;
		bool own;
	} scripts[] = {
		{ "/srv/site/env311/bin/gunicorn", false },
		{ "/srv/site/web/../env311/bin/pip", false },
		{ "/srv/site/env311/lib/python3.11/site-packages/gunicorn/util.py", false },
		{ "/srv/site/env311/bin/job.py", true },	/* of a project that has its environment beside it */
		{ "/srv/site/bin/gunicorn", true },		/* no packages there */
		{ "/srv/site/wsgi.py", true },
		{ "bin/run", true },
		{ "run", true },
	};
	struct profile *p = profile_new();
	uint32_t locations[ARRAY_LEN(scripts)];

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct profile_module module = { .name = profile_string(p, scripts[i].path), .path = profile_string(p, scripts[i].path) };
		struct profile_function function = { .name = profile_string(p, "<module>"), .module = profile_add_module(p, &module) };
		struct profile_line line = { .function = profile_add_function(p, &function) };

		locations[i] = profile_add_named_location(p, PROFILE_FRAME_INTERPRETED, function.module, &line, 1);
	}
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		CHECK(own_code_is(p, locations[i], p->locations.items[locations[i]].first_line) == scripts[i].own);
	profile_free(p);
}

TEST(the_kernel_and_languages_libraries_are_not_ones_own_code)
{
	struct profile *p = profile_new();
	uint32_t stack = add_names(p, "main std::sort *do_syscall_64");

	static const bool own[] = { false, false, true };

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		uint32_t location = p->stacks.items[stack].location;

		CHECK(own_code_is(p, location, p->locations.items[location].first_line) == own[i]);
		stack = p->stacks.items[stack].parent;
	}
	profile_free(p);
}
