#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" other.trace <"$DATA/report/mix.txt"
preport -i - --by cpu <other.trace
preport - <other.trace | head -n 1
preport -i other.trace folded | md5sum >before
preport folded -i other.trace | md5sum | cmp - before && echo same
