#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 200 blocks that all overlap: more than a reader keeps open to sort.
awk 'BEGIN {
	print "event cpu-clock ns 999\nprocess 1 a"
	for (i = 0; i < 200; i++)
		printf "at %d\nsample 0 1 1 0 1 1 main;f\nat %d\nsample 0 1 1 0 1 1 main;f\nround\n", 1000 - i, 2000 + i
}' | "$BUILD/tests/tools/write_trace" precord.trace
preport | grep 'out of order'
