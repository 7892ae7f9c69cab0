/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_kernel.h - names for the kernel addresses of a recording that brings none, from the kernel that runs here or a copy
 * of its list.
 *
 * They serve only if it is the same kernel, by build ID. After a restart that one may lie elsewhere (KASLR), and its modules
 * anywhere: then what belongs to the kernel itself is moved, and modules stay unnamed.
 */
#ifndef SYMBOLIZE_OWN_KERNEL_H
#define SYMBOLIZE_OWN_KERNEL_H

#include "formats/recording.h"

/* Fill rec->ksyms, or say in rec->ksyms_remedy why not; unless no event of @rec could see the kernel. */
void own_kernel_name(struct recording *rec);

/*
 * Fill rec->ksyms from a copy of /proc/kallsyms that the user says is that kernel's: the text has no build ID to check. Where
 * @rec tells where its kernel lay, a copy from another start of it is moved as above. ERR_SYSTEM, ERR_CORRUPT.
 */
MUST_USE struct err *own_kernel_name_from(const char *path, struct recording *rec);

/* The same from @len bytes of that text that @rec's own file had: it is the right kernel at its place, which @rec then tells. */
void own_kernel_name_by(const char *text, size_t len, struct recording *rec);

#endif
