#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for by in leaf caller module thread process program comm cpu line address depth=1 depth=3 process,leaf; do
	preport --by $by --format=csv | awk -F, -v by="$by" 'NR > 1 { n += $5; w += $6 } END { print n, w, by }'
done
preport folded | awk '{ w += $NF } END { print w, "folded" }'
