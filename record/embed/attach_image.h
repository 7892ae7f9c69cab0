/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach_image.h - writes the files of recorded code into the trace, each reduced to the needed parts.
 */
#ifndef RECORD_ATTACH_IMAGE_H
#define RECORD_ATTACH_IMAGE_H

#include "record/embed/attach_report.h"
#include "record/embed/code_file.h"
#include "record/embed/embed_child.h"

/*
 * In @child: one image per file that was touched, in order of path, those with equal build IDs as one. Files that vanished or
 * cannot be read are reported in @notes and counted in @report. ERR_SYSTEM: the recorder has closed the pipe.
 */
MUST_USE struct err *attach_image_write_all(struct code_files *files, enum attach_bundle bundle,
					    struct embed_child *child, struct trace_writer *w, struct diag *notes,
					    struct attach_report *report);

#endif
