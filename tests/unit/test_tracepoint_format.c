/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tracepoint_format.c - fields of payloads, and conditions on them.
 */
#include "tests/unit/test.h"

#include "formats/tracepoint_format.h"
#include "report/view/where.h"

#include <string.h>

static const char format_text[] =
	"name: demo\nID: 372\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
	"\tfield:char next_comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] filename;\toffset:20;\tsize:4;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t bytes;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:u8 far;\toffset:4294967295;\tsize:4294967295;\tsigned:0;\n"
	"\tfield:broken\n"
	"print fmt: \"%s\", REC->next_comm\n";

static const uint8_t payload[44] = {
	[8] = 'k', 'w', 'o', 'r', 'k', 'e', 'r', '0',	/* without a NUL */
	[16] = 0xff, 0xff, 0xff, 0xff,			/* -1 */
	[20] = 40, 0, 4, 0,				/* 4 bytes at 40 */
	[24] = 0x10, 0x20,				/* 0x2010 */
	[32] = 0x00, 0x10,				/* 4096 */
	[40] = '/', 'a', 0, 'x',
};

static const char *value_of(struct arena *arena, const char *name, const uint8_t *raw, size_t len)
{
	struct tracepoint_format format = tracepoint_format_read(arena, format_text);
	const struct tracepoint_field *field = tracepoint_format_find(&format, name);
	struct tracepoint_value value;

	if (!field || !tracepoint_field_value(field, raw, len, arena, &value))
		return "none";
	return tracepoint_value_text(&value, arena);
}

TEST(tracepoint_format_reads_numbers_texts_and_texts_elsewhere)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(value_of(&arena, "next_comm", payload, sizeof(payload)), "kworker0");
	CHECK_STR(value_of(&arena, "pid", payload, sizeof(payload)), "-1");
	CHECK_STR(value_of(&arena, "filename", payload, sizeof(payload)), "/a");
	CHECK_STR(value_of(&arena, "ptr", payload, sizeof(payload)), "0x2010");
	CHECK_STR(value_of(&arena, "bytes", payload, sizeof(payload)), "4096");
	CHECK_STR(value_of(&arena, "nothing", payload, sizeof(payload)), "none");
}

/* Each cut sits against a guard page. */
TEST(tracepoint_format_never_reads_beyond_the_payload)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };

	CHECK_STR(value_of(&arena, "far", payload, sizeof(payload)), "none");
	for (size_t len = 0; len < sizeof(payload); len++) {
		const uint8_t *raw = guarded(payload, len);

		CHECK_STR(value_of(&arena, "filename", raw, len), "none");
		CHECK(len >= 40 || !strcmp(value_of(&arena, "bytes", raw, len), "none"));
		CHECK(len >= 16 || !strcmp(value_of(&arena, "next_comm", raw, len), "none"));
	}
}

static struct recording_event events[] = {
	{ .name = "demo:demo", .format = format_text },
	{ .name = "cycles", .format = "" },
};
static const struct recording recording = { .events = events, .nevents = 2 };

static bool passes(const char *condition, uint32_t event)
{
	struct event ev = { .kind = EVENT_SAMPLE,
			    .sample = { .event = event, .raw = payload, .raw_len = sizeof(payload) } };
	struct where *where;
	bool ret;

	CHECK_OK(where_new(condition, &recording, &where));
	ret = where_passes(where, &ev);
	where_free(where);
	return ret;
}

TEST(where_compares_numbers_and_texts)
{
	CHECK(passes("bytes == 4096", 0));
	CHECK(passes("bytes >= 0x1000 && bytes<4097", 0));
	CHECK(!passes("bytes > 4096", 0));
	CHECK(passes("pid < 0", 0)); /* signed */
	CHECK(passes("pid > -2", 0));
	CHECK(!passes("bytes < -1", 0));
	CHECK(passes("filename == '/a'", 0));
	CHECK(passes("next_comm ~ kworker*", 0));
	CHECK(passes("next_comm !~ \"x*\"", 0));
	CHECK(passes("bytes == 1 || bytes == 2 && pid == 3 || (pid == -1 && ptr != 0)", 0));
	CHECK(!passes("bytes == 4096", 1)); /* it has no such field */
	CHECK(!passes("bytes != 4096", 1));
}

static void refuses(const char *condition, const char *why)
{
	struct where *where = NULL;
	CLEANUP(err_freep) struct err *err = where_new(condition, &recording, &where);

	CHECK(err && err_kind(err) == ERR_USAGE);
	CHECK(strstr(err_message(err), why));
	CHECK(!where);
}

TEST(where_refuses_what_is_no_condition)
{
	char deep[100];

	refuses("", "a field is missing");
	refuses("bytes", "no comparison");
	refuses("bytes >", "a value is missing");
	refuses("bytes > 1 bytes", "'&&' or '||' is missing");
	refuses("(bytes > 1", "no ')'");
	refuses("filename == 'a", "no quote");
	refuses("bytes > big", "is a number");
	refuses("size > 1", "no event of the recording has a field 'size'");
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	refuses(deep, "parentheses inside each other");
}
