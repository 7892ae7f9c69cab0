/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "record/embed/kcore.h"
#include "record/embed/kernel_code.h"
#include "symbolize/elf/image.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT     0xffffffff81000000ULL
#define TEXT_LEN 0x10000
#define MODULES  0xffffffffc0000000ULL
#define AT       0x2000 /* of the text, in the file */

/* A core file with two segments: the kernel's text, whose bytes count up, and one that begins beyond the file's end. */
struct fake {
	struct writer file;
	int fd;
	char path[64];
};

static void put_segment(struct writer *w, uint64_t vaddr, uint64_t offset, uint64_t len)
{
	writer_u32(w, PT_LOAD);
	writer_u32(w, PF_R | PF_W | PF_X);
	writer_u64(w, offset);
	writer_u64(w, vaddr);
	writer_u64(w, 0);
	writer_u64(w, len);
	writer_u64(w, len);
	writer_u64(w, 4096);
}

static void put_header(struct writer *w, uint16_t segments)
{
	static const uint8_t ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 };

	writer_bytes(w, ident, sizeof(ident));
	writer_u16(w, ET_CORE);
	writer_u16(w, EM_X86_64);
	writer_u32(w, EV_CURRENT);
	writer_u64(w, 0);
	writer_u64(w, 64);
	writer_u64(w, 0);
	writer_u32(w, 0);
	writer_u16(w, 64);
	writer_u16(w, 56);
	writer_u16(w, segments);
	writer_u16(w, 0);
	writer_u16(w, 0);
	writer_u16(w, 0);
}

static uint8_t byte_at(uint64_t addr)
{
	return (uint8_t)(addr * 7 / 3 + 1);
}

static void fake_write(struct fake *fake)
{
	fake->fd = memfd_create("kcore", MFD_CLOEXEC);
	CHECK(write(fake->fd, fake->file.data, fake->file.len) == (ssize_t)fake->file.len);
	snprintf(fake->path, sizeof(fake->path), "/proc/self/fd/%d", fake->fd);
}

static void fake_init(struct fake *fake)
{
	*fake = (struct fake){ 0 };
	put_header(&fake->file, 2);
	put_segment(&fake->file, MODULES, 1ULL << 40, 0x10000);
	put_segment(&fake->file, TEXT, AT, TEXT_LEN);
	while (fake->file.len < AT)
		writer_u8(&fake->file, 0xee);
	for (uint64_t i = 0; i < TEXT_LEN; i++)
		writer_u8(&fake->file, byte_at(TEXT + i));
	fake_write(fake);
}

static void fake_deinit(struct fake *fake)
{
	close(fake->fd);
	writer_deinit(&fake->file);
}

static void read_code(const struct fake *fake, const struct kernel_function *functions, size_t count,
		      struct writer *elf, struct recording_kernel_code *ret)
{
	struct kernel_code_source src = {
		.kcore = fake->path,
		.machine = EM_X86_64,
		.text = TEXT,
		.text_end = TEXT + TEXT_LEN / 2,
		.functions = functions,
		.count = count,
		.max_len = 0x1000,
	};

	kernel_code_read(&src, elf, ret);
}

static void check_bytes(struct image *img, uint64_t addr, size_t len)
{
	size_t left;
	const uint8_t *bytes = image_bytes_at(img, addr, &left);

	CHECK(bytes && left >= len);
	for (size_t i = 0; i < len; i++)
		CHECK_UINT(bytes[i], byte_at(addr + i));
}

TEST(kernel_code_is_whole_functions_at_their_addresses)
{
	static const struct kernel_function functions[] = {
		{ TEXT + 0x100, TEXT + 0x140, 1, true },
		{ TEXT + 0x140, TEXT + 0x155, 2, true },
		{ TEXT + 0x200, TEXT + 0x300, 0, true },  /* only a caller */
		{ TEXT + 0x1000, TEXT + 0x1100, 9, true },
	};
	CLEANUP(fake_deinit) struct fake fake;
	CLEANUP(writer_deinit) struct writer elf = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct recording_kernel_code code;
	size_t left;

	fake_init(&fake);
	read_code(&fake, functions, 4, &elf, &code);
	CHECK_UINT(code.status, RECORDING_CODE_EMBEDDED);
	CHECK_UINT(code.functions, 3);
	CHECK_UINT(code.unread, 0);
	CHECK_OK(image_open_memory(code.elf, code.elf_len, "code", &img));
	check_bytes(img, TEXT + 0x100, 0x55);
	check_bytes(img, TEXT + 0x1000, 0x100);
	CHECK(!image_bytes_at(img, TEXT + 0x200, &left));
	CHECK(!image_bytes_at(img, TEXT + 0x155, &left));
}

/* Behind the kernel's text are its data, and what its initialisation was has other owners now. */
TEST(kernel_code_outside_the_kernels_text_is_never_read)
{
	static const struct kernel_function functions[] = {
		{ TEXT + TEXT_LEN / 2 - 8, TEXT + TEXT_LEN / 2 + 8, 5, true },
		{ TEXT + TEXT_LEN / 2, TEXT + TEXT_LEN / 2 + 8, 5, true },
		{ TEXT - 8, TEXT + 8, 5, true },
	};
	CLEANUP(fake_deinit) struct fake fake;
	CLEANUP(writer_deinit) struct writer elf = { 0 };
	struct recording_kernel_code code;

	fake_init(&fake);
	read_code(&fake, functions, 3, &elf, &code);
	CHECK_UINT(code.status, RECORDING_CODE_UNKNOWN); /* nothing was wanted */
	CHECK_UINT(elf.len, 0);
}

TEST(kernel_code_beyond_the_limit_is_counted_and_the_most_sampled_is_there)
{
	static const struct kernel_function functions[] = {
		{ TEXT, TEXT + 0xa00, 1, true },
		{ TEXT + 0xa00, TEXT + 0x1400, 2, true },
	};
	CLEANUP(fake_deinit) struct fake fake;
	CLEANUP(writer_deinit) struct writer elf = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct recording_kernel_code code;

	fake_init(&fake);
	read_code(&fake, functions, 2, &elf, &code);
	CHECK_UINT(code.functions, 1);
	CHECK_UINT(code.unread, 1);
	CHECK_OK(image_open_memory(code.elf, code.elf_len, "code", &img));
	check_bytes(img, TEXT + 0xa00, 0xa00);
}

TEST(kernel_code_that_cannot_be_read_is_counted)
{
	static const struct kernel_function functions[] = {
		{ MODULES + 0x100, MODULES + 0x140, 3, false },
		{ MODULES + 0x20000, MODULES + 0x20040, 3, false },
	};
	CLEANUP(fake_deinit) struct fake fake;
	CLEANUP(writer_deinit) struct writer elf = { 0 };
	struct recording_kernel_code code;

	fake_init(&fake);
	read_code(&fake, functions, 2, &elf, &code);
	CHECK_UINT(code.status, RECORDING_CODE_UNREADABLE);
	CHECK_UINT(code.unread, 2);
	CHECK_UINT(code.elf_len, 0);
}

/* The kernel makes zeros of pages that it cannot read. */
TEST(kcore_pages_of_zeros_are_no_code)
{
	CLEANUP(fake_deinit) struct fake fake;
	uint64_t page_len = (uint64_t)sysconf(_SC_PAGESIZE);
	uint8_t out[128];
	struct kcore *core;

	if (page_len > TEXT_LEN / 4)
		SKIP("pages are long");
	fake_init(&fake);
	memset(fake.file.data + AT + page_len, 0, page_len);
	CHECK(pwrite(fake.fd, fake.file.data, fake.file.len, 0) == (ssize_t)fake.file.len);
	CHECK_UINT(kcore_open(fake.path, &core), RECORDING_CODE_EMBEDDED);
	CHECK(kcore_read(core, TEXT + page_len - 64, out, 64));
	CHECK(kcore_read(core, TEXT + page_len - 64, out, 72)); /* a few may be padding */
	CHECK(!kcore_read(core, TEXT + page_len - 64, out, 128));
	CHECK(!kcore_read(core, TEXT + page_len, out, 8));
	CHECK(kcore_read(core, TEXT + 2 * page_len, out, 128));
	CHECK_MEM(out, fake.file.data + AT + 2 * page_len, 128);
	CHECK(!kcore_read(core, TEXT + TEXT_LEN - 8, out, 16));
	CHECK(!kcore_read(core, TEXT, out, 0));
	kcore_close(core);
}

TEST(kcore_says_why_it_cannot_be_had)
{
	struct kcore *core;

	CHECK_UINT(kcore_open(test_path("nothing"), &core), RECORDING_CODE_ABSENT);
	CHECK_UINT(kcore_open("/dev/null", &core), RECORDING_CODE_COVERED);
	CHECK_UINT(kcore_open("/", &core), RECORDING_CODE_COVERED);
}

TEST(kcore_that_is_cut_or_nonsense_is_unreadable)
{
	CLEANUP(fake_deinit) struct fake fake = { 0 };
	struct kcore *core;

	put_header(&fake.file, 2);
	put_segment(&fake.file, UINT64_MAX - 16, 0, 4096); /* wraps around */
	put_segment(&fake.file, TEXT, UINT64_MAX - 16, 4096);
	fake_write(&fake);
	for (size_t len = 0; len <= fake.file.len; len++) {
		CHECK(ftruncate(fake.fd, (off_t)len) == 0);
		CHECK(pwrite(fake.fd, fake.file.data, len, 0) == (ssize_t)len);
		CHECK_UINT(kcore_open(fake.path, &core), RECORDING_CODE_UNREADABLE);
	}
	fake.file.data[EI_CLASS] = ELFCLASS32;
	CHECK(pwrite(fake.fd, fake.file.data, fake.file.len, 0) == (ssize_t)fake.file.len);
	CHECK_UINT(kcore_open(fake.path, &core), RECORDING_CODE_UNREADABLE);
}
