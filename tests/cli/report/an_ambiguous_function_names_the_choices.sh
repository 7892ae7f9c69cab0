#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <<'END'
event cpu-clock ns 1000
process 1 one
process 2 two
sample 0 1 1 0 1000000 5 main;work(int);work(long);leaf
sample 0 2 2 0 1000000 5 main;work(int);leaf
END
preport --callers-of leaf
preport --callers-of work
preport --callers-of '[[]jit 1]:leaf'
preport --callers-of 'wor*' --by caller
