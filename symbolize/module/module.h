/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module.h - everything code can belong to: a binary, a library, the vdso, the kernel, a JIT's memory.
 *
 * Modules are distinct by path and build ID and live as long as their table. The file behind one is
 * opened on first need: what the trace embeds for unwinding, and the best file with symbols for naming.
 * A build ID that does not match is never used; module_files_note() says what was tried.
 */
#ifndef SYMBOLIZE_MODULE_H
#define SYMBOLIZE_MODULE_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "symbolize/elf/image.h"
#include "symbolize/module/module_search.h"

#include <stdbool.h>
#include <stdint.h>

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL,        /* the kernel proper; vaddr is the address in the running kernel */
	MODULE_KERNEL_MODULE, /* a .ko; vaddr is the address in the running kernel */
	MODULE_JIT, /* anonymous executable memory; one per process; vaddr is the address in the process */
	MODULE_UNKNOWN, /* no mapping was known; vaddr is the address in the process */
	MODULE_GUEST,	/* of a virtual machine that ran; vaddr is the address in its guest */
};

/* Why a module has no usable file. */
enum module_status {
	MODULE_NOT_TRIED,
	MODULE_READY,
	MODULE_MISSING,  /* no file at its path */
	MODULE_MISMATCH, /* there is a file, with another build ID */
	MODULE_BROKEN,   /* there is a file, not usable ELF */
	MODULE_32_BIT,   /* there is a file, of a 32-bit program */
	MODULE_NO_FILE,  /* of its nature: JIT memory, unknown */
};

struct module {
	uint32_t id; /* index in the table */
	enum module_kind kind;
	const char *
		path; /* as in the mapping, without " (deleted)"; "[kernel]", "[vdso]", "[jit 4711]", "[unknown]", "[guest kernel]" */
	const char *name; /* last part of the path; "[ext4]" for a kernel module */
	bool deleted;     /* the file was gone or replaced when it was recorded */
	uint32_t pid;     /* for MODULE_JIT */
	const char *dump_path; /* for MODULE_JIT: the dump that the process maps (formats/perf/jitdump.h), NULL if none */
	bool rows_from_file;   /* unwinding used rows of the file here that the trace lacks */
	bool has_code, has_data; /* mapped with and without code; data alone need be no binary */
	uint8_t build_id_len;
	uint8_t build_id[20];
};

struct module_table;

/* @rec, @diag and the strings of @search must outlive the table; @rec and @search may be NULL. */
struct module_table *module_table_new(const struct recording *rec,
				      const struct module_search *search, struct diag *diag);
void module_table_free(struct module_table *table);

/* Find or add. A @path that ends in " (deleted)" is that of a file that was gone. */
struct module *module_table_file(struct module_table *table, enum module_kind kind,
				 const char *path, const uint8_t *build_id, size_t build_id_len);
struct module *module_table_jit(struct module_table *table, uint32_t pid);
/* The process maps the dump of its JIT at @path. */
void module_table_jit_dump(struct module_table *table, uint32_t pid, const char *path);
/* As it is here, below --symfs; NULL if there is none. */
const char *module_dump_file(const struct module_table *table, const struct module *mod);
struct module *module_table_unknown(struct module_table *table);

/* What a virtual machine's guest ran: its kernel, or a program in it. */
struct module *module_table_guest(struct module_table *table, enum event_mode mode);

/* Add the modules that no mapping brings, so that tables that are filled by the same events number all alike. */
void module_table_prepare(struct module_table *table);

size_t module_table_len(const struct module_table *table);
struct module *module_table_get(const struct module_table *table, uint32_t id);
const struct recording *module_table_recording(const struct module_table *table);
struct diag *module_table_diag(const struct module_table *table); /* as given */

/*
 * The image to unwind with: .eh_frame or .debug_frame, segments. Embedded first, then the file.
 * NULL if there is none, and module_status() says why. Not thread-safe.
 */
struct image *module_image(struct module_table *table, struct module *mod);

/*
 * The file here, if the trace embeds only part of it and the build IDs are known to be the same; else NULL. For what the
 * part lacks.
 */
struct image *module_whole_file(struct module_table *table, struct module *mod);

/*
 * The image with the bytes of the code (embedded, or the file itself), NULL if there is none. May be the same. That of the
 * kernel and its modules, one for all of them, is what was in the kernel's memory as it ran.
 */
struct image *module_code(struct module_table *table, struct module *mod);

#define MODULE_NAME_IMAGES_MAX 3

/* The images to name with, best first: separate debug file, the file, the embedded one. Returns how many. */
size_t module_name_images(struct module_table *table, struct module *mod,
			  struct image *ret[MODULE_NAME_IMAGES_MAX]);

/* What was found wrong with the files of @other, the same module in another table, is so with @mod's. */
void module_take_defects(struct module *mod, struct module *other);

/*
 * Warn of each file that was opened and found damaged, one line with the first defect, and of each that had rows which the
 * trace lacks. Asked once, at the end.
 */
void module_table_warn_defects(struct module_table *table);

/* Is @img, one of @mod's, what the trace embeds? */
bool module_image_is_embedded(const struct module *mod, const struct image *img);

enum module_status module_status(const struct module *mod);

/* Is the file at its path used without knowing that it is the one that was recorded, because it has no build ID? */
bool module_is_unverified(const struct module *mod);

/* One line: where the files came from, or what is missing and how to get it. */
const char *module_files_note(const struct module *mod);

#endif
