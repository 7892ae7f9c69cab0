/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wake_filter.c - marks are an array in memory shared with the program, so marking is a store, not a system call. A bell is a
 * BPF ring buffer of which only the positions matter.
 */
#include "record/sample/wake_filter.h"

#include "formats/base/compiler.h"
#include "formats/base/memory.h"
#include "record/event/bpf_program.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Headers of older kernels lack them. */
#define MAP_TYPE_RING	    27
#define MAP_CAN_BE_MAPPED   (1U << 10)
#define REFERS_TO_MAP_VALUE 2
#define WAKE_ALWAYS	    2

#define MARKS		65536	    /* by the last 16 bits of a process's number; 64 processes at most share one */
#define FIRST_NAMESPACE 0xEFFFFFFCU /* inode of the initial PID namespace (PROC_PID_INIT_INO) */
#define CODE_MAX	40

struct bell {
	int fd, program_fd; /* -1: none */
	uint64_t *answered; /* a page that is ours to write */
	const uint64_t *rung;
};

struct wake_filter {
	int marks_fd;
	_Atomic uint8_t *marks;
	size_t page_len, nbells;
	struct bell bells[];
};

/* ---- the program ------------------------------------------------------------------------------------- */

struct code {
	struct bpf_insn items[CODE_MAX];
	size_t len;
};

static void add(struct code *c, uint8_t code, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	c->items[c->len++] = (struct bpf_insn){ .code = code, .dst_reg = dst & 0xf, .src_reg = src & 0xf, .off = off, .imm = imm };
}

/* Two instructions. @src says what @value is; 0: a number. */
static void add_load(struct code *c, uint8_t dst, uint8_t src, uint64_t value)
{
	add(c, BPF_LD | BPF_DW | BPF_IMM, dst, src, 0, (int32_t)(uint32_t)value);
	add(c, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

/* A jump forward, whose end jump_here() sets. */
static size_t add_jump(struct code *c, uint8_t condition, uint8_t reg)
{
	add(c, BPF_JMP | condition | BPF_K, reg, 0, 0, 0);
	return c->len - 1;
}

static void jump_here(struct code *c, size_t jump)
{
	c->items[jump].off = (int16_t)(c->len - jump - 1);
}

static void add_stack_address(struct code *c, uint8_t dst, int32_t offset)
{
	add(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, BPF_REG_10, 0, 0);
	add(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, offset);
}

/* Register 0 becomes the process's number in PID namespace @own. Returns the jump that is taken if it has none. */
static size_t add_number(struct code *c, const struct bpf_namespace *own)
{
	add_load(c, BPF_REG_1, 0, own->device);
	add_load(c, BPF_REG_2, 0, own->inode);
	add_stack_address(c, BPF_REG_3, -16);
	add(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 8);
	add(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_PROGRAM_CALL_NS_PID);
	size_t has_none = add_jump(c, BPF_JNE, BPF_REG_0);

	add(c, BPF_LDX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_10, -12, 0); /* behind that of the thread */
	return has_none;
}

static void add_ring(struct code *c, int bell_fd)
{
	add(c, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0);
	add_load(c, BPF_REG_1, BPF_PSEUDO_MAP_FD, (uint32_t)bell_fd);
	add_stack_address(c, BPF_REG_2, -8);
	add(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 8);
	add(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, WAKE_ALWAYS);
	add(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_PROGRAM_CALL_RING_OUTPUT);
}

/* It returns 1: the sample passes. The idle task, number 0, rings no bell. */
static void write_program(struct code *c, int marks_fd, int bell_fd, const struct bpf_namespace *own)
{
	size_t has_none = 0;

	add(c, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid);
	size_t is_idle = add_jump(c, BPF_JEQ, BPF_REG_0);

	if (own->inode == FIRST_NAMESPACE)
		add(c, BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32);
	else
		has_none = add_number(c, own);
	add(c, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, MARKS - 1);
	add_load(c, BPF_REG_1, REFERS_TO_MAP_VALUE, (uint32_t)marks_fd);
	add(c, BPF_ALU64 | BPF_ADD | BPF_X, BPF_REG_1, BPF_REG_0, 0, 0);
	add(c, BPF_LDX | BPF_MEM | BPF_B, BPF_REG_1, BPF_REG_1, 0, 0);
	size_t is_unmarked = add_jump(c, BPF_JEQ, BPF_REG_1);

	if (has_none)
		jump_here(c, has_none);
	add_ring(c, bell_fd);
	jump_here(c, is_idle);
	jump_here(c, is_unmarked);
	add(c, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1);
	add(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int load_program(int marks_fd, int bell_fd, const struct bpf_namespace *own)
{
	struct code code = { .len = 0 };

	write_program(&code, marks_fd, bell_fd, own);
	return bpf_program_load(code.items, code.len);
}

/* ---- maps ---------------------------------------------------------------------------------------------- */

static bool open_marks(struct wake_filter *f)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = MARKS,
		.max_entries = 1,
		.map_flags = MAP_CAN_BE_MAPPED,
	};

	f->marks_fd = bpf_call(BPF_MAP_CREATE, &attr);
	if (f->marks_fd < 0)
		return false;
	void *map = mmap(NULL, MARKS, PROT_READ | PROT_WRITE, MAP_SHARED, f->marks_fd, 0);

	f->marks = map == MAP_FAILED ? NULL : map;
	return f->marks;
}

static bool open_bell(const struct wake_filter *f, struct bell *bell, const struct bpf_namespace *own)
{
	union bpf_attr attr = { .map_type = MAP_TYPE_RING, .max_entries = (uint32_t)f->page_len };

	bell->fd = bpf_call(BPF_MAP_CREATE, &attr);
	if (bell->fd < 0)
		return false;
	void *answered = mmap(NULL, f->page_len, PROT_READ | PROT_WRITE, MAP_SHARED, bell->fd, 0);
	void *rung = mmap(NULL, f->page_len, PROT_READ, MAP_SHARED, bell->fd, (off_t)f->page_len);

	bell->answered = answered == MAP_FAILED ? NULL : answered;
	bell->rung = rung == MAP_FAILED ? NULL : rung;
	bell->program_fd = bell->answered && bell->rung ? load_program(f->marks_fd, bell->fd, own) : -1;
	return bell->program_fd >= 0;
}

static void close_bell(const struct wake_filter *f, struct bell *bell)
{
	if (bell->answered)
		munmap(bell->answered, f->page_len);
	if (bell->rung)
		munmap((void *)(uintptr_t)bell->rung, f->page_len);
	if (bell->fd >= 0)
		close(bell->fd);
	if (bell->program_fd >= 0)
		close(bell->program_fd);
}

struct wake_filter *wake_filter_new(size_t nrings)
{
	struct wake_filter *f = memory_zeroed(1, sizeof(*f) + nrings * sizeof(f->bells[0]));
	struct bpf_namespace own;
	bool good = bpf_namespace_own(&own);

	f->page_len = (size_t)sysconf(_SC_PAGESIZE);
	f->nbells = nrings;
	f->marks_fd = -1;
	for (size_t i = 0; i < nrings; i++)
		f->bells[i].fd = f->bells[i].program_fd = -1;
	good = good && open_marks(f);
	for (size_t i = 0; i < nrings && good; i++)
		good = open_bell(f, &f->bells[i], &own);
	if (good)
		return f;
	wake_filter_free(f);
	return NULL;
}

void wake_filter_free(struct wake_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->nbells; i++)
		close_bell(f, &f->bells[i]);
	if (f->marks)
		munmap((void *)(uintptr_t)f->marks, MARKS);
	if (f->marks_fd >= 0)
		close(f->marks_fd);
	free(f);
}

bool wake_filter_attach(const struct wake_filter *f, size_t ring, int fd)
{
	return bpf_program_attach(f->bells[ring].program_fd, fd);
}

void wake_filter_mark(struct wake_filter *f, uint32_t pid)
{
	f->marks[pid % MARKS]++;
}

void wake_filter_unmark(struct wake_filter *f, uint32_t pid)
{
	f->marks[pid % MARKS]--;
}

int wake_filter_fd(const struct wake_filter *f, size_t ring)
{
	return f->bells[ring].fd;
}

uint64_t wake_filter_rung(const struct wake_filter *f, size_t ring)
{
	return __atomic_load_n(f->bells[ring].rung, __ATOMIC_ACQUIRE);
}

void wake_filter_answer(struct wake_filter *f, size_t ring, uint64_t rung)
{
	__atomic_store_n(f->bells[ring].answered, rung, __ATOMIC_RELEASE);
}

bool wake_filter_waits(const struct wake_filter *f, size_t ring)
{
	return wake_filter_rung(f, ring) != __atomic_load_n(f->bells[ring].answered, __ATOMIC_ACQUIRE);
}
