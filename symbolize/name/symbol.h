/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol.h - what a symbolizer answers with, and how it is asked to.
 */
#ifndef SYMBOLIZE_SYMBOL_H
#define SYMBOLIZE_SYMBOL_H

#include "symbolize/name/demangle.h"

#include <stdbool.h>
#include <stdint.h>

struct symbolizer_options {
	bool no_inline; /* symbols only: no lines, no inlined calls, no debug information read */
	enum demangle_how demangle;
	const char *cache; /* folder for answers of debug information, NULL for none; see line_cache.h */
};

/* One function at an address. */
struct symbol_frame {
	const char *function;     /* demangled; NULL if not known */
	const char *linkage_name; /* as in the file; NULL if not known */
	uint64_t function_vaddr;  /* where the (outermost) function starts, also if it has no name; 0 if not known */
	uint64_t function_len;    /* 0 if not known */
	const char *file;         /* source path as the compiler saw it; NULL if not known */
	uint32_t line;            /* 0 if not known */
	uint32_t column;          /* 0 if not known */
	const char *function_file; /* where the function is declared; NULL if not known */
	uint32_t function_line;	   /* 0 if not known */
	bool inlined;             /* into the next frame */
};

#endif
