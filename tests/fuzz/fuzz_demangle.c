/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_demangle.c - linkage names, a line each: what comes out is bounded, and the same when asked again.
 */
#include "tests/fuzz/fuzz.h"

#include "formats/base/arena.h"
#include "symbolize/name/demangle.h"

#include <string.h>

static void check_name(struct demangler *d, const char *name)
{
	const char *readable = demangler_name(d, name);

	CHECK(readable);
	CHECK(strcmp(readable, name) == 0 || strlen(readable) <= DEMANGLE_LEN_MAX + strlen("@plt"));
	CHECK(name[0] == '_' || strcmp(readable, name) == 0);
	CHECK(demangler_name(d, name) == readable);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct demangler *d = demangler_new(DEMANGLE_FULL);
	char *text = arena_memdup(&arena, data, len);
	char *rest = NULL;

	for (char *name = strtok_r(text, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest))
		check_name(d, name);
	demangler_free(d);
	return 0;
}
