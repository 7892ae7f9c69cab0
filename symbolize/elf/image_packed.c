/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_packed.c - ELF files that are compressed as a whole, as distributions keep kernel modules.
 */
#include "symbolize/elf/image_parts.h"

#include "formats/base/file_bytes.h"
#include "formats/base/gzip.h"
#include "formats/base/vec.h"
#include "formats/base/xz.h"
#include "formats/base/zframe.h"

#include <string.h>

#define PACKED_LEN_MAX (256u << 20) /* of the file */
#define LEN_MAX        (1u << 30)
#define LEN_MIN        (16u << 20)
#define RATE           100 /* modules with debug information pack to a tenth */

typedef struct err *unpack_fn(const void *data, size_t len, size_t max, struct writer *out);

static const struct {
	const char *ending;
	unpack_fn *unpack;
} packers[] = { { ".xz", xz_decode }, { ".zst", zframe_unpack }, { ".gz", gzip_decode } };

static unpack_fn *packer_of(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(packers); i++) {
		size_t ending_len = strlen(packers[i].ending);

		if (len > ending_len && !strcmp(path + len - ending_len, packers[i].ending))
			return packers[i].unpack;
	}
	return NULL;
}

bool image_is_packed(const char *path)
{
	return packer_of(path);
}

static struct err *unpack_file(const char *path, struct writer *out)
{
	CLEANUP(writer_deinit) struct writer packed = { 0 };
	struct err *err = file_bytes_read_regular(path, PACKED_LEN_MAX, &packed);

	if (err)
		return err;
	size_t max = MIN(MAX(packed.len * RATE, (size_t)LEN_MIN), (size_t)LEN_MAX);

	err = packer_of(path)(packed.data, packed.len, max, out);
	return err ? err_wrap(err, "'%s'", path) : NULL;
}

struct err *image_open_packed(const char *path, struct image **ret)
{
	struct writer bytes = { 0 };
	struct err *err = unpack_file(path, &bytes);
	struct image *img;

	if (!err)
		err = image_open_memory(bytes.data, bytes.len, path, &img);
	if (err) {
		writer_deinit(&bytes);
		return err;
	}
	img->unpacked_file = bytes.data;
	img->in_memory = false; /* of a file: its own length counts */
	*ret = img;
	return NULL;
}
