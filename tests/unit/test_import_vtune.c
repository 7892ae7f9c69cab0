/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_vtune.c - tables of VTune: a row for each function, and trees.
 */
#include "tests/unit/import_case.h"

static void check_refused(const char *text, enum err_kind kind, const char *message)
{
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x.csv"), kind, message);
	import_case_close(&c);
}

TEST(vtune_tree_has_the_own_times_of_functions_in_ns)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/vtune");
	CHECK_STR(c.importer->name, "vtune");
	CHECK_UINT(c.p->types.len, 3);
	CHECK_INT(import_case_sum(&c, "CPU Time").weight, 1125001000);
	CHECK_INT(import_case_sum(&c, "CPU Time:Spin Time").weight, 125000000);
	CHECK_INT(import_case_sum(&c, "Clockticks").weight, 3500);
	CHECK_INT(import_case_part(&c, "CPU Time", "run<int, \"x\">", NULL).weight, 500000000);
	CHECK_INT(import_case_part(&c, "CPU Time", "worker", NULL).weight, 125000000);
	import_case_close(&c);
}

TEST(vtune_hotspots_are_functions_without_callers)
{
	struct import_case c;

	import_case_text(&c, "war:Column filter is ON.\n"
			     "Function;CPU Time;CPI Rate;Instructions Retired;Module;Source File;Source Line\r\n"
			     "compress;12.5;1.2;1000;app;z.c;7\r\n"
			     "\"get;put\";0.5;0.9;10;libm.so;;\r\n");
	CHECK_UINT(c.p->types.len, 2);
	CHECK_INT(import_case_part(&c, "CPU Time", "compress", NULL).weight, 12500000000);
	CHECK_INT(import_case_part(&c, "Instructions Retired", "get;put", NULL).weight, 10);
	CHECK_STR(import_case_stack(&c, 0), "compress:7");
	import_case_close(&c);
}

TEST(vtune_tables_that_do_not_add_up_are_refused)
{
	check_refused("Function Stack,CPU Time:Total,Module\nmain,100.0%,app\n", ERR_UNSUPPORTED, "functions took themselves");
	check_refused("Function,Function Stack,CPU Time\nf,,1\n,g,1\n", ERR_UNSUPPORTED, "callers of each function");
	check_refused("Function,CPU Time,Module\nf,80.0%,app\n", ERR_CORRUPT, "line 2: '80.0%' is no number of 'CPU Time'");
	check_refused("Function Stack,CPU Time:Self\nmain,1\n  f,1\n", ERR_CORRUPT, "line 3: it is indented by 2");
	check_refused("Function,CPU Time\nmain\n", ERR_CORRUPT, "line 2: the row is cut");
}
