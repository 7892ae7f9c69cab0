/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_event.c - from names in a file to offsets, and from the words behind them to registers.
 */
#include "record/event/probe_event.h"

#include "formats/arch.h"
#include "formats/base/compiler.h"
#include "formats/base/text.h"
#include "symbolize/elf/image.h"
#include "symbolize/elf/symtab.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *prefix, *pmu;
	bool is_return, is_usdt;
} kinds[] = {
	{ "uprobe:", "uprobe", false, false }, { "uretprobe:", "uprobe", true, false },
	{ "usdt:", "uprobe", false, true },    { "kprobe:", "kprobe", false, false },
	{ "kretprobe:", "kprobe", true, false },
};

/* Where the arguments of a call are, and what it returns (System V ABI; AAPCS64), as DWARF numbers. */
static const uint8_t x86_arguments[] = { 5, 4, 1, 2, 8, 9 };
static const uint8_t arm_arguments[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* Parts of the registers of x86-64, by the DWARF number of the whole. */
static const struct {
	const char *name;
	uint8_t reg, len;
} parts[] = {
	{ "ax", 0, 8 },	 { "eax", 0, 4 }, { "al", 0, 1 }, { "dx", 1, 8 }, { "edx", 1, 4 }, { "dl", 1, 1 },
	{ "cx", 2, 8 },	 { "ecx", 2, 4 }, { "cl", 2, 1 }, { "bx", 3, 8 }, { "ebx", 3, 4 }, { "bl", 3, 1 },
	{ "si", 4, 8 },	 { "esi", 4, 4 }, { "sil", 4, 1 }, { "di", 5, 8 }, { "edi", 5, 4 }, { "dil", 5, 1 },
	{ "bp", 6, 8 },	 { "ebp", 6, 4 }, { "sp", 7, 8 }, { "ip", 16, 8 },
};

static size_t kind_of(const char *text)
{
	size_t kind = 0;

	while (kind < ARRAY_LEN(kinds) && strncmp(text, kinds[kind].prefix, strlen(kinds[kind].prefix)) != 0)
		kind++;
	return kind;
}

bool probe_event_is(const char *text)
{
	return kind_of(text) < ARRAY_LEN(kinds);
}

/* ---- arguments ---- */

static bool find_register(const char *name, uint8_t *ret)
{
	const struct arch *arch = arch_native();

	for (uint8_t i = 0; i < arch->nregs; i++)
		if (arch->reg_names[i] && strcmp(arch->reg_names[i], name) == 0) {
			*ret = i;
			return true;
		}
	for (size_t i = 0; arch == &arch_x86_64 && i < ARRAY_LEN(parts); i++)
		if (strcmp(parts[i].name, name) == 0) {
			*ret = parts[i].reg;
			return true;
		}
	return false;
}

/* "%di", "$arg1", "$retval" */
static bool find_place(const char *text, uint8_t *ret)
{
	bool x86 = arch_native() == &arch_x86_64;
	const uint8_t *arguments = x86 ? x86_arguments : arm_arguments;
	size_t narguments = x86 ? ARRAY_LEN(x86_arguments) : ARRAY_LEN(arm_arguments);
	uint64_t number;

	if (*text == '%')
		return find_register(text + 1, ret);
	if (strcmp(text, "$retval") == 0) {
		*ret = 0;
		return true;
	}
	if (strncmp(text, "$arg", 4) != 0 || !text_parse_u64(text + 4, &number) || !number || number > narguments)
		return false;
	*ret = arguments[number - 1];
	return true;
}

static bool read_type(const char *text, struct probe_arg *arg)
{
	uint64_t bits;

	if (!*text || !strchr("usx", *text) || !text_parse_u64(text + 1, &bits) ||
	    (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return false;
	arg->is_signed = *text == 's';
	arg->is_hex = *text == 'x';
	arg->len = (uint8_t)(bits / 8);
	return true;
}

/* "NAME=%di:u64"; @word may be changed. */
static struct err *read_arg(char *word, struct arena *arena, struct probe_args *args)
{
	struct probe_arg arg = { .len = 8 };
	char *value = strchr(word, '=');
	char *type = value ? strchr(value, ':') : NULL;

	if (args->len == PROBE_ARGS_MAX)
		return err_new(ERR_USAGE, "more than %d arguments", PROBE_ARGS_MAX);
	if (type)
		*type++ = 0;
	if (value)
		*value++ = 0;
	if (!value || !*word || word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
		return err_remedy(err_new(ERR_USAGE, "'%s' is not an argument", word),
				  "an argument is NAME=%%REGISTER, NAME=$arg1 or NAME=$retval, with :u64, :s32, :x64 and so on behind it");
	if (!find_place(value, &arg.reg))
		return err_remedy(err_new(ERR_USAGE, "'%s' is not a register", value),
				  "arguments are read from registers only: %%di, $arg1, $retval");
	if (type && !read_type(type, &arg))
		return err_new(ERR_USAGE, "'%s' is not a type: u, s or x with 8, 16, 32 or 64 bits", type);
	arg.name = arena_strdup(arena, word);
	args->items[args->len++] = arg;
	return NULL;
}

static struct err *read_args(char *rest, struct arena *arena, struct probe_args *args)
{
	struct err *err = NULL;

	while (rest && !err) {
		char *word = strsep(&rest, " \t");

		err = *word ? read_arg(word, arena, args) : NULL;
	}
	return err;
}

/* "8@%rdi -4@$5 8@16(%rsp) 4@[sp, 12]": what is in memory is left out, for the recorder reads none. A word without '@' is the rest of one. */
static void read_usdt_args(char *rest, struct arena *arena, struct probe_args *args)
{
	for (unsigned number = 1; rest && args->len < PROBE_ARGS_MAX;) {
		char *word = strsep(&rest, " ");
		char *at = strchr(word, '@');
		long len = strtol(word, NULL, 10);
		struct probe_arg arg = { .is_signed = len < 0, .len = (uint8_t)labs(len) };

		if (!at)
			continue;
		arg.name = arena_printf(arena, "arg%u", number++);
		if ((arg.len != 1 && arg.len != 2 && arg.len != 4 && arg.len != 8))
			continue;
		arg.constant = at[1] == '$';
		if (arg.constant)
			arg.value = (uint64_t)strtoll(at + 2, NULL, 0);
		else if (!find_register(at + 1 + (at[1] == '%'), &arg.reg))
			continue;
		args->items[args->len++] = arg;
	}
}

static uint64_t narrowed(uint64_t value, const struct probe_arg *arg)
{
	unsigned unused = 64 - 8 * arg->len;

	return arg->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

void probe_args_append(const struct probe_args *args, struct event_sample *sample, uint8_t *room)
{
	memset(room, 0, PROBE_RAW_MAX);
	if (sample->raw_len)
		memcpy(room, sample->raw, MIN(sample->raw_len, (size_t)PROBE_ARGS_AT));
	for (unsigned i = 0; i < args->len; i++) {
		const struct probe_arg *arg = &args->items[i];
		bool known = arg->constant || (sample->regs && sample->regs->mask >> arg->reg & 1);
		uint64_t value = !known ? 0 : narrowed(arg->constant ? arg->value : sample->regs->values[arg->reg], arg);

		for (unsigned k = 0; k < sizeof(value); k++)
			room[PROBE_ARGS_AT + 8 * i + k] = (uint8_t)(value >> 8 * k);
	}
	sample->raw = room;
	sample->raw_len = PROBE_ARGS_AT + 8 * args->len;
}

const char *probe_event_format(const struct probe_place *place, const char *name, uint64_t id, struct arena *arena)
{
	static const char at[] = "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n";
	static const char of_return[] = "\tfield:unsigned long __probe_func;\toffset:8;\tsize:8;\tsigned:0;\n"
					"\tfield:unsigned long __probe_ret_ip;\toffset:16;\tsize:8;\tsigned:0;\n";
	const char *ip = place->is_return ? "__probe_ret_ip" : "__probe_ip";
	const char *fields = place->is_return ? of_return : at, *fmt = "(%lx)", *values = "";

	for (unsigned i = 0; i < place->args.len; i++) {
		const struct probe_arg *arg = &place->args.items[i];

		fields = arena_printf(arena, "%s\tfield:%s %s;\toffset:%u;\tsize:8;\tsigned:%d;\n", fields,
				      arg->is_hex ? "void *" : arg->is_signed ? "s64" : "u64", arg->name,
				      PROBE_ARGS_AT + 8 * i, arg->is_signed);
		fmt = arena_printf(arena, "%s %s=%s", fmt, arg->name, arg->is_hex ? "0x%lx" : arg->is_signed ? "%ld" : "%lu");
		values = arena_printf(arena, "%s, REC->%s", values, arg->name);
	}
	return arena_printf(arena,
			    "name: %s\nID: %" PRIu64 "\nformat:\n"
			    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n%s\nprint fmt: \"%s\", REC->%s%s\n",
			    name, id, fields, fmt, ip, values);
}

/* ---- places ---- */

/* A program in $PATH. */
static const char *find_program(const char *name, struct arena *arena)
{
	char *rest = arena_strdup(arena, getenv("PATH") ? getenv("PATH") : "");

	while (rest) {
		const char *path = arena_printf(arena, "%s/%s", strsep(&rest, ":"), name);

		if (access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

/* "libc", "libstdc++.so.6": where libraries usually are. */
static const char *find_library(const char *name, struct arena *arena)
{
	const char *const folders[] = { arena_printf(arena, "/lib/%s-linux-gnu", arch_native()->name),
					arena_printf(arena, "/usr/lib/%s-linux-gnu", arch_native()->name),
					"/lib64", "/usr/lib64", "/usr/lib", "/usr/local/lib" };
	static const char *const endings[] = { "", ".so.[0-9]*", ".so" }; /* libc.so is a script of the linker */

	for (size_t i = 0; i < ARRAY_LEN(folders) * ARRAY_LEN(endings); i++) {
		const char *folder = folders[i / ARRAY_LEN(endings)], *found = NULL;
		glob_t files = { 0 };

		if (glob(arena_printf(arena, "%s/%s%s", folder, name, endings[i % ARRAY_LEN(endings)]), 0, NULL, &files) == 0)
			found = arena_strdup(arena, files.gl_pathv[0]);
		globfree(&files);
		if (found)
			return found;
	}
	return NULL;
}

static struct err *find_file(const char *name, struct arena *arena, const char **ret)
{
	*ret = strchr(name, '/') ? name : find_program(name, arena);
	if (!*ret)
		*ret = find_library(name, arena);
	if (!*ret)
		return err_remedy(err_new(ERR_USAGE, "no program in $PATH and no library is called '%s'", name),
				  "name the file by its path");
	/* The kernel opens it later, perhaps from another folder. */
	char *real = realpath(*ret, NULL);

	if (!real)
		return err_system(errno, "cannot open '%s'", *ret);
	*ret = arena_strdup(arena, real);
	free(real);
	return NULL;
}

static bool offset_of(const struct image *img, uint64_t vaddr, bool exec, uint64_t *ret)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		if ((exec && !segments[i].exec) || vaddr < segments[i].vaddr ||
		    vaddr - segments[i].vaddr >= MAX(segments[i].file_len, exec ? 0 : segments[i].memory_len))
			continue;
		*ret = vaddr - segments[i].vaddr + segments[i].offset;
		return true;
	}
	return false;
}

static struct err *no_function(const struct symtab *tab, const char *name, const char *path, struct arena *arena)
{
	struct text_near near = { .wanted = name };
	size_t count;
	const struct symtab_entry *entries = symtab_entries(tab, &count);

	for (size_t i = 0; i < count; i++)
		text_near_offer(&near, entries[i].name);

	const char *hint = text_near_hint(&near, arena);
	struct err *err = err_new(ERR_USAGE, "'%s' has no function '%s'", path, name);

	if (hint)
		return err_remedy(err, "%s", hint);
	return err_remedy(err, symtab_is_full(tab) ? "C++ and Rust names are matched as in the file: nm FILE"
						   : "the file is stripped: only functions that it exports have names");
}

/* "FUNCTION", "FUNCTION+0x10" or "0x1234" to a link-time address. */
static struct err *find_address(struct image *img, char *text, const char *path, struct arena *arena, uint64_t *ret)
{
	char *plus = strrchr(text, '+'), *end;
	uint64_t more = 0;

	if (strncmp(text, "0x", 2) == 0) {
		*ret = strtoull(text, &end, 16);
		return *end ? err_new(ERR_USAGE, "'%s' is no address", text) : NULL;
	}
	if (plus && plus[1]) {
		more = strtoull(plus + 1, &end, 0);
		if (!*end)
			*plus = 0;
		else
			more = 0;
	}
	struct symtab *tab = symtab_new(img);
	size_t count;
	const struct symtab_entry *entries = symtab_entries(tab, &count);
	struct err *err = NULL;
	size_t i = 0;

	while (i < count && strcmp(entries[i].name, text) != 0)
		i++;
	if (i == count)
		err = no_function(tab, text, path, arena);
	else
		*ret = entries[i].vaddr + more;
	symtab_free(tab);
	return err;
}

static struct err *read_uprobe(char *file, char *place_text, struct arena *arena, struct probe_place *place)
{
	CLEANUP(image_closep) struct image *img = NULL;
	struct err *err = find_file(file, arena, &place->path);
	uint64_t vaddr = 0;

	if (!err)
		err = image_open(place->path, &img);
	if (!err)
		err = find_address(img, place_text, place->path, arena, &vaddr);
	if (!err && !offset_of(img, vaddr, /* exec= */ true, &place->offset))
		err = err_new(ERR_USAGE, "0x%" PRIx64 " is no code of '%s'", vaddr, place->path);
	return err;
}

static struct err *no_marker(const struct usdt_markers *markers, const char *name, const char *path, struct arena *arena)
{
	struct text_near near = { .wanted = name };

	for (size_t i = 0; i < markers->len; i++)
		text_near_offer(&near, markers->items[i].name);

	const char *hint = text_near_hint(&near, arena);
	struct err *err = err_new(ERR_USAGE, "'%s' has no marker '%s'", path, name);

	return err_remedy(err, "%s%s'precord list usdt -x %s' shows those it has", hint ? hint : "", hint ? " " : "", path);
}

static struct err *read_usdt(const char *file, const char *name, struct arena *arena, struct probe_places *ret)
{
	CLEANUP(image_closep) struct image *img = NULL;
	const char *colon = strchr(name, ':'), *path;
	size_t provider_len = colon ? (size_t)(colon - name) : 0;
	struct usdt_markers markers;
	struct err *err = find_file(file, arena, &path);

	if (!err)
		err = usdt_read(path, arena, &markers);
	if (!err)
		err = image_open(path, &img);
	if (err)
		return err;
	ret->items = ARENA_ARRAY(arena, struct probe_place, PROBE_PLACES_MAX);
	for (size_t i = 0; i < markers.len; i++) {
		const struct usdt_marker *marker = &markers.items[i];
		struct probe_place place = { .pmu = "uprobe", .path = path };

		if (strcmp(marker->name, colon ? colon + 1 : name) != 0 ||
		    (colon && (strlen(marker->provider) != provider_len || strncmp(marker->provider, name, provider_len) != 0)))
			continue;
		if (!offset_of(img, marker->vaddr, /* exec= */ true, &place.offset) ||
		    (marker->semaphore && (!offset_of(img, marker->semaphore, false, &place.semaphore) || place.semaphore > UINT32_MAX)))
			continue;
		if (ret->len == PROBE_PLACES_MAX) {
			ret->items[0].left_out++;
			continue;
		}
		read_usdt_args(arena_strdup(arena, marker->args), arena, &place.args);
		ret->items[ret->len++] = place;
	}
	return ret->len ? NULL : no_marker(&markers, colon ? colon + 1 : name, path, arena);
}

static struct err *read_kprobe(char *text, struct arena *arena, struct probe_place *place)
{
	char *plus = strchr(text, '+'), *end = NULL;

	if (plus) {
		*plus++ = 0;
		place->offset = strtoull(plus, &end, 0);
	}
	if (!*text || (plus && (end == plus || *end)))
		return err_new(ERR_USAGE, "a kprobe is kprobe:FUNCTION or kprobe:FUNCTION+OFFSET");
	if (place->args.len)
		return err_remedy(err_new(ERR_USAGE, "arguments of kprobes are not read"),
				  "a tracepoint has fields: precord list 'syscalls:*'");
	place->path = arena_strdup(arena, text);
	return NULL;
}

struct err *probe_event_read(const char *text, struct arena *arena, struct probe_places *ret)
{
	size_t kind = kind_of(text);
	char *rest = arena_strdup(arena, text + strlen(kinds[kind].prefix));
	char *words = rest + strcspn(rest, " \t");
	struct probe_place place = { .pmu = kinds[kind].pmu, .is_return = kinds[kind].is_return };
	bool kernel = *kinds[kind].pmu == 'k';

	if (*words)
		*words++ = 0;
	*ret = (struct probe_places){ .name = arena_printf(arena, "%s%s", kinds[kind].prefix, rest) };

	struct err *err = read_args(words, arena, &place.args);
	char *colon = strchr(rest, ':');

	if (err)
		return err;
	if (!kernel && (!colon || !colon[1] || colon == rest))
		return err_remedy(err_new(ERR_USAGE, "'%s' does not name a place in a file", text),
				  "type %sFILE:%s", kinds[kind].prefix, kinds[kind].is_usdt ? "NAME" : "FUNCTION");
	if (!kernel)
		*colon++ = 0;
	if (kinds[kind].is_usdt)
		return place.args.len ? err_new(ERR_USAGE, "a marker has arguments of its own") : read_usdt(rest, colon, arena, ret);
	err = kernel ? read_kprobe(rest, arena, &place) : read_uprobe(rest, colon, arena, &place);
	ret->items = ARENA_ARRAY(arena, struct probe_place, 1);
	ret->items[0] = place;
	ret->len = 1;
	return err;
}
