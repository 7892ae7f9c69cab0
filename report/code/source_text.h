/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.h - lines of source files, each file read once, if it is on this machine.
 */
#ifndef REPORT_SOURCE_TEXT_H
#define REPORT_SOURCE_TEXT_H

#include "formats/base/vec.h"

#include <stdint.h>

struct source_file;

struct source_text {
	VEC(struct source_file *) files;
};

/*
 * Line @number of the file at @path, without what it is indented with; "" if it is not there. A line of more than
 * 4,096 bytes ends with "..." there. Not escaped. Valid until source_text_deinit().
 */
const char *source_text_line(struct source_text *text, const char *path, uint32_t number);
void source_text_deinit(struct source_text *text);

#endif
