/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supplement.h - the file that dwz moved shared debug information to, named by .gnu_debugaltlink or .debug_sup.
 */
#ifndef DEBUG_SUPPLEMENT_H
#define DEBUG_SUPPLEMENT_H

#include "symbolize/elf/image.h"

/*
 * Open the supplementary file of @img: by build ID, at the path in the link (relative to @img's), in the debug
 * directory that @img itself lies in. Its build ID or checksum must be the one in the link. NULL if there is none, or it is
 * not found; the caller releases it with image_close().
 */
struct image *debug_supplement_open(struct image *img);

/* Is there such a file, wherever it is? */
bool debug_supplement_is_linked(struct image *img);

#endif
