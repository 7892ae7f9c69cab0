/* SPDX-License-Identifier: Apache-2.0 */
#include "record/event/bpf_program.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

bool bpf_namespace_own(struct bpf_namespace *ret)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) != 0)
		return false;
	/* The kernel's own form of a device's number (MKDEV), which is not stat(2)'s. */
	*ret = (struct bpf_namespace){ (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev), st.st_ino };
	return true;
}

int bpf_call(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int bpf_program_load(const struct bpf_insn *code, size_t len)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)code,
		.insn_cnt = (uint32_t)len,
		.license = (uintptr_t)"Apache-2.0",
	};

	return bpf_call(BPF_PROG_LOAD, &attr);
}

bool bpf_program_attach(int program, int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0;
}
