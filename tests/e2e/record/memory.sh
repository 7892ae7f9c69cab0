#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The memory of a long recording, in short: as many new programs in a minute as an hour of compiling has, each a file of its own that
# runs for a moment and is removed. Once what is remembered has reached its limits, precord grows no more.
# slow: it runs 28,000 programs or more
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_system_wide
[ "$(uname -m)" = x86_64 ] || skip "the programs are written for x86-64"
[ -z "${SAN-}" ] || skip "sanitizers keep what is freed"

# churn: 20,000 programs and then 8,000, and what memory the recorder had after both, in KiB, goes to its output. Neighbours may make it
# grow too, once: it is let run three times 8,000 more for a growth of less than 5 MiB.
cat >churn.c <<'END_C'
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BASE 0x400000

struct program {
	Elf64_Ehdr head;
	Elf64_Phdr code, note;
	struct {
		uint32_t name_len, len, type;
		char name[4];
		uint64_t id[2];
	} build_id;
	unsigned char text[24];
};

/* mov $N, %ecx; dec %ecx; jnz; exit(0) */
static const unsigned char text[] = { 0xb9, 0xa0, 0x86, 1, 0, 0xff, 0xc9, 0x75, 0xfc, 0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 };

static struct program make(uint64_t number)
{
	struct program p = { .head = { .e_ident = "\177ELF\2\1\1", .e_type = ET_EXEC, .e_machine = EM_X86_64, .e_version = 1,
				       .e_entry = BASE + offsetof(struct program, text), .e_phoff = offsetof(struct program, code),
				       .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 } };

	p.code = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE, .p_filesz = sizeof(p), .p_memsz = sizeof(p), .p_align = 4096 };
	p.note = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = offsetof(struct program, build_id),
			       .p_vaddr = BASE + offsetof(struct program, build_id), .p_filesz = sizeof(p.build_id), .p_memsz = sizeof(p.build_id), .p_align = 4 };
	p.build_id.name_len = 4;
	p.build_id.len = 16;
	p.build_id.type = NT_GNU_BUILD_ID;
	memcpy(p.build_id.name, "GNU", 4);
	p.build_id.id[0] = number + 1;
	memcpy(p.text, text, sizeof(text));
	return p;
}

static void run(uint64_t number)
{
	struct program p = make(number);
	char path[64], *args[] = { path, NULL }, *none[] = { NULL };
	pid_t pid;

	snprintf(path, sizeof(path), "./p%llu", (unsigned long long)number);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (write(fd, &p, sizeof(p)) != sizeof(p) || close(fd) || posix_spawn(&pid, path, NULL, NULL, args, none))
		exit(1);
	waitpid(pid, NULL, 0);
	unlink(path);
}

static long memory(void)
{
	char path[64], line[128];
	long anon = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", getppid());
	FILE *file = fopen(path, "r");

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "RssAnon: %ld", &anon) == 1)
			break;
	}
	fclose(file);
	return anon;
}

int main(void)
{
	uint64_t number = 0;
	long before, after;

	while (number < 20000)
		run(number++);
	after = memory();
	do {
		before = after;
		for (int i = 0; i < 8000; i++)
			run(number++);
		after = memory();
	} while (after > before + 5120 && number < 44000);
	printf("%ld\n%ld\n", before, after);
	return 0;
}
END_C
$CC -O1 -w -include stddef.h -o churn churn.c || fail "cannot compile"
precord -q -a -F 4999 -o memory.trace -- ./churn >kib.txt 2>err.txt || { cat err.txt; fail "status $?"; }
{ read -r before; read -r after; } <kib.txt
preport -i memory.trace info >info.txt 2>&1 && grep -q '^File  *complete' info.txt || { cat info.txt; fail "the file is not complete"; }
cat kib.txt
[ "$after" -le 153600 ] || fail "the recorder has $after KiB"
[ "$after" -le $((before + 5120)) ] || fail "the recorder grew from $before to $after KiB"
exit 0
