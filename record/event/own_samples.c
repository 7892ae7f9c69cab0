/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_samples.c - the program compares process numbers in our own namespace of them; for tasks of others it finds 0.
 */
#include "record/event/own_samples.h"

#include "formats/base/compiler.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers of older kernels lack it. */
#define GET_NS_CURRENT_PID_TGID 120

/* What that writes: the numbers of thread and process. */
#define NUMBERS_LEN	8
#define PROCESS_OFFSET	4
#define NUMBERS_AT	(-NUMBERS_LEN) /* from the frame's end */

#define LOAD_NUMBER(register, number)                                                                           \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (register), .imm = (int32_t)(uint32_t)(number) },       \
	{ .imm = (int32_t)(uint32_t)((uint64_t)(number) >> 32) }
#define LOAD_SMALL(register, number) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (register), .imm = (number) }

/* A descriptor, or -1. */
static int load_program(const struct stat *namespace_of_pids)
{
	const struct bpf_insn code[] = {
		LOAD_NUMBER(BPF_REG_1, namespace_of_pids->st_dev),
		LOAD_NUMBER(BPF_REG_2, namespace_of_pids->st_ino),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = NUMBERS_AT },
		LOAD_SMALL(BPF_REG_4, NUMBERS_LEN),
		{ .code = BPF_JMP | BPF_CALL, .imm = GET_NS_CURRENT_PID_TGID },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10, .off = NUMBERS_AT + PROCESS_OFFSET },
		LOAD_SMALL(BPF_REG_0, 1),
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = 1, .imm = getpid() },
		LOAD_SMALL(BPF_REG_0, 0),
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insn_cnt = ARRAY_LEN(code),
		.insns = (uintptr_t)code,
		.license = (uintptr_t)"Apache-2.0",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

bool own_samples_leave_out(int fd)
{
	struct stat pids;
	int program = stat("/proc/self/ns/pid", &pids) == 0 ? load_program(&pids) : -1;
	bool set = program >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0;

	/* The event holds it. */
	if (program >= 0)
		close(program);
	return set;
}
