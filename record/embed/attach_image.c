/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_image.c - turns offsets in files into link-time addresses, and those into bundles (bundle.h).
 */
#include "record/embed/attach_image.h"

#include "formats/base/page_guard.h"
#include "formats/base/vec.h"
#include "record/embed/ready_to_run.h"
#include "symbolize/elf/build_id_file.h"
#include "symbolize/elf/bundle.h"
#include "symbolize/elf/cfi_section.h"
#include "symbolize/elf/code_starts.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/elf/vdso.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Unavailable files that are named in a note. */
#define NAMED_MAX 3

/* The minimum charge for reading a file. */
#define TABLES_MIN ((uint64_t)64 << 10)

#define SYMBOL_LEN 24 /* Elf64_Sym */

/* The charge for reading a .NET assembly. */
#define ASSEMBLY_COST ((uint64_t)4 << 20)

/* What a file of the first round may cost. It doubles from round to round; in the last there is no limit but that of all. */
#define FIRST_ROUND_COST ((uint64_t)4 << 20)
#define LAST_ROUND       12

/* Share of samples that makes a function a likely target of annotate. */
#define HOT_PERMILLE 3

/* A sampled file that can be read. */
struct found {
	struct code_file *file;
	uint8_t id_len; /* its build ID */
	uint8_t id[20];
	bool alias; /* another path of an image that is written before */
	size_t number; /* among all that were sampled */
};

struct found_list {
	struct found *items;
	size_t len, cap;
};

/* How much of each file is embedded. */
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

/* Compute link-time addresses as a reader of the trace will: through image_bias(). */
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
	vec_sort(ret, bundle_address_ascending);
}

static struct err *write_image(const struct code_file *file, const struct image *img,
			       const void *elf, size_t len, bool partial, struct trace_writer *w,
			       struct attach_report *report)
{
	struct recording_image image = {
		.path = file->mapped.path,
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

/* With fewer symbols for each address, sorting all of them is faster. */
#define NEAR_RATE 4

static bool are_few(const struct image *img, size_t count)
{
	uint64_t len = image_section_stored_len(img, ".symtab") + image_section_stored_len(img, ".dynsym");

	return count < len / SYMBOL_LEN / NEAR_RATE;
}

/*
 * Look up names before bundle_write(): of each address and of the byte before it. Not if functions are found by their callers: then
 * the addresses are not known in advance.
 */
static struct symtab *read_symbols(struct image *img, const struct addresses *addresses, bool everything)
{
	VEC(uint64_t) asked = { 0 };
	struct symtab *symbols;

	if (everything || code_starts_cost(img) || !are_few(img, 2 * addresses->len))
		return symtab_new(img);
	for (size_t i = 0; i < addresses->len; i++) {
		uint64_t vaddr = addresses->items[i].vaddr;

		if (vaddr && (!asked.len || asked.items[asked.len - 1] < vaddr - 1))
			vec_push(&asked, vaddr - 1);
		vec_push(&asked, vaddr);
	}
	symbols = symtab_new_near(img, asked.items, asked.len);
	vec_deinit(&asked);
	return symbols;
}

static struct err *write_bundle(const struct code_file *file, struct image *img,
				struct amount amount, struct trace_writer *w,
				struct attach_report *report)
{
	uint64_t gone = page_guard_count(amount.guard);
	struct cfi_section *cfi = cfi_section_new(img);
	struct addresses addresses = { 0 };
	struct symtab *symbols;
	struct writer elf = { 0 };
	struct bundle_counts counts;
	struct err *err = NULL;

	cfi_section_check_near(cfi);
	list_addresses(file, img, &addresses);
	symbols = read_symbols(img, &addresses, amount.everything);
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
		/* A part would look complete. */
		diag_warn(amount.notes, "'%s' was cut short while it was embedded, and is left out",
			  file->mapped.path);
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
	struct err *err = image_open_memory(bytes, len, file->mapped.path, &img);

	if (err) {
		err_free(err);
		return NULL;
	}
	report->addresses += file->offsets.len;
	err = write_image(file, img, bytes, len, /* partial= */ false, w, report);
	image_close(img);
	return err;
}

/* Unavailable files, by reason. */
struct missing {
	uint64_t count;
	const char *names; /* of the first ones, quoted */
};

struct missing_files {
	struct arena arena;
	struct missing gone, unusable, foreign;
};

static void add_missing(struct missing_files *missing, struct missing *why,
			const struct code_file *file)
{
	const char *before = why->count ? why->names : "";

	if (why->count++ < NAMED_MAX)
		why->names = arena_printf(&missing->arena, "%s%s'%s'", before, *before ? ", " : "",
					  file->mapped.path);
}

static void say_missing(const struct missing *missing, const char *why, struct diag *notes)
{
	if (missing->count)
		diag_warn(notes, "%" PRIu64 " sampled file%s not embedded (%s): %s%s",
			  missing->count, missing->count > 1 ? "s are" : " is", why, missing->names,
			  missing->count > NAMED_MAX ? " and others" : "");
}

static int by_path(const void *a, const void *b)
{
	const struct mapped_file *x = &((const struct found *)a)->file->mapped;
	const struct mapped_file *y = &((const struct found *)b)->file->mapped;
	int order = strcmp(x->path, y->path);

	if (order)
		return order;
	return COMPARE(x->inode, y->inode);
}

/* Every file that was touched, in order of path. */
static void list_touched(const struct code_files *files, struct found_list *ret)
{
	for (size_t i = 0; i < files->wanted.len; i++)
		vec_push(ret, ((struct found){ .file = files->wanted.items[i] }));
	vec_sort(ret, by_path);
	for (size_t i = 0; i < ret->len; i++)
		ret->items[i].number = i;
}

static bool is_vdso(const struct found *f)
{
	return f->file->mapped.kind == MAPPED_VDSO;
}

/* Files of a user who has taken too much time are left to the last round, unread. An earlier child may have decided that. */
static bool is_left_for_last(struct embed_child *child, enum embed_step kind, const struct found *f)
{
	return !is_vdso(f) && embed_child_is_last(child, kind, f->number, f->file->owner);
}

/* With its build ID; false if it cannot be read. */
static bool find(struct found *f)
{
	int fd = code_file_open(f->file);

	if (fd < 0)
		return false;
	build_id_file_read(fd, f->id, &f->id_len);
	close(fd);
	return true;
}

/* Keep the readable files, with their build IDs; count the others. */
static void find_all(struct found_list *list, struct embed_child *child,
		     struct missing_files *missing)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		struct found *f = &list->items[i];

		embed_child_owner(child, f->file->owner);
		if (!is_vdso(f) && !embed_child_step(child, EMBED_LOOK, f->file->mapped.path))
			continue;
		if (is_vdso(f) || is_left_for_last(child, EMBED_LOOK, f) || find(f))
			list->items[kept++] = *f;
		else
			add_missing(missing, &missing->gone, f->file);
	}
	list->len = kept;
}

/* --bundle=none: only the vdso, which exists in no file. */
static void drop_files(struct found_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->len; i++) {
		if (is_vdso(&list->items[i]))
			list->items[kept++] = list->items[i];
	}
	list->len = kept;
}

static bool same_content(const struct found *a, const struct found *b)
{
	if (is_vdso(a) || is_vdso(b))
		return is_vdso(a) && is_vdso(b);
	return a->id_len && a->id_len == b->id_len && memcmp(a->id, b->id, a->id_len) == 0;
}

/* Was an equal one from the same path written before number @i? They are neighbours. */
static bool path_is_known(const struct found_list *list, size_t i)
{
	const struct found *f = &list->items[i];

	for (size_t j = i; j-- > 0;) {
		const struct found *other = &list->items[j];
		bool written = other->alias || other->file->offsets.len;

		if (strcmp(other->file->mapped.path, f->file->mapped.path) != 0)
			break;
		if (written && same_content(other, f))
			return true;
	}
	return false;
}

/* A hash of the content. */
static uint64_t content_key(const struct found *f)
{
	uint64_t key = is_vdso(f) ? 1 : 2;

	for (size_t i = 0; i < f->id_len; i++)
		key = map_hash(key ^ f->id[i]);
	return key;
}

/*
 * One build ID is one image, however many paths and file systems it was mapped from. If the mapping had no build ID, an
 * image that holds only the build ID is added for the path.
 */
static void merge_into(struct found *first, struct found *f)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&f->file->offsets, &pos));)
		*map_put(&first->file->offsets, slot->key, NULL) += slot->value;
	map_clear(&f->file->offsets);
	f->file->merged = true;
}

/* Estimate of the bytes read: headers, tables with entries near an address, and pages of code. */
static uint64_t tables_len(const struct image *img)
{
	static const char *const names[] = { ".symtab", ".strtab", ".dynsym", ".dynstr",
					     ".eh_frame", ".debug_frame", ".gnu_debugdata", ".gopclntab" };
	uint64_t len = TABLES_MIN + code_starts_cost(img);

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (__builtin_add_overflow(len, image_section_stored_len(img, names[i]), &len))
			return UINT64_MAX;
	}
	return len;
}

static void merge_all(struct found_list *list)
{
	struct map by_content = { 0 }; /* to the index of the first + 1 */

	for (size_t i = 0; i < list->len; i++) {
		struct found *f = &list->items[i];
		const struct code_file *file = f->file;
		uint64_t *first = map_put(&by_content, content_key(f), NULL);

		if (!*first) {
			*first = i + 1;
		} else if (same_content(&list->items[*first - 1], f)) {
			merge_into(&list->items[*first - 1], f);
			f->alias = !is_vdso(f) && !file->mapped.build_id_len && !file->own_id_len &&
				   !path_is_known(list, i);
		}
	}
	map_deinit(&by_content);
}

static uint64_t hot_samples(const struct found_list *list)
{
	const struct map_slot *slot;
	uint64_t total = 0;

	for (size_t i = 0; i < list->len; i++) {
		for (size_t pos = 0; (slot = map_next(&list->items[i].file->offsets, &pos));)
			total += slot->value;
	}
	return MAX(total / 1000 * HOT_PERMILLE, 2);
}

/* Does it begin as a PE file does? */
static bool is_pe(int fd)
{
	char head[2];

	return pread(fd, head, sizeof(head), 0) == sizeof(head) && memcmp(head, "MZ", sizeof(head)) == 0;
}

static bool goes_on(void *context)
{
	return embed_child_goes_on(context);
}

/* Write the precompiled code of a .NET assembly. *@ret_written: it was one. */
static struct err *write_assembly(const struct ready_to_run_source *source, const struct code_file *file, struct amount amount,
				  struct trace_writer *w, struct attach_report *report, bool *ret_written)
{
	struct recording_image image = { .path = file->mapped.path, .partial = true };
	uint64_t gone = page_guard_count(amount.guard), symbols;
	struct writer elf = { 0 };
	struct err *err = NULL;

	*ret_written = ready_to_run_write(source, &elf, &symbols) && page_guard_count(amount.guard) == gone;
	if (*ret_written) {
		image.elf = elf.data;
		image.elf_len = elf.len;
		report->images++;
		report->image_bytes += elf.len;
		report->addresses += file->offsets.len;
		report->symbols += symbols;
		err = trace_writer_image(w, &image);
	}
	writer_deinit(&elf);
	return err;
}

/* One file after another is mapped: together they may be larger than memory. */
/*
 * Files are written in rounds, those that cost little first: what a file claims to hold may be a lie, and must not take
 * the bytes that the others need.
 */
struct writing {
	const struct found_list *list;
	struct amount amount;
	struct embed_child *child;
	struct trace_writer *w;
	struct missing_files *missing;
	struct attach_report *report;
	uint8_t round;
};

static uint8_t round_of(uint64_t cost)
{
	uint8_t round = 0;

	for (; cost > FIRST_ROUND_COST && round < LAST_ROUND; cost >>= 1)
		round++;
	return round;
}

static struct err *write_tables(const struct writing *to, size_t index, struct image *img)
{
	uint64_t cost = tables_len(img);
	uint8_t round = round_of(cost);

	if (round > to->round)
		embed_child_put_off(to->child, index, round);
	else if (embed_child_charge(to->child, cost))
		return write_bundle(to->list->items[index].file, img, to->amount, to->w, to->report);
	return NULL;
}

static struct err *write_file(const struct writing *to, size_t index)
{
	const struct code_file *file = to->list->items[index].file;
	struct image *img;
	int fd = code_file_open(file);

	if (fd < 0) { /* it was there a moment ago */
		add_missing(to->missing, &to->missing->gone, file);
		return NULL;
	}
	bool written = false;
	struct err *err = NULL;

	struct ready_to_run_source source = { fd, &file->offsets, goes_on, to->child };

	if (is_pe(fd) && embed_child_charge(to->child, ASSEMBLY_COST))
		err = write_assembly(&source, file, to->amount, to->w, to->report, &written);
	if (written || !embed_child_goes_on(to->child)) {
		close(fd);
		return err;
	}
	err = image_open_foreign(fd, file->mapped.path, &img);
	if (err) {
		add_missing(to->missing, err_kind(err) == ERR_UNSUPPORTED ? &to->missing->foreign :
					 err_kind(err) == ERR_SYSTEM ? &to->missing->gone : &to->missing->unusable, file);
		err_free(err);
		return NULL;
	}
	err = write_tables(to, index, img);
	image_close(img);
	return err;
}

static struct err *write_round(const struct writing *to)
{
	struct err *err = NULL;

	for (size_t i = 0; i < to->list->len && !err; i++) {
		const struct found *f = &to->list->items[i];
		uint8_t round = embed_child_round(to->child, i);

		if ((!f->file->offsets.len && !f->alias) || (to->round && round != to->round))
			continue;
		embed_child_owner(to->child, f->file->owner);
		/* Each child takes the same steps, also for what an earlier one has put off. */
		if (!embed_child_step(to->child, EMBED_WRITE, f->file->mapped.path) || round != to->round ||
		    is_left_for_last(to->child, EMBED_WRITE, f))
			continue;
		err = is_vdso(f) ? write_vdso(f->file, to->w, to->report) : write_file(to, i);
	}
	return err;
}

/* The rest of the files of users who took much time, whatever they cost. */
static struct err *write_last(const struct writing *to)
{
	embed_child_begin_last(to->child);
	/* Who is stuck from now on takes nothing with it of what was read. */
	struct err *err = trace_writer_flush_images(to->w);

	for (size_t i = 0; i < to->list->len && !err; i++) {
		const struct found *f = &to->list->items[i];

		if (!f->file->offsets.len || !is_left_for_last(to->child, EMBED_WRITE, f))
			continue;
		embed_child_owner(to->child, f->file->owner);
		if (embed_child_step(to->child, EMBED_WRITE, f->file->mapped.path))
			err = write_file(to, i);
	}
	return err;
}

struct err *attach_image_write_all(struct code_files *files, enum attach_bundle bundle,
				   struct embed_child *child, struct trace_writer *w, struct diag *notes,
				   struct attach_report *report)
{
	struct found_list list = { 0 };
	struct missing_files missing = { 0 };
	struct err *err = NULL;
	struct page_guard guard;

	/* A binary may be rebuilt, and truncated, while it is mapped here: that must not kill us. */
	page_guard_begin(&guard);
	list_touched(files, &list);
	report->files = list.len;
	if (bundle == ATTACH_NONE)
		drop_files(&list);
	find_all(&list, child, &missing);
	merge_all(&list);
	struct writing to = { &list, { hot_samples(&list), bundle == ATTACH_FULL, &guard, notes }, child, w, &missing, report, 0 };

	for (; to.round <= LAST_ROUND && !err; to.round++)
		err = write_round(&to);
	to.round = LAST_ROUND;
	if (!err)
		err = write_last(&to);
	say_missing(&missing.gone, "gone, replaced or not readable", notes);
	say_missing(&missing.unusable, "not usable ELF", notes);
	say_missing(&missing.foreign, "32-bit, of another kind of machine, or with more headers and names than are read", notes);
	report->missing += missing.gone.count + missing.unusable.count + missing.foreign.count;
	arena_deinit(&missing.arena);
	vec_deinit(&list);
	page_guard_end(&guard);
	return err;
}
