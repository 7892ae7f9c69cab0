/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late_object.c FILE SECONDS: loads the code of FILE, an object with one function that needs no relocation, and calls it for so much time on a CPU. It is
 * registered with GDB's JIT interface at once, but what is registered comes into memory only after a third of that time.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define FILE_MAX (1 << 16)

struct entry {
	struct entry *next, *previous;
	const void *file;
	uint64_t len;
};

struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};

struct descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* whatever else runs */
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *map(int protection)
{
	return mmap(NULL, FILE_MAX, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Copy the code to where it is executed, and say so in @file. */
static void *load(char *file)
{
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
	Elf64_Shdr *sections = (Elf64_Shdr *)(file + head->e_shoff);
	void *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);

	for (int i = 0; i < head->e_shnum; i++) {
		if (!(sections[i].sh_flags & SHF_EXECINSTR) || !sections[i].sh_size)
			continue;
		memcpy(code, file + sections[i].sh_offset, sections[i].sh_size);
		sections[i].sh_addr = (uintptr_t)code;
	}
	return code;
}

int main(int argc, char **argv)
{
	static char file[FILE_MAX] __attribute__((aligned(8)));
	static struct entry entry;
	FILE *from = argc > 2 ? fopen(argv[1], "rb") : NULL;
	double seconds = argc > 2 ? atof(argv[2]) : 0, begin = now();

	if (!from)
		return 2;
	entry.len = fread(file, 1, sizeof(file), from);
	unsigned long (*function)(unsigned long) = (unsigned long (*)(unsigned long))load(file);
	void *registered = map(PROT_NONE);

	entry.file = registered;
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = &entry;
	__jit_debug_descriptor.action = 1;
	for (unsigned long sum = 0; now() - begin < seconds;) {
		sum += function(100000);
		if (!registered || now() - begin < seconds / 3)
			continue;
		mprotect(registered, FILE_MAX, PROT_READ | PROT_WRITE);
		memcpy(registered, file, entry.len);
		registered = NULL;
	}
	return 0;
}
