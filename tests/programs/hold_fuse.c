/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_fuse.c - a file system of one file that never answers a recorder.
 *
 *	hold_fuse DIR FILE [NAME]
 *
 * Mounts a FUSE file system on DIR that shows FILE as DIR/NAME, DIR/file without one, and answers everybody but processes whose name begins with
 * "precord". Writes "ready" to stdout once it is mounted, and runs until it is killed; the mount goes with it. 77: it cannot be mounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NODE_FILE 2

static int device;
static int file;
static struct stat real;
static const char *shown = "file";
static char reply[(1 << 20) + 4096];

static void answer(const struct fuse_in_header *in, int error, const void *data, size_t len)
{
	struct fuse_out_header out = { (uint32_t)(sizeof(out) + len), -error, in->unique };
	struct iovec parts[] = { { &out, sizeof(out) }, { (void *)(uintptr_t)data, len } };

	if (writev(device, parts, len ? 2 : 1) < 0 && errno != ENOENT)
		exit(1);
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = 4096 };

	attr.mode = node == NODE_FILE ? S_IFREG | 0755 : S_IFDIR | 0755;
	attr.size = node == NODE_FILE ? (uint64_t)real.st_size : 0;
	return attr;
}

static int is_recorder(uint32_t pid)
{
	char path[64], name[32] = "";

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return 0;
	if (read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	close(fd);
	return strncmp(name, "precord", 7) == 0;
}

static void obey(const struct fuse_in_header *in, const void *body)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 1 << 20 };
	struct fuse_entry_out entry = { .nodeid = NODE_FILE, .attr = attr_of(NODE_FILE) };
	struct fuse_attr_out attr = { .attr = attr_of(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };
	struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };
	const struct fuse_read_in *wanted = body;
	ssize_t got;

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in, 0, &init, sizeof(init));
		return;
	case FUSE_LOOKUP:
		if (strcmp(body, shown) != 0)
			answer(in, ENOENT, NULL, 0);
		else
			answer(in, 0, &entry, sizeof(entry));
		return;
	case FUSE_GETATTR:
		answer(in, 0, &attr, sizeof(attr));
		return;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(in, 0, &opened, sizeof(opened));
		return;
	case FUSE_READ:
		got = pread(file, reply, wanted->size < sizeof(reply) ? wanted->size : sizeof(reply),
			    (off_t)wanted->offset);
		answer(in, got < 0 ? errno : 0, reply, got < 0 ? 0 : (size_t)got);
		return;
	case FUSE_STATFS:
		answer(in, 0, &statfs, sizeof(statfs));
		return;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
		answer(in, 0, NULL, 0);
		return;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		answer(in, ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static _Alignas(8) char request[(1 << 20) + 4096];
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	file = argc > 2 ? open(argv[2], O_RDONLY | O_CLOEXEC) : -1;
	if (device < 0 || file < 0 || fstat(file, &real) != 0)
		return 77;
	if (argc > 3)
		shown = argv[3];
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (mount("held", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) != 0)
		return 77;
	puts("ready");
	fflush(stdout);
	for (;;) {
		ssize_t len = read(device, request, sizeof(request));
		const struct fuse_in_header *in = (const void *)request;

		if (len < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		if (len < (ssize_t)sizeof(*in))
			return 0;
		if (in->opcode == FUSE_INIT || in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
		    !is_recorder(in->pid))
			obey(in, request + sizeof(*in));
	}
}
