/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_jitdump.c - a dump of a JIT's code: every record lies in the file and consumes some of it, every function has as much
 * code as it says, every line lies in its code.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/name/jit_map.h"

#include <string.h>

/* Bytes of memory are found by the address of each, and can be read. */
static void check_bytes(const struct jit_map *map, const struct jitdump_record *rec)
{
	size_t left = 0;
	const uint8_t *bytes = jit_map_bytes(map, rec->ip + rec->len - 1, &left);
	volatile uint8_t last = 0;

	CHECK(!bytes || left);
	if (bytes)
		last = bytes[left - 1];
	(void)last;
}

static void check_records(const struct jit_map *map, const uint8_t *data, size_t len)
{
	struct jitdump dump;
	struct jitdump_record rec;
	struct err *err = jitdump_open(&dump, data, len);

	if (err) {
		err_free(err);
		return;
	}
	const uint8_t *pos = data + dump.header_len;

	while (jitdump_next(&dump, &rec)) {
		CHECK(rec.bytes == pos && rec.bytes_len >= 16);
		pos += rec.bytes_len;
		CHECK(pos <= data + len);
		if (rec.kind == JITDUMP_LOAD && rec.len)
			CHECK(rec.code > rec.bytes && rec.code + rec.len <= pos);
		if (rec.kind == JITDUMP_BYTES && rec.len)
			check_bytes(map, &rec);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jit_map *map = jit_map_new_dumped("", 0, data, len);
	size_t count;
	const struct jit_symbol *symbols = jit_map_symbols(map, &count);

	check_records(map, data, len);
	jit_map_free(jit_map_new_timed("", 0, data, len));
	for (size_t i = 0; i < count && i < 1000; i++) {
		const char *file = NULL;
		uint32_t line;
		uint8_t sum = 0;

		CHECK(symbols[i].len && symbols[i].name[0]);
		CHECK(jit_map_find(map, symbols[i].start));
		for (uint64_t at = 0; symbols[i].code && at < symbols[i].len; at++)
			sum ^= symbols[i].code[at];
		for (size_t j = 0; j < symbols[i].nlines; j++)
			CHECK(symbols[i].lines[j].offset <= symbols[i].len);
		if (jit_symbol_line(&symbols[i], symbols[i].start + sum % symbols[i].len, &file, &line))
			CHECK(line);
	}
	jit_map_free(map);
	return 0;
}
