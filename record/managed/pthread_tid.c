/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_tid.c - struct pthread's tid in the C libraries that are known.
 */
#include "record/managed/pthread_tid.h"

#include "formats/base/compiler.h"

uint16_t pthread_tid_find(struct managed_view *view, uint64_t pthread, uint32_t tid)
{
	/* glibc on x86-64, aarch64; musl */
	static const uint16_t offsets[] = { 720, 208, 48, 56 };
	uint32_t found;

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
		if (managed_view_try(view, pthread + offsets[i], &found, sizeof(found)) && found == tid)
			return offsets[i];
	return 0;
}
