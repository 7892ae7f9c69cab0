#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
COLUMNS=80 LINES=24 preport | tee page
test "$(wc -l <page)" -le 23 && echo fits
