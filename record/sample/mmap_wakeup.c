/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mmap_wakeup.c - a ring that is mapped read-only is overwritten and never full; only its wake-ups and its head are used, so one
 * page is enough.
 */
#include "record/sample/mmap_wakeup.h"

#include "record/event/event_attr.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define REST_LEAST_NS 10000000
#define REST_MOST_NS  100000000
#define FORGET_MAX    64 /* CPUs; others may wake the recorder once for nothing */
#define SILENCE_NS    1000000000 /* after which it is as good as new */

static size_t ring_len(void)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE); /* the control page and one of records */
}

static void cut(struct mmap_wakeup_wire *wire)
{
	if (wire->page)
		munmap(wire->page, ring_len());
	if (wire->fd >= 0)
		close(wire->fd);
}

static struct err *add_wire(struct mmap_wakeup *d, pid_t pid, uint32_t cpu)
{
	const struct event_target at = { .pid = pid, .cpu = (int)cpu, .cgroup_fd = -1 };
	struct epoll_event event = { .events = EPOLLIN };
	struct mmap_wakeup_wire wire = { .fd = -1 };
	struct err *err = event_plan_open_doorbell(d->plan, &at, &wire.fd);

	if (err)
		return err;
	wire.page = mmap(NULL, ring_len(), PROT_READ, MAP_SHARED, wire.fd, 0);
	if (wire.page == MAP_FAILED) {
		wire.page = NULL;
		err = err_system(errno, "cannot map a page of ring buffer for CPU %" PRIu32, cpu);
	} else if (epoll_ctl(d->fd, EPOLL_CTL_ADD, wire.fd, &event) < 0) {
		err = err_system(errno, "cannot wait for the mappings of CPU %" PRIu32, cpu);
	}
	if (err)
		cut(&wire);
	else
		vec_push(&d->wires, wire);
	return err;
}

struct err *mmap_wakeup_open(struct mmap_wakeup *d, const struct event_plan *plan,
			  const struct target *target)
{
	const struct cpu_list *cpus = target->by_cpu ? &target->online : &target->cpus;
	struct err *err = NULL;

	*d = (struct mmap_wakeup){
		.fd = epoll_create1(EPOLL_CLOEXEC),
		.plan = plan,
		.target = target,
		.rests_until_ns = UINT64_MAX,
	};
	if (d->fd < 0)
		return err_system(errno, "cannot wait for mappings");
	if (!target->by_cpu && target->tasks.len != 1)
		err = err_new(ERR_UNSUPPORTED, "events follow several threads");
	for (size_t i = 0; i < cpus->len && !err; i++)
		err = add_wire(d, target->by_cpu ? -1 : target->tasks.items[0].tid, cpus->cpus[i]);
	if (err)
		mmap_wakeup_close(d);
	return err;
}

void mmap_wakeup_close(struct mmap_wakeup *d)
{
	for (size_t i = 0; i < d->wires.len; i++)
		cut(&d->wires.items[i]);
	vec_deinit(&d->wires);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

struct err *mmap_wakeup_reopen(struct mmap_wakeup *d, uint32_t cpu)
{
	return d->fd < 0 ? NULL : add_wire(d, -1, cpu);
}

/* It counts the bytes of all records, those that are overwritten too. */
static uint64_t head_of(const struct mmap_wakeup_wire *wire)
{
	const struct perf_event_mmap_page *page = wire->page;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

void mmap_wakeup_look(struct mmap_wakeup *d)
{
	for (size_t i = 0; i < d->wires.len; i++)
		d->wires.items[i].head = head_of(&d->wires.items[i]);
}

bool mmap_wakeup_missed(const struct mmap_wakeup *d)
{
	for (size_t i = 0; i < d->wires.len; i++) {
		if (d->wires.items[i].head != head_of(&d->wires.items[i]))
			return true;
	}
	return false;
}

void mmap_wakeup_rest(struct mmap_wakeup *d, uint64_t now_ns, uint64_t news)
{
	bool awake = d->rest_ns && now_ns < d->rested_ns + SILENCE_NS;

	d->wakeups++;
	if (!awake)
		d->rest_ns = REST_LEAST_NS;
	else if (news == d->news)
		d->rest_ns = MIN(2 * d->rest_ns, REST_MOST_NS);
	else
		d->rest_ns = MAX(d->rest_ns / 2, REST_LEAST_NS);
	d->rests_until_ns = now_ns + d->rest_ns;
	d->news = news;
}

/* What came in the pause would wake the recorder again: the heads of the rings tell of it. */
static void forget_wakeups(const struct mmap_wakeup *d)
{
	struct epoll_event events[FORGET_MAX];

	if (d->fd >= 0)
		epoll_wait(d->fd, events, FORGET_MAX, 0);
}

bool mmap_wakeup_rested(struct mmap_wakeup *d, uint64_t now_ns, bool woke)
{
	if (now_ns < d->rests_until_ns)
		return false;
	d->wakeups += woke;
	d->rested_ns = now_ns;
	d->rests_until_ns = UINT64_MAX;
	forget_wakeups(d);
	return true;
}
