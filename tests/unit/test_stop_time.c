/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stop_time.c - a signal, a second one, and what each step leaves out when its time is over.
 */
#include "record/system/stop_time.h"

#include "record/output/trace_output.h"
#include "record/task/descriptor_looks.h"
#include "record/task/foreign_reader.h"
#include "record/task/proc_scan.h"
#include "record/task/task_times.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* Its time was over long ago. */
static struct stop_time over(void)
{
	return (struct stop_time){ .read_ns = 1 };
}

TEST(stop_time_begins_with_a_signal_and_ends_with_the_next)
{
	struct stop_time stop = { 0 };
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	CHECK(sigprocmask(SIG_BLOCK, &set, &before) == 0);
	CHECK(!stop_time_leaves(&stop, STOP_PROCESSES) && !stop.signal);
	CHECK(raise(SIGINT) == 0);
	CHECK(!stop_time_is_over(&stop)); /* does not look for the first */
	CHECK(!stop_time_leaves(&stop, STOP_PROCESSES));
	CHECK_INT(stop.signal, SIGINT);
	CHECK(stop.from_process && stop.read_ns);
	CHECK(raise(SIGINT) == 0);
	CHECK(stop_time_is_over(&stop) && stop_time_ends_writing(&stop));
	CHECK(stop_time_leaves(&stop, STOP_PROCESSES));
	CHECK_UINT(stop.left[STOP_PROCESSES], 1);

	/* It is still pending: all that follows is left out. */
	CHECK_INT(sigtimedwait(&set, NULL, &(struct timespec){ 0 }), SIGINT);
	CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
	CHECK(!stop_time_is_over(NULL) && !stop_time_leaves(NULL, STOP_SAMPLES));
}

TEST(stop_time_leaves_time_to_write_what_was_read)
{
	struct stop_time stop = over();

	CHECK(stop_time_is_over(&stop) && stop_time_ends_writing(&stop));
	stop.read_ns = 0;
	stop_time_begin(&stop);
	stop.read_ns -= STOP_TIME_READ_NS; /* now */
	CHECK(stop_time_is_over(&stop) && !stop_time_ends_writing(&stop));
	stop_time_begin(&stop); /* the first signal counts */
	CHECK(stop_time_is_over(&stop));
}

TEST(stop_time_says_what_was_left_out)
{
	struct stop_time stop = over();
	struct diag notes = { 0 };

	stop_time_note(&stop, &notes);
	CHECK(!notes.entries);
	CHECK(stop_time_leaves(&stop, STOP_SAMPLES) && stop_time_leaves(&stop, STOP_SAMPLES));
	stop_time_note(&stop, &notes);
	CHECK(notes.entries && strstr(notes.entries->message, "samples in the ring buffers not read: 2"));
	diag_deinit(&notes);
}

static struct err *count_event(void *context, const struct event *ev)
{
	(void)ev;
	++*(unsigned *)context;
	return NULL;
}

static void count_process(void *context, uint32_t pid, uint32_t nthreads)
{
	(void)pid, (void)nthreads;
	++*(unsigned *)context;
}

TEST(stop_time_ends_the_scan_of_processes)
{
	struct stop_time stop = over();
	unsigned count = 0;
	size_t stuck = 0;
	const struct proc_visitor visitor = { .event = count_event, .process = count_process, .context = &count, .stop = &stop };

	CHECK_OK(proc_scan_process(getpid(), &visitor, &stuck));
	CHECK_UINT(count + stuck, 0);
	CHECK_UINT(stop.left[STOP_PROCESSES], 1);
}

TEST(stop_time_ends_the_reading_of_accounts)
{
	const struct target_task self = { .pid = getpid() };
	const struct target target = { .inherit = true, .tasks = { .items = (struct target_task *)&self, .len = 1 } };
	struct stop_time stop = over();
	struct task_filter filter = { 0 };
	struct task_times times;
	unsigned count = 0;

	if (access("/proc/self/task", R_OK))
		SKIP("there is no /proc");
	task_filter_init(&filter, &target);
	task_times_begin(&times, true, 0, &stop);
	CHECK_OK(task_times_read(&times, &filter, count_event, &count));
	CHECK_UINT(count, 0);
	CHECK(stop.left[STOP_ACCOUNTS] >= 1);
	task_times_deinit(&times);
	task_filter_deinit(&filter);
}

TEST(stop_time_ends_the_looks_at_descriptors)
{
	struct stop_time stop = over();
	struct descriptor_looks *l = descriptor_looks_new(&stop);
	unsigned count = 0;

	descriptor_looks_use(l, (struct descriptor_use){ (uint32_t)getpid(), 0 });
	CHECK_OK(descriptor_looks_run(l, 0, true, count_event, &count));
	CHECK_UINT(count, 0);
	CHECK_UINT(stop.left[STOP_DESCRIPTORS], 1);
	descriptor_looks_free(l);
}

static void answer_one(const void *request, void *answer, int *ret_fd)
{
	(void)request, (void)ret_fd;
	*(uint32_t *)answer = 1;
}

TEST(stop_time_ends_the_asking_of_a_foreign_reader)
{
	struct stop_time stop = over();
	struct foreign_reader *f = foreign_reader_new(FOREIGN_DRAIN);
	uint32_t number = 0, answer = 0;
	const struct foreign_job job = { .run = answer_one, .name = "one", .request = &number, .request_len = sizeof(number),
					 .answer_len = sizeof(answer) };
	struct diag notes = { 0 };
	int fd;

	foreign_reader_stop_at(f, &stop);
	CHECK_INT(foreign_reader_ask(f, &job, &answer, &fd), FOREIGN_REFUSED);
	foreign_reader_note(f, &notes);
	CHECK(notes.entries && strstr(notes.entries->message, "not read"));
	diag_deinit(&notes);
	foreign_reader_free(f);
}

TEST(stop_time_ends_the_wait_for_a_pipe_that_takes_nothing)
{
	char bytes[4096] = { 0 };
	struct stop_time stop = { 0 };
	struct trace_output out = TRACE_OUTPUT_NONE;
	int fds[2];

	out.path = "a pipe";
	out.stop = &stop;
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	out.fd = fds[1];
	for (int i = 0; i < 4; i++)
		CHECK_OK(trace_output_write(&out, bytes, sizeof(bytes)));
	CHECK(fcntl(fds[1], F_SETFL, O_NONBLOCK) == 0);
	while (write(fds[1], bytes, sizeof(bytes)) > 0)
		;
	CHECK(fcntl(fds[1], F_SETFL, 0) == 0);
	stop = over();
	CHECK_ERR(trace_output_write(&out, bytes, 1), ERR_SYSTEM, "takes no more data");

	/* As long as it takes some, it gets all. */
	CHECK_UINT((uint64_t)read(fds[0], bytes, sizeof(bytes)), sizeof(bytes));
	CHECK_OK(trace_output_write(&out, bytes, sizeof(bytes)));
	close(fds[0]);
	close(fds[1]);
}
