/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plt.c - relocations by the address they fill in, then the code of the slots, 16 bytes at a time.
 */
#include "symbolize/elf/plt.h"

#include "formats/base/map.h"
#include "formats/base/vec.h"

#include <gelf.h>
#include <string.h>

/* Section headers may overlap, so the bytes present alone do not bound the work. */
#define PLT_RELOCS_MAX   (1u << 20)
#define PLT_SECTIONS_MAX 8
#define PLT_NAME_MAX     4095 /* bytes; longer ones are omitted */

struct plt_reloc {
	const char *name; /* in the file, whose owner may write to it meanwhile */
	size_t room;      /* bytes from there to the end of its strings */
	uint64_t resolver;
};

struct plt {
	struct image *img;
	const struct arch *arch;
	Elf *elf;
	VEC(struct plt_reloc) relocs;
	VEC(uint32_t) jumps; /* indices in @relocs of those in .rela.plt, in file order */
	struct map by_got;   /* address filled in -> index in @relocs */
	unsigned nsections;  /* scanned */
	void (*visit)(void *context, const struct plt_slot *slot);
	void *context;
};

static bool is_irelative(const struct plt *plt, uint64_t type)
{
	return type == (plt->arch == &arch_x86_64 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE);
}

static bool is_function_slot(const struct plt *plt, uint64_t type)
{
	if (plt->arch == &arch_x86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static Elf_Data *data_of(Elf *elf, size_t section, GElf_Shdr *ret)
{
	Elf_Scn *scn = elf_getscn(elf, section);

	return scn && gelf_getshdr(scn, ret) ? elf_getdata(scn, NULL) : NULL;
}

/* Where the name of symbol @index of the dynamic table in section @link is, if it has one. */
static void find_name(Elf *elf, Elf64_Word link, uint64_t index, struct plt_reloc *ret)
{
	GElf_Shdr shdr, strings;
	Elf_Data *data = data_of(elf, link, &shdr), *names;
	Elf64_Sym sym;

	if (!data || shdr.sh_type != SHT_DYNSYM || data->d_type != ELF_T_SYM || index >= data->d_size / sizeof(Elf64_Sym))
		return;
	memcpy(&sym, (const char *)data->d_buf + index * sizeof(sym), sizeof(sym));
	names = data_of(elf, shdr.sh_link, &strings);
	if (!names || strings.sh_type != SHT_STRTAB || sym.st_name >= names->d_size || !names->d_buf)
		return;
	ret->name = (const char *)names->d_buf + sym.st_name;
	ret->room = names->d_size - sym.st_name;
}

static void add_relocs(struct plt *plt, Elf_Scn *scn, const GElf_Shdr *shdr, bool jumps)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	if (!data || data->d_type != ELF_T_RELA)
		return;
	for (size_t i = 0; i < data->d_size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela rela;
		struct plt_reloc reloc = { 0 };

		memcpy(&rela, (const char *)data->d_buf + i * sizeof(rela), sizeof(rela));
		uint64_t type = ELF64_R_TYPE(rela.r_info);

		if (is_irelative(plt, type))
			reloc.resolver = (uint64_t)rela.r_addend;
		else if (is_function_slot(plt, type))
			find_name(plt->elf, shdr->sh_link, GELF_R_SYM(rela.r_info), &reloc);
		else if (!jumps)
			continue;
		if (plt->relocs.len == PLT_RELOCS_MAX) {
			image_note_defect(plt->img, "it fills in more than %u addresses of functions: the stubs that "
						    "jump through the rest have no names",
					  PLT_RELOCS_MAX);
			return;
		}
		*map_put(&plt->by_got, rela.r_offset, NULL) = plt->relocs.len;
		if (jumps)
			vec_push(&plt->jumps, (uint32_t)plt->relocs.len);
		vec_push(&plt->relocs, reloc);
	}
}

static uint32_t load_u32(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static const struct plt_reloc *reloc_at(const struct plt *plt, uint64_t got)
{
	const uint64_t *index = map_get(&plt->by_got, got);

	return index ? &plt->relocs.items[*index] : NULL;
}

/*
 * What an x86-64 slot leads to: "jmp *disp(%rip)" (ff 25), or in the lazy half of a split table
 * "push $n" (68) with n counting the relocations of .rela.plt.
 */
static const struct plt_reloc *x86_slot(const struct plt *plt, const uint8_t *code, size_t len,
					uint64_t vaddr)
{
	for (size_t i = 0; i + 6 <= len; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		int32_t disp = (int32_t)load_u32(code + i + 2);
		const struct plt_reloc *reloc =
			reloc_at(plt, vaddr + i + 6 + (uint64_t)(int64_t)disp);

		if (reloc)
			return reloc;
	}
	size_t push = len >= 4 && load_u32(code) == 0xfa1e0ff3 ? 4 : 0; /* after endbr64 */

	if (push + 5 > len || code[push] != 0x68)
		return NULL;
	uint32_t n = load_u32(code + push + 1);

	return n < plt->jumps.len ? &plt->relocs.items[plt->jumps.items[n]] : NULL;
}

static void report(struct plt *plt, const struct plt_reloc *reloc, uint64_t vaddr, uint64_t len)
{
	char name[PLT_NAME_MAX + 1] = "";
	size_t room = MIN(reloc->room, sizeof(name)), name_len = room ? strnlen(reloc->name, room) : 0;

	if (name_len < room)
		memcpy(name, reloc->name, name_len);
	struct plt_slot slot = { vaddr, len, name[0] ? name : NULL, reloc->resolver };

	if (slot.name || slot.resolver)
		plt->visit(plt->context, &slot);
}

/* The linker tells, but not for static programs: there slots are "jmp *slot; nop" in 8 bytes. */
static size_t slot_len(const struct image_section *section, uint64_t entsize)
{
	bool jump_at_8 = section->len >= 16 && section->data[8] == 0xff && section->data[9] == 0x25;

	if (entsize == 8 || entsize == 16 || entsize == 32)
		return entsize;
	return jump_at_8 ? 8 : 16;
}

static void scan_x86(struct plt *plt, const struct image_section *section, uint64_t entsize)
{
	size_t step = slot_len(section, entsize);

	for (size_t pos = 0; pos < section->len; pos += step) {
		size_t len = MIN(step, section->len - pos);
		const struct plt_reloc *reloc =
			x86_slot(plt, section->data + pos, len, section->vaddr + pos);

		if (reloc)
			report(plt, reloc, section->vaddr + pos, len);
	}
}

#define A64_BTI_C   0xd503245f
#define A64_BR_X17  0xd61f0220
#define A64_ADRP(i) (((i)&0x9f00001f) == 0x90000010) /* adrp x16 */
#define A64_LDR(i)  (((i)&0xffc003ff) == 0xf9400211) /* ldr x17, [x16, #imm] */

/* [bti c] adrp x16, page; ldr x17, [x16, #off]; add x16, x16, #off; [autia] br x17 */
static void scan_aarch64(struct plt *plt, const struct image_section *section)
{
	for (size_t pos = 0; pos + 8 <= section->len; pos += 4) {
		uint32_t adrp = load_u32(section->data + pos);
		uint32_t ldr = load_u32(section->data + pos + 4);

		if (!A64_ADRP(adrp) || !A64_LDR(ldr))
			continue;
		uint64_t vaddr = section->vaddr + pos;
		/* 21 bits of page number in two pieces, sign-extended. */
		uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		int64_t delta = (int64_t)((uint64_t)pages << 43) >> 31;
		uint64_t got =
			(vaddr & ~UINT64_C(0xfff)) + (uint64_t)delta + (ldr >> 10 & 0xfff) * 8;
		const struct plt_reloc *reloc = reloc_at(plt, got);
		size_t end = pos + 8;

		while (end + 4 <= section->len && end < pos + 24 &&
		       load_u32(section->data + end - 4) != A64_BR_X17)
			end += 4;
		size_t begin =
			pos >= 4 && load_u32(section->data + pos - 4) == A64_BTI_C ? pos - 4 : pos;

		if (reloc)
			report(plt, reloc, section->vaddr + begin, end - begin);
	}
}

static void scan_section(struct plt *plt, struct image *img, const char *name, uint64_t entsize)
{
	struct image_section section;

	if (plt->nsections++ >= PLT_SECTIONS_MAX || !image_section(img, name, &section))
		return;
	if (plt->arch == &arch_x86_64)
		scan_x86(plt, &section, entsize);
	else
		scan_aarch64(plt, &section);
}

bool plt_is_section(const char *name)
{
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
}

/* Visit the sections: relocations first, then code. */
static void each_section(struct plt *plt, struct image *img, bool code)
{
	size_t names;

	if (elf_getshdrstrndx(plt->elf, &names))
		return;
	for (Elf_Scn *scn = elf_nextscn(plt->elf, NULL); scn; scn = elf_nextscn(plt->elf, scn)) {
		GElf_Shdr shdr;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(plt->elf, names, shdr.sh_name) : NULL;

		if (!name)
			continue;
		if (!code && shdr.sh_type == SHT_RELA && shdr.sh_flags & SHF_ALLOC)
			add_relocs(plt, scn, &shdr, strcmp(name, ".rela.plt") == 0);
		if (code && shdr.sh_type == SHT_PROGBITS && shdr.sh_flags & SHF_EXECINSTR &&
		    plt_is_section(name))
			scan_section(plt, img, name, shdr.sh_entsize);
	}
}

void plt_each(struct image *img, void (*visit)(void *context, const struct plt_slot *slot),
	      void *context)
{
	struct plt plt = {
		.img = img,
		.arch = image_arch(img),
		.elf = image_elf(img),
		.visit = visit,
		.context = context,
	};

	if (!plt.elf || image_is_relocatable(img))
		return;
	each_section(&plt, img, /* code= */ false);
	if (plt.relocs.len)
		each_section(&plt, img, /* code= */ true);
	vec_deinit(&plt.relocs);
	vec_deinit(&plt.jumps);
	map_deinit(&plt.by_got);
}
