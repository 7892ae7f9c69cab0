#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
printf 'p;main;work 30\np;main 12\n' >a.folded
printf 'p;main;work 5\np;main;rest 1\n' >b.folded
preport merge -o sum.pb.gz a.folded b.folded
preport folded -i sum.pb.gz
printf '%s\n' '{"nodes":[{"id":1,"callFrame":{"functionName":"f","url":"a.js","lineNumber":1}}],"samples":[1],"timeDeltas":[100],"startTime":7,"endTime":200}' >c.cpuprofile
preport merge -o no.pb.gz a.folded c.cpuprofile || ls no.pb.gz 2>/dev/null
preport convert c.cpuprofile --to pprof -o c.pb 2>/dev/null
preport merge -o same.pb c.cpuprofile c.pb
preport same.pb --by leaf
preport merge a.folded
