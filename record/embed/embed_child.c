/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed_child.c - the child's current step is in a page shared with the recorder, which so knows where a killed child was
 * stuck, and makes the next child skip that step.
 *
 *	child                          recorder
 *	step 7: name, number    ─►     (page)
 *	message: block, report  ─►     trace
 *	                        ◄─     stop (page)
 *	message: note           ─►     notes
 */
#include "record/embed/embed_child.h"

#include "formats/base/clock.h"
#include "formats/base/memory.h"
#include "record/system/confine.h"
#include "record/system/priority.h"
#include "record/system/stop_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN_MAX 32                 /* fatal files; after that the rest is skipped */
#define STUCK_PART   4                  /* of the time limit: the longest for one step, before slow users are known */
#define HALVINGS_MAX 5                  /* of that, one for each of them */
#define STOP_NS      300000000ULL       /* for the child to end by itself once it is signalled */
#define AHEAD_NS     2000000000ULL       /* of wall time */
#define POLL_MS      20
#define MEMORY_MAX   ((uint64_t)1 << 30) /* the child may use this much more than the recorder */
#define MESSAGE_MAX  (TRACE_CONTENT_MAX + TRACE_HEAD_LEN_MAX)
#define NAME_MAX_LEN 256
#define ROUNDS_MAX   ((size_t)1 << 16) /* files that can be put off; those beyond are left out */
#define OWNERS_MAX   1024 /* further ones count as one */

/* Seen by both. */
struct shared {
	_Atomic uint32_t stop;
	_Atomic uint64_t step;     /* that the child is at */
	_Atomic uint64_t charged;  /* bytes */
	_Atomic uint64_t left_out; /* steps, for lack of time or bytes or because of a signal */
	char name[NAME_MAX_LEN];   /* of the step; read once the child has ended */
	uint8_t rounds[ROUNDS_MAX];
	uint8_t last[ROUNDS_MAX]; /* files that are left to the last round */
	bool looked, last_begun;
	_Atomic uint64_t step_began_ns; /* 0: its time is counted */
	_Atomic uint64_t share_ns;	/* the longest for the step */
	uint32_t nowners, step_owner;	/* @step_owner: number in @owners */
	uint32_t nslow;			/* owners that took much time */
	struct {
		uint32_t owner;
		bool slow;
		uint64_t used_ns;
	} owners[OWNERS_MAX];
};

enum message_kind {
	MESSAGE_BLOCK,
	MESSAGE_NOTE,
	MESSAGE_DONE,
};

struct message {
	uint32_t kind, len;
	uint64_t written; /* steps up to this one need not be done again */
	struct attach_report report;
};

struct embed_child {
	struct shared *shared;
	struct embed_limits limits;
	uint64_t deadline_ns;
	uint64_t nsteps;
	uint64_t step_ends_ns; /* by itself */
	bool step_ended;
	uint64_t ahead_until_ns; /* of other processes; 0: no longer */
	uint64_t written; /* by children before it */
	const uint64_t *fatal;
	size_t nfatal;
	int fd; /* of the pipe */
	const struct attach_report *report;
};

/* ---- in the child -------------------------------------------------------------------------------------- */

/* At the end of a recording it goes before others, who are not to wait for long. */
static void step_back(struct embed_child *c, uint64_t now_ns)
{
	if (!c->ahead_until_ns || now_ns < c->ahead_until_ns)
		return;
	priority_step_back();
	c->ahead_until_ns = 0;
}

/*
 * The longest for one step, of which half is a user's share: any number of slow users have half of the time together. In the last
 * round there are only files of theirs.
 */
static uint64_t share_of(const struct embed_child *c)
{
	const struct shared *s = c->shared;

	return c->limits.time_ns / STUCK_PART >> (s->last_begun ? 0 : MIN(s->nslow, (uint32_t)HALVINGS_MAX));
}

static bool is_slow(const struct embed_child *c, uint32_t number)
{
	return c->shared->owners[number].slow || c->shared->owners[number].used_ns >= share_of(c) / 2;
}

/* The step that goes on, if one does, has ended. */
static void count_time(struct embed_child *c, uint64_t now_ns)
{
	struct shared *s = c->shared;

	if (!s->step_began_ns)
		return;
	s->owners[s->step_owner].used_ns += now_ns - s->step_began_ns;
	s->step_began_ns = 0;
	if (!is_slow(c, s->step_owner) || s->owners[s->step_owner].slow)
		return;
	s->owners[s->step_owner].slow = true;
	s->nslow++;
}

static uint32_t number_of(struct shared *s, uint32_t owner)
{
	uint32_t i = 0;

	while (i < s->nowners && s->owners[i].owner != owner)
		i++;
	if (i == OWNERS_MAX)
		return i - 1;
	s->owners[i].owner = owner;
	s->nowners = MAX(s->nowners, i + 1);
	return i;
}

void embed_child_owner(struct embed_child *c, uint32_t owner)
{
	count_time(c, clock_now_ns(CLOCK_MONOTONIC));
	c->shared->step_owner = number_of(c->shared, owner);
}

bool embed_child_has_share(struct embed_child *c)
{
	struct shared *s = c->shared;

	if (!s->owners[s->step_owner].slow)
		return true;
	s->left_out++;
	return false;
}

/* A child that looks at files once more must not leave one that is written already. */
bool embed_child_is_last(struct embed_child *c, enum embed_step kind, size_t index, uint32_t owner)
{
	struct shared *s = c->shared;
	bool fixed = s->last_begun || (kind == EMBED_LOOK && s->looked);

	if (index >= ROUNDS_MAX)
		return false;
	s->looked |= kind == EMBED_WRITE;
	if (!fixed && is_slow(c, number_of(s, owner)))
		s->last[index] = true;
	return s->last[index];
}

void embed_child_begin_last(struct embed_child *c)
{
	c->nsteps++; /* images of all before it are sent as those of earlier steps */
	c->shared->last_begun = true;
}

bool embed_child_step(struct embed_child *c, enum embed_step kind, const char *name)
{
	uint64_t step = ++c->nsteps, now_ns = clock_now_ns(CLOCK_MONOTONIC);

	step_back(c, now_ns);
	count_time(c, now_ns);
	if (kind == EMBED_WRITE && step <= c->written)
		return false;
	for (size_t i = 0; i < c->nfatal; i++) {
		if (c->fatal[i] == step)
			return false;
	}
	if (c->shared->stop || now_ns >= c->deadline_ns) {
		c->shared->left_out++;
		return false;
	}
	c->shared->share_ns = share_of(c);
	c->step_ends_ns = MIN(c->deadline_ns, now_ns + c->shared->share_ns / 2);
	c->step_ended = false;
	strncpy(c->shared->name, name, NAME_MAX_LEN - 1);
	c->shared->step_began_ns = now_ns;
	c->shared->step = step;
	return true;
}

bool embed_child_goes_on(struct embed_child *c)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	step_back(c, now_ns);
	if (!c->step_ended && (c->shared->stop || now_ns >= c->step_ends_ns)) {
		c->step_ended = true;
		c->shared->left_out++;
	}
	return !c->step_ended;
}

uint64_t embed_child_left(const struct embed_child *c)
{
	return c->limits.len - MIN(c->limits.len, c->shared->charged);
}

bool embed_child_charge(struct embed_child *c, uint64_t len)
{
	if (len > embed_child_left(c)) {
		c->shared->left_out++;
		return false;
	}
	c->shared->charged += len;
	return true;
}

void embed_child_put_off(struct embed_child *c, size_t index, uint8_t round)
{
	if (index < ROUNDS_MAX)
		c->shared->rounds[index] = round;
	else
		c->shared->left_out++;
}

uint8_t embed_child_round(const struct embed_child *c, size_t index)
{
	return index < ROUNDS_MAX ? c->shared->rounds[index] : 0;
}

static struct err *send_all(int fd, const void *data, size_t len)
{
	const uint8_t *bytes = data;

	while (len) {
		ssize_t done = write(fd, bytes, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_system(errno, "the recorder takes no more");
		bytes += done;
		len -= (size_t)done;
	}
	return NULL;
}

static struct err *send_message(const struct embed_child *c, enum message_kind kind,
				uint64_t written, const void *data, size_t len)
{
	struct message message = { (uint32_t)kind, (uint32_t)len, written, *c->report };
	struct err *err = send_all(c->fd, &message, sizeof(message));

	return err || !len ? err : send_all(c->fd, data, len);
}

/* Images of earlier steps are collected in a block; everything else belongs to the current step. */
static struct err *take_block(void *context, const struct trace_block *block, const uint8_t *data,
			      size_t len)
{
	const struct embed_child *c = context;

	return send_message(c, MESSAGE_BLOCK, c->nsteps - (block->kind == TRACE_IMAGE), data, len);
}

/* Close everything but @fds: the output's lock and the rings must not outlive the recorder. */
static void close_others(int *fds, size_t count)
{
	unsigned int from = 0;

	for (size_t i = 0; i <= count; i++) {
		unsigned int to = i < count ? (unsigned int)fds[i] : UINT32_MAX;

		if (to > from && syscall(SYS_close_range, from, to - 1, 0) < 0 && errno == ENOSYS) {
			for (unsigned int fd = from; fd < MIN(to, 65536U); fd++)
				close((int)fd);
		}
		from = to + 1;
	}
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return COMPARE(*x, *y);
}

static void keep_only(const struct embed_job *job, int fd)
{
	VEC(int) fds = { 0 };

	for (size_t i = 0; i < job->fds.len; i++) {
		if (job->fds.items[i] >= 0)
			vec_push(&fds, job->fds.items[i]);
	}
	vec_push(&fds, fd);
	vec_sort(&fds, by_number);
	close_others(fds.items, fds.len);
	vec_deinit(&fds);
}

__attribute__((noreturn)) static void be_child(const struct embed_job *job, struct embed_child *c)
{
	struct attach_report report = { 0 };
	struct diag notes = { 0 };
	struct trace_sink sink = { take_block, c };
	struct trace_writer *w = trace_writer_new_to(&sink);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memory_no_last_words();
	keep_only(job, c->fd);
	confine_memory(MEMORY_MAX);
	confine_reader();
	c->report = &report;
	c->ahead_until_ns = clock_now_ns(CLOCK_MONOTONIC) + AHEAD_NS;
	struct err *err = job->run(job->context, c, w, &notes, &report);

	c->nsteps++; /* the last step is done */
	if (!err)
		err = trace_writer_flush_images(w);
	for (const struct diag_entry *note = notes.entries; note && !err; note = note->next)
		err = send_message(c, MESSAGE_NOTE, c->nsteps, note->message,
				   strlen(note->message) + 1);
	if (!err)
		err = send_message(c, MESSAGE_DONE, c->nsteps, NULL, 0);
	_exit(err ? 1 : 0);
}

/* ---- in the recorder ----------------------------------------------------------------------------------- */

struct parent {
	struct embed_child *child; /* as the next one begins */
	struct trace_writer *w;
	struct diag *notes;
	struct attach_report report; /* of the child that runs */
	struct writer bytes;         /* of messages, the last one perhaps in part */
	bool done;
};

static struct err *take_message(struct parent *p, const struct message *message,
				const uint8_t *data)
{
	struct trace_block block;
	struct reader r;

	p->report = message->report;
	if (message->kind == MESSAGE_DONE)
		p->done = true;
	if (message->kind == MESSAGE_NOTE && message->len && !data[message->len - 1])
		diag_warn(p->notes, "%s", (const char *)data);
	if (message->kind != MESSAGE_BLOCK)
		return NULL;
	reader_init(&r, data, message->len, /* big_endian= */ false);
	struct err *err = trace_block_parse(&r, &block);

	if (err || (block.kind != TRACE_IMAGE && block.kind != TRACE_JIT_MAP)) {
		err_free(err); /* a working child does not send that */
		return NULL;
	}
	p->child->written = message->written;
	return trace_writer_block(p->w, &block, data, message->len);
}

/* Handle the complete messages; false if one is malformed and the child must be killed. */
static struct err *take_messages(struct parent *p, bool *ret_sane)
{
	size_t pos = 0;
	struct err *err = NULL;
	struct message message;

	*ret_sane = true;
	while (!err && p->bytes.len - pos >= sizeof(message)) {
		memcpy(&message, p->bytes.data + pos, sizeof(message));
		*ret_sane = message.len <= MESSAGE_MAX;
		if (!*ret_sane || p->bytes.len - pos - sizeof(message) < message.len)
			break;
		err = take_message(p, &message, p->bytes.data + pos + sizeof(message));
		pos += sizeof(message) + message.len;
	}
	memmove(p->bytes.data, p->bytes.data + pos, p->bytes.len - pos);
	p->bytes.len -= pos;
	return err;
}

/* The time to kill the child if it neither ends nor makes progress. */
static uint64_t patience(struct parent *p, uint64_t *step, uint64_t *since_ns)
{
	struct shared *shared = p->child->shared;
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (shared->step != *step) {
		*step = shared->step;
		*since_ns = now;
	}
	if (!shared->stop && (stop_signal_pending() || now >= p->child->deadline_ns)) {
		shared->stop = 1;
		*since_ns = now;
	}
	return *since_ns +
	       (shared->stop ? STOP_NS : MAX(shared->share_ns, STOP_NS));
}

/* Wait until the child closes its end, or has to be killed. */
static struct err *listen_to(struct parent *p, int fd)
{
	uint64_t step = 0, since_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct err *err = NULL;
	bool sane = true;

	p->bytes.len = 0;
	while (!err && sane && clock_now_ns(CLOCK_MONOTONIC) < patience(p, &step, &since_ns)) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };

		if (poll(&ready, 1, POLL_MS) <= 0)
			continue;
		writer_reserve(&p->bytes, 1 << 16);
		ssize_t got = read(fd, p->bytes.data + p->bytes.len, 1 << 16);

		if (got <= 0)
			break;
		p->bytes.len += (size_t)got;
		err = take_messages(p, &sane);
	}
	return err;
}

/* Kill it if it lives. One in an uninterruptible wait is abandoned; it holds no resources of ours. */
static void end_child(pid_t pid, bool done)
{
	if (!done)
		kill(pid, SIGKILL);
	for (int ms = 0; ms < 500 && waitpid(pid, NULL, WNOHANG) == 0; ms++)
		usleep(1000);
}

static void add_report(struct attach_report *to, const struct attach_report *from)
{
	to->images += from->images;
	to->image_bytes += from->image_bytes;
	to->addresses += from->addresses;
	to->fdes += from->fdes;
	to->symbols += from->symbols;
	to->jit_maps += from->jit_maps;
	to->files = from->files;
	to->missing = from->missing;
}

/* There is no child: nothing more is embedded. The samples and the end of the trace are written all the same. */
static struct err *not_begun(struct parent *p, const char *what)
{
	diag_warn(p->notes, "sampled files are not embedded: %s: %s", what, strerror(errno));
	p->done = true;
	return NULL;
}

/* One child from its beginning to its end. */
static struct err *run_one(const struct embed_job *job, struct parent *p)
{
	int fds[2];
	struct err *err;

	p->done = false;
	p->report = (struct attach_report){ 0 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return not_begun(p, "cannot make a pipe");
	pid_t pid = fork();

	if (pid == 0) {
		p->child->fd = fds[1];
		be_child(job, p->child);
	}
	int error = errno;

	close(fds[1]);
	errno = error;
	err = pid < 0 ? not_begun(p, "cannot start a process") : listen_to(p, fds[0]);
	close(fds[0]);
	if (pid > 0)
		end_child(pid, p->done);
	return err;
}

static void note_left_out(const struct parent *p)
{
	const struct shared *shared = p->child->shared;
	const struct embed_limits *limits = &p->child->limits;
	const char *what = shared->left_out == 1 ? "sampled file or process is" : "sampled files and processes are";

	if (!p->done && !shared->left_out)
		diag_warn(p->notes, "some sampled files are not embedded: reading them took too long");
	else if (stop_signal_pending())
		diag_warn(p->notes, "%" PRIu64 " %s not embedded: a signal came", shared->left_out, what);
	else if (shared->left_out && p->child->deadline_ns == limits->end_ns)
		diag_warn(p->notes, "%" PRIu64 " %s not embedded: a signal ended the recording, and no time was left to read them",
			  shared->left_out, what);
	else if (shared->left_out)
		diag_warn(p->notes, "%" PRIu64 " %s not embedded: the limits are "
			  "%.1f s (--embed-time) and %" PRIu64 " MiB read (--embed-size)",
			  shared->left_out, what, (double)limits->time_ns / 1e9, limits->len >> 20);
}

/* What is left until the end is the limit, if it is less: also for one file, so that others are read. */
static void set_deadline(struct embed_child *c)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), end_ns = c->limits.end_ns;

	if (end_ns)
		c->limits.time_ns = MIN(c->limits.time_ns, end_ns - MIN(end_ns, now_ns));
	c->deadline_ns = end_ns && end_ns <= now_ns ? end_ns : now_ns + c->limits.time_ns;
}

static struct err *run_all(const struct embed_job *job, struct parent *p, uint64_t *fatal,
			   struct attach_report *report)
{
	struct embed_child *child = p->child;
	struct err *err = NULL;

	do {
		err = run_one(job, p);
		add_report(report, &p->report);
		if (err || p->done || child->shared->stop)
			break;
		count_time(child, clock_now_ns(CLOCK_MONOTONIC));
		fatal[child->nfatal++] = child->shared->step;
		diag_warn(p->notes, "'%.*s' is not embedded: reading it took too long or too much memory",
			  NAME_MAX_LEN, child->shared->name);
		report->missing++;
	} while (child->nfatal < CHILDREN_MAX);
	return err;
}

struct err *embed_child_run(const struct embed_job *job, const struct embed_limits *limits,
			    struct trace_writer *w, struct diag *notes,
			    struct attach_report *report)
{
	uint64_t fatal[CHILDREN_MAX];
	struct embed_child child = { .limits = *limits, .fatal = fatal };
	struct parent p = { .child = &child, .w = w, .notes = notes };
	struct err *err;

	child.shared = mmap(NULL, sizeof(*child.shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (child.shared == MAP_FAILED)
		return not_begun(&p, "cannot have memory that is shared");
	set_deadline(&child);
	child.shared->share_ns = share_of(&child);
	err = run_all(job, &p, fatal, report);
	note_left_out(&p);
	writer_deinit(&p.bytes);
	munmap(child.shared, sizeof(*child.shared));
	return err;
}
