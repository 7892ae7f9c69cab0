#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
cp "$DATA/import/node.cpuprofile" x.cpuprofile
gunzip <"$DATA/import/hotspot.jfr.gz" >old.jfr
cp old.jfr new.jfr
preport x.cpuprofile | grep -c fib
preport diff old.jfr new.jfr 2>/dev/null | grep '^event'
preport export --to perf-script x.cpuprofile >perf.script.txt 2>/dev/null
preport convert perf.script.txt --to speedscope 2>/dev/null >x.json
preport x.json --by leaf --limit 1 --format=csv | wc -l
preport flamegraph old.jfr --event alloc -o f.html 2>/dev/null; head -c 15 f.html; echo
preport formats | cut -c1-70
