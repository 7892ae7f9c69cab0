/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdso.c - the kernel passes its address (vdso(7)); the ELF header tells where it ends. These bytes are
 * the kernel's own, so they are believed.
 */
#include "symbolize/elf/vdso.h"

#include "formats/base/compiler.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

/* No kernel has one near this size. */
#define VDSO_LEN_MAX (1U << 20)

const uint8_t *vdso_own(size_t *ret_len)
{
	const uint8_t *bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;
	size_t len;

	if (!bytes)
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	len = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
		len = MAX(len, segment.p_offset + segment.p_filesz);
	}
	if (len > VDSO_LEN_MAX)
		return NULL;
	*ret_len = len;
	return bytes;
}
