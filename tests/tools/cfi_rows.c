/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_rows.c - print every row of a file's unwind table, one a line, for comparison with readelf -wF.
 *
 *	cfi_rows FILE         LOCATION CFA REGISTER=RULE ...
 *	cfi_rows --time FILE   compile all and say how long it took
 */
#include "formats/base/vec.h"
#include "symbolize/unwind/cfi_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct dump {
	struct cfi_rules *rules;
	const struct arch *arch;
	uint64_t nrows;
	bool quiet;
};

static void print_rule(const struct dump *d, const struct cfi_rule *rule)
{
	if (rule->cfa_is_expr)
		printf(" exp");
	else
		printf(" %s%+d", d->arch->reg_names[rule->cfa_reg], rule->cfa_value);
	for (size_t i = 0; i < rule->nregs; i++) {
		const struct cfi_reg *reg = &rule->regs[i];
		static const char *const marks[] = { "u", "c", "c", "v", "", "exp", "vexp" };

		printf(" %s=%s", reg->reg == rule->return_reg ? "ra" : d->arch->reg_names[reg->reg],
		       marks[reg->kind]);
		if (reg->kind == CFI_REG_OFFSET || reg->kind == CFI_REG_POPPED ||
		    reg->kind == CFI_REG_VAL_OFFSET)
			printf("%+d", reg->value);
		if (reg->kind == CFI_REG_REGISTER)
			printf("%s", d->arch->reg_names[reg->value]);
	}
}

static void print_row(uint64_t vaddr, uint32_t rule, void *context)
{
	struct dump *d = context;

	d->nrows++;
	if (d->quiet)
		return;
	printf("%" PRIx64, vaddr);
	print_rule(d, cfi_rules_get(d->rules, rule));
	putchar('\n');
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: cfi_rows [--time] FILE\n");
		return 2;
	}

	struct dump d = { .quiet = argc > 2 };
	struct cfi_section *cfi;
	struct image *img;
	struct err *err = image_open(argv[argc - 1], &img);
	struct timespec from, to;
	struct cfi_fde fde;
	size_t pos = 0, nfdes = 0, bad = 0;

	if (err) {
		fprintf(stderr, "cfi_rows: %s\n", err_message(err));
		err_free(err);
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &from);
	d.rules = cfi_rules_new();
	d.arch = image_arch(img);
	cfi = cfi_section_new(img);
	while (cfi && cfi_section_each(cfi, &pos, &fde)) {
		if (!d.quiet)
			printf("FDE %" PRIx64 "..%" PRIx64 "\n", fde.begin, fde.end);
		nfdes++;
		bad += !cfi_program_rows(d.rules, d.arch, &fde, print_row, &d);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	fprintf(stderr, "%zu FDEs (%zu bad), %" PRIu64 " rows, %zu rules, %.1f ms, defect: %s\n",
		nfdes, bad, d.nrows, cfi_rules_len(d.rules),
		(double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6,
		cfi && cfi_section_defect(cfi) ? cfi_section_defect(cfi) : "none");
	cfi_section_free(cfi);
	cfi_rules_free(d.rules);
	image_close(img);
	return 0;
}
