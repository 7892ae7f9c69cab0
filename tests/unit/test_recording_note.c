/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_recording_note.c - kinds of notes and what they say.
 */
#include "formats/recording_note.h"
#include "tests/unit/test.h"

TEST(recording_note_of_each_kind_is_one_sentence)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	struct recording_note other = { .subject = "", .text = "no PMU; a clock instead" };
	struct recording_note never = { .kind = RECORDING_NOTE_NEVER,
					.subject = "'cycles', 'branches'",
					.text = "the NMI watchdog holds one" };
	struct recording_note one = { .kind = RECORDING_NOTE_MULTIPLEXED,
				      .count = 1,
				      .share = 4987,
				      .subject = "cycles",
				      .text = "" };
	struct recording_note more = one;

	more.count = 4;
	more.text = "a hypervisor may hold some";
	CHECK_STR(recording_note_text(&other, &arena), "no PMU; a clock instead");
	CHECK_STR(recording_note_text(&never, &arena),
		  "not counted, no counter was free: 'cycles', 'branches'; the NMI watchdog holds one");
	CHECK_STR(recording_note_text(&one, &arena),
		  "'cycles' was multiplexed with other events: counted 50 % of the time");
	CHECK_STR(recording_note_text(&more, &arena),
		  "4 events were multiplexed; 'cycles' was counted least, 50 % of the time; "
		  "fewer events at once are counted longer; a hypervisor may hold some");
}
