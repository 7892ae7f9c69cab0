/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_case.c - files are read from the tree that the tests were built from, which is where they run.
 */
#include "tests/unit/import_case.h"

#include "formats/base/file_bytes.h"

#include <stdlib.h>
#include <string.h>

#define DAMAGED 1000 /* copies of each kind at most */

struct err *import_case_read(struct import_case *c, const void *data, size_t len, const char *name)
{
	struct import_file file = { 0 };
	struct err *err;

	*c = (struct import_case){ .p = profile_new() };
	profile_facts_init(&c->facts);
	err = import_file_memory(data, len, name, &file);
	if (!err)
		err = import_table_find(&file.input, &c->importer);
	if (!err)
		err = import_table_read(c->importer, &file.input, c->p, &c->facts, &c->diag);
	import_file_close(&file);
	return err;
}

void import_case_text(struct import_case *c, const char *text)
{
	CHECK_OK(import_case_read(c, text, strlen(text), "text"));
}

uint8_t *import_case_bytes(const char *name, size_t *ret_len)
{
	char path[256];
	struct writer bytes = { 0 };

	snprintf(path, sizeof(path), "tests/data/import/%s", name);
	CHECK_OK(file_bytes_read(path, (size_t)64 << 20, &bytes));
	*ret_len = bytes.len;
	return bytes.data;
}

void import_case_file(struct import_case *c, const char *name)
{
	size_t len;
	uint8_t *data = import_case_bytes(name, &len);

	CHECK_OK(import_case_read(c, data, len, name));
	free(data);
}

void import_case_close(struct import_case *c)
{
	profile_free(c->p);
	profile_facts_deinit(&c->facts);
	diag_deinit(&c->diag);
}

static const char *leaf_name(const struct profile *p, uint32_t stack)
{
	uint32_t location = p->stacks.items[stack].location;

	if (!stack)
		return "";
	return profile_text(p, p->functions.items[p->lines.items[p->locations.items[location].first_line]
							 .function].name);
}

struct profile_sum import_case_part(const struct import_case *c, const char *type, const char *function,
				    const char *thread)
{
	const struct profile *p = c->p;
	struct profile_sum sum = { 0 };

	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *row = &p->samples.items[i];

		if (strcmp(profile_text(p, p->types.items[row->type].name), type) != 0)
			continue;
		if (function && strcmp(leaf_name(p, row->stack), function) != 0)
			continue;
		if (thread && strcmp(profile_text(p, p->threads.items[row->thread].comm), thread) != 0)
			continue;
		sum.count += row->count;
		sum.weight += row->weight;
		sum.weight_sq += row->weight_sq;
	}
	return sum;
}

struct profile_sum import_case_sum(const struct import_case *c, const char *type)
{
	return import_case_part(c, type, NULL, NULL);
}

static void print_location(const struct profile *p, uint32_t number, FILE *out)
{
	const struct profile_location *location = &p->locations.items[number];

	for (uint32_t i = 0; i < location->nlines; i++) {
		const struct profile_line *line = &p->lines.items[location->first_line + i];

		fputs(profile_text(p, p->functions.items[line->function].name), out);
		if (line->line)
			fprintf(out, ":%u", line->line);
		if (i + 1 < location->nlines)
			fputc('+', out);
	}
}

static const struct import_case *printed_case;

static void print_stack(FILE *out, void *row)
{
	const struct profile *p = printed_case->p;
	uint32_t stack = p->samples.items[*(size_t *)row].stack;

	for (; stack; stack = p->stacks.items[stack].parent) {
		print_location(p, p->stacks.items[stack].location, out);
		if (p->stacks.items[stack].parent)
			fputc('<', out);
	}
}

const char *import_case_stack(const struct import_case *c, size_t row)
{
	printed_case = c;
	return test_printed(print_stack, &row);
}

/* ---- damage ---- */

/* An offset, a line, or the number of the entry; or what the file as a whole is or lacks, which is nowhere in it. */
static bool says_where(const char *message)
{
	static const char *const whole[] = { "it holds no samples", "not a profile that preport knows", "is not in a format", "is empty", "which preport does not read",
					     "its table of strings does not begin with an empty one" };
	const char *what = strstr(message, ": ");

	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (strstr(message, whole[i]))
			return true;
	return what && strpbrk(what, "0123456789");
}

static void try_damaged(const uint8_t *data, size_t len, const char *name)
{
	struct import_case c;
	struct err *err = import_case_read(&c, data, len, name);

	if (err) {
		CHECK(*err_message(err) && !strchr(err_message(err), '\n'));
		CHECK(err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
		CHECK(says_where(err_message(err)));
	} else {
		CHECK(c.p->samples.len > 0);
	}
	err_free(err);
	import_case_close(&c);
}

/* Memory of its own, so that what is read behind the end is found. */
static void try_start(const uint8_t *data, size_t len, const char *name)
{
	uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, data, len);
	try_damaged(copy, len, name);
	free(copy);
}

void import_case_damage(const void *data_, size_t len, const char *name)
{
	uint8_t *data = malloc(len);
	uint32_t random = 12345;
	size_t copies = getenv("EMULATOR") ? DAMAGED / 20 : DAMAGED; /* an emulator is 70 times slower */
	size_t cuts = len < copies ? len : copies;

	memcpy(data, data_, len);
	for (size_t i = 0; i < cuts; i++)
		try_start(data, (size_t)((uint64_t)len * i / cuts), name);
	for (size_t i = 0; i < copies; i++) {
		random = random * 1664525 + 1013904223;

		size_t at = (size_t)((uint64_t)random * len >> 32);
		uint8_t before = data[at];

		random = random * 1664525 + 1013904223;
		data[at] ^= (uint8_t)(1 + (random >> 24) % 255);
		try_damaged(data, len, name);
		data[at] = before;
	}
	free(data);
}
