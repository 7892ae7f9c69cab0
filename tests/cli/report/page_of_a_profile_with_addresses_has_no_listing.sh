#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A pprof file has modules and addresses, but neither code nor a processor it is for.
"$BUILD/tests/tools/write_trace" precord.trace <"$DATA/report/mix.txt"
preport pprof -o x.pb.gz
preport html -i x.pb.gz -o x.html
grep -c 'id="tables"' x.html
grep -c 'id="code"' x.html
