/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_pprof_legacy.c - what pprof read before profile.proto, and still reads: of gperftools, and of Go with ?debug=1.
 *
 *	words 0, 3, 0 or 1, period in microseconds, 0	CPU samples: count, depth, addresses; ended by 0, 1, 0; then mappings
 *	heap profile: 3: 300 [9: 900] @ heap/65536	"objects: bytes [objects: bytes] @ addresses", in use and [allocated]
 *	heap_v2/524288					jemalloc's: "@ addresses", below it "t*: objects: bytes [objects: bytes]"
 *	--- contention: or mutex: or contentionz	"cycles count @ addresses"
 *	NAME profile: total 7				"count @ addresses": goroutines, threads
 *	--- threadz 1 ---				"--- Thread HEX (name: main/12) stack: ---", then addresses
 *
 * Values mean what pprof makes of them: those of a sampled heap are scaled by how likely they were sampled, cycles become
 * nanoseconds. Addresses behind the leaf are return addresses, and in all but CPU and thread profiles the leaf is one too.
 */
#include "formats/base/reader.h"
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/legacy_code.h"

#include <inttypes.h>
#include <math.h>

#define WORDS_OF_HEAD 5
#define SIMILAR	      32 /* one of so many samples may be unlike the others, see strip_common() */

enum legacy_kind { LEGACY_NONE, LEGACY_HEAP, LEGACY_JEMALLOC, LEGACY_CONTENTION, LEGACY_COUNT, LEGACY_THREADS };

/* A stack with its values, kept until all that names its code was read. */
struct legacy_sample {
	size_t first, len; /* of addrs, leaf first */
	int64_t values[4];
	uint64_t count;
	uint32_t thread;
	int64_t block_len; /* of an allocation; 0: none */
};

struct legacy {
	struct profile *p;
	struct legacy_code code;
	VEC(uint64_t) addrs;
	VEC(struct legacy_sample) samples;
	uint32_t types[4];
	unsigned ntypes;
	enum legacy_kind kind;
	uint64_t line;
	uint64_t period, cycles; /* of a second */
	bool scaled, allocated;
	uint32_t thread;
	size_t thread_first; /* of addrs: where the stack of the thread that is being read begins */
	bool in_thread, same;
	bool in_stack; /* of jemalloc: its sums have not come yet */
};

/* ---- what it is ---- */

/* "goroutine profile: total 12" */
static bool is_count(struct json_text line, struct json_text *ret_name)
{
	static const char middle[] = " profile: total ";
	const char *at = memmem(line.data, line.len, middle, sizeof(middle) - 1);
	struct json_text number;
	uint64_t value;

	if (!at || at == line.data)
		return false;
	*ret_name = (struct json_text){ line.data, (size_t)(at - line.data) };
	number = (struct json_text){ at + sizeof(middle) - 1, line.len - ret_name->len - (sizeof(middle) - 1) };
	return !memchr(ret_name->data, ' ', ret_name->len) && import_number(number, &value);
}

/* "heap_v2/524288" */
static bool is_jemalloc(struct json_text line)
{
	uint64_t value;

	return json_is(import_take(&line, '/'), "heap_v2") && import_number(line, &value);
}

static enum legacy_kind kind_of(struct json_text line)
{
	struct json_text name;

	if (import_starts(line, "heap profile: "))
		return LEGACY_HEAP;
	if (is_jemalloc(line))
		return LEGACY_JEMALLOC;
	if (import_starts(line, "--- contentionz ") || import_starts(line, "--- mutex:") ||
	    import_starts(line, "--- contention:"))
		return LEGACY_CONTENTION;
	if (import_starts(line, "--- threadz ") || import_starts(line, "--- Thread "))
		return LEGACY_THREADS;
	return is_count(line, &name) ? LEGACY_COUNT : LEGACY_NONE;
}

static bool says_something(struct json_text line)
{
	return line.len && *line.data != '#';
}

static enum legacy_kind kind_of_text(const uint8_t *start, size_t len)
{
	struct import_lines lines;
	struct json_text line;

	import_lines_init(&lines, start, len);
	while (import_lines_next(&lines, &line))
		if (says_something(line))
			return kind_of(line);
	return LEGACY_NONE;
}

static uint64_t read_word(struct reader *r, unsigned size)
{
	return size == 8 ? reader_u64(r, "a word") : reader_u32(r, "a word");
}

/* Of 4 or 8 bytes, of either order: the reader behind the head, and the size; 0: it is none. */
static unsigned cpu_words(const uint8_t *data, size_t len, struct reader *ret, uint64_t head[WORDS_OF_HEAD])
{
	for (unsigned form = 0; form < 4; form++) {
		unsigned size = form & 2 ? 8 : 4;

		reader_init(ret, data, len, form & 1);
		for (unsigned i = 0; i < WORDS_OF_HEAD; i++)
			head[i] = read_word(ret, size);
		if (!ret->failed && !head[0] && head[1] == 3 && head[2] <= 1 && head[3] && head[3] <= 1000000000 && !head[4])
			return size;
	}
	return 0;
}

static unsigned recognise(const uint8_t *start, size_t len)
{
	uint64_t head[WORDS_OF_HEAD];
	struct reader r;

	if (cpu_words(start, len, &r, head))
		return 95;
	return kind_of_text(start, len) != LEGACY_NONE ? 90 : 0;
}

/* ---- samples ---- */

static struct err *bad_line(const struct legacy *in, const char *what)
{
	return err_new(ERR_CORRUPT, "line %" PRIu64 " %s", in->line, what);
}

static void add_type(struct legacy *in, const char *name, const char *unit)
{
	in->types[in->ntypes++] = import_type(in->p, name, unit);
}

static int64_t scaled_to_int(double value)
{
	return value >= 9e18 ? (int64_t)9e18 : value <= -9e18 ? -(int64_t)9e18 : (int64_t)value;
}

/* "0x47e2ac 0x47e445", each by @back less, but the first by @first_back. */
static bool add_addrs(struct legacy *in, struct json_text text, unsigned first_back)
{
	unsigned back = first_back;
	uint64_t addr;

	for (;;) {
		struct json_text word;

		text = import_trim(text);
		if (!text.len)
			return true;
		word = import_take(&text, ' ');
		if (!import_starts(word, "0x") || !import_hex(word, &addr))
			return false;
		if (addr) /* Go fills up stacks that it does not have */
			vec_push(&in->addrs, addr - back);
		back = 1;
	}
}

/* A signed number in front of @stop, with blanks around it. */
static bool take_number(struct json_text *line, char stop, int64_t *ret)
{
	struct json_text word = import_trim(import_take(line, stop));
	bool negative = word.len && *word.data == '-';
	uint64_t value;

	word.data += negative;
	word.len -= negative;
	if (!import_number(word, &value) || value > INT64_MAX)
		return false;
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

/* What was sampled stands for more: 1 of 1 - exp(-size/period) blocks of its size. */
static void scale(const struct legacy *in, int64_t values[2])
{
	double factor;

	if (!in->scaled || in->period <= 1 || !values[0])
		return;
	if (!values[1]) {
		values[0] = 0;
		return;
	}
	factor = 1 / (1 - exp(-(double)values[1] / (double)values[0] / (double)in->period));
	values[0] = scaled_to_int((double)values[0] * factor);
	values[1] = scaled_to_int((double)values[1] * factor);
}

/* "3: 300 [9: 900]": allocated, then in use. */
static bool take_four(struct json_text *line, int64_t v[4])
{
	struct json_text used = import_take(line, '['), all = import_take(line, ']');

	return take_number(&used, ':', &v[2]) && take_number(&used, 0, &v[3]) && take_number(&all, ':', &v[0]) &&
	       take_number(&all, 0, &v[1]);
}

/* Values of the addresses from @first on. */
static struct err *add_blocks(struct legacy *in, int64_t v[4], size_t first)
{
	struct legacy_sample sample = { .first = first, .count = 1, .thread = in->thread };

	for (unsigned i = in->allocated ? 0 : 2; i < 4; i += 2) {
		if (!v[i] && v[i + 1])
			return bad_line(in, "has bytes of no objects");
		if (v[i])
			sample.block_len = v[i + 1] / v[i];
		scale(in, v + i);
	}
	memcpy(sample.values, in->allocated ? v : v + 2, in->ntypes * sizeof(*v));
	sample.len = in->addrs.len - sample.first;
	vec_push(&in->samples, sample);
	return NULL;
}

/* "3: 300 [9: 900] @ 0x1 0x2" */
static struct err *add_heap(struct legacy *in, struct json_text line)
{
	size_t first = in->addrs.len;
	int64_t v[4];

	if (!take_four(&line, v))
		return bad_line(in, "is no 'objects: bytes [objects: bytes] @ addresses'");
	import_take(&line, '@');
	if (!add_addrs(in, line, 1))
		return bad_line(in, "has an address that is none");
	return add_blocks(in, v, first);
}

/* "@ 0x1 0x2", "t*: 3: 300 [9: 900]" for all threads, "t7: ..." for each; in front of the first stack the sums of all. */
static struct err *add_jemalloc(struct legacy *in, struct json_text line)
{
	int64_t v[4];

	if (*line.data == '@') {
		in->thread_first = in->addrs.len;
		in->in_stack = true;
		import_take(&line, '@');
		return add_addrs(in, line, 1) ? NULL : bad_line(in, "has an address that is none");
	}
	if (!import_starts(line, "t*:") || !in->in_stack)
		return *line.data == 't' ? NULL : bad_line(in, "is no 'thread: objects: bytes [objects: bytes]'");
	in->in_stack = false;
	import_take(&line, ':');
	if (!take_four(&line, v))
		return bad_line(in, "is no 'thread: objects: bytes [objects: bytes]'");
	return add_blocks(in, v, in->thread_first);
}

/* "cycles count @ 0x1 0x2" */
static struct err *add_contention(struct legacy *in, struct json_text line)
{
	struct legacy_sample sample = { .first = in->addrs.len, .thread = in->thread };
	struct json_text numbers = import_trim(import_take(&line, '@'));
	int64_t cycles, count;

	if (!take_number(&numbers, ' ', &cycles) || !take_number(&numbers, 0, &count) || cycles < 0 || count < 0)
		return bad_line(in, "is no 'cycles count @ addresses'");
	if (!add_addrs(in, line, 1))
		return bad_line(in, "has an address that is none");
	if (in->period && in->cycles)
		cycles = scaled_to_int((double)cycles * (double)in->period / ((double)in->cycles / 1e9));
	sample.values[0] = in->period ? scaled_to_int((double)count * (double)in->period) : count;
	sample.values[1] = cycles;
	sample.count = (uint64_t)MAX(count, 1);
	sample.len = in->addrs.len - sample.first;
	vec_push(&in->samples, sample);
	return NULL;
}

/* "7 @ 0x1 0x2" */
static struct err *add_count(struct legacy *in, struct json_text line)
{
	struct legacy_sample sample = { .first = in->addrs.len, .thread = in->thread };
	struct json_text number = import_take(&line, '@');

	if (!take_number(&number, 0, &sample.values[0]) || sample.values[0] < 0)
		return bad_line(in, "is no 'count @ addresses'");
	if (!add_addrs(in, line, 1))
		return bad_line(in, "has an address that is none");
	sample.count = (uint64_t)MAX(sample.values[0], 1);
	sample.len = in->addrs.len - sample.first;
	vec_push(&in->samples, sample);
	return NULL;
}

/* ---- threads ---- */

static void finish_thread(struct legacy *in)
{
	struct legacy_sample sample = { .first = in->thread_first, .len = in->addrs.len - in->thread_first,
					.values = { 1 }, .count = 1, .thread = in->thread };

	if (in->in_thread && in->same && in->samples.len) { /* as the thread before, but for its name */
		sample.first = in->samples.items[in->samples.len - 1].first;
		sample.len = in->samples.items[in->samples.len - 1].len;
	}
	if (in->in_thread && sample.len)
		vec_push(&in->samples, sample);
	in->in_thread = in->same = false;
}

/* "--- Thread 7f0c (name: main/1234) stack: ---" */
static void begin_thread(struct legacy *in, struct json_text line)
{
	const char *name = memmem(line.data, line.len, "(name: ", 7), *end = memrchr(line.data, ')', line.len), *slash;
	uint32_t comm = 0, tid = PROFILE_NONE;
	uint64_t number;

	finish_thread(in);
	if (name && end && end > name + 7) {
		struct json_text text = { name + 7, (size_t)(end - (name + 7)) };

		slash = memrchr(text.data, '/', text.len);
		if (slash && import_number((struct json_text){ slash + 1, (size_t)(end - slash - 1) }, &number) &&
		    number < PROFILE_NONE) {
			tid = (uint32_t)number;
			text.len = (size_t)(slash - text.data);
		}
		comm = import_text(in->p, text);
	}
	in->thread = import_thread(in->p, PROFILE_NONE, tid, 0, comm);
	in->thread_first = in->addrs.len;
	in->in_thread = true;
}

static void add_thread_line(struct legacy *in, struct json_text line)
{
	uint64_t addr;

	if (import_starts(line, "--- Thread "))
		begin_thread(in, line);
	else if (import_starts(line, "---"))
		finish_thread(in);
	else if (in->in_thread && memmem(line.data, line.len, "same as previous thread", 23))
		in->same = true;
	else
		while (in->in_thread && line.len) { /* addresses stand alone or before what they are called */
			struct json_text word = import_take(&line, ' ');

			word.len -= word.len && word.data[word.len - 1] == ':';
			if (!import_starts(word, "0x") || !import_hex(word, &addr))
				continue;
			addr -= in->addrs.len > in->thread_first;
			vec_push(&in->addrs, addr);
		}
}

/* ---- heads ---- */

/* What is in use is shown first. */
static void add_heap_types(struct legacy *in)
{
	import_type(in->p, in->allocated ? "inuse_space" : "space", "bytes");
	if (in->allocated) {
		add_type(in, "alloc_objects", "events");
		add_type(in, "alloc_space", "bytes");
	}
	add_type(in, in->allocated ? "inuse_objects" : "objects", "events");
	add_type(in, in->allocated ? "inuse_space" : "space", "bytes");
}

/* "heap profile: 3: 300 [9: 900] @ heap/65536" */
static struct err *take_heap_head(struct legacy *in, struct json_text line)
{
	struct json_text used = import_take(&line, '['), all = import_take(&line, ']'), kind;
	int64_t v[4];
	bool known;

	import_take(&used, ':');
	if (!take_number(&used, ':', &v[0]) || !take_number(&used, 0, &v[1]) || !take_number(&all, ':', &v[2]) ||
	    !take_number(&all, 0, &v[3]))
		return bad_line(in, "is no head of a heap profile");
	import_take(&line, '@');
	line = import_trim(line);
	kind = import_trim(import_take(&line, '/'));
	if (line.len && !import_number(line, &in->period))
		return bad_line(in, "has a sampling rate that is none");
	in->allocated = (v[2] != v[0] && v[2]) || (v[3] != v[1] && v[3]);
	in->scaled = import_starts(kind, "heap_v2") || import_starts(kind, "heapz_v2") || json_is(kind, "heap");
	if (json_is(kind, "heap"))
		in->period /= 2; /* Go writes it doubled */
	known = in->scaled || json_is(kind, "heapprofile") || import_starts(kind, "growth") ||
		import_starts(kind, "fragmentation");
	if (!known)
		return err_new(ERR_UNSUPPORTED, "line %" PRIu64 ": a heap profile of an unknown kind: '%.*s'", in->line,
			       (int)MIN(kind.len, (size_t)40), kind.data);
	in->allocated &= in->scaled || json_is(kind, "heapprofile");
	add_heap_types(in);
	return NULL;
}

static struct err *take_jemalloc_head(struct legacy *in, struct json_text line)
{
	import_take(&line, '/');
	import_number(line, &in->period);
	in->scaled = true;
	add_heap_types(in);
	return NULL;
}

static struct err *take_head(struct legacy *in, struct json_text line)
{
	struct json_text name = { "", 0 };
	char text[256];

	in->kind = kind_of(line);
	switch (in->kind) {
	case LEGACY_HEAP:
		return take_heap_head(in, line);
	case LEGACY_JEMALLOC:
		return take_jemalloc_head(in, line);
	case LEGACY_CONTENTION:
		in->period = 1;
		import_type(in->p, "delay", "ns");
		add_type(in, "contentions", "events");
		add_type(in, "delay", "ns");
		return NULL;
	case LEGACY_THREADS:
		add_type(in, "thread", "events");
		add_thread_line(in, line);
		return NULL;
	default:
		is_count(line, &name);
		snprintf(text, sizeof(text), "%.*s", (int)MIN(name.len, sizeof(text) - 1), name.data);
		add_type(in, text, "events");
		return NULL;
	}
}

/* "cycles/second = 2596070051" of a contention profile; anything else is no attribute. */
static bool take_attribute(struct legacy *in, struct json_text line, struct profile_facts *facts)
{
	struct json_text key;
	uint64_t value;

	if (in->kind != LEGACY_CONTENTION || in->samples.len || !memchr(line.data, '=', line.len))
		return false;
	key = import_trim(import_take(&line, '='));
	if (!import_number(import_trim(line), &value))
		return false;
	if (json_is(key, "cycles/second"))
		in->cycles = value;
	else if (json_is(key, "sampling period"))
		in->period = value;
	else if (json_is(key, "ms since reset") && value < UINT64_MAX / 1000000) {
		facts->has_duration = true;
		facts->duration_ns = value * 1000000;
	}
	return true;
}

static struct err *take_line(struct legacy *in, struct json_text line, struct profile_facts *facts)
{
	if (in->kind == LEGACY_NONE)
		return take_head(in, line);
	if (take_attribute(in, line, facts))
		return NULL;
	if (in->kind == LEGACY_THREADS) {
		add_thread_line(in, line);
		return NULL;
	}
	if (import_starts(line, "---"))
		return NULL;
	if (in->kind == LEGACY_HEAP)
		return add_heap(in, line);
	if (in->kind == LEGACY_JEMALLOC)
		return add_jemalloc(in, line);
	return in->kind == LEGACY_COUNT ? add_count(in, line) : add_contention(in, line);
}

static struct err *read_text(struct legacy *in, const struct import_input *input, struct profile_facts *facts)
{
	struct import_lines lines;
	struct json_text line;
	bool mapped = false;
	struct err *err = NULL;

	import_lines_init(&lines, input->data, input->len);
	while (!err && import_lines_next(&lines, &line)) {
		in->line = lines.number;
		line = import_trim(line);
		mapped = mapped || legacy_code_is_mapped(line);
		if (mapped)
			legacy_code_add_mapping(&in->code, line);
		else if (says_something(line))
			err = take_line(in, line, facts);
		else if (line.len)
			legacy_code_add_symbol(&in->code, line);
	}
	finish_thread(in);
	return err;
}

/* ---- CPU samples ---- */

/*
 * Signal handlers leave a frame of their own behind the leaf: where nearly all samples have the same one there, it is taken out.
 */
static bool strip_common(struct legacy *in)
{
	size_t need = in->samples.len - in->samples.len / SIMILAR;
	CLEANUP(map_deinit) struct map seen = { 0 };
	const struct map_slot *slot;
	size_t at = 0;

	for (size_t i = 0; i < in->samples.len; i++)
		if (in->samples.items[i].len > 1)
			++*map_put(&seen, in->addrs.items[in->samples.items[i].first + 1], NULL);
	while ((slot = map_next(&seen, &at)))
		if (slot->value >= need)
			break;
	for (size_t i = 0; slot && i < in->samples.len; i++) {
		struct legacy_sample *sample = &in->samples.items[i];
		uint64_t *addrs = in->addrs.items + sample->first;

		if (sample->len < 2 || addrs[1] != slot->key)
			continue;
		memmove(addrs + 1, addrs + 2, (sample->len - 2) * sizeof(*addrs));
		sample->len--;
	}
	return slot != NULL;
}

/* The leaf is there twice, from the signal and from the stack, where it was taken for a return address. */
static void strip_doubled(struct legacy *in)
{
	for (size_t i = 0; i < in->samples.len; i++) {
		struct legacy_sample *sample = &in->samples.items[i];
		uint64_t *addrs = in->addrs.items + sample->first;

		if (sample->len < 2 || addrs[0] != addrs[1] + 1)
			continue;
		memmove(addrs + 1, addrs + 2, (sample->len - 2) * sizeof(*addrs));
		sample->len--;
	}
}

/* False at the end of samples. */
static bool take_cpu_sample(struct legacy *in, struct reader *r, unsigned size, bool java, struct err **ret_err)
{
	struct legacy_sample sample = { .first = in->addrs.len, .thread = in->thread };
	uint64_t offset = r->offset, depth;

	sample.count = read_word(r, size);
	depth = read_word(r, size);
	if (r->failed || depth > reader_left(r) / size || sample.count > INT64_MAX / 1000000000000) {
		*ret_err = err_new(ERR_CORRUPT, "a sample at offset %" PRIu64 " does not fit", offset);
		return false;
	}
	for (uint64_t i = 0; i < depth; i++)
		vec_push(&in->addrs, read_word(r, size) - (i && !java));
	sample.len = depth;
	if (!sample.count && depth == 1 && !in->addrs.items[sample.first])
		return false;
	sample.values[0] = (int64_t)sample.count;
	sample.values[1] = scaled_to_int((double)sample.count * (double)in->period);
	vec_push(&in->samples, sample);
	return true;
}

/* "  0x7f001234 com.example.Main.run (Main.java:12)" or a mapping. */
static void take_cpu_text(struct legacy *in, struct reader r, bool java)
{
	struct import_lines lines;
	struct json_text line;
	uint64_t addr;

	import_lines_init(&lines, r.pos, reader_left(&r));
	while (import_lines_next(&lines, &line)) {
		struct json_text rest = line = import_trim(line), word = import_take(&rest, ' ');

		if (!java)
			legacy_code_add_mapping(&in->code, line);
		else if (import_starts(word, "0x") && import_hex(word, &addr))
			legacy_code_add_java(&in->code, addr, import_trim(rest));
	}
}

static struct err *read_cpu(struct legacy *in, struct reader r, unsigned size, const uint64_t *head)
{
	bool java = head[2] == 1, more = true;
	struct err *err = NULL;

	in->period = head[3] * 1000;
	import_type(in->p, "cpu", "ns");
	add_type(in, "cpu", "ns");
	in->p->types.items[0].rate = 1000000000 / in->period;
	in->p->types.items[0].is_freq = in->p->types.items[0].rate > 0;
	while (more && !err && reader_left(&r))
		more = take_cpu_sample(in, &r, size, java, &err);
	if (err)
		return err;
	for (size_t i = 0; i < in->samples.len; i++)
		in->samples.items[i].values[0] = in->samples.items[i].values[1];
	if (!java) {
		for (int i = 0; i < 2 && strip_common(in); i++)
			;
		strip_doubled(in);
	}
	take_cpu_text(in, r, java);
	return NULL;
}

/* ---- together ---- */

static uint32_t stack_of(struct legacy *in, const struct legacy_sample *from)
{
	uint32_t stack = 0;

	for (size_t i = from->len; i-- > 0;)
		stack = import_stack(in->p, stack, legacy_code_location(&in->code, in->addrs.items[from->first + i]));
	return stack;
}

static uint32_t labels_of(struct legacy *in, const struct legacy_sample *from)
{
	struct profile_label label = { .key = profile_string(in->p, "bytes"), .unit = profile_string(in->p, "bytes"),
				       .is_number = true, .number = from->block_len };

	return from->block_len ? profile_add_labels(in->p, &label, 1) : 0;
}

static void add_all(struct legacy *in)
{
	for (size_t i = 0; i < in->samples.len; i++) {
		const struct legacy_sample *from = &in->samples.items[i];
		struct import_sample sample = { .stack = stack_of(in, from), .thread = from->thread, .count = from->count,
						.labels = labels_of(in, from) };

		for (unsigned t = 0; t < in->ntypes; t++) {
			sample.type = in->types[t];
			sample.weight = from->values[t];
			if (sample.weight)
				import_sample(in->p, &sample);
		}
	}
}

static struct err *read_legacy(const struct import_input *input, struct profile *p, struct profile_facts *facts,
			       struct diag *diag)
{
	struct legacy in = { .p = p, .code.p = p, .thread = import_thread(p, PROFILE_NONE, PROFILE_NONE, 0, 0) };
	uint64_t head[WORDS_OF_HEAD];
	struct reader r;
	unsigned size = cpu_words(input->data, input->len, &r, head);
	struct err *err = size ? read_cpu(&in, r, size, head) : read_text(&in, input, facts);

	(void)diag;
	if (!err)
		add_all(&in);
	vec_deinit(&in.addrs);
	vec_deinit(&in.samples);
	legacy_code_deinit(&in.code);
	return err;
}

const struct importer import_pprof_legacy = {
	.name = "pprof-legacy",
	.what = "CPU, heap, contention and thread profiles of gperftools, and Go's with debug=1",
	.extensions = ".prof .heap .txt",
	.carries = IMPORT_THREADS | IMPORT_LINES | IMPORT_ADDRESSES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_legacy,
};
