/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jvm_perfmap.c - HotSpot's attach protocol. The JVM creates the socket /tmp/.java_pidPID when it gets SIGQUIT and finds a file
 * /tmp/.attach_pidPID of its user or of root. A request is "1", a command and three arguments, each with a NUL behind it;
 * the answer begins with a line that is 0 if it was done.
 *
 * SIGQUIT kills a program that does not catch it, so it is sent only to one that does.
 */
#include "record/embed/jvm_perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAPS_LEN_MAX (16u << 20) /* of /proc/PID/maps that is read */
#define WAIT_MS	     5000
#define LOOK_MS	     20

/* ---- what the process is --------------------------------------------------------------------------- */

bool jvm_perfmap_is_jvm(uint32_t pid)
{
	char path[64], line[4096];
	size_t total = 0;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(path, "re");

	if (!maps)
		return false;
	while (!found && total < MAPS_LEN_MAX && fgets(line, sizeof(line), maps)) {
		const char *end = strstr(line, "/libjvm.so\n"), *flags = strchr(line, ' ');

		total += strlen(line);
		found = end && flags && strlen(flags) > 3 && flags[3] == 'x';
	}
	fclose(maps);
	return found;
}

/* Does @pid catch signal SIGQUIT? */
static bool catches_quit(uint32_t pid)
{
	char path[64], line[256];
	uint64_t caught = 0;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	FILE *status = fopen(path, "re");

	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %" SCNx64, &caught) == 1)
			break;
	fclose(status);
	return caught >> (SIGQUIT - 1) & 1;
}

/* Namespace @name, "pid" for example, of @pid is that of this process. */
static bool same_namespace(uint32_t pid, const char *name)
{
	char theirs[64], ours[64];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%" PRIu32 "/ns/%s", pid, name);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", name);
	return stat(theirs, &a) == 0 && stat(ours, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Whose process it is; false if it is gone. */
static bool user_of(uint32_t pid, uid_t *ret)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (stat(path, &st) != 0)
		return false;
	*ret = st.st_uid;
	return true;
}

/* ---- the socket ------------------------------------------------------------------------------------ */

/* A socket of @uid at @path, as a descriptor that only names it; -1 if there is none. */
static int find_socket(const char *path, uid_t uid)
{
	int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != uid)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

static void rest(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
}

/* Have the machine make its socket: it looks for the file when it gets the signal. */
static int have_socket_made(uint32_t pid, int pidfd, const char *path, uid_t uid)
{
	char request[64];
	int fd, found = -1;

	if (!catches_quit(pid))
		return -1;
	snprintf(request, sizeof(request), "/tmp/.attach_pid%" PRIu32, pid);
	fd = open(request, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	close(fd);
	/* The signal would kill another process that has the number by now. */
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGQUIT, NULL, 0) == 0)
		for (int waited = 0; found < 0 && waited < WAIT_MS; waited += LOOK_MS) {
			rest();
			found = find_socket(path, uid);
		}
	unlink(request);
	return found;
}

static int connect_to(int name_fd)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d", name_fd);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Wait until the answer's first byte is there: '0' if the command was done. */
static bool was_done(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char answer;

	return poll(&ready, 1, WAIT_MS) == 1 && read(fd, &answer, 1) == 1 && answer == '0';
}

/* All of the answer, which ends when the command has. */
static void read_rest(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char bytes[256];

	for (int i = 0; i < 256 && poll(&ready, 1, WAIT_MS) == 1 && read(fd, bytes, sizeof(bytes)) > 0; i++)
		;
}

static bool command(int name_fd)
{
	static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";
	int fd = connect_to(name_fd);
	bool done = fd >= 0 &&
		    send(fd, request, sizeof(request), MSG_NOSIGNAL) == (ssize_t)sizeof(request) &&
		    was_done(fd);

	if (done)
		read_rest(fd);
	if (fd >= 0)
		close(fd);
	return done;
}

struct err *jvm_perfmap_write(uint32_t pid, int pidfd)
{
	char path[64];
	uid_t uid;
	bool done;

	if (!user_of(pid, &uid))
		return err_new(ERR_SYSTEM, "it is gone");
	if (!same_namespace(pid, "pid") || !same_namespace(pid, "mnt"))
		return err_new(ERR_UNSUPPORTED, "it is in another PID or mount namespace");
	snprintf(path, sizeof(path), "/tmp/.java_pid%" PRIu32, pid);
	int name_fd = find_socket(path, uid);

	if (name_fd < 0 && errno == ENOENT)
		name_fd = have_socket_made(pid, pidfd, path, uid);
	if (name_fd < 0)
		return err_new(ERR_UNSUPPORTED, "there is no socket of its user at '%s'", path);
	done = command(name_fd);
	close(name_fd);
	return done ? NULL : err_new(ERR_SYSTEM, "it does not do the command (JDK 17 and later do)");
}
