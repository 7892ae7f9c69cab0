/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_build.c - thin: the profile's own tables find what is equal.
 */
#include "formats/profile/import/import_build.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

uint32_t import_frame(struct profile *p, const struct import_frame *frame)
{
	struct profile_function function = {
		.name = frame->name,
		.module = frame->module,
		.file = frame->file,
		.line = frame->declared,
	};
	struct profile_line line = {
		.function = profile_add_function(p, &function),
		.file = frame->file,
		.line = frame->line,
	};

	return profile_add_named_location(p, frame->kind, frame->module, &line, 1);
}

struct profile_line import_unnamed_line(struct profile *p, uint32_t module, uint64_t addr)
{
	const char *name = profile_text(p, profile_module(p, module)->name);
	char shown[4096];
	struct profile_function function = { .module = module, .unnamed = true };

	if (!*name && addr + 1 <= 1) /* Go's "not known" */
		snprintf(shown, sizeof(shown), "[unknown]");
	else
		snprintf(shown, sizeof(shown), *name == '[' ? "%s" : "[%s+0x%" PRIx64 "]", *name ? name : "unknown", addr);
	function.name = profile_string(p, shown);
	return (struct profile_line){ .function = profile_add_function(p, &function) };
}

bool import_take_source(struct profile *p, struct json_text *name, uint32_t *ret_file, uint32_t *ret_line)
{
	size_t at = name->len;
	const char *open;

	if (at < 6 || name->data[--at] != ')')
		return false;
	while (at && name->data[at - 1] >= '0' && name->data[at - 1] <= '9')
		at--;
	open = at > 3 && at + 1 < name->len && name->data[at - 1] == ':' ? memrchr(name->data, '(', at) : NULL;
	if (!open || open < name->data + 2 || open[-1] != ' ')
		return false;

	uint64_t line = 0;

	for (size_t i = at; i + 1 < name->len && line < 100000000; i++)
		line = line * 10 + (uint64_t)(name->data[i] - '0');
	*ret_line = (uint32_t)line;
	*ret_file = strtab_add_len(&p->strings, open + 1, (size_t)(name->data + at - 1 - (open + 1)));
	name->len = (size_t)(open - name->data) - 1;
	return true;
}

uint32_t import_unnamed(struct profile *p, uint32_t module, uint64_t addr)
{
	struct profile_line line = import_unnamed_line(p, module, addr);
	uint32_t location;

	if (module == PROFILE_NONE)
		return profile_add_named_location(p, PROFILE_FRAME_NATIVE, module, &line, 1);
	location = profile_add_location(p, module, addr, PROFILE_FRAME_NATIVE);
	if (!p->locations.items[location].nlines)
		profile_set_lines(p, location, &line, 1);
	return location;
}

uint64_t import_link_time(struct profile *p, const struct import_mapping *mapping, uint64_t addr)
{
	const uint64_t fixed = 256 << 20; /* programs that cannot be moved are linked below, others are never loaded there */

	if (addr < mapping->start || addr >= mapping->end || mapping->start < mapping->offset ||
	    mapping->start - mapping->offset < fixed)
		return addr;
	if (mapping->module != PROFILE_NONE)
		p->modules.items[mapping->module].by_offset = true;
	return addr - mapping->start + mapping->offset;
}

uint32_t import_text(struct profile *p, struct json_text text)
{
	return text.len ? strtab_add_len(&p->strings, text.data, text.len) : 0; /* an absent one has no address */
}

uint32_t import_module(struct profile *p, struct json_text path, enum profile_module_kind kind)
{
	struct profile_module mod = { .kind = kind };
	const char *slash = memrchr(path.data, '/', path.len);

	if (!path.len)
		return PROFILE_NONE;
	mod.path = import_text(p, path);
	mod.name = mod.path;
	if (slash && slash + 1 < path.data + path.len)
		mod.name = import_text(p, (struct json_text){ slash + 1, path.len -
							(size_t)(slash + 1 - path.data) });
	return profile_add_module(p, &mod);
}

static const char *unit_of(const char *unit)
{
	if (strcmp(unit, "nanoseconds") == 0)
		return "ns";
	return strcmp(unit, "count") == 0 || !*unit ? "events" : unit;
}

static uint32_t type_of(const struct profile *p, uint32_t name, uint32_t unit)
{
	for (uint32_t i = 0; i < p->types.len; i++)
		if (p->types.items[i].name == name && (unit == PROFILE_NONE || p->types.items[i].unit == unit))
			return i;
	return PROFILE_NONE;
}

uint32_t import_type(struct profile *p, const char *name, const char *unit)
{
	struct profile_value_type type = { .name = profile_string(p, name),
					   .unit = profile_string(p, unit_of(unit)) };
	uint32_t found = type_of(p, type.name, type.unit);
	char longer[512];

	if (found != PROFILE_NONE)
		return found;
	if (type_of(p, type.name, PROFILE_NONE) != PROFILE_NONE) {
		snprintf(longer, sizeof(longer), "%s-%s", name, unit_of(unit));
		type.name = profile_string(p, longer);
		found = type_of(p, type.name, type.unit);
	}
	if (found != PROFILE_NONE)
		return found;
	return p->types.len < IMPORT_TYPES_MAX ? profile_add_value_type(p, &type) : PROFILE_NONE;
}

uint32_t import_thread(struct profile *p, uint32_t pid, uint32_t tid, uint32_t process, uint32_t comm)
{
	struct profile_thread thread = { .pid = pid, .tid = tid, .comm = comm, .process = process };

	return profile_add_thread(p, &thread);
}

static double square(const struct import_sample *sample, int64_t weight)
{
	if (sample->uncounted)
		return PROFILE_UNCOUNTED;
	return sample->count ? (double)weight * (double)weight / (double)sample->count : 0;
}

static void add_time(struct profile *p, uint32_t row, const struct import_sample *sample, int64_t weight)
{
	struct profile_time time = {
		.time_ns = sample->time_ns,
		.duration_ns = sample->duration_ns,
		.weight = weight,
		.row = row,
		.has_duration = sample->has_duration,
	};

	if (sample->has_time)
		time_series_add(&p->times, &time);
}

uint32_t import_sample(struct profile *p, const struct import_sample *sample)
{
	int64_t weight = import_fits(p, sample->weight);
	struct profile_sample fresh = {
		.stack = sample->stack,
		.type = sample->type,
		.thread = sample->thread,
		.cpu = sample->has_cpu ? sample->cpu : PROFILE_NONE,
		.user = true,
		.labels = sample->labels,
		.count = sample->count,
		.weight = weight,
		.weight_sq = square(sample, weight),
	};
	uint32_t row = profile_add_sample(p, &fresh);

	add_time(p, row, sample, weight);
	return row;
}

void import_sample_again(struct profile *p, uint32_t row, const struct import_sample *sample)
{
	struct profile_sample *same = &p->samples.items[row];
	int64_t weight = import_fits(p, sample->weight);

	same->count += sample->count;
	same->weight += weight;
	same->weight_sq += square(sample, weight);
	p->weight_used += (uint64_t)(weight < 0 ? -weight : weight);
	add_time(p, row, sample, weight);
}

uint64_t import_time_ns(double value, double scale)
{
	double ns = round(value * scale);

	if (!(ns > 0))
		return 0;
	return ns < 9e18 ? (uint64_t)ns : (uint64_t)9e18;
}
