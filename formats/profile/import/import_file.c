/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_file.c - layers are taken off from the outside: gzip or zstd is unpacked, then UTF-16 made UTF-8.
 */
#include "formats/profile/import/import_file.h"

#include "formats/base/gzip.h"
#include "formats/base/zframe.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define UNPACKED_MAX ((size_t)4 << 30)

static bool begins(const struct import_input *in, const char *magic, size_t len)
{
	return in->len >= len && memcmp(in->data, magic, len) == 0;
}

/* Does it hold nothing but what was unpacked to @to? */
static struct err *unpack(const struct import_input *in, struct writer *to, bool *ret_unpacked)
{
	struct err *err = NULL;

	*ret_unpacked = true;
	if (begins(in, "\x1f\x8b", 2))
		err = gzip_decode(in->data, in->len, UNPACKED_MAX, to);
	else if (begins(in, "\x28\xb5\x2f\xfd", 4))
		err = zframe_unpack(in->data, in->len, UNPACKED_MAX, to);
	else
		*ret_unpacked = false;
	return err;
}

static void take_unpacked(struct import_file *file, struct writer *made)
{
	writer_deinit(&file->unpacked);
	file->unpacked = *made;
	file->input.data = made->data;
	file->input.len = made->len;
}

static struct err *take_layers_off(struct import_file *file)
{
	struct writer made = { 0 };
	bool unpacked;
	struct err *err = unpack(&file->input, &made, &unpacked);

	if (err) {
		writer_deinit(&made);
		return err_wrap(err, "'%s'", file->input.name);
	}
	if (unpacked)
		take_unpacked(file, &made);
	/* Text of Windows' shells has a mark in front. */
	if (begins(&file->input, "\xff\xfe", 2) || begins(&file->input, "\xfe\xff", 2)) {
		made = (struct writer){ 0 };
		writer_utf16(&made, file->input.data + 2, file->input.len - 2, file->input.data[0] == 0xfe);
		take_unpacked(file, &made);
	}
	if (!file->input.len)
		return err_new(ERR_UNSUPPORTED, "'%s' is empty", file->input.name);
	return NULL;
}

static struct err *finish_open(struct import_file *file, struct import_file *ret)
{
	struct err *err = take_layers_off(file);

	if (err)
		import_file_close(file);
	else
		*ret = *file;
	return err;
}

struct err *import_file_memory(const void *data, size_t len, const char *name, struct import_file *ret)
{
	struct import_file file = { .input = { name, data, len } };

	return finish_open(&file, ret);
}

struct err *import_file_open(int fd, const char *name, struct import_file *ret)
{
	struct import_file file = { .input = { .name = name } };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_system(errno, "cannot look at '%s'", name);
	if (!S_ISREG(st.st_mode))
		return err_new(ERR_UNSUPPORTED, "'%s' is not a regular file", name);
	if (!st.st_size)
		return err_new(ERR_UNSUPPORTED, "'%s' is empty", name);
	file.map_len = (size_t)st.st_size;
	file.map = mmap(NULL, file.map_len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file.map == MAP_FAILED)
		return err_system(errno, "cannot map '%s'", name);
	madvise(file.map, file.map_len, MADV_SEQUENTIAL);
	page_guard_begin(&file.guard);
	file.guarded = true;
	file.input.data = file.map;
	file.input.len = file.map_len;
	return finish_open(&file, ret);
}

struct err *import_file_check(const struct import_file *file)
{
	if (file->guarded && page_guard_count(&file->guard))
		return err_new(ERR_CORRUPT, "'%s' was cut short while it was read", file->input.name);
	return NULL;
}

void import_file_close(struct import_file *file)
{
	if (file->guarded)
		page_guard_end(&file->guard);
	if (file->map)
		munmap(file->map, file->map_len);
	writer_deinit(&file->unpacked);
	*file = (struct import_file){ 0 };
}
