/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_image.c - offsets in a file become link-time addresses, and those a bundle (bundle.h).
 */
#include "record/embed/attach_image.h"

#include "formats/base/page_guard.h"
#include "formats/base/vec.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/elf/vdso.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many files that could not be had are named. */
#define NAMED_MAX 3

/* Of all samples: functions that have as many are what annotate will be asked for. */
#define HOT_PERMILLE 3

struct opened {
	struct code_file *file;
	struct image *image; /* NULL for the vdso */
	bool alias;          /* another path of an image that is written before */
};

struct opened_list {
	struct opened *items;
	size_t len, cap;
};

/* How much of each file travels. */
struct amount {
	uint64_t hot; /* samples that make a function worth its code, however long it is */
	bool everything;
	const struct page_guard *guard; /* on */
	struct diag *notes;
};

struct addresses {
	struct bundle_address *items;
	size_t len, cap;
};

static int by_vaddr(const void *a, const void *b)
{
	const struct bundle_address *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Link-time addresses are found as a reader will find them, through image_bias(). */
static void list_addresses(const struct code_file *file, const struct image *img,
			   struct addresses *ret)
{
	const struct map_slot *slot;
	size_t pos = 0;
	uint64_t bias;

	while ((slot = map_next(&file->offsets, &pos))) {
		if (!image_bias(img, slot->key, slot->key, &bias))
			continue;
		struct bundle_address address = {
			.vaddr = slot->key - bias,
			.leaves = slot->value,
		};

		vec_push(ret, address);
	}
	vec_sort(ret, by_vaddr);
}

static struct err *write_image(const struct code_file *file, const struct image *img,
			       const void *elf, size_t len, bool partial, struct trace_writer *w,
			       struct attach_report *report)
{
	struct recording_image image = {
		.path = file->path,
		.partial = partial,
		.elf = elf,
		.elf_len = len,
	};
	size_t id_len;
	const uint8_t *id = image_build_id(img, &id_len);

	image.build_id_len = (uint8_t)id_len;
	memcpy(image.build_id, id, id_len);
	report->images++;
	report->image_bytes += len;
	return trace_writer_image(w, &image);
}

static struct err *write_bundle(const struct code_file *file, struct image *img,
				struct amount amount, struct trace_writer *w,
				struct attach_report *report)
{
	uint64_t gone = page_guard_count(amount.guard);
	struct cfi_section *cfi = cfi_section_new(img);
	struct symtab *symbols = symtab_new(img);
	struct addresses addresses = { 0 };
	struct writer elf = { 0 };
	struct bundle_counts counts;
	struct err *err = NULL;

	cfi_section_check_near(cfi);
	list_addresses(file, img, &addresses);
	struct bundle_source source = {
		.image = img,
		.cfi = cfi,
		.symbols = symbols,
		.addresses = addresses.items,
		.naddresses = addresses.len,
		.hot = amount.hot,
		.everything = amount.everything,
	};

	bundle_write(&source, &elf, &counts);
	if (page_guard_count(amount.guard) != gone) {
		/* Half of it would be taken for all of it. */
		diag_warn(amount.notes, "'%s' was cut short while it was embedded, and is left out",
			  file->path);
		report->missing++;
	} else {
		report->addresses += addresses.len;
		report->fdes += counts.fdes;
		report->symbols += counts.symbols;
		err = write_image(file, img, elf.data, elf.len, /* partial= */ true, w, report);
	}
	writer_deinit(&elf);
	vec_deinit(&addresses);
	symtab_free(symbols);
	cfi_section_free(cfi);
	return err;
}

/* Whole, from our own memory: it is the same in every process and a few kilobytes long. */
static struct err *write_vdso(const struct code_file *file, struct trace_writer *w,
			      struct attach_report *report)
{
	size_t len;
	const uint8_t *bytes = vdso_own(&len);
	struct image *img;

	if (!bytes)
		return NULL;
	struct err *err = image_open_memory(bytes, len, file->path, &img);

	if (err) {
		err_free(err);
		return NULL;
	}
	report->addresses += file->offsets.len;
	err = write_image(file, img, bytes, len, /* partial= */ false, w, report);
	image_close(img);
	return err;
}

/* Files that could not be had, for one reason. */
struct missing {
	uint64_t count;
	const char *names; /* of the first ones, quoted */
};

struct missing_files {
	struct arena arena;
	struct missing gone, unusable;
};

static void add_missing(struct missing_files *missing, struct missing *why,
			const struct code_file *file)
{
	const char *before = why->count ? why->names : "";

	if (why->count++ < NAMED_MAX)
		why->names = arena_printf(&missing->arena, "%s%s'%s'", before, *before ? ", " : "",
					  file->path);
}

static void say_missing(const struct missing *missing, const char *why, struct diag *notes)
{
	if (missing->count)
		diag_warn(notes, "%" PRIu64 " sampled file%s not embedded (%s): %s%s",
			  missing->count, missing->count > 1 ? "s are" : " is", why, missing->names,
			  missing->count > NAMED_MAX ? " and others" : "");
}

/* The open image, or NULL and it is counted as missing. */
static struct image *open_image(struct code_files *files, struct code_file *file,
				struct missing_files *missing)
{
	struct image *img;

	if (!code_files_open(files, file)) {
		add_missing(missing, &missing->gone, file);
		return NULL;
	}
	int fd = file->fd;

	file->fd = -1; /* the image's now */
	files->nopen--;
	struct err *err = image_open_fd(fd, file->path, &img);

	if (err) {
		add_missing(missing, &missing->unusable, file);
		err_free(err);
		return NULL;
	}
	return img;
}

static int by_path(const void *a, const void *b)
{
	const struct opened *x = a, *y = b;
	int order = strcmp(x->file->path, y->file->path);

	if (order)
		return order;
	return x->file->inode < y->file->inode ? -1 : x->file->inode > y->file->inode;
}

/* Every file that was touched, in order of path. */
static void list_touched(const struct code_files *files, struct opened_list *ret)
{
	for (size_t i = 0; i < files->items.len; i++) {
		if (files->items.items[i]->offsets.len || files->items.items[i]->merged)
			vec_push(ret, ((struct opened){ .file = files->items.items[i] }));
	}
	vec_sort(ret, by_path);
}

/* Open what can be had and leave out the rest, which is said in @notes. */
static void open_all(struct code_files *files, struct opened_list *list, struct diag *notes,
		     struct attach_report *report)
{
	struct missing_files missing = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		struct opened o = list->items[i];

		if (!o.file->is_vdso)
			o.image = open_image(files, o.file, &missing);
		if (o.file->is_vdso || o.image)
			list->items[kept++] = o;
	}
	list->len = kept;
	say_missing(&missing.gone, "gone, replaced or not readable", notes);
	say_missing(&missing.unusable, "not usable ELF", notes);
	report->missing = missing.gone.count + missing.unusable.count;
	arena_deinit(&missing.arena);
}

/* --bundle=none: only the vdso, which no one can look up later. */
static void drop_files(struct opened_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		if (list->items[i].file->is_vdso)
			list->items[kept++] = list->items[i];
	}
	list->len = kept;
}

static bool same_content(const struct opened *a, const struct opened *b)
{
	size_t a_len, b_len;

	if (!a->image || !b->image)
		return a->file->is_vdso && b->file->is_vdso;
	const uint8_t *a_id = image_build_id(a->image, &a_len);
	const uint8_t *b_id = image_build_id(b->image, &b_len);

	return a_len && a_len == b_len && memcmp(a_id, b_id, a_len) == 0;
}

/* Is one like number @i, from the same path, written before it? */
static bool path_is_known(const struct opened_list *list, size_t i)
{
	const struct opened *o = &list->items[i];

	for (size_t j = 0; j < i; j++) {
		const struct opened *other = &list->items[j];
		bool written = other->alias || other->file->offsets.len;

		if (written && strcmp(other->file->path, o->file->path) == 0 &&
		    same_content(other, o))
			return true;
	}
	return false;
}

/*
 * One build ID is one image, however many paths and file systems it was mapped from. Where the mapping did
 * not tell the build ID, an image of nothing else but that stands for the path.
 */
static void merge_into_first(struct opened_list *list, size_t i)
{
	struct opened *o = &list->items[i];
	const struct map_slot *slot;
	size_t first = 0;

	while (first < i && !same_content(&list->items[first], o))
		first++;
	if (first == i)
		return;
	for (size_t pos = 0; (slot = map_next(&o->file->offsets, &pos));)
		*map_put(&list->items[first].file->offsets, slot->key, NULL) += slot->value;
	map_clear(&o->file->offsets);
	o->file->merged = true;
	o->alias = o->image && !o->file->build_id_len && !o->file->own_id_len &&
		   !path_is_known(list, i);
}

static uint64_t hot_samples(const struct opened_list *list)
{
	const struct map_slot *slot;
	uint64_t total = 0;

	for (size_t i = 0; i < list->len; i++) {
		for (size_t pos = 0; (slot = map_next(&list->items[i].file->offsets, &pos));)
			total += slot->value;
	}
	return MAX(total / 1000 * HOT_PERMILLE, 2);
}

struct err *attach_image_write_all(struct code_files *files, enum attach_bundle bundle,
				   struct trace_writer *w, struct diag *notes,
				   struct attach_report *report)
{
	struct opened_list list = { 0 };
	struct err *err = NULL;
	struct page_guard guard;

	/* Binaries are rebuilt while they are recorded: the mapping of one that is cut short must not kill us. */
	page_guard_begin(&guard);
	list_touched(files, &list);
	report->files = list.len;
	if (bundle == ATTACH_NONE)
		drop_files(&list);
	open_all(files, &list, notes, report);
	for (size_t i = 0; i < list.len; i++)
		merge_into_first(&list, i);
	struct amount amount = { hot_samples(&list), bundle == ATTACH_FULL, &guard, notes };

	for (size_t i = 0; i < list.len && !err; i++) {
		struct opened *o = &list.items[i];

		if (!o->file->offsets.len && !o->alias)
			continue;
		err = o->image ? write_bundle(o->file, o->image, amount, w, report)
			       : write_vdso(o->file, w, report);
	}
	for (size_t i = 0; i < list.len; i++)
		image_close(list.items[i].image);
	vec_deinit(&list);
	page_guard_end(&guard);
	return err;
}
