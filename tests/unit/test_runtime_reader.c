/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_reader.c - processes that come and go.
 */
#include "record/runtime/runtime_reader.h"

#include "formats/base/diag.h"
#include "tests/unit/test.h"

#include <string.h>

#define GONE 0x40000000u /* there are no processes with such numbers */

/* Is a process still looked at after many others have ended? @ends tell of such that were never asked for. */
static bool has_room(bool asked_for)
{
	struct runtime_reader *r = runtime_reader_new(NULL);
	struct diag notes = { 0 };
	bool none;

	for (uint32_t i = 0; i < 300; i++) {
		if (!i || asked_for)
			runtime_reader_tell(r, GONE + i, 0x1000, false);
		runtime_reader_end(r, GONE + i);
	}
	runtime_reader_tell(r, GONE + 1000, 0x1000, false);
	none = runtime_reader_pause(r, UINT64_MAX, &notes) && !notes.entries;
	diag_deinit(&notes);
	runtime_reader_free(r);
	return none;
}

/* The thread has a second for what it is told, which a busy machine may not give it. */
TEST(runtime_reader_has_room_again_when_processes_end)
{
	bool known = false, unknown = false;

	for (int i = 0; i < 10 && !known; i++)
		known = has_room(/* asked_for= */ true);
	for (int i = 0; i < 10 && !unknown; i++)
		unknown = has_room(/* asked_for= */ false);
	CHECK(known);
	CHECK(unknown);
}

/* More than can be asked at once end meanwhile, of whom it knows nothing. */
TEST(runtime_reader_is_not_told_of_the_end_of_processes_that_made_no_code)
{
	struct runtime_reader *r = runtime_reader_new(NULL);
	struct diag notes = { 0 };

	runtime_reader_tell(r, GONE, 0x1000, false);
	CHECK(runtime_reader_pause(r, UINT64_MAX, &notes));
	for (uint32_t i = 1; i < 70000; i++)
		runtime_reader_end(r, GONE + i);
	runtime_reader_resume(r);
	CHECK(runtime_reader_pause(r, UINT64_MAX, &notes));
	CHECK(!notes.entries || !strstr(notes.entries->message, "not looked up"));
	diag_deinit(&notes);
	runtime_reader_free(r);
}
