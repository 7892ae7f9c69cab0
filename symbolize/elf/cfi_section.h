/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi_section.h - the records of .eh_frame and .debug_frame: CIEs and FDEs, found by address; and what Go's own table says
 * of functions that these do not cover (go_table.h).
 *
 * LSB Core 5.0, chapter 10.6 (.eh_frame, .eh_frame_hdr); DWARF 5, section 6.4 (.debug_frame). Bytes are
 * hostile: a header table that lies is noticed and the section walked instead, counts and lengths are
 * bounded by the bytes present, a CIE reference that does not lead to a CIE makes the FDE unusable.
 */
#ifndef ELF_CFI_SECTION_H
#define ELF_CFI_SECTION_H

#include "formats/base/err.h"
#include "symbolize/elf/cfi_record.h"
#include "symbolize/elf/image.h"

struct cfi_section;

/*
 * Prepare the unwind information of @img: .eh_frame through .eh_frame_hdr's table if that is sound, else
 * by walking it; .debug_frame beside it for what .eh_frame does not cover. @img must outlive the result.
 * NULL if the image has none of these, and no CFI_SECTION_HOLES. cfi_section_defect() reports what is wrong with them.
 */
struct cfi_section *cfi_section_new(struct image *img);
void cfi_section_free(struct cfi_section *cfi);

/*
 * When it has nothing for an address, .eh_frame_hdr's table is believed if it has as many rows as there are FDEs and
 * the rows on both sides of the address are true; not all rows are checked then, which takes most of the time of a
 * few questions. Nor are FDEs counted where there is room for nothing but padding between the two. For a recorder. @cfi may be NULL.
 */
void cfi_section_check_near(struct cfi_section *cfi);

/* The FDE that covers @vaddr; false if none does or it is malformed. Thread-safe. */
bool cfi_section_find(const struct cfi_section *cfi, uint64_t vaddr, struct cfi_fde *ret);

/* Every FDE in order of address, then those from Go's table, for tests and tables: begin with *@pos = 0. False at the end. */
bool cfi_section_each(const struct cfi_section *cfi, size_t *pos, struct cfi_fde *ret);

/* One of them, whichever is found with least work; false if there is none. */
bool cfi_section_any(const struct cfi_section *cfi, struct cfi_fde *ret);

/* One line about what was found malformed, NULL if nothing was. */
const char *cfi_section_defect(const struct cfi_section *cfi);

/*
 * Were there entries that cannot be read? Then an address for which cfi_section_find() has nothing may have had one.
 * Once it has said so of any address the answer stays the same.
 */
bool cfi_section_has_holes(const struct cfi_section *cfi);

/*
 * The instructions of an FDE that cfi_section_find() found cannot be followed: a defect. Which one is not said, as who asks
 * first is a matter of threads.
 */
void cfi_section_note_malformed(const struct cfi_section *cfi);

/*
 * A copy of some of an image's entries (bundle.h) says here that others cannot be read: the defect, in words.
 * cfi_section_new() goes by it.
 */
#define CFI_SECTION_HOLES ".precord.holes"

#endif
