/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pthread_tid.h - the kernel's number of a thread, of which an interpreter knows only the pthread_t.
 */
#ifndef MANAGED_PTHREAD_TID_H
#define MANAGED_PTHREAD_TID_H

#include "record/managed/managed_view.h"

#include <stdint.h>

/*
 * Where in the structure behind @pthread the C library keeps the number, if that is @tid; 0 if it is nowhere. The offset is
 * the same for all threads of a process.
 */
uint16_t pthread_tid_find(struct managed_view *view, uint64_t pthread, uint32_t tid);

#endif
