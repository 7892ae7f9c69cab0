/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_runtime_reader.c - processes that come and go.
 */
#include "record/runtime/runtime_reader.h"

#include "formats/base/diag.h"
#include "tests/unit/test.h"

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
	none = runtime_reader_pause(r, &notes) && !notes.entries;
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
