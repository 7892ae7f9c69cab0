/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perf_map.c - the text of a /tmp/perf-PID.map: an address is named by the last line that holds it.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/name/jit_map.h"

/* The answer by looking at every line. */
static const struct jit_symbol *last_with(const struct jit_symbol *symbols, size_t count,
					  uint64_t ip)
{
	while (count--) {
		if (ip - symbols[count].start < symbols[count].len)
			return &symbols[count];
	}
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jit_map *map = jit_map_new((const char *)data, len);
	size_t count;
	const struct jit_symbol *symbols = jit_map_symbols(map, &count);

	CHECK(count <= len / 5); /* "1 1 x" */
	CHECK(count + jit_map_skipped(map) <= len);
	for (size_t i = 0; i < count && i < 200; i++) {
		uint64_t begin = symbols[i].start, end = begin + symbols[i].len;

		CHECK(begin < end && symbols[i].name[0]);
		CHECK(jit_map_find(map, begin) == last_with(symbols, count, begin));
		CHECK(jit_map_find(map, end) == last_with(symbols, count, end));
		CHECK(jit_map_find(map, end - 1) == last_with(symbols, count, end - 1));
		CHECK(jit_map_find(map, begin - 1) == last_with(symbols, count, begin - 1));
	}
	jit_map_free(map);
	return 0;
}
