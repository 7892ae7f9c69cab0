#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
for filter in --comm=work* --pid=200 --tid=101 --cpu=0,2 --symbol=hot --time=0.3,0.5 --time=50%,; do
	preport --by leaf $filter
done
preport --by leaf --module="[[]jit 200]"
