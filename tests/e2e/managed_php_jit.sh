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
if (!(opcache_get_status()["jit"]["on"] ?? false))
	exit(3);
run($argv[1] ?? 0);
END
compiled=(php -n -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M -d opcache.jit=function -d opcache.file_update_protection=0)
"${compiled[@]}" loop.php >/dev/null 2>&1 || skip "no php with opcache's JIT here"
precord -q -e cpu-clock -F 1999 -o jit.trace -- "${compiled[@]}" loop.php 1 || fail "the recording failed"
preport script -i jit.trace 2>/dev/null | awk '
	NF && !/^\t/ { taken = 0 }
	/^\t/ && !taken { taken = 1; if ($1 == "work") { n++; before += /loop\.php:3$/ } }
	END { print n + 0, before + 0 }' >counts.txt
read -r samples before <counts.txt
echo "$samples samples of its function, $before have the line before it"
[ "$samples" -ge 50 ] || skip "it had too few samples"
[ $((before * 50)) -le "$samples" ] || fail "a compiled loop has the line before it"
exit 0
