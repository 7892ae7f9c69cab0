/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_image.h - writes the files that hold recorded code into the trace, each cut down to what matters.
 */
#ifndef RECORD_ATTACH_IMAGE_H
#define RECORD_ATTACH_IMAGE_H

#include "record/embed/attach_report.h"
#include "record/embed/code_file.h"
#include "record/embed/embed_child.h"

/*
 * In @child: one image per file that was touched, in order of path, those with equal build IDs as one. What vanished or
 * cannot be read is reported in @notes and counted in @report. ERR_SYSTEM: the recorder takes no more.
 */
MUST_USE struct err *attach_image_write_all(struct code_files *files, enum attach_bundle bundle,
					    struct embed_child *child, struct trace_writer *w, struct diag *notes,
					    struct attach_report *report);

#endif
