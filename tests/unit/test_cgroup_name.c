/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/process/cgroup_name.h"

#include "tests/unit/test.h"

#define ID "1f3c5a7b9d02e4f60812a4c6e8f0b2d41f3c5a7b9d02e4f60812a4c6e8f0b2d4"
#define UID_DASHES "8c1e3f0a-12ab-4cde-9f01-23456789abcd"

TEST(cgroup_name_tells_container_pod_and_unit)
{
	static const struct {
		const char *path, *container, *pod, *unit;
	} cases[] = {
		{ "", "", "", "" },
		{ "/", "", "", "" },
		{ "/init.scope", "", "", "init.scope" },
		{ "/system.slice/cron.service", "", "", "cron.service" },
		{ "/user.slice/user-1000.slice/session-3.scope", "", "", "session-3.scope" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/web.service", "", "",
		  "web.service" },
		{ "/system.slice/docker-" ID ".scope", "docker:1f3c5a7b9d02", "",
		  "docker-" ID ".scope" },
		{ "/docker/" ID, "docker:1f3c5a7b9d02", "", "" },
		{ "/docker/" ID "/system.slice/nginx.service", "docker:1f3c5a7b9d02", "",
		  "nginx.service" },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman:1f3c5a7b9d02", "",
		  "libpod-" ID ".scope" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
		  "8c1e3f0a_12ab_4cde_9f01_23456789abcd.slice/cri-containerd-" ID ".scope",
		  "containerd:1f3c5a7b9d02", UID_DASHES, "cri-containerd-" ID ".scope" },
		{ "/kubepods/besteffort/pod" UID_DASHES "/" ID, "kubernetes:1f3c5a7b9d02",
		  UID_DASHES, "" },
		{ "/kubepods.slice/kubepods-pod0123456789abcdef0123456789abcdef.slice/crio-" ID
		  ".scope",
		  "cri-o:1f3c5a7b9d02", "0123456789abcdef0123456789abcdef", "crio-" ID ".scope" },
		{ "/lxc.payload.web1/system.slice/ssh.service", "lxc:web1", "", "ssh.service" },
		{ "/lxc/web2", "lxc:web2", "", "" },
		/* What only looks so. */
		{ "/docker/1f3c", "", "", "" },
		{ "/system.slice/docker.service", "", "", "docker.service" },
		{ "/podium", "", "", "" },
		{ "/.service", "", "", "" },
	};
	struct arena arena = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup_name name = cgroup_name_of(cases[i].path, &arena);

		CHECK_STR(name.container, cases[i].container);
		CHECK_STR(name.pod, cases[i].pod);
		CHECK_STR(name.unit, cases[i].unit);
	}
	arena_deinit(&arena);
}
