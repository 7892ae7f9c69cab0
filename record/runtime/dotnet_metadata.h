/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dotnet_metadata.h - names of methods in one .NET assembly, read where a process has it in memory: as its file is, or laid out as its
 * header says (ECMA-335, partition II, chapters 22 to 25).
 *
 *	PE header ─► CLI header ─► metadata ─► "#~": tables TypeDef, MethodDef, NestedClass
 *	                              └──────► "#Strings"
 *
 * All of it is untrusted: offsets are checked, chains of classes are followed for a limited number of steps.
 */
#ifndef RUNTIME_DOTNET_METADATA_H
#define RUNTIME_DOTNET_METADATA_H

#include "record/managed/managed_view.h"

#define DOTNET_NAME_MAX 1024 /* of a method with its class, and a NUL */

/* A PE file in memory: as it lies on disk, or each section where it is to be. */
struct dotnet_pe {
	uint64_t base, sections; /* addresses */
	uint32_t len;
	uint16_t machine, nsections;
	bool is_laid_out;
	uint32_t cli; /* relative address of the CLI header */
};

struct dotnet_pe_section {
	uint32_t vaddr, offset, len; /* relative to the base; in the file */
};

/* The file of @len bytes at @base, as it lies on disk. False if it is no PE file with a CLI header. */
bool dotnet_pe_open(struct managed_view *view, uint64_t base, uint32_t len, struct dotnet_pe *ret);

struct dotnet_pe_section dotnet_pe_section_at(struct managed_view *view, const struct dotnet_pe *pe, uint16_t index);

/* Where @need bytes at relative address @at are; 0: nowhere. */
uint64_t dotnet_pe_addr(struct managed_view *view, const struct dotnet_pe *pe, uint32_t at, uint32_t need);

/* A table in memory; rows count from 1. */
struct dotnet_table {
	uint64_t addr;
	uint32_t rows, row_len;
};

struct dotnet_metadata {
	uint64_t base; /* of the assembly in the process */
	uint32_t len;
	struct dotnet_table types, methods, nested;
	uint64_t strings;
	uint32_t strings_len;
	uint8_t string_len;			 /* of an index into them: 2 or 4 */
	uint8_t type_methods, type_methods_len;	 /* where a row of @types has its first method, and the length of such a number */
	uint8_t nested_len;			 /* of each of the two numbers in a row of @nested */
};

/* The assembly of @len bytes at @base. False if it is none, or cannot be read. */
bool dotnet_metadata_open(struct managed_view *view, uint64_t base, uint32_t len, struct dotnet_metadata *ret);

/*
 * The name of row @method of the methods, "Namespace.Outer+Class.Method". False if it cannot be read, or the method is not one of row
 * @type of the types.
 */
bool dotnet_metadata_name(struct managed_view *view, const struct dotnet_metadata *m, uint32_t type, uint32_t method,
			  char ret[DOTNET_NAME_MAX]);

/* The row of the type that has row @method of the methods; 0 if there is none. */
uint32_t dotnet_metadata_type(struct managed_view *view, const struct dotnet_metadata *m, uint32_t method);

/* The text at @addr, in front of @end, up to @room - 1 bytes; false if there is none. What is no character becomes '?'. */
bool dotnet_metadata_text(struct managed_view *view, uint64_t addr, uint64_t end, char *ret, size_t room);

#endif
