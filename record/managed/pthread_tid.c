/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_tid.c - struct pthread's tid in known C libraries.
 *
 * In a container thread numbers are small and other words may be equal by chance; so the structure is verified too.
 */
#include "record/managed/pthread_tid.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"

#include <elf.h>

#define GLIBC_AARCH64	   208
#define GLIBC_AARCH64_LIST 192 /* before it, the two addresses of a list of threads */

static bool is_address(uint64_t value)
{
	return value >= MANAGED_PAGE_LEN && value % 8 == 0;
}

static bool is_pthread(struct managed_view *view, uint64_t pthread, uint16_t offset)
{
	uint64_t words[2];

	if (offset != GLIBC_AARCH64)
		return managed_view_try(view, pthread, words, sizeof(words[0])) && words[0] == pthread;
	return arch_native()->elf_machine == EM_AARCH64 &&
	       managed_view_try(view, pthread + GLIBC_AARCH64_LIST, words, sizeof(words)) &&
	       is_address(words[0]) && is_address(words[1]);
}

uint16_t pthread_tid_find(struct managed_view *view, uint64_t pthread, uint32_t tid)
{
	/* glibc on x86-64; on aarch64; musl: the first and the last two begin with their own address */
	static const uint16_t offsets[] = { 720, GLIBC_AARCH64, 48, 56 };
	uint32_t found;

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
		if (managed_view_try(view, pthread + offsets[i], &found, sizeof(found)) && found == tid &&
		    is_pthread(view, pthread, offsets[i]))
			return offsets[i];
	return 0;
}
