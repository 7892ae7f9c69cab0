<?php
// SPDX-License-Identifier: Apache-2.0
// Waits in two functions, twice as long in one as in the other. Says how long.
$spent = ['long' => 0, 'short' => 0];
function short() {
	usleep(20000); // LINE SHORT
}
function long() {
	usleep(40000); // LINE LONG
}
for ($i = 0; $i < (int)$argv[1]; $i++) {
	foreach (['short', 'long'] as $name) {
		$begin = hrtime(true);
		$name();
		$spent[$name] += hrtime(true) - $begin;
	}
}
foreach ($spent as $name => $ns)
	echo "$name $ns\n";
