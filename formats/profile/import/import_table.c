/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_table.c - the importer with the highest score reads the file, no other is tried.
 */
#include "formats/profile/import/import_table.h"

#include "formats/profile/import/import_json.h"
#include "formats/profile/import/import_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EXTENSION_MAX 31 /* characters that count */

#define ROW(name) &import_##name,
const struct importer *const import_table[] = { IMPORT_ROWS(ROW) NULL };
#undef ROW

/* ---- what the bytes of an unknown file look like ---- */

#define MEMRAY_REMEDY "of memray: type 'memray transform speedscope -o memory.json FILE' and open that; else unpack it with 'lz4 -d'"
#define PICKLE	      "a Python pickle, as tracemalloc's snapshots are"
#define PICKLE_REMEDY                                                                                                        \
	"of tracemalloc, type: python3 -c \"import tracemalloc as t; [print(';'.join(f'{f.filename}:{f.lineno}' for f in "        \
	"s.traceback), s.size) for s in t.Snapshot.load('FILE').statistics('traceback')]\" > memory.folded"

static const struct known_bytes {
	const char *magic;
	size_t len;
	const char *what;
	const char *remedy; /* or NULL */
} known_bytes[] = {
	{ "PERFILE2", 8, "perf.data that was compressed as a whole", "unpack it first" },
	{ "2ELIFREP", 8, "perf.data that was compressed as a whole", "unpack it first" },
	{ "\x5c\x2a\x4d\x18", 4, "a trace that was compressed once more", "unpack it first" },
	{ "Nettrace", 8, ".NET's nettrace of a version other than 4 and 5", "convert it with 'dotnet-trace convert --format Speedscope'" },
	{ "v8-version,", 11, "V8's log of node --prof", "type 'node --prof-process --preprocess LOG > ticks.json' and open that" },
	{ "memray", 6, "a file of memray", MEMRAY_REMEDY },
	{ "\x04\x22\x4d\x18", 4, "lz4-compressed data, as memray's files are", MEMRAY_REMEDY },
	{ "\x80\x03" "c", 3, PICKLE, PICKLE_REMEDY },
	{ "\x80\x04\x95", 3, PICKLE, PICKLE_REMEDY },
	{ "\x80\x05\x95", 3, PICKLE, PICKLE_REMEDY },
	{ "\x7f" "ELF", 4, "a program or library", NULL },
	{ "PK\x03\x04", 4, "a zip archive", "unpack it first" },
	{ "\xfd" "7zXZ", 5, "xz-compressed data", "unpack it with 'xz -d'" },
	{ "BZh", 3, "bzip2-compressed data", "unpack it with 'bunzip2'" },
	{ "SQLite format 3", 15, "an SQLite database", NULL },
	{ "<!DOCTYPE", 9, "an HTML page", NULL },
	{ "<html", 5, "an HTML page", NULL },
	{ "<?xml", 5, "XML", NULL },
	{ "<svg", 4, "a picture (SVG)", NULL },
	{ "%PDF", 4, "a PDF document", NULL },
};

static bool is_text(const uint8_t *start, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (start[i] < ' ' && start[i] != '\n' && start[i] != '\r' && start[i] != '\t' &&
		    start[i] != '\f' && start[i] != 0x1b)
			return false;
	return true;
}

static const struct known_bytes scalene = {
	.what = "JSON of Scalene, shares of lines without samples",
	.remedy = "record with 'precord -- python3 PROGRAM' or 'py-spy record', and open what they write",
};

static const struct known_bytes *known(const uint8_t *start, size_t len)
{
	if (import_json_begins(start, len, '{') && import_json_has(start, len, "alloc_samples"))
		return &scalene;
	for (size_t i = 0; i < ARRAY_LEN(known_bytes); i++)
		if (len >= known_bytes[i].len &&
		    memcmp(start, known_bytes[i].magic, known_bytes[i].len) == 0)
			return &known_bytes[i];
	return NULL;
}

static struct err *unknown_bytes(const struct import_input *in, size_t len)
{
	char first[3 * 8 + 1] = "";
	if (import_json_begins(in->data, len, '{') || import_json_begins(in->data, len, '['))
		return err_new(ERR_UNSUPPORTED, "'%s' is JSON, but not a profile that preport knows", in->name);
	if (is_text(in->data, len))
		return err_new(ERR_UNSUPPORTED, "'%s' is text, but not a profile that preport knows", in->name);
	for (size_t i = 0; i < MIN(len, (size_t)8); i++)
		snprintf(first + 3 * i, 4, " %02x", in->data[i]);
	return err_new(ERR_UNSUPPORTED, "'%s' is not in a format that preport reads; it begins with the bytes%s",
		       in->name, first);
}

static struct err *unknown(const struct import_input *in, size_t len)
{
	static const char list[] = "'preport formats' lists what can be read";
	const struct known_bytes *bytes = known(in->data, len);

	if (!bytes)
		return err_remedy(unknown_bytes(in, len), list);
	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' is %s, which preport does not read", in->name,
				  bytes->what),
			  "%s", bytes->remedy ? bytes->remedy : list);
}

/* ---- which one ---- */

/* The extension at @at, which is moved behind it; NULL: there is none left. */
static const char *next_extension(const char **at, size_t *ret_len)
{
	const char *found = *at + strspn(*at, " ");

	*ret_len = strcspn(found, " ");
	*at = found + *ret_len;
	return *ret_len ? found : NULL;
}

/* How long is the longest of @extensions that @name ends in? 0: it ends in none. */
static unsigned extension_len(const char *name, const char *extensions)
{
	size_t name_len = strlen(name), len, longest = 0;
	const char *extension;

	if (name_len > 3 && strcmp(name + name_len - 3, ".gz") == 0)
		name_len -= 3;
	while ((extension = next_extension(&extensions, &len)))
		if (name_len > len && memcmp(name + name_len - len, extension, len) == 0)
			longest = MAX(longest, len);
	return (unsigned)MIN(longest, (size_t)EXTENSION_MAX);
}

/* The first extension of @of by which a name tells it from @other. */
static const char *own_extension(const struct importer *of, const struct importer *other, struct arena *arena)
{
	const char *at = of->extensions, *extension;
	size_t len;

	while ((extension = next_extension(&at, &len))) {
		const char *own = arena_printf(arena, "x%.*s", (int)len, extension);

		if (extension_len(own, of->extensions) > extension_len(own, other->extensions))
			return own + 1;
	}
	return of->extensions;
}

static struct err *equally_likely(const struct import_input *in, const struct importer *one, const struct importer *other)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	return err_remedy(err_new(ERR_UNSUPPORTED, "'%s' could be %s or %s", in->name, one->name, other->name),
			  "give it a name that ends in '%s' or '%s'", own_extension(one, other, &arena),
			  own_extension(other, one, &arena));
}

struct err *import_table_find(const struct import_input *in, const struct importer **ret)
{
	const struct importer *best = NULL, *equal = NULL;
	size_t len = MIN(in->len, IMPORT_START_LEN);
	unsigned best_score = 0;

	for (size_t i = 0; import_table[i]; i++) {
		unsigned score = import_table[i]->recognise(in->data, len);

		/* A name is worth less than the smallest difference that bytes make; the longer extension says more. */
		score = score ? score * (EXTENSION_MAX + 1) + extension_len(in->name, import_table[i]->extensions) : 0;
		if (score && score == best_score)
			equal = import_table[i];
		if (score > best_score) {
			best = import_table[i];
			best_score = score;
			equal = NULL;
		}
	}
	if (!best)
		return unknown(in, len);
	if (equal)
		return equally_likely(in, best, equal);
	*ret = best;
	return NULL;
}

struct err *import_table_read(const struct importer *importer, const struct import_input *in,
			      struct profile *p, struct profile_facts *facts, struct diag *diag)
{
	struct err *err = importer->read(in, p, facts, diag);

	if (!err && p->overflowed)
		err = err_new(ERR_CORRUPT, "the values of its samples add up to more than 64 bits can hold");
	if (!err && !p->samples.len)
		err = err_new(ERR_UNSUPPORTED, "it holds no samples");
	if (!err && p->stacks_cut)
		diag_warn(diag, "some stacks are deeper than %d frames; those between their root and their leaf are left out",
			  PROFILE_DEPTH_MAX);
	return err ? err_wrap(err, "'%s', read as %s", in->name, importer->name) : NULL;
}
