#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for format in $(preport formats | awk '/^written/ { on = 1 } on && $1 != "written" && $1 != "perf-data" && $1 != "pprof" && $1 != "folded" { print $1 }'); do
	preport export --to $format -o out.$format
done
preport export
preport export --to callgrind -o out.gz
preport export --to svg
exit 0
