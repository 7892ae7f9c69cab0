/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_samples.c - the program compares process numbers in our own namespace of them; for tasks of others it finds 0.
 */
#include "record/event/own_samples.h"

#include "formats/base/compiler.h"
#include "record/event/bpf_program.h"

#include <unistd.h>

/* What bpf_get_ns_current_pid_tgid() writes: the numbers of thread and process. */
#define NUMBERS_LEN	8
#define PROCESS_OFFSET	4
#define NUMBERS_AT	(-NUMBERS_LEN) /* from the frame's end */

#define LOAD_NUMBER(register, number)                                                                           \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (register), .imm = (int32_t)(uint32_t)(number) },       \
	{ .imm = (int32_t)(uint32_t)((uint64_t)(number) >> 32) }
#define LOAD_SMALL(register, number) { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (register), .imm = (number) }

/* A descriptor, or -1. */
static int load_program(const struct bpf_namespace *own)
{
	const struct bpf_insn code[] = {
		LOAD_NUMBER(BPF_REG_1, own->device),
		LOAD_NUMBER(BPF_REG_2, own->inode),
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = NUMBERS_AT },
		LOAD_SMALL(BPF_REG_4, NUMBERS_LEN),
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_PROGRAM_CALL_NS_PID },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10, .off = NUMBERS_AT + PROCESS_OFFSET },
		LOAD_SMALL(BPF_REG_0, 1),
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .off = 1, .imm = getpid() },
		LOAD_SMALL(BPF_REG_0, 0),
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_program_load(code, ARRAY_LEN(code));
}

bool own_samples_leave_out(int fd)
{
	struct bpf_namespace own;
	int program = bpf_namespace_own(&own) ? load_program(&own) : -1;
	bool set = program >= 0 && bpf_program_attach(program, fd);

	/* The event holds it. */
	if (program >= 0)
		close(program);
	return set;
}
