#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whole, without its end, cut in the middle of a block, and with a damaged block.
add_up() {
	preport info --sizes --format=csv -i "$1" 2>/dev/null | tr -d '\r' | awk -F, -v len="$(stat -c %s "$1")" '
		$1 == "group" { on = 1; next } on { gsub(/"[^"]*"/, "-"); sum += $3 }
		END { print sum == len ? "adds up" : sum " of " len }'
}
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
{ cat "$DATA/report/mix.txt"; echo unfinished; } | "$BUILD/tests/tools/write_trace" open.trace
head -c -100 precord.trace >cut.trace
cp precord.trace bad.trace
printf '\377\377' | dd of=bad.trace bs=1 seek=$(($(stat -c %s bad.trace) / 2)) conv=notrunc 2>/dev/null
for f in precord open cut bad; do echo "$f: $(add_up $f.trace)"; done
preport info --sizes | sed -n 4p
