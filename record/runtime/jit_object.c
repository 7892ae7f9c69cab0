/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_object.c - the file is put together anew: its header, the sections that are kept one behind the other, and as many section headers
 * as it had, so that numbers of sections stay what they are.
 *
 *	| header | section … | section … | section headers |
 */
#include "record/runtime/jit_object.h"

#include "formats/arch.h"
#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/perf/jitdump.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX	512
#define HEADER_LEN	64
#define SECTION_LEN	64
#define NAMES_LEN_MAX	(64U << 10)
#define OBJECT_LEN_MAX	(1U << 20) /* of what is kept; without debug information if that is too long */

struct section {
	uint32_t name, type, link, info;
	uint64_t flags, vaddr, offset, len, align, entry_len;
	bool is_debug, kept;
};

struct object {
	uint64_t addr, len; /* of the file in memory */
	uint16_t type;
	uint64_t sections_at;
	uint16_t nsections, names_section;
	struct section *sections;
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
	uint8_t bytes[HEADER_LEN];
	struct reader r;

	if (o->len < HEADER_LEN || !managed_view_try(view, o->addr, bytes, sizeof(bytes)) ||
	    memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB)
		return false;
	reader_init(&r, bytes, sizeof(bytes), /* big_endian= */ false);
	reader_skip(&r, EI_NIDENT, "identification");
	o->type = reader_u16(&r, "type");
	uint16_t machine = reader_u16(&r, "machine");

	reader_skip(&r, 4 + 8 + 8, "version, entry, program headers");
	o->sections_at = reader_u64(&r, "section headers");
	reader_skip(&r, 4 + 2 + 2 + 2, "flags and lengths");
	uint16_t section_len = reader_u16(&r, "length of a section header");

	o->nsections = reader_u16(&r, "number of sections");
	o->names_section = reader_u16(&r, "section of names");
	return !r.failed && machine == arch_native()->elf_machine && section_len == SECTION_LEN && o->nsections &&
	       o->nsections <= SECTIONS_MAX && o->names_section < o->nsections &&
	       fits(o, o->sections_at, (uint64_t)o->nsections * SECTION_LEN);
}

static struct section read_section(struct reader *r)
{
	struct section s = { 0 };

	s.name = reader_u32(r, "name");
	s.type = reader_u32(r, "type");
	s.flags = reader_u64(r, "flags");
	s.vaddr = reader_u64(r, "address");
	s.offset = reader_u64(r, "offset");
	s.len = reader_u64(r, "length");
	s.link = reader_u32(r, "link");
	s.info = reader_u32(r, "info");
	s.align = reader_u64(r, "alignment");
	s.entry_len = reader_u64(r, "length of an entry");
	return s;
}

static bool read_sections(struct managed_view *view, struct object *o)
{
	uint8_t bytes[SECTION_LEN];
	struct reader r;

	o->sections = memory_zeroed(o->nsections, sizeof(*o->sections));
	for (uint16_t i = 0; i < o->nsections; i++) {
		if (!managed_view_try(view, o->addr + o->sections_at + (uint64_t)i * SECTION_LEN, bytes, sizeof(bytes)))
			return false;
		reader_init(&r, bytes, sizeof(bytes), /* big_endian= */ false);
		o->sections[i] = read_section(&r);
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
	return s->flags & SHF_ALLOC && s->flags & SHF_EXECINSTR && s->vaddr && s->len && s->len <= OBJECT_LEN_MAX * 16ULL &&
	       s->vaddr <= UINT64_MAX - s->len;
}

bool jit_object_ranges(struct managed_view *view, uint64_t addr, uint64_t len, jit_object_range_fn *take, void *context)
{
	struct object o;

	if (!open_object(view, addr, len, &o))
		return false;
	for (uint16_t i = 0; i < o.nsections; i++) {
		if (is_code(&o.sections[i]))
			take(context, o.sections[i].vaddr, o.sections[i].vaddr + o.sections[i].len);
	}
	object_deinit(&o);
	return true;
}

/* ---- what is kept ---------------------------------------------------------------------------------- */

static bool read_names(struct managed_view *view, struct object *o)
{
	const struct section *s = &o->sections[o->names_section];

	if (s->type != SHT_STRTAB || s->len > NAMES_LEN_MAX || !fits(o, s->offset, s->len))
		return false;
	o->names_len = (size_t)s->len;
	o->names = memory_zeroed(1, o->names_len + 1);
	return managed_view_try(view, o->addr + s->offset, o->names, o->names_len);
}

static bool begins(const struct object *o, const struct section *s, const char *prefix)
{
	return s->name < o->names_len && strncmp(o->names + s->name, prefix, strlen(prefix)) == 0;
}

static bool is_unwinding(const struct object *o, const struct section *s)
{
	return s->flags & SHF_ALLOC && s->vaddr && s->len <= OBJECT_LEN_MAX && begins(o, s, ".eh_frame") &&
	       strcmp(o->names + s->name, ".eh_frame") == 0;
}

/* In memory it is complete; else what is kept lies in the file. */
static bool is_loaded(const struct object *o, const struct section *s)
{
	return is_code(s) || is_unwinding(o, s);
}

static bool is_debug(const struct object *o, const struct section *s)
{
	return !(s->flags & SHF_ALLOC) && (begins(o, s, ".debug_") || begins(o, s, ".zdebug_") || begins(o, s, ".rela.debug_"));
}

/* How much is kept; debug information only if there is room for it. */
static uint64_t choose(struct object *o, bool with_debug)
{
	uint64_t len = 0;

	for (uint16_t i = 0; i < o->nsections; i++) {
		struct section *s = &o->sections[i];
		bool in_file = s->type != SHT_NOBITS && fits(o, s->offset, s->len);

		s->is_debug = is_debug(o, s);
		s->kept = is_loaded(o, s) || (in_file && (s->type == SHT_SYMTAB || s->type == SHT_STRTAB || (with_debug && s->is_debug)));
		len += s->kept ? MIN(s->len, (uint64_t)OBJECT_LEN_MAX + 1) : 0;
	}
	return len;
}

/* ---- the new file ---------------------------------------------------------------------------------- */

static void put_header(const struct object *o, uint64_t sections_at, struct writer *out)
{
	static const uint8_t ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	writer_bytes(out, ident, sizeof(ident));
	writer_u16(out, o->type);
	writer_u16(out, arch_native()->elf_machine);
	writer_u32(out, EV_CURRENT);
	writer_u64(out, 0);
	writer_u64(out, 0);
	writer_u64(out, sections_at);
	writer_u32(out, 0);
	writer_u16(out, HEADER_LEN);
	writer_u16(out, 0);
	writer_u16(out, 0);
	writer_u16(out, SECTION_LEN);
	writer_u16(out, o->nsections);
	writer_u16(out, o->names_section);
}

/* One that is not kept has no bytes. */
static void put_section_header(const struct section *s, uint64_t offset, struct writer *out)
{
	writer_u32(out, s->name);
	writer_u32(out, s->kept ? (s->type == SHT_NOBITS ? (uint32_t)SHT_PROGBITS : s->type) : s->type == SHT_NULL ? SHT_NULL : SHT_NOBITS);
	writer_u64(out, s->flags);
	writer_u64(out, s->vaddr);
	writer_u64(out, offset);
	writer_u64(out, s->len);
	writer_u32(out, s->link);
	writer_u32(out, s->info);
	writer_u64(out, s->align);
	writer_u64(out, s->entry_len);
}

static bool put_bytes(struct managed_view *view, const struct object *o, const struct section *s, struct writer *out)
{
	uint64_t from = is_loaded(o, s) ? s->vaddr : o->addr + s->offset;

	writer_reserve(out, (size_t)s->len);
	if (!managed_view_try(view, from, out->data + out->len, (size_t)s->len))
		return false;
	out->len += (size_t)s->len;
	return true;
}

static bool put_file(struct managed_view *view, const struct object *o, uint64_t len, struct writer *out)
{
	uint64_t offset = HEADER_LEN;

	put_header(o, HEADER_LEN + len, out);
	for (uint16_t i = 0; i < o->nsections; i++) {
		if (o->sections[i].kept && !put_bytes(view, o, &o->sections[i], out))
			return false;
	}
	for (uint16_t i = 0; i < o->nsections; i++) {
		const struct section *s = &o->sections[i];

		put_section_header(s, s->kept ? offset : 0, out);
		offset += s->kept ? s->len : 0;
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
