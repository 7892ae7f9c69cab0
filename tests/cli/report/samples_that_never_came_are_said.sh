#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 100 samples of 230, and a few that a period that was changed while it ran leaves out.
{ cat "$DATA/report/mix.txt"; echo 'missed 130'; } | "$BUILD/tests/tools/write_trace" missed.trace
{ cat "$DATA/report/mix.txt"; echo 'missed 29'; } | "$BUILD/tests/tools/write_trace" few.trace
preport -i missed.trace | sed -n 3,6p
preport -i missed.trace info | grep -A2 '^What each event'
preport -i few.trace | sed -n 3,6p
