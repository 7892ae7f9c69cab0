/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_binary.c - reads symbol tables directly: only a few known names are needed, and some are thread-local variables,
 * which symtab and object_table do not have.
 */
#include "record/managed/managed_binary.h"

#include "formats/base/page_guard.h"
#include "formats/base/path.h"
#include "formats/base/path_fd.h"
#include "formats/base/reader.h"
#include "record/task/maps_line.h"
#include "record/task/process_stat.h"
#include "symbolize/elf/image.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYMBOL_LEN	24 /* of an Elf64_Sym */
#define SYMBOL_TYPE_TLS 6
#define TYPES_OF_VARIABLES (1u << 0 | 1u << 1 | 1u << SYMBOL_TYPE_TLS) /* STT_NOTYPE, STT_OBJECT */
#define TYPES_OF_FUNCTIONS (1u << 0 | 1u << 2)			       /* STT_NOTYPE, STT_FUNC */
#define SYMBOLS_LEN_MAX (16u << 20) /* of a table of all symbols, in a file that is not known yet to hold an interpreter */

#define NUMBER_TEXT_(number) #number
#define NUMBER_TEXT(number)  NUMBER_TEXT_(number)

/* What the reader is asked, with the path behind it, and what it says. */
struct request {
	const struct managed_runtime *runtime;
	const struct managed_runtime *const *runtimes; /* instead: which of them is it? */
	size_t nruntimes;
	uint32_t pid;
	uint64_t start, end, offset, inode;
	char path[PATH_MAX];
};

struct answer {
	bool usable;
	uint64_t vaddr; /* link-time address of what the mapping begins with */
	uint64_t zeroed_vaddr, zeroed_len;
	struct managed_symbol symbols[MANAGED_SYMBOLS_MAX];
	char banner[sizeof(((struct managed_binary *)0)->banner)];
	size_t nloops;
	struct event_managed_loop loops[EVENT_MANAGED_LOOPS];
};

/* A file, as mapped from one offset on. */
struct managed_file {
	const struct managed_runtime *runtime;
	uint64_t device, inode, offset;
	bool usable, late;
	uint32_t owner; /* user of the first process that mapped it */
	uint64_t vaddr;
	struct managed_binary binary;
	char path[];
};

/* ---- in the reader --------------------------------------------------------------------------------- */

struct symbol {
	uint8_t type;
	uint64_t value, len;
};

/*
 * 0: it is not defined in the file. A large one has hundreds of thousands of symbols, of which a few are wanted: most are told by their type and
 * section, others by what their names begin with. So these are taken without a reader, of an entry that is there.
 */
static uint16_t section_of(const uint8_t *entry)
{
	return (uint16_t)(entry[6] | entry[7] << 8);
}

/* Asked before the name, for most symbols of a file are functions, and their names take megabytes. */
static bool has_type(const uint8_t *entry, unsigned types)
{
	return types >> (entry[4] & 15) & 1;
}

static struct symbol read_symbol(const uint8_t *entry)
{
	struct symbol s = { 0 };
	struct reader r;

	reader_init(&r, entry, SYMBOL_LEN, /* big_endian= */ false);
	reader_skip(&r, 4, "symbol name");
	s.type = reader_u8(&r, "symbol type") & 15;
	reader_skip(&r, 3, "symbol visibility and section");
	s.value = reader_u64(&r, "symbol value");
	s.len = reader_u64(&r, "symbol length");
	return s;
}

/* Which symbols are wanted: their types, and what their names begin with, a bit for each pair of bytes. */
struct beginnings {
	unsigned types; /* a bit for each */
	bool varies;	/* only what a program writes to while it runs */
	uint64_t pairs[65536 / 64];
};

static uint32_t pair_of(const char *name)
{
	return (uint8_t)name[0] | (uint32_t)(uint8_t)name[1] << 8;
}

/* @names, of two bytes at least, up to a NULL, of symbols that have one of @types. */
static void add_beginnings(struct beginnings *b, const char *const *names, unsigned types)
{
	b->types |= types;
	for (size_t i = 0; names[i]; i++)
		b->pairs[pair_of(names[i]) / 64] |= 1ULL << (pair_of(names[i]) % 64);
}

static bool may_be_wanted(const struct beginnings *b, const char *name)
{
	return b->pairs[pair_of(name) / 64] >> (pair_of(name) % 64) & 1;
}

static void take_variable(struct image *image, const struct symbol *s, struct managed_symbol *ret)
{
	size_t len;
	const uint8_t *bytes = s->type == SYMBOL_TYPE_TLS ? NULL : image_bytes_at(image, s->value, &len);

	*ret = (struct managed_symbol){ .vaddr = s->value, .found = true };
	if (bytes && len >= sizeof(ret->word))
		memcpy(&ret->word, bytes, sizeof(ret->word));
}

/* Is @name, in @room bytes, that of the function, or of a part of it that the compiler put elsewhere? */
static bool is_part(const char *name, size_t room, const char *function)
{
	size_t len = strlen(function);

	return room > len && strncmp(name, function, len) == 0 && (!name[len] || name[len] == '.');
}

static void take_loop(struct answer *ret, const struct symbol *s)
{
	for (size_t i = 0; i < ret->nloops; i++) {
		if (ret->loops[i].vaddr == s->value)
			return;
	}
	if (ret->nloops < EVENT_MANAGED_LOOPS && s->len)
		ret->loops[ret->nloops++] = (struct event_managed_loop){ s->value, s->len };
}

/* The file may change meanwhile: a name that ended within @room before may no longer do so. */
struct taking {
	const struct managed_runtime *runtime;
	struct image *image;
	struct answer *answer;
};

static void take_symbol(void *context, const struct symbol *s, const char *name, size_t room)
{
	const struct taking *taking = context;
	const struct managed_runtime *runtime = taking->runtime;
	struct answer *ret = taking->answer;

	for (size_t i = 0; runtime->symbols[i] && i < MANAGED_SYMBOLS_MAX; i++) {
		if (!ret->symbols[i].found && strncmp(name, runtime->symbols[i], room) == 0)
			take_variable(taking->image, s, &ret->symbols[i]);
	}
	for (size_t i = 0; runtime->loops[i]; i++) {
		if (is_part(name, room, runtime->loops[i]))
			take_loop(ret, s);
	}
}

/* @name has @room bytes, and may change meanwhile. */
typedef void found_symbol_fn(void *context, const struct symbol *s, const char *name, size_t room);

/* Asked before the name, see has_type(). @variable: sections that a program writes to while it runs. */
static bool is_wanted_kind(const struct beginnings *wanted, const uint8_t *entry, const struct image_section_set *variable)
{
	uint16_t section = section_of(entry);

	return section && has_type(entry, wanted->types) && (!wanted->varies || image_section_set_has(variable, section));
}

/* Those that are as @wanted says. */
static void each_symbol(struct image *image, const char *table, const char *strings, const struct beginnings *wanted,
			found_symbol_fn *found, void *context)
{
	struct image_section symbols, names;
	struct image_section_set variable;

	image_variable_sections(image, &variable);
	if (!image_section(image, table, &symbols) || !image_section(image, strings, &names) ||
	    names.len < 2 || names.data[names.len - 1])
		return;
	for (size_t i = 0; i < symbols.len / SYMBOL_LEN; i++) {
		const uint8_t *entry = symbols.data + i * SYMBOL_LEN;
		size_t at = four_bytes(entry); /* st_name */
		const char *name = (const char *)names.data + at;

		if (!is_wanted_kind(wanted, entry, &variable) || at >= names.len - 1 || !may_be_wanted(wanted, name))
			continue;
		struct symbol s = read_symbol(entry);

		found(context, &s, name, names.len - at);
	}
}

/* What follows the runtime's banner; NULL if that is not there. */
static const uint8_t *find_banner(const struct managed_runtime *runtime, struct image *image, struct image_section *ret)
{
	const char *banner = runtime->banner;
	const uint8_t *found = NULL;

	if (banner && image_section(image, ".rodata", ret))
		found = memmem(ret->data, ret->len, banner, strlen(banner));
	return found ? found + strlen(banner) : NULL;
}

static void read_banner(const struct managed_runtime *runtime, struct image *image, struct answer *ret)
{
	struct image_section section;
	const uint8_t *found = find_banner(runtime, image, &section);

	if (!found)
		return;
	size_t len = MIN((size_t)(section.data + section.len - found), sizeof(ret->banner) - 1);

	memcpy(ret->banner, found, len);
}

/* A program without a table of its own symbols still has the section. */
static void find_section(const struct managed_runtime *runtime, struct image *image, struct answer *ret)
{
	struct image_section section;

	if (runtime->section && !ret->symbols[0].found && image_section(image, runtime->section, &section))
		take_variable(image, &(struct symbol){ .value = section.vaddr }, &ret->symbols[0]);
}

/* What the file's last writable segment has more in memory than in the file. */
static void find_zeroed(struct image *image, struct answer *ret)
{
	size_t count;
	const struct image_segment *segments = image_segments(image, &count);

	for (size_t i = 0; i < count; i++) {
		const struct image_segment *s = &segments[i];

		if (!s->write || s->memory_len <= s->file_len)
			continue;
		ret->zeroed_vaddr = s->vaddr + s->file_len;
		ret->zeroed_len = s->memory_len - s->file_len;
	}
}

/*
 * Only a regular file, and only the one that is mapped: a hostile process must not block us by what it puts at the path, and
 * links below its root must not lead to a file that only we may read.
 */
static int open_file(const struct managed_place *place)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, place->pid,
		 place->start, place->end);
	int fd = path_fd_take_regular(open(link, O_PATH | O_CLOEXEC), &st);

	if (fd < 0)
		fd = path_fd_take_regular(path_fd_in_root(place->pid, place->path), &st);
	if (fd >= 0 && st.st_ino != place->inode) {
		close(fd);
		return -1;
	}
	return fd;
}

struct image *managed_place_open(const struct managed_place *place)
{
	/* Its owner may cut it short while it is mapped here. */
	page_guard_stay();
	int fd = open_file(place);
	struct image *image = NULL;
	struct err *err = fd < 0 ? NULL : image_open_foreign(fd, place->path, &image);

	err_free(err);
	return image;
}

static struct image *open_request(const struct request *q)
{
	const struct managed_place place = { .pid = q->pid,
					     .start = q->start,
					     .end = q->end,
					     .offset = q->offset,
					     .inode = q->inode,
					     .path = q->path };

	return managed_place_open(&place);
}

static void run(const void *request, void *answer, int *ret_fd)
{
	const struct request *q = request;
	CLEANUP(image_closep) struct image *image = open_request(q);
	struct answer *ret = answer;
	uint64_t bias;

	(void)ret_fd;
	if (!image || !image_bias(image, q->start, q->offset, &bias))
		return;
	ret->vaddr = q->start - bias;
	struct taking taking = { q->runtime, image, ret };
	struct beginnings wanted = { 0 };

	add_beginnings(&wanted, q->runtime->symbols, TYPES_OF_VARIABLES);
	add_beginnings(&wanted, q->runtime->loops, *q->runtime->loops ? TYPES_OF_FUNCTIONS : 0);
	each_symbol(image, ".dynsym", ".dynstr", &wanted, take_symbol, &taking);
	each_symbol(image, ".symtab", ".strtab", &wanted, take_symbol, &taking);
	find_section(q->runtime, image, ret);
	read_banner(q->runtime, image, ret);
	find_zeroed(image, ret);
	for (size_t i = 0; i < MANAGED_SYMBOLS_MAX; i++)
		ret->usable |= ret->symbols[i].found;
}

/* Like strncmp(), but inline: most of the hundreds of thousands of names of a large file differ in the first bytes. */
static bool may_begin(const char *name, size_t room, const char *prefix)
{
	size_t i = 0;

	while (i < room && prefix[i] && name[i] == prefix[i])
		i++;
	return i == room || !prefix[i];
}

struct sighting {
	const struct request *request;
	uint32_t seen; /* a bit for each runtime of which the file has a symbol */
};

static void see_symbol(void *context, const struct symbol *s, const char *name, size_t room)
{
	struct sighting *sighting = context;
	const struct request *q = sighting->request;

	(void)s;
	for (size_t i = 0; i < q->nruntimes; i++) {
		for (const char *const *symbol = q->runtimes[i]->symbols; *symbol; symbol++) {
			if (may_begin(name, room, *symbol) && strncmp(name, *symbol, room) == 0)
				sighting->seen |= 1u << i;
		}
	}
}

static uint32_t see_symbols(struct image *image, const struct request *q)
{
	struct sighting sighting = { q, 0 };
	struct beginnings wanted = { .varies = true }; /* each interpreter has one of these, and a large program 100,000 others */
	struct image_section all;

	for (size_t i = 0; i < q->nruntimes; i++)
		add_beginnings(&wanted, q->runtimes[i]->symbols, TYPES_OF_VARIABLES);
	each_symbol(image, ".dynsym", ".dynstr", &wanted, see_symbol, &sighting);
	if (!sighting.seen && image_section(image, ".symtab", &all) && all.len <= SYMBOLS_LEN_MAX)
		each_symbol(image, ".symtab", ".strtab", &wanted, see_symbol, &sighting);
	return sighting.seen;
}

/* The number of the runtime in the file, from 1 on; 0: none. One symbol is not enough: any program may use its name. */
static void run_which(const void *request, void *answer, int *ret_fd)
{
	const struct request *q = request;
	CLEANUP(image_closep) struct image *image = open_request(q);
	uint32_t seen = image ? see_symbols(image, q) : 0;
	struct image_section section;
	uint64_t *ret = answer;

	(void)ret_fd;
	for (size_t i = 0; image && i < q->nruntimes && !*ret; i++) {
		const struct managed_runtime *runtime = q->runtimes[i];
		bool there = seen & 1u << i || (runtime->section && image_section(image, runtime->section, &section));

		if (there && (!runtime->banner || find_banner(runtime, image, &section)))
			*ret = i + 1;
	}
}

struct wanted {
	const char *const *prefixes;
	managed_symbol_fn *take;
	void *context;
};

static void take_wanted(void *context, const struct symbol *s, const char *name, size_t room)
{
	const struct wanted *wanted = context;
	char copy[MANAGED_SYMBOL_NAME_MAX + 1];
	bool is_wanted = false;

	for (size_t i = 0; wanted->prefixes[i] && !is_wanted; i++)
		is_wanted = may_begin(name, room, wanted->prefixes[i]);
	if (!is_wanted)
		return;
	size_t len = MIN(room, sizeof(copy));

	memcpy(copy, name, len);
	if (memchr(copy, '\0', len))
		wanted->take(wanted->context, copy, s->value, s->len);
}

void managed_image_symbols(struct image *image, const char *const *prefixes, managed_symbol_fn *take, void *context)
{
	struct wanted wanted = { prefixes, take, context };
	struct beginnings beginnings = { 0 };

	add_beginnings(&beginnings, prefixes, TYPES_OF_VARIABLES | TYPES_OF_FUNCTIONS);
	each_symbol(image, ".dynsym", ".dynstr", &beginnings, take_wanted, &wanted);
	each_symbol(image, ".symtab", ".strtab", &beginnings, take_wanted, &wanted);
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* The reader parsed untrusted data, so its answer is untrusted too. */
static void take_answer(struct managed_file *file, const struct answer *answer)
{
	struct managed_binary *binary = &file->binary;

	file->usable = answer->usable;
	file->vaddr = answer->vaddr;
	binary->zeroed_vaddr = answer->zeroed_vaddr;
	binary->zeroed_len = answer->zeroed_len;
	binary->nloops = MIN(answer->nloops, (size_t)EVENT_MANAGED_LOOPS);
	memcpy(binary->loops, answer->loops, sizeof(binary->loops));
	memcpy(binary->banner, answer->banner, sizeof(binary->banner));
	binary->banner[sizeof(binary->banner) - 1] = '\0';
	for (size_t i = 0; i < MANAGED_SYMBOLS_MAX; i++)
		binary->symbols[i] = answer->symbols[i];
}

/* Have @job_run done with @request, whose path is that of @place, by the reader. */
static enum foreign_result ask(struct foreign_reader *reader, const struct managed_place *place, struct request *request,
			       void (*job_run)(const void *request, void *answer, int *ret_fd), void *answer, size_t answer_len)
{
	size_t len = strlen(place->path);
	int fd;
	const struct foreign_job job = {
		.run = job_run,
		.name = place->path,
		.request = request,
		.request_len = offsetof(struct request, path) + len + 1,
		.answer_len = answer_len,
		.pid = place->pid,
	};

	memset(answer, 0, answer_len);
	if (len >= sizeof(request->path))
		return FOREIGN_DONE;
	request->pid = place->pid;
	request->start = place->start;
	request->end = place->end;
	request->offset = place->offset;
	request->inode = place->inode;
	memcpy(request->path, place->path, len + 1);
	enum foreign_result result = foreign_reader_ask(reader, &job, answer, &fd);

	if (fd >= 0)
		close(fd);
	return result;
}

static enum foreign_result read_file(struct foreign_reader *reader, const struct managed_place *place,
				     struct managed_file *file)
{
	struct request request = { .runtime = file->runtime };
	struct answer answer;
	enum foreign_result result = ask(reader, place, &request, run, &answer, sizeof(answer));

	if (result == FOREIGN_DONE)
		take_answer(file, &answer);
	return result;
}

bool managed_files_which(struct managed_files *files, const struct managed_runtime *const *runtimes, size_t count,
			 const struct managed_place *place, const struct managed_runtime **ret)
{
	struct request request = { .runtimes = runtimes, .nruntimes = count };
	uint64_t which;

	*ret = NULL;
	enum foreign_result result = ask(files->reader, place, &request, run_which, &which, sizeof(which));

	if (result == FOREIGN_DONE && which && which <= count)
		*ret = runtimes[which - 1];
	return result != FOREIGN_REFUSED;
}

static struct managed_file *new_file(const struct managed_runtime *runtime,
				     const struct managed_place *place)
{
	size_t len = strlen(place->path);
	struct managed_file *file = memory_zeroed(1, sizeof(*file) + len + 1);

	memcpy(file->path, place->path, len);
	file->runtime = runtime;
	file->device = place->device;
	file->inode = place->inode;
	file->offset = place->offset;
	file->binary.path = file->path;
	file->binary.name = path_last_part(file->path);
	return file;
}

static struct managed_file *known_file(const struct managed_files *files,
				       const struct managed_runtime *runtime,
				       const struct managed_place *place)
{
	for (size_t i = 0; i < files->items.len; i++) {
		struct managed_file *file = files->items.items[i];

		if (file->runtime == runtime && file->inode == place->inode &&
		    file->device == place->device && file->offset == place->offset &&
		    strcmp(file->path, place->path) == 0)
			return file;
	}
	return NULL;
}

/* A user may have any number of copies of real interpreters, or of files that do not answer. */
static bool has_too_many(const struct managed_files *files, uint32_t owner)
{
	size_t count = 0, max = files->max_of_user ? files->max_of_user : MANAGED_FILES_OF_USER_MAX;

	if (!files->max_of_user && !owner)
		return false;
	for (size_t i = 0; i < files->items.len; i++)
		count += files->items.items[i]->owner == owner && (files->items.items[i]->usable || files->items.items[i]->late);
	return count >= max;
}

/*
 * Forget the oldest file that turned out to hold no interpreter: nobody refers to it. Any user can begin programs with an interpreter's name.
 * One that did not answer is kept, for it would have to be waited for again.
 */
static bool make_room(struct managed_files *files)
{
	size_t i = 0;

	while (i < files->items.len && (files->items.items[i]->usable || files->items.items[i]->late))
		i++;
	if (i == files->items.len)
		return false;
	free(files->items.items[i]);
	vec_remove(&files->items, i, 1);
	return true;
}

/* Read it, and remember the result, unless no reader was available. */
static struct managed_file *find_file(struct managed_files *files, const struct managed_runtime *runtime,
				      const struct managed_place *place, const char **why)
{
	struct managed_file *file = known_file(files, runtime, place);

	if (file)
		return file;
	uint32_t owner = process_owner(place->pid);

	if (has_too_many(files, owner)) {
		*why = "there are more files of interpreters of one user than " NUMBER_TEXT(MANAGED_FILES_OF_USER_MAX);
		return NULL;
	}
	if (files->items.len >= (files->max ? files->max : MANAGED_FILES_MAX) && !make_room(files)) {
		*why = "there are more files of interpreters than " NUMBER_TEXT(MANAGED_FILES_MAX);
		return NULL;
	}
	file = new_file(runtime, place);
	file->owner = owner;
	enum foreign_result result = read_file(files->reader, place, file);

	if (result == FOREIGN_REFUSED) {
		*why = "it was not read, for others did not answer";
		free(file);
		return NULL;
	}
	file->late = result == FOREIGN_LATE;
	vec_push(&files->items, file);
	return file;
}

const struct managed_binary *managed_files_get(struct managed_files *files,
					       const struct managed_runtime *runtime,
					       const struct managed_place *place,
					       uint64_t *ret_bias, const char **ret_why)
{
	const char *why = NULL;
	const struct managed_file *file = find_file(files, runtime, place, &why);

	if (file && file->late)
		why = "its file did not answer in time, or crashed its reader";
	if (why && ret_why)
		*ret_why = why;
	if (!file || !file->usable)
		return NULL;
	*ret_bias = place->start - file->vaddr;
	return &file->binary;
}

void managed_files_deinit(struct managed_files *files)
{
	for (size_t i = 0; i < files->items.len; i++)
		free(files->items.items[i]);
	vec_deinit(&files->items);
	foreign_reader_free(files->reader);
}

/* ---- mappings -------------------------------------------------------------------------------------- */

/* A line of /proc/PID/maps; false if it is no executable mapping of a file. */
static bool parse_line(char *line, struct managed_place *ret)
{
	struct maps_line map;

	if (!maps_line_parse(line, &map) || !map.executes || *map.path != '/')
		return false;
	ret->start = map.start;
	ret->end = map.end;
	ret->offset = map.offset;
	ret->device = map.device;
	ret->inode = map.inode;
	ret->path = map.path;
	return true;
}

/* Prefer a library to the program, which may be a stub that uses it. */
static bool is_library(const struct managed_place *place)
{
	return strncmp(path_last_part(place->path), "lib", 3) == 0;
}

void managed_place_each(uint32_t pid, managed_place_fn *take, void *context)
{
	char path[64], line[PATH_MAX + 128];
	bool more = true;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);

	FILE *maps = fopen(path, "re");

	while (more && maps && fgets(line, sizeof(line), maps)) {
		struct managed_place place = { .pid = pid };

		if (parse_line(line, &place))
			more = take(context, &place);
	}
	if (maps)
		fclose(maps);
}

struct finding {
	const struct managed_runtime *runtime;
	char *path_room;
	struct managed_place *found;
	bool any;
};

static bool take_place(void *context, const struct managed_place *place)
{
	struct finding *f = context;

	if (!f->runtime->is_file(path_last_part(place->path)) || (f->any && (is_library(f->found) || !is_library(place))))
		return true;
	*f->found = *place;
	f->found->path = memcpy(f->path_room, place->path, MIN(strlen(place->path) + 1, (size_t)PATH_MAX));
	f->path_room[PATH_MAX - 1] = '\0';
	f->any = true;
	return true;
}

bool managed_place_find(uint32_t pid, const struct managed_runtime *runtime, char *path_room,
			struct managed_place *ret)
{
	struct finding f = { .runtime = runtime, .path_room = path_room, .found = ret };

	managed_place_each(pid, take_place, &f);
	return f.any;
}

struct program {
	const char *path;
	struct managed_place *found;
	bool any;
};

static bool take_program(void *context, const struct managed_place *place)
{
	struct program *p = context;

	if (strcmp(place->path, p->path) != 0)
		return true;
	*p->found = *place;
	p->found->path = p->path;
	p->any = true;
	return false;
}

bool managed_place_program(uint32_t pid, char *path_room, struct managed_place *ret)
{
	struct program p = { .path = path_room, .found = ret };
	char link[64];

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/exe", pid);
	ssize_t len = readlink(link, path_room, PATH_MAX - 1);

	if (len <= 0)
		return false;
	path_room[len] = '\0';
	managed_place_each(pid, take_program, &p);
	return p.any;
}
