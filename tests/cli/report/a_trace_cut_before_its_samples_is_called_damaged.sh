#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" whole.trace <"$DATA/report/mix.txt"
head -c 300 whole.trace >precord.trace
preport
