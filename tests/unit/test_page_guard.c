/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/page_guard.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file without a name, with @len bytes of this program; -1 if there is no such thing. */
static int copy_of_self(size_t len)
{
	char path[] = "/tmp/page_guard.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = mkstemp(path);
	char block[4096];
	ssize_t got;

	if (to >= 0)
		unlink(path);
	while (len && (got = read(from, block, MIN(sizeof(block), len))) > 0) {
		CHECK_INT(write(to, block, (size_t)got), got);
		len -= (size_t)got;
	}
	close(from);
	return to;
}

TEST(pages_that_are_gone_read_as_zeros)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE);
	int fd = copy_of_self(3 * page_len);
	const volatile char *map = mmap(NULL, 3 * page_len, PROT_READ, MAP_SHARED, fd, 0);
	struct page_guard guard;

	CHECK(map != MAP_FAILED);
	CHECK_INT(map[1], 'E');
	CHECK_INT(ftruncate(fd, (off_t)page_len), 0);
	page_guard_begin(&guard);
	CHECK_UINT(page_guard_count(&guard), 0);
	CHECK_INT(map[2 * page_len], 0);
	CHECK_INT(map[page_len + 17], 0);
	CHECK_INT(map[1], 'E'); /* what is there is still there */
	CHECK_UINT(page_guard_count(&guard), 2);
	page_guard_end(&guard);
	munmap((void *)(uintptr_t)map, 3 * page_len);
	close(fd);
}

/* As a compiler does it that writes its output while it is recorded. */
TEST(a_binary_that_is_cut_short_while_it_is_embedded)
{
	int fd = copy_of_self(SIZE_MAX);
	int kept = dup(fd);
	struct bundle_address address = { .vaddr = 0x1000, .leaves = 1 };
	struct writer elf = { 0 };
	struct bundle_counts counts;
	struct page_guard guard;
	struct image *img;

	page_guard_begin(&guard);
	CHECK_OK(image_open_fd(fd, "self", &img));
	CHECK_INT(ftruncate(kept, 4096), 0);
	struct cfi_section *cfi = cfi_section_new(img);
	struct symtab *symbols = symtab_new(img);
	struct bundle_source source = {
		.image = img,
		.cfi = cfi,
		.symbols = symbols,
		.addresses = &address,
		.naddresses = 1,
	};

	bundle_write(&source, &elf, &counts);
	CHECK(page_guard_count(&guard) > 0);
	writer_deinit(&elf);
	symtab_free(symbols);
	cfi_section_free(cfi);
	image_close(img);
	page_guard_end(&guard);
	close(kept);
}
