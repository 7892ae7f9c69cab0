/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.c - the list; .ci/embed makes the arrays.
 */
#include "report/print/topics.h"

#include <stddef.h>

extern const unsigned char asset_steps_txt[], asset_shares_txt[], asset_trust_txt[],
	asset_stacks_txt[], asset_symbols_txt[], asset_filters_txt[], asset_outputs_txt[],
	asset_terminal_txt[];

const struct topic topics[] = {
	{ "steps", "from slow to the line that is slow", asset_steps_txt },
	{ "shares", "how to read a share and its range", asset_shares_txt },
	{ "trust", "lost, throttled, cut, broken, unnamed, and what to do", asset_trust_txt },
	{ "stacks", "how stacks are found, and why some are not whole", asset_stacks_txt },
	{ "symbols", "where names and lines come from", asset_symbols_txt },
	{ "filters", "asking about a part of the recording", asset_filters_txt },
	{ "outputs", "what can be made of a recording", asset_outputs_txt },
	{ "terminal", "width, bars, colour, pager", asset_terminal_txt },
	{ NULL, NULL, NULL },
};
