/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_file.c - one request type for all queries, followed by the path.
 */
#include "record/runtime/runtime_file.h"

#include "formats/base/compiler.h"
#include "record/task/task_memory.h"
#include "symbolize/elf/image.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TABLES_NS 50000000ULL /* once a process */

/* What the process that may be left behind is asked, with the path behind it, and what it says. */
struct tables {
	uint32_t pid;
	uint64_t start, end, offset, inode;
	uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], types[HOTSPOT_TYPE_SYMBOLS];
	char path[PATH_MAX];
};

struct tables_read {
	bool complete;
	struct hotspot_layout layout;
};

/* Memory of the process and, for pages that it never touched, of its library. */
struct tables_source {
	struct task_memory memory;
	struct image *image;
	uint64_t bias;
};

static size_t copy_from_file(const struct tables_source *source, uint64_t addr, void *ret, size_t len)
{
	size_t held = 0;
	const uint8_t *bytes = source->image ? image_bytes_at(source->image, addr - source->bias, &held) : NULL;

	held = bytes ? MIN(held, len) : 0;
	if (held)
		memcpy(ret, bytes, held);
	return held;
}

static void read_source(void *context, struct task_memory_piece *pieces, size_t count)
{
	const struct tables_source *source = context;

	for (size_t i = 0; i < count; i++) {
		struct task_memory_piece *piece = &pieces[i];

		piece->got = task_memory_read(&source->memory, piece->addr, piece->to, piece->len);
		if (!piece->got)
			piece->got = copy_from_file(source, piece->addr, piece->to, piece->len);
	}
}

static struct managed_place place_of(const struct tables *q)
{
	return (struct managed_place){ .pid = q->pid,
				       .start = q->start,
				       .end = q->end,
				       .offset = q->offset,
				       .inode = q->inode,
				       .path = q->path };
}

/* There. */
static void read_tables(const void *request, void *answer, int *ret_fd)
{
	const struct tables *q = request;
	struct tables_read *ret = answer;
	const struct managed_place place = place_of(q);
	struct tables_source source = { .image = managed_place_open(&place) };
	struct managed_view *view = memory_zeroed(1, sizeof(*view));

	(void)ret_fd;
	if (task_memory_open(&source.memory, q->pid) && source.image &&
	    image_bias(source.image, q->start, q->offset, &source.bias)) {
		view->by_cpu_time = true; /* the requester has its own wall-clock timeout */
		managed_view_begin(view, read_source, &source, TABLES_NS);
		ret->complete = hotspot_layout_read(view, q->structs, q->types, &ret->layout);
	}
	task_memory_close(&source.memory);
	image_close(source.image);
	free(view);
}

struct v8_read {
	bool usable;
	struct v8_layout layout;
};

/* There, too. */
static void read_v8(const void *request, void *answer, int *ret_fd)
{
	const struct tables *q = request;
	struct v8_read *ret = answer;
	const struct managed_place place = place_of(q);
	struct image *image = managed_place_open(&place);

	(void)ret_fd;
	if (image)
		ret->usable = v8_layout_read(image, &ret->layout);
	image_close(image);
}

struct bytes_read {
	uint32_t len;
	uint8_t bytes[RUNTIME_FILE_BYTES];
};

/* There, too: of memory at structs[0]. */
static void read_bytes(const void *request, void *answer, int *ret_fd)
{
	const struct tables *q = request;
	struct bytes_read *ret = answer;
	const struct managed_place place = place_of(q);
	struct tables_source source = { .image = managed_place_open(&place) };

	(void)ret_fd;
	if (source.image && image_bias(source.image, q->start, q->offset, &source.bias))
		ret->len = (uint32_t)copy_from_file(&source, q->structs[0], ret->bytes, sizeof(ret->bytes));
	image_close(source.image);
}

struct variable_search {
	uint64_t to_start; /* what to add to a link-time address for the distance */
	struct runtime_variables *ret;
};

static void take_variable(void *context, const char *name, uint64_t vaddr, uint64_t len)
{
	const struct variable_search *search = context;

	(void)len;
	if (strcmp(name, "__jit_debug_descriptor") == 0)
		search->ret->jit_descriptor = vaddr + search->to_start;
	else if (strcmp(name, "g_dacTable") == 0)
		search->ret->dac_table = vaddr + search->to_start;
}

#define DOTNET_VERSION "@(#)Version "

/* "@(#)Version 8.0.424.16909 @Commit: …", a variable that all files of .NET's runtime have, without a symbol. */
static void find_dotnet_version(struct image *image, struct runtime_variables *ret)
{
	struct image_section data;
	const uint8_t *at = NULL;
	char text[32] = "";

	if (image_section(image, ".data", &data))
		at = memmem(data.data, data.len, DOTNET_VERSION, strlen(DOTNET_VERSION));
	if (!at)
		return;
	memcpy(text, at, MIN((size_t)(data.data + data.len - at), sizeof(text) - 1));
	sscanf(text, DOTNET_VERSION "%3u.%3u", &ret->dotnet_major, &ret->dotnet_minor);
}

/* There, too. */
static void read_variables(const void *request, void *answer, int *ret_fd)
{
	static const char *const prefixes[] = { "__jit_debug_descriptor", "g_dacTable", NULL };
	const struct tables *q = request;
	const struct managed_place place = place_of(q);
	struct image *image = managed_place_open(&place);
	struct variable_search search = { .ret = answer };
	uint64_t bias;

	(void)ret_fd;
	if (image && image_bias(image, q->start, q->offset, &bias)) {
		search.to_start = bias - q->start;
		managed_image_symbols(image, prefixes, take_variable, &search);
		if (search.ret->dac_table)
			find_dotnet_version(image, search.ret);
	}
	image_close(image);
}

/* What is asked of a file, and where the answer goes. */
struct file_question {
	void (*run)(const void *request, void *answer, int *ret_fd);
	void *answer;
	size_t answer_len;
};

/* False if it did not answer; there is something to be said then, too. */
static bool ask_file(struct foreign_reader *reader, const struct managed_place *place, struct tables *q,
		     struct file_question *what)
{
	size_t len = strlen(place->path);
	const struct foreign_job job = {
		.run = what->run,
		.name = place->path,
		.request = q,
		.request_len = offsetof(struct tables, path) + len + 1,
		.answer_len = what->answer_len,
		.pid = place->pid,
	};
	int fd;

	if (len >= sizeof(q->path))
		return false;
	memcpy(q->path, place->path, len + 1);
	q->pid = place->pid;
	q->start = place->start;
	q->end = place->end;
	q->offset = place->offset;
	q->inode = place->inode;
	enum foreign_result result = foreign_reader_ask(reader, &job, what->answer, &fd);

	if (fd >= 0)
		close(fd);
	return result == FOREIGN_DONE;
}

bool runtime_file_hotspot(struct foreign_reader *reader, const struct managed_place *place,
			  const uint64_t structs[HOTSPOT_STRUCT_SYMBOLS], const uint64_t types[HOTSPOT_TYPE_SYMBOLS],
			  struct hotspot_layout *ret)
{
	struct tables q = { 0 };
	struct tables_read read = { 0 };
	struct file_question what = { read_tables, &read, sizeof(read) };

	memcpy(q.structs, structs, sizeof(q.structs));
	memcpy(q.types, types, sizeof(q.types));
	bool answered = ask_file(reader, place, &q, &what);

	*ret = read.layout;
	return answered && read.complete;
}

bool runtime_file_v8(struct foreign_reader *reader, const struct managed_place *place, struct v8_layout *ret, bool *ret_usable)
{
	struct v8_read read = { 0 };
	struct file_question what = { read_v8, &read, sizeof(read) };
	struct tables q = { 0 };
	bool answered = ask_file(reader, place, &q, &what);

	*ret = read.layout;
	*ret_usable = read.usable;
	return answered;
}

bool runtime_file_variables(struct foreign_reader *reader, const struct managed_place *place, struct runtime_variables *ret)
{
	struct file_question what = { read_variables, ret, sizeof(*ret) };
	struct tables q = { 0 };

	memset(ret, 0, sizeof(*ret));
	return ask_file(reader, place, &q, &what);
}

size_t runtime_file_bytes(struct foreign_reader *reader, const struct managed_place *place, uint64_t addr, void *ret, size_t len)
{
	struct bytes_read *read = memory_zeroed(1, sizeof(*read));
	struct file_question what = { read_bytes, read, sizeof(*read) };
	struct tables q = { .structs = { addr } };
	size_t got = ask_file(reader, place, &q, &what) ? MIN(MIN((size_t)read->len, sizeof(read->bytes)), len) : 0;

	memcpy(ret, read->bytes, got);
	free(read);
	return got;
}
