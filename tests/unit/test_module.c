/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/test.h"

#include "symbolize/module/module.h"
#include "symbolize/elf/vdso.h"
#include "tests/unit/elf_file.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t id_a[] = { 0xab, 0xcd, 0xef, 1 };
static const uint8_t id_b[] = { 0xab, 0xcd, 0xef, 2 };

static void elf_with_id(struct elf_file *f, const uint8_t *id)
{
	static uint8_t note[20];

	memcpy(note,
	       (uint8_t[]){ 4, 0, 0, 0, 4, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0 },
	       16);
	memcpy(note + 16, id, 4);
	elf_file_section(f, (struct elf_file_section){ .name = ".note.gnu.build-id",
						       .type = SHT_NOTE,
						       .data = note,
						       .len = sizeof(note) });
	elf_file_finish(f);
}

static void write_file(const char *path, const struct elf_file *f)
{
	FILE *file = fopen(path, "w");

	CHECK(file && fwrite(f->out.data, 1, f->out.len, file) == f->out.len);
	CHECK_INT(fclose(file), 0);
}

static struct recording_image image_of(const char *path, const struct elf_file *f,
				       const uint8_t *id)
{
	struct recording_image image = {
		.path = path, .partial = true, .elf = f->out.data, .elf_len = f->out.len
	};

	if (id) {
		image.build_id_len = 4;
		memcpy(image.build_id, id, 4);
	}
	return image;
}

TEST(module_is_one_by_path_and_build_id)
{
	struct diag diag = { 0 };
	struct module_table *table = module_table_new(NULL, NULL, &diag);
	struct module *a = module_table_file(table, MODULE_FILE, "/lib/a", id_a, 4);

	CHECK(module_table_file(table, MODULE_FILE, "/lib/a", id_a, 4) == a);
	CHECK(module_table_file(table, MODULE_FILE, "/lib/a", id_b, 4) != a);
	CHECK(module_table_file(table, MODULE_FILE, "/lib/b", id_a, 4) != a);
	CHECK(module_table_file(table, MODULE_FILE, "/lib/a", NULL, 0) != a);
	CHECK(!a->deleted);

	/* With a build ID a file that is gone is still the same file. */
	CHECK(module_table_file(table, MODULE_FILE, "/lib/a (deleted)", id_a, 4) == a);
	CHECK(a->deleted);
	CHECK_STR(a->path, "/lib/a");
	CHECK_STR(a->name, "a");
	CHECK(module_table_file(table, MODULE_FILE, "/lib/a (deleted)", NULL, 0) !=
	      module_table_file(table, MODULE_FILE, "/lib/a", NULL, 0));

	CHECK(module_table_jit(table, 7) == module_table_jit(table, 7));
	CHECK(module_table_jit(table, 7) != module_table_jit(table, 8));
	CHECK(module_table_unknown(table) == module_table_unknown(table));
	for (uint32_t i = 0; i < module_table_len(table); i++)
		CHECK_UINT(module_table_get(table, i)->id, i);
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_the_kernel_has_the_build_id_of_the_recording)
{
	struct diag diag = { 0 };
	struct recording rec = { .kernel_build_id_len = 4, .kernel_build_id = { 1, 2, 3, 4 } };
	struct module_table *table = module_table_new(&rec, NULL, &diag);
	struct module *kernel =
		module_table_file(table, MODULE_KERNEL, "[kernel.kallsyms]_text", NULL, 0);

	CHECK_STR(kernel->name, "[kernel]");
	CHECK_UINT(kernel->build_id_len, 4);
	CHECK(module_table_file(table, MODULE_KERNEL, "[kernel]", NULL, 0) == kernel);
	CHECK(!module_image(table, kernel));
	CHECK(module_status(kernel) == MODULE_NO_FILE);
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_uses_what_the_trace_embeds_first)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	struct diag diag = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s", test_path("app"));
	elf_with_id(&f, id_a);
	write_file(path, &f);
	struct recording_image image = image_of("/elsewhere/app", &f, id_a);
	struct recording rec = { .images = &image, .nimages = 1 };
	struct module_table *table = module_table_new(&rec, NULL, &diag);
	struct module *mod = module_table_file(table, MODULE_FILE, path, id_a, 4);
	struct image *names[4];

	CHECK(module_status(mod) == MODULE_NOT_TRIED);
	struct image *img = module_image(table, mod);

	CHECK(img);
	CHECK(module_status(mod) == MODULE_READY);
	CHECK_STR(module_files_note(mod), "from the trace");

	/* Names and code are better in the file, which is whole. */
	CHECK_UINT(module_name_images(table, mod, names), 2);
	CHECK_STR(image_path(names[0]), path);
	CHECK(names[1] == img);
	CHECK(module_code(table, mod) == names[0]);
	CHECK(!diag.entries);
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_never_uses_a_file_of_another_build)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	struct diag diag = { 0 };
	struct image *names[4];
	char path[4096];

	snprintf(path, sizeof(path), "%s", test_path("app"));
	elf_with_id(&f, id_b);
	write_file(path, &f);
	struct module_table *table = module_table_new(NULL, NULL, &diag);
	struct module *mod = module_table_file(table, MODULE_FILE, path, id_a, 4);

	CHECK(!module_image(table, mod));
	CHECK(!module_code(table, mod));
	CHECK_UINT(module_name_images(table, mod, names), 0);
	CHECK(module_status(mod) == MODULE_MISMATCH);
	CHECK(strstr(module_files_note(mod), "another build ID"));
	CHECK(diag.entries && strstr(diag.entries->message, path));
	CHECK(!diag.entries->next);

	struct module *gone = module_table_file(table, MODULE_FILE, "/nonexistent/app", id_a, 4);

	CHECK(!module_image(table, gone));
	CHECK(module_status(gone) == MODULE_MISSING);
	CHECK(strstr(module_files_note(gone), "--symfs"));
	CHECK(module_status(module_table_jit(table, 1)) == MODULE_NOT_TRIED);
	CHECK(!module_image(table, module_table_jit(table, 1)));
	CHECK(module_status(module_table_jit(table, 1)) == MODULE_NO_FILE);
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_without_a_build_id_takes_its_path_on_trust_and_says_so)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 };
	struct diag diag = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s", test_path("app"));
	elf_with_id(&f, id_b);
	write_file(path, &f);
	struct module_table *table = module_table_new(NULL, NULL, &diag);

	struct module *mod = module_table_file(table, MODULE_FILE, path, NULL, 0);

	CHECK(module_image(table, mod));
	CHECK(module_is_unverified(mod) && !diag.entries);
	strcat(path, " (deleted)");
	CHECK(!module_image(table, module_table_file(table, MODULE_FILE, path, NULL, 0)));
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_without_a_build_id_has_that_of_the_only_image_from_its_path)
{
	CLEANUP(elf_file_deinit) struct elf_file f = { 0 }, other = { 0 };
	struct diag diag = { 0 };
	struct image *names[4];
	char path[4096];

	snprintf(path, sizeof(path), "%s", test_path("app"));
	elf_with_id(&f, id_a);
	elf_with_id(&other, id_b);
	write_file(path, &other); /* upgraded since */
	struct recording_image images[] = { image_of(path, &f, id_a),
					    image_of("/x", &other, id_b) };
	struct recording rec = { .images = images, .nimages = 2 };
	struct module_table *table = module_table_new(&rec, NULL, &diag);
	struct module *mod = module_table_file(table, MODULE_FILE, path, NULL, 0);

	CHECK(module_table_file(table, MODULE_FILE, path, id_a, 4) == mod);
	CHECK(module_image(table, mod));
	CHECK_UINT(module_name_images(table, mod, names), 1);
	CHECK(names[0] == module_image(table, mod));
	module_table_free(table);

	/* Two from one path are one too many. */
	images[1].path = path;
	table = module_table_new(&rec, NULL, &diag);
	mod = module_table_file(table, MODULE_FILE, path, NULL, 0);
	CHECK(module_image(table, mod)); /* the file, on trust */
	CHECK(module_is_unverified(mod));
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_survives_a_broken_embedded_image)
{
	struct diag diag = { 0 };
	struct recording_image image = { .path = "/a",
					 .elf = (const uint8_t *)"junk",
					 .elf_len = 4 };
	struct recording rec = { .images = &image, .nimages = 1 };
	struct module_table *table = module_table_new(&rec, NULL, &diag);
	struct module *mod = module_table_file(table, MODULE_FILE, "/a", id_a, 4);

	CHECK(!module_image(table, mod));
	CHECK(diag.entries && strstr(diag.entries->message, "embedded"));
	module_table_free(table);
	diag_deinit(&diag);
}

TEST(module_this_machines_vdso_serves_if_it_is_the_recorded_one)
{
	struct diag diag = { 0 };
	struct module_table *table = module_table_new(NULL, NULL, &diag);
	size_t len, id_len;
	const uint8_t *bytes = vdso_own(&len);
	struct image *own;

	if (!bytes)
		SKIP("there is no vdso");
	CHECK_OK(image_open_memory(bytes, len, "[vdso]", &own));
	const uint8_t *id = image_build_id(own, &id_len);

	CHECK(module_image(table, module_table_file(table, MODULE_VDSO, "[vdso]", id, id_len)));
	CHECK(!module_image(table, module_table_file(table, MODULE_VDSO, "[vdso]", id_a, 4)));
	image_close(own);
	module_table_free(table);
	diag_deinit(&diag);
}
