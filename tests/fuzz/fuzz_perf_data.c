/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_perf_data.c - perf.data files, of a disk and of a pipe.
 */
#include "tests/fuzz/event_check.h"

#include "formats/perf/perf_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct event_source *source;
	struct event ev;
	struct err *err = perf_data_open_memory(data, len, &source);

	if (err) {
		CHECK(err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
		err_free(err);
		return 0;
	}
	check_recording(event_source_recording(source));
	while (event_source_next(source, &ev))
		check_event(&ev, event_source_recording(source));
	err = event_source_finish(source);
	CHECK(!err || err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
	err_free(err);
	event_source_close(source);
	return 0;
}
