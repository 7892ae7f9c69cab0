/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_descriptor_looks.c - this very process's descriptors, and tables of sockets as kernels print them.
 */
#include "record/task/descriptor_looks.h"

#include "formats/base/clock.h"
#include "tests/unit/test.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct told {
	unsigned count;
	uint32_t number;
	char name[256];
};

static struct err *hear(void *context, const struct event *ev)
{
	struct told *told = context;

	CHECK_UINT(ev->kind, EVENT_DESCRIPTOR);
	CHECK_UINT(ev->pid, (uint32_t)getpid());
	told->count++;
	told->number = ev->descriptor.number;
	snprintf(told->name, sizeof(told->name), "%s", ev->descriptor.name);
	return NULL;
}

TEST(descriptor_looks_say_what_a_descriptor_is_and_when_it_is_gone)
{
	struct descriptor_looks *l = descriptor_looks_new(NULL);
	struct told told = { 0 };
	int ends[2];

	CHECK(pipe(ends) == 0);
	struct descriptor_use use = { (uint32_t)getpid(), (uint32_t)ends[0] };

	CHECK_OK(descriptor_looks_run(l, clock_now_ns(CLOCK_MONOTONIC), false, hear, &told));
	CHECK_UINT(told.count, 0);
	descriptor_looks_use(l, use);
	descriptor_looks_use(l, use);
	CHECK_OK(descriptor_looks_run(l, clock_now_ns(CLOCK_MONOTONIC), true, hear, &told));
	CHECK_UINT(told.count, 1);
	CHECK_UINT(told.number, use.number);
	CHECK(strncmp(told.name, "pipe:[", 6) == 0);
	close(ends[0]);
	close(ends[1]);
	descriptor_looks_use(l, use);
	CHECK_OK(descriptor_looks_run(l, 0, true, hear, &told)); /* not due, but it is the last time */
	CHECK_UINT(told.count, 2);
	CHECK_STR(told.name, "");
	descriptor_looks_free(l);
}

TEST(descriptor_looks_say_nothing_of_processes_that_have_ended)
{
	struct descriptor_looks *l = descriptor_looks_new(NULL);
	struct told told = { 0 };

	descriptor_looks_use(l, (struct descriptor_use){ 0x7fffffff, 3 });
	CHECK_OK(descriptor_looks_run(l, clock_now_ns(CLOCK_MONOTONIC), true, hear, &told));
	CHECK_UINT(told.count, 0);
	descriptor_looks_free(l);
}

static const char tcp[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	"   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 00 100 0 0 10 0\n"
	"   1: 0100007F:0050 0900000A:D431 01 00000000:00000000 00:00000000 00000000     0        0 12 1 00 20 4 30 10 -1\n"
	"   2: 0200000A:D431 0100000A:1538 01 00000000:00000000 00:00000000 00000000     0        0 13 1 00 20 4 30 10 -1\n"
	"   3: nonsense\n"
	"   4: 0200000A:D432 0100000A:1538 06 00000000:00000000 03:00000000 00000000     0        0 0 3 00\n";

static const char tcp6[] =
	"  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	"   0: 00000000000000000000000001000000:D431 00000000000000000000000001000000:1538 01 00000000:00000000 00:00000000 00000000     0        0 21 1 00 20 4 30 10 -1\n"
	"   1: 0000000000000000FFFF00000200000A:0050 0000000000000000FFFF00000700000A:9C41 01 00000000:00000000 00:00000000 00000000     0        0 22 1 00 20 4 30 10 -1\n";

static const char udp[] =
	"   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n"
	"  100: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 31 2 00 0\n";

static const char unix_sockets[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
			   "0000000000000000: 00000002 00000000 00010000 0001 01    41 /run/x y.sock\n"
			   "0000000000000000: 00000003 00000000 00000000 0001 03    42\n"
			   "0000000000000000: 00000003 00000000 00000000 0001 03    43\n";

TEST(socket_names_tell_clients_from_servers)
{
	struct socket_names *n = socket_names_new();

	CHECK(!socket_names_get(n, 11));
	socket_names_read(n, AF_INET, "tcp", tcp);
	socket_names_read(n, AF_INET6, "tcp6", tcp6);
	socket_names_read(n, AF_INET, "udp", udp);
	socket_names_read(n, AF_UNIX, "unix", unix_sockets);
	CHECK_STR(socket_names_get(n, 11), "tcp :80 listening");
	CHECK_STR(socket_names_get(n, 12), "tcp :80 from 10.0.0.9");
	CHECK_STR(socket_names_get(n, 13), "tcp to 10.0.0.1:5432");
	CHECK(!socket_names_get(n, 0));
	CHECK_STR(socket_names_get(n, 21), "tcp6 to [::1]:5432");
	CHECK_STR(socket_names_get(n, 22), "tcp6 :80 from 10.0.0.7");
	CHECK_STR(socket_names_get(n, 31), "udp :53");
	CHECK_STR(socket_names_get(n, 41), "unix /run/x y.sock");
	CHECK_STR(socket_names_get(n, 42), "unix socket"); /* and not the next line */
	CHECK_STR(socket_names_get(n, 43), "unix socket");
	socket_names_free(n);
}
