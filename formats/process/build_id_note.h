/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_note.h - the build ID among the notes that the kernel shows of itself and of its modules (/sys/kernel/notes).
 */
#ifndef FORMATS_BUILD_ID_NOTE_H
#define FORMATS_BUILD_ID_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Find it in the @len bytes of notes, in this machine's byte order; false if there is none. */
bool build_id_note_find(const void *notes, size_t len, uint8_t ret_id[20], uint8_t *ret_len);

#endif
