/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_trace_dat.c - files of trace-cmd, of both versions.
 */
#include "tests/fuzz/event_check.h"

#include "formats/perf/trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct event_source *source;
	struct event ev;
	struct err *err = trace_dat_open_memory(data, len, &source);

	if (err) {
		CHECK(err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
		err_free(err);
		return 0;
	}
	check_recording(event_source_recording(source));
	while (event_source_next(source, &ev)) {
		check_event(&ev, event_source_recording(source));
	}
	CHECK(trace_dat_kallsyms(source, &len) || !len);
	err = event_source_finish(source);
	CHECK(!err || err_kind(err) == ERR_CORRUPT || err_kind(err) == ERR_UNSUPPORTED);
	err_free(err);
	event_source_close(source);
	return 0;
}
