/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm_probe.c - instructions of a file as preport annotate prints them.
 *
 *	disasm_probe FILE att|intel <ADDRESSES >INSTRUCTIONS
 *
 * Addresses are hexadecimal link-time ones, a line each. For each, one line: the address, a tab, how many bytes, a tab,
 * the instruction.
 */
#include "symbolize/disasm.h"
#include "symbolize/elf/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_insn(struct disasm *d, struct image *img, uint64_t vaddr)
{
	size_t left = 0;
	const uint8_t *code = image_bytes_at(img, vaddr, &left);
	struct disasm_insn insn;

	if (!code || !disasm_next(d, code, left, vaddr, &insn)) {
		printf("%" PRIx64 "\t0\tnothing\n", vaddr);
		return;
	}
	printf("%" PRIx64 "\t%u\t%s%s%s\n", vaddr, insn.len, insn.mnemonic,
	       *insn.operands ? " " : "", insn.operands);
}

static struct err *probe(const char *path, enum disasm_syntax syntax)
{
	struct image *img;
	struct disasm *d;
	char line[64];
	struct err *err = image_open(path, &img);

	if (err)
		return err;
	err = disasm_open(image_arch(img), syntax, &d);
	if (!err) {
		while (fgets(line, sizeof(line), stdin))
			print_insn(d, img, strtoull(line, NULL, 16));
		disasm_close(d);
	}
	image_close(img);
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: disasm_probe FILE att|intel <ADDRESSES\n");
		return 2;
	}
	struct err *err = probe(argv[1], strcmp(argv[2], "intel") == 0 ? DISASM_INTEL : DISASM_ATT);

	if (err) {
		fprintf(stderr, "disasm_probe: %s\n", err_message(err));
		err_free(err);
		return 1;
	}
	return 0;
}
