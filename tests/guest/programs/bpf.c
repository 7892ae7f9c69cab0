/* SPDX-License-Identifier: Apache-2.0 */
/* bpf.c - run a BPF program of some hundred instructions, "spin", in the kernel, N times. */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 200

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int main(int argc, char **argv)
{
	struct bpf_insn code[2 * ROUNDS + 2] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 } };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };
	static char frame[64];

	for (int i = 0; i < ROUNDS; i++) {
		code[2 * i + 1] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MUL | BPF_K, .imm = 3 };
		code[2 * i + 2] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_XOR | BPF_K, .imm = i };
	}
	code[2 * ROUNDS + 1] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	attr.insn_cnt = 2 * ROUNDS + 2;
	attr.insns = (uintptr_t)code;
	attr.license = (uintptr_t)"Apache-2.0";
	memcpy(attr.prog_name, "spin", 4);

	int fd = (int)bpf(BPF_PROG_LOAD, &attr);

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)fd;
	attr.test.data_in = (uintptr_t)frame;
	attr.test.data_size_in = sizeof(frame);
	attr.test.repeat = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	if (fd < 0 || bpf(BPF_PROG_TEST_RUN, &attr) != 0) {
		perror("bpf");
		return 1;
	}
	if (argc > 2) /* stay loaded, so that the program's code can still be read */
		sleep((unsigned)atoi(argv[2]));
	return 0;
}
