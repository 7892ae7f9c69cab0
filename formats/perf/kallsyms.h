/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms.h - one line of /proc/kallsyms: "ffffffffc0000000 t ext4_get_block\t[ext4]".
 */
#ifndef FORMATS_KALLSYMS_H
#define FORMATS_KALLSYMS_H

#include <stdbool.h>
#include <stdint.h>

/* Beyond so many bytes the next symbol is that of another module. */
#define KALLSYMS_SYMBOL_LEN_MAX (16U << 20)

struct kallsyms_line {
	uint64_t addr;
	char type;
	char *name; /* as it is in the text, up to the end of the line */
};

/* Read @text, which must stay. False if it is no such line. */
bool kallsyms_parse(char *text, struct kallsyms_line *ret);

/* Cut the name at its end; returns the module, "" for the kernel itself. */
const char *kallsyms_cut(char *name);

/* Of a module's name, in brackets or not; that of the one a line has, which is not cut yet. The kernel itself has 0. */
uint64_t kallsyms_hash(const char *module);
uint64_t kallsyms_module(const struct kallsyms_line *line);

/* What stands before functions (CONFIG_CALL_PADDING), and arm64's mapping symbols: they end nothing. */
bool kallsyms_is_padding(const struct kallsyms_line *line);
bool kallsyms_is_function(const struct kallsyms_line *line);

/* Of names for one address the same one each time, whatever the order of lines. */
bool kallsyms_is_better_name(const char *name, const char *than);

#endif
