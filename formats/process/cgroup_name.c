/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup_name.c - component by component, and what stands further down wins: containers run inside of units.
 *
 *	/system.slice/docker-ID.scope                 docker with systemd        /docker/ID                docker with cgroupfs
 *	/machine.slice/libpod-ID.scope/container      podman                     /lxc.payload.NAME         LXC
 *	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope   (UID with _ for -)
 *	/kubepods/besteffort/podUID/ID                Kubernetes with cgroupfs
 */
#include "formats/process/cgroup_name.h"

#include "formats/base/compiler.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ID_LEN       64
#define SHORT_ID_LEN 12
#define POD_UID_LEN  36 /* of a UUID */

struct part {
	const char *text;
	size_t len;
};

static bool begins(struct part part, const char *prefix)
{
	return part.len >= strlen(prefix) && memcmp(part.text, prefix, strlen(prefix)) == 0;
}

static bool ends(struct part part, const char *suffix)
{
	size_t len = strlen(suffix);

	return part.len > len && memcmp(part.text + part.len - len, suffix, len) == 0;
}

static bool is_id(const char *text, size_t len)
{
	if (len < ID_LEN)
		return false;
	for (size_t i = 0; i < ID_LEN; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return len == ID_LEN || text[ID_LEN] == '.';
}

static bool equals(struct part part, const char *text)
{
	return part.len == strlen(text) && begins(part, text);
}

/* "docker-ID.scope" and the like; where the ID stands alone, the part before says whose it is. */
static void look_for_container(struct part part, struct part before, bool in_pod,
			       struct arena *arena, struct cgroup_name *ret)
{
	static const struct {
		const char *prefix, *runtime;
	} runtimes[] = {
		{ "docker-", "docker" },   { "cri-containerd-", "containerd" },
		{ "crio-", "cri-o" },      { "libpod-", "podman" },
		{ "nerdctl-", "nerdctl" }, { "containerd-", "containerd" },
	};
	const char *runtime = NULL, *id = part.text;

	for (size_t i = 0; i < ARRAY_LEN(runtimes) && !runtime; i++) {
		size_t len = strlen(runtimes[i].prefix);

		if (!begins(part, runtimes[i].prefix) || !is_id(part.text + len, part.len - len))
			continue;
		runtime = runtimes[i].runtime;
		id = part.text + len;
	}
	if (!runtime && is_id(part.text, part.len) && part.len == ID_LEN)
		runtime = equals(before, "docker") ? "docker" : in_pod ? "kubernetes" : "container";
	if (runtime)
		ret->container = arena_printf(arena, "%s:%.*s", runtime, SHORT_ID_LEN, id);
	else if (begins(part, "lxc.payload.") && part.len > strlen("lxc.payload."))
		ret->container = arena_printf(arena, "lxc:%.*s", (int)(part.len - 12), part.text + 12);
	else if (equals(before, "lxc") || equals(before, "lxc.payload"))
		ret->container = arena_printf(arena, "lxc:%.*s", (int)part.len, part.text);
}

/* "podUID" alone or behind "kubepods-burstable-", with "_" for "-" where systemd has a meaning for that. */
static bool look_for_pod(struct part part, struct arena *arena, struct cgroup_name *ret)
{
	const char *pod = NULL;
	size_t left;
	char *text;

	for (size_t i = 0; i + 3 < part.len && !pod; i++) {
		bool begin = i == 0 || (begins(part, "kubepods") && part.text[i - 1] == '-');

		if (begin && memcmp(part.text + i, "pod", 3) == 0)
			pod = part.text + i + 3;
	}
	if (!pod)
		return false;
	left = part.len - (size_t)(pod - part.text);
	if (ends(part, ".slice"))
		left -= strlen(".slice");
	if (left != POD_UID_LEN && left != POD_UID_LEN - 4) /* static pods have a hash of 32 digits */
		return false;
	text = arena_memdup(arena, pod, left);
	for (size_t i = 0; i < left; i++) {
		if (text[i] == '_')
			text[i] = '-';
		if (!isxdigit((unsigned char)text[i]) && text[i] != '-')
			return false;
	}
	ret->pod = text;
	return true;
}

static bool is_unit(struct part part)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		if (ends(part, suffixes[i]))
			return true;
	}
	return false;
}

struct cgroup_name cgroup_name_of(const char *path, struct arena *arena)
{
	struct cgroup_name name = { "", "", "" };
	struct part before = { "", 0 };
	bool in_pod = false;

	while (*path) {
		struct part part = { path, strcspn(path, "/") };

		path += part.len + (path[part.len] == '/');
		if (!part.len)
			continue;
		in_pod |= look_for_pod(part, arena, &name);
		look_for_container(part, before, in_pod, arena, &name);
		if (is_unit(part))
			name.unit = arena_memdup(arena, part.text, part.len);
		before = part;
	}
	return name;
}
