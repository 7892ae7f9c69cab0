/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_package.c - packages of split debug information (.dwp): what a unit's share holds lies in the file.
 */
#include "tests/fuzz/fuzz.h"

#include "symbolize/debug/inlines.h"
#include "symbolize/debug/package.h"
#include "symbolize/debug/unit.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_share(struct debug_source *source, size_t len)
{
	uint64_t offsets[16];

	for (unsigned i = 0; i < DEBUG_SECTIONS; i++)
		CHECK(source->sections[i].len <= 64 * len + 65536); /* they may be compressed */
	debug_units_read(source);
	for (size_t i = 0; i < source->nunits && i < 8; i++) {
		struct inlines *inlines = inlines_new(&source->units[i]);

		for (uint64_t vaddr = 0; vaddr < 64; vaddr++)
			CHECK(inlines_find(inlines, vaddr, offsets, 16) <= source->units[i].end);
		inlines_free(inlines);
	}
}

/* Every 8 bytes of the beginning of the input may be the id of a unit. */
static void check_package(struct debug_package *package, const uint8_t *data, size_t len)
{
	for (size_t pos = 0; pos + 8 <= len; pos += 4) {
		struct debug_source source;
		uint64_t id;

		memcpy(&id, data + pos, sizeof(id));
		if (!debug_package_find(package, id, &source))
			continue;
		check_share(&source, len);
		debug_source_deinit(&source);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("package", MFD_CLOEXEC);
	char path[64];

	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct debug_package *package = debug_package_open(path);

	if (package)
		check_package(package, data, len);
	debug_package_close(package);
	close(fd);
	return 0;
}
