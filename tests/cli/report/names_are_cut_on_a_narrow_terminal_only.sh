#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
COLUMNS=60 preport --by leaf
COLUMNS=60 preport --by thread,leaf
preport --by leaf | grep push_back
