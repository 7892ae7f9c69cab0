/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.h - the shared object that the running kernel maps into every process, from our own memory.
 */
#ifndef ELF_VDSO_H
#define ELF_VDSO_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of this process's vdso, an ELF file; NULL if there is none. They live as long as the process. */
const uint8_t *vdso_own(size_t *ret_len);

#endif
