/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_kernel.h - names for the kernel addresses of a recording that brings none, from the kernel that runs here.
 *
 * They serve only if it is the same kernel, by build ID. After a restart that one may lie elsewhere (KASLR), and its modules
 * anywhere: then what belongs to the kernel itself is moved, and modules stay unnamed.
 */
#ifndef SYMBOLIZE_OWN_KERNEL_H
#define SYMBOLIZE_OWN_KERNEL_H

#include "formats/recording.h"

/* Fill rec->ksyms, or say in rec->ksyms_remedy why not; unless no event of @rec could see the kernel. */
void own_kernel_name(struct recording *rec);

#endif
