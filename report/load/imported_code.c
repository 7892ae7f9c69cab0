/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imported_code.c - the namer does it, once addresses that count from where a file begins are link-time ones.
 */
#include "report/load/imported_code.h"

#include "report/load/namer.h"

#include <stdlib.h>
#include <string.h>

/* An address whose name only says where it is. */
static bool lacks_name(const struct profile *p, const struct profile_location *location)
{
	return location->has_vaddr && location->nlines == 1 &&
	       p->functions.items[p->lines.items[location->first_line].function].unnamed;
}

/* Hex digits, two a byte; 0 for what is none. */
static size_t build_id_bytes(const char *text, uint8_t ret[20])
{
	size_t len = strlen(text) / 2;

	if (strlen(text) % 2 || len > 20 || text[strspn(text, "0123456789abcdefABCDEF")])
		return 0;
	for (size_t i = 0; i < len; i++) {
		char digits[3] = { text[2 * i], text[2 * i + 1] };

		ret[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return len;
}

/* NULL for what can have no file here, or not be told from another. */
static struct module *module_of(const struct profile *p, const struct profile_module *mod, struct module_table *modules)
{
	const char *path = profile_text(p, mod->path), *text = profile_text(p, mod->build_id);
	uint8_t build_id[20];
	size_t len = build_id_bytes(text, build_id);

	if (mod->kind != PROFILE_USER || *path != '/' || (*text && !len))
		return NULL;
	return module_table_file(modules, MODULE_FILE, path, build_id, len);
}

/* Link-time addresses in place of offsets; those in no segment stay. */
static void to_link_time(struct profile *p, uint32_t module, const struct image *img)
{
	uint64_t bias;

	for (size_t i = 0; i < p->locations.len; i++) {
		struct profile_location *location = &p->locations.items[i];

		if (location->module == module && location->has_vaddr &&
		    image_bias(img, location->vaddr, location->vaddr, &bias))
			location->vaddr -= bias;
	}
	p->modules.items[module].by_offset = false;
}

/* Open the files of modules that lack names. */
static void open_modules(struct profile *p, struct module_table *modules, struct namer *namer, struct module **ret)
{
	for (size_t i = 0; i < p->locations.len; i++) {
		uint32_t number = p->locations.items[i].module;

		if (number == PROFILE_NONE || ret[number] || !lacks_name(p, &p->locations.items[i]))
			continue;
		ret[number] = module_of(p, &p->modules.items[number], modules);

		struct image *img = ret[number] ? module_code(modules, ret[number]) : NULL;

		if (img && p->modules.items[number].by_offset)
			to_link_time(p, number, img);
		if (img)
			namer_set_module(namer, number, ret[number]);
	}
}

struct module **imported_code_name(struct profile *p, struct binaries *binaries, struct arena *arena)
{
	struct module **modules = ARENA_ARRAY(arena, struct module *, p->modules.len + 1);
	struct namer namer = { .profile = p, .symbolizer = binaries->symbolizer };

	memset(modules, 0, (p->modules.len + 1) * sizeof(*modules));
	open_modules(p, binaries->modules, &namer, modules);
	for (uint32_t i = 0; i < p->locations.len; i++) {
		struct profile_location *location = &p->locations.items[i];

		if (!lacks_name(p, location) || location->module >= namer.modules.len || !namer.modules.items[location->module])
			continue;
		location->nlines = 0;
		namer_name(&namer, i);
	}
	namer_deinit(&namer);
	return modules;
}
