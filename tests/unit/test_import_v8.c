/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_import_v8.c - what Node.js wrote, against what it says of it itself (tests/data/import/make prints that).
 */
#include "tests/unit/import_case.h"

#include <stdlib.h>
#include <string.h>

TEST(cpuprofile_of_node_has_its_own_sums_and_times)
{
	struct import_case c;
	struct time_cursor cursor;
	struct profile_time first;

	import_case_file(&c, "node.cpuprofile");
	CHECK_STR(c.importer->name, "cpuprofile");
	CHECK_UINT(import_case_sum(&c, "wall").count, 86);
	CHECK_INT(import_case_sum(&c, "wall").weight, 377825000);
	CHECK_INT(import_case_part(&c, "wall", "sorty", NULL).weight, 273739000);
	CHECK_INT(import_case_part(&c, "wall", "(garbage collector)", NULL).weight, 65069000);
	CHECK_UINT(c.p->times.len, 86);
	cursor = time_series_begin(&c.p->times);
	CHECK(time_series_next(&cursor, &first));
	CHECK_UINT(first.time_ns, 3302280382000);
	CHECK(c.facts.has_duration && !c.facts.has_wall);
	import_case_close(&c);
}

TEST(cpuprofile_nodes_may_come_in_any_order)
{
	struct import_case c;

	import_case_text(&c, "{\"samples\":[3,3,2],\"timeDeltas\":[10,5,5],\"startTime\":100,\"endTime\":130,"
			     "\"nodes\":[{\"id\":3,\"callFrame\":{\"functionName\":\"\",\"url\":\"file:///a.js\",\"lineNumber\":4}},"
			     "{\"id\":2,\"callFrame\":{\"functionName\":\"f\\u00e9\",\"url\":\"\",\"lineNumber\":-1},\"children\":[3]},"
			     "{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2]}]}");
	CHECK_UINT(c.p->samples.len, 2);
	CHECK_STR(import_case_stack(&c, 0), "(anonymous)<f\xc3\xa9");
	CHECK_INT(c.p->samples.items[0].weight, 10000);
	CHECK_INT(c.p->samples.items[1].weight, 10000); /* until the profile's end */
	CHECK_UINT(c.p->functions.items[0].line, 5);
	CHECK_STR(profile_text(c.p, c.p->functions.items[0].file), "/a.js");
	import_case_close(&c);
}

/* Of the function with this name. */
static enum profile_frame_kind kind_of(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->locations.len; i++) {
		const struct profile_location *location = &p->locations.items[i];
		uint32_t function = p->lines.items[location->first_line].function;

		if (strcmp(profile_text(p, p->functions.items[function].name), name) == 0)
			return (enum profile_frame_kind)location->kind;
	}
	return PROFILE_FRAME_KERNEL; /* which none is */
}

TEST(cpuprofile_tells_scripts_from_the_engine_and_from_what_is_no_code)
{
	struct import_case c;

	import_case_text(&c, "{\"samples\":[2,3,4,5,6],\"timeDeltas\":[1,1,1,1,1],\"startTime\":0,\"endTime\":6,\"nodes\":["
			     "{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},\"children\":[2,3,4,5,6]},"
			     "{\"id\":2,\"callFrame\":{\"functionName\":\"work\",\"url\":\"file:///a.js\",\"lineNumber\":4}},"
			     "{\"id\":3,\"callFrame\":{\"functionName\":\"inner\",\"url\":\"\"}},"
			     "{\"id\":4,\"callFrame\":{\"functionName\":\"(garbage collector)\",\"url\":\"\"}},"
			     "{\"id\":5,\"callFrame\":{\"functionName\":\"(program)\",\"url\":\"\"}},"
			     "{\"id\":6,\"callFrame\":{\"functionName\":\"(idle)\",\"url\":\"\"}}]}");
	CHECK_INT(kind_of(c.p, "work"), PROFILE_FRAME_INTERPRETED);
	CHECK_INT(kind_of(c.p, "inner"), PROFILE_FRAME_RUNTIME);
	CHECK_INT(kind_of(c.p, "(garbage collector)"), PROFILE_FRAME_RUNTIME);
	CHECK_INT(kind_of(c.p, "(program)"), PROFILE_FRAME_NATIVE);
	CHECK_INT(kind_of(c.p, "(idle)"), PROFILE_FRAME_MARKER);
	import_case_close(&c);
}

TEST(cpuprofile_deals_samples_out_to_the_lines_that_were_hit)
{
	struct import_case c;

	import_case_text(&c, "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"a.js\",\"lineNumber\":1},"
			     "\"positionTicks\":[{\"line\":5,\"ticks\":1},{\"line\":7,\"ticks\":3}]}],"
			     "\"samples\":[1,1,1,1,1],\"timeDeltas\":[1,1,1,1,1],\"startTime\":0,\"endTime\":6}");
	CHECK_UINT(c.p->samples.len, 3);
	CHECK_STR(import_case_stack(&c, 0), "f:5");
	CHECK_UINT(c.p->samples.items[0].count, 1);
	CHECK_STR(import_case_stack(&c, 1), "f:7");
	CHECK_UINT(c.p->samples.items[1].count, 3);
	CHECK_STR(import_case_stack(&c, 2), "f"); /* one more than the file says */
	CHECK_STR(profile_text(c.p, c.p->lines.items[0].file ? c.p->lines.items[0].file : 0), "a.js");
	import_case_close(&c);
}

TEST(chrome_stack_frames_with_samples_are_read)
{
	struct import_case c;

	import_case_text(&c, "{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":4,\"tid\":5,\"args\":{\"name\":\"worker\"}}],"
			     "\"otherData\":{\"units\":{\"cpu-clock\":\"ns\"}},"
			     "\"samples\":[{\"pid\":4,\"tid\":5,\"ts\":1.5,\"name\":\"cpu-clock\",\"sf\":2,\"weight\":7},"
			     "{\"ts\":2,\"name\":\"cpu-clock\",\"weight\":3}],"
			     "\"stackFrames\":{\"2\":{\"name\":\"leaf\",\"category\":\"libc.so\",\"parent\":\"1\"},\"1\":{\"name\":\"root\"}}}");
	CHECK_STR(import_case_stack(&c, 0), "leaf<root");
	CHECK_INT(import_case_part(&c, "cpu-clock", "leaf", "worker").weight, 7);
	CHECK_STR(profile_text(c.p, c.p->types.items[0].unit), "ns");
	CHECK_INT(import_case_sum(&c, "cpu-clock").weight, 10);
	CHECK_UINT(c.p->threads.items[1].pid, PROFILE_NONE);
	import_case_close(&c);
}

/* States are written beside samples by preport export; they are not calls. */
TEST(chrome_states_beside_samples_are_no_calls)
{
	static const char start[] = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"state\",\"name\":\"run queue\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}",
			  call[] = ",{\"ph\":\"X\",\"name\":\"f\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}",
			  end[] = "],\"samples\":[{\"cpu\":0,\"tid\":1,\"ts\":1,\"name\":\"cycles\",\"sf\":1,\"weight\":1}],"
				  "\"stackFrames\":{\"1\":{\"name\":\"root\"}}}";
	struct import_case c;
	char text[1024];

	snprintf(text, sizeof(text), "%s%s", start, end);
	import_case_text(&c, text);
	CHECK_UINT(c.p->samples.len, 1);
	CHECK(!c.diag.entries);
	import_case_close(&c);
	snprintf(text, sizeof(text), "%s%s%s", start, call, end);
	import_case_text(&c, text);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "its 1 calls"));
	import_case_close(&c);
}

TEST(chrome_traces_of_hermes_have_numbers_as_texts_and_places_in_names)
{
	struct import_case c;
	const struct profile_line *line;
	uint32_t leaf;

	import_case_text(&c, "{\"traceEvents\":[{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":7,\"ts\":\"115\",\"tid\":\"-1\",\"args\":{\"name\":\"app\"}}],"
			     "\"samples\":[{\"cpu\":\"-1\",\"name\":\"\",\"ts\":\"2000\",\"pid\":7,\"tid\":\"75\",\"weight\":\"1\",\"sf\":3},"
			     "{\"ts\":\"3000\",\"pid\":7,\"tid\":\"75\",\"weight\":\"2\",\"sf\":4}],"
			     "\"stackFrames\":{\"1\":{\"name\":\"[root]\",\"category\":\"root\"},"
			     "\"2\":{\"line\":\"4\",\"funcLine\":\"1\",\"name\":\"global(http://h:81/i.bundle?a=b:4:9)\",\"category\":\"JavaScript\",\"parent\":1},"
			     "\"3\":{\"line\":\"88\",\"funcLine\":\"80\",\"name\":\"(http://h:81/i.bundle?a=b:88:1)\",\"category\":\"JavaScript\",\"parent\":2},"
			     "\"4\":{\"name\":\"[GC Young Gen]\",\"category\":\"Metadata\",\"parent\":1}}}");
	CHECK_UINT(import_case_sum(&c, "samples").weight, 3);
	CHECK_STR(import_case_stack(&c, 0), "(anonymous):88<global:4<[root]");
	CHECK_STR(import_case_stack(&c, 1), "[GC Young Gen]<[root]");
	leaf = c.p->stacks.items[c.p->samples.items[0].stack].location;
	line = &c.p->lines.items[c.p->locations.items[leaf].first_line];
	CHECK_STR(profile_text(c.p, line->file), "http://h:81/i.bundle?a=b");
	CHECK_UINT(c.p->functions.items[line->function].line, 80);
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].tid, 75);
	CHECK_UINT(c.p->times.first_ns, 2000000);
	import_case_close(&c);
}

TEST(chrome_stack_frames_in_a_circle_are_refused)
{
	static const char text[] = "{\"traceEvents\":[],\"ph\":1,\"stackFrames\":{\"1\":{\"name\":\"a\",\"parent\":\"2\"},"
				   "\"2\":{\"name\":\"b\",\"parent\":\"1\"}},\"samples\":[{\"ts\":1,\"sf\":1}]}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, text, strlen(text), "x"), ERR_CORRUPT, "own caller");
	import_case_close(&c);
}

TEST(cpuprofile_of_older_v8_has_nodes_in_nodes)
{
	struct import_case c;

	import_case_text(&c, "{\"head\":{\"functionName\":\"(root)\",\"id\":1,\"callUID\":1,\"hitCount\":0,\"children\":["
			     "{\"functionName\":\"a\",\"url\":\"x.js\",\"id\":2,\"hitCount\":3,\"children\":["
			     "{\"functionName\":\"b\",\"url\":\"x.js\",\"id\":3,\"hitCount\":4,\"children\":[]}]}]},"
			     "\"startTime\":1,\"endTime\":2}");
	CHECK_UINT(import_case_sum(&c, "samples").count, 7);
	CHECK_STR(import_case_stack(&c, 1), "b<a");
	import_case_close(&c);
}

TEST(cpuprofile_with_a_circle_or_a_missing_node_is_refused)
{
	static const char circle[] =
		"{\"nodes\":[{\"id\":1,\"callFrame\":{},\"children\":[2]},{\"id\":2,\"callFrame\":{},\"children\":[1]}],"
		"\"samples\":[1],\"timeDeltas\":[1]}";
	static const char missing[] =
		"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"x\"}}],\"samples\":[7],\"timeDeltas\":[1]}";
	static const char missing_first[] =
		"{\"samples\":[1,7],\"timeDeltas\":[1,1],\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"x\"}}]}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, circle, sizeof(circle) - 1, "x"), ERR_CORRUPT, "its own ancestor");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, missing, sizeof(missing) - 1, "x"), ERR_CORRUPT, "node 7, which is not there");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, missing_first, sizeof(missing_first) - 1, "x"), ERR_CORRUPT, "sample 2 is of node 7, which is not there");
	import_case_close(&c);
}

TEST(heapprofile_of_node_has_its_own_sum)
{
	struct import_case c;

	import_case_file(&c, "node.heapprofile");
	CHECK_STR(c.importer->name, "heapprofile");
	CHECK_INT(import_case_sum(&c, "inuse_space").weight, 3359432);
	CHECK_UINT(c.p->samples.len, 9);
	CHECK_UINT(c.p->times.len, 0);
	import_case_close(&c);
}

TEST(chrome_trace_of_node_names_its_thread)
{
	struct import_case c;

	import_case_file(&c, "node-trace.json");
	CHECK_STR(c.importer->name, "chrome");
	CHECK(import_case_part(&c, "wall", NULL, "JavaScriptMainThread").weight > 0);
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "8 events that are not calls"));
	import_case_close(&c);
}

TEST(chrome_calls_become_the_time_spent_in_themselves)
{
	struct import_case c;

	/* X events are written when they end; a trace that is being written has no end. */
	import_case_text(&c, "[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"inner\"},"
			     "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":20,\"name\":\"outer\"},"
			     "{\"ph\":\"B\",\"pid\":1,\"tid\":3,\"ts\":1.5,\"name\":\"q\"},{\"ph\":\"E\",\"pid\":1,\"tid\":3,\"ts\":3},"
			     "{\"ph\":\"B\",\"pid\":1,\"ti");
	CHECK_INT(import_case_part(&c, "wall", "inner", NULL).weight, 5000);
	CHECK_INT(import_case_part(&c, "wall", "outer", NULL).weight, 15000);
	CHECK_INT(import_case_part(&c, "wall", "q", NULL).weight, 1500);
	CHECK_STR(import_case_stack(&c, 0), "inner<outer");
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "ends in the middle"));
	import_case_close(&c);
}

TEST(chrome_calls_of_viztracer_have_their_file_in_the_name)
{
	struct import_case c;

	import_case_text(&c, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"FEE\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":20,\"name\":"
			     "\"Q.run (/a b/w.py:12)\"},{\"ph\":\"X\",\"cat\":\"FEE\",\"pid\":1,\"tid\":2,\"ts\":12,\"dur\":5,\"name\":"
			     "\"time.sleep\"}]}");
	CHECK_INT(import_case_part(&c, "wall", "Q.run", NULL).weight, 15000);
	CHECK_INT(import_case_part(&c, "wall", "time.sleep", NULL).weight, 5000);
	for (size_t i = 0; i < c.p->functions.len; i++) {
		const struct profile_function *f = &c.p->functions.items[i];

		CHECK_UINT(f->line, strcmp(profile_text(c.p, f->name), "Q.run") == 0 ? 12 : 0);
		CHECK_STR(profile_text(c.p, f->file), f->line ? "/a b/w.py" : "");
	}
	import_case_close(&c);
}

TEST(chrome_trace_with_a_cpu_profile_in_chunks)
{
	struct import_case c;

	import_case_text(&c, "{\"traceEvents\":["
			     "{\"ph\":\"P\",\"name\":\"Profile\",\"pid\":1,\"tid\":2,\"id\":\"0x1\",\"args\":{\"data\":{\"startTime\":1000}}},"
			     "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"pid\":1,\"tid\":9,\"id\":\"0x1\",\"args\":{\"data\":{\"cpuProfile\":{"
			     "\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"}},"
			     "{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"f\",\"url\":\"u\"}}],\"samples\":[2,2]},"
			     "\"timeDeltas\":[5,7]}}},"
			     "{\"ph\":\"P\",\"name\":\"ProfileChunk\",\"pid\":1,\"tid\":9,\"id\":\"0x1\",\"args\":{\"data\":{\"cpuProfile\":{"
			     "\"nodes\":[{\"id\":3,\"parent\":2,\"callFrame\":{\"functionName\":\"g\",\"url\":\"u\"}}],\"samples\":[3]},"
			     "\"timeDeltas\":[4]}}}]}");
	CHECK_UINT(import_case_sum(&c, "wall").count, 3);
	CHECK_INT(import_case_part(&c, "wall", "f", NULL).weight, 11000);
	CHECK_STR(import_case_stack(&c, 1), "g<f");
	CHECK_UINT(c.p->threads.items[c.p->samples.items[0].thread].tid, 2);
	import_case_close(&c);
}

TEST(speedscope_files_of_both_kinds)
{
	struct import_case c;

	import_case_text(&c, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":["
			     "{\"type\":\"evented\",\"name\":\"t1\",\"unit\":\"milliseconds\",\"startValue\":0,\"endValue\":14,\"events\":["
			     "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":1},"
			     "{\"type\":\"C\",\"frame\":1,\"at\":3.5},{\"type\":\"C\",\"frame\":0,\"at\":14}]},"
			     "{\"type\":\"sampled\",\"name\":\"t2\",\"unit\":\"seconds\",\"startValue\":0,\"endValue\":3,"
			     "\"samples\":[[0,1],[0],[0,1]],\"weights\":[1,0.5,1.5]}],"
			     "\"shared\":{\"frames\":[{\"name\":\"a\",\"file\":\"x.py\",\"line\":3},{\"name\":\"b\"}]}}");
	CHECK_INT(import_case_part(&c, "wall", "a", "t1").weight, 11500000);
	CHECK_INT(import_case_part(&c, "wall", "b", "t1").weight, 2500000);
	CHECK_INT(import_case_part(&c, "wall", "b", "t2").weight, 2500000000);
	CHECK_STR(import_case_stack(&c, 1), "b<a:3");
	CHECK_UINT(c.p->times.len, 6);
	import_case_close(&c);
}

#define SPEEDSCOPE "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]}," \
		   "\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":"

TEST(speedscope_keeps_units_that_are_not_its_own)
{
	struct import_case c;

	import_case_text(&c, SPEEDSCOPE "\"megabytes\",\"samples\":[[0],[1]],\"weights\":[10.25,3]}]}");
	CHECK_INT(import_case_sum(&c, "value").weight, 13);
	CHECK_STR(profile_text(c.p, c.p->types.items[0].unit), "megabytes");
	CHECK(c.diag.entries && strstr(c.diag.entries->message, "1 weights have a fraction"));
	import_case_close(&c);
}

TEST(speedscope_has_a_weight_for_each_sample)
{
	static const char few[] = SPEEDSCOPE "\"none\",\"samples\":[[0],[1]],\"weights\":[10]}]}";
	static const char many[] = SPEEDSCOPE "\"none\",\"samples\":[[0]],\"weights\":[10,11]}]}";
	struct import_case c;

	CHECK_ERR(import_case_read(&c, few, sizeof(few) - 1, "x"), ERR_CORRUPT, "offset 201 has fewer weights than samples");
	import_case_close(&c);
	CHECK_ERR(import_case_read(&c, many, sizeof(many) - 1, "x"), ERR_CORRUPT, "has more weights than samples");
	import_case_close(&c);
}

TEST(v8_and_chrome_files_survive_damage)
{
	static const char *const names[] = { "node.cpuprofile", "node.heapprofile", "node-trace.json" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len;
		uint8_t *data = import_case_bytes(names[i], &len);

		import_case_damage(data, len, names[i]);
		free(data);
	}
}
