/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_remarks.c - what is said of events that had no counter for all of the time.
 */
#include "report/load/remarks.h"

#include "tests/unit/test.h"

#include <string.h>

#define SECOND 1000000000

/* How many remarks on a second, of which the one event had a counter for @running_ns, hold @text; the recorder noted @kind. */
static unsigned count_remarks(uint64_t running_ns, enum recording_note_kind kind, const char *text)
{
	static char name[] = "cycles";
	struct recording_event event = { .name = name, .type = 0 };
	struct recording_count counts = { .samples = running_ns > 0, .enabled_ns = SECOND, .running_ns = running_ns };
	struct recording rec = { .events = &event, .nevents = 1, .counts = &counts, .ncounts = 1, .complete = true };
	struct recording_note note = { .kind = kind, .subject = name, .text = "a note" };
	struct session s = { .recording = &rec, .profile = profile_new(), .facts = { .notes = &note, .nnotes = 1 } };
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	CLEANUP(diag_deinit) struct diag diag = { 0 };
	struct remarks remarks;
	unsigned count = 0;

	s.binaries.modules = module_table_new(&rec, NULL, &diag);
	remarks_init(&remarks, &s, &arena);
	for (size_t i = 0; i < remarks.list.len; i++)
		count += strstr(remarks.list.items[i].text, text) != NULL;
	remarks_deinit(&remarks);
	module_table_free(s.binaries.modules);
	profile_free(s.profile);
	return count;
}

TEST(remarks_leave_out_what_the_recorder_noted)
{
	static const char shared[] = "events were multiplexed: cycles", never[] = "not counted (unknown";

	CHECK_UINT(count_remarks(SECOND / 2, RECORDING_NOTE_OTHER, shared), 1);
	CHECK_UINT(count_remarks(SECOND / 2, RECORDING_NOTE_NEVER, shared), 1);
	CHECK_UINT(count_remarks(SECOND / 2, RECORDING_NOTE_MULTIPLEXED, shared), 0);
	CHECK_UINT(count_remarks(SECOND, RECORDING_NOTE_OTHER, shared), 0);
	CHECK_UINT(count_remarks(0, RECORDING_NOTE_OTHER, never), 1);
	CHECK_UINT(count_remarks(0, RECORDING_NOTE_MULTIPLEXED, never), 1);
	CHECK_UINT(count_remarks(0, RECORDING_NOTE_NEVER, never), 0);
}
