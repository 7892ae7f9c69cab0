#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for key in weight samples name; do preport --by leaf --sort $key --format=csv | cut -d, -f5,7; done
preport --by total --sort self --format=csv | cut -d, -f7,10
