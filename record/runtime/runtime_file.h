/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_file.h - reads facts from a runtime's file. The file may be another user's and block: a foreign_reader reads it, and its answers are
 * untrusted.
 */
#ifndef RUNTIME_FILE_H
#define RUNTIME_FILE_H

#include "record/managed/managed_binary.h"
#include "record/runtime/hotspot_layout.h"
#include "record/runtime/v8_layout.h"

/*
 * The tables of the virtual machine at @place, whose variables have these addresses. False if they are not complete, or nothing answers;
 * ret->jdk is set as hotspot_layout_read() does, and 0 if nothing answers.
 */
bool runtime_file_hotspot(struct foreign_reader *reader, const struct managed_place *place,
			  const uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], const uint64_t types[HOTSPOT_TYPE_SYMBOLS],
			  struct hotspot_layout *ret);

/* What the program at @place says of V8, and whether that is usable. False if nothing answers. */
bool runtime_file_v8(struct foreign_reader *reader, const struct managed_place *place, struct v8_layout *ret, bool *ret_usable);

/* What runtimes have in a file that is mapped: distances behind the start of that mapping, 0: it has no such thing. */
struct runtime_variables {
	uint64_t jit_descriptor; /* of GDB's JIT interface (gdb_jit.h) */
	uint64_t dac_table;	 /* of .NET's runtime (dotnet.h), */
	unsigned dotnet_major, dotnet_minor; /* whose version this is; 0: not known */
};

/* Of the file at @place. False if nothing answers. */
bool runtime_file_variables(struct foreign_reader *reader, const struct managed_place *place, struct runtime_variables *ret);

#define RUNTIME_FILE_BYTES 12288 /* at most, with one question */

/* Copy @len bytes or fewer that the file at @place has for memory at @addr, and say how many. */
size_t runtime_file_bytes(struct foreign_reader *reader, const struct managed_place *place, uint64_t addr, void *ret, size_t len);

#endif
