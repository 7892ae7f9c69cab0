#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for option in --by=leav --by= --by=depth=0 --min=101 --min=x --limit=-1 --sort=size --format=xml --time=5 --time=4,2 --cpu=a --pid=1-; do
	preport $option || echo $?
done
preport --callers-of a --callees-of b
