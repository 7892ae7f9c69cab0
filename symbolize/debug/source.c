/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - section names to bytes.
 */
#include "symbolize/debug/source.h"

#include "symbolize/debug/abbrev.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const section_names[DEBUG_SECTIONS] = {
	[DEBUG_INFO] = ".debug_info",         [DEBUG_ABBREV] = ".debug_abbrev",
	[DEBUG_STR] = ".debug_str",           [DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_LINE] = ".debug_line",         [DEBUG_STR_OFFSETS] = ".debug_str_offsets",
	[DEBUG_ADDR] = ".debug_addr",         [DEBUG_RANGES] = ".debug_ranges",
	[DEBUG_RNGLISTS] = ".debug_rnglists",
};

bool debug_source_init(struct debug_source *ret, struct image *img, const char *suffix)
{
	char name[64];

	*ret = (struct debug_source){ .image = img };
	for (unsigned i = 0; i < DEBUG_SECTIONS; i++) {
		struct image_section section;

		snprintf(name, sizeof(name), "%s%s", section_names[i], suffix);
		if (image_section(img, name, &section))
			ret->sections[i] = (struct debug_bytes){ section.data, section.len };
	}
	debug_source_ready(ret);
	return ret->sections[DEBUG_INFO].len && ret->sections[DEBUG_ABBREV].len;
}

void debug_source_ready(struct debug_source *source)
{
	const struct debug_bytes *s = source->sections;

	source->abbrev_budget = s[DEBUG_ABBREV].len * 4 + 4096;
	source->range_budget = s[DEBUG_RANGES].len / 4 + s[DEBUG_RNGLISTS].len * 2 + 4096;
	source->line_budget = s[DEBUG_LINE].len * 4 + 4096;
}

void debug_source_deinit(struct debug_source *source)
{
	size_t pos = 0;

	for (const struct map_slot *slot; (slot = map_next(&source->abbrevs, &pos));)
		abbrevs_free((struct abbrevs *)(uintptr_t)slot->value);
	map_deinit(&source->abbrevs);
	arena_deinit(&source->arena);
}

struct reader debug_source_reader(const struct debug_source *source, enum debug_section section,
				  uint64_t offset)
{
	const struct debug_bytes *bytes = &source->sections[section];
	struct reader r;

	reader_init(&r, bytes->data, bytes->len, /* big_endian= */ false);
	if (offset > bytes->len)
		reader_fail(&r, section_names[section]);
	else
		reader_skip(&r, (size_t)offset, section_names[section]);
	return r;
}

struct abbrevs *debug_source_abbrevs(struct debug_source *source, uint64_t offset)
{
	bool is_new;
	uint64_t *slot = map_put(&source->abbrevs, offset, &is_new);

	if (is_new) {
		struct reader from = debug_source_reader(source, DEBUG_ABBREV, offset);

		*slot = (uintptr_t)abbrevs_new(&from, &source->abbrev_budget);
	}
	return (struct abbrevs *)(uintptr_t)*slot;
}

const char *debug_source_string(const struct debug_source *source, enum debug_section section,
				uint64_t offset)
{
	struct reader r = debug_source_reader(source, section, offset);

	return reader_string(&r, section_names[section]);
}
