#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport --callers-of rec
preport --callees-of run
preport --callees-of rec --by leaf
preport --callers-of hot --by total
