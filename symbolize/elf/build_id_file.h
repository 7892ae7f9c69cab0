/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_id_file.h - the build ID of an open file, for a recorder: read(2) of the program headers and the notes, no more
 * than 64 KiB of them, nothing mapped.
 */
#ifndef ELF_BUILD_ID_FILE_H
#define ELF_BUILD_ID_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_FILE_NOTES_MAX (64U << 10)

/* False if @fd is no ELF file of this machine's byte order, has no build ID, or none in the first notes. */
bool build_id_file_read(int fd, uint8_t ret_id[20], uint8_t *ret_len);

#endif
