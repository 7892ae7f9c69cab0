/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor_looks.c - each look reads one link; the socket tables are read again when they lack a socket.
 *
 * /proc/net/tcp has "sl local remote state ..." with addresses in hexadecimal, each group of 32 bits as it lies in memory
 * (net/ipv4/tcp_ipv4.c, get_tcp4_sock()). A local port on which another socket listens is the server's side.
 */
#include "record/task/descriptor_looks.h"

#include "formats/base/clock.h"
#include "formats/base/compiler.h"
#include "formats/base/map.h"
#include "formats/base/memory.h"
#include "formats/base/strtab.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KNOWN_MAX    65536	/* descriptors remembered; when full, all are forgotten */
#define AT_ONCE	     256	/* looks */
#define FIRST_NS     100000000ULL  /* from the first look at one to the second */
#define LONGEST_NS   1000000000ULL
#define SHARE	     100	/* a hundredth of the time at most */
#define TABLE_LEN    (1u << 20) /* bytes of a table of sockets that are read */
#define SOCKETS_MAX  65536
#define STATE_LISTEN 0x0a
#define STATE_OPEN   0x07 /* of UDP: without a peer */

/* ---- the kernel's tables of sockets ---- */

struct socket_names {
	struct map names;     /* inode -> text + 1 */
	struct map listeners; /* local port */
	struct strtab texts;
};

struct socket_names *socket_names_new(void)
{
	return memory_zeroed(1, sizeof(struct socket_names));
}

static void forget_sockets(struct socket_names *n)
{
	map_clear(&n->names);
	map_clear(&n->listeners);
	strtab_deinit(&n->texts);
	n->texts = (struct strtab){ 0 };
}

void socket_names_free(struct socket_names *n)
{
	if (!n)
		return;
	map_deinit(&n->names);
	map_deinit(&n->listeners);
	strtab_deinit(&n->texts);
	free(n);
}

struct endpoint {
	char addr[INET6_ADDRSTRLEN + 2]; /* IPv6 in brackets */
	unsigned port;
};

static bool parse_endpoint(const char *text, int family, struct endpoint *ret)
{
	size_t ngroups = family == AF_INET ? 1 : 4;
	uint32_t groups[4];
	struct in6_addr in6;
	char addr[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < ngroups; i++)
		if (sscanf(text + 8 * i, "%8" SCNx32, &groups[i]) != 1)
			return false;
	if (sscanf(text + 8 * ngroups, ":%x", &ret->port) != 1)
		return false;
	memcpy(&in6, groups, ngroups * sizeof(*groups));
	if (family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6)) {
		groups[0] = groups[3];
		family = AF_INET;
	}
	if (!inet_ntop(family, family == AF_INET ? (void *)groups : (void *)&in6, addr, sizeof(addr)))
		return false;
	snprintf(ret->addr, sizeof(ret->addr), family == AF_INET ? "%s" : "[%s]", addr);
	return true;
}

struct inet_line {
	struct endpoint local, remote;
	unsigned state;
	uint64_t inode;
};

static bool parse_inet(const char *line, int family, struct inet_line *ret)
{
	char local[48], remote[48];

	return sscanf(line, " %*[0-9]: %47s %47s %x %*s %*s %*s %*s %*s %" SCNu64, local, remote, &ret->state, &ret->inode) == 4 &&
	       parse_endpoint(local, family, &ret->local) && parse_endpoint(remote, family, &ret->remote);
}

static void put_name(struct socket_names *n, uint64_t inode, const char *text)
{
	if (inode && n->names.len < SOCKETS_MAX)
		*map_put(&n->names, inode, NULL) = strtab_add(&n->texts, text) + 1;
}

static void name_inet(struct socket_names *n, const char *protocol, const struct inet_line *at)
{
	char text[160];

	if (at->state == STATE_LISTEN)
		snprintf(text, sizeof(text), "%s :%u listening", protocol, at->local.port);
	else if (!at->remote.port || (at->state == STATE_OPEN && !strncmp(protocol, "udp", 3)))
		snprintf(text, sizeof(text), "%s :%u", protocol, at->local.port);
	else if (map_get(&n->listeners, at->local.port))
		snprintf(text, sizeof(text), "%s :%u from %s", protocol, at->local.port, at->remote.addr);
	else
		snprintf(text, sizeof(text), "%s to %s:%u", protocol, at->remote.addr, at->remote.port);
	put_name(n, at->inode, text);
}

static void name_unix(struct socket_names *n, const char *line)
{
	char path[128] = "", text[160];
	uint64_t inode;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 "%*[ ]%127[^\n]", &inode, path) < 1)
		return;
	snprintf(text, sizeof(text), "unix %s", *path ? path : "socket");
	put_name(n, inode, text);
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

void socket_names_read(struct socket_names *n, int family, const char *protocol, const char *text)
{
	struct inet_line at;

	for (const char *line = text; family != AF_UNIX && *line; line = next_line(line))
		if (parse_inet(line, family, &at) && at.state == STATE_LISTEN)
			*map_put(&n->listeners, at.local.port, NULL) = 1;
	for (const char *line = text; *line; line = next_line(line))
		if (family == AF_UNIX)
			name_unix(n, line);
		else if (parse_inet(line, family, &at))
			name_inet(n, protocol, &at);
}

const char *socket_names_get(struct socket_names *n, uint64_t inode)
{
	const uint64_t *text = map_get(&n->names, inode);

	return text ? strtab_get(&n->texts, (uint32_t)(*text - 1)) : NULL;
}

/* ---- looks ---- */

struct known {
	struct descriptor_use use;
	uint64_t next_ns, interval_ns;
	bool used; /* since the last look */
};

struct descriptor_looks {
	struct map numbers; /* pid and number -> number in known + 1 */
	VEC(struct known) known;
	VEC(uint32_t) waiting; /* used since the last look: numbers in known */
	uint64_t next_ns;
	struct socket_names *sockets;
	bool read_sockets; /* in this run */
	struct stop_time *stop; /* NULL: none */
};

struct descriptor_looks *descriptor_looks_new(struct stop_time *stop)
{
	struct descriptor_looks *l = memory_zeroed(1, sizeof(*l));

	l->stop = stop;
	l->sockets = socket_names_new();
	return l;
}

void descriptor_looks_free(struct descriptor_looks *l)
{
	if (!l)
		return;
	map_deinit(&l->numbers);
	vec_deinit(&l->known);
	vec_deinit(&l->waiting);
	socket_names_free(l->sockets);
	free(l);
}

static void forget_all(struct descriptor_looks *l)
{
	map_clear(&l->numbers);
	l->known.len = l->waiting.len = 0;
}

void descriptor_looks_use(struct descriptor_looks *l, struct descriptor_use use)
{
	bool fresh;
	uint64_t *number;
	struct known *known;

	if (l->known.len >= KNOWN_MAX)
		forget_all(l);
	number = map_put(&l->numbers, (uint64_t)use.pid << 32 | use.number, &fresh);
	if (fresh) {
		vec_push(&l->known, ((struct known){ .use = use, .interval_ns = FIRST_NS }));
		*number = l->known.len;
	}
	known = &l->known.items[*number - 1];
	if (!known->used)
		vec_push(&l->waiting, (uint32_t)(*number - 1));
	known->used = true;
}

static void read_table(struct descriptor_looks *l, uint32_t pid, const char *name, int family, char *text)
{
	char path[64];
	size_t len = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/net/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while ((got = read(fd, text + len, TABLE_LEN - len)) > 0)
		len += (size_t)got;
	close(fd);
	text[len] = '\0';
	socket_names_read(l->sockets, family, name, text);
}

static void read_tables(struct descriptor_looks *l, uint32_t pid)
{
	static const struct {
		const char *name;
		int family;
	} tables[] = { { "tcp", AF_INET }, { "tcp6", AF_INET6 }, { "udp", AF_INET }, { "udp6", AF_INET6 }, { "unix", AF_UNIX } };
	char *text = memory_alloc(TABLE_LEN + 1);

	if (l->sockets->names.len >= SOCKETS_MAX / 2)
		forget_sockets(l->sockets);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		read_table(l, pid, tables[i].name, tables[i].family, text);
	free(text);
	l->read_sockets = true;
}

/* The name of the socket that the link in @text refers to, in its place. */
static void name_socket(struct descriptor_looks *l, uint32_t pid, char *text, size_t room)
{
	const char *name;
	uint64_t inode;

	if (sscanf(text, "socket:[%" SCNu64 "]", &inode) != 1)
		return;
	if (!socket_names_get(l->sockets, inode) && !l->read_sockets)
		read_tables(l, pid);
	name = socket_names_get(l->sockets, inode);
	if (name)
		snprintf(text, room, "%s", name);
}

/* An ended process has no descriptors left: keep what is known. */
static bool has_ended(uint32_t pid)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", pid);
	return readlink(path, text, sizeof(text)) < 0;
}

static struct err *look(struct descriptor_looks *l, struct known *known, descriptor_tell *tell, void *context)
{
	char path[64], text[PATH_MAX] = "";
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd/%" PRIu32, known->use.pid, known->use.number);
	len = readlink(path, text, sizeof(text) - 1);
	text[MAX(len, 0)] = '\0';
	if (len < 0 && has_ended(known->use.pid))
		return NULL;
	if (len > 0)
		name_socket(l, known->use.pid, text, sizeof(text));

	const struct event ev = {
		.kind = EVENT_DESCRIPTOR,
		.time_ns = clock_now_ns(CLOCK_MONOTONIC),
		.cpu = EVENT_NO_CPU,
		.pid = known->use.pid,
		.tid = known->use.pid,
		.descriptor = { known->use.number, text },
	};

	known->next_ns = ev.time_ns + known->interval_ns;
	known->interval_ns = MIN(2 * known->interval_ns, LONGEST_NS);
	known->used = false;
	return tell(context, &ev);
}

struct err *descriptor_looks_run(struct descriptor_looks *l, uint64_t now_ns, bool all, descriptor_tell *tell, void *context)
{
	size_t kept = 0, looks = 0;
	struct err *err = NULL;

	if (!all && now_ns < l->next_ns)
		return NULL;
	l->read_sockets = false;
	for (size_t i = 0; i < l->waiting.len; i++) {
		struct known *known = &l->known.items[l->waiting.items[i]];

		if (all && stop_time_leaves(l->stop, STOP_DESCRIPTORS))
			continue;
		if (!err && (all || (now_ns >= known->next_ns && looks++ < AT_ONCE)))
			err = look(l, known, tell, context);
		else
			l->waiting.items[kept++] = l->waiting.items[i];
	}
	l->waiting.len = kept;

	uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC);

	l->next_ns = end_ns + SHARE * (end_ns - now_ns);
	return err;
}
