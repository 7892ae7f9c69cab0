/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - preport: reads a recording and says what burned the time.
 */
#include "formats/base/program.h"
#include "formats/base/memory.h"
#include "report/commands.h"
#include "report/completion_words.h"
#include "report/setting_names.h"
#include "report/print/topics.h"

#include <locale.h>

int main(int argc, char **argv)
{
	static const struct program program = {
		.name = "preport",
		.version = VERSION,
		.summary = "report on a recording made by precord",
		.see_also = "preport(1), precord(1), precord-trace(5)",
		.commands = commands,
		.word_uses = completion_word_uses,
		.print_words = completion_words_print,
		.settings = setting_names,
		.topics = topics,
	};

	memory_keep();
	setlocale(LC_CTYPE, "");
	return program_main(&program, argc, argv, /* failure_status= */ 0);
}
