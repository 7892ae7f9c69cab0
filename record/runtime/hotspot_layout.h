/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_layout.h - offsets of fields in one HotSpot virtual machine, from libjvm.so's tables for debuggers (gHotSpotVMStructs,
 * gHotSpotVMTypes).
 *
 * The tables are in the process's memory and untrusted. A layout holds only numbers that were checked to be small, and
 * addresses, which are read with bounds.
 */
#ifndef RUNTIME_HOTSPOT_LAYOUT_H
#define RUNTIME_HOTSPOT_LAYOUT_H

#include "record/managed/managed_view.h"

#include <stdbool.h>
#include <stdint.h>

#define HOTSPOT_JDK_MIN 9
#define HOTSPOT_JDK_MAX 26

/* Offsets of fields, in bytes; the static ones are addresses. */
enum hotspot_field {
	/* The code cache: heaps of segments of code blobs. */
	CACHE_HEAPS, /* static */
	ARRAY_LEN_FIELD,
	ARRAY_DATA,
	HEAP_MEMORY,
	HEAP_SEGMAP,
	HEAP_LOG2_SEGMENT,
	SPACE_LOW,
	SPACE_HIGH,
	BLOCK_LEN,
	BLOCK_USED,
	BLOB_NAME,
	BLOB_SIZE,
	BLOB_FRAME_SIZE,
	BLOB_CODE_BEGIN,  /* until 22 */
	BLOB_CODE_END,	  /* until 22 */
	BLOB_CODE_OFFSET, /* from 23 */
	BLOB_DATA_OFFSET,
	BLOB_RELOCATION_SIZE,	/* from 25 */
	BLOB_MUTABLE_DATA,	/* from 25 */
	BLOB_MUTABLE_DATA_SIZE, /* from 25 */
	/* Compiled methods. */
	NMETHOD_METHOD,
	NMETHOD_COMPILE_ID,
	NMETHOD_METADATA,	   /* until 22 */
	NMETHOD_SCOPES_DATA_BEGIN, /* until 22 */
	NMETHOD_SCOPES_PCS,
	NMETHOD_DEPENDENCIES,	     /* until 22: the end of what is above */
	NMETHOD_SCOPES_DATA,	     /* from 23 */
	NMETHOD_IMMUTABLE_DATA,	     /* from 23 */
	NMETHOD_IMMUTABLE_DATA_SIZE, /* from 23 */
	/* Methods. */
	METHOD_CONST,
	CONST_CONSTANTS,
	CONST_FLAGS,
	CONST_CODE_SIZE,
	CONST_NAME,
	CONST_SIZE, /* in words */
	POOL_HOLDER,
	POOL_SOURCE, /* from 15 */
	POOL_LENGTH,
	KLASS_NAME,
	KLASS_SOURCE, /* until 14 */
	KLASS_LOADER,
	LOADERS_HEAD, /* static: the list of class loaders */
	LOADER_NEXT,
	SYMBOL_LENGTH,
	SYMBOL_BODY,
	VERSION_MAJOR, /* static */
	OBJECTS_HEAP,  /* static: address of the heap of objects */
	HEAP_COLLECTIONS, /* how often there garbage was collected */
	PERF_START,    /* static: the block of counters for tools */
	INTERPRETER_CODE, /* static: the queue of the interpreter's pieces */
	QUEUE_BUFFER,
	QUEUE_LIMIT, /* of what is used */
	/* Threads, and how objects lie in the heap: for their names. */
	THREADS_LIST,	/* static: until 9 there is none, and all hang together, from THREADS_FIRST on */
	LIST_LEN,
	LIST_THREADS,
	THREADS_FIRST,	/* static */
	THREAD_NEXT,
	THREAD_OBJECT,	/* an object; from 16 on the address of a pointer to it */
	THREAD_SYSTEM,	/* what is known of the system's thread */
	SYSTEM_TID,
	KLASS_SUPER,
	CLASS_POOL,
	CLASS_FIELDS,	     /* until 20, an array of 16-bit numbers */
	CLASS_FIELDS_COUNT,  /* likewise */
	CLASS_FIELDS_STREAM, /* from 21 */
	STRING_CLASS,	     /* static */
	THREAD_CLASS,	     /* static */
	POINTER_BASE,	     /* static: of compressed pointers to objects */
	POINTER_SHIFT,	     /* static */
	CLASS_BASE,	     /* static: of compressed pointers to classes */
	CLASS_SHIFT,	     /* static */
	Z_GLOBALS,	     /* static */
	Z_GOOD,		     /* where ZGC's pointers have colours below their addresses: those that are good. From 21 on */
	HOTSPOT_FIELDS
};

struct hotspot_layout {
	unsigned jdk; /* 17, for example */
	uint64_t at[HOTSPOT_FIELDS];
	bool has[HOTSPOT_FIELDS];
	uint64_t block_size, const_method_size, pool_size, pc_desc_size; /* of types, in bytes */
};

/* Addresses of the variables of libjvm.so, in the process: see hotspot_structs_symbols and hotspot_types_symbols. */
enum { HOTSPOT_STRUCTS, HOTSPOT_STRUCT_TYPE, HOTSPOT_STRUCT_FIELD, HOTSPOT_STRUCT_STATIC, HOTSPOT_STRUCT_OFFSET,
       HOTSPOT_STRUCT_ADDRESS, HOTSPOT_STRUCT_STRIDE, HOTSPOT_STRUCT_SYMBOLS };
enum { HOTSPOT_TYPES, HOTSPOT_TYPE_NAME, HOTSPOT_TYPE_SIZE, HOTSPOT_TYPE_STRIDE, HOTSPOT_TYPE_SYMBOLS };

extern const char *const hotspot_structs_symbols[HOTSPOT_STRUCT_SYMBOLS + 1];
extern const char *const hotspot_types_symbols[HOTSPOT_TYPE_SYMBOLS + 1];

/*
 * Read the tables with @view, which bounds the time. False if they are incomplete or inconsistent. ret->jdk is set if it is
 * known, so that a too new version can be told from garbage.
 */
bool hotspot_layout_read(struct managed_view *view, const uint64_t structs[HOTSPOT_STRUCT_SYMBOLS],
			 const uint64_t types[HOTSPOT_TYPE_SYMBOLS], struct hotspot_layout *ret);

#endif
