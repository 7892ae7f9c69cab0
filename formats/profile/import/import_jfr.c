/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_jfr.c - JDK Flight Recorder files, as HotSpot, async-profiler and others write them.
 *
 * Which events are samples is the table below: each is a value type of its own. Events of other kinds are no samples and are
 * passed over, as are stacks that none of them refers to. Frames are methods ("java.util.HashMap.get") with lines; a frame that
 * was inlined is a line of its caller's location. Threads have the Java name if there is one. What an event says besides
 * (class of an object, state of a thread, context of async-profiler) is a label, and so is the bytecode that the leaf runs: its offset in the method.
 */
#include "formats/profile/import/import_build.h"
#include "formats/profile/import/import_rows.h"
#include "formats/profile/import/jfr_chunk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FRAMES_MAX 65536 /* of a stack */
#define NUMBER_MAX   ((1u << 28) - 1)
#define SYMBOL_MAX 4095	 /* bytes of a name */

/* Fields of events, in the places of a plan. */
enum { E_START, E_DURATION, E_THREAD, E_SAMPLED_THREAD, E_STACK, E_VALUE, E_CLASS, E_STATE, E_CONTEXT, E_COUNT };

static const struct jfr_kind {
	const char *event;
	const char *type, *unit;
	const char *value; /* field that is summed up; NULL: events are counted */
	const char *class; /* field that names a class, or NULL */
	bool ticks;	   /* the value is in ticks */
} kinds[] = {
	{ "jdk.ExecutionSample", "cpu", "events", NULL, NULL, false },
	{ "jdk.NativeMethodSample", "native", "events", NULL, NULL, false },
	{ "jdk.CPUTimeSample", "cpu-time", "ns", "samplingPeriod", NULL, true },
	{ "profiler.WallClockSample", "wall", "events", "samples", NULL, false },
	{ "jdk.ObjectAllocationInNewTLAB", "alloc-tlab", "bytes", "tlabSize", "objectClass", false },
	{ "jdk.ObjectAllocationOutsideTLAB", "alloc-outside-tlab", "bytes", "allocationSize", "objectClass", false },
	{ "jdk.ObjectAllocationSample", "alloc", "bytes", "weight", "objectClass", false },
	{ "profiler.LiveObject", "live", "bytes", "allocationSize", "objectClass", false },
	{ "profiler.Malloc", "malloc", "bytes", "size", NULL, false },
	{ "jdk.JavaMonitorEnter", "lock", "ns", "duration", "monitorClass", true },
	{ "jdk.JavaMonitorWait", "wait", "ns", "duration", "monitorClass", true },
	{ "profiler.NativeLock", "native-lock", "ns", "duration", NULL, true },
	{ "jdk.MethodTrace", "method", "ns", "duration", NULL, true },
	{ "jdk.ThreadPark", "park", "ns", "duration", "parkedClass", true },
	{ "jdk.ThreadSleep", "sleep", "ns", "duration", NULL, true },
	{ "jdk.SocketRead", "socket-read", "ns", "duration", NULL, true },
	{ "jdk.SocketWrite", "socket-write", "ns", "duration", NULL, true },
	{ "jdk.FileRead", "file-read", "ns", "duration", NULL, true },
	{ "jdk.FileWrite", "file-write", "ns", "duration", NULL, true },
};

/* A kind in one chunk. */
struct jfr_event {
	const struct jfr_kind *kind;
	struct jfr_plan plan;
	bool ticks;
};

struct jfr {
	struct profile *p;
	struct diag *diag;
	uint32_t types[ARRAY_LEN(kinds)]; /* value types; PROFILE_NONE until one is there */
	uint64_t truncated, lost;
	uint64_t lost_type; /* of events, 0: there are none */
	uint64_t start_ns, end_ns;

	/* Of the chunk at hand: its numbers to ours. */
	struct jfr_chunk chunk;
	struct import_ids events; /* type -> index of kinds_here */
	VEC(struct jfr_event) kinds_here;
	struct import_ids leaf_bytecodes; /* of stacks; Java's only */
	struct import_ids stacks, threads, methods, class_names, states, frame_kinds;
	struct import_ids method_symbols, class_symbols; /* names of methods, of classes */
	const struct jfr_class *stack_class, *method_class, *class_class, *thread_class;
	struct jfr_plan stack_plan, frame_plan, method_plan, class_plan, thread_plan;
	bool has_frames; /* the stacks hold an array of frames */
	struct map locations; /* name of a method, line and kind -> location */
	VEC(struct profile_line) lines;
	VEC(uint32_t) path; /* locations, leaf first */
	uint32_t leaf_bytecode; /* of the stack that was read last; PROFILE_NONE: not known */
	uint32_t class_key, state_key, bytecode_key, context_key;
};

static unsigned recognise(const uint8_t *start, size_t len)
{
	return len >= 4 && memcmp(start, "FLR", 4) == 0 ? 100 : 0;
}

/* ---- names ---- */

/* The one text of a constant: of a symbol, or of a kind of frame. */
static struct jfr_text text_of(struct jfr *in, const struct jfr_value *value, uint64_t type)
{
	static const char *const names[] = { "string", "description", "name" };
	const struct jfr_class *class = jfr_class_of(&in->chunk, type);
	struct jfr_value found[ARRAY_LEN(names)];
	struct jfr_plan plan;
	struct reader r;

	if (!class || class->basic == JFR_STRING)
		return value->text;
	jfr_plan_make(&plan, class, names, ARRAY_LEN(names));
	if (!jfr_constant(&in->chunk, class, value->number, &r))
		return (struct jfr_text){ "", 0 };
	jfr_plan_read(&in->chunk, &plan, &r, found, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (found[i].text.len)
			return found[i].text;
	return (struct jfr_text){ "", 0 };
}

static uint64_t type_of_field(const struct jfr_class *class, const char *name)
{
	for (size_t i = 0; class && i < class->fields.len; i++)
		if (strcmp(class->fields.items[i].name, name) == 0)
			return class->fields.items[i].type;
	return UINT64_MAX;
}

/* The same, as a string; @known keeps it, since many methods have one name. */
static const char *symbol_of(struct jfr *in, const struct jfr_value *value, uint64_t type, struct import_ids *known)
{
	uint32_t string = PROFILE_NONE;
	struct jfr_text text;

	if (value->number)
		string = import_ids_get(known, value->number);
	if (string == PROFILE_NONE) {
		text = text_of(in, value, type);
		string = strtab_add_len(&in->p->strings, text.data ? text.data : "", MIN(text.len, (size_t)SYMBOL_MAX));
		if (value->number)
			import_ids_put(known, value->number, string);
	}
	return profile_text(in->p, string);
}

/* "java/lang/String" as "java.lang.String". */
static uint32_t class_name(struct jfr *in, uint64_t number)
{
	uint32_t known = import_ids_get(&in->class_names, number);
	struct jfr_value value = { 0 };
	struct reader r;
	char name[SYMBOL_MAX + 1];

	if (known != PROFILE_NONE)
		return known;
	if (!number || !jfr_constant(&in->chunk, in->class_class, number, &r))
		return 0;
	jfr_plan_read(&in->chunk, &in->class_plan, &r, &value, 1);

	snprintf(name, sizeof(name), "%s",
		 symbol_of(in, &value, type_of_field(in->class_class, "name"), &in->class_symbols));
	for (char *slash = strchr(name, '/'); slash; slash = strchr(slash, '/'))
		*slash = '.';
	known = profile_string(in->p, name);
	import_ids_put(&in->class_names, number, known);
	return known;
}

/* "class.method", or only what there is of both. */
static uint32_t method_name(struct jfr *in, uint64_t number)
{
	uint32_t known = import_ids_get(&in->methods, number);
	struct jfr_value values[2];
	struct reader r;
	char full[2 * SYMBOL_MAX + 2];
	const char *class, *name;

	if (known != PROFILE_NONE)
		return known;
	if (!jfr_constant(&in->chunk, in->method_class, number, &r))
		return profile_string(in->p, "[unknown method]");
	jfr_plan_read(&in->chunk, &in->method_plan, &r, values, 2);
	uint32_t of = class_name(in, values[0].number);

	name = symbol_of(in, &values[1], type_of_field(in->method_class, "name"), &in->method_symbols);
	class = profile_text(in->p, of);
	snprintf(full, sizeof(full), "%s%s%s", class, *class && *name ? "." : "", name);
	known = profile_string(in->p, *full ? full : "[unknown method]");
	import_ids_put(&in->methods, number, known);
	return known;
}

/* ---- frames ---- */

enum { KIND_INLINED = PROFILE_FRAME_MARKER + 1 };

static uint32_t frame_kind(struct jfr *in, uint64_t number)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} names[] = {
		{ "Interpreted", PROFILE_FRAME_INTERPRETED }, { "JIT compiled", PROFILE_FRAME_JIT },
		{ "C1 compiled", PROFILE_FRAME_JIT },	      { "Inlined", KIND_INLINED },
		{ "Native", PROFILE_FRAME_NATIVE },	      { "C++", PROFILE_FRAME_NATIVE },
		{ "Kernel", PROFILE_FRAME_KERNEL },
	};
	struct jfr_value value = { .number = number };
	uint32_t known = import_ids_get(&in->frame_kinds, number);
	struct jfr_text text;

	if (known != PROFILE_NONE)
		return known;
	known = PROFILE_FRAME_INTERPRETED;
	text = text_of(in, &value, type_of_field(in->frame_plan.class, "type"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text.len == strlen(names[i].name) && memcmp(text.data, names[i].name, text.len) == 0)
			known = names[i].kind;
	import_ids_put(&in->frame_kinds, number, known);
	return known;
}

static uint32_t line_number(uint64_t line)
{
	int32_t number = (int32_t)(uint32_t)line;

	return number > 0 ? MIN((uint32_t)number, NUMBER_MAX) : 0;
}

static struct profile_line line_of(struct jfr *in, uint32_t name, uint32_t line)
{
	struct profile_function function = { .name = name, .module = PROFILE_NONE };

	return (struct profile_line){ .function = profile_add_function(in->p, &function), .line = line };
}

/* The location of one call with nothing inlined in it, which most are. */
static uint32_t location_of(struct jfr *in, uint32_t name, uint32_t number, uint32_t kind)
{
	uint64_t key = (uint64_t)name << 32 | number << 4 | kind; /* nothing is lost: lines have 28 bits, kinds 4 */
	bool is_new;
	uint64_t *known = map_put(&in->locations, key, &is_new);
	struct profile_line line;

	if (!is_new)
		return (uint32_t)*known;
	line = line_of(in, name, number);
	*known = profile_add_named_location(in->p, kind, PROFILE_NONE, &line, 1);
	return (uint32_t)*known;
}

static void add_frame(struct jfr *in, const struct jfr_value *frame, bool is_last)
{
	uint32_t kind = frame_kind(in, frame[2].number), name = method_name(in, frame[0].number);
	uint32_t line = line_number(frame[1].number);

	if (kind == KIND_INLINED && is_last)
		kind = PROFILE_FRAME_JIT; /* what it is inlined into was cut off */
	if (kind != KIND_INLINED && !in->lines.len) {
		vec_push(&in->path, location_of(in, name, line, kind));
		return;
	}
	vec_push(&in->lines, line_of(in, name, line));
	if (kind == KIND_INLINED)
		return;
	vec_push(&in->path, profile_add_named_location(in->p, kind, PROFILE_NONE, in->lines.items,
						       (uint32_t)in->lines.len));
	in->lines.len = 0;
}

/* Native frames have none. */
static uint32_t bytecode_of(struct jfr *in, const struct jfr_value *frame)
{
	uint32_t kind = frame_kind(in, frame[2].number);

	if (!frame[3].is_there || kind == PROFILE_FRAME_NATIVE || kind == PROFILE_FRAME_KERNEL || (int32_t)(uint32_t)frame[3].number < 0)
		return PROFILE_NONE;
	return (uint32_t)frame[3].number;
}

static void read_frames(struct jfr *in, struct reader *r)
{
	struct jfr_value frame[4];
	uint32_t count = (uint32_t)jfr_integer(&in->chunk, r, JFR_INT);

	if (count > FRAMES_MAX)
		reader_fail(r, "a stack of at most 65,536 frames");
	in->path.len = in->lines.len = 0;
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		jfr_plan_read(&in->chunk, &in->frame_plan, r, frame, 4);
		if (!r->failed && i == 0)
			in->leaf_bytecode = bytecode_of(in, frame);
		if (!r->failed)
			add_frame(in, frame, i + 1 == count);
	}
}

static uint32_t stack_of(struct jfr *in, uint64_t number)
{
	uint32_t known = import_ids_get(&in->stacks, number);
	struct jfr_value values[2];
	struct reader r;

	if (known != PROFILE_NONE)
		return known;
	if (!number || !jfr_constant(&in->chunk, in->stack_class, number, &r))
		return 0;
	jfr_plan_read(&in->chunk, &in->stack_plan, &r, values, 2);
	in->truncated += values[0].number != 0;
	known = 0;
	in->leaf_bytecode = PROFILE_NONE;
	if (values[1].is_there && in->has_frames) {
		read_frames(in, &values[1].at);
		for (size_t i = in->path.len; i-- > 0;)
			known = import_stack(in->p, known, in->path.items[i]);
	}
	import_ids_put(&in->stacks, number, known);
	if (in->leaf_bytecode != PROFILE_NONE)
		import_ids_put(&in->leaf_bytecodes, number, in->leaf_bytecode);
	return known;
}

/* ---- events ---- */

static uint32_t thread_of(struct jfr *in, uint64_t number)
{
	uint32_t known = import_ids_get(&in->threads, number), name, tid;
	struct jfr_value values[3] = { 0 };
	struct reader r;

	if (known != PROFILE_NONE)
		return known;
	if (jfr_constant(&in->chunk, in->thread_class, number, &r))
		jfr_plan_read(&in->chunk, &in->thread_plan, &r, values, 3);

	struct jfr_text text = values[0].text.len ? values[0].text : values[1].text;

	name = text.data ? strtab_add_len(&in->p->strings, text.data, text.len) : 0;
	tid = values[2].number && values[2].number < UINT32_MAX ? (uint32_t)values[2].number : PROFILE_NONE;
	known = import_thread(in->p, PROFILE_NONE, tid, 0, name);
	import_ids_put(&in->threads, number, known);
	return known;
}

static uint32_t state_name(struct jfr *in, const struct jfr_event *event, const struct jfr_value *value)
{
	uint32_t known = import_ids_get(&in->states, value->number);
	struct jfr_text text;

	if (known != PROFILE_NONE)
		return known;
	text = text_of(in, value, type_of_field(event->plan.class, "state"));
	known = text.data ? strtab_add_len(&in->p->strings, text.data, text.len) : 0;
	import_ids_put(&in->states, value->number, known);
	return known;
}

/* Those of its stack are known already. */
static uint32_t labels_of(struct jfr *in, const struct jfr_event *event, const struct jfr_value *values)
{
	uint32_t count = 0, text, bytecode = import_ids_get(&in->leaf_bytecodes, values[E_STACK].number);
	struct profile_label labels[4];

	if (values[E_CLASS].is_there && (text = class_name(in, values[E_CLASS].number)) != 0)
		labels[count++] = (struct profile_label){ .key = in->class_key, .text = text };
	if (values[E_STATE].is_there && (text = state_name(in, event, &values[E_STATE])) != 0)
		labels[count++] = (struct profile_label){ .key = in->state_key, .text = text };
	if (bytecode != PROFILE_NONE)
		labels[count++] = (struct profile_label){ .key = in->bytecode_key, .is_number = true, .number = bytecode };
	if (values[E_CONTEXT].number && !values[E_CONTEXT].text.len)
		labels[count++] = (struct profile_label){ .key = in->context_key, .is_number = true,
							  .number = (int64_t)values[E_CONTEXT].number };
	return profile_add_labels(in->p, labels, count);
}

static uint32_t type_of(struct jfr *in, const struct jfr_kind *kind)
{
	uint32_t *type = &in->types[kind - kinds];

	if (*type == PROFILE_NONE)
		*type = import_type(in->p, kind->type, kind->unit);
	return *type;
}

static void set_value(struct jfr *in, const struct jfr_event *event, const struct jfr_value *values,
		      struct import_sample *sample)
{
	const struct jfr_kind *kind = event->kind;
	uint64_t value = kind->value ? values[E_VALUE].number : 1;

	sample->count = 1;
	if (kind->ticks)
		value = jfr_span_ns(&in->chunk, value);
	if (kind->ticks && strcmp(kind->value, "duration") == 0) {
		sample->has_duration = true;
		sample->duration_ns = value;
	}
	if (kind->value && strcmp(kind->unit, "events") == 0)
		sample->count = MAX(value, 1);
	sample->weight = (int64_t)MIN(value, (uint64_t)INT64_MAX >> 8);
}

static void add_event(struct jfr *in, const struct jfr_event *event, struct reader *r)
{
	struct jfr_value values[E_COUNT];
	struct import_sample sample = { .has_time = true };
	uint64_t thread;

	jfr_plan_read(&in->chunk, &event->plan, r, values, E_COUNT);
	if (r->failed) {
		diag_warn(in->diag, "damaged events are left out");
		return;
	}
	thread = values[E_SAMPLED_THREAD].is_there ? values[E_SAMPLED_THREAD].number : values[E_THREAD].number;
	sample.type = type_of(in, event->kind);
	sample.thread = thread_of(in, thread);
	sample.stack = stack_of(in, values[E_STACK].number);
	sample.labels = labels_of(in, event, values);
	sample.time_ns = jfr_time_ns(&in->chunk, values[E_START].number);
	set_value(in, event, values, &sample);
	import_sample(in->p, &sample);
}

/* ---- chunks ---- */

static void plan_events(struct jfr *in)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct jfr_class *class = jfr_class_named(&in->chunk, kinds[i].event);
		const char *value = kinds[i].value ? kinds[i].value : "";
		/* "duration" is in the place of the value where it is the value. */
		const char *names[E_COUNT] = { "startTime", "", "eventThread", "sampledThread",
					       "stackTrace", value, kinds[i].class ? kinds[i].class : "", "state", "contextId" };
		struct jfr_event event = { .kind = &kinds[i] };

		if (!class)
			continue;
		jfr_plan_make(&event.plan, class, names, E_COUNT);
		import_ids_put(&in->events, class->id, (uint32_t)in->kinds_here.len);
		vec_push(&in->kinds_here, event);
	}
}

static void plan_class(struct jfr *in, const char *name, const char *const *fields, uint32_t count,
		       const struct jfr_class **ret, struct jfr_plan *ret_plan)
{
	*ret = jfr_class_named(&in->chunk, name);
	jfr_plan_make(ret_plan, *ret, fields, count);
}

static bool is_array_of(const struct jfr_class *class, const char *name, const struct jfr_class *element)
{
	for (size_t i = 0; class && i < class->fields.len; i++) {
		const struct jfr_field *field = &class->fields.items[i];

		if (strcmp(field->name, name) == 0)
			return field->array && !field->constant && field->type == element->id && element->fields.len;
	}
	return false;
}

static void plan_constants(struct jfr *in)
{
	static const char *const stack[] = { "truncated", "frames" };
	static const char *const frame[] = { "method", "lineNumber", "type", "bytecodeIndex" };
	static const char *const method[] = { "type", "name" };
	static const char *const class[] = { "name" };
	static const char *const thread[] = { "javaName", "osName", "osThreadId" };
	const struct jfr_class *frame_class;

	plan_class(in, "jdk.types.StackTrace", stack, 2, &in->stack_class, &in->stack_plan);
	plan_class(in, "jdk.types.StackFrame", frame, 4, &frame_class, &in->frame_plan);
	if (frame_class) /* frames follow each other, so each is read to its end */
		in->frame_plan.last = (uint32_t)frame_class->fields.len;
	in->has_frames = frame_class && is_array_of(in->stack_class, "frames", frame_class);
	plan_class(in, "jdk.types.Method", method, 2, &in->method_class, &in->method_plan);
	plan_class(in, "java.lang.Class", class, 1, &in->class_class, &in->class_plan);
	plan_class(in, "java.lang.Thread", thread, 3, &in->thread_class, &in->thread_plan);
}

/* Numbers of constants are the chunk's own; which types are samples is up to its classes. */
static void forget_constants(struct jfr *in, void (*forget)(struct import_ids *ids))
{
	struct import_ids *const ids[] = { &in->leaf_bytecodes, &in->stacks, &in->threads, &in->methods,
					   &in->class_names, &in->states, &in->frame_kinds,
					   &in->method_symbols, &in->class_symbols };

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		forget(ids[i]);
}

static void plan(struct jfr *in)
{
	const struct jfr_class *lost;

	if (in->chunk.same_classes)
		return;
	import_ids_clear(&in->events);
	in->kinds_here.len = 0;
	lost = jfr_class_named(&in->chunk, "jdk.CPUTimeSamplesLost");
	in->lost_type = lost ? lost->id : 0;
	plan_events(in);
	plan_constants(in);
}

/* jdk.CPUTimeSamplesLost says how many found no room. */
static void count_lost(struct jfr *in, struct reader *r)
{
	static const char *const names[] = { "lostSamples" };
	const struct jfr_class *class = jfr_class_of(&in->chunk, in->lost_type);
	struct jfr_value value;
	struct jfr_plan plan;

	jfr_plan_make(&plan, class, names, 1);
	jfr_plan_read(&in->chunk, &plan, r, &value, 1);
	if (!r->failed)
		in->lost += MIN(value.number, (uint64_t)UINT32_MAX);
}

/* Value types in the order of the table, not of what happened to come first: the first one is what is shown. */
static void add_types(struct jfr *in)
{
	size_t pos = jfr_first_event();
	bool seen[ARRAY_LEN(kinds)] = { false };
	uint64_t type;
	struct reader r;

	while (jfr_event_next(&in->chunk, &pos, &type, &r)) {
		uint32_t kind = import_ids_get(&in->events, type);

		if (kind != PROFILE_NONE)
			seen[in->kinds_here.items[kind].kind - kinds] = true;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (seen[i])
			type_of(in, &kinds[i]);
}

static void read_events(struct jfr *in)
{
	size_t pos = jfr_first_event();
	uint64_t type;
	struct reader r;

	plan(in);
	add_types(in);
	while (jfr_event_next(&in->chunk, &pos, &type, &r)) {
		uint32_t kind = import_ids_get(&in->events, type);

		if (kind != PROFILE_NONE)
			add_event(in, &in->kinds_here.items[kind], &r);
		else if (in->lost_type && type == in->lost_type)
			count_lost(in, &r);
	}
	if (!in->start_ns || in->chunk.start_ns < in->start_ns)
		in->start_ns = in->chunk.start_ns;
	in->end_ns = MAX(in->end_ns, in->chunk.start_ns + MIN(in->chunk.duration_ns, (uint64_t)INT64_MAX));
	if (!in->chunk.finished)
		diag_warn(in->diag, "the chunk at offset %" PRIu64 " is not finished; what is whole of it is used",
			  in->chunk.offset);
}

static void say_facts(const struct jfr *in, struct profile_facts *facts)
{
	facts->has_wall = in->start_ns != 0;
	facts->wall_ns = facts->start_ns = in->start_ns; /* times of samples are since 1970 */
	facts->has_duration = in->end_ns > in->start_ns;
	facts->duration_ns = facts->has_duration ? in->end_ns - in->start_ns : 0;
	if (in->lost)
		diag_warn(in->diag, "samples of cpu-time that the JVM lost: %" PRIu64, in->lost);
	if (in->truncated)
		diag_warn(in->diag, "%" PRIu64 " stacks are cut off; record deeper ones with "
				    "-XX:FlightRecorderOptions:stackdepth=1024", in->truncated);
}

static struct err *read_jfr(const struct import_input *input, struct profile *p,
			    struct profile_facts *facts, struct diag *diag)
{
	struct jfr in = { .p = p, .diag = diag };
	uint64_t offset = 0;
	struct err *err = NULL;

	memset(in.types, 0xff, sizeof(in.types));
	in.class_key = profile_string(p, "class");
	in.state_key = profile_string(p, "state");
	in.bytecode_key = profile_string(p, "bytecode");
	in.context_key = profile_string(p, "context");
	while (offset < input->len && !err) {
		err = jfr_chunk_open(input->data, input->len, offset, &in.chunk, &offset);
		if (!err)
			read_events(&in);
		forget_constants(&in, import_ids_clear);
		if (err && p->samples.len) { /* earlier chunks are whole in themselves */
			diag_err(diag, err_wrap(err, "the rest of the file is left out"));
			err = NULL;
			break;
		}
	}
	say_facts(&in, facts);
	jfr_chunk_close(&in.chunk);
	forget_constants(&in, import_ids_deinit);
	import_ids_deinit(&in.events);
	vec_deinit(&in.kinds_here);
	vec_deinit(&in.lines);
	vec_deinit(&in.path);
	map_deinit(&in.locations);
	return err;
}

const struct importer import_jfr = {
	.name = "jfr",
	.what = "JDK Flight Recorder, version 2: HotSpot, async-profiler",
	.extensions = ".jfr",
	.carries = IMPORT_TIMES | IMPORT_THREADS | IMPORT_LINES | IMPORT_LABELS | IMPORT_INLINED | IMPORT_TYPES,
	.recognise = recognise,
	.read = read_jfr,
};
