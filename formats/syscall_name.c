/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall_name.c - syscall_names.in as one table; it is short, and callers ask once for each number.
 */
#include "formats/syscall_name.h"

#include "formats/base/compiler.h"

#include <elf.h>

#define NONE UINT16_MAX

static const struct row {
	const char *name;
	uint16_t x86_64, aarch64;
} rows[] = {
#define SYSCALL(name, x86_64, aarch64) { #name, x86_64, aarch64 },
#include "formats/syscall_names.in"
#undef SYSCALL
};

const char *syscall_name(const struct arch *arch, uint64_t number)
{
	if (!arch || number >= NONE)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (number == (arch->elf_machine == EM_AARCH64 ? rows[i].aarch64 : rows[i].x86_64))
			return rows[i].name;
	return NULL;
}
