/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_kernel.c - the whole list is read, since the addresses are not known before the events are.
 */
#include "symbolize/name/own_kernel.h"

#include "formats/base/err.h"
#include "formats/base/vec.h"
#include "formats/process/build_id_note.h"
#include "formats/perf/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is known of the kernel that runs here. */
struct own_kernel {
	uint8_t build_id_len; /* 0: not known */
	uint8_t build_id[20];
};

struct symbols {
	VEC(struct recording_ksym) items;
	uint64_t text, text_end; /* addresses of _text and _etext here; 0 if they are hidden */
};

static void read_symbols(FILE *kallsyms, struct arena *arena, struct symbols *ret)
{
	struct kallsyms_line line;
	char *text = NULL;
	size_t cap = 0;

	while (getline(&text, &cap, kallsyms) > 0) {
		if (!kallsyms_parse(text, &line) || !line.addr || !kallsyms_is_function(&line))
			continue;
		const char *module = kallsyms_cut(line.name);
		struct recording_ksym sym = {
			.addr = line.addr,
			.name = arena_strdup(arena, line.name),
			.module = *module ? arena_strdup(arena, module) : "",
		};

		if (!ret->text && strcmp(sym.name, "_text") == 0)
			ret->text = sym.addr;
		if (!ret->text_end && strcmp(sym.name, "_etext") == 0)
			ret->text_end = sym.addr;
		vec_push(&ret->items, sym);
	}
	free(text);
}

/* The name to show of several for one address comes first. */
static int by_addr(const void *a, const void *b)
{
	const struct recording_ksym *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (kallsyms_is_better_name(x->name, y->name))
		return -1;
	return kallsyms_is_better_name(y->name, x->name);
}

/* Put them at their place in the recording, each address once, with lengths. */
static void keep(struct symbols *symbols, struct recording *rec)
{
	uint64_t slide = rec->kernel_text ? rec->kernel_text - symbols->text : 0;

	vec_sort(&symbols->items, by_addr);
	rec->ksyms = ARENA_ARRAY(&rec->arena, struct recording_ksym, symbols->items.len);
	for (size_t i = 0; i < symbols->items.len; i++) {
		struct recording_ksym *sym = &symbols->items.items[i];
		struct recording_ksym *last = rec->nksyms ? &rec->ksyms[rec->nksyms - 1] : NULL;

		sym->addr += slide;
		if (last && sym->addr == last->addr)
			continue;
		if (last && sym->addr - last->addr <= KALLSYMS_SYMBOL_LEN_MAX)
			last->len = sym->addr - last->addr;
		if (!slide || !*sym->module)
			rec->ksyms[rec->nksyms++] = *sym;
	}
}

static bool sees_kernel(const struct recording *rec)
{
	for (size_t i = 0; i < rec->nevents; i++) {
		if (rec->events[i].samples && !rec->events[i].exclude_kernel)
			return true;
	}
	return false;
}

/* NULL: it is the same, wherever it lies. */
static const char *why_not(const struct own_kernel *kernel, const struct recording *rec)
{
	if (!rec->kernel_build_id_len)
		return "the file does not tell the kernel's build ID (a pipe, or perf record -B)";
	if (!kernel->build_id_len || kernel->build_id_len != rec->kernel_build_id_len ||
	    memcmp(kernel->build_id, rec->kernel_build_id, kernel->build_id_len) != 0)
		return "another kernel runs here; ask where it was recorded, or put its vmlinux into a "
		       "build-ID directory (--debug-dir)";
	if (!rec->kernel_text)
		return "kernel addresses were hidden from perf; record as root or with "
		       "kernel.kptr_restrict=0";
	return NULL;
}

/* The text is that of the recorded kernel, so it tells where that lay. */
static void keep_place(const struct symbols *symbols, struct recording *rec)
{
	rec->kernel_text = symbols->text;
	rec->kernel_text_end = symbols->text_end;
}

enum whose {
	OF_ANY_START, /* of that kernel, which may have lain elsewhere */
	OF_RECORDED,
};

/* Closes @kallsyms. False if it does not tell addresses. */
static bool take_symbols(FILE *kallsyms, enum whose whose, struct recording *rec)
{
	struct symbols symbols = { 0 };

	read_symbols(kallsyms, &rec->arena, &symbols);
	bool told = symbols.text != 0;

	if (told && whose == OF_RECORDED)
		keep_place(&symbols, rec);
	if (told)
		keep(&symbols, rec);
	vec_deinit(&symbols.items);
	fclose(kallsyms);
	return told;
}

void own_kernel_name(struct recording *rec)
{
	struct own_kernel kernel = { 0 };
	uint8_t notes[4096];

	if (!sees_kernel(rec))
		return;
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, notes, sizeof(notes));

	if (fd >= 0)
		close(fd);
	if (len > 0)
		build_id_note_find(notes, (size_t)len, kernel.build_id, &kernel.build_id_len);
	rec->ksyms_remedy = why_not(&kernel, rec);
	if (rec->ksyms_remedy)
		return;
	FILE *kallsyms = fopen("/proc/kallsyms", "re");

	if (!kallsyms || !take_symbols(kallsyms, OF_ANY_START, rec))
		rec->ksyms_remedy = "kernel addresses are hidden here; report as root or with "
				    "kernel.kptr_restrict=0";
}

struct err *own_kernel_name_from(const char *path, struct recording *rec)
{
	FILE *kallsyms = fopen(path, "re");

	if (!kallsyms)
		return err_system(errno, "cannot open '%s'", path);
	if (!take_symbols(kallsyms, OF_ANY_START, rec))
		return err_remedy(err_new(ERR_CORRUPT, "'%s' has no address of _text", path),
				  "save /proc/kallsyms as root of the machine that was recorded");
	return NULL;
}

void own_kernel_name_by(const char *text, size_t len, struct recording *rec)
{
	FILE *kallsyms = len ? fmemopen((void *)(uintptr_t)text, len, "r") : NULL;

	if (!kallsyms || !take_symbols(kallsyms, OF_RECORDED, rec))
		rec->ksyms_remedy = "kernel addresses were hidden from the recorder; record as root or with "
				    "kernel.kptr_restrict=0";
}
