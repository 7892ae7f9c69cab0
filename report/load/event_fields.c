/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_fields.c - only what was asked for becomes a label: a field such as an address makes a row of each sample.
 */
#include "report/load/event_fields.h"

#include "formats/base/text.h"
#include "report/load/derive/derive_kind.h"

#include <string.h>

#define LISTED_MAX 16

static const char *const managed_keys[] = { "uri", "method", "script", "memory", "gil", "gc", "task", "awaiters" };

/* Every field of a sampled event, for the remedy; the same name in several events once. */
static const char *list_fields(struct session *s, const struct tracepoint_format *formats, struct text_near *near)
{
	const char *list = "";
	unsigned listed = 0;

	for (size_t e = 0; e < s->recording->nevents; e++)
		for (size_t i = 0; i < formats[e].len; i++) {
			const struct tracepoint_field *field = &formats[e].fields[i];

			if (field->common)
				continue;
			text_near_offer(near, field->name);
			if (listed++ < LISTED_MAX)
				list = arena_printf(&s->arena, "%s%s%s", list, *list ? ", " : "", field->name);
		}
	return listed > LISTED_MAX ? arena_printf(&s->arena, "%s, ...", list) : list;
}

static struct err *unknown(struct session *s, const struct tracepoint_format *formats, const char *name)
{
	struct text_near near = { .wanted = name };
	const char *list = list_fields(s, formats, &near);
	const char *hint = text_near_hint(&near, &s->arena);
	struct err *err = err_new(ERR_USAGE, "no level and no field of an event is called '%s'", name);

	if (hint)
		return err_remedy(err, "%s", hint);
	return *list ? err_remedy(err, "the events have %s; other levels: preport --help", list)
		     : err_remedy(err, "no event of the recording has fields; the levels: preport --help");
}

/* What interpreters say of a sample, see record/managed/. */
static bool is_managed_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(managed_keys); i++)
		if (strcmp(managed_keys[i], name) == 0)
			return true;
	return false;
}

static struct profile_label label_of(struct profile *p, const char *name, const struct tracepoint_value *value)
{
	bool text = value->kind == TRACEPOINT_TEXT;

	return (struct profile_label){
		.key = profile_string(p, name),
		.text = text ? profile_string(p, value->text) : 0,
		.unit = value->kind == TRACEPOINT_ADDRESS ? profile_string(p, VIEW_ADDRESS_UNIT) : 0,
		.is_number = !text,
		.number = (int64_t)value->number,
	};
}

static void label_sample(void *context, const struct event *ev, struct profile_sample *sample)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const struct event_fields *fields = context;
	struct session *s = fields->s;
	struct profile_label labels[VIEW_LEVELS_MAX];
	uint32_t count = 0;

	if (ev->kind != EVENT_SAMPLE || ev->sample.event >= s->recording->nevents || sample->labels)
		return;
	for (unsigned i = 0; i < fields->len; i++) {
		const struct tracepoint_field *field = fields->fields[ev->sample.event * fields->len + i];
		struct tracepoint_value value;

		if (!field) {
			count += loader_managed_label(s->loader, ev, fields->names[i], &labels[count]);
			continue;
		}
		if (tracepoint_field_value(field, ev->sample.raw, ev->sample.raw_len, &arena, &value))
			labels[count++] = label_of(s->profile, fields->names[i], &value);
	}
	sample->labels = profile_add_labels(s->profile, labels, count);
}

/* Of what transformers make. */
static bool is_derived_key(const char *name)
{
	return strcmp(name, DERIVE_OPERATION) == 0 || strcmp(name, DERIVE_WAKER_FUNCTION) == 0;
}

struct err *event_fields_listen(struct event_fields *fields, struct session *s, const struct view_levels *levels)
{
	struct tracepoint_format *formats;
	size_t nevents;

	*fields = (struct event_fields){ .s = s };
	for (unsigned i = 0; i < levels->len; i++)
		if (levels->items[i].by == VIEW_FIELD)
			fields->names[fields->len++] = view_level_name(levels, i);
	if (!fields->len || s->imported)
		return NULL;
	nevents = s->recording->nevents;
	formats = ARENA_ARRAY(&s->arena, struct tracepoint_format, nevents + 1);
	fields->fields = ARENA_ARRAY(&s->arena, const struct tracepoint_field *, (nevents + 1) * fields->len);
	for (size_t e = 0; e < nevents; e++)
		formats[e] = tracepoint_format_read(&s->arena, s->recording->events[e].format);
	for (unsigned i = 0; i < fields->len; i++) {
		bool found = false;

		for (size_t e = 0; e < nevents; e++) {
			const struct tracepoint_field *field = tracepoint_format_find(&formats[e], fields->names[i]);

			fields->fields[e * fields->len + i] = field;
			found |= field != NULL;
		}
		if (!found && !is_managed_key(fields->names[i]) && !is_derived_key(fields->names[i]))
			return unknown(s, formats, fields->names[i]);
	}
	fields->listener = (struct loader_listener){ .context = fields, .sample = label_sample };
	loader_listen(s->loader, &fields->listener);
	return NULL;
}

static bool has_label(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->labels.len; i++)
		if (strcmp(profile_text(p, p->labels.items[i].key), name) == 0)
			return true;
	return false;
}

struct err *event_fields_check(const struct profile *p, const struct view_levels *levels)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	for (unsigned i = 0; i < levels->len; i++) {
		struct text_near near = { .wanted = view_level_name(levels, i) };

		if (levels->items[i].by != VIEW_FIELD || has_label(p, near.wanted))
			continue;
		for (size_t k = 0; k < p->labels.len; k++)
			text_near_offer(&near, profile_text(p, p->labels.items[k].key));
		const char *hint = text_near_hint(&near, &arena);

		return err_remedy(err_new(ERR_USAGE, "no level and no label of the profile is called '%s'",
					  near.wanted),
				  "%s", hint ? hint : "the levels: preport --help");
	}
	return NULL;
}
