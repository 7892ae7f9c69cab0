#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" a.trace <"$DATA/report/mix.txt"
preport -i a.trace folded >expected
preport - folded <a.trace | cmp - expected && echo folded
printf 'main;f 3\nmain 1\n' | preport - --by leaf
