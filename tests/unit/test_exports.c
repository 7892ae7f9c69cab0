/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exports.c - collapsed stacks, pprof files and flame graphs of one small profile whose sums are known:
 *
 *	main -> parse (with scan inlined)	70 ns in 7 samples, one of them with a broken stack
 *	main -> "<evil;\e[2J>" (JIT)		30 ns in 3 samples
 */
#include "formats/profile/folded.h"
#include "formats/profile/pprof.h"
#include "formats/profile/pprof.pb-c.h"
#include "report/page/flame.h"
#include "report/view/frame_list.h"
#include "report/page/svg.h"
#include "symbolize/unwind/unwind.h"
#include "tests/unit/test.h"

#include <string.h>
#include <zlib.h>

static uint32_t add_function(struct profile *p, uint32_t module, const char *name)
{
	struct profile_function function = { .module = module, .name = profile_string(p, name) };

	return profile_add_function(p, &function);
}

static uint32_t add_location(struct profile *p, uint32_t module, uint64_t vaddr,
			     const char *inlined, const char *name)
{
	uint32_t location = profile_add_location(p, module, vaddr,
						 p->modules.items[module].kind == PROFILE_JIT ?
							 PROFILE_FRAME_JIT : PROFILE_FRAME_NATIVE);
	struct profile_line lines[2] = { 0 };
	uint32_t count = 0;

	if (inlined)
		lines[count++].function = add_function(p, module, inlined);
	lines[count++].function = add_function(p, module, name);
	profile_set_lines(p, location, lines, count);
	return location;
}

static void add_samples(struct profile *p, uint32_t stack, enum stack_stop stop, uint64_t count)
{
	struct profile_sample sample = {
		.stack = stack, .stop = stop, .count = count, .weight = count * 10, .cpu = 1
	};

	profile_add_sample(p, &sample);
}

static struct profile *small_profile(void)
{
	struct profile *p = profile_new();
	struct profile_value_type event = { .name = profile_string(p, "cpu-clock"),
				       .unit = profile_string(p, "ns"), .rate = 99, .is_freq = true };
	struct profile_thread thread = { .pid = 42, .tid = 43, .comm = profile_string(p, "worker"),
					 .process = profile_string(p, "server") };
	struct profile_module program = { .name = profile_string(p, "server"),
					  .path = profile_string(p, "/bin/server"),
					  .build_id = profile_string(p, "c0ffee") };
	struct profile_module jit = { .name = profile_string(p, "[jit 42]"),
				      .path = profile_string(p, "[jit 42]"), .kind = PROFILE_JIT };

	profile_add_value_type(p, &event);
	profile_add_thread(p, &thread);
	uint32_t own = profile_add_module(p, &program), other = profile_add_module(p, &jit);
	uint32_t main_at = add_location(p, own, 0x1000, NULL, "main");
	uint32_t parse_at = add_location(p, own, 0x2000, "scan", "parse");
	uint32_t evil_at = add_location(p, other, 0x7000, NULL, "<evil;\033[2J>");
	uint32_t root = profile_add_stack(p, 0, main_at, PROFILE_HOW_SURE);

	add_samples(p, profile_add_stack(p, root, parse_at, PROFILE_HOW_SURE), STACK_STOP_ROOT, 6);
	add_samples(p, profile_add_stack(p, root, parse_at, PROFILE_HOW_SURE), STACK_STOP_SNAPSHOT_ENDED, 1);
	add_samples(p, profile_add_stack(p, root, evil_at, PROFILE_HOW_SURE), STACK_STOP_ROOT, 3);
	return p;
}

struct folded_case {
	struct profile *p;
	struct folded_options options;
};

static void print_folded(FILE *out, void *context)
{
	struct folded_case *c = context;

	CHECK_OK(folded_write(c->p, &c->options, out));
}

TEST(folded_lines_are_sorted_sums_with_harmless_names)
{
	struct folded_case c = { .p = small_profile() };

	CHECK_STR(test_printed(print_folded, &c),
		  "server;[snapshot ended];main;parse;scan 10\n"
		  "server;main;<evil:\\x1b[2J> 30\n"
		  "server;main;parse;scan 60\n");
	c.options.samples = true;
	c.options.suffixes = true;
	c.options.tid = true;
	CHECK_STR(test_printed(print_folded, &c),
		  "worker-42/43;[snapshot ended];main;parse;scan_[i] 1\n"
		  "worker-42/43;main;<evil:\\x1b[2J>_[j] 3\n"
		  "worker-42/43;main;parse;scan_[i] 6\n");
	c.options.event = 1;
	CHECK_STR(test_printed(print_folded, &c), "");
	profile_free(c.p);
}

/* Decode what pprof_write() makes, by zlib and protobuf-c. */
static Pprof__Profile *written(struct profile *p)
{
	struct profile_facts facts;
	char *data = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&data, &len);
	static uint8_t plain[65536];
	z_stream z = { 0 };

	profile_facts_init(&facts);
	facts.has_wall = facts.has_duration = true;
	facts.wall_ns = 7;
	facts.duration_ns = 8;
	CHECK_OK(pprof_write(p, &facts, out));
	fclose(out);
	CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	z.next_in = (uint8_t *)data;
	z.avail_in = (uInt)len;
	z.next_out = plain;
	z.avail_out = sizeof(plain);
	CHECK(inflate(&z, Z_FINISH) == Z_STREAM_END);
	inflateEnd(&z);
	free(data);
	return pprof__profile__unpack(NULL, z.total_out, plain);
}

TEST(pprof_files_begin_with_the_mapping_of_the_program)
{
	struct profile *p = small_profile();
	struct profile_module library = { .name = profile_string(p, "lib.so"), .path = profile_string(p, "/lib/lib.so") };

	for (uint32_t expected = 0; expected <= 2; expected += 2) {
		Pprof__Profile *file = written(p);
		const Pprof__Mapping *first = file->mapping[0];

		CHECK_UINT(first->id, expected + 1);
		CHECK_STR(file->string_table[first->filename], expected ? "/lib/lib.so" : "/bin/server");
		pprof__profile__free_unpacked(file, NULL);

		/* From here on the main thread begins in the library. */
		p->threads.items[0].tid = p->threads.items[0].pid;
		uint32_t at = add_location(p, profile_add_module(p, &library), 0x10, NULL, "start");

		add_samples(p, profile_add_stack(p, 0, at, PROFILE_HOW_SURE), 0, 100);
	}
	profile_free(p);
}

TEST(pprof_files_hold_every_sample_with_its_stack_leaf_first)
{
	struct profile *p = small_profile();
	Pprof__Profile *file = written(p);
	int64_t samples = 0, weight = 0;

	CHECK(file != NULL);
	CHECK_STR(file->string_table[0], "");
	CHECK_UINT(file->n_sample_type, 2);
	CHECK_STR(file->string_table[file->sample_type[0]->type], "samples");
	CHECK_STR(file->string_table[file->sample_type[1]->type], "cpu-clock");
	CHECK_STR(file->string_table[file->sample_type[1]->unit], "nanoseconds");
	CHECK_UINT(file->period, 1000000000 / 99);
	for (size_t i = 0; i < file->n_sample; i++) {
		samples += file->sample[i]->value[0];
		weight += file->sample[i]->value[1];
		CHECK_UINT(file->sample[i]->n_location_id, 2);
	}
	CHECK_INT(samples, 10);
	CHECK_INT(weight, 100);

	Pprof__Location *leaf = file->location[file->sample[0]->location_id[0] - 1];

	CHECK_UINT(leaf->address, 0x2000);
	CHECK_UINT(leaf->n_line, 2);
	Pprof__Function *innermost = file->function[leaf->line[0]->function_id - 1];

	CHECK_STR(file->string_table[innermost->name], "scan");
	Pprof__Mapping *mapping = file->mapping[leaf->mapping_id - 1];

	CHECK_STR(file->string_table[mapping->build_id], "c0ffee");
	CHECK(leaf->address >= mapping->memory_start && leaf->address < mapping->memory_limit);
	pprof__profile__free_unpacked(file, NULL);
	profile_free(p);
}

TEST(pprof_labels_tell_process_thread_and_cpu)
{
	struct profile *p = small_profile();
	Pprof__Profile *file = written(p);
	Pprof__Sample *sample = file->sample[0];
	int seen = 0;

	for (size_t i = 0; i < sample->n_label; i++) {
		const char *key = file->string_table[sample->label[i]->key];

		if (strcmp(key, "pid") == 0)
			seen += sample->label[i]->num == 42;
		else if (strcmp(key, "tid") == 0)
			seen += sample->label[i]->num == 43;
		else if (strcmp(key, "cpu") == 0)
			seen += sample->label[i]->num == 1;
		else if (strcmp(key, "thread") == 0)
			seen += strcmp(file->string_table[sample->label[i]->str], "worker") == 0;
		else if (strcmp(key, "process") == 0)
			seen += strcmp(file->string_table[sample->label[i]->str], "server") == 0;
	}
	CHECK_INT(seen, 5);
	pprof__profile__free_unpacked(file, NULL);
	profile_free(p);
}

TEST(frame_lists_go_from_the_reason_by_the_root_to_the_innermost_inlined_function)
{
	static const char *const names[] = { "[snapshot ended]", "main", "parse", "scan" };
	struct profile *p = small_profile();
	struct profile_sample row = p->samples.items[0];
	struct arena arena = { 0 };
	struct frame_list list = { 0 };

	for (unsigned reasons = 0; reasons < 2; reasons++) {
		row.stop = reasons ? STACK_STOP_SNAPSHOT_ENDED : STACK_STOP_ROOT;
		frame_list_fill(&list, p, &row);
		CHECK_UINT(list.frames.len, 3 + reasons);
		for (size_t i = 0; i < list.frames.len; i++)
			CHECK_STR(frame_name(&list, &list.frames.items[i], p, &arena),
				  names[i + 1 - reasons]);
		CHECK_UINT(list.frames.items[list.frames.len - 1].inlined, 1);
		CHECK_UINT(list.frames.items[list.frames.len - 2].inlined, 0);
	}
	frame_list_deinit(&list);
	arena_deinit(&arena);
	profile_free(p);
}

TEST(flame_merges_equal_frames_and_keeps_every_weight)
{
	struct profile *p = small_profile();
	struct flame_options options = { 0 };
	struct flame flame;

	flame_init(&flame, p, &options);
	const struct flame_node *nodes = flame.nodes.items;
	const struct flame_node *process = &nodes[nodes[0].first_child];
	const struct flame_node *cut = &nodes[process->first_child];
	const struct flame_node *main_node = &nodes[cut->next];
	const struct flame_node *evil = &nodes[main_node->first_child];

	CHECK_UINT(nodes[0].weight, 100);
	CHECK_STR(process->name, "server");
	CHECK_UINT(process->next, 0);
	CHECK_STR(cut->name, "[snapshot ended]");
	CHECK_UINT(cut->weight, 10);
	CHECK_UINT(main_node->weight, 90);
	CHECK_UINT(evil->self, 30);
	CHECK_STR(nodes[evil->next].name, "parse");
	CHECK_UINT(nodes[evil->next].count, 6);
	CHECK_UINT(flame.depth, 5);
	flame_deinit(&flame);
	profile_free(p);
}

static void print_svg(FILE *out, void *context)
{
	struct svg_options options = { .title = "a <b> & c", .subtitle = "", .width = 1200 };

	svg_write(context, &options, out);
}

TEST(svg_pictures_let_no_name_out_of_its_text)
{
	struct profile *p = small_profile();
	struct flame_options options = { 0 };
	struct flame flame;

	flame_init(&flame, p, &options);
	const char *svg = test_printed(print_svg, &flame);

	CHECK(strstr(svg, "a &lt;b&gt; &amp; c"));
	CHECK(strstr(svg, "&lt;evil:\\x1b[2J&gt;"));
	CHECK(!strstr(svg, "<evil"));
	CHECK(strstr(svg, "(30.00 %, 3 samples"));
	flame_deinit(&flame);
	profile_free(p);
}

/* Boxes beyond the limit are left out by weight, and the picture says how many. */
TEST(svg_pictures_have_a_limit_and_say_what_it_cut)
{
	struct profile *p = small_profile();
	struct flame_options options = { 0 };
	struct flame flame;
	char name[32];

	for (uint64_t i = 0; i < SVG_FRAMES_MAX + 50; i++) {
		snprintf(name, sizeof(name), "f%ju", (uintmax_t)i);
		uint32_t at = add_location(p, 0, 0x10000 + i, NULL, name);

		add_samples(p, profile_add_stack(p, 0, at, PROFILE_HOW_SURE), 0, 10000 + i);
	}
	flame_init(&flame, p, &options);
	struct svg_options wide = { .title = "", .subtitle = "", .width = 20000 };
	char *svg = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&svg, &len);

	svg_write(&flame, &wide, out);
	fclose(out);
	uint64_t boxes = 0;

	for (const char *at = svg; (at = strstr(at, "<g class=\"f\">")); at++)
		boxes++;
	CHECK(boxes <= SVG_FRAMES_MAX);
	CHECK(boxes >= SVG_FRAMES_MAX - 1);
	CHECK(strstr(svg, "are not drawn"));
	free(svg);
	flame_deinit(&flame);
	profile_free(p);
}
