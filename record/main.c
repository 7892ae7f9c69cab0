/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - precord.
 */
#include "formats/base/program.h"
#include "record/commands.h"
#include "record/completion_words.h"

#include <stddef.h>

#define STATUS_OWN_FAILURE 125

static const struct command *const commands[] = { &cmd_record, &cmd_stat, &cmd_top, &cmd_dump, &cmd_list, NULL };

static const struct program program = {
	.name = "precord",
	.version = VERSION,
	.summary = "record what programs do with their time, for preport",
	.see_also = "precord(1), preport(1), precord-trace(5)",
	.commands = commands,
	.word_uses = completion_word_uses,
	.print_words = completion_words_print,
};

int main(int argc, char **argv)
{
	return program_main(&program, argc, argv, STATUS_OWN_FAILURE);
}
