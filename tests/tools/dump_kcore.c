/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_kcore.c - write LEN bytes of the running kernel's memory at START to standard output, from /proc/kcore, for comparison
 * with what a trace has of them. It shares nothing with the recorder.
 *
 *	dump_kcore START LEN
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int copy(int fd, off_t offset, unsigned long len)
{
	static char page[4096];

	while (len) {
		size_t part = len < sizeof(page) ? len : sizeof(page);

		if (pread(fd, page, part, offset) != (ssize_t)part || fwrite(page, part, 1, stdout) != 1)
			return 1;
		offset += (off_t)part;
		len -= part;
	}
	return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
	Elf64_Ehdr file;
	Elf64_Phdr load;

	if (argc != 3) {
		fprintf(stderr, "usage: dump_kcore START LEN\n");
		return 2;
	}
	unsigned long start = strtoul(argv[1], NULL, 16), len = strtoul(argv[2], NULL, 0);
	int fd = open("/proc/kcore", O_RDONLY);

	if (fd < 0 || read(fd, &file, sizeof(file)) != sizeof(file)) {
		perror("/proc/kcore");
		return 1;
	}
	for (int i = 0; i < file.e_phnum; i++) {
		off_t at = (off_t)(file.e_phoff + (Elf64_Off)i * file.e_phentsize);

		if (pread(fd, &load, sizeof(load), at) == sizeof(load) && load.p_type == PT_LOAD &&
		    start >= load.p_vaddr && start - load.p_vaddr < load.p_filesz)
			return copy(fd, (off_t)(load.p_offset + (start - load.p_vaddr)), len);
	}
	fprintf(stderr, "dump_kcore: nothing is at %lx\n", start);
	return 1;
}
