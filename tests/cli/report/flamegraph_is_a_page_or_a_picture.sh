#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/hostile.txt"
preport flamegraph -o page.html && head -n 1 page.html
preport flamegraph -o picture.svg && head -c 4 picture.svg && echo
preport flamegraph --svg --by none --reverse >picture && head -c 4 picture && echo
preport flamegraph --width 900 -o page.html
preport flamegraph --by nonsense -o page.html
