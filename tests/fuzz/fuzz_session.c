/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_session.c - events that no recorder would write, all the way to the tables.
 *
 * The input is read as a list of events, so that the coding of the file is out of the way: mappings that overlap,
 * stacks with any words, registers that point anywhere, threads that fork themselves. Code comes from this program's
 * own file, so that there are unwind tables and symbols to be misled by.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/reader.h"
#include "report/load/branches.h"
#include "report/load/data_places.h"
#include "report/load/session.h"
#include "report/view/trust.h"
#include "report/view/view.h"

#define WORDS_MAX 64
#define IPS_MAX   8
#define EVENTS    2
#define BRANCHES_MAX 8

struct maker {
	struct event_source source; /* must be first */
	struct reader r;
	uint64_t time_ns;
	uint64_t ips[2 * IPS_MAX];
	struct event_regs regs;
	uint32_t slots[WORDS_MAX];
	uint64_t words[WORDS_MAX];
	struct event_branch branches[BRANCHES_MAX];
	char name[8];
};

static struct recording_event events[EVENTS] = {
	{ .name = "cpu-clock", .unit = "ns", .format = "", .samples = true },
	{ .name = "faults", .unit = "events", .format = "", .samples = true },
};

static const struct recording recording = {
	.tool = "",
	.cmdline = "",
	.hostname = "",
	.os_release = "",
	.cpu_model = "",
	.container = "",
	.arch = &arch_x86_64,
	.events = events,
	.nevents = EVENTS,
	.complete = true,
};

static const char *const paths[] = {
	"//anon", "[vdso]", "[stack]", "/proc/self/exe", "/absent", "", "[kernel.kallsyms]_text"
};

static uint64_t address(struct reader *r)
{
	static const uint64_t bases[] = {
		0, 0x400000, 0x7f0000000000, 0x7ffffffde000, 0xffffffff81000000, UINT64_MAX - 0xffff
	};
	uint8_t which = reader_u8(r, "base");

	if (which >= 0xf0)
		return reader_u64(r, "address");
	return bases[which % ARRAY_LEN(bases)] + reader_u16(r, "offset");
}

static size_t read_ips(struct maker *m, uint64_t *ips)
{
	size_t count = reader_u8(&m->r, "chain length") % (IPS_MAX + 1);

	for (size_t i = 0; i < count; i++)
		ips[i] = address(&m->r);
	return count;
}

static void read_stack(struct maker *m, struct event_stack *ret)
{
	uint32_t slot = 0;

	ret->base = address(&m->r) & ~7ull;
	ret->nwords = reader_u8(&m->r, "words") % (WORDS_MAX + 1);
	for (size_t i = 0; i < ret->nwords; i++) {
		slot += 1 + reader_u8(&m->r, "gap") % 16;
		m->slots[i] = slot - 1;
		m->words[i] = address(&m->r);
	}
	ret->end = ret->base + 8ull * slot;
	if (ret->end < ret->base) /* the reader of a trace refuses it */
		*ret = (struct event_stack){ 0 };
	ret->slots = m->slots;
	ret->words = m->words;
	ret->cut = slot % 2;
}

/* What the hardware tells beside the address. */
static void read_extras(struct maker *m, struct event_sample *ret)
{
	ret->addr = address(&m->r);
	ret->weight = reader_u16(&m->r, "weight");
	ret->data_src = reader_u64(&m->r, "source");
	ret->nbranches = reader_u8(&m->r, "branches") % (BRANCHES_MAX + 1);
	ret->branches = m->branches;
	for (size_t i = 0; i < ret->nbranches; i++) {
		m->branches[i].from = address(&m->r);
		m->branches[i].to = address(&m->r);
		m->branches[i].flags = reader_u32(&m->r, "flags");
	}
}

static void read_sample(struct maker *m, struct event_sample *ret)
{
	uint8_t flags = reader_u8(&m->r, "flags");
	uint8_t mode = reader_u8(&m->r, "mode");

	ret->event = flags % (EVENTS + 1);
	ret->mode = (enum event_mode)(mode % 6);
	if (mode >= 0xc0)
		read_extras(m, ret);
	ret->ip = address(&m->r);
	ret->period = reader_u32(&m->r, "period");
	ret->nkernel_ips = flags & 0x10 ? read_ips(m, m->ips) : 0;
	ret->kernel_ips = m->ips;
	ret->nuser_ips = flags & 0x20 ? read_ips(m, m->ips + IPS_MAX) : 0;
	ret->user_ips = m->ips + IPS_MAX;
	if (!(flags & 0x40))
		return;
	m->regs.mask =
		flags & 0x80 ? UINT64_MAX >> (64 - ARCH_REGS_MAX) : reader_u32(&m->r, "mask");
	for (size_t i = 0; i < ARCH_REGS_MAX; i++)
		m->regs.values[i] = i < 17 ? address(&m->r) : 0;
	ret->regs = &m->regs;
	read_stack(m, &ret->stack);
}

static void read_mapping(struct maker *m, struct event_mmap *ret)
{
	ret->start = address(&m->r) & ~0xfffull;
	ret->end = ret->start + reader_u16(&m->r, "pages") * 0x1000ull;
	ret->file_offset = reader_u8(&m->r, "offset") * 0x1000ull;
	ret->flags = reader_u8(&m->r, "flags") % 4;
	ret->path = paths[reader_u8(&m->r, "path") % ARRAY_LEN(paths)];
}

static void read_managed(struct maker *m, struct event_managed *ret)
{
	static const struct event_managed_frame frames[] = {
		{ "inner", "app.py", 10, 12, true, "n: int" },
		{ "", "", 0, 0, false, "n: int" },
		{ "outer", "app.py", 1, 3, true, "n: int" },
	};
	uint8_t shape = reader_u8(&m->r, "shape");

	ret->runtime = EVENT_MANAGED_PYTHON;
	ret->state = (enum event_managed_state)(shape / 4 % EVENT_MANAGED_STATES);
	ret->module = "/bin/a";
	ret->nloops = 1;
	ret->loops[0] = (struct event_managed_loop){ reader_u8(&m->r, "loop") * 0x100ull, 0x1000 };
	ret->nframes = shape % (ARRAY_LEN(frames) + 1);
	ret->frames = frames;
}

static void read_rest(struct maker *m, struct event *ev)
{
	switch (ev->kind) {
	case EVENT_SAMPLE:
		read_sample(m, &ev->sample);
		break;
	case EVENT_MMAP:
		read_mapping(m, &ev->mmap);
		break;
	case EVENT_COMM:
		for (size_t i = 0; i + 1 < sizeof(m->name); i++)
			m->name[i] = (char)reader_u8(&m->r, "name");
		ev->comm = (struct event_comm){ m->name, reader_u8(&m->r, "exec") % 2 };
		break;
	case EVENT_FORK:
		ev->fork.parent_pid = reader_u8(&m->r, "parent") % 8;
		ev->fork.parent_tid = reader_u8(&m->r, "parent thread") % 8;
		break;
	case EVENT_LOST:
	case EVENT_LOST_SAMPLES:
		ev->lost.count = reader_u32(&m->r, "lost");
		break;
	case EVENT_KSYMBOL:
		ev->ksymbol.addr = address(&m->r);
		ev->ksymbol.len = reader_u32(&m->r, "length");
		ev->ksymbol.removed = reader_u8(&m->r, "removed") % 2;
		ev->ksymbol.name = "bpf_prog";
		break;
	case EVENT_CGROUP:
		ev->cgroup.path = "/";
		break;
	case EVENT_MANAGED:
		read_managed(m, &ev->managed);
		break;
	case EVENT_PROCESS:
		ev->process.uid = reader_u8(&m->r, "user");
		ev->process.cmdline = "cc -c x.c";
		ev->process.cgroup = "/system.slice/x.service";
		break;
	case EVENT_TASK_TIMES:
		ev->task_times.run_ns = reader_uleb(&m->r, "run");
		ev->task_times.wait_ns = reader_uleb(&m->r, "wait");
		break;
	case EVENT_DESCRIPTOR:
		ev->descriptor.number = reader_u8(&m->r, "descriptor");
		ev->descriptor.name = reader_u8(&m->r, "name") % 2 ? "/var/log/x" : "pipe:[7]";
		break;
	default:
		break;
	}
}

static const struct recording *get_recording(struct event_source *source)
{
	(void)source;
	return &recording;
}

static bool next_event(struct event_source *source, struct event *ret)
{
	struct maker *m = (struct maker *)(void *)source;

	*ret = (struct event){ .kind = (enum event_kind)(reader_u8(&m->r, "kind") % EVENT_KINDS) };
	m->time_ns += reader_u8(&m->r, "time");
	ret->time_ns = m->time_ns;
	ret->cpu = reader_u8(&m->r, "cpu");
	ret->pid = reader_u8(&m->r, "pid") % 8;
	ret->tid = reader_u8(&m->r, "tid") % 8;
	read_rest(m, ret);
	return !m->r.failed;
}

static struct err *finish(struct event_source *source)
{
	(void)source;
	return NULL;
}

static void close_source(struct event_source *source)
{
	(void)source;
}

static const struct event_source_ops ops = {
	.recording = get_recording, .next = next_event, .finish = finish, .close = close_source,
};

/* Every level but total puts each sample into one group. */
static void check_view(const struct session *s, enum view_by by, uint32_t event)
{
	struct view_spec spec = { .levels = { .items = { { by, 2 } }, .len = 1 }, .event = event };
	struct profile_sum sum = profile_total(s->profile, event);
	int64_t weight = 0;
	uint64_t count = 0;
	struct view view;

	view_build(&view, s->profile, &spec);
	view_sort(&view, VIEW_SORT_WEIGHT);
	for (size_t i = 0; i < view.groups.len; i++) {
		weight += view.groups.items[i].sum.weight;
		count += view.groups.items[i].sum.count;
		CHECK(view.groups.items[i].sum.count <= sum.count);
		view_is_passed_through(&view, &view.groups.items[i]);
	}
	CHECK(by == VIEW_TOTAL || (weight == sum.weight && count == sum.count));
	CHECK(view.ntop == view.groups.len);
	view_deinit(&view);
}

static void check_profile(const struct session *s)
{
	const struct profile *p = s->profile;
	struct trust trust;

	for (size_t i = 1; i < p->stacks.len; i++)
		CHECK(p->stacks.items[i].parent < i);
	CHECK(profile_total(p, PROFILE_NONE).count == s->matched.count);
	/* a switch becomes a wait, which counts as one of wall time too; and at the end each thread may wait still */
	CHECK(s->matched.count <= 3 * s->stream.events);
	for (uint32_t event = 0; event < EVENTS; event++)
		for (int by = 0; by < VIEW_BYS; by++)
			check_view(s, (enum view_by)by, event);
	trust_judge(&trust, s->profile, &s->facts);
	CHECK(trust.complete + trust.broken == s->matched.count);
}

/* Every branch is in one row, and no more of them missed than there are. */
static void check_branches(struct branches *b)
{
	double sum = 0;

	branches_finish(b);
	branches_sort(b, BRANCHES_SORT_COUNT);
	for (size_t i = 0; i < b->rows.len; i++) {
		const struct branches_row *row = &b->rows.items[i];
		struct stats_share share = stats_ratio_share(&row->count);

		sum += row->count.part;
		CHECK(row->missed.part <= row->missed.whole);
		CHECK(row->missed.whole <= row->count.part);
		CHECK(share.low <= share.share && share.share <= share.high);
	}
	CHECK(sum == b->all.whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct maker m = { .source = { &ops } };
	struct session_args args;
	struct filter filter = { 0 };
	struct session s;

	reader_init(&m.r, data, len, /* big_endian= */ false);
	session_args_init(&args);
	args.cache = false;
	args.inlines = false; /* the debug information of a fuzz target is large */
	session_open_source(&s, &args, &m.source);

	struct data_places places = { .objects = true, .addresses = true, .sources = true };
	struct branches branches;

	branches_init(&branches, &s, (enum branches_by)(len % 3));
	branches_listen(&branches, &s);
	data_places_listen(&places, &s);
	struct err *err = session_load(&s, &filter);

	if (!err) {
		check_profile(&s);
		check_branches(&branches);
	}
	err_free(err);
	branches_deinit(&branches);
	data_places_deinit(&places);
	session_close(&s);
	return 0;
}
