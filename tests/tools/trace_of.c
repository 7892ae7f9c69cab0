/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_of.c - a trace of one moment, from a core file or from a case, so that preport can be held against other unwinders.
 *
 * Usage: trace_of core CORE TRACE     a sample for each thread of an ELF core file (x86-64, aarch64)
 *        trace_of case CASE TRACE     one sample, from a text file with lines of
 *
 *	arch NAME                 x86_64 or aarch64; the first line
 *	reg NAME VALUE            hexadecimal, by the names that preport debug-unwind uses: rip, rsp, x29 …
 *	map LINE                  a line of /proc/PID/maps
 *	stack ADDRESS FILE        the bytes of FILE, relative to CASE, lie from ADDRESS on
 *
 * Binaries are not embedded: preport looks for them at their paths, or below --symfs. Of a stack at most STACK_LEN_MAX bytes are
 * taken, from the stack pointer on, as the kernel does for a sample.
 */
#include "formats/arch.h"
#include "formats/base/memory.h"
#include "formats/base/writer.h"
#include "formats/trace/trace_writer.h"

#include <elf.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_LEN_MAX 65528
#define PID	      1
#define START_NS      1000000000u

struct maker {
	struct trace_writer *writer;
	struct recording rec;
	struct recording_event event;
	struct recording_count count;
	bool begun;
	uint64_t time_ns;
};

static void must(struct err *error)
{
	if (error)
		errx(1, "%s", err_message(error));
}

static void put(struct maker *m, struct event ev)
{
	if (!m->begun)
		must(trace_writer_begin(m->writer, &m->rec));
	m->begun = true;
	ev.time_ns = m->time_ns++;
	ev.cpu = EVENT_NO_CPU;
	ev.pid = PID;
	must(trace_writer_event(m->writer, &ev));
}

static void put_map(struct maker *m, uint64_t start, uint64_t end, uint64_t offset, bool exec, const char *path)
{
	struct event ev = { .kind = EVENT_MMAP, .tid = PID };

	ev.mmap = (struct event_mmap){ .start = start,
				       .end = end,
				       .file_offset = offset,
				       .flags = exec ? EVENT_MMAP_EXEC : 0,
				       .path = path };
	put(m, ev);
}

/* The @len bytes at @bytes are what lies at @address, and the stack pointer is among or below them. */
static void put_sample(struct maker *m, uint32_t tid, const struct event_regs *regs, uint64_t address,
		       const uint8_t *bytes, size_t len)
{
	const struct arch *arch = m->rec.arch;
	uint64_t sp = regs->values[arch->sp] & ~7ULL, skip = sp > address ? sp - address : 0;
	struct event ev = { .kind = EVENT_SAMPLE, .tid = tid };
	struct event_stack *stack = &ev.sample.stack;
	uint32_t *slots = memory_zeroed(STACK_LEN_MAX / 8, sizeof(*slots));
	uint64_t *words = memory_zeroed(STACK_LEN_MAX / 8, sizeof(*words));

	skip = skip < len ? skip : len;
	size_t taken = MIN(len - (size_t)skip, STACK_LEN_MAX) / 8 * 8;

	stack->base = address + skip;
	stack->end = stack->base + taken;
	stack->cut = taken == STACK_LEN_MAX;
	for (size_t i = 0; i < taken / 8; i++) {
		uint64_t word;

		memcpy(&word, bytes + skip + 8 * i, 8);
		if (!word)
			continue;
		slots[stack->nwords] = (uint32_t)i;
		words[stack->nwords++] = word;
	}
	stack->slots = slots;
	stack->words = words;
	ev.sample.mode = EVENT_MODE_USER;
	ev.sample.ip = regs->values[arch->ip];
	ev.sample.period = 1;
	ev.sample.regs = regs;
	put(m, ev);
	m->count.samples++;
	free(slots);
	free(words);
}

/* ---- core files ------------------------------------------------------------------------------------ */

struct core {
	const uint8_t *data;
	size_t len;
	const Elf64_Ehdr *head;
	const Elf64_Phdr *segments;
};

/* @len bytes at @offset of the file. */
static const void *at(const struct core *c, uint64_t offset, uint64_t len)
{
	if (offset > c->len || len > c->len - offset)
		errx(1, "the core file is cut short at byte %" PRIu64, offset);
	return c->data + offset;
}

static const Elf64_Phdr *segment_of(const struct core *c, uint64_t address)
{
	for (size_t i = 0; i < c->head->e_phnum; i++) {
		const Elf64_Phdr *seg = &c->segments[i];

		if (seg->p_type == PT_LOAD && address >= seg->p_vaddr && address - seg->p_vaddr < seg->p_memsz)
			return seg;
	}
	return NULL;
}

/* Of a struct elf_prstatus: where the registers stand, and which is which by DWARF number; 0xff: none. */
#define PRSTATUS_TID  32
#define PRSTATUS_REGS 112

static const uint8_t x86_64_regs[] = { 15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, 0xff, 16, 0xff, 0xff, 7 };

static void put_thread(struct maker *m, const struct core *c, const uint8_t *status, size_t len)
{
	bool x86 = m->rec.arch == &arch_x86_64;
	size_t count = x86 ? sizeof(x86_64_regs) : m->rec.arch->nregs;
	struct event_regs regs = { 0 };
	uint32_t tid;

	if (len < PRSTATUS_REGS + 8 * count)
		errx(1, "the registers of a thread are cut short");
	memcpy(&tid, status + PRSTATUS_TID, 4);
	for (size_t i = 0; i < count; i++) {
		uint8_t reg = x86 ? x86_64_regs[i] : (uint8_t)i;

		if (reg == 0xff)
			continue;
		memcpy(&regs.values[reg], status + PRSTATUS_REGS + 8 * i, 8);
		regs.mask |= 1ULL << reg;
	}
	uint64_t sp = regs.values[m->rec.arch->sp];
	const Elf64_Phdr *seg = segment_of(c, sp);

	if (seg && seg->p_filesz > sp - seg->p_vaddr)
		put_sample(m, tid, &regs, seg->p_vaddr, at(c, seg->p_offset, seg->p_filesz), seg->p_filesz);
	else
		put_sample(m, tid, &regs, sp, NULL, 0);
}

/* NT_FILE: count, page size; for each start, end, offset in pages; then the paths. */
static void put_files(struct maker *m, const struct core *c, const uint8_t *desc, size_t len)
{
	uint64_t head[2], row[3];

	if (len < sizeof(head))
		errx(1, "the list of files is cut short");
	memcpy(head, desc, sizeof(head));
	if (head[0] > (len - sizeof(head)) / sizeof(row))
		errx(1, "the list of files is cut short");
	const char *path = (const char *)desc + sizeof(head) + head[0] * sizeof(row);
	const char *end = (const char *)desc + len;

	for (uint64_t i = 0; i < head[0] && path < end && memchr(path, 0, (size_t)(end - path)); i++) {
		memcpy(row, desc + sizeof(head) + i * sizeof(row), sizeof(row));
		const Elf64_Phdr *seg = segment_of(c, row[0]);

		/* gdb leaves out what is as in the file, code above all; data that is taken for code does no harm. */
		put_map(m, row[0], row[1], row[2] * head[1], !seg || seg->p_flags & PF_X, path);
		path += strlen(path) + 1;
	}
}

/* Call for each note of @type. */
static void each_note(struct maker *m, const struct core *c, uint32_t type,
		      void (*take)(struct maker *m, const struct core *c, const uint8_t *desc, size_t len))
{
	for (size_t i = 0; i < c->head->e_phnum; i++) {
		const Elf64_Phdr *seg = &c->segments[i];
		uint64_t offset = seg->p_offset, end = offset + seg->p_filesz;

		while (seg->p_type == PT_NOTE && offset < end && end - offset >= sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *note = at(c, offset, sizeof(*note));
			uint64_t desc = offset + sizeof(*note) + (note->n_namesz + 3U) / 4 * 4;

			if (note->n_type == type)
				take(m, c, at(c, desc, note->n_descsz), note->n_descsz);
			offset = desc + (note->n_descsz + 3U) / 4 * 4;
		}
	}
}

static void *read_file(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "re");
	char *bytes;

	if (!file || fseek(file, 0, SEEK_END) != 0)
		err(1, "'%s'", path);
	*ret_len = (size_t)ftell(file);
	rewind(file);
	bytes = memory_alloc(*ret_len + 1);
	if (fread(bytes, 1, *ret_len, file) != *ret_len)
		err(1, "'%s'", path);
	bytes[*ret_len] = 0;
	fclose(file);
	return bytes;
}

static void take_core(struct maker *m, const char *path)
{
	struct core c = { 0 };

	c.data = read_file(path, &c.len);
	c.head = at(&c, 0, sizeof(*c.head));
	if (memcmp(c.head->e_ident, ELFMAG, SELFMAG) != 0 || c.head->e_type != ET_CORE ||
	    c.head->e_phentsize != sizeof(Elf64_Phdr))
		errx(1, "'%s' is no core file of a 64-bit program", path);
	c.segments = at(&c, c.head->e_phoff, (uint64_t)c.head->e_phnum * sizeof(Elf64_Phdr));
	m->rec.arch = arch_by_machine(c.head->e_machine);
	if (!m->rec.arch)
		errx(1, "'%s' is of a processor that is not known", path);
	each_note(m, &c, NT_FILE, put_files);
	each_note(m, &c, NT_PRSTATUS, put_thread);
	free((void *)(uintptr_t)c.data);
}

/* ---- cases ----------------------------------------------------------------------------------------- */

static void add_reg(const struct arch *arch, const char *name, uint64_t value, struct event_regs *regs)
{
	for (unsigned reg = 0; reg < arch->nregs; reg++)
		if (strcmp(arch->reg_names[reg], name) == 0) {
			regs->values[reg] = value;
			regs->mask |= 1ULL << reg;
			return;
		}
	errx(1, "no register is called '%s'", name);
}

static void add_map(struct maker *m, const char *line)
{
	uint64_t start, end, offset;
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, flags, &offset, &path) < 4 ||
	    !path)
		errx(1, "no line of /proc/PID/maps: '%s'", line);
	put_map(m, start, end, offset, flags[2] == 'x', line[path] ? line + path : "//anon");
}

static void take_case(struct maker *m, const char *path)
{
	char line[8192], name[64], *rest, *folder = strdup(path);
	struct event_regs regs = { 0 };
	uint8_t *stack = NULL;
	uint64_t value, address = 0;
	size_t len = 0;
	FILE *file = fopen(path, "re");
	int at_path;

	if (!file || !folder)
		err(1, "'%s'", path);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "arch %63s", name) == 1)
			m->rec.arch = arch_by_name(name);
		else if (line[0] && !m->rec.arch)
			errx(1, "the first line names no known arch: '%s'", line);
		else if (sscanf(line, "reg %63s %" SCNx64, name, &value) == 2)
			add_reg(m->rec.arch, name, value, &regs);
		else if (strncmp(line, "map ", 4) == 0)
			add_map(m, line + 4);
		else if (sscanf(line, "stack %" SCNx64 " %n", &address, &at_path) == 1) {
			if (asprintf(&rest, "%s/%s", dirname(folder), line + at_path) < 0)
				err(1, "out of memory");
			stack = read_file(rest, &len);
			free(rest);
		} else if (line[0] && line[0] != '#')
			errx(1, "what is '%s'?", line);
	}
	if (!m->rec.arch)
		errx(1, "'%s' names no arch", path);
	put_sample(m, PID, &regs, address, stack, len);
	fclose(file);
	free(stack);
	free(folder);
}

int main(int argc, char **argv)
{
	struct maker m = { .time_ns = START_NS };
	int fd;

	if (argc != 4 || (strcmp(argv[1], "core") != 0 && strcmp(argv[1], "case") != 0))
		errx(2, "usage: trace_of core|case FILE TRACE");
	fd = open(argv[3], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		err(1, "'%s'", argv[3]);
	m.event = (struct recording_event){
		.name = "moment", .unit = "", .format = "", .rate = 1, .samples = true
	};
	m.count = (struct recording_count){ .cpu = EVENT_NO_CPU };
	m.rec = (struct recording){ .tool = "trace_of", .cmdline = "", .hostname = "", .os_release = "",
				    .cpu_model = "", .container = "", .page_size = 4096,
				    .start_ns = START_NS, .chain = RECORDING_CHAIN_DWARF,
				    .stack_len = STACK_LEN_MAX, .raw_stacks = true, .exit_status = -1,
				    .events = &m.event, .nevents = 1, .counts = &m.count, .ncounts = 1 };
	m.writer = trace_writer_new(fd);
	if (argv[1][1] == 'o')
		take_core(&m, argv[2]);
	else
		take_case(&m, argv[2]);
	m.rec.end_ns = m.time_ns;
	must(trace_writer_end(m.writer, &m.rec));
	trace_writer_free(m.writer);
	return close(fd) == 0 ? 0 : 1;
}
