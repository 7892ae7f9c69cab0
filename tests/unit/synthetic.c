/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic.c - each function has its own address, made of its name, so that equal names are equal locations.
 */
#include "tests/unit/synthetic.h"

#include <stdio.h>
#include <string.h>

struct profile *synthetic_new(void)
{
	struct profile *p = profile_new();
	struct profile_value_type event = { .name = profile_string(p, "cpu-clock"),
				       .unit = profile_string(p, "ns"),
				       .rate = 1000,
				       .is_freq = true };

	profile_add_value_type(p, &event);
	return p;
}

static uint32_t add_module(struct profile *p, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/%s/%s", strcmp(name, "app") == 0 ? "bin" : "lib", name);

	struct profile_module mod = { .name = profile_string(p, name),
				      .path = profile_string(p, path) };

	return profile_add_module(p, &mod);
}

/* @text: "function", "module:function", "outer+inlined"; it is taken apart. */
static uint32_t add_location(struct profile *p, char *text)
{
	char *colon = strchr(text, ':');
	uint32_t name_id = profile_string(p, text);
	uint32_t module;
	struct profile_line lines[8];
	uint32_t nlines = 0;

	if (colon)
		*colon = 0;
	module = add_module(p, colon ? text : "app");
	if (colon)
		text = colon + 1;

	uint32_t location = profile_add_location(p, module, 0x1000 + name_id * 16ull,
						 PROFILE_FRAME_NATIVE);

	for (char *plus; text && nlines < 8; nlines++) {
		plus = strrchr(text, '+');

		struct profile_function function = {
			.name = profile_string(p, plus ? plus + 1 : text),
			.module = module,
			.unnamed = *text == '[',
		};

		lines[nlines] = (struct profile_line){ profile_add_function(p, &function),
						       profile_string(p, "app.c"), name_id };
		if (!plus) {
			nlines++;
			break;
		}
		*plus = 0;
	}
	if (p->locations.items[location].nlines == 0)
		profile_set_lines(p, location, lines, nlines);
	return location;
}

void synthetic_add(struct profile *p, const struct synthetic_sample *sample)
{
	char text[256];
	char *rest = text;
	uint32_t stack = 0;

	snprintf(text, sizeof(text), "%s", sample->stack);
	while (rest && *text)
		stack = profile_add_stack(p, stack, add_location(p, strsep(&rest, ";")),
					  PROFILE_HOW_SURE);

	char comm[32];

	snprintf(comm, sizeof(comm), "proc%u", sample->pid);

	struct profile_thread thread = { .pid = sample->pid,
					 .tid = sample->tid,
					 .comm = profile_string(p, comm),
					 .process = profile_string(p, comm) };
	struct profile_sample row = {
		.stack = stack,
		.thread = profile_add_thread(p, &thread),
		.user = true,
		.count = sample->count,
		.weight = sample->count * sample->period,
		.weight_sq =
			(double)sample->count * (double)sample->period * (double)sample->period,
	};

	profile_add_sample(p, &row);
}
