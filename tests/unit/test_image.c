/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "formats/base/memory.h"
#include "formats/base/zframe.h"
#include "symbolize/elf/image.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const uint8_t note[] = { 4, 0, 0,   0,   3,   0, 0,    0,    3,    0,
				0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0 };
static const char text[] = "the code of this file";

#define TEXT_VADDR 0x11040

/* A file with a segment of code, a build ID and debug sections in each form. */
static void small_file(struct elf_file *f)
{
	elf_file_section(f, (struct elf_file_section){ .name = ".note.gnu.build-id",
						       .type = SHT_NOTE,
						       .data = note,
						       .len = sizeof(note) });
	elf_file_section(f, (struct elf_file_section){ .name = ".text",
						       .type = SHT_PROGBITS,
						       .flags = SHF_ALLOC | SHF_EXECINSTR,
						       .vaddr = TEXT_VADDR,
						       .data = text,
						       .len = sizeof(text) });
	elf_file_section(f, (struct elf_file_section){ .name = ".bss",
						       .type = SHT_NOBITS,
						       .flags = SHF_ALLOC,
						       .vaddr = 0x20000,
						       .len = 0x100 });
	elf_file_segment(f, (struct elf_file_segment){
				    .type = PT_LOAD, .flags = PF_R | PF_X, .vaddr = TEXT_VADDR });
}

static void small_file_finish(struct elf_file *f)
{
	small_file(f);
	elf_file_finish(f);
}

TEST(image_finds_what_a_file_holds)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct image_section s;
	size_t len;

	small_file_finish(&f);
	CHECK_OK(image_open_memory(guarded(f.out.data, f.out.len), f.out.len, "test", &img));
	CHECK_STR(image_path(img), "test");
	CHECK(image_arch(img) == &arch_x86_64);
	CHECK(!image_is_relocatable(img));

	const uint8_t *id = image_build_id(img, &len);

	CHECK_UINT(len, 3);
	CHECK_MEM(id, "\xab\xcd\xef", 3);

	char hex[2 * 3 + 1];

	image_build_id_hex(id, len, hex);
	CHECK_STR(hex, "abcdef");

	CHECK(image_section(img, ".text", &s));
	CHECK_UINT(s.vaddr, TEXT_VADDR);
	CHECK_UINT(s.len, sizeof(text));
	CHECK_STR((const char *)s.data, text);
	CHECK(!image_section(img, ".bss", &s));
	CHECK(!image_section(img, ".data", &s));
	CHECK_STR(image_section_at(img, TEXT_VADDR + 3), ".text");
	CHECK_STR(image_section_at(img, TEXT_VADDR + sizeof(text)), NULL);

	const struct image_segment *segs = image_segments(img, &len);

	CHECK_UINT(len, 1);
	CHECK(segs[0].exec && !segs[0].write);
	CHECK_UINT(segs[0].vaddr, TEXT_VADDR);
}

TEST(image_gives_bytes_up_to_the_segments_end)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	size_t len = 0;

	small_file_finish(&f);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	CHECK_STR((const char *)image_bytes_at(img, TEXT_VADDR + 4, &len), text + 4);
	CHECK_UINT(len, sizeof(text) - 4);
	CHECK(!image_bytes_at(img, TEXT_VADDR + sizeof(text), &len));
	CHECK(!image_bytes_at(img, TEXT_VADDR - 1, &len));
	CHECK(!image_bytes_at(img, 0x20000, &len)); /* .bss */
	CHECK(!image_bytes_at(img, UINT64_MAX, &len));
}

TEST(image_decompresses_sections_of_every_kind)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer zlib = { 0 }, zstd = { 0 }, legacy = { 0 }, huge = { 0 };
	struct zframe_encoder *z = zframe_encoder_new(3, 0);
	uint8_t plain[4096], packed[4096];
	uLongf packed_len = sizeof(packed);
	struct image_section s;

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)(i / 7);
	CHECK_INT(compress(packed, &packed_len, plain, sizeof(plain)), Z_OK);
	for (int i = 0; i < 3; i++) {
		struct writer *w = i == 0 ? &zlib : i == 1 ? &zstd : &huge;

		writer_u32(w, i == 1 ? 2 : 1);
		writer_u32(w, 0);
		writer_u64(w, i == 2 ? 1ULL << 40 : sizeof(plain));
		writer_u64(w, 1);
	}
	writer_bytes(&zlib, packed, packed_len);
	writer_bytes(&huge, packed, packed_len);
	CHECK_OK(zframe_encode(z, plain, sizeof(plain), &zstd));
	zframe_encoder_free(z);
	writer_bytes(&legacy, "ZLIB\0\0\0\0\0\0\x10\0", 12);
	writer_bytes(&legacy, packed, packed_len);

	const struct {
		const char *name, *asked;
		const struct writer *content;
		uint64_t flags;
	} cases[] = {
		{ ".debug_info", ".debug_info", &zlib, SHF_COMPRESSED },
		{ ".debug_line", ".debug_line", &zstd, SHF_COMPRESSED },
		{ ".zdebug_str", ".debug_str", &legacy, 0 },
		{ ".debug_huge", NULL, &huge, SHF_COMPRESSED },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		elf_file_section(&f, (struct elf_file_section){ .name = cases[i].name,
								.type = SHT_PROGBITS,
								.flags = cases[i].flags,
								.data = cases[i].content->data,
								.len = cases[i].content->len });
	elf_file_finish(&f);
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	for (size_t i = 0; i < ARRAY_LEN(cases) * 2; i++) { /* the second round is from memory */
		const char *asked = cases[i / 2].asked;

		if (!asked)
			continue;
		CHECK(image_section(img, asked, &s));
		CHECK_UINT(s.len, sizeof(plain));
		CHECK_MEM(s.data, plain, sizeof(plain));
	}
	CHECK(!image_section(img, ".debug_huge", &s));
	writer_deinit(&zlib);
	writer_deinit(&zstd);
	writer_deinit(&legacy);
	writer_deinit(&huge);
}

/* Bytes of @data's pages that count as this process's memory: of the mapping that holds it, by /proc/self/smaps. */
static uint64_t resident_at(const void *data)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long begin, end, kib, ret = 0;
	bool inside = false;
	char line[512];

	CHECK(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			inside = (uintptr_t)data >= begin && (uintptr_t)data < end;
		else if (inside && sscanf(line, "Rss: %lu kB", &kib) == 1)
			ret = kib * 1024;
	}
	fclose(maps);
	return ret;
}

static uint32_t sum_of(const struct image_section *s)
{
	return (uint32_t)adler32(1, s->data, (uInt)s->len);
}

/* Packed bytes go once they are unpacked, others after enough of them was read, and come back as they were. */
TEST(image_keeps_no_more_of_a_file_in_memory_than_is_read)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	struct writer plain = { 0 }, packed = { 0 };
	char path[] = "/tmp/precord-unit-XXXXXX";
	struct image_section s, unpacked;
	int fd = mkstemp(path);

	for (uint64_t i = 0; i < 1u << 19; i++)
		writer_u64(&plain, i * i * 0x9e3779b97f4a7c15ULL); /* packs badly */
	uLongf len = compressBound(plain.len);
	uint8_t *stream = memory_alloc(len);

	CHECK_INT(compress2(stream, &len, plain.data, plain.len, 1), Z_OK);
	writer_u64(&packed, ELFCOMPRESS_ZLIB);
	writer_u64(&packed, plain.len);
	writer_u64(&packed, 1);
	writer_bytes(&packed, stream, len);
	free(stream);
	elf_file_section(&f, (struct elf_file_section){ .name = ".debug_info",
							.type = SHT_PROGBITS,
							.flags = SHF_COMPRESSED,
							.data = packed.data,
							.len = packed.len });
	elf_file_section(&f, (struct elf_file_section){ .name = ".debug_line",
							.type = SHT_PROGBITS,
							.data = plain.data,
							.len = plain.len });
	elf_file_finish(&f);
	CHECK(fd >= 0 && write(fd, f.out.data, f.out.len) == (ssize_t)f.out.len);
	close(fd);
	CHECK_OK(image_open(path, &img));
	CHECK(image_section(img, ".debug_line", &s));
	CHECK(image_section(img, ".debug_info", &unpacked));
	CHECK(resident_at(s.data) < packed.len / 4);
	CHECK_UINT(sum_of(&s), sum_of(&unpacked));
	CHECK(resident_at(s.data) >= s.len / 2);
	for (int i = 0; i < 1024; i++)
		image_passed(img, IMAGE_PLACE);
	CHECK(resident_at(s.data) < s.len / 4);
	CHECK_UINT(sum_of(&s), sum_of(&unpacked));
	unlink(path);
	writer_deinit(&plain);
	writer_deinit(&packed);
}

/* Offsets and addresses of program headers as the linkers make them. */
TEST(image_bias_is_right_for_every_linkers_layout)
{
	static const struct {
		const char *linker;
		struct elf_file_segment segments[3];
		uint64_t file_offset,
			vaddr; /* the mapping of the text begins with this link-time address */
	} cases[] = {
		{ "bfd",
		  { { PT_LOAD, PF_R, 0, 0, 0x1628, 0x1628 },
		    { PT_LOAD, PF_R | PF_X, 0x2000, 0x2000, 0x500, 0x500 } },
		  0x2000,
		  0x2000 },
		{ "bfd, one segment",
		  { { PT_LOAD, PF_R | PF_X, 0, 0x400000, 0x1628, 0x1628 } },
		  0,
		  0x400000 },
		{ "lld",
		  { { PT_LOAD, PF_R, 0, 0, 0x17c4, 0x17c4 },
		    { PT_LOAD, PF_R | PF_X, 0x17d0, 0x27d0, 0x530, 0x530 },
		    { PT_LOAD, PF_R | PF_W, 0x1d00, 0x3d00, 0x100, 0x100 } },
		  0x1000,
		  0x2000 },
		{ "lld, 64 KiB pages",
		  { { PT_LOAD, PF_R, 0, 0, 0x107c4, 0x107c4 },
		    { PT_LOAD, PF_R | PF_X, 0x187d0, 0x287d0, 0x530, 0x530 } },
		  0x10000,
		  0x20000 },
		{ "part of the text, after a split",
		  { { PT_LOAD, PF_R | PF_X, 0x1040, 0x5040, 0x9000, 0x9000 } },
		  0x4000,
		  0x8000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
		CLEANUP(image_closep) struct image *img = NULL;
		uint64_t bias = 0;

		for (size_t j = 0; j < ARRAY_LEN(cases[i].segments); j++)
			elf_file_segment(&f, cases[i].segments[j]);
		elf_file_finish(&f);
		CHECK_OK(image_open_memory(f.out.data, f.out.len, cases[i].linker, &img));
		CHECK(image_bias(img, 0x7f0000010000, cases[i].file_offset, &bias));
		CHECK_UINT(0x7f0000010000 - bias, cases[i].vaddr);
		CHECK(!image_bias(img, 0x7f0000010000, 0x1000000, &bias));
	}
}

TEST(image_takes_the_build_id_from_a_segment_where_there_are_no_sections)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	CLEANUP(image_closep) struct image *img = NULL;
	size_t len;

	elf_file_segment(&f, (struct elf_file_segment){ PT_NOTE, PF_R, 64 + 56, 0, sizeof(note),
							sizeof(note) });
	elf_file_finish(&f);
	writer_reset(&f.out);
	f.out.len = 64 + 56;
	writer_bytes(&f.out, note, sizeof(note));
	CHECK_OK(image_open_memory(f.out.data, f.out.len, "test", &img));
	image_build_id(img, &len);
	CHECK_UINT(len, 3);
}

static void check_rejected(size_t at, const char *bytes, size_t len, enum err_kind kind)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	struct image *img = NULL;

	small_file_finish(&f);
	memcpy(f.out.data + at, bytes, len);
	CHECK_ERR(image_open_memory(guarded(f.out.data, f.out.len), f.out.len, "test", &img), kind,
		  "'test'");
	CHECK(!img); /* untouched on failure */
}

TEST(image_refuses_what_it_cannot_use)
{
	check_rejected(0, "\0ELF", 4, ERR_CORRUPT);
	check_rejected(EI_CLASS, "\1", 1, ERR_UNSUPPORTED);
	check_rejected(EI_DATA, "\2", 1, ERR_UNSUPPORTED);
	check_rejected(16, "\4", 1, ERR_UNSUPPORTED);   /* a core file */
	check_rejected(18, "\x28", 1, ERR_UNSUPPORTED); /* 32-bit Arm */
	check_rejected(60, "\xff\xfe", 2, ERR_CORRUPT); /* 65,279 sections */
	check_rejected(56, "\xfe\xfe", 2, ERR_CORRUPT); /* as many segments */
	check_rejected(40, "\xff\xff\xff\xff\xff", 5,
		       ERR_CORRUPT); /* section headers past the end */
}

TEST(image_survives_every_truncation)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };

	small_file_finish(&f);
	for (size_t len = 0; len < f.out.len; len++) {
		struct image *img = NULL;
		struct err *err = image_open_memory(guarded(f.out.data, len), len, "test", &img);
		struct image_section s;

		CHECK(!err == !!img);
		if (img)
			image_section(img, ".text", &s);
		image_close(img);
		err_free(err);
	}
}

TEST(image_reads_this_program)
{
	CLEANUP(image_closep) struct image *img = NULL;
	struct image_section s;
	size_t len;

	CHECK_OK(image_open("/proc/self/exe", &img));
	CHECK(image_arch(img) == arch_native());
	CHECK(image_section(img, ".eh_frame", &s));
	CHECK(image_bytes_at(img, s.vaddr, &len) == s.data);
	CHECK_STR(image_section_at(img, s.vaddr), ".eh_frame");
}

TEST(image_says_why_a_file_cannot_be_opened)
{
	struct image *img = NULL;

	CHECK_ERR(image_open("/nonexistent", &img), ERR_SYSTEM, "cannot open '/nonexistent'");
	CHECK_ERR(image_open("/", &img), ERR_SYSTEM, "directory");
	CHECK_ERR(image_open("/dev/null", &img), ERR_CORRUPT, "not a regular file");
}
