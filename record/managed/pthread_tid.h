/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_tid.h - finds the kernel's thread number in a struct pthread, for interpreters that keep only the pthread_t.
 */
#ifndef MANAGED_PTHREAD_TID_H
#define MANAGED_PTHREAD_TID_H

#include "record/managed/managed_view.h"

#include <stdint.h>

/*
 * The offset of the number in the structure at @pthread, if it is @tid there; 0 if not found. The offset is the same for all
 * threads of a process.
 */
uint16_t pthread_tid_find(struct managed_view *view, uint64_t pthread, uint32_t tid);

#endif
