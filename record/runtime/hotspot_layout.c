/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_layout.c - two arrays of entries, each up to one whose name is NULL:
 *
 *	gHotSpotVMStructs   type, field, type of the field, static?, offset, address
 *	gHotSpotVMTypes     name, superclass, ..., size
 *
 * Further variables give the size of an entry and the offsets of its members. Names of fields have changed with versions: each
 * has all that are known.
 */
#include "record/runtime/hotspot_layout.h"

#include "formats/base/compiler.h"

#include <string.h>

#define ENTRIES_MAX 8192 /* JDK 25 has 2,000 */
#define STRIDE_MAX  128
#define NAME_MAX_LEN 80 /* of those that are looked for, with their NUL */
#define OFFSET_MAX  4096
#define NAMES	    3

const char *const hotspot_structs_symbols[HOTSPOT_STRUCT_SYMBOLS + 1] = {
	[HOTSPOT_STRUCTS] = "gHotSpotVMStructs",
	[HOTSPOT_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[HOTSPOT_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[HOTSPOT_STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[HOTSPOT_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[HOTSPOT_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[HOTSPOT_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
};

const char *const hotspot_types_symbols[HOTSPOT_TYPE_SYMBOLS + 1] = {
	[HOTSPOT_TYPES] = "gHotSpotVMTypes",
	[HOTSPOT_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[HOTSPOT_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[HOTSPOT_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

struct field_name {
	const char *type, *field;
};

static const struct field_name field_names[HOTSPOT_FIELDS][NAMES] = {
	[CACHE_HEAPS] = { { "CodeCache", "_heaps" } },
	[ARRAY_LEN_FIELD] = { { "GrowableArrayBase", "_len" }, { "GenericGrowableArray", "_len" } },
	[ARRAY_DATA] = { { "GrowableArray<int>", "_data" } },
	[HEAP_MEMORY] = { { "CodeHeap", "_memory" } },
	[HEAP_SEGMAP] = { { "CodeHeap", "_segmap" } },
	[HEAP_LOG2_SEGMENT] = { { "CodeHeap", "_log2_segment_size" } },
	[SPACE_LOW] = { { "VirtualSpace", "_low_boundary" } },
	[SPACE_HIGH] = { { "VirtualSpace", "_high_boundary" } },
	[BLOCK_LEN] = { { "HeapBlock::Header", "_length" } },
	[BLOCK_USED] = { { "HeapBlock::Header", "_used" } },
	[BLOB_NAME] = { { "CodeBlob", "_name" } },
	[BLOB_SIZE] = { { "CodeBlob", "_size" } },
	[BLOB_FRAME_SIZE] = { { "CodeBlob", "_frame_size" } },
	[BLOB_CODE_BEGIN] = { { "CodeBlob", "_code_begin" } },
	[BLOB_CODE_END] = { { "CodeBlob", "_code_end" } },
	[BLOB_CODE_OFFSET] = { { "CodeBlob", "_code_offset" } },
	[BLOB_DATA_OFFSET] = { { "CodeBlob", "_data_offset" } },
	[BLOB_RELOCATION_SIZE] = { { "CodeBlob", "_relocation_size" } },
	[BLOB_MUTABLE_DATA] = { { "CodeBlob", "_mutable_data" } },
	[BLOB_MUTABLE_DATA_SIZE] = { { "CodeBlob", "_mutable_data_size" } },
	[NMETHOD_METHOD] = { { "nmethod", "_method" }, { "CompiledMethod", "_method" } },
	[NMETHOD_COMPILE_ID] = { { "nmethod", "_compile_id" } },
	[NMETHOD_METADATA] = { { "nmethod", "_metadata_offset" } },
	[NMETHOD_SCOPES_DATA_BEGIN] = { { "CompiledMethod", "_scopes_data_begin" } },
	[NMETHOD_SCOPES_PCS] = { { "nmethod", "_scopes_pcs_offset" } },
	[NMETHOD_DEPENDENCIES] = { { "nmethod", "_dependencies_offset" } },
	[NMETHOD_SCOPES_DATA] = { { "nmethod", "_scopes_data_offset" } },
	[NMETHOD_IMMUTABLE_DATA] = { { "nmethod", "_immutable_data" } },
	[NMETHOD_IMMUTABLE_DATA_SIZE] = { { "nmethod", "_immutable_data_size" } },
	[METHOD_CONST] = { { "Method", "_constMethod" } },
	[CONST_CONSTANTS] = { { "ConstMethod", "_constants" } },
	[CONST_FLAGS] = { { "ConstMethod", "_flags" }, { "ConstMethod", "_flags._flags" } },
	[CONST_CODE_SIZE] = { { "ConstMethod", "_code_size" } },
	[CONST_NAME] = { { "ConstMethod", "_name_index" } },
	[CONST_SIZE] = { { "ConstMethod", "_constMethod_size" } },
	[POOL_HOLDER] = { { "ConstantPool", "_pool_holder" } },
	[POOL_SOURCE] = { { "ConstantPool", "_source_file_name_index" } },
	[POOL_LENGTH] = { { "ConstantPool", "_length" } },
	[KLASS_SOURCE] = { { "InstanceKlass", "_source_file_name_index" } },
	[KLASS_NAME] = { { "Klass", "_name" } },
	[KLASS_LOADER] = { { "Klass", "_class_loader_data" } },
	[LOADERS_HEAD] = { { "ClassLoaderDataGraph", "_head" } },
	[LOADER_NEXT] = { { "ClassLoaderData", "_next" } },
	[SYMBOL_LENGTH] = { { "Symbol", "_length" } },
	[SYMBOL_BODY] = { { "Symbol", "_body" } },
	[VERSION_MAJOR] = { { "Abstract_VM_Version", "_vm_major_version" } },
	[OBJECTS_HEAP] = { { "Universe", "_collectedHeap" } },
	[HEAP_COLLECTIONS] = { { "CollectedHeap", "_total_collections" } },
	[PERF_START] = { { "PerfMemory", "_start" } },
	[INTERPRETER_CODE] = { { "AbstractInterpreter", "_code" } },
	[QUEUE_BUFFER] = { { "StubQueue", "_stub_buffer" } },
	[QUEUE_LIMIT] = { { "StubQueue", "_buffer_limit" } },
	[THREADS_LIST] = { { "ThreadsSMRSupport", "_java_thread_list" } },
	[LIST_LEN] = { { "ThreadsList", "_length" } },
	[LIST_THREADS] = { { "ThreadsList", "_threads" } },
	[THREADS_FIRST] = { { "Threads", "_thread_list" } },
	[THREAD_NEXT] = { { "JavaThread", "_next" } },
	[THREAD_OBJECT] = { { "JavaThread", "_threadObj" } },
	[THREAD_SYSTEM] = { { "JavaThread", "_osthread" }, { "Thread", "_osthread" } },
	[SYSTEM_TID] = { { "OSThread", "_thread_id" } },
	[KLASS_SUPER] = { { "Klass", "_super" } },
	[CLASS_POOL] = { { "InstanceKlass", "_constants" } },
	[CLASS_FIELDS] = { { "InstanceKlass", "_fields" } },
	[CLASS_FIELDS_COUNT] = { { "InstanceKlass", "_java_fields_count" } },
	[CLASS_FIELDS_STREAM] = { { "InstanceKlass", "_fieldinfo_stream" } },
	[STRING_CLASS] = { { "vmClasses", "_klasses[static_cast<int>(vmClassID::String_klass_knum)]" },
			   { "SystemDictionary", "_well_known_klasses[SystemDictionary::String_klass_knum]" } },
	[THREAD_CLASS] = { { "vmClasses", "_klasses[static_cast<int>(vmClassID::Thread_klass_knum)]" },
			   { "SystemDictionary", "_well_known_klasses[SystemDictionary::Thread_klass_knum]" } },
	[POINTER_BASE] = { { "CompressedOops", "_base" }, { "CompressedOops", "_narrow_oop._base" }, { "Universe", "_narrow_oop._base" } },
	[POINTER_SHIFT] = { { "CompressedOops", "_shift" }, { "CompressedOops", "_narrow_oop._shift" }, { "Universe", "_narrow_oop._shift" } },
	[CLASS_BASE] = { { "CompressedKlassPointers", "_base" },
			 { "CompressedKlassPointers", "_narrow_klass._base" },
			 { "Universe", "_narrow_klass._base" } },
	[CLASS_SHIFT] = { { "CompressedKlassPointers", "_shift" },
			  { "CompressedKlassPointers", "_narrow_klass._shift" },
			  { "Universe", "_narrow_klass._shift" } },
	[Z_GLOBALS] = { { "ZGlobalsForVMStructs", "_instance_p" } },
	[Z_GOOD] = { { "ZGlobalsForVMStructs", "_ZPointerLoadGoodMask" } },
};

static const bool is_static[HOTSPOT_FIELDS] = { [CACHE_HEAPS] = true, [VERSION_MAJOR] = true, [PERF_START] = true,
					       [LOADERS_HEAD] = true, [OBJECTS_HEAP] = true, [INTERPRETER_CODE] = true,
					       [THREADS_LIST] = true, [THREADS_FIRST] = true, [STRING_CLASS] = true,
					       [THREAD_CLASS] = true, [POINTER_BASE] = true, [POINTER_SHIFT] = true,
					       [CLASS_BASE] = true, [CLASS_SHIFT] = true, [Z_GLOBALS] = true };

/* Fields that only some versions have; what is needed for names of threads only, from THREADS_LIST on, may all be missing. */
static const bool optional[HOTSPOT_FIELDS] = {
	[BLOB_CODE_BEGIN] = true,	     [BLOB_CODE_END] = true,
	[BLOB_CODE_OFFSET] = true,	     [BLOB_DATA_OFFSET] = true,
	[BLOB_RELOCATION_SIZE] = true,	     [BLOB_MUTABLE_DATA] = true,
	[BLOB_MUTABLE_DATA_SIZE] = true,     [NMETHOD_METADATA] = true,
	[NMETHOD_SCOPES_DATA_BEGIN] = true,  [NMETHOD_SCOPES_PCS] = true,
	[NMETHOD_DEPENDENCIES] = true,	     [NMETHOD_SCOPES_DATA] = true,
	[NMETHOD_IMMUTABLE_DATA] = true,     [NMETHOD_IMMUTABLE_DATA_SIZE] = true,
	[POOL_SOURCE] = true,		     [KLASS_SOURCE] = true,
	[PERF_START] = true,		     [KLASS_LOADER] = true,
	[LOADERS_HEAD] = true,		     [LOADER_NEXT] = true,
	[OBJECTS_HEAP] = true,		     [HEAP_COLLECTIONS] = true,
	[INTERPRETER_CODE] = true,	     [QUEUE_BUFFER] = true,
	[QUEUE_LIMIT] = true,
};

/* The string at @addr, as much of it as the names that are looked for have; "" if it cannot be read. */
static void read_name(struct managed_view *view, uint64_t addr, char ret[NAME_MAX_LEN])
{
	size_t page_left = MANAGED_PAGE_LEN - addr % MANAGED_PAGE_LEN;
	size_t len = MIN(page_left, (size_t)NAME_MAX_LEN);

	ret[0] = '\0';
	if (!managed_view_try(view, addr, ret, len)) {
		ret[0] = '\0';
		return;
	}
	if (len < NAME_MAX_LEN && !memchr(ret, '\0', len) &&
	    !managed_view_try(view, addr + len, ret + len, NAME_MAX_LEN - len))
		ret[0] = '\0';
	ret[NAME_MAX_LEN - 1] = '\0';
}

static void take_field(struct managed_view *view, uint64_t entry, const uint64_t *layout, const char *type,
		       const char *name, struct hotspot_layout *ret)
{
	for (size_t i = 0; i < HOTSPOT_FIELDS; i++) {
		for (size_t j = 0; j < NAMES && field_names[i][j].type; j++) {
			const struct field_name *known = &field_names[i][j];

			if (ret->has[i] || strcmp(known->field, name) != 0 || strcmp(known->type, type) != 0)
				continue;
			if ((managed_view_u32(view, entry + layout[HOTSPOT_STRUCT_STATIC]) != 0) != is_static[i])
				continue;
			ret->at[i] = managed_view_u64(view, entry + layout[is_static[i] ? HOTSPOT_STRUCT_ADDRESS :
										  HOTSPOT_STRUCT_OFFSET]);
			ret->has[i] = is_static[i] || ret->at[i] < OFFSET_MAX;
		}
	}
}

/* The variables themselves; false if one of them cannot be. */
static bool read_variables(struct managed_view *view, const uint64_t *symbols, size_t count, uint64_t *ret)
{
	for (size_t i = 0; i < count; i++) {
		ret[i] = managed_view_u64(view, symbols[i]);
		if (i && ret[i] >= STRIDE_MAX)
			return false;
	}
	return !view->failed && ret[0] && ret[count - 1]; /* the array, and its stride */
}

static bool read_structs(struct managed_view *view, const uint64_t *symbols, struct hotspot_layout *ret)
{
	uint64_t layout[HOTSPOT_STRUCT_SYMBOLS];
	char type[NAME_MAX_LEN], field[NAME_MAX_LEN];

	if (!read_variables(view, symbols, HOTSPOT_STRUCT_SYMBOLS, layout))
		return false;
	for (size_t i = 0; i < ENTRIES_MAX && !view->failed; i++) {
		uint64_t entry = layout[HOTSPOT_STRUCTS] + i * layout[HOTSPOT_STRUCT_STRIDE];
		uint64_t name = managed_view_u64(view, entry + layout[HOTSPOT_STRUCT_TYPE]);

		if (!name)
			return !view->failed;
		read_name(view, name, type);
		read_name(view, managed_view_u64(view, entry + layout[HOTSPOT_STRUCT_FIELD]), field);
		take_field(view, entry, layout, type, field, ret);
	}
	return false;
}

static bool read_types(struct managed_view *view, const uint64_t *symbols, struct hotspot_layout *ret)
{
	struct {
		const char *name;
		uint64_t *size;
	} const wanted[] = {
		{ "HeapBlock", &ret->block_size },
		{ "ConstMethod", &ret->const_method_size },
		{ "ConstantPool", &ret->pool_size },
		{ "PcDesc", &ret->pc_desc_size },
	};
	uint64_t layout[HOTSPOT_TYPE_SYMBOLS];
	char text[NAME_MAX_LEN];

	if (!read_variables(view, symbols, HOTSPOT_TYPE_SYMBOLS, layout))
		return false;
	for (size_t i = 0; i < ENTRIES_MAX && !view->failed; i++) {
		uint64_t entry = layout[HOTSPOT_TYPES] + i * layout[HOTSPOT_TYPE_STRIDE];
		uint64_t name = managed_view_u64(view, entry + layout[HOTSPOT_TYPE_NAME]);

		if (!name)
			return !view->failed;
		read_name(view, name, text);
		for (size_t j = 0; j < ARRAY_LEN(wanted); j++) {
			if (strcmp(text, wanted[j].name) == 0)
				*wanted[j].size = managed_view_u64(view, entry + layout[HOTSPOT_TYPE_SIZE]);
		}
	}
	return false;
}

static bool is_complete(const struct hotspot_layout *l)
{
	for (size_t i = 0; i < HOTSPOT_FIELDS; i++) {
		if (!l->has[i] && !optional[i] && i < THREADS_LIST)
			return false;
	}
	return (l->has[BLOB_CODE_BEGIN] && l->has[BLOB_CODE_END]) ||
	       (l->has[BLOB_CODE_OFFSET] && l->has[BLOB_DATA_OFFSET]);
}

static bool has_sizes(const struct hotspot_layout *l)
{
	const uint64_t sizes[] = { l->block_size, l->const_method_size, l->pool_size, l->pc_desc_size };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		if (!sizes[i] || sizes[i] > OFFSET_MAX)
			return false;
	}
	return l->pc_desc_size >= 8;
}

bool hotspot_layout_read(struct managed_view *view, const uint64_t structs[HOTSPOT_STRUCT_SYMBOLS],
			 const uint64_t types[HOTSPOT_TYPE_SYMBOLS], struct hotspot_layout *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!read_structs(view, structs, ret))
		return false;
	if (ret->has[VERSION_MAJOR])
		ret->jdk = managed_view_u32(view, ret->at[VERSION_MAJOR]);
	return read_types(view, types, ret) && !view->failed && is_complete(ret) && has_sizes(ret) &&
	       ret->jdk >= HOTSPOT_JDK_MIN && ret->jdk <= HOTSPOT_JDK_MAX;
}
