/* SPDX-License-Identifier: Apache-2.0 */
#include "record/embed/kallsyms_text.h"

#include "formats/base/file_bytes.h"

#include <stdbool.h>
#include <string.h>

#define READ_LEN     65536 /* at once: stdio would ask for a kilobyte, as the file has no block size */
#define TEXT_LEN_MAX (64U << 20) /* a longer one is read each time */

/* What @path holds; nothing if it cannot be read, as where the kernel has no modules. */
static struct writer read_all(const char *path)
{
	struct writer text = { 0 };
	struct err *err = file_bytes_read(path, TEXT_LEN_MAX, &text);

	if (err)
		text.len = 0;
	err_free(err);
	return text;
}

static bool is_same(const struct writer *a, const struct writer *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static void keep(struct kallsyms_text *kallsyms, const char *path, const char *modules_path)
{
	struct writer modules = read_all(modules_path);

	if (kallsyms->text.len && is_same(&modules, &kallsyms->modules)) {
		writer_deinit(&modules);
		return;
	}
	kallsyms_text_deinit(kallsyms);
	kallsyms->modules = modules;
	kallsyms->text = read_all(path);
}

FILE *kallsyms_text_open(struct kallsyms_text *kallsyms, const char *path, const char *modules_path)
{
	if (kallsyms->times++)
		keep(kallsyms, path, modules_path);
	if (kallsyms->text.len)
		return fmemopen(kallsyms->text.data, kallsyms->text.len, "r");

	FILE *in = fopen(path, "re");

	if (in)
		setvbuf(in, NULL, _IOFBF, READ_LEN);
	return in;
}

void kallsyms_text_deinit(struct kallsyms_text *kallsyms)
{
	writer_deinit(&kallsyms->text);
	writer_deinit(&kallsyms->modules);
}
