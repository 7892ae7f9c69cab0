/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kcore.c - fs/proc/kcore.c makes the file: an ELF header, a program header for each stretch of the kernel's address space,
 * and the stretches at offsets that have nothing to do with a length (the file's is that of the address space).
 */
#include "record/embed/kcore.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EHDR_LEN  64
#define PHDR_LEN  56
#define ZEROS_MAX 16
#define TRIES     3

#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"

struct segment {
	uint64_t vaddr, offset, len;
};

struct kcore {
	int fd;
	VEC(struct segment) segments;
};

static bool read_all(int fd, void *out, size_t len, uint64_t offset)
{
	uint8_t *pos = out;

	while (len) {
		ssize_t got = offset > INT64_MAX ? -1 : pread(fd, pos, len, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		pos += got;
		offset += (uint64_t)got;
		len -= (size_t)got;
	}
	return true;
}

/* ---- opening --------------------------------------------------------------------------------------- */

/* Root has no right to it where CAP_SYS_RAWIO is missing, or where the kernel keeps its secrets even from root. */
static enum recording_code why_refused(int error)
{
	char text[128] = "";
	int fd;

	if (error == ENOENT)
		return RECORDING_CODE_ABSENT;
	if (error != EPERM)
		return RECORDING_CODE_DENIED;
	fd = open(LOCKDOWN_PATH, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) < 0)
			*text = '\0';
		close(fd);
	}
	return strstr(text, "[confidentiality]") ? RECORDING_CODE_LOCKED : RECORDING_CODE_DENIED;
}

/* Where program headers are and how many: gABI chapter 4. @r is at the beginning of the file's header. */
static bool read_header(struct reader *r, uint64_t *ret_offset, size_t *ret_count)
{
	const uint8_t *ident = reader_bytes(r, EI_NIDENT, "ELF identification");

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_CLASS] != ELFCLASS64 ||
	    ident[EI_DATA] != ELFDATA2LSB)
		return false;
	reader_skip(r, 2 + 2 + 4 + 8, "type, machine, version, entry");
	*ret_offset = reader_u64(r, "offset of program headers");
	reader_skip(r, 8 + 4 + 2, "section headers, flags, header length");
	uint16_t len = reader_u16(r, "length of a program header");

	*ret_count = reader_u16(r, "program headers");
	return !r->failed && len == PHDR_LEN;
}

static void read_segment(struct reader *r, struct kcore *core)
{
	struct segment s;
	uint32_t type = reader_u32(r, "type");

	reader_skip(r, 4, "flags");
	s.offset = reader_u64(r, "offset");
	s.vaddr = reader_u64(r, "address");
	reader_skip(r, 8, "physical address");
	s.len = reader_u64(r, "length in the file");
	reader_skip(r, 8 + 8, "length in memory, alignment");
	if (!r->failed && type == PT_LOAD && s.len && s.len - 1 <= UINT64_MAX - s.vaddr &&
	    s.len <= UINT64_MAX - s.offset)
		vec_push(&core->segments, s);
}

static bool read_segments(struct kcore *core)
{
	uint8_t header[EHDR_LEN];
	struct reader r;
	uint64_t offset;
	size_t count;

	if (!read_all(core->fd, header, sizeof(header), 0))
		return false;
	reader_init(&r, header, sizeof(header), /* big_endian= */ false);
	if (!read_header(&r, &offset, &count))
		return false;

	CLEANUP(memory_freep) uint8_t *table = memory_alloc(MAX(count * PHDR_LEN, 1));

	if (!read_all(core->fd, table, count * PHDR_LEN, offset))
		return false;
	reader_init(&r, table, count * PHDR_LEN, /* big_endian= */ false);
	for (size_t i = 0; i < count; i++)
		read_segment(&r, core);
	return core->segments.len;
}

enum recording_code kcore_open(const char *path, struct kcore **ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return why_refused(errno);
	struct kcore *core = memory_zeroed(1, sizeof(*core));

	core->fd = fd;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) { /* /dev/null, or an empty folder */
		kcore_close(core);
		return RECORDING_CODE_COVERED;
	}
	if (!read_segments(core)) {
		kcore_close(core);
		return RECORDING_CODE_UNREADABLE;
	}
	*ret = core;
	return RECORDING_CODE_EMBEDDED;
}

void kcore_close(struct kcore *core)
{
	if (!core)
		return;
	close(core->fd);
	vec_deinit(&core->segments);
	free(core);
}

/* ---- reading --------------------------------------------------------------------------------------- */

static bool find_offset(const struct kcore *core, uint64_t addr, size_t len, uint64_t *ret)
{
	for (size_t i = 0; i < core->segments.len; i++) {
		const struct segment *s = &core->segments.items[i];

		if (addr < s->vaddr || addr - s->vaddr >= s->len || len > s->len - (addr - s->vaddr))
			continue;
		*ret = s->offset + (addr - s->vaddr);
		return true;
	}
	return false;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
	return !*bytes && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* Is the part of a page that the code has nothing but zeros? A few may be what fills the space between functions. */
static bool has_lost_page(uint64_t addr, const uint8_t *code, size_t len)
{
	size_t page_len = (size_t)sysconf(_SC_PAGESIZE), part;

	for (size_t at = 0; at < len; at += part) {
		part = MIN(len - at, page_len - (size_t)((addr + at) % page_len));
		if ((part > ZEROS_MAX || part == len) && is_zero(code + at, part))
			return true;
	}
	return false;
}

/* Code is patched while it runs, byte by byte: read twice and accept equal results. */
bool kcore_read(const struct kcore *core, uint64_t addr, void *out, size_t len)
{
	CLEANUP(memory_freep) uint8_t *again = memory_alloc(MAX(len, 1));
	uint64_t offset;

	if (!len || !find_offset(core, addr, len, &offset))
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (!read_all(core->fd, out, len, offset) || !read_all(core->fd, again, len, offset))
			return false;
		if (memcmp(out, again, len) == 0)
			return !has_lost_page(addr, out, len);
	}
	return false;
}
