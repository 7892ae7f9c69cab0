# SPDX-License-Identifier: Apache-2.0
"$BUILD/tests/tools/write_trace" a.trace <"$DATA/report/mix.txt"
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport waits ./a.trace
preport waits -i a.trace
preport annotate -i a.trace >expected 2>&1
preport annotate a.trace >found 2>&1
cmp expected found && echo same
