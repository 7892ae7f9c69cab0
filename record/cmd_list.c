/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_list.c - prints the catalog of events: a line or two for each event that works here. Events that do not, and
 * thousands of tracepoints, are summarized unless a pattern selects them.
 */
#include "formats/base/csv.h"
#include "formats/base/err.h"
#include "formats/base/page_guard.h"
#include "formats/base/path_fd.h"
#include "formats/base/strtab.h"
#include "formats/base/text.h"
#include "formats/perf/perf_command.h"
#include "record/commands.h"
#include "record/event/event_catalog.h"
#include "record/event/probe_event.h"
#include "record/perf_options.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- USDT markers of a file ---- */

/*
 * A marker that was compiled in at several places is listed once, with their number. Files of a process are untrusted: they
 * are looked up below its own root, no link leads out of it, only regular files are opened, and files that are not ELF are
 * skipped.
 */

#define FILES_MAX 4096u /* of a process */

struct usdt_listing {
	bool csv, begun;
	size_t nmarkers, nfiles;
};

static bool is_same(const struct usdt_marker *a, const struct usdt_marker *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->name, b->name) == 0;
}

static void put_marker(struct usdt_listing *l, const char *path, const struct usdt_marker *marker, size_t places,
		       struct arena *arena)
{
	const char *name = text_escape(arena, arena_printf(arena, "usdt:%s:%s:%s", path, marker->provider, marker->name));
	const char *args = text_escape(arena, marker->args);

	if (l->csv && !l->begun)
		printf("event,places,arguments\n");
	l->begun = true;
	if (l->csv) {
		csv_put_quoted(stdout, name);
		printf(",%zu,", places);
		csv_put_quoted(stdout, args);
		putchar('\n');
	} else {
		printf("  %s", name);
		if (places > 1)
			printf("  (%zu places)", places);
		printf("%s%s\n", *args ? "\n      " : "", args);
	}
}

static void put_markers(struct usdt_listing *l, const char *path, const struct usdt_markers *markers, struct arena *arena)
{
	size_t next;

	l->nfiles++;
	for (size_t i = 0; i < markers->len; i = next) {
		for (next = i + 1; next < markers->len && is_same(&markers->items[i], &markers->items[next]);)
			next++;
		put_marker(l, path, &markers->items[i], next - i, arena);
		l->nmarkers++;
	}
}

static struct err *put_file(struct usdt_listing *l, const char *path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct usdt_markers markers;
	struct err *err = usdt_read(path, &arena, &markers);

	if (!err)
		put_markers(l, path, &markers, &arena);
	return err;
}

/* A file that is not readable ELF has no markers. */
static void put_mapped(struct usdt_listing *l, uint32_t pid, const char *path)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct usdt_markers markers;
	struct stat st;
	int fd = path_fd_take_regular(path_fd_in_root(pid, path), &st);
	struct err *err = fd < 0 ? NULL : usdt_read_fd(fd, path, &arena, &markers);

	if (fd >= 0 && !err)
		put_markers(l, path, &markers, &arena);
	err_free(err);
}

/* The path of a line of /proc/PID/maps that is mapped as code; NULL if it is none. */
static char *code_path(char *line)
{
	char *path = strchr(line, '/');
	char *space = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	return path && space && strlen(space) > 4 && space[3] == 'x' ? path : NULL;
}

/* The paths in number order from 1 on, each once. */
static void read_paths(FILE *maps, struct strtab *paths)
{
	char *line = NULL;
	size_t room = 0;

	while (paths->len <= FILES_MAX + 1 && getline(&line, &room, maps) > 0) {
		const char *path = code_path(line);

		if (path)
			strtab_add(paths, path);
	}
	free(line);
}

static struct err *refuse_process(uint32_t pid, int why)
{
	struct err *err = err_system(why, "cannot read the mappings of process %" PRIu32, pid);

	if (why == ENOENT)
		return err_remedy(err, "there is no process with this number: it has ended, or it is in another PID namespace");
	if (why == EACCES || why == EPERM)
		return err_remedy(err, "run as its user or as root, or name its program: precord list usdt -x FILE");
	return err;
}

static struct err *put_process(struct usdt_listing *l, uint32_t pid)
{
	CLEANUP(strtab_deinit) struct strtab paths = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	FILE *maps = fopen(path, "re");

	if (!maps)
		return refuse_process(pid, errno);
	read_paths(maps, &paths);
	fclose(maps);
	/* Its owner may cut a file short while it is mapped here. */
	page_guard_stay();
	for (uint32_t i = 1; i < paths.len && i <= FILES_MAX; i++)
		put_mapped(l, pid, strtab_get(&paths, i));
	if (paths.len > FILES_MAX + 1)
		return err_new(ERR_UNSUPPORTED, "process %" PRIu32 " has mapped more than %u files: only those are shown", pid,
			       FILES_MAX);
	return NULL;
}

/*
 * Print the markers of @file, if it is not NULL, and of process @pid, if it is not 0, as "usdt:FILE:PROVIDER:NAME ARGUMENTS", or as
 * CSV. None is an error. ERR_SYSTEM: the file or the process cannot be read.
 */
static struct err *usdt_list_print(const char *file, uint32_t pid, bool csv)
{
	struct usdt_listing l = { .csv = csv };
	struct err *err = file ? put_file(&l, file) : NULL;

	if (!err && pid)
		err = put_process(&l, pid);
	if (err || l.nmarkers)
		return err;
	return err_remedy(err_new(ERR_USAGE, "%s", file ? "the file has no USDT markers"
							: "no file of the process has USDT markers"),
			  "programs have them if they were built with <sys/sdt.h>; functions can be probed without: -e "
			  "uprobe:FILE:FUNCTION");
}

#define WIDTH       80 /* columns */
#define TEXT_COLUMN 38 /* where descriptions start */

struct list_args {
	bool all;
	const char *pmu;
	const char *format;
	const char *file; /* whose markers; NULL: not given */
	uint64_t pid;	  /* the same; 0: not given */
};

struct listing {
	const struct list_args *args;
	struct event_catalog catalog;
	const char *pattern; /* NULL: none was given */
	struct arena arena;
};

static const char *const formats[] = { "text", "csv", NULL };

static const struct opt list_opts[] = {
	OPT_FLAG(struct list_args, all, "all", 'a', "show also what does not work here"),
	OPT_STR(struct list_args, pmu, "pmu", 0, "NAME", "only those that this PMU counts; a glob"),
	OPT_CHOICE(struct list_args, format, "format", 0, "FORMAT", "text or csv", formats),
	OPT_STR(struct list_args, file, "file", 'x', "FILE", "with usdt: the markers of FILE"),
	OPT_UINT(struct list_args, pid, "pid", 'p', "PID", "with usdt: those of the files that PID has mapped"),
	OPT_FOREIGN(perf_list_options),
	OPT_END,
};

static void list_defaults(void *args)
{
	((struct list_args *)args)->format = formats[0];
}

static void listing_deinit(struct listing *l)
{
	event_catalog_deinit(&l->catalog);
	arena_deinit(&l->arena);
}

/* ---- choosing ---- */

/* Kinds as perf list calls them. */
static const struct {
	const char *perf, *ours;
} kinds[] = { { "hw", "hardware" }, { "sw", "software" }, { "hwcache", "cache" } };

/* The pattern as a glob: a word without wildcards matches anywhere. */
static const char *glob_of(struct arena *arena, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(word, kinds[i].perf) == 0)
			return kinds[i].ours;
	return strpbrk(word, "*?[") ? word : arena_printf(arena, "*%s*", word);
}

static bool matches(const struct listing *l, const struct event_catalog_entry *e)
{
	if (l->args->pmu && fnmatch(l->args->pmu, e->pmu, 0) != 0)
		return false;
	if (!l->pattern)
		return true;
	return fnmatch(l->pattern, e->name, FNM_CASEFOLD) == 0 ||
	       (*e->alias && fnmatch(l->pattern, e->alias, FNM_CASEFOLD) == 0) ||
	       fnmatch(l->pattern, event_catalog_kind_name(e->kind), FNM_CASEFOLD) == 0;
}

static bool is_usable(const struct event_catalog_entry *e)
{
	return e->use == EVENT_CATALOG_SAMPLES || e->use == EVENT_CATALOG_USER_ONLY ||
	       e->use == EVENT_CATALOG_COUNTS;
}

/* Was a pattern or a kind given? */
static bool is_narrow(const struct listing *l)
{
	return l->pattern || l->args->pmu;
}

/* Is @e worth a line of its own? */
static bool is_shown(const struct listing *l, const struct event_catalog_entry *e)
{
	if (is_narrow(l) || l->args->all)
		return matches(l, e);
	return is_usable(e) && e->kind != EVENT_CATALOG_TRACEPOINT &&
	       e->kind != EVENT_CATALOG_VENDOR;
}

/* ---- text ---- */

/* Print @text from @column on, continued below itself; the line is ended. */
static void put_wrapped(struct listing *l, int column, const char *text)
{
	text = text_escape(&l->arena, text);
	while (strlen(text) > (size_t)(WIDTH - column)) {
		int len = WIDTH - column;

		while (len > 0 && text[len] != ' ')
			len--;
		if (!len)
			break;
		printf("%.*s\n%*s", len, text, column, "");
		text += len + 1;
	}
	printf("%s\n", text);
}

static void put_entry(struct listing *l, const struct event_catalog_entry *e)
{
	const char *name = text_escape(&l->arena, e->name);
	const char *text = e->description;
	int len = printf("  %-6s %s", event_catalog_use_name(e->use), name);

	if (*e->alias)
		text = arena_printf(&l->arena, "%s; also %s", text, e->alias);
	if (!*text) {
		printf("\n");
		return;
	}
	if (len > TEXT_COLUMN - 2)
		printf("\n%*s", TEXT_COLUMN, "");
	else
		printf("%*s", TEXT_COLUMN - len, "");
	put_wrapped(l, TEXT_COLUMN, text);
}

static void put_title(enum event_catalog_kind kind)
{
	static const char *const titles[] = {
		[EVENT_CATALOG_HARDWARE] = "Hardware events",
		[EVENT_CATALOG_CACHE] = "Cache events",
		[EVENT_CATALOG_SOFTWARE] = "Software events",
		[EVENT_CATALOG_PMU] = "Events that sysfs names",
		[EVENT_CATALOG_VENDOR] = "Events as the processor's maker calls them",
		[EVENT_CATALOG_TRACEPOINT] = "Tracepoints",
	};

	printf("%s:\n", titles[kind]);
}

/* "sched (23), signal (2)": where the tracepoints are. */
static const char *systems_text(struct listing *l)
{
	const struct event_catalog *c = &l->catalog;
	const char *text = "";

	for (size_t i = 0, first = 0; i < c->len; i++) {
		const char *name = c->entries[i].name;
		size_t len = strcspn(name, ":");
		bool last = i + 1 == c->len || strncmp(c->entries[i + 1].name, name, len + 1) != 0;

		if (c->entries[i].kind != EVENT_CATALOG_TRACEPOINT) {
			first = i + 1;
			continue;
		}
		if (!last)
			continue;
		text = arena_printf(&l->arena, "%s%s%.*s (%zu)", text, *text ? ", " : "", (int)len,
				    name, i + 1 - first);
		first = i + 1;
	}
	return text;
}

static size_t count(const struct listing *l, enum event_catalog_kind kind,
		    bool (*wanted)(const struct listing *, const struct event_catalog_entry *))
{
	size_t n = 0;

	for (size_t i = 0; i < l->catalog.len; i++)
		n += l->catalog.entries[i].kind == kind &&
		     (!wanted || wanted(l, &l->catalog.entries[i]));
	return n;
}

/* Why no event of @kind can be used: the reason of the first. */
static const char *why_none(const struct listing *l, enum event_catalog_kind kind)
{
	size_t i = 0;

	while (l->catalog.entries[i].kind != kind)
		i++;
	switch (l->catalog.entries[i].use) {
	case EVENT_CATALOG_DENIED:
		return "no permission";
	case EVENT_CATALOG_BUSY:
		return "in use";
	default:
		return "no PMU";
	}
}

/* One line for the events that are not listed. */
static void put_rest(struct listing *l, enum event_catalog_kind kind)
{
	size_t total = count(l, kind, NULL), shown = count(l, kind, is_shown);
	const char *pattern = event_catalog_kind_name(kind);

	if (is_narrow(l) || l->args->all || total == shown)
		return;
	if (kind == EVENT_CATALOG_TRACEPOINT) {
		printf("  %zu in these systems; precord list 'SYSTEM:*' shows them\n  ", total);
		put_wrapped(l, 2, systems_text(l));
		return;
	}
	if (kind == EVENT_CATALOG_VENDOR) {
		printf("  %zu; precord list vendor shows them\n", total);
		return;
	}
	if (shown)
		printf("  and %zu that cannot be used here; precord list %s shows them\n",
		       total - shown, pattern);
	else
		printf("  none of %zu can be used here: %s; precord list %s shows them\n", total,
		       why_none(l, kind), pattern);
}

static void put_other_forms(void)
{
	printf("Other forms:\n");
	printf("  rHEX                                a raw code of the CPU's PMU\n");
	printf("  PMU/FIELD=N,.../                    fields as in sysfs, format/\n");
	printf("  mem:ADDRESS[/LENGTH][:rwx]          accesses to an address\n");
	printf("  uprobe:FILE:FUNCTION[+N] [A=%%di:u64]  a place in a program or library; uretprobe:\n");
	printf("  usdt:FILE:[PROVIDER:]NAME           a marker; precord list usdt -x FILE\n");
	printf("  kprobe:FUNCTION[+N]                 a place in the kernel; kretprobe:\n");
	printf("  {EVENT,EVENT...}:S                  the first samples, all are read\n\n");
}

static void put_legend(const struct listing *l)
{
	static const char *const meanings[] = {
		[EVENT_CATALOG_SAMPLES] = "can be sampled",
		[EVENT_CATALOG_USER_ONLY] =
			"can be sampled in user code; kernel code needs privilege",
		[EVENT_CATALOG_COUNTS] = "can only be counted, as a member of a group",
		[EVENT_CATALOG_ABSENT] = "this machine or kernel does not have it",
		[EVENT_CATALOG_DENIED] = "no permission: see kernel.perf_event_paranoid",
		[EVENT_CATALOG_BUSY] = "its counter is in use",
	};
	bool used[ARRAY_LEN(meanings)] = { false };

	for (size_t i = 0; i < l->catalog.len; i++)
		used[l->catalog.entries[i].use] |= is_shown(l, &l->catalog.entries[i]);
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (used[i])
			printf("%-6s %s\n", event_catalog_use_name((enum event_catalog_use)i),
			       meanings[i]);
}

static void put_tracefs(struct listing *l)
{
	const struct err *err = l->catalog.tracefs;

	if (!err || is_narrow(l))
		return;
	put_title(EVENT_CATALOG_TRACEPOINT);
	printf("  ");
	put_wrapped(l, 2, err_message(err));
	if (err_hint(err)) {
		printf("  ");
		put_wrapped(l, 2, err_hint(err));
	}
	printf("\n");
}

static void put_pmu(struct listing *l, const struct event_catalog_pmu *pmu)
{
	printf("  ");
	put_wrapped(l, 4, arena_printf(&l->arena, "PMU %s: %s", pmu->name, pmu->about));
}

static const struct event_catalog_pmu *find_pmu(const struct listing *l, const char *name)
{
	for (size_t i = 0; i < l->catalog.npmus; i++)
		if (strcmp(l->catalog.pmus[i].name, name) == 0)
			return &l->catalog.pmus[i];
	return NULL;
}

/* Events of sysfs, each below its PMU. */
static void put_entries(struct listing *l, enum event_catalog_kind kind)
{
	const char *pmu = "";

	for (size_t i = 0; i < l->catalog.len; i++) {
		const struct event_catalog_entry *e = &l->catalog.entries[i];

		if (e->kind != kind || !is_shown(l, e))
			continue;
		if (kind == EVENT_CATALOG_PMU && strcmp(pmu, e->pmu) != 0 && find_pmu(l, e->pmu))
			put_pmu(l, find_pmu(l, e->pmu));
		pmu = e->pmu;
		put_entry(l, e);
	}
}

/* PMUs that the pattern names and that have no named events. */
static size_t put_nameless(struct listing *l)
{
	size_t found = 0;

	for (size_t i = 0; i < l->catalog.npmus && l->args->pmu && !l->pattern; i++) {
		if (fnmatch(l->args->pmu, l->catalog.pmus[i].name, 0) != 0)
			continue;
		put_pmu(l, &l->catalog.pmus[i]);
		printf("  no events with names: write %s/FIELD=N,.../\n", l->catalog.pmus[i].name);
		found++;
	}
	return found;
}

static void put_text(struct listing *l)
{
	for (int kind = 0; kind < EVENT_CATALOG_KINDS; kind++) {
		size_t shown = count(l, (enum event_catalog_kind)kind, is_shown);

		if (!shown && (is_narrow(l) || !count(l, (enum event_catalog_kind)kind, NULL)))
			continue;
		put_title((enum event_catalog_kind)kind);
		put_entries(l, (enum event_catalog_kind)kind);
		put_rest(l, (enum event_catalog_kind)kind);
		printf("\n");
	}
	put_tracefs(l);
	if (!is_narrow(l))
		put_other_forms();
	put_legend(l);
}

/* ---- CSV ---- */

static void put_csv(struct listing *l)
{
	printf("kind,usable,name,alias,description,pmu\n");
	for (size_t i = 0; i < l->catalog.len; i++) {
		const struct event_catalog_entry *e = &l->catalog.entries[i];

		if (!matches(l, e))
			continue;
		printf("%s,%s", event_catalog_kind_name(e->kind), event_catalog_use_name(e->use));

		const char *const texts[] = { e->name, e->alias, e->description, e->pmu };

		for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
			putchar(',');
			csv_put_quoted(stdout, text_escape(&l->arena, texts[k]));
		}
		putchar('\n');
	}
}

/* ---- the command ---- */

static struct err *no_pmu(struct listing *l)
{
	const char *names = "";

	for (size_t i = 0; i < l->catalog.npmus; i++)
		names = arena_printf(&l->arena, "%s%s%s", names, i ? ", " : "", l->catalog.pmus[i].name);
	return err_remedy(err_new(ERR_USAGE, "this machine has no PMU '%s'", l->args->pmu), "it has %s", names);
}

static struct err *nothing(struct listing *l, const char *word)
{
	struct text_near near = { .wanted = word };
	struct err *err = err_new(ERR_USAGE, "no event matches '%s'", word);

	if (perf_command_instead("list", word))
		return err_remedy(err, "type %s", perf_command_instead("list", word));
	for (size_t i = 0; i < l->catalog.len; i++)
		text_near_offer(&near, l->catalog.entries[i].name);

	const char *hint = text_near_hint(&near, &l->arena);

	if (!hint && l->catalog.tracefs && err_hint(l->catalog.tracefs))
		hint = arena_printf(&l->arena, "tracepoints are missing: %s",
				    err_hint(l->catalog.tracefs));
	return hint ? err_remedy(err, "%s", hint) : err;
}

static struct err *list_usdt(const struct list_args *args)
{
	if ((!args->file && !args->pid) || args->pid > INT32_MAX)
		return err_remedy(err_new(ERR_USAGE, "whose markers?"),
				  "type 'precord list usdt -x FILE' or 'precord list usdt -p 1234'");
	return usdt_list_print(args->file, (uint32_t)args->pid, strcmp(args->format, "csv") == 0);
}

static struct err *list_run(void *args, char **operands, int noperands, int *ret_status)
{
	CLEANUP(listing_deinit) struct listing l = { .args = args };
	size_t found = 0;

	(void)ret_status;
	if (noperands > 1)
		return err_new(ERR_USAGE, "one pattern at most, '%s' is too many", operands[1]);
	if (noperands && strcmp(operands[0], "usdt") == 0)
		return list_usdt(args);
	if (l.args->file || l.args->pid)
		return err_remedy(err_new(ERR_USAGE, "-x and -p are about markers"), "type 'precord list usdt -x FILE'");
	if (noperands)
		l.pattern = glob_of(&l.arena, operands[0]);
	event_catalog_make(&event_kernel_real, &l.catalog);
	for (size_t i = 0; i < l.catalog.len; i++)
		found += matches(&l, &l.catalog.entries[i]);
	if (!found && l.args->pmu && !l.pattern)
		return put_nameless(&l) ? NULL : no_pmu(&l);
	if (!found)
		return nothing(&l, noperands ? operands[0] : "*");
	if (strcmp(l.args->format, "csv") == 0)
		put_csv(&l);
	else
		put_text(&l);
	return NULL;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "show the events that this machine can sample",
	.operands = "[GLOB]",
	.details = "GLOB is matched with names and kinds (hardware, cache, software, pmu, vendor,\n"
		   "tracepoint);\n"
		   "a word without wildcards may stand anywhere in a name.",
	.examples = "  precord list               everything that can be sampled here\n"
		    "  precord list sched:        the tracepoints of the scheduler\n"
		    "  precord list usdt -p 1234  the USDT markers of a process's files\n",
	.manual = "precord(1)",
	.opts = list_opts,
	.args_size = sizeof(struct list_args),
	.defaults = list_defaults,
	.run = list_run,
};
