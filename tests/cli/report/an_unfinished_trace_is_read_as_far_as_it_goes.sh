#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
{ cat "$DATA/report/mix.txt"; echo unfinished; } | "$BUILD/tests/tools/write_trace" precord.trace
preport | sed -n 3,7p
preport --by process
preport --time=10%,20%
