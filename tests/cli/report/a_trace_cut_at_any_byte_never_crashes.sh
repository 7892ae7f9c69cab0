#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every cut gives a report or one error of at most two lines.
"$BUILD/tests/tools/write_trace" whole.trace <"$DATA/report/mix.txt"
size=$(stat -c %s whole.trace)
for ((len = 0; len < size; len += 1 + size / 150)); do
	head -c "$len" whole.trace >precord.trace
	preport --by leaf >out 2>err
	status=$?
	[ $status -le 1 ] || echo "status $status at $len"
	[ $status = 0 ] || [ "$(wc -l <err)" -le 2 ] || echo "too much to say at $len"
done
echo done
