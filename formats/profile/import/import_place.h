/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_place.h - processes and threads that formats without a field for them have as text: as a frame or a profile's name.
 *
 *	thread (27340): burner-0	process 12:"python x.py"	py-spy's frames
 *	Thread 27129 "MainThread"	Process 12 Thread 13 "x"	py-spy's profiles in speedscope's format
 *	Thread (2060)						.NET's
 *	worker 10/11 (cpu-clock)				preport's: process and thread
 *	worker-10/11						stackcollapse-perf --tid, preport folded --with-tid
 *	[main tid=12]	[tid=12]				async-profiler
 */
#ifndef FORMATS_IMPORT_PLACE_H
#define FORMATS_IMPORT_PLACE_H

#include "formats/base/json_reader.h"

#include <stdbool.h>
#include <stdint.h>

struct import_place {
	uint32_t pid, tid;	      /* UINT32_MAX if it does not say */
	struct json_text process, name; /* of the process, of the thread; empty if it does not say */
	struct json_text event;		/* that was sampled; the same */
};

/* False where @text is like none of them; then all of @ret is unknown. */
bool import_place(struct json_text text, struct import_place *ret);

#endif
