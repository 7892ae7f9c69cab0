/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_places.c - modules and addresses of processes as those of the profile.
 */
#include "report/load/session.h"

static enum profile_module_kind kind_of(const struct module *mod)
{
	switch (mod->kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
		return PROFILE_KERNEL;
	case MODULE_JIT:
		return PROFILE_JIT;
	case MODULE_UNKNOWN:
		return PROFILE_UNKNOWN;
	default:
		return PROFILE_USER;
	}
}

uint32_t session_profile_module(struct session *s, struct module *mod)
{
	char build_id[2 * sizeof(mod->build_id) + 1] = "";

	while (s->profile_modules.len <= mod->id)
		vec_push(&s->profile_modules, 0);
	if (s->profile_modules.items[mod->id])
		return s->profile_modules.items[mod->id] - 1;

	image_build_id_hex(mod->build_id, mod->build_id_len, build_id);

	struct profile_module entry = {
		.name = profile_string(s->profile, mod->name),
		.path = profile_string(s->profile, mod->path),
		.build_id = profile_string(s->profile, build_id),
		.kind = kind_of(mod),
	};
	uint32_t number = profile_add_module(s->profile, &entry);

	s->profile_modules.items[mod->id] = number + 1;
	namer_set_module(&s->namer, number, mod);
	return number;
}

struct module *session_module(const struct session *s, uint32_t profile_module)
{
	return s->namer.modules.items[profile_module];
}

static enum profile_frame_kind frame_kind_of(enum profile_module_kind kind)
{
	switch (kind) {
	case PROFILE_KERNEL:
		return PROFILE_FRAME_KERNEL;
	case PROFILE_JIT:
		return PROFILE_FRAME_JIT;
	default:
		return PROFILE_FRAME_NATIVE;
	}
}

uint32_t session_location(struct session *s, uint32_t module, uint64_t vaddr)
{
	return profile_add_location(s->profile, module, vaddr,
				    frame_kind_of(s->profile->modules.items[module].kind));
}

uint32_t session_locate(struct session *s, uint32_t pid, uint64_t ip)
{
	const struct space_map *map = ip >> 63 ? space_table_find_kernel(s->spaces, ip)
					       : space_find(space_table_get(s->spaces, pid), ip);

	if (!map || !map->module)
		return SESSION_NOWHERE;
	return session_location(s, session_profile_module(s, map->module), ip - map->bias);
}
