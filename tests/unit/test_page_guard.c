/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/page_guard.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* What the names of a file's sections are, put together. */
static uint64_t names_of(struct image *img)
{
	struct image_section strings;
	uint64_t sum = 0;

	if (!image_section(img, ".shstrtab", &strings))
		return 0;
	for (size_t i = 0; i < strings.len; i++)
		sum = sum * 31 + strings.data[i];
	return sum + image_has_section(img, ".text") + image_has_section(img, ".eh_frame");
}

/* Its owner writes to it meanwhile: no length, no place and no name of a section changes once it was checked. */
TEST(a_foreign_binary_stays_as_it_was_when_it_was_checked)
{
	int fd = copy_of_self(SIZE_MAX);
	struct image *img;
	struct image_section names;
	char noise[65536];
	uint64_t before;
	struct stat st;

	CHECK_OK(image_open_foreign(dup(fd), "foreign", &img));
	before = names_of(img);
	CHECK(before > 2);
	CHECK_INT(fstat(fd, &st), 0);
	memset(noise, 0xff, sizeof(noise));
	for (off_t at = 0; at < st.st_size; at += (off_t)sizeof(noise))
		CHECK(pwrite(fd, noise, sizeof(noise), at) > 0);
	CHECK_UINT(names_of(img), before);
	/* Names of symbols are many, and read once: they stay in the file. */
	CHECK(image_section(img, ".dynstr", &names));
	CHECK_UINT(names.data[1], 0xff);
	struct symtab *symbols = symtab_new(img);

	symtab_free(symbols);
	image_close(img);
	/* Seen again, it is no file of the kind. */
	struct err *err = image_open_foreign(fd, "foreign", &img);

	CHECK(err);
	err_free(err);
}

static void append_strings(struct elf_file *f, const char *data, size_t count)
{
	for (size_t i = 0; i < count; i++)
		elf_file_section(f, (struct elf_file_section){ .name = ".strtab", .type = SHT_STRTAB, .data = data, .len = 9000 });
	elf_file_finish(f);
}

/* Tables that overlap the headers, and each other, are copied once; their number is bounded. */
TEST(a_foreign_binary_may_lead_anywhere)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	char strings[9000] = "", path[] = "/tmp/foreign.XXXXXX";
	struct image *img;
	int fd = mkstemp(path);

	unlink(path);
	append_strings(&f, strings, 4);
	for (uint64_t at = 0; at < f.out.len; at += 13) {
		uint64_t shoff, section = at % 4 + 1, offset = at, len = f.out.len - at;

		memcpy(&shoff, f.out.data + 40, sizeof(shoff));
		memcpy(f.out.data + shoff + section * 64 + 24, &offset, 8);
		memcpy(f.out.data + shoff + section * 64 + 32, &len, 8);
		CHECK_INT(pwrite(fd, f.out.data, f.out.len, 0), (ssize_t)f.out.len);
		struct err *err = image_open_foreign(dup(fd), "foreign", &img);

		if (!err)
			image_close(img);
		err_free(err);
	}
	close(fd);
}
