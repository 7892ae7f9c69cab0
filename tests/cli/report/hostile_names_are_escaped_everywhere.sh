#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/hostile.txt"
preport
preport --by process,leaf
preport --by leaf --format=csv
preport --by leaf,process --format=json
