/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_file.c - ELF through libelf, kept on a short leash.
 *
 * The header's counts and offsets are checked against the file's length before libelf sees them, because
 * libelf allocates by them. Section and segment tables are copied out once, so that later reads touch
 * only our arrays and the file's bytes. Bytes of uncompressed sections are used in place.
 */
#include "symbolize/elf/image_parts.h"

#include "formats/base/memory.h"
#include "formats/base/mini_elf.h"
#include "formats/base/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MINI_ELF_HEADER_LEN 64 /* ELF64 */

/* More than any file has that is loaded; each costs some hundred bytes of memory here and in libelf. */
#define SECTIONS_MAX 100000
#define SEGMENTS_MAX 65536

/* What a file is taken to hold however few blocks it has. */
#define STORED_MIN ((uint64_t)1 << 16)

/* Of notes, in all: the kernel looks at one page. */
#define NOTES_MAX ((uint64_t)64 << 10)

/* What the ELF header says, and the three numbers that may live in section 0. */
struct header {
	uint8_t class, data;
	uint16_t type, machine, phentsize, shentsize;
	uint64_t entry, phoff, shoff, phnum, shnum, shstrndx;
};

static struct image *image_new(const char *path)
{
	struct image *img = memory_zeroed(1, sizeof(*img));

	img->path = memory_strdup(path);
	pthread_mutex_init(&img->lock, NULL);
	return img;
}

void image_close(struct image *img)
{
	if (!img)
		return;
	for (size_t i = 0; i < img->nsections; i++)
		free(img->sections[i].own);
	if (img->derived)
		img->free_derived(img->derived);
	free(img->loaded);
	free(img->sections);
	free(img->segments);
	if (img->elf)
		elf_end(img->elf);
	if (img->mapped)
		munmap((void *)(uintptr_t)img->bytes, img->len);
	free(img->unpacked_file);
	pthread_mutex_destroy(&img->lock);
	free(img->path);
	free(img);
}

void *image_derived(struct image *img, void *(*make)(struct image *img), void (*release)(void *derived))
{
	void *fresh = NULL, *derived;

	pthread_mutex_lock(&img->lock);
	derived = img->derived;
	pthread_mutex_unlock(&img->lock);
	if (derived)
		return derived;
	fresh = make(img); /* without the lock, which reading takes */
	pthread_mutex_lock(&img->lock);
	derived = img->derived ? img->derived : fresh;
	img->derived = derived;
	img->free_derived = release;
	pthread_mutex_unlock(&img->lock);
	if (derived != fresh)
		release(fresh);
	return derived;
}

void image_closep(struct image **img)
{
	image_close(*img);
}

bool image_fits(const struct image *img, uint64_t offset, uint64_t len)
{
	return offset <= img->len && len <= img->len - offset;
}

static struct err *parse_header(const uint8_t *bytes, size_t len, struct header *ret)
{
	struct header h = { 0 };
	struct reader r;

	if (len < 4 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_new(ERR_CORRUPT, "not an ELF file");
	reader_init(&r, bytes, len, /* big_endian= */ false);
	reader_skip(&r, EI_CLASS, "magic");
	h.class = reader_u8(&r, "ELF class");
	h.data = reader_u8(&r, "byte order");
	reader_skip(&r, EI_NIDENT - EI_DATA - 1, "identification");
	h.type = reader_u16(&r, "file type");
	h.machine = reader_u16(&r, "machine");
	reader_skip(&r, 4, "version");
	h.entry = reader_u64(&r, "entry");
	h.phoff = reader_u64(&r, "program header offset");
	h.shoff = reader_u64(&r, "section header offset");
	reader_skip(&r, 4 + 2, "flags and header size");
	h.phentsize = reader_u16(&r, "program header size");
	h.phnum = reader_u16(&r, "program header count");
	h.shentsize = reader_u16(&r, "section header size");
	h.shnum = reader_u16(&r, "section header count");
	h.shstrndx = reader_u16(&r, "section of section names");

	struct err *err = reader_check(&r);
	if (!err)
		*ret = h;
	return err;
}

static struct err *check_kind(const struct header *h, const struct arch **ret_arch)
{
	if (h->class != ELFCLASS64)
		return err_new(ERR_UNSUPPORTED, "not 64-bit ELF");
	if (h->data != ELFDATA2LSB)
		return err_new(ERR_UNSUPPORTED, "big-endian ELF");
	*ret_arch = arch_by_machine(h->machine);
	if (!*ret_arch)
		return err_new(ERR_UNSUPPORTED, "ELF for machine %u, which this build does not know",
			       h->machine);
	if (h->type != ET_EXEC && h->type != ET_DYN && h->type != ET_REL)
		return err_new(ERR_UNSUPPORTED, "ELF of type %u, neither a program nor a library",
			       h->type);
	return NULL;
}

static struct mini_elf_section_header section_header_at(const struct image *img, const struct header *h, uint64_t section)
{
	struct reader r;

	reader_init(&r, img->bytes + h->shoff + section * MINI_ELF_SECTION_HEADER_LEN, MINI_ELF_SECTION_HEADER_LEN, /* big_endian= */ false);
	return mini_elf_get_section_header(&r);
}

/* Both header tables lie within the file, counts from section 0 included; libelf relies on it. */
static struct err *check_tables(const struct image *img, struct header *h)
{
	if (h->shoff) {
		if (h->shentsize != MINI_ELF_SECTION_HEADER_LEN || !image_fits(img, h->shoff, MINI_ELF_SECTION_HEADER_LEN))
			return err_new(ERR_CORRUPT, "the section headers do not fit the file");

		struct mini_elf_section_header first = section_header_at(img, h, 0);

		if (!h->shnum)
			h->shnum = first.len;
		if (h->phnum == PN_XNUM)
			h->phnum = first.info;
		if (h->shstrndx == SHN_XINDEX)
			h->shstrndx = first.link;
	}
	if (h->shnum > SECTIONS_MAX || h->phnum > SEGMENTS_MAX)
		return err_new(ERR_UNSUPPORTED, "%" PRIu64 " section and %" PRIu64
			       " program headers: at most %d and %d are read",
			       h->shnum, h->phnum, SECTIONS_MAX, SEGMENTS_MAX);
	if (h->shnum && (!h->shoff || h->shnum > (img->len - h->shoff) / MINI_ELF_SECTION_HEADER_LEN))
		return err_new(ERR_CORRUPT, "%" PRIu64 " section headers do not fit the file",
			       h->shnum);
	if (h->phnum && (h->phentsize != MINI_ELF_SEGMENT_HEADER_LEN || h->phoff > img->len ||
			 h->phnum > (img->len - h->phoff) / MINI_ELF_SEGMENT_HEADER_LEN))
		return err_new(ERR_CORRUPT, "%" PRIu64 " program headers do not fit the file",
			       h->phnum);
	return NULL;
}

static struct err *read_segments(struct image *img)
{
	size_t count;

	if (elf_getphdrnum(img->elf, &count) != 0)
		return err_new(ERR_CORRUPT, "program headers: %s", elf_errmsg(-1));
	img->segments = memory_zeroed(count ? count : 1, sizeof(*img->segments));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(img->elf, (int)i, &ph))
			return err_new(ERR_CORRUPT, "program header %zu: %s", i, elf_errmsg(-1));
		if (ph.p_type != PT_LOAD)
			continue;
		img->segments[img->nsegments++] = (struct image_segment){
			.vaddr = ph.p_vaddr,
			.memory_len = ph.p_memsz,
			.offset = ph.p_offset,
			.file_len = MIN(ph.p_filesz, ph.p_memsz), /* no loader maps more */
			.exec = ph.p_flags & PF_X,
			.write = ph.p_flags & PF_W,
		};
	}
	return NULL;
}

static struct err *read_sections(struct image *img)
{
	size_t count, names;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(img->elf, &count) != 0)
		return err_new(ERR_CORRUPT, "section headers: %s", elf_errmsg(-1));
	img->sections = memory_zeroed(count ? count : 1, sizeof(*img->sections));
	if (count < 2 || elf_getshdrstrndx(img->elf, &names) != 0)
		return NULL; /* stripped of its sections: segments will do */
	while ((scn = elf_nextscn(img->elf, scn)) && img->nsections < count) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			return err_new(ERR_CORRUPT, "section header %zu: %s", elf_ndxscn(scn),
				       elf_errmsg(-1));
		name = elf_strptr(img->elf, names, sh.sh_name);
		img->sections[img->nsections++] = (struct section){
			.name = name ? name : "",
			.vaddr = sh.sh_addr,
			.offset = sh.sh_offset,
			.len = sh.sh_size,
			.align = sh.sh_addralign,
			.type = sh.sh_type,
			.link = sh.sh_link,
			.info = sh.sh_info,
			.flags = sh.sh_flags,
			.index = elf_ndxscn(scn),
		};
	}
	return NULL;
}

/* Look for the GNU build ID among the notes at @offset; true if it was there. *@left is what may be read yet. */
static bool find_build_id(struct image *img, uint64_t offset, uint64_t len, uint64_t align,
			  uint64_t *left)
{
	struct reader r;

	if (!image_fits(img, offset, len))
		return false;
	len = MIN(len, *left);
	*left -= len;
	align = align == 8 ? 8 : 4;
	reader_init(&r, img->bytes + offset, len, /* big_endian= */ false);
	while (reader_left(&r) >= 12) {
		uint32_t name_len = reader_u32(&r, "note name length");
		uint32_t desc_len = reader_u32(&r, "note length");
		uint32_t type = reader_u32(&r, "note type");
		const char *name = reader_bytes(&r, name_len, "note name");

		reader_skip(&r, MIN(-r.offset & (align - 1), reader_left(&r)), "padding");
		const uint8_t *desc = reader_bytes(&r, desc_len, "note");

		reader_skip(&r, MIN(-r.offset & (align - 1), reader_left(&r)), "padding");
		if (!name || !desc || type != NT_GNU_BUILD_ID || name_len != 4 ||
		    memcmp(name, "GNU", 4) != 0)
			continue;
		if (!desc_len || desc_len > IMAGE_BUILD_ID_MAX)
			continue; /* the kernel ignores these too (lib/buildid.c) */
		memcpy(img->build_id, desc, desc_len);
		img->build_id_len = desc_len;
		return true;
	}
	return false;
}

/* Sections first: in separate debug files the segments' offsets mean nothing. */
static void read_build_id(struct image *img)
{
	size_t count = 0;
	uint64_t left = NOTES_MAX;

	for (size_t i = 0; i < img->nsections; i++) {
		const struct section *s = &img->sections[i];

		if (s->type == SHT_NOTE && find_build_id(img, s->offset, s->len, 4, &left))
			return;
	}
	if (elf_getphdrnum(img->elf, &count) != 0)
		return;
	left = NOTES_MAX;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(img->elf, (int)i, &ph) && ph.p_type == PT_NOTE &&
		    find_build_id(img, ph.p_offset, ph.p_filesz, ph.p_align, &left))
			return;
	}
}

/* @img->elf, bytes and len are there: check and copy the tables. */
static struct err *read_tables(struct image *img)
{
	struct err *err = read_segments(img);

	if (!err)
		err = read_sections(img);
	if (!err && !img->nsections)
		image_add_unwind_sections(img);
	if (!err) {
		image_lay_out(img);
		image_sort_sections(img);
		read_build_id(img);
	}
	return err;
}

static struct err *check_header(struct image *img)
{
	struct header h = { 0 };
	struct err *err = parse_header(img->bytes, img->len, &h);

	if (!err)
		err = check_kind(&h, &img->arch);
	if (!err)
		err = check_tables(img, &h);
	if (!err) {
		img->type = h.type;
		img->entry = h.entry;
	}
	return err;
}

/* A sparse file claims terabytes and holds nothing; a file system may keep a small one in its own tables (0 blocks). */
static uint64_t stored_len(const struct stat *st)
{
	uint64_t blocks = MAX((uint64_t)st->st_blocks * 512, STORED_MIN);

	return MIN((uint64_t)st->st_size, blocks);
}

static struct err *check_file(int fd, size_t *ret_len, uint64_t *ret_stored)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return err_system(errno, "cannot look at it");
	if (S_ISDIR(st.st_mode))
		return err_system(EISDIR, "cannot read it");
	if (!S_ISREG(st.st_mode))
		return err_new(ERR_CORRUPT, "not a regular file");
	if (st.st_size < MINI_ELF_HEADER_LEN)
		return err_new(ERR_CORRUPT, "too short to be an ELF file");
	*ret_len = (size_t)st.st_size;
	*ret_stored = stored_len(&st);
	return NULL;
}

/* libelf is given our mapping, so that pages of it may be let go (image_passed()). */
static struct err *map_file(struct image *img, int fd)
{
	struct err *err = check_file(fd, &img->len, &img->stored_len);
	void *map;

	if (err)
		return err;
	map = mmap(NULL, img->len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_system(errno, "cannot map it");
	img->bytes = map;
	img->mapped = true;
	return NULL;
}

static struct err *open_elf_memory(struct image *img)
{
	struct err *err = check_header(img);

	if (err)
		return err;
	elf_version(EV_CURRENT);
	img->elf = elf_memory((char *)(uintptr_t)img->bytes,
			      img->len); /* read only, though not const */
	if (!img->elf || elf_kind(img->elf) != ELF_K_ELF)
		return err_new(ERR_CORRUPT, "not an ELF file: %s", elf_errmsg(-1));
	return read_tables(img);
}

/* ---- copies ---------------------------------------------------------------------------------------- */

#define COPIES_MAX 64

/* Pages that are copies by now, of a file that is mapped: none is copied twice, or what was checked would change. */
struct copies {
	struct image *img;
	int fd;
	uint64_t left; /* bytes that may be copied yet */
	size_t count;
	struct {
		uint64_t start, end;
	} ranges[COPIES_MAX];
};

/* Put memory of ours in the place of the mapping, and read the file into it. What is beyond its end is zero. */
static bool copy_range(struct copies *c, uint64_t start, uint64_t end)
{
	uint8_t *to = (uint8_t *)(uintptr_t)c->img->bytes + start;
	uint64_t done = 0, len = end - start;
	ssize_t got = 1;

	if (c->count == COPIES_MAX || len > c->left)
		return false;
	c->left -= len;
	if (mmap(to, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	while (done < len && got > 0) {
		got = pread(c->fd, to + done, len - done, (off_t)(start + done));
		done += got > 0 ? (uint64_t)got : 0;
	}
	c->ranges[c->count].start = start;
	c->ranges[c->count++].end = end;
	return true;
}

/* From @pos on, up to @end: either a copy already, or the next one begins at *@ret. True if it is one. */
static bool is_copied(const struct copies *c, uint64_t pos, uint64_t end, uint64_t *ret)
{
	*ret = end;
	for (size_t i = 0; i < c->count; i++) {
		if (c->ranges[i].start <= pos && pos < c->ranges[i].end) {
			*ret = c->ranges[i].end;
			return true;
		}
		if (c->ranges[i].start > pos)
			*ret = MIN(*ret, c->ranges[i].start);
	}
	return false;
}

/* The pages that the @len bytes at @offset of the file lie in. */
static bool copy_pages(struct copies *c, uint64_t offset, uint64_t len)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), next;

	if (!image_fits(c->img, offset, len))
		return true; /* it will not be read */
	uint64_t end = (offset + len + page - 1) & -page;

	for (uint64_t pos = offset & -page; pos < end; pos = next) {
		if (!is_copied(c, pos, end, &next) && !copy_range(c, pos, next))
			return false;
	}
	return true;
}

/* The names of sections, which libelf reads. It is asked for no others: those of symbols are the bulk of many libraries. */
static bool copy_section_names(struct copies *c, const struct header *h)
{
	if (h->shstrndx >= h->shnum)
		return true;
	struct mini_elf_section_header names = section_header_at(c->img, h, h->shstrndx);

	return copy_pages(c, names.offset, names.len);
}

/* First the header, then section 0, which may have the counts, then all headers, then what they lead to. */
static struct err *copy_tables(struct image *img, int fd)
{
	struct copies c = { .img = img, .fd = fd, .left = img->stored_len + STORED_MIN };
	struct header h = { 0 };
	const struct arch *arch;
	bool whole = copy_pages(&c, 0, MINI_ELF_HEADER_LEN);
	struct err *err = parse_header(img->bytes, img->len, &h);

	img->copied = true;
	if (!err)
		err = check_kind(&h, &arch);
	if (!err && h.shoff)
		whole = whole && copy_pages(&c, h.shoff, MINI_ELF_SECTION_HEADER_LEN);
	if (!err)
		err = check_tables(img, &h);
	if (err)
		return err;
	whole = whole && copy_pages(&c, h.phoff, h.phnum * MINI_ELF_SEGMENT_HEADER_LEN) && copy_pages(&c, h.shoff, h.shnum * MINI_ELF_SECTION_HEADER_LEN) &&
		copy_section_names(&c, &h);
	return whole ? NULL : err_new(ERR_UNSUPPORTED, "its headers and names are more than it can hold");
}

/* Takes @fd over; @copy: headers and tables are copied first, since the file's owner may write to it meanwhile. */
static struct err *open_descriptor(int fd, const char *path, bool copy, struct image **ret)
{
	CLEANUP(image_closep) struct image *img = image_new(path);
	struct err *err = map_file(img, fd);

	if (!err && copy)
		err = copy_tables(img, fd);
	close(fd);
	if (!err)
		err = open_elf_memory(img);
	if (err)
		return err_wrap(err, "'%s'", path);
	*ret = img;
	img = NULL; /* now the caller's */
	return NULL;
}

struct err *image_open_foreign(int fd, const char *path, struct image **ret)
{
	return open_descriptor(fd, path, /* copy= */ true, ret);
}

struct err *image_open_fd(int fd, const char *path, struct image **ret)
{
	return open_descriptor(fd, path, /* copy= */ false, ret);
}

struct err *image_open(const char *path, struct image **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_system(errno, "cannot open '%s'", path);
	return image_open_fd(fd, path, ret);
}

struct err *image_open_memory(const void *data, size_t len, const char *path, struct image **ret)
{
	CLEANUP(image_closep) struct image *img = image_new(path);
	struct err *err;

	img->bytes = data;
	img->len = img->stored_len = len;
	img->in_memory = true;
	err = open_elf_memory(img);
	if (err)
		return err_wrap(err, "'%s'", path);
	*ret = img;
	img = NULL; /* now the caller's */
	return NULL;
}

void image_note_defect(struct image *img, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	pthread_mutex_lock(&img->lock);
	if (!img->defect[0])
		vsnprintf(img->defect, sizeof(img->defect), fmt, args);
	pthread_mutex_unlock(&img->lock);
	va_end(args);
}

const char *image_defect(struct image *img)
{
	pthread_mutex_lock(&img->lock);
	bool any = img->defect[0];

	pthread_mutex_unlock(&img->lock);
	return any ? img->defect : NULL; /* once there, it stays as it is */
}

const char *image_path(const struct image *img)
{
	return img->path;
}

const struct arch *image_arch(const struct image *img)
{
	return img->arch;
}

uint64_t image_entry(const struct image *img)
{
	return img->entry;
}

bool image_is_relocatable(const struct image *img)
{
	return img->type == ET_REL;
}

bool image_is_fixed(const struct image *img)
{
	return img->type == ET_EXEC;
}

const uint8_t *image_build_id(const struct image *img, size_t *ret_len)
{
	*ret_len = img->build_id_len;
	return img->build_id;
}

const struct image_segment *image_segments(const struct image *img, size_t *ret_count)
{
	*ret_count = img->nsegments;
	return img->segments;
}
