/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_instruments.c - what Apple's Instruments lets out: a tree copied as text, and tables as XML.
 */
#include "tests/unit/import_case.h"

static void check_refused(const char *text, enum err_kind kind, const char *message)
{
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x"), kind, message);
	import_case_close(&c);
}

TEST(instruments_text_has_own_weights_processes_and_threads)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/instruments");
	CHECK_STR(c.importer->name, "instruments");
	CHECK_INT(import_case_sum(&c, "time").weight, 1322000000);
	CHECK_INT(import_case_part(&c, "time", "work(int)", "Main Thread").weight, 1000000000);
	CHECK_INT(import_case_part(&c, "time", "main", "Main Thread").weight, 320000000);
	CHECK_UINT(c.p->threads.items[c.p->threads.len - 1].pid, 84012);
	CHECK_UINT(c.p->threads.items[c.p->threads.len - 1].tid, 0x30f1f8);
	import_case_close(&c);
}

TEST(instruments_text_without_own_weights_has_what_callees_lack)
{
	struct import_case c;

	import_case_text(&c, "Bytes Used\tCount\t\tSymbol Name\n"
			     "3.00 KB  100.0%\t9\t \tmain\n"
			     "1.00 KB   33.3%\t4\t \t f\n"
			     "512 Bytes   16.6%\t1\t \t g\n");
	CHECK_INT(import_case_part(&c, "space", "main", NULL).weight, 3072 - 1024 - 512);
	CHECK_INT(import_case_part(&c, "space", "f", NULL).weight, 1024);
	CHECK_STR(import_case_stack(&c, 1), "f<main");
	import_case_close(&c);
	import_case_text(&c, "Running Time\tSelf (ms)\t\tSymbol Name\n2145.0ms  100.0%\t45.0\t \tmain\n2100.0ms   97.9%\t2100.0\t \t f\n");
	CHECK_INT(import_case_part(&c, "time", "main", NULL).weight, 45000000);
	CHECK_INT(import_case_part(&c, "time", "f", NULL).weight, 2100000000);
	import_case_close(&c);
}

TEST(instruments_text_that_is_damaged_is_refused)
{
	check_refused("Weight\tSelf Weight\t\tSymbol Name\n1 s 100%\t1 parsec\t \tmain\n", ERR_CORRUPT, "line 2: its weight");
	check_refused("Weight\tSelf Weight\t\tSymbol Name\n1 s 100%\t1 KB\t \tmain\n", ERR_CORRUPT, "line 2: its weight");
	check_refused("Weight\tSelf Weight\t\tSymbol Name\n1 s 100%\t1 s\t \t  main\n", ERR_CORRUPT, "line 2: it is indented by 2");
	check_refused("Weight\tSelf Weight\t\tSymbol Name\n1 s 100%\t1 s\n", ERR_CORRUPT, "line 2: the row is cut");
}

TEST(xctrace_table_has_times_threads_lines_and_stacks_by_reference)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/xctrace");
	CHECK_STR(c.importer->name, "xctrace");
	CHECK_UINT(import_case_sum(&c, "time").count, 3);
	CHECK_INT(import_case_sum(&c, "time").weight, 3000000);
	CHECK_INT(import_case_part(&c, "time", "vec<int>::push", "main").weight, 2000000);
	CHECK_STR(import_case_stack(&c, 0), "vec<int>::push:7<main:25");
	CHECK_UINT(c.p->threads.items[c.p->threads.len - 1].pid, 7);
	CHECK_UINT(c.p->threads.items[c.p->threads.len - 1].tid, 8683713);
	CHECK_STR(profile_text(c.p, c.p->threads.items[c.p->threads.len - 1].process), "app");
	CHECK(c.diag.entries != NULL); /* a row without a stack */
	import_case_close(&c);
}

#define TABLE "<?xml version=\"1.0\"?><trace-query-result><node><schema name=\"time-profile\"/>"

TEST(xctrace_table_that_is_damaged_is_refused)
{
	check_refused(TABLE "<row><weight id=\"1\">1</weight>", ERR_CORRUPT, "it ends within an element, at offset");
	check_refused(TABLE "<row><weight ref=\"1\"/></row></node></trace-query-result>", ERR_CORRUPT, "a ref to what was not there");
	check_refused(TABLE "<row><weight>fast</weight></row></node></trace-query-result>", ERR_CORRUPT, "'fast' in <weight>");
	check_refused(TABLE "<row></node>", ERR_CORRUPT, "an element that is not open ends at offset");
	check_refused("<?xml version=\"1.0\"?><trace-toc><run number=\"1\"/></trace-toc>", ERR_UNSUPPORTED, "the list of tables");
}
