/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - epoll over one event for each ring and a signalfd.
 *
 * An event hangs up for good when its task and all inheriting tasks have ended; another event of the same ring then
 * replaces it.
 */
#include "record/sample/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_MAX 64

/* epoll's data: the number of a struct perf_fd, or one of these. */
#define SIGNAL_TOKEN  UINT64_MAX
#define CONTROL_TOKEN (UINT64_MAX - 1)
#define BELL_TOKEN    (UINT64_MAX - 2)
#define EVENT_TOKEN   (UINT64_MAX - 3)

struct err *watch_open(struct watch *ret)
{
	static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,
					SIGUSR1, SIGUSR2, SIGCHLD };
	sigset_t mask;

	*ret = (struct watch){ .epoll_fd = -1, .signal_fd = -1 };
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		sigaddset(&mask, signals[i]);
	sigprocmask(SIG_BLOCK, &mask, &ret->old_mask);
	ret->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ret->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);

	struct epoll_event event = { .events = EPOLLIN, .data.u64 = SIGNAL_TOKEN };

	if (ret->epoll_fd < 0 || ret->signal_fd < 0 ||
	    epoll_ctl(ret->epoll_fd, EPOLL_CTL_ADD, ret->signal_fd, &event) < 0) {
		int error = errno;

		watch_close(ret);
		return err_system(error, "cannot wait for signals");
	}
	return NULL;
}

void watch_close(struct watch *w)
{
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->signal_fd >= 0)
		close(w->signal_fd);
	if (w->epoll_fd >= 0 || w->signal_fd >= 0)
		sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
	w->epoll_fd = w->signal_fd = -1;
}

static bool same_ring(const struct perf_fd *a, const struct perf_fd *b)
{
	return a->cpu == b->cpu && (a->event == PERF_FD_SIDE_BAND) == (b->event == PERF_FD_SIDE_BAND);
}

static bool add(const struct watch *w, const struct perf_fds *s, size_t perf_fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = perf_fd };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, s->items.items[perf_fd].fd, &event) == 0;
}

struct err *watch_rings(struct watch *w, const struct perf_fds *s)
{
	w->live_rings = s->samples.len;
	for (size_t i = 0; i < s->items.len; i++) {
		const struct perf_fd *perf_fd = &s->items.items[i];
		const struct ring_list *rings =
			perf_fd->event == PERF_FD_SIDE_BAND ? &s->side : &s->samples;
		bool mapped = false;

		for (size_t ring = 0; ring < rings->len; ring++)
			mapped |= rings->items[ring].fd == perf_fd->fd;
		if (mapped && !add(w, s, i))
			return err_system(errno, "cannot wait for the ring of CPU %" PRIu32,
					  perf_fd->cpu);
	}
	return NULL;
}

struct err *watch_more(struct watch *w, const struct perf_fds *s, size_t first)
{
	for (size_t i = first; i < s->items.len; i++) {
		bool others = s->waking && s->items.items[i].event != PERF_FD_SIDE_BAND;

		if (s->items.items[i].fd >= 0 && !others && !add(w, s, i))
			return err_system(errno, "cannot wait for the ring of CPU %" PRIu32,
					  s->items.items[i].cpu);
	}
	return NULL;
}

/* Descriptor number @number has hung up: wait for the next one of its ring. */
static void replace(struct watch *w, const struct perf_fds *s, size_t number)
{
	const struct perf_fd *gone = &s->items.items[number];

	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, gone->fd, NULL);
	for (size_t i = number + 1; i < s->items.len; i++) {
		if (same_ring(gone, &s->items.items[i]) && add(w, s, i))
			return;
	}
	w->live_rings -= gone->event != PERF_FD_SIDE_BAND && w->live_rings > 0;
}

struct err *watch_control(struct watch *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = CONTROL_TOKEN };

	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return NULL;
	return err_remedy(err_system(errno, "cannot wait for commands on descriptor %d", fd),
			  "it must be a FIFO, a pipe, a socket or a terminal");
}

void watch_forget_control(struct watch *w, int fd)
{
	epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

struct err *watch_bell(struct watch *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = BELL_TOKEN };

	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0 ||
	    epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return NULL;
	return err_system(errno, "cannot wait for mappings");
}

void watch_leave_samples(struct watch *w, const struct perf_fds *s, bool leave)
{
	for (size_t i = 0; i < s->items.len; i++) {
		if (s->items.items[i].event == PERF_FD_SIDE_BAND)
			continue;
		for (size_t ring = 0; ring < s->samples.len; ring++) {
			if (s->samples.items[ring].fd != s->items.items[i].fd)
				continue;
			if (leave)
				epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, s->items.items[i].fd, NULL);
			else
				add(w, s, i);
		}
	}
}

struct err *watch_eventfd(struct watch *w, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = EVENT_TOKEN };

	if (epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return NULL;
	return err_system(errno, "cannot wait for a descriptor of our own");
}

static void read_signals(struct watch *w, struct watch_result *result)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			result->child = true;
			break;
		case SIGUSR1:
			result->toggles++;
			break;
		case SIGUSR2:
			result->snapshot = true;
			break;
		default:
			result->signal = (int)info.ssi_signo;
			result->from_process = info.ssi_code <= 0;
		}
	}
}

struct watch_result watch_wait(struct watch *w, const struct perf_fds *s, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	struct watch_result result = { 0 };
	int count = epoll_wait(w->epoll_fd, events, EVENTS_MAX, timeout_ms);

	w->wakeups++;
	result.timed_out = count == 0;
	for (int i = 0; i < count; i++) {
		if (events[i].data.u64 == SIGNAL_TOKEN)
			read_signals(w, &result);
		else if (events[i].data.u64 == CONTROL_TOKEN)
			result.control = true;
		else if (events[i].data.u64 == BELL_TOKEN)
			result.bell = true;
		else if (events[i].data.u64 != EVENT_TOKEN && events[i].events & (EPOLLHUP | EPOLLERR))
			replace(w, s, events[i].data.u64);
	}
	return result;
}
