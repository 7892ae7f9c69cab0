#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
{ cat "$DATA/report/mix.txt"; echo 'counted 1000000 625000'; } | "$BUILD/tests/tools/write_trace" shared.trace
"$BUILD/tests/tools/write_trace" alone.trace <"$DATA/report/mix.txt"
preport -i shared.trace | sed -n 3,6p
preport -i shared.trace info | grep -A2 '^What each event'
preport diff alone.trace shared.trace --scale=none | grep '^!'
