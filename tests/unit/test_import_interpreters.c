/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_interpreters.c - cProfile's, pyinstrument's, stackprof's, V8's and Go's own files, against what their tools say of them:
 * tests/data/import/make-interpreters makes the files and prints the numbers.
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

static int64_t of_stack(const struct import_case *c, const char *type, const char *beginning)
{
	int64_t weight = 0;

	for (size_t i = 0; i < c->p->samples.len; i++) {
		const struct profile_sample *row = &c->p->samples.items[i];

		if (strcmp(profile_text(c->p, c->p->types.items[row->type].name), type) == 0 &&
		    strncmp(import_case_stack(c, i), beginning, strlen(beginning)) == 0)
			weight += row->weight;
	}
	return weight;
}

static const char *label_of(const struct import_case *c, size_t row, const char *key)
{
	struct profile_label_set set = c->p->label_sets.items[c->p->samples.items[row].labels];

	for (uint32_t i = 0; i < set.count; i++) {
		const struct profile_label *label = &c->p->labels.items[set.first + i];

		if (strcmp(profile_text(c->p, label->key), key) == 0)
			return profile_text(c->p, label->text);
	}
	return "";
}

static const char *warning_of(const struct import_case *c)
{
	return c->diag.entries ? c->diag.entries->message : "";
}

#define CHECK_NEAR(is, should, by) CHECK(llabs((is) - (should)) <= (by))

TEST(pstats_times_calls_and_callers_are_those_of_pstats)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/pstats");
	CHECK_STR(c.importer->name, "pstats");
	CHECK_NEAR(import_case_sum(&c, "wall").weight, 136714393, 20);
	CHECK_INT(import_case_sum(&c, "calls").weight, 129);
	CHECK_INT(import_case_part(&c, "wall", "leaf", NULL).weight, 28482900);
	CHECK_INT(import_case_part(&c, "calls", "leaf", NULL).weight, 48);
	CHECK_INT(of_stack(&c, "calls", "leaf<mid"), 12);
	CHECK_INT(of_stack(&c, "calls", "leaf<rec"), 36);
	CHECK_INT(of_stack(&c, "calls", "rec<rec"), 36);
	CHECK_NEAR(of_stack(&c, "wall", "leaf<mid<main"), 25702165, 30000);
	CHECK(isnan(import_case_sum(&c, "wall").weight_sq)); /* measured, not sampled: there is no interval */
	CHECK(strstr(warning_of(&c), "only who calls whom") != NULL);
	import_case_close(&c);
}

/* {("a.py", 1, "f"): (2, 2, 0.5, 0.75, {("a.py", 9, "main"): 2})}, by the module profile of Python 2: texts are interned, and 'R'. */
TEST(pstats_of_python_2_and_of_the_module_profile)
{
	static const char file[] = "{(\3\0\0\0t\4\0\0\0a.pyi\1\0\0\0t\1\0\0\0f(\5\0\0\0i\2\0\0\0i\2\0\0\0f\0030.5g\0\0\0\0\0\0\xe8?"
				   "{(\3\0\0\0R\0\0\0\0i\t\0\0\0t\4\0\0\0maini\2\0\0\00000";
	struct import_case c;

	CHECK_OK(import_case_read(&c, file, sizeof(file) - 1, "old"));
	CHECK_INT(import_case_sum(&c, "wall").weight, 500000000);
	CHECK_INT(of_stack(&c, "wall", "f<main"), 500000000);
	CHECK_INT(of_stack(&c, "calls", "f<main"), 2);
	CHECK(c.diag.entries && c.diag.entries->next && strstr(c.diag.entries->next->message, "numbers of calls"));
	import_case_close(&c);
}

/* Each function has its own dict of callers: were they shared, a file of 10 MB would be read for days. */
TEST(pstats_whose_functions_share_their_callers_is_refused)
{
	static const char file[] = "{)\3Z\4a.pyi\1\0\0\0Z\1f" ")\5i\2\0\0\0i\2\0\0\0g\0\0\0\0\0\0\xe8?g\0\0\0\0\0\0\xe8?"
				   "\xfb" ")\3Z\4a.pyi\t\0\0\0Z\4maini\2\0\0\0" "0"
				   ")\3Z\4a.pyi\3\0\0\0Z\1h" ")\5i\2\0\0\0i\2\0\0\0g\0\0\0\0\0\0\xe8?g\0\0\0\0\0\0\xe8?"
				   "r\0\0\0\0" "0";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, file, sizeof(file) - 1, "shared"), ERR_CORRUPT, "a dict that several functions share");
	import_case_close(&c);
}

/* {:mode => [TEXT, nil, nil, ...]}, where each nil carries TEXT as a mark: what is dropped was read, too. */
TEST(stackprof_file_of_dropped_links_is_refused)
{
	static const char mark[] = "I0\6;\0@\7";
	enum { MARKS = 122, TEXT = 1000 };
	char file[64 + TEXT + MARKS * sizeof(mark)] = "\4\x08{\6:\x09mode[\x7f\"\2\xe8\3";
	size_t len = strlen(file);
	struct import_case c;

	memset(file + len, 'x', TEXT);
	len += TEXT;
	for (unsigned i = 1; i < MARKS; i++, len += sizeof(mark) - 1)
		memcpy(file + len, mark, sizeof(mark) - 1);
	CHECK_ERR(import_case_read(&c, file, len, "dropped"), ERR_CORRUPT, "repeated too often");
	import_case_close(&c);
}

TEST(pyinstrument_session_has_samples_times_lines_and_threads)
{
	struct import_case c;
	struct time_cursor cursor;
	struct profile_time time;

	import_case_file(&c, "../fuzz/import/pyinstrument");
	CHECK_STR(c.importer->name, "pyinstrument");
	CHECK_UINT(import_case_sum(&c, "wall").count, 17);
	CHECK_NEAR(import_case_sum(&c, "wall").weight, 148849705, 20);
	CHECK_NEAR(import_case_part(&c, "wall", "leaf", "MainThread").weight, 47775967, 20);
	CHECK(of_stack(&c, "wall", "leaf:5<mid:7<main:16<<module>:18") > 0);
	CHECK(of_stack(&c, "wall", "<listcomp>:11<A.m:11<main:16") > 0);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &time) && time.time_ns > 0);
	CHECK(c.facts.has_wall);
	import_case_close(&c);
}

TEST(pyinstrument_report_is_a_tree_of_sums)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/pyinstrument-report");
	CHECK_STR(c.importer->name, "pyinstrument");
	CHECK_NEAR(import_case_sum(&c, "wall").weight, 125158000, 5000);
	CHECK(of_stack(&c, "wall", "<listcomp><A.m<main<<module>") > 0);
	CHECK_INT(of_stack(&c, "wall", "[self]"), 0);
	CHECK(isnan(import_case_sum(&c, "wall").weight_sq));
	import_case_close(&c);
}

TEST(stackprof_dump_is_that_of_stackprof_text)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/stackprof-dump");
	CHECK_STR(c.importer->name, "stackprof-dump");
	CHECK_INT(import_case_sum(&c, "objects").weight, 84);
	CHECK_INT(import_case_part(&c, "objects", "String#*", NULL).weight, 40);
	CHECK_INT(import_case_part(&c, "objects", "block (2 levels) in <main>", NULL).weight, 42);
	CHECK_INT(import_case_part(&c, "objects", "Object#mid", NULL).weight, 1);
	import_case_close(&c);
}

/* A link costs three bytes and a text as many as one likes: the file does not grow without end. */
TEST(stackprof_dump_does_not_repeat_a_text_without_end)
{
	enum { TEXT = 20000, LINKS = 20000 };
	char *file = malloc(TEXT + 3 * LINKS + 64), *at = file;
	struct import_case c;
	struct err *err;

	at += sprintf(at, "\4\b{\7:\tmode\"\3");
	*at++ = (char)(TEXT & 0xff);
	*at++ = (char)(TEXT >> 8);
	*at++ = 0;
	memset(at, 'x', TEXT);
	at += TEXT;
	at += sprintf(at, ":\brawx") - 1; /* an array of links to it */
	*at++ = '[';
	*at++ = 2;
	*at++ = (char)(LINKS & 0xff);
	*at++ = (char)(LINKS >> 8);
	for (int i = 0; i < LINKS; i++, at += 3)
		memcpy(at, "@\6 ", 3);
	err = import_case_read(&c, file, (size_t)(at - file), "links");
	CHECK(err != NULL);
	err_free(err);
	import_case_close(&c);
	free(file);
}

TEST(v8_ticks_are_those_of_prof_process)
{
	struct import_case c;
	bool found = false;

	import_case_file(&c, "../fuzz/import/v8-ticks");
	CHECK_STR(c.importer->name, "v8-ticks");
	CHECK_UINT(import_case_sum(&c, "ticks").count, 135);
	CHECK_UINT(import_case_part(&c, "ticks", "[unknown]", NULL).count, 109);
	CHECK_UINT(import_case_part(&c, "ticks", "libc.so.6", NULL).count, 10);
	CHECK_UINT(import_case_part(&c, "ticks", "_IO_fwrite@@GLIBC_2.2.5", NULL).count, 7);
	for (size_t i = 0; i < c.p->functions.len; i++)
		found |= strcmp(profile_text(c.p, c.p->functions.items[i].file), "node:internal/main/run_main_module") == 0 &&
			 c.p->functions.items[i].line == 1;
	CHECK(found);
	CHECK(*label_of(&c, 0, "state"));
	CHECK(c.p->times.len == 135);
	import_case_close(&c);
}

TEST(goroutines_are_samples_with_state_and_creator)
{
	struct import_case c;
	size_t worker = 0;

	import_case_file(&c, "../fuzz/import/goroutines");
	CHECK_STR(c.importer->name, "goroutines");
	CHECK_UINT(import_case_sum(&c, "goroutine").count, 8);
	CHECK_UINT(import_case_part(&c, "goroutine", "main.worker", NULL).count, 5);
	CHECK_STR(import_case_stack(&c, 0), "runtime/pprof.writeGoroutineStacks:819<runtime/pprof.writeGoroutine:782<"
					    "runtime/pprof.(*Profile).WriteTo:408<main.main:21");
	while (strcmp(import_case_stack(&c, worker), "main.worker:10") != 0)
		worker++;
	CHECK_STR(label_of(&c, worker, "state"), "chan receive");
	CHECK_STR(label_of(&c, worker, "created_by"), "main.main");
	import_case_close(&c);
}

TEST(goroutines_of_a_crash_and_how_long_they_waited)
{
	struct import_case c;

	import_case_text(&c, "SIGQUIT: quit\nPC=0x47 m=0 sigcode=0\n\n"
			     "goroutine 7 gp=0xc0 m=0 mp=0x5 [select, 12 minutes, locked to thread]:\n"
			     "main.(*T).run(0x1, {0x2, 0x3})\n\t/a b/x.go:9 +0x5\n...4 frames elided...\n"
			     "created by main.main in goroutine 1\n\t/a b/x.go:2 +0x1\n\nrax 0x0\n");
	CHECK_STR(c.importer->name, "goroutines");
	CHECK_STR(import_case_stack(&c, 0), "main.(*T).run:9<...4 frames elided...");
	CHECK_STR(label_of(&c, 0, "state"), "select");
	CHECK_STR(label_of(&c, 0, "waited"), "");
	CHECK(strstr(warning_of(&c), "3 lines") != NULL);
	import_case_close(&c);
}

/* What is not read is named, with what to type. */
TEST(import_of_what_other_tools_convert_says_how)
{
	static const struct {
		const char *file;
		size_t len;
		const char *says;
	} cases[] = {
		{ "v8-version,11,3,244,8,-node.38,0\n", 33, "node --prof-process --preprocess" },
		{ "memray\0\15\0", 9, "memray transform speedscope" },
		{ "\4\"M\30@@", 6, "memray transform speedscope" },
		{ "\x80\5\x95\x81\t\0\0", 7, "tracemalloc" },
		{ "{\"alloc_samples\": 3}", 20, "py-spy record" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct import_case c;
		struct err *err = import_case_read(&c, cases[i].file, cases[i].len, "x");

		CHECK(err && err_hint(err) && strstr(err_hint(err), cases[i].says));
		err_free(err);
		import_case_close(&c);
	}
}
