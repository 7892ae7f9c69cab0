/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_version.h - versions in the names of symbols: "memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14".
 */
#ifndef ELF_SYMBOL_VERSION_H
#define ELF_SYMBOL_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Is @name one that only old binaries link to? One "@" says so; "@plt" is none. */
bool symbol_version_is_hidden(const char *name);

/* Cut versions off all names in the @len bytes of a string table at once. Strings that share a tail share the cut. */
void symbol_versions_cut(char *names, size_t len);

#endif
