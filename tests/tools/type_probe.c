/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_probe.c - the type and member that instructions of a file access, as preport --by data-field tells them.
 *
 *	type_probe /PATH/FILE FUNCTION
 *
 * A line for each instruction of the function that accesses memory: address, instruction, type and member, or why not.
 */
#include "symbolize/data_type.h"
#include "symbolize/elf/symtab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *why_not[] = {
	[DATA_TYPE_NO_ACCESS] = "[no access]",
	[DATA_TYPE_NO_CODE] = "[no code]",
	[DATA_TYPE_SPILL] = "[spill]",
	[DATA_TYPE_UNKNOWN] = "[unknown]",
};

static void print_accesses(struct debug_types *types, struct disasm *disasm,
			   const struct arch *arch, const struct data_type_code *code)
{
	struct data_type_function *function = data_type_open(types, disasm, arch, code);
	struct arena arena = { 0 };
	struct disasm_insn insn;
	size_t at = 0;

	while (disasm_next(disasm, code->bytes + at, code->len - at, code->vaddr + at, &insn)) {
		struct debug_place place;
		enum data_type_status status = data_type_find(function, insn.vaddr, &place);

		if (status == DATA_TYPE_FOUND)
			printf("%" PRIx64 "\t%s %s\t%s\t%s\n", insn.vaddr, insn.mnemonic, insn.operands,
			       debug_types_name(types, place.type, &arena),
			       debug_types_field(types, place, &arena));
		else if (status != DATA_TYPE_NO_ACCESS)
			printf("%" PRIx64 "\t%s %s\t%s\t\n", insn.vaddr, insn.mnemonic, insn.operands,
			       why_not[status]);
		at += insn.len;
	}
	data_type_close(function);
	arena_deinit(&arena);
}

/* The code of the first function of that name. */
static bool find_code(struct image *img, const char *name, struct data_type_code *ret)
{
	struct symtab *symtab = symtab_new(img);
	const struct symtab_entry *entries;
	size_t count, len;

	entries = symtab_entries(symtab, &count);
	*ret = (struct data_type_code){ 0 };
	for (size_t i = 0; i < count && !ret->bytes; i++) {
		if (strcmp(entries[i].name, name) != 0)
			continue;
		ret->vaddr = entries[i].vaddr;
		ret->bytes = image_bytes_at(img, ret->vaddr, &len);
		ret->len = symtab_end(symtab, &entries[i]) - ret->vaddr;
		if (ret->len > len)
			ret->len = len;
	}
	symtab_free(symtab);
	return ret->bytes != NULL;
}

static struct err *probe(const char *path, const char *function)
{
	struct disasm *disasm = NULL;
	struct debug_types *types;
	struct data_type_code code;
	struct image *img;
	struct err *err = image_open(path, &img);

	if (err)
		return err;
	types = debug_types_new(img, img);
	err = disasm_open(image_arch(img), DISASM_ATT, &disasm);
	if (!err && !find_code(img, function, &code))
		err = err_new(ERR_USAGE, "no function is called '%s'", function);
	if (!err)
		print_accesses(types, disasm, image_arch(img), &code);
	disasm_close(disasm);
	debug_types_free(types);
	image_close(img);
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: type_probe FILE FUNCTION\n");
		return 2;
	}

	struct err *err = probe(argv[1], argv[2]);

	if (err)
		fprintf(stderr, "type_probe: %s\n", err_message(err));
	err_free(err);
	return err != NULL;
}
