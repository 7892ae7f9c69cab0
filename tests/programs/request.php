<?php
// SPDX-License-Identifier: Apache-2.0
// Answers /slow after three times as much work as /fast.
function work(int $ms): int {
	$n = 0;
	$used = fn() => getrusage()['ru_utime.tv_sec'] * 1000000 + getrusage()['ru_utime.tv_usec'];
	$end = $used() + $ms * 1000;
	while ($used() < $end)
		for ($i = 0; $i < 1000; $i++)
			$n += $i;
	return $n;
}
work(strpos($_SERVER['REQUEST_URI'], '/slow') === 0 ? 1500 : 500);
echo "done\n";
