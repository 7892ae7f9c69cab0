/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_probe.c - names addresses of a file as reports do, in the form of llvm-symbolizer.
 *
 *	symbol_probe /PATH/FILE <ADDRESSES >FRAMES
 *
 * Addresses are hexadecimal link-time ones, a line each. For each, a line with the linkage name and a line with
 * the position for every frame, innermost first, and an empty line. With TIME=1 in the environment, how
 * long it took and how much memory goes to stderr instead. CACHE=FOLDER keeps answers there, as preport does.
 */
#include "symbolize/name/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static const char *or_unknown(const char *text)
{
	return text ? text : "??";
}

static void print_frames(const struct symbol_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool known = frames[i].file != NULL;

		printf("%s\n%s:%" PRIu32 ":%" PRIu32 "\n", or_unknown(frames[i].linkage_name),
		       or_unknown(frames[i].file), known ? frames[i].line : 0,
		       known ? frames[i].column : 0);
	}
	putchar('\n');
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void name_addresses(struct symbolizer *s, struct module *mod, bool quiet)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		size_t count;
		const struct symbol_frame *frames =
			symbolizer_find(s, mod, strtoull(line, NULL, 16), &count);

		if (!quiet)
			print_frames(frames, count);
	}
}

int main(int argc, char **argv)
{
	struct diag diag = { 0 };
	struct module_search search = { 0 };
	struct symbolizer_options options = { 0 };
	bool timed = getenv("TIME") != NULL;
	struct rusage usage;

	if (argc != 2) {
		fprintf(stderr, "usage: symbol_probe FILE <ADDRESSES\n");
		return 2;
	}
	options.no_inline = getenv("NAMES_ONLY") != NULL;
	options.cache = getenv("CACHE");
	double start = now_ms();
	struct module_table *modules = module_table_new(NULL, &search, &diag);
	struct module *mod = module_table_file(modules, MODULE_FILE, argv[1], NULL, 0);
	struct symbolizer *s = symbolizer_new(modules, &options);

	name_addresses(s, mod, timed);
	getrusage(RUSAGE_SELF, &usage);
	if (timed)
		fprintf(stderr, "%.1f ms, %ld KiB, %s\n", now_ms() - start, usage.ru_maxrss,
			symbolizer_note(s, mod));
	symbolizer_free(s);
	module_table_free(modules);
	diag_deinit(&diag);
	return 0;
}
