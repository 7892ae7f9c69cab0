/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usdt.c - the notes that <sys/sdt.h> leaves in .note.stapsdt:
 *
 *	u32 name length, u32 description length, u32 type 3, "stapsdt\0"
 *	u64 address, u64 address of .stapsdt.base at link time, u64 semaphore, "provider\0" "name\0" "arguments\0"
 *
 * A linker that moves the file's addresses afterwards (prelink) moves .stapsdt.base too: the difference is added.
 */
#include "record/event/probe_event.h"

#include "formats/base/memory.h"
#include "formats/base/reader.h"
#include "formats/base/vec.h"
#include "symbolize/elf/image.h"

#include <string.h>

#define NOTE_TYPE   3
#define NOTE_NAME   "stapsdt"
#define MARKERS_MAX 65536

struct marker_list {
	VEC(struct usdt_marker) items;
};

static const char *take_text(struct reader *r, struct arena *arena)
{
	size_t len = strnlen((const char *)r->pos, reader_left(r));
	const uint8_t *text = reader_bytes(r, len, "text");

	reader_u8(r, "end of text");
	return text ? arena_memdup(arena, text, len) : "";
}

static bool read_note(struct reader *desc, uint64_t base_now, struct arena *arena, struct usdt_marker *ret)
{
	uint64_t vaddr = reader_u64(desc, "address"), base = reader_u64(desc, "base");
	uint64_t semaphore = reader_u64(desc, "semaphore");
	uint64_t moved = base_now ? base_now - base : 0;

	ret->vaddr = vaddr + moved;
	ret->semaphore = semaphore ? semaphore + moved : 0;
	ret->provider = take_text(desc, arena);
	ret->name = take_text(desc, arena);
	ret->args = take_text(desc, arena);
	return !desc->failed && *ret->name;
}

static void read_notes(const struct image_section *notes, uint64_t base, struct arena *arena, struct marker_list *list)
{
	struct reader r;

	reader_init(&r, notes->data, notes->len, /* big_endian= */ false);
	while (reader_left(&r) && !r.failed && list->items.len < MARKERS_MAX) {
		uint32_t name_len = reader_u32(&r, "name length");
		uint32_t desc_len = reader_u32(&r, "description length");
		uint32_t type = reader_u32(&r, "type");
		const uint8_t *name = reader_bytes(&r, name_len, "name");
		const uint8_t *desc;
		struct usdt_marker marker;
		struct reader inner;

		reader_bytes(&r, MIN((size_t)(-name_len & 3), reader_left(&r)), "padding");
		desc = reader_bytes(&r, desc_len, "description");
		reader_bytes(&r, MIN((size_t)(-desc_len & 3), reader_left(&r)), "padding");
		if (r.failed || type != NOTE_TYPE || name_len != sizeof(NOTE_NAME) ||
		    memcmp(name, NOTE_NAME, sizeof(NOTE_NAME)) != 0)
			continue;
		reader_init(&inner, desc, desc_len, /* big_endian= */ false);
		if (read_note(&inner, base, arena, &marker))
			vec_push(&list->items, marker);
	}
}

static int by_name(const void *a, const void *b)
{
	const struct usdt_marker *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	order = order ? order : strcmp(x->name, y->name);
	return order ? order : COMPARE(x->vaddr, y->vaddr);
}

static void read_image(struct image *img, struct arena *arena, struct usdt_markers *ret)
{
	struct image_section notes, base = { 0 };
	struct marker_list list = { 0 };

	if (!image_section(img, ".stapsdt.base", &base))
		base.vaddr = 0;
	if (image_section(img, ".note.stapsdt", &notes))
		read_notes(&notes, base.vaddr, arena, &list);
	vec_sort(&list.items, by_name);
	ret->len = list.items.len;
	ret->items = ARENA_ARRAY(arena, struct usdt_marker, ret->len + 1);
	if (ret->len)
		memcpy(ret->items, list.items.items, ret->len * sizeof(*ret->items));
	vec_deinit(&list.items);
}

struct err *usdt_read(const char *path, struct arena *arena, struct usdt_markers *ret)
{
	CLEANUP(image_closep) struct image *img = NULL;
	struct err *err = image_open(path, &img);

	if (!err)
		read_image(img, arena, ret);
	return err;
}

struct err *usdt_read_fd(int fd, const char *path, struct arena *arena, struct usdt_markers *ret)
{
	CLEANUP(image_closep) struct image *img = NULL;
	struct err *err = image_open_foreign(fd, path, &img);

	if (!err)
		read_image(img, arena, ret);
	return err;
}
