/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_program.h - programs of BPF that the kernel runs at each sample of an event, bpf(2). They are given as instructions,
 * since they are short and need neither a compiler nor a library.
 */
#ifndef RECORD_BPF_PROGRAM_H
#define RECORD_BPF_PROGRAM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Helpers' numbers (include/uapi/linux/bpf.h), which headers of older kernels lack. */
#define BPF_PROGRAM_CALL_NS_PID	     120 /* bpf_get_ns_current_pid_tgid(), Linux 5.7 */
#define BPF_PROGRAM_CALL_RING_OUTPUT 130 /* bpf_ringbuf_output(), Linux 5.8 */

/* Our own namespace of process numbers, as bpf_get_ns_current_pid_tgid() takes it. */
struct bpf_namespace {
	uint64_t device, inode;
};

/* False: /proc does not say. */
bool bpf_namespace_own(struct bpf_namespace *ret);

/* What bpf(2) returns: a descriptor, or -1 and errno. */
int bpf_call(int command, union bpf_attr *attr);

/* A program for perf events of @len instructions: its descriptor, or -1 and errno. */
int bpf_program_load(const struct bpf_insn *code, size_t len);

/* From now on @program runs at samples of the event @fd, which holds it. False: events of this kind cannot. */
bool bpf_program_attach(int program, int fd);

#endif
