/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8_layout.c - the constants are those that V8's build generates for postmortem debuggers
 * (tools/gen-postmortem-metadata.py); the rest was read in the headers of each version and held against running programs.
 */
#include "record/runtime/v8_layout.h"

#include "formats/base/compiler.h"
#include "symbolize/elf/image.h"

#include <string.h>

#define NUMBER_MAX 4096

/* "v8dbg_" and these begin the names; those of fields go on with a type, which changes. */
static const struct {
	const char *name;
	int unless; /* what holds where there is none; -1: there must be one */
} constants[V8_NUMBERS] = {
	[V8_MAP_TYPE] = { "class_Map__instance_type__", -1 },
	[V8_FUNCTION_SHARED] = { "class_JSFunction__shared__", -1 },
	[V8_SHARED_DATA] = { "class_SharedFunctionInfo__function_data__", 8 },
	[V8_SHARED_NAME] = { "class_SharedFunctionInfo__name_or_scope_info__", -1 },
	[V8_SHARED_SCRIPT] = { "class_SharedFunctionInfo__script_", -1 },
	[V8_BYTECODE_DATA] = { "class_BytecodeArray__data__", -1 },
	[V8_SCRIPT_SOURCE] = { "class_Script__source__", -1 },
	[V8_SCRIPT_NAME] = { "class_Script__name__", -1 },
	[V8_SCRIPT_LINE_ENDS] = { "class_Script__line_ends__", -1 },
	[V8_STRING_LENGTH] = { "class_String__length__", -1 },
	[V8_SCOPE_NCONTEXT] = { "scopeinfo_idx_ncontextlocals", -1 },
	[V8_SCOPE_FIRST] = { "scopeinfo_idx_first_vars", -1 },
	[V8_DEOPT_INLINED] = { "DeoptimizationDataInlinedFunctionCountIndex", 1 },
	[V8_DEOPT_LITERALS] = { "DeoptimizationDataLiteralArrayIndex", 2 },
	[V8_DEOPT_SHARED] = { "DeoptimizationData*SharedFunctionInfoIndex", 6 },
	[V8_DEOPT_POSITIONS] = { "DeoptimizationDataInliningPositionsIndex", 7 },
	[V8_TYPE_MAP] = { "type_Map__MAP_TYPE", -1 },
	[V8_TYPE_CODE] = { "type_Code__CODE_TYPE", -1 },
	[V8_TYPE_STREAM] = { "type_InstructionStream__INSTRUCTION_STREAM_TYPE", 0 },
	[V8_TYPE_SHARED] = { "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE", -1 },
	[V8_TYPE_BYTECODE] = { "type_BytecodeArray__BYTECODE_ARRAY_TYPE", -1 },
	[V8_TYPE_SCRIPT] = { "type_Script__SCRIPT_TYPE", -1 },
	[V8_TYPE_SCOPE] = { "type_ScopeInfo__SCOPE_INFO_TYPE", -1 },
	[V8_TYPE_INTERPRETER_DATA] = { "type_InterpreterData__INTERPRETER_DATA_TYPE", -1 },
	[V8_TYPE_FIXED_ARRAY] = { "type_FixedArray__FIXED_ARRAY_TYPE", -1 },
	[V8_KIND_BASELINE] = { "CodeKindBaseline", -1 },
};

/* Those that were tried; those in between are unknown. */
static const struct v8_version versions[] = {
	{ 10, 2, 16, 24, 0, 128, 48, 40, 32, 0, false, 0, 16, 616 }, /* Node.js 18 */
	{ 11, 3, 16, 24, 40, 0, 48, 56, 32, 0, false, 0, 16, 576 },  /* 20 */
	{ 12, 4, 8, 16, 40, 0, 48, 52, 24, 0, false, 8, 24, 432 },   /* 22 */
	{ 13, 6, 8, 16, 40, 0, 52, 56, 24, 0, true, 8, 64, 568 },    /* 24 */
	{ 14, 6, 8, 16, 40, 0, 52, 56, 24, 1, true, 8, 64, 576 },    /* 26 */
};

#define VERSION_MAJOR "_ZN2v88internal7Version6major_E"
#define VERSION_MINOR "_ZN2v88internal7Version6minor_E"

static const char *const no_symbols[] = { NULL };
static const char *const no_loops[] = { NULL };

static bool is_v8(const char *name)
{
	static const char *const names[] = { "node", "nodejs", "d8", "electron", "chrome", "chromium" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return strncmp(name, "libnode.so", strlen("libnode.so")) == 0 || strncmp(name, "libv8.so", strlen("libv8.so")) == 0;
}

const struct managed_runtime v8_in_file = { .symbols = no_symbols, .loops = no_loops, .is_file = is_v8 };

/* Does @name begin as @pattern does, or have what stands around its asterisk at both ends? */
static bool is_constant(const char *name, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t head = star ? (size_t)(star - pattern) : strlen(pattern);
	size_t tail = star ? strlen(star + 1) : 0, len = strlen(name);

	return strncmp(name, pattern, head) == 0 && (!star || (len >= head + tail && strcmp(name + len - tail, star + 1) == 0));
}

struct reading {
	struct image *image;
	struct v8_layout *layout;
};

/* Copy what the file has at link-time address @vaddr, up to @len bytes; how many. */
static size_t copy(const struct reading *r, uint64_t vaddr, void *ret, size_t len)
{
	size_t held = 0;
	const uint8_t *bytes = image_bytes_at(r->image, vaddr, &held);

	held = bytes ? MIN(held, len) : 0;
	if (held)
		memcpy(ret, bytes, held);
	return held;
}

/* What has no bytes in the file is 0. */
static void take_constant(const struct reading *r, const char *name, uint64_t vaddr)
{
	for (size_t i = 0; i < V8_NUMBERS; i++) {
		int32_t value = 0;

		if (r->layout->has[i] || !is_constant(name, constants[i].name))
			continue;
		copy(r, vaddr, &value, sizeof(value));
		if (value >= 0 && value < NUMBER_MAX) {
			r->layout->at[i] = (uint16_t)value;
			r->layout->has[i] = true;
		}
		return;
	}
}

static void take_sizes(const struct reading *r, uint64_t vaddr, uint64_t len)
{
	if (len % 3 || len > sizeof(r->layout->sizes))
		return;
	if (copy(r, vaddr, r->layout->sizes, (size_t)len) == len)
		r->layout->nbytecodes = (size_t)len / 3;
}

static void take_symbol(void *context, const char *name, uint64_t vaddr, uint64_t len)
{
	const struct reading *r = context;

	if (strcmp(name, VERSION_MAJOR) == 0)
		copy(r, vaddr, &r->layout->major, sizeof(r->layout->major));
	else if (strcmp(name, VERSION_MINOR) == 0)
		copy(r, vaddr, &r->layout->minor, sizeof(r->layout->minor));
	else if (strncmp(name, "v8dbg_", strlen("v8dbg_")) == 0)
		take_constant(r, name + strlen("v8dbg_"), vaddr);
	else if (strcmp(name, "Builtins_InterpreterEntryTrampoline") == 0) {
		r->layout->entry = vaddr;
		r->layout->entry_len = len;
	} else if (strstr(name, "Bytecodes14kBytecodeSizesE"))
		take_sizes(r, vaddr, len);
}

static bool is_complete(struct v8_layout *l)
{
	for (size_t i = 0; i < V8_NUMBERS; i++) {
		if (!l->has[i] && constants[i].unless < 0)
			return false;
		if (!l->has[i])
			l->at[i] = (uint16_t)constants[i].unless;
	}
	if (!l->at[V8_TYPE_STREAM]) /* instructions are in the code object itself */
		l->at[V8_TYPE_STREAM] = l->at[V8_TYPE_CODE];
	return true;
}

bool v8_layout_read(struct image *image, struct v8_layout *ret)
{
	static const char *const prefixes[] = { "v8dbg_", "Builtins_InterpreterEntry",
						"_ZN2v88internal7Version6m",
						"_ZN2v88internal11interpreter9Bytecodes", NULL };
	struct reading r = { image, ret };

	memset(ret, 0, sizeof(*ret));
	managed_image_symbols(image, prefixes, take_symbol, &r);
	return is_complete(ret) && v8_layout_check(ret);
}

bool v8_layout_check(struct v8_layout *layout)
{
	layout->version = NULL;
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		if (versions[i].major == layout->major && versions[i].minor == layout->minor)
			layout->version = &versions[i];
	}
	for (size_t i = 0; i < V8_NUMBERS; i++) {
		if (layout->at[i] >= NUMBER_MAX)
			return false;
	}
	return layout->version && layout->nbytecodes <= V8_BYTECODES_MAX;
}

bool v8_layout_is_newer(const struct v8_layout *layout)
{
	const struct v8_version *newest = &versions[ARRAY_LEN(versions) - 1];

	return layout->major > newest->major || (layout->major == newest->major && layout->minor > newest->minor);
}
