<?php // SPDX-License-Identifier: Apache-2.0
// Calls left_1 to left_4, one another, and right_1 to right_4, one another, by turns, for as many seconds as it is told.
function left_4() { return 1; }
function left_3() { return left_4(); }
function left_2() { return left_3(); }
function left_1() { return left_2(); }
function right_4() { return 1; }
function right_3() { return right_4(); }
function right_2() { return right_3(); }
function right_1() { return right_2(); }

$end = hrtime(true) + (int)($argv[1] * 1e9);
while (hrtime(true) < $end) {
	for ($i = 0; $i < 10000; $i++) {
		left_1();
		right_1();
	}
}
