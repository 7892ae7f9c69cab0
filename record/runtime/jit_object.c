/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_object.c - builds a new file: the header, the kept sections one after the other, and all section headers, so that section numbers
 * stay the same.
 *
 *	| header | section … | section … | section headers |
 */
#include "record/runtime/jit_object.h"

#include "formats/arch.h"
#include "formats/base/memory.h"
#include "formats/base/mini_elf.h"
#include "formats/base/reader.h"
#include "formats/perf/jitdump.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX	512
#define COOKIE_NAMES	4    /* tables of names that are part of a cookie, */
#define COOKIE_LEN	4096 /* of each so much */
#define NAMES_LEN_MAX	(64U << 10)
#define OBJECT_LEN_MAX	(1U << 20) /* of what is kept; without debug information if that is too long */

struct section {
	struct mini_elf_section_header head;
	bool is_debug, kept;
};

struct object {
	uint64_t addr, len; /* of the file in memory */
	struct mini_elf_header header;
	struct section *sections; /* .header.nsections */
	char *names; /* NUL at the end */
	size_t names_len;
};

static void object_deinit(struct object *o)
{
	free(o->sections);
	free(o->names);
}

static bool fits(const struct object *o, uint64_t offset, uint64_t len)
{
	return offset <= o->len && len <= o->len - offset;
}

static bool read_header(struct managed_view *view, struct object *o)
{
	const struct mini_elf_header *header = &o->header;
	uint8_t bytes[MINI_ELF_HEADER_LEN];
	struct reader r;

	if (o->len < sizeof(bytes) || !managed_view_try(view, o->addr, bytes, sizeof(bytes)))
		return false;
	reader_init(&r, bytes, sizeof(bytes), /* big_endian= */ false);
	return mini_elf_get_header(&r, &o->header) && header->machine == arch_native()->elf_machine &&
	       header->section_header_len == MINI_ELF_SECTION_HEADER_LEN && header->nsections && header->nsections <= SECTIONS_MAX &&
	       header->names_section < header->nsections &&
	       fits(o, header->sections_at, (uint64_t)header->nsections * MINI_ELF_SECTION_HEADER_LEN);
}

static bool read_sections(struct managed_view *view, struct object *o)
{
	uint8_t bytes[MINI_ELF_SECTION_HEADER_LEN];
	struct reader r;

	o->sections = memory_zeroed(o->header.nsections, sizeof(*o->sections));
	for (uint16_t i = 0; i < o->header.nsections; i++) {
		if (!managed_view_try(view, o->addr + o->header.sections_at + i * sizeof(bytes), bytes, sizeof(bytes)))
			return false;
		reader_init(&r, bytes, sizeof(bytes), /* big_endian= */ false);
		o->sections[i].head = mini_elf_get_section_header(&r);
	}
	return true;
}

static bool open_object(struct managed_view *view, uint64_t addr, uint64_t len, struct object *ret)
{
	*ret = (struct object){ .addr = addr, .len = len };
	if (read_header(view, ret) && addr <= UINT64_MAX - len && read_sections(view, ret))
		return true;
	object_deinit(ret);
	return false;
}

/* Code that was loaded. */
static bool is_code(const struct section *s)
{
	return s->head.flags & SHF_ALLOC && s->head.flags & SHF_EXECINSTR && s->head.vaddr && s->head.len && s->head.len <= OBJECT_LEN_MAX * 16ULL &&
	       s->head.vaddr <= UINT64_MAX - s->head.len;
}

bool jit_object_ranges(struct managed_view *view, uint64_t addr, uint64_t len, jit_object_range_fn *take, void *context)
{
	struct object o;

	if (!open_object(view, addr, len, &o))
		return false;
	for (uint16_t i = 0; i < o.header.nsections; i++) {
		if (is_code(&o.sections[i]))
			take(context, o.sections[i].head.vaddr, o.sections[i].head.vaddr + o.sections[i].head.len);
	}
	object_deinit(&o);
	return true;
}

bool jit_object_cookie(struct managed_view *view, uint64_t addr, uint64_t len, uint64_t *ret)
{
	uint64_t digest = 0;
	unsigned tables = 0;
	struct object o;
	bool read;

	if (!open_object(view, addr, len, &o))
		return false;
	read = managed_view_digest(view, addr, MINI_ELF_HEADER_LEN, &digest) &&
	       managed_view_digest(view, addr + o.header.sections_at, (size_t)o.header.nsections * MINI_ELF_SECTION_HEADER_LEN, &digest);
	for (uint16_t i = 0; read && i < o.header.nsections && tables < COOKIE_NAMES; i++) {
		const struct mini_elf_section_header *s = &o.sections[i].head;

		if (s->type != SHT_STRTAB || !fits(&o, s->offset, s->len))
			continue;
		tables++;
		read = managed_view_digest(view, addr + s->offset, (size_t)MIN(s->len, (uint64_t)COOKIE_LEN), &digest);
	}
	object_deinit(&o);
	*ret = digest;
	return read;
}

/* ---- what is kept ---------------------------------------------------------------------------------- */

static bool read_names(struct managed_view *view, struct object *o)
{
	const struct section *s = &o->sections[o->header.names_section];

	if (s->head.type != SHT_STRTAB || s->head.len > NAMES_LEN_MAX || !fits(o, s->head.offset, s->head.len))
		return false;
	o->names_len = (size_t)s->head.len;
	o->names = memory_zeroed(1, o->names_len + 1);
	return managed_view_try(view, o->addr + s->head.offset, o->names, o->names_len);
}

static bool begins(const struct object *o, const struct section *s, const char *prefix)
{
	return s->head.name < o->names_len && strncmp(o->names + s->head.name, prefix, strlen(prefix)) == 0;
}

static bool is_unwinding(const struct object *o, const struct section *s)
{
	return s->head.flags & SHF_ALLOC && s->head.vaddr && s->head.len <= OBJECT_LEN_MAX && begins(o, s, ".eh_frame") &&
	       strcmp(o->names + s->head.name, ".eh_frame") == 0;
}

/* In memory it is complete; else what is kept lies in the file. */
static bool is_loaded(const struct object *o, const struct section *s)
{
	return is_code(s) || is_unwinding(o, s);
}

static bool is_debug(const struct object *o, const struct section *s)
{
	return !(s->head.flags & SHF_ALLOC) && (begins(o, s, ".debug_") || begins(o, s, ".zdebug_") || begins(o, s, ".rela.debug_"));
}

/* How much is kept; debug information only if there is room for it. */
static uint64_t choose(struct object *o, bool with_debug)
{
	uint64_t len = 0;

	for (uint16_t i = 0; i < o->header.nsections; i++) {
		struct section *s = &o->sections[i];
		bool in_file = s->head.type != SHT_NOBITS && fits(o, s->head.offset, s->head.len);

		s->is_debug = is_debug(o, s);
		s->kept = is_loaded(o, s) || (in_file && (s->head.type == SHT_SYMTAB || s->head.type == SHT_STRTAB || (with_debug && s->is_debug)));
		len += s->kept ? MIN(s->head.len, (uint64_t)OBJECT_LEN_MAX + 1) : 0;
	}
	return len;
}

/* ---- the new file ---------------------------------------------------------------------------------- */

/* One that is not kept has no bytes. */
static void put_section_header(const struct section *s, uint64_t offset, struct writer *out)
{
	struct mini_elf_section_header header = s->head;

	if (s->kept && header.type == SHT_NOBITS)
		header.type = SHT_PROGBITS;
	else if (!s->kept && header.type != SHT_NULL)
		header.type = SHT_NOBITS;
	header.offset = s->kept ? offset : 0;
	mini_elf_put_section_header(out, &header);
}

static bool put_bytes(struct managed_view *view, const struct object *o, const struct section *s, struct writer *out)
{
	uint64_t from = is_loaded(o, s) ? s->head.vaddr : o->addr + s->head.offset;

	writer_reserve(out, (size_t)s->head.len);
	if (!managed_view_try(view, from, out->data + out->len, (size_t)s->head.len))
		return false;
	out->len += (size_t)s->head.len;
	return true;
}

static bool put_file(struct managed_view *view, const struct object *o, uint64_t len, struct writer *out)
{
	uint64_t offset = MINI_ELF_HEADER_LEN;
	const struct mini_elf_header header = {
		.type = o->header.type,
		.machine = o->header.machine,
		.sections_at = offset + len,
		.nsections = o->header.nsections,
		.names_section = o->header.names_section,
	};

	mini_elf_put_header(out, &header);
	for (uint16_t i = 0; i < o->header.nsections; i++) {
		if (o->sections[i].kept && !put_bytes(view, o, &o->sections[i], out))
			return false;
	}
	for (uint16_t i = 0; i < o->header.nsections; i++) {
		const struct section *s = &o->sections[i];

		put_section_header(s, offset, out);
		offset += s->kept ? s->head.len : 0;
	}
	return true;
}

bool jit_object_put(struct managed_view *view, uint64_t addr, uint64_t len, struct writer *out)
{
	struct writer file = { 0 };
	struct object o;
	uint64_t kept;
	bool done;

	if (!open_object(view, addr, len, &o))
		return false;
	done = read_names(view, &o);
	kept = done ? choose(&o, /* with_debug= */ true) : 0;
	if (kept > OBJECT_LEN_MAX)
		kept = choose(&o, /* with_debug= */ false);
	done = done && kept <= OBJECT_LEN_MAX && put_file(view, &o, kept, &file);
	if (done)
		jitdump_put_object(out, file.data, file.len);
	writer_deinit(&file);
	object_deinit(&o);
	return done;
}
