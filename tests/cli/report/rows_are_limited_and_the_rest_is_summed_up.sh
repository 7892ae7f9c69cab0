#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport --by leaf -n 1
preport --by leaf --min 25
preport --by total -n 2
preport --by leaf -n 0 | wc -l
