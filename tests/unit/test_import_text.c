/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_text.c - what perf script, Austin, phpspy, stackprof and rbspy print.
 */
#include "tests/unit/import_case.h"

#include <string.h>

static const char perf_script[] =
	"# ========\n"
	"cmd x y  4242/4243  [001] 12345.678901:     250000 cycles:u: \n"
	"\t          55d0c8 main+0x18 (/bin/cmd)\n"
	"\t          7f0011 inner (inlined)\n"
	"\t          7f0012 outer(int, char (*)(long))+0x3 (/lib/libfoo bar.so)\n"
	"  main.c:12\n"
	"\tffffffff81 do_syscall_64+0x5 ([kernel.kallsyms])\n"
	"\t  7f12ab [unknown] (/lib/libc.so.6)\n"
	"\n"
	"swapper     0 [000]  12346.5: cpu-clock:  ffffffffa1 native_halt ([kernel.kallsyms])\n"
	"swapper     0 [000]  12346.6: cpu-clock:  ffffffffa1 native_halt ([kernel.kallsyms])\n";

TEST(perf_script_headers_and_frames)
{
	struct import_case c;
	const struct profile_thread *thread;
	struct time_cursor cursor;
	struct profile_time first;

	import_case_text(&c, perf_script);
	CHECK_STR(c.importer->name, "perf-script");
	CHECK_STR(import_case_stack(&c, 0), "main<inner+outer(int, char (*)(long)):12<do_syscall_64<[libc.so.6]");
	CHECK_INT(import_case_sum(&c, "cycles:u").weight, 250000);
	CHECK_UINT(import_case_sum(&c, "cpu-clock").count, 2);
	thread = &c.p->threads.items[c.p->samples.items[0].thread];
	CHECK_STR(profile_text(c.p, thread->comm), "cmd x y");
	CHECK_UINT(thread->pid, 4242);
	CHECK_UINT(thread->tid, 4243);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &first));
	CHECK_UINT(first.time_ns, 12345678901000);
	import_case_close(&c);
}

TEST(perf_script_without_times_or_addresses)
{
	struct import_case c;

	import_case_text(&c, "my cmd       0    1078000 wall: \n\t               _ leaf ([unknown])\n\t      55d0 root (/bin/x)\n\n"
			     "my cmd       0    22 wall: \n\t               _ leaf ([unknown])\n\n");
	CHECK_STR(c.importer->name, "perf-script");
	CHECK_INT(import_case_sum(&c, "wall").weight, 1078022);
	CHECK_STR(import_case_stack(&c, 0), "leaf<root");
	CHECK_UINT(c.p->times.len, 0);
	CHECK_UINT(c.p->locations.items[c.p->stacks.items[c.p->samples.items[0].stack].location].module, PROFILE_NONE);
	import_case_close(&c);
}

static const char austin[] = "# austin: 3.7.0\n# mode: wall\n\n"
			     "P42;T0:7;/app/main.py:main:10;/app/main.py:work:3 200\n"
			     "P42;T0:7;/app/main.py:main:10;:GC: 100\n";

TEST(austin_values_are_microseconds_and_no_samples)
{
	struct import_case c;

	import_case_text(&c, austin);
	CHECK_STR(c.importer->name, "austin");
	CHECK_INT(import_case_sum(&c, "wall").weight, 300000);
	CHECK_UINT(import_case_sum(&c, "wall").count, 2);
	CHECK_STR(import_case_stack(&c, 0), "work:3<main:10");
	CHECK_STR(import_case_stack(&c, 1), ":GC:<main:10");
	import_case_close(&c);
}

TEST(austin_full_mode_has_three_values)
{
	struct import_case c;

	import_case_text(&c, "P42;T7;a.py:f:1 200,0,-4096\nP42;T7;a.py:f:1 100,1,0\n");
	CHECK_INT(import_case_sum(&c, "wall").weight, 300000);
	CHECK_INT(import_case_sum(&c, "cpu").weight, 200000);
	CHECK_INT(import_case_sum(&c, "memory").weight, -4096);
	import_case_close(&c);
}

/* Programs may be called like Austin's processes. */
TEST(collapsed_stacks_that_begin_as_austins_do_are_collapsed_stacks)
{
	static const char *const texts[] = { "P42;T0:7;main;work 3\n", "P42;T0:7 3\n", "P42;T7;std::sort;f:1 2\n",
					     "P42;T0:7;/a.py:f:1 3\nP42;T0:7;main;work 3\nP42;T0:7;main 2\n" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct import_case c;

		import_case_text(&c, texts[i]);
		CHECK_STR(c.importer->name, "folded");
		import_case_close(&c);
	}
}

TEST(austin_version_1_is_read)
{
	struct import_case c;

	import_case_text(&c, "Thread 7f12;main (main.py);L10;work (main.py);L3 200\nThread 7f12;main (main.py);L10 50\n");
	CHECK_INT(import_case_sum(&c, "wall").weight, 250000);
	CHECK_STR(import_case_stack(&c, 0), "work:3<main:10");
	import_case_close(&c);
}

TEST(phpspy_frames_stand_leaf_first_with_files_and_lines)
{
	struct import_case c;

	import_case_file(&c, "../fuzz/import/phpspy");
	CHECK_STR(c.importer->name, "phpspy");
	CHECK_UINT(import_case_sum(&c, "samples").count, 4); /* one without an end in front of it */
	CHECK_STR(import_case_stack(&c, 0), "usleep<Foo::bar:12<<main>:3");
	CHECK_STR(import_case_stack(&c, 1), "Foo::bar:14<<main>:3");
	CHECK_STR(profile_text(c.p, c.p->labels.items[c.p->label_sets.items[c.p->samples.items[0].labels].first].text),
		  "/index.php");
	CHECK_UINT(c.p->samples.items[1].labels, 0);
	import_case_close(&c);
}

TEST(stackprof_has_stacks_lines_and_times)
{
	struct time_cursor cursor;
	struct profile_time time;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/stackprof");
	CHECK_STR(c.importer->name, "stackprof");
	CHECK_UINT(import_case_sum(&c, "wall").count, 5);
	CHECK_INT(import_case_sum(&c, "wall").weight, 5000000);
	CHECK_UINT(import_case_part(&c, "wall", "Foo#bar", NULL).count, 4);
	CHECK_STR(import_case_stack(&c, 0), "Foo#bar:21<Object#main:9");
	CHECK_STR(import_case_stack(&c, 1), "Object#main:9");
	CHECK_STR(import_case_stack(&c, 2), "Foo#bar:22<Object#main:9");
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &time) && time_series_next(&cursor, &time));
	CHECK_UINT(time.time_ns, 1000000);
	import_case_close(&c);
}

TEST(stackprof_without_stacks_says_so)
{
	struct import_case c;

	import_case_text(&c, "{\"mode\":\"object\",\"interval\":10,\"frames\":{\"1\":{\"name\":\"f\",\"total_samples\":3,\"samples\":3}}}");
	CHECK_UINT(import_case_sum(&c, "objects").count, 3);
	CHECK_INT(import_case_sum(&c, "objects").weight, 30);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "raw: true"));
	import_case_close(&c);
}

/* The first ten samples of a real file: two threads of a process, one of which was started by C code. */
TEST(rbspy_has_stacks_lines_threads_and_times)
{
	struct time_cursor cursor;
	struct profile_time time;
	struct import_case c;

	import_case_file(&c, "../fuzz/import/rbspy");
	CHECK_STR(c.importer->name, "rbspy");
	CHECK_UINT(import_case_sum(&c, "samples").count, 10);
	CHECK_UINT(import_case_part(&c, "samples", "leaf", "thread 139795712108224").count, 4);
	CHECK_STR(import_case_stack(&c, 0), "leaf:7<run:9<<main>:15");
	CHECK_STR(import_case_stack(&c, 1), "leaf:7<block (2 levels) in <main>:11<(unknown)<block in <main>:11");
	CHECK_UINT(c.p->threads.items[0].pid, 28142);
	CHECK_UINT(c.p->threads.items[0].tid, PROFILE_NONE);
	CHECK_UINT(c.p->types.items[0].rate, 20);
	CHECK_UINT(c.facts.wall_ns, 1795782850809450819);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &time));
	CHECK_UINT(time.time_ns, 1795782851340517833 - 1795782850809450819);
	import_case_close(&c);
}

TEST(rbspy_without_header_or_threads)
{
	struct import_case c;

	import_case_text(&c, "rbspy00\n[{\"name\":\"f\",\"relative_path\":\"a.rb\",\"absolute_path\":null,\"lineno\":3}]\n[]\n");
	CHECK_UINT(import_case_sum(&c, "samples").count, 2);
	CHECK_STR(import_case_stack(&c, 0), "f:3");
	CHECK_UINT(c.p->times.len, 0);
	import_case_close(&c);
}

/* What perf 6.1 prints for -G, for --show-mmap-events, and for -F comm,ip,sym and -F comm,pid,ip,sym. */
TEST(perf_script_headers_of_all_shapes_are_samples)
{
	struct import_case c;

	import_case_text(&c, "               w 18329  5102.140328:    2004008 cpu-clock:ppp:      55dd953df1b1 leaf+0x21 (/tmp/w)\n"
			     "               w 18259  5102.142481:    2004008 cpu-clock:ppp:      55dd953df1aa main+0x1a (/tmp/w)\n"
			     "a_name_of_15_ch 18259  5102.142482:    2004008 cpu-clock:ppp: \n");
	CHECK_UINT(import_case_sum(&c, "cpu-clock:ppp").count, 3);
	CHECK_STR(import_case_stack(&c, 1), "main");
	import_case_close(&c);
	import_case_text(&c, "swapper     0/0         0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1209988) @ 0]: x [k]_text\n"
			     "w 7/7  5102.129812: PERF_RECORD_COMM exec: w:7/7\n"
			     "w 7/8  5102.140328: cpu-clock: \n\t            11b1 leaf (/w)\n\n"
			     "w 7/7  5102.130257: PERF_RECORD_FORK(7:8):(7:7)\n"
			     "w 7/8  5102.150328: cpu-clock: \n\t            11b1 leaf (/w)\n\n");
	CHECK_UINT(import_case_sum(&c, "cpu-clock").count, 2);
	CHECK_UINT(c.p->samples.len, 1);
	import_case_close(&c);
	import_case_text(&c, "my cmd \n\t            11b1 leaf\n\t            121a run\n\nmy cmd 12 \n\t            11b1 leaf\n\n");
	CHECK_STR(c.importer->name, "perf-script");
	CHECK_UINT(import_case_sum(&c, "samples").count, 2);
	CHECK_STR(import_case_stack(&c, 0), "leaf<run");
	CHECK_STR(profile_text(c.p, c.p->threads.items[c.p->samples.items[1].thread].comm), "my cmd");
	CHECK_UINT(c.p->threads.items[c.p->samples.items[1].thread].tid, 12);
	import_case_close(&c);
}

static void check_header(const char *text, const char *comm, uint32_t tid, uint32_t cpu, const char *event)
{
	const struct profile_sample *sample;
	struct import_case c;

	import_case_text(&c, text);
	CHECK_STR(c.importer->name, "perf-script");
	CHECK_UINT(c.p->samples.len, 1);
	sample = &c.p->samples.items[0];
	CHECK_STR(import_case_stack(&c, 0), "leaf");
	CHECK_STR(profile_text(c.p, c.p->threads.items[sample->thread].comm), comm);
	CHECK_UINT(c.p->threads.items[sample->thread].tid, tid);
	CHECK_UINT(sample->cpu, cpu);
	CHECK_STR(profile_text(c.p, c.p->types.items[sample->type].name), event);
	import_case_close(&c);
}

/* As perf 6.1 prints them for threads with such names, for --deltatime, -F misc, and without fields that most have. */
TEST(perf_script_headers_are_told_from_commands_like_them)
{
	static const char frame[] = "\n\t            11b1 leaf (/w)\n\n";
	char text[256];
	static const struct {
		const char *header, *comm;
		uint32_t tid, cpu;
		const char *event;
	} rows[] = {
		{ "a b: c 1 23339 26250.563639:     250000 cpu-clock: ", "a b: c 1", 23339, PROFILE_NONE, "cpu-clock" },
		{ "main 12/34 3.5: 23393 [002] 26251.278400:     250000 cpu-clock: ", "main 12/34 3.5:", 23393, 2, "cpu-clock" },
		{ "a b: c 1 23339     0.008055:     250000 cpu-clock: ", "a b: c 1", 23339, PROFILE_NONE, "cpu-clock" },
		{ "x 1 2 3 4 5 6 7 77/23339 cpu-clock:pppH: ", "x 1 2 3 4 5 6 7", 23339, PROFILE_NONE, "cpu-clock:pppH" },
		{ "w 27232 [001] U     26290.070245: cpu-clock: ", "w", 27232, 1, "cpu-clock" },
		{ ":-1    -1 [001] 26290.070245: cpu-clock: ", ":-1", PROFILE_NONE, 1, "cpu-clock" },
		{ "[001] 26290.070245: cpu-clock: ", "", PROFILE_NONE, 1, "cpu-clock" },
		{ "[001] cpu-clock: ", "", PROFILE_NONE, 1, "cpu-clock" },
		{ "cpu-clock: ", "", PROFILE_NONE, PROFILE_NONE, "cpu-clock" },
		{ "w 21825 26234.821716:    1001001 ", "w", 21825, PROFILE_NONE, "samples" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "%s%s", rows[i].header, frame);
		check_header(text, rows[i].comm, rows[i].tid, rows[i].cpu, rows[i].event);
		snprintf(text, sizeof(text), "%*s%s     11b1 leaf (/w)\n", (int)(16 - strlen(rows[i].comm)), "", rows[i].header);
		check_header(text, rows[i].comm, rows[i].tid, rows[i].cpu, rows[i].event);
	}
}

/* Both with pseudo-frames, as py-spy 0.4.3 -t writes them. */
TEST(traces_of_py_spy_have_threads_and_lines)
{
	struct import_case c;

	import_case_text(&c, "[{\"args\":{\"filename\":\"\",\"line\":0},\"cat\":\"py-spy\",\"name\":\"thread (27340): b\",\"ph\":\"B\","
			     "\"pid\":27332,\"tid\":140112228406976,\"ts\":10},"
			     "{\"args\":{\"filename\":\"/w.py\",\"line\":5},\"cat\":\"py-spy\",\"name\":\"leaf\",\"ph\":\"B\","
			     "\"pid\":27332,\"tid\":140112228406976,\"ts\":10},"
			     "{\"args\":{\"filename\":\"/w.py\",\"line\":5},\"cat\":\"py-spy\",\"name\":\"leaf\",\"ph\":\"E\","
			     "\"pid\":27332,\"tid\":140112228406976,\"ts\":30},"
			     "{\"args\":{\"filename\":\"\",\"line\":0},\"cat\":\"py-spy\",\"name\":\"thread (27340): b\",\"ph\":\"E\","
			     "\"pid\":27332,\"tid\":140112228406976,\"ts\":30}]");
	CHECK_INT(import_case_part(&c, "wall", "leaf", "b").weight, 20000);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].tid, 27340);
	CHECK_STR(import_case_stack(&c, 0), "leaf:5");
	import_case_close(&c);
	import_case_text(&c, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[{\"type\":\"sampled\","
			     "\"name\":\"Process 5 Thread 27131 \\\"burner-0\\\"\",\"unit\":\"seconds\",\"startValue\":0.0,\"endValue\":0.01,"
			     "\"samples\":[[0],[0]],\"weights\":[0.005,0.005]}],\"shared\":{\"frames\":[{\"name\":\"leaf\",\"file\":\"/w.py\","
			     "\"line\":4,\"col\":null}]},\"exporter\":\"py-spy@0.4.3\"}");
	CHECK_INT(import_case_part(&c, "wall", "leaf", "burner-0").weight, 10000000);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].tid, 27131);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].pid, 5);
	import_case_close(&c);
}

TEST(texts_of_perf_script_and_austin_survive_damage)
{
	import_case_damage(perf_script, sizeof(perf_script) - 1, "x");
	import_case_damage(austin, sizeof(austin) - 1, "x");
}
