#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A function that opcache's JIT has compiled does not note where its loops are: it has no line there, never the one before it.
set -u
. "$TOP/tests/e2e/lib/recording.bash"
need_recording
need_interpreters
cat >loop.php <<'END'
<?php
function work() {
	$s = 0; $a = [1, 2, 3, 4, 5, 6, 7, 8];
	for ($i = 0; $i < 300000; $i++)
		$s = ($s * 31 + $i) & 0xffffff;
	for ($i = 0; $i < 100000; $i++)
		$s += $a[$i & 7];
	return $s;
}
function run($time) {
	$end = microtime(true) + $time;
	do work(); while (microtime(true) < $end);
}
if (($argv[2] ?? 1) && !(opcache_get_status()["jit"]["on"] ?? false))
	exit(3);
run($argv[1] ?? 0);
END
compiled=(php -n -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=function -d opcache.file_update_protection=0)
"${compiled[@]}" loop.php >/dev/null 2>&1 || skip "no php with opcache's JIT here"
precord -v -e cpu-clock -F 1999 -o jit.trace -- "${compiled[@]}" loop.php 1 2>precord.txt || { cat precord.txt; fail "the recording failed"; }
# lines FILE LINE: how many samples of the function there are, and how many have this line
lines() {
	preport script -i "$1" 2>/dev/null | awk -v line="loop.php:$2" '
		NF && !/^\t/ { taken = 0 }
		/^\t/ && !taken { taken = 1; if ($1 == "work") { n++; found += substr($0, length($0) - length(line) + 1) == line } }
		END { print n + 0, found + 0 }'
}
read -r samples before < <(lines jit.trace 3)
echo "$samples samples of its function, $before have the line before its loops"
[ "$samples" -ge 50 ] || few_stacks precord.txt
[ $((before * 50)) -le "$samples" ] || fail "a compiled loop has the line before it"

# Interpreted, it has its line without a copy of the stack, too.
precord -v -e cpu-clock -F 1999 --call-graph=fp -o fp.trace -- "${compiled[@]}" -d opcache.jit=0 loop.php 1 0 2>precord.txt || { cat precord.txt; fail "the recording failed"; }
read -r samples in_loop < <(lines fp.trace 5)
echo "$samples samples of its function, $in_loop have the line of the longest loop"
[ "$samples" -ge 50 ] || few_stacks precord.txt
[ $((in_loop * 3)) -ge "$samples" ] || fail "with frame pointers the loop has not its own line"
exit 0
