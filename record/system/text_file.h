/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_file.h - small text files of /proc, sysfs and tracefs, read whole.
 */
#ifndef RECORD_TEXT_FILE_H
#define RECORD_TEXT_FILE_H

#include "formats/base/arena.h"
#include "formats/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* A longer file is an error. */
#define TEXT_FILE_MAX (1u << 20)

/*
 * The content of the file at @path without blanks and line feeds at its end.
 * ERR_SYSTEM: it cannot be read.  ERR_UNSUPPORTED: it is longer than TEXT_FILE_MAX bytes.
 */
MUST_USE struct err *text_file_read(const char *path, struct arena *arena, const char **ret);

/* The whole number that the file at @path consists of; false if it does not. "-1" is no whole number. */
bool text_file_u64(const char *path, uint64_t *ret);

/* The value of the line "KEY:value" in the file at @path, blanks before it skipped; NULL if there is none. */
const char *text_file_field(const char *path, const char *key, struct arena *arena);

#endif
