/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h - a file is recognised: events to be walked, or a profile that is finished.
 */
#ifndef REPORT_INPUT_H
#define REPORT_INPUT_H

#include "formats/base/diag.h"
#include "formats/event.h"
#include "formats/profile/facts.h"
#include "formats/profile/profile.h"

struct input {
	struct event_source *source; /* NULL: it is a profile */
	struct profile *profile;     /* NULL: there are events instead */
	struct profile_facts facts;  /* of the profile */
};

/*
 * Open what is at @path, "-" for standard input. Source, or profile and facts, are the caller's. The kernel's
 * names of a perf.data are those of @kallsyms, or, if that is NULL, of the kernel that runs here. ERR_SYSTEM, ERR_CORRUPT,
 * ERR_UNSUPPORTED: as the readers say; what an importer leaves out is counted in @diag.
 */
MUST_USE struct err *input_open(const char *path, const char *kallsyms, struct diag *diag, struct input *ret);

#endif
