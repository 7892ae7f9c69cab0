#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for format in firefox speedscope chrome callgrind perf-script otlp otlp-json; do
	preport export --to $format -o out.$format
done
preport export
preport export --to callgrind -o out.gz
preport export --to svg
exit 0
