#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# At 99 Hz for 4 s, 396 samples would have come of threads that ran. Of a short command, and with lost samples, nothing is said.
write() { "$BUILD/tests/tools/write_trace" precord.trace; preport; }
printf 'event cpu-clock ns 99\ntasks\nprocess 7 idler\nthread 7 8 w\nat 2\n' | write
printf 'event cpu-clock ns 99\ntasks\nprocess 7 short\nat 0.02\n' | write
printf 'event cpu-clock ns 99\ntasks\nprocess 7 idler\nat 2\nlost 0 4\n' | write
