/* SPDX-License-Identifier: Apache-2.0 */
/*
 * minidebug.c - an xz stream in a section, and an image in that.
 */
#include "symbolize/elf/minidebug.h"

#include "formats/base/vec.h"
#include "formats/base/xz.h"

#include <stdlib.h>
#include <string.h>

#define MINIDEBUG_LEN_MAX (256u << 20)
#define MINIDEBUG_LEN_MIN (1u << 20)
#define MINIDEBUG_RATE    64 /* symbol tables pack to a quarter */

void minidebug_init(struct minidebug *ret, struct image *img)
{
	struct image_section section;
	struct writer data = { 0 };

	*ret = (struct minidebug){ 0 };
	if (!image_section(img, ".gnu_debugdata", &section))
		return;
	size_t max = MIN(section.len * MINIDEBUG_RATE + MINIDEBUG_LEN_MIN, (size_t)MINIDEBUG_LEN_MAX);
	struct err *err = xz_decode(section.data, section.len, max, &data);

	ret->data = data.data;
	if (!err)
		err = image_open_memory(data.data, data.len, image_path(img), &ret->image);
	err_free(err);
	if (!ret->image)
		image_note_defect(img, "what '.gnu_debugdata' holds is no small ELF file");
}

void minidebug_deinit(struct minidebug *mini)
{
	image_close(mini->image);
	free(mini->data);
	*mini = (struct minidebug){ 0 };
}
