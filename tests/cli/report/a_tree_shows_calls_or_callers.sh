#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport --tree
preport --tree --by leaf
preport --tree --callers-of rec
preport --tree --callees-of run --format=csv
LC_ALL=C preport --tree --min 20
preport --tree --by module
