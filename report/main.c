/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - preport: reads a recording and says what burned the time.
 */
#include "formats/base/memory.h"
#include "formats/base/program.h"
#include "formats/base/topic.h"
#include "report/commands.h"
#include "report/completion_words.h"
#include "report/setting_names.h"

#include <locale.h>
#include <stddef.h>

/* ---- the texts of "preport help TOPIC", which .ci/embed makes arrays of ---- */

extern const unsigned char asset_steps_txt[], asset_shares_txt[], asset_trust_txt[],
	asset_stacks_txt[], asset_symbols_txt[], asset_filters_txt[], asset_outputs_txt[],
	asset_terminal_txt[];

/* Ended by a topic without a name. */
static const struct topic topics[] = {
	{ "steps", "from a slow program to the slow line", asset_steps_txt },
	{ "shares", "how to read a share and its confidence interval", asset_shares_txt },
	{ "trust", "lost, throttled, cut, broken, unnamed: causes and fixes", asset_trust_txt },
	{ "stacks", "how stacks are unwound, and why some are incomplete", asset_stacks_txt },
	{ "symbols", "where symbols and source lines come from", asset_symbols_txt },
	{ "filters", "how to look at a part of the recording", asset_filters_txt },
	{ "outputs", "formats and tools a recording can be exported to", asset_outputs_txt },
	{ "terminal", "width, bars, colour, pager", asset_terminal_txt },
	{ NULL, NULL, NULL },
};

static const char *const precord_words[] = { "record", "stat", "top", "list", NULL };

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "preport",
		.version = VERSION,
		.summary = "report on a recording made by precord",
		.see_also = "preport(1), precord(1), precord-trace(5)",
		.commands = commands,
		.sibling = "precord",
		.sibling_words = precord_words,
		.word_uses = completion_word_uses,
		.print_words = completion_words_print,
		.settings = setting_names,
		.topics = topics,
	};

	memory_keep();
	setlocale(LC_CTYPE, "");
	return program_main(&program, argc, argv, /* failure_status= */ 0);
}
