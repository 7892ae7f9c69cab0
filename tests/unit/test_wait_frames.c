/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_wait_frames.c - what a stack says about a wait, and which threads have no work.
 */
#include "report/view/idle_waits.h"
#include "report/view/wait_frames.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

/* Put "user;libc:user;kernel:f", the leaf last, below @p's root. */
static uint32_t add_stack(struct profile *p, const char *text)
{
	char *copy = strdup(text), *rest = copy;
	uint32_t stack = 0;

	for (char *word = strsep(&rest, ";"); word; word = strsep(&rest, ";")) {
		char *name = strchr(word, ':'); /* of C++ there are two */

		if (name && name[1] == ':')
			name = NULL;

		const char *module = name ? word : "app";

		if (name)
			*name++ = '\0';
		else
			name = word;

		struct profile_module mod = { .name = profile_string(p, module), .path = profile_string(p, module),
					      .kind = strcmp(module, "kernel") ? PROFILE_USER : PROFILE_KERNEL };
		struct profile_function function = { .name = profile_string(p, name),
						     .module = profile_add_module(p, &mod) };
		struct profile_line line = { .function = profile_add_function(p, &function) };
		uint32_t location = profile_add_location(p, function.module, line.function + 1,
							       strcmp(module, "kernel") ? PROFILE_FRAME_NATIVE : PROFILE_FRAME_KERNEL);

		if (!p->locations.items[location].nlines)
			profile_set_lines(p, location, &line, 1);
		stack = profile_add_stack(p, stack, location, PROFILE_HOW_SURE);
	}
	free(copy);
	return stack;
}

static struct profile_sample blocked(struct profile *p, const char *stack)
{
	return (struct profile_sample){ .stack = add_stack(p, stack), .state = PROFILE_STATE_BLOCKED, .count = 1 };
}

static const char *leaf_of(struct profile *p, const char *text)
{
	struct profile_sample row = blocked(p, text);
	uint32_t stack = wait_frames_leaf(p, &row);
	const struct profile_location *at = &p->locations.items[p->stacks.items[stack].location];

	return profile_text(p, p->functions.items[p->lines.items[at->first_line].function].name);
}

TEST(wait_frames_leaf_is_the_programs_own_frame)
{
	struct profile *p = profile_new();

	CHECK_STR(leaf_of(p, "main;work;libc.so.6:pthread_mutex_lock;libc.so.6:lll_lock_wait;kernel:do_futex;kernel:schedule"), "work");
	CHECK_STR(leaf_of(p, "main;touch;kernel:exc_page_fault;kernel:io_schedule"), "touch");
	CHECK_STR(leaf_of(p, "libc.so.6:_start;libc.so.6:poll;kernel:do_sys_poll;kernel:schedule"), "poll");
	CHECK_STR(leaf_of(p, "kernel:kthread;kernel:worker_thread;kernel:schedule"), "worker_thread");
	CHECK_STR(leaf_of(p, "kernel:schedule"), "schedule");
	/* Runtimes wait on behalf of a program, too. */
	CHECK_STR(leaf_of(p, "main.main;main.critical;sync.(*Mutex).lockSlow;runtime.semacquire1;runtime.futex.abi0;kernel:do_futex"), "main.critical");
	CHECK_STR(leaf_of(p, "runtime.mcall;runtime.findRunnable;runtime.stopm;runtime.notesleep;runtime.futex.abi0;kernel:do_futex"), "runtime.findRunnable");
	CHECK_STR(leaf_of(p, "Lock.work;_complete_monitor_locking_Java;ObjectMonitor::enter(JavaThread*);os::PlatformEvent::park();libc.so.6:pthread_cond_wait;kernel:do_futex"), "Lock.work");
	CHECK_STR(leaf_of(p, "serve;std::condition_variable::wait(std::unique_lock<std::mutex>&);libc.so.6:pthread_cond_wait;kernel:do_futex"), "serve");
	profile_free(p);
}

/* A function that @inner lines of @file are inlined into. */
static uint32_t add_inlined(struct profile *p, const char *inner, const char *file)
{
	struct profile_function outer_f = { .name = profile_string(p, "outer"), .module = PROFILE_NONE };
	struct profile_function inner_f = { .name = profile_string(p, inner), .module = PROFILE_NONE, .file = profile_string(p, file) };
	struct profile_line lines[] = { { .function = profile_add_function(p, &inner_f) }, { .function = profile_add_function(p, &outer_f) } };

	return profile_add_named_location(p, PROFILE_FRAME_NATIVE, PROFILE_NONE, lines, 2);
}

static const char *leaf_of_state(struct profile *p, const char *text, enum profile_state state)
{
	struct profile_sample row = blocked(p, text);

	row.state = (uint8_t)state;

	const struct profile_location *at = &p->locations.items[p->stacks.items[wait_frames_leaf(p, &row)].location];

	return profile_text(p, p->functions.items[p->lines.items[at->first_line].function].name);
}

TEST(wait_frames_leaf_of_a_kernel_lock_took_it_and_of_a_request_made_it)
{
	struct profile *p = profile_new();

	CHECK_STR(leaf_of_state(p, "main;libc.so.6:open;kernel:do_sys_open;kernel:path_openat;kernel:down_read;kernel:rwsem_down_read_slowpath;kernel:__traceiter_contention_begin",
				PROFILE_STATE_CONTENDED), "path_openat");
	CHECK_STR(leaf_of_state(p, "main;save;libc.so.6:fsync;kernel:do_fsync;kernel:submit_bio;kernel:blk_mq_submit_bio", PROFILE_STATE_REQUEST), "save");
	CHECK_STR(leaf_of_state(p, "kernel:kthread;kernel:ext4_writepages;kernel:blk_finish_plug;kernel:__blk_flush_plug;kernel:blk_mq_start_request",
				PROFILE_STATE_REQUEST), "ext4_writepages");
	profile_free(p);
}

TEST(wait_frames_waker_is_the_function_that_ended_a_wait)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct profile *p = profile_new();

	CHECK_STR(wait_frames_waker(p, add_stack(p, "main;release;libc.so.6:pthread_mutex_unlock;kernel:do_syscall_64;kernel:futex_wake;kernel:try_to_wake_up"), &arena),
		  "release");
	CHECK_STR(wait_frames_waker(p, add_stack(p, "main;kernel:asm_sysvec_apic_timer_interrupt;kernel:sysvec_apic_timer_interrupt;kernel:hrtimer_wakeup;kernel:try_to_wake_up"), &arena),
		  "interrupt timer");
	CHECK_STR(wait_frames_waker(p, add_stack(p, "kernel:kthread;kernel:kjournald2;kernel:__wake_up;kernel:autoremove_wake_function;kernel:try_to_wake_up"), &arena),
		  "kjournald2");
	profile_free(p);
}

TEST(wait_frames_see_through_wrappers_that_were_inlined)
{
	struct profile *p = profile_new();

	CHECK_UINT(wait_frames_inlined_wrappers(p, add_inlined(p, "read", "/usr/include/x86_64-linux-gnu/bits/unistd.h")), 1);
	CHECK_UINT(wait_frames_inlined_wrappers(p, add_inlined(p, "std::mutex::lock()", "/usr/include/c++/13/bits/std_mutex.h")), 1);
	CHECK_UINT(wait_frames_inlined_wrappers(p, add_inlined(p, "std::sort", "/usr/include/c++/13/bits/stl_algo.h")), 0);
	CHECK_UINT(wait_frames_inlined_wrappers(p, add_inlined(p, "read", "/home/me/bits.c")), 0);
	profile_free(p);
}

TEST(wait_frames_tell_kind_and_system_call)
{
	static const struct {
		const char *stack;
		enum wait_kind kind;
		const char *syscall;
	} cases[] = {
		{ "f;kernel:do_syscall_64;kernel:__x64_sys_futex;kernel:do_futex;kernel:futex_wait;kernel:schedule", WAIT_LOCK, "futex" },
		{ "f;kernel:__x64_sys_read;kernel:ksys_read;kernel:anon_pipe_read;kernel:schedule", WAIT_PIPE, "read" },
		{ "f;kernel:__x64_sys_fsync;kernel:ext4_sync_file;kernel:jbd2_log_wait_commit;kernel:schedule", WAIT_DISK, "fsync" },
		{ "f;kernel:exc_page_fault;kernel:filemap_fault;kernel:io_schedule", WAIT_PAGE_FAULT, "[page fault]" },
		{ "f;kernel:__arm64_sys_epoll_pwait;kernel:ep_poll;kernel:schedule", WAIT_POLL, "epoll_pwait" },
		{ "f;kernel:something_new;kernel:schedule", WAIT_OTHER, "" },
	};
	struct profile *p = profile_new();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile_sample row = blocked(p, cases[i].stack);

		CHECK_UINT(wait_frames_kind(p, &row), cases[i].kind);
		CHECK_STR(wait_frames_syscall(p, &row), cases[i].syscall);
		row.state = PROFILE_STATE_RUNNABLE;
		CHECK_UINT(wait_frames_kind(p, &row), WAIT_CPU);
		row.state = PROFILE_STATE_NONE;
		CHECK_UINT(wait_frames_kind(p, &row), WAIT_ON_CPU);
	}
	for (int kind = 0; kind < WAIT_KINDS; kind++)
		CHECK(wait_kind_name((enum wait_kind)kind) != NULL);
	for (uint8_t state = 0; state < PROFILE_STATES; state++)
		CHECK(profile_state_name(state) && *profile_state_name(state));
	profile_free(p);
}

TEST(wait_frames_say_what_a_lock_is)
{
	static const struct {
		const char *stack, *what;
		bool of_thread;
	} cases[] = {
		{ "work;libc.so.6:pthread_mutex_lock;libc.so.6:__lll_lock_wait;kernel:__x64_sys_futex;kernel:do_futex", "mutex", false },
		{ "next;libc.so.6:pthread_cond_wait;libc.so.6:__lll_lock_wait;kernel:do_futex", "condition", false },
		{ "start;libc.so.6:__pthread_clockjoin_ex;libc.so.6:__futex_abstimed_wait_common;kernel:do_futex", "end of a thread", true },
		{ "Lock.work;ObjectMonitor::enter(JavaThread*);os::PlatformEvent::park();libc.so.6:pthread_cond_wait;kernel:do_futex", "Java monitor", true },
		{ "eval;python3:take_gil;libc.so.6:pthread_cond_timedwait;kernel:do_futex", "Python GIL", true },
		{ "my_own_lock;kernel:do_futex", "futex", false },
		/* What calls the function that waits is no lock. */
		{ "pthread_mutex_lookalike;work;libc.so.6:pthread_cond_wait;kernel:do_futex", "condition", false },
	};
	struct profile *p = profile_new();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile_sample row = blocked(p, cases[i].stack);
		struct wait_lock lock = wait_frames_lock(p, &row);

		CHECK_STR(lock.what, cases[i].what);
		CHECK_UINT(lock.of_thread, cases[i].of_thread);
	}
	profile_free(p);
}

TEST(wait_frames_know_system_calls_about_descriptors)
{
	struct profile *p = profile_new();
	struct profile_sample reading = blocked(p, "f;kernel:__x64_sys_read;kernel:ksys_read;kernel:anon_pipe_read");
	struct profile_sample waiting = blocked(p, "f;kernel:__do_sys_epoll_wait.isra.0;kernel:ep_poll");
	struct profile_sample sleeping = blocked(p, "f;kernel:__x64_sys_clock_nanosleep;kernel:do_nanosleep");
	struct profile_sample faulting = blocked(p, "f;kernel:exc_page_fault;kernel:filemap_fault");

	CHECK(wait_frames_takes_descriptor(p, &reading));
	CHECK(wait_frames_takes_descriptor(p, &waiting));
	CHECK(!wait_frames_takes_descriptor(p, &sleeping));
	CHECK(!wait_frames_takes_descriptor(p, &faulting));
	profile_free(p);
}

TEST(idle_waits_are_those_of_threads_without_work_and_never_of_a_mutex)
{
	static const char poll[] = "loop;kernel:__x64_sys_poll;kernel:do_sys_poll";
	static const char mutex[] = "work;libc.so.6:pthread_mutex_lock;kernel:do_futex";
	static const char queue[] = "take;libc.so.6:pthread_cond_wait;kernel:do_futex";
	static const char join[] = "main;libc.so.6:pthread_join;libc.so.6:__pthread_clockjoin_ex;kernel:do_futex";
	static const char child[] = "main;libc.so.6:wait4;kernel:__x64_sys_wait4;kernel:do_wait";
	static const char java[] = "Lock.work;ObjectMonitor::enter(JavaThread*);os::PlatformEvent::park();libc.so.6:pthread_cond_wait;kernel:do_futex";
	static const char pool[] = "Pool.take;java.util.concurrent.locks.LockSupport.park;Unsafe_Park;libc.so.6:pthread_cond_wait;kernel:do_futex";
	const uint64_t len = 10000000000;
	const struct {
		const char *stack;
		uint64_t weight, count;
		bool idle;
	} cases[] = {
		{ poll, len, 1000, true }, { poll, len / 2, 1, false },	 { mutex, len, 1, false },
		{ queue, len, 3, true },   { queue, len, 1000, false },
		{ java, len, 2, false },   { pool, len, 2, true },
		{ join, len, 1, false },   { child, len, 1, false },
	};
	struct profile *p = profile_new();

	for (uint32_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile_sample row = blocked(p, cases[i].stack);

		row.thread = i;
		row.weight = cases[i].weight;
		row.count = cases[i].count;
		profile_add_sample(p, &row);
	}

	bool *idle = idle_waits_find(p, len);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK(idle[i] == cases[i].idle);
	free(idle);
	profile_free(p);
}
