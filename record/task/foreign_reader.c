/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign_reader.c - requests name the function that is to run: the reader is a copy of the recorder, where it has the same address. The first
 * one is made at once, while the recorder is small and has no other threads: a lock that one holds meanwhile, as of an allocator that does not care
 * about fork (AddressSanitizer's of gcc 12), nobody would ever release in the copy.
 */
#include "record/task/foreign_reader.h"

#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "record/system/confine.h"
#include "record/system/priority.h"
#include "record/task/process_stat.h"
#include "record/task/sched_account.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_MAX_LEN 128
#define MEMORY_MAX   ((uint64_t)1 << 30) /* the reader may use this much more than the recorder */

#define PROMPT_NS   500000 /* an answer that took no longer was work */
#define WORK_WEIGHT 6	   /* of which a sixth counts */
#define BUSY_PART   4	   /* part of the timeout of one answer after which a busy reader is looked at again */
#define SHARE_PART    4 /* of what is left may one answer take, and of the whole one user */
#define LEAST_PART    16 /* of the timeout of one answer: if less is left, nothing is asked */
#define OWNERS_MAX    64 /* further ones count as one */
#define SOON_PART     5 /* part of the timeout of one answer that applies to a batch */

struct limits {
	uint64_t wait_ns, busy_ns, bucket_ns; /* for one answer, also if the reader is busy; for all */
	unsigned percent;
};

static const struct limits limits[] = {
	[FOREIGN_DRAIN] = { 100000000ULL, 1000000000ULL, 1000000000ULL, 5 },
	[FOREIGN_THREAD] = { 2000000000ULL, 4000000000ULL, 10000000000ULL, 20 },
};

struct request {
	void (*run)(const void *request, void *answer, int *ret_fd);
	size_t answer_len;
	uint8_t bytes[FOREIGN_REQUEST_MAX];
};

/* What a user has left, and when that was filled. */
struct owner {
	uint32_t uid;
	uint64_t left_ns, filled_ns;
};

struct foreign_reader {
	pid_t pid; /* 0: none runs */
	int fd;    /* to it */
	uint64_t busy_ns; /* how long it has run or waited for a CPU, by the last look at its account */
	const struct limits *limits;
	pid_t left[FOREIGN_LEFT_MAX]; /* killed, but not yet dead */
	size_t nleft;
	uint64_t bucket_ns, filled_ns; /* the budget for waiting, and when it was last filled */
	uint64_t waited_ns;
	struct owner owners[OWNERS_MAX]; /* those that were waited for */
	size_t nowners;
	uint64_t late, refused;
	char first_late[NAME_MAX_LEN];
	int policy; /* of the reader, the recorder's as it began */
	struct sched_param param;
	bool goes_first; /* it is an ordinary process, but the first of them, as the recorder is raised */
	int cpu; /* where it may run; -1: anywhere */
	const struct stop_time *stop; /* NULL: none */
};

/* ---- in the reader ------------------------------------------------------------------------------------- */

static bool send_answer(int fd, const void *answer, size_t len, int passed)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)answer, .iov_len = len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (passed >= 0) {
		message.msg_control = control.room;
		message.msg_controllen = sizeof(control.room);
		control.head = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		};
		memcpy(CMSG_DATA(&control.head), &passed, sizeof(passed));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Until the recorder closes its end. */
static void serve(int fd)
{
	struct request *request = memory_zeroed(1, sizeof(*request));
	uint8_t *answer = memory_zeroed(1, FOREIGN_ANSWER_MAX);
	bool heard = true;

	while (heard && recv(fd, request, sizeof(*request), 0) > 0) {
		int passed = -1;

		memset(answer, 0, request->answer_len);
		request->run(request->bytes, answer, &passed);
		heard = send_answer(fd, answer, request->answer_len, passed);
		if (passed >= 0)
			close(passed);
	}
	free(answer);
	free(request);
}

static void close_all_but(int fd)
{
	if (fd > 3)
		syscall(SYS_close_range, 3U, (unsigned int)fd - 1, 0);
	syscall(SYS_close_range, (unsigned int)fd + 1, ~0U, 0);
}

/* It needs the priority of the drain, which waits for it; where a thread waits, a place before other programs. */
__attribute__((noreturn)) static void be_reader(const struct foreign_reader *f, int fd)
{
	/* It ends when the other end of @fd is closed: PR_SET_PDEATHSIG goes by the thread that forked. */
	prctl(PR_SET_NAME, "precord-files");
	memory_no_last_words();
	sched_setscheduler(0, f->policy | SCHED_RESET_ON_FORK, &f->param);
	if (f->goes_first)
		priority_go_first();
	close_all_but(fd);
	confine_memory(MEMORY_MAX);
	confine_foreign_reader();
	serve(fd);
	_exit(0);
}

/* ---- in the recorder ----------------------------------------------------------------------------------- */

static void reap(struct foreign_reader *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->nleft; i++) {
		if (waitpid(f->left[i], NULL, WNOHANG) == 0)
			f->left[kept++] = f->left[i];
	}
	f->nleft = kept;
}

static bool begin(struct foreign_reader *f)
{
	int fds[2];

	if (f->pid)
		return true;
	reap(f);
	if (f->nleft == FOREIGN_LEFT_MAX ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	pid_t pid = fork();

	if (pid == 0)
		be_reader(f, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return false;
	}
	f->pid = pid;
	f->fd = fds[0];
	f->cpu = -1;
	f->busy_ns = 0;
	return true;
}

static void end(struct foreign_reader *f)
{
	if (!f->pid)
		return;
	close(f->fd);
	kill(f->pid, SIGKILL);
	f->left[f->nleft++] = f->pid;
	f->pid = 0;
	f->fd = -1;
}

struct foreign_reader *foreign_reader_new(enum foreign_patience patience)
{
	struct foreign_reader *f = memory_zeroed(1, sizeof(*f));

	f->fd = -1;
	f->cpu = -1;
	f->limits = &limits[patience];
	f->bucket_ns = f->limits->bucket_ns;
	f->filled_ns = clock_now_ns(CLOCK_MONOTONIC);
	f->policy = sched_getscheduler(0);
	if (f->policy == SCHED_OTHER || sched_getparam(0, &f->param) != 0)
		f->policy = SCHED_OTHER;
	f->goes_first = f->policy != SCHED_OTHER && patience != FOREIGN_DRAIN;
	if (f->goes_first) {
		f->policy = SCHED_OTHER;
		f->param = (struct sched_param){ 0 };
	}
	begin(f);
	return f;
}

void foreign_reader_free(struct foreign_reader *f)
{
	if (!f)
		return;
	end(f);
	for (int ms = 0; ms < 20 && f->nleft; ms++) {
		reap(f);
		if (f->nleft)
			usleep(1000);
	}
	free(f);
}

/*
 * A request and its answer are two wake-ups. On the same CPU each is a switch of tasks; on another one, where the scheduler puts a real-time
 * process that wakes while another one runs, each is also an interrupt of that CPU, which costs more than reading a process does.
 */
static void come_here(struct foreign_reader *f)
{
	int cpu = sched_getcpu();
	size_t len = CPU_ALLOC_SIZE(cpu + 1);

	if (f->policy == SCHED_OTHER || cpu < 0 || cpu == f->cpu)
		return;
	cpu_set_t *set = CPU_ALLOC(cpu + 1);

	if (!set)
		memory_exhausted(len);
	CPU_ZERO_S(len, set);
	CPU_SET_S(cpu, len, set);
	if (sched_setaffinity(f->pid, len, set) == 0)
		f->cpu = cpu;
	CPU_FREE(set);
}

static bool send_request(struct foreign_reader *f, const struct foreign_job *job)
{
	struct request request; /* of its bytes only those that are sent are set */
	size_t len = offsetof(struct request, bytes) + job->request_len;

	request.run = job->run;
	request.answer_len = job->answer_len;
	memcpy(request.bytes, job->request, job->request_len);
	return send(f->fd, &request, len, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

/* False: it ended, or its answer is malformed. */
static bool take_answer(const struct foreign_reader *f, const struct foreign_job *job, void *answer,
			int *ret_fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = answer, .iov_len = job->answer_len };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	ssize_t got = recvmsg(f->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *head = got >= 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_fd = -1;
	if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	if (got == (ssize_t)job->answer_len)
		return true;
	if (*ret_fd >= 0)
		close(*ret_fd);
	*ret_fd = -1;
	return false;
}

void foreign_reader_stop_at(struct foreign_reader *f, const struct stop_time *stop)
{
	f->stop = stop;
}

/* Refill the budget with the time passed; waiting is subtracted. */
static void fill(struct foreign_reader *f, uint64_t now)
{
	uint64_t come = (now - f->filled_ns) / 100 * f->limits->percent;

	f->bucket_ns = MIN(f->bucket_ns + come, f->limits->bucket_ns);
	f->filled_ns = now;
}

static uint64_t owner_full(const struct foreign_reader *f)
{
	return f->limits->bucket_ns / SHARE_PART;
}

/* The user of process @pid; NULL: nothing has been waited for of theirs, or it is root, who is nobody's enemy. */
static struct owner *find_owner(struct foreign_reader *f, uint32_t pid, uint64_t now)
{
	size_t i = 0;

	if (!pid || !f->nowners)
		return NULL;
	uint32_t uid = process_owner(pid);

	if (!uid)
		return NULL;
	while (i < f->nowners && f->owners[i].uid != uid)
		i++;
	if (i == OWNERS_MAX)
		i--;
	if (i == f->nowners)
		return NULL;
	struct owner *owner = &f->owners[i];

	owner->left_ns = MIN(owner->left_ns + (now - owner->filled_ns) / 100 * f->limits->percent / SHARE_PART, owner_full(f));
	owner->filled_ns = now;
	return owner;
}

/* How long to wait for an answer at most; 0: nothing is left. */
static uint64_t share_of(struct foreign_reader *f, const struct foreign_job *job, uint64_t now)
{
	const struct owner *owner = find_owner(f, job->pid, now);
	uint64_t share = MIN(f->limits->wait_ns, f->bucket_ns / SHARE_PART);

	if (owner)
		share = MIN(share, owner->left_ns);
	return share < f->limits->wait_ns / LEAST_PART ? 0 : share;
}

/* Its user has that less: @blocked_ns, for what is work is nobody's fault. */
static void charge_owner(struct foreign_reader *f, const struct foreign_job *job, uint64_t blocked_ns, uint64_t now)
{
	struct owner *owner = find_owner(f, job->pid, now);
	uint32_t uid = owner || !job->pid ? 0 : process_owner(job->pid);

	if (uid && f->nowners < OWNERS_MAX) {
		owner = &f->owners[f->nowners++];
		*owner = (struct owner){ uid, owner_full(f), now };
	}
	if (owner)
		owner->left_ns -= MIN(blocked_ns, owner->left_ns);
}

/* A file of its folder in /proc. */
static int open_own(const struct foreign_reader *f, const char *name)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)f->pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* How long it has run or waited for a CPU since the last look; 0 if the kernel does not say. */
static uint64_t busy_since(struct foreign_reader *f)
{
	struct event_task_times times;
	uint64_t before = f->busy_ns;
	int fd = open_own(f, "schedstat");

	if (sched_account_read(fd, &times))
		f->busy_ns = times.run_ns + times.wait_ns;
	if (fd >= 0)
		close(fd);
	return f->busy_ns > before ? f->busy_ns - before : 0;
}

/* It is not blocked: this machine is slow, or has much to do. */
static bool is_busy(const struct foreign_reader *f)
{
	int folder = open_own(f, ".");
	bool busy = folder >= 0 && process_state(folder) == 'R';

	if (folder >= 0)
		close(folder);
	return busy;
}

/*
 * Work is not waiting: a machine may start a thousand programs a second, and one that is slow or has much else to do
 * works for longer. Answers that came at once are work without a look at the account.
 */
static uint64_t cost_of(struct foreign_reader *f, uint64_t waited_ns, uint64_t *ret_blocked_ns)
{
	uint64_t work_ns = waited_ns;

	if (waited_ns <= PROMPT_NS)
		f->busy_ns += waited_ns;
	else
		work_ns = MIN(busy_since(f), waited_ns);
	*ret_blocked_ns = waited_ns - work_ns;
	return waited_ns - work_ns + work_ns / WORK_WEIGHT;
}

static bool wait_until(const struct foreign_reader *f, uint64_t until, uint64_t *now)
{
	struct pollfd ready = { .fd = f->fd, .events = POLLIN };
	int count = 0;

	while (count <= 0 && *now < until) {
		count = poll(&ready, 1, (int)((until - *now) / 1000000 + 1));
		*now = clock_now_ns(CLOCK_MONOTONIC);
	}
	return count > 0;
}

/* A reader that is blocked when its time is over is given up, one that is not is waited for longer. */
static bool wait_for_answer(struct foreign_reader *f, const struct foreign_job *job, uint64_t share, uint64_t start)
{
	uint64_t patience = share / (job->can_ask_again ? SOON_PART : 1), now = start, blocked;
	bool came = wait_until(f, start + patience, &now);

	while (!came && now - start < f->limits->busy_ns && is_busy(f))
		came = wait_until(f, now + patience / BUSY_PART, &now);
	f->bucket_ns -= MIN(cost_of(f, now - start, &blocked), f->bucket_ns);
	f->filled_ns = now;
	f->waited_ns += blocked;
	if (blocked)
		charge_owner(f, job, blocked, now);
	return came;
}

static enum foreign_result ask_directly(const struct foreign_job *job, void *answer, int *ret_fd)
{
	memset(answer, 0, job->answer_len);
	job->run(job->request, answer, ret_fd);
	return FOREIGN_DONE;
}

enum foreign_result foreign_reader_ask(struct foreign_reader *f, const struct foreign_job *job,
				      void *answer, int *ret_fd)
{
	*ret_fd = -1;
	if (!f)
		return ask_directly(job, answer, ret_fd);
	uint64_t start = clock_now_ns(CLOCK_MONOTONIC);

	fill(f, start);
	uint64_t share = share_of(f, job, start);

	if (!share || job->request_len > FOREIGN_REQUEST_MAX ||
	    job->answer_len > FOREIGN_ANSWER_MAX || stop_time_is_over(f->stop) || !begin(f)) {
		f->refused += !job->can_ask_again;
		return FOREIGN_REFUSED;
	}
	come_here(f);
	if (send_request(f, job) && wait_for_answer(f, job, share, start) && take_answer(f, job, answer, ret_fd))
		return FOREIGN_DONE;
	if (!job->can_ask_again && !f->late++)
		strncpy(f->first_late, job->name, NAME_MAX_LEN - 1);
	end(f);
	return FOREIGN_LATE;
}

uint64_t foreign_reader_waited_ns(const struct foreign_reader *f)
{
	return f->waited_ns;
}

void foreign_reader_note(const struct foreign_reader *f, struct diag *notes)
{
	if (f->late)
		diag_warn(notes,
			  "mapped files or processes that did not answer within %u ms: %" PRIu64
			  " ('%s' first); skipped meanwhile: %" PRIu64 "; these files have no build ID, "
			  "these processes no command line of their own",
			  (unsigned)(f->limits->wait_ns / 1000000), f->late, f->first_late, f->refused);
	else if (f->refused)
		diag_warn(notes,
			  "mapped files or processes not read, since time or reader processes ran out: %" PRIu64
			  "; these files have no build ID, these processes no command line of their own",
			  f->refused);
}
