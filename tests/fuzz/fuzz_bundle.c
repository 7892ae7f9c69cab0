/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bundle.c - cutting an ELF file down: whatever the file says, the result is well-formed, knows the
 * addresses it was made for and holds the same code.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/elf/bundle.h"
#include "symbolize/elf/bundle_calls.h"

#include <stdbool.h>
#include <string.h>

#define NADDRESSES 16

/* Some addresses of each segment, ascending. */
static size_t pick(const struct image *img, struct bundle_address ret[NADDRESSES])
{
	size_t nsegments, count = 0;
	const struct image_segment *segments = image_segments(img, &nsegments);
	uint64_t last = 0;

	for (size_t i = 0; i < nsegments; i++) {
		for (uint64_t at = 1; at < segments[i].memory_len && at < 1ULL << 32;
		     at = at * 5 + 1) {
			uint64_t vaddr = segments[i].vaddr + at;

			if (vaddr <= last || count == NADDRESSES)
				continue;
			last = vaddr;
			ret[count] = (struct bundle_address){ vaddr, count % 3 };
			count++;
		}
	}
	return count;
}

/* Where segments overlap, an address has more than one meaning. */
static bool are_apart(const struct image *img)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (segments[i].vaddr - segments[j].vaddr < segments[j].memory_len ||
			    segments[j].vaddr - segments[i].vaddr < segments[i].memory_len)
				return false;
		}
	}
	return true;
}

static void check_code(struct image *whole, struct image *part, uint64_t vaddr)
{
	size_t whole_len, part_len;
	const uint8_t *a = image_bytes_at(whole, vaddr, &whole_len);
	const uint8_t *b = image_bytes_at(part, vaddr, &part_len);

	if (a && b && are_apart(whole))
		CHECK(a[0] == b[0]);
}

/* Nothing is wrong with the form of the rules; what was lost from the original is said. */
static void check_rules(const struct cfi_section *whole, const struct cfi_section *part)
{
	bool holes = whole && cfi_section_has_holes(whole);

	if (part)
		CHECK(cfi_section_has_holes(part) == holes);
	if (part && !holes)
		CHECK(!cfi_section_defect(part));
	CHECK(part || !holes);
}

static void check_bundle(const struct bundle_source *src, struct image *part)
{
	const struct bundle_address *addresses = src->addresses;
	struct image *whole = src->image;
	size_t count = src->naddresses;
	struct cfi_section *cfi = cfi_section_new(part);
	struct symtab *symbols = symtab_new(part);
	struct bundle_calls *calls = bundle_calls_new(part);
	size_t whole_len, part_len;
	const uint8_t *a = image_build_id(whole, &whole_len), *b = image_build_id(part, &part_len);

	CHECK(whole_len == part_len && memcmp(a, b, part_len) == 0);
	CHECK(calls);
	for (size_t i = 0; i < count; i++) {
		CHECK(addresses[i].vaddr >> 62 ||
		      bundle_calls_find(calls, addresses[i].vaddr, NULL) != BUNDLE_CALL_UNKNOWN);
		check_code(whole, part, addresses[i].vaddr);
	}
	check_rules(src->cfi, cfi);
	bundle_calls_free(calls);
	symtab_free(symbols);
	cfi_section_free(cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bundle_address addresses[NADDRESSES];
	struct image *whole, *part = NULL;
	struct bundle_counts counts;
	struct writer out = { 0 };
	struct err *err = image_open_memory(data, len, "fuzz", &whole);

	if (err) {
		err_free(err);
		return 0;
	}
	struct bundle_source src = {
		.image = whole,
		.cfi = cfi_section_new(whole),
		.symbols = symtab_new(whole),
		.addresses = addresses,
		.naddresses = pick(whole, addresses),
		.hot = 2,
		.everything = len % 2,
	};

	bundle_write(&src, &out, &counts);
	err = image_open_memory(out.data, out.len, "bundle", &part);
	CHECK(!err);
	check_bundle(&src, part);
	image_close(part);
	writer_deinit(&out);
	symtab_free((struct symtab *)(uintptr_t)src.symbols);
	cfi_section_free((struct cfi_section *)(uintptr_t)src.cfi);
	image_close(whole);
	return 0;
}
