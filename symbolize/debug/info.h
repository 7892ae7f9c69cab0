/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.h - the debug information of one file: an address to source position and inlined calls.
 *
 * DWARF 2 to 5; split (.dwo, .dwp) and supplementary (dwz) files are found by themselves. What a unit
 * knows is read when the first address in it is asked for. Hostile input costs time and memory in
 * proportion to the file. Not thread-safe.
 *
 * It is our own reader, since libdw's dwarf_getscopes() walks a unit again for each address. See
 * Documentation/symbols.md.
 */
#ifndef DEBUG_INFO_H
#define DEBUG_INFO_H

#include "symbolize/elf/image.h"

struct debug_info;

#define DEBUG_INFO_FRAMES_MAX 128

/* One function at an address. Strings are valid until debug_info_free(). */
struct debug_frame {
	const char *linkage_name; /* NULL if it has none */
	const char *name;         /* as in the source, without its scope; NULL if not known */
	const char *file;         /* where it executes; NULL if not known */
	uint32_t line, column;    /* 0 if not known */
	const char *decl_file;    /* where it is declared; NULL if not known */
	uint32_t decl_line;       /* 0 if not known */
};

static inline const char *debug_frame_linkage(const struct debug_frame *frame)
{
	return frame->linkage_name ? frame->linkage_name : frame->name;
}

/* NULL if @img has no debug information. @img must outlive the result. */
struct debug_info *debug_info_new(struct image *img);
void debug_info_free(struct debug_info *info);

/*
 * The functions at link-time address @vaddr, innermost inlined call first. Returns how many were written to @ret, 0
 * if nothing is known. The function itself comes last; its names are NULL if only the line is known.
 */
size_t debug_info_find(struct debug_info *info, uint64_t vaddr,
		       struct debug_frame ret[DEBUG_INFO_FRAMES_MAX]);

/*
 * The first address above @vaddr at which debug_info_find() may say something else; UINT64_MAX if none is.
 */
uint64_t debug_info_next(struct debug_info *info, uint64_t vaddr);

/* The source position alone. */
bool debug_info_line(struct debug_info *info, uint64_t vaddr, const char **ret_file,
		     uint32_t *ret_line);

/* A split file or supplementary file that was needed and not found: its name; NULL if there was none. */
const char *debug_info_missing(const struct debug_info *info);

#endif
